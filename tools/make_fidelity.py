"""Write the generated tables of docs/fidelity.md.

    python tools/make_fidelity.py            run the conformance tests, then write
    python tools/make_fidelity.py --check    write nothing; exit 1 if the tables are not those of the data

Numbers come from the recorded cases in tests/data. Without --check nothing is written unless the tests that
replay them pass.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "fidelity.md"
DATA = ROOT / "tests" / "data"
sys.path.insert(0, str(ROOT))


def load(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def cases(name: str) -> list[Any]:
    held = load(name)
    return held["cases"] if isinstance(held, dict) else held


def evidence() -> list[tuple[str, str, int, str]]:
    """(what, file, cases, what is compared) of each kind of recording."""
    rules, runs, selections = load("trigger_rules.json"), cases("dagrun_final_states.json"), cases("selection.json")
    impossible = sum(bool(case["has_impossible_ti"]) for case in selections)
    exact = sum(case["timing_class"] == "exact" for case in runs)
    simple = len(rules["cases"]) + len(rules["zero_upstream_cases"])
    return [
        ("trigger rules", "trigger_rules.json", simple, "the verdict on every mix of up to three upstream states"),
        ("setups and teardowns", "trigger_rules.json", len(rules["setup_teardown_cases"]), "the verdict"),
        ("whole runs", "dagrun_final_states.json", len(runs),
         f"final states, tries, run state; every pass under airflow pacing ({exact} of them only there)"),
        ("dynamic mapping", "mapping.json", len(cases("mapping.json")), "the same, and every pass"),
        ("selection", "selection.json", len(selections) - impossible, "exactly which are queued, in which order"),
        ("selection with impossible tasks", "selection.json", impossible, "the same"),
        ("priority totals", "priority_weights.json", len(cases("priority_weights.json")), "the stored weight"),
        ("retry delays", "retry_delay.json", len(load("retry_delay.json")["rows"]), "the seconds until the next try"),
    ]


def evidence_table() -> str:
    rows = [f"| {what} | `{file}` | {number} | {compared} |" for what, file, number, compared in evidence()]
    total = sum(number for *_, number, _ in evidence())
    return "\n".join(["| recorded from 3.3.2 | in `tests/data` | cases | compared |", "|---|---|---:|---|", *rows,
                      f"| **all** | | **{total}** | **agree** |"])


def incidents_table() -> str:
    from dagkit import museum
    played = [c for c in museum.cases().values() if not museum.unplayable(c.id)]
    variants = [(c.id, k) for c in museum.cases().values() for k in range(len(c.changes))]
    shown = [pair for pair in variants if not museum.unplayable(*pair)]
    left = "\n".join(f"- {c.id}, {c.title}: {museum.unplayable(c.id)}." for c in museum.cases().values()
                     if museum.unplayable(c.id))
    left += "\n".join(f"- {cid}, the variant \"{museum.case(cid).changes[k]}\": {museum.unplayable(cid, k)}."
                      for cid, k in variants if museum.unplayable(cid, k) and not museum.unplayable(cid)
                      and "version" not in museum.unplayable(cid, k))
    return (f"{len(played)} of {len(museum.cases())} incidents and {len(shown)} of {len(variants)} variants are played, "
            f"and agree with what was verified. Not played, besides variants of other versions:\n\n{left}")


def filled(page: str) -> str:
    """The page with its generated parts as they should be."""
    for name, text in (("evidence", evidence_table()), ("incidents", incidents_table())):
        pattern = rf"(<!-- generated: {name} -->\n).*?(<!-- end -->)"
        page = re.sub(pattern, lambda found, text=text: f"{found[1]}{text}\n{found[2]}", page, flags=re.DOTALL)
    return page


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only compare")
    options = parser.parse_args(arguments)
    before = PAGE.read_text(encoding="utf-8")
    after = filled(before)
    if options.check:
        print("docs/fidelity.md is up to date" if after == before else
              "docs/fidelity.md is stale; run: python tools/make_fidelity.py")
        return int(after != before)
    tests = ["tests/conformance", "tests/test_museum.py"]
    if subprocess.run([sys.executable, "-m", "pytest", "-q", *tests], cwd=ROOT).returncode:
        print("nothing written: the recorded cases do not agree with the kit", file=sys.stderr)
        return 1
    PAGE.write_text(after, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
