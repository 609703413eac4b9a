"""Writes docs/design_answer.md: example answers to the design scenario, with what each of their parts buys.

    python tools/make_design_answer.py [--check]

The designs are those of tests/designs.py, and every figure is graded when the page is made.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from dagkit.design import Report, grade  # noqa: E402
from tests.designs import GOOD, SPOILED  # noqa: E402

PAGE = ROOT / "docs" / "design_answer.md"
WHY = {
    "one fleet": "One fleet of Celery workers, one pool for each thing that is shared, and weights. The "
                 "source's pool is as "
                 "wide as the source; `bulk_read` takes four slots, because it opens four connections. The "
                 "API's pool follows "
                 "from the rate: 100 calls / 10 calls x half a minute = 5. Trainings wait for a GPU in "
                 "*scheduled*, behind a "
                 "pool of 2. `parallelism` is 66 for each of two schedulers, so that the survivor alone still "
                 "fills all "
                 "places. Two runs of a Dag at once keep the scheduler's rounds short and still drain the month.",
    "bulkheads": "No weight at all. Every kind of work has a pool of its own, and the pools together are no "
                 "more than the "
                 "source, the API and the places bear. Nobody can stand in another's way; places lie idle in "
                 "between.",
    "mixed": "Short work on Celery, with a worker for the critical Dags alone; heavy work in pods of its own "
             "executor; "
             "trainings in at most two pods that ask for a GPU. An executor's parallelism takes the part of a pool.",
    "edge": "The first design with the GPU machines at another site: Edge workers fetch their work.",
}
HEAD = """# The design scenario: example answers

For teachers. Made by `python tools/make_design_answer.py`; the designs are in `tests/designs.py`, and every figure below
comes from grading them. Other designs pass as well: judge by the report, not by likeness.

What is common to all: schedulers on two machines or more; triggerers and Dag processors not only on the machine of the
first scheduler; state where it survives (rows in the metadata database, paths in XCom, data and logs in object storage,
passwords in a secrets backend); one metric for each question and no decoy.
"""


def numbers(report: Report) -> list[str]:
    """What the report found, for the requirements that have a figure."""
    return [f"- {v.name}: {v.found}" for v in report.verdicts[:-2]]


def page() -> str:
    parts = [HEAD]
    for name, design in GOOD.items():
        report = grade(design)
        parts += [f"\n## {name.capitalize()}\n\n{WHY[name]}\n\n{report.line}.\n", *numbers(report)]
    parts.append("\n## What each part buys\n\nThe first design with one thing changed. What breaks first is "
                 "what that part "
                 "was for.\n\n| changed | breaks | found |\n|---|---|---|")
    for name, (design, _, _) in SPOILED.items():
        broken = [v for v in grade(design).verdicts if not v.passed]
        parts.append(f"| {name} | {', '.join(v.name for v in broken)} | {broken[0].found} |")
    parts += ["\n## The naive default\n", "Airflow as it comes, and why each requirement fails:\n"]
    parts += [f"- {v.name}: {v.found}" for v in grade({}).verdicts]
    return "\n".join(parts) + "\n"


def main(arguments: list[str]) -> int:
    text = page()
    if "--check" in arguments:
        same = PAGE.read_text(encoding="utf-8") == text
        print("docs/design_answer.md is up to date" if same else "docs/design_answer.md differs: make it again")
        return 0 if same else 1
    PAGE.write_text(text, encoding="utf-8", newline="\n")
    print(f"wrote {PAGE.name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
