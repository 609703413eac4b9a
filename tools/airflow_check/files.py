"""The files of recorded cases: which lists they hold, which fields are answers, how they are written.

Pure Python: nothing here needs Airflow. A *payload* is the content of one file. `new_payload` fills it with
questions from a seed; the recorder adds the answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from airflow_check import generate_tables as tables
from airflow_check.generate_mapping import mapping
from airflow_check.generate_runs import final_states

Payload = dict[str, Any]

# file -> {list in the file: the fields of its cases that are answers}
LISTS: dict[str, dict[str, tuple[str, ...]]] = {
    "trigger_rules": {
        "cases": ("verdict",), "zero_upstream_cases": ("verdict",), "setup_teardown_cases": ("verdict",),
    },
    "priority_weights": {"cases": ("total",)},
    "retry_delay": {"rows": ("stored_multiplier", "stored_max_retry_delay", "tries")},
    "selection": {"cases": ("effective_max_tis", "queued")},
    "mapping": {"cases": ("final", "final_counts", "tries", "dag_run_state", "ticks", "notes")},
    "dagrun_final_states": {
        "cases": ("final", "tries", "dag_run_state", "n_ticks", "ticks", "timing_class"),
    },
}  # fmt: skip
FILES = tuple(LISTS)
COUNTS = {
    "dagrun_final_states": 500,
    "selection": 300,
    "mapping": 60,
    "priority_weights": 60,
    "retry_delay": 120,
}


def read(folder: Path, name: str) -> Payload:
    """The content of `<folder>/<name>.json`."""
    found: Payload = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return found


def write(folder: Path, name: str, payload: Payload) -> Path:
    """Write the file with one case a line, so that two recordings can be compared line by line."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    parts = [
        f"{_json(key)}:{_list(value) if key in LISTS[name] else _json(value)}"
        for key, value in payload.items()
    ]
    path.write_text("{" + ",\n".join(parts) + "}\n", encoding="utf-8", newline="\n")
    return path


def _list(cases: list[Any]) -> str:
    return "[\n" + ",\n".join(_json(case) for case in cases) + "]"


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def questions(name: str, payload: Payload) -> Payload:
    """The payload without any answer; for retry_delay the attempts to ask about are kept."""
    found = dict(payload)
    for key, answers in LISTS[name].items():
        found[key] = [_question(case, answers) for case in payload[key]]
    return found


def _question(case: dict[str, Any], answers: tuple[str, ...]) -> dict[str, Any]:
    kept = {key: value for key, value in case.items() if key not in answers}
    if "retry_delay" in case and "tries" in case:
        kept["attempts"] = [row[0] for row in case["tries"]]
    return kept


def new_payload(name: str, header: Payload, seed: int, count: int | None = None) -> Payload:
    """Fresh questions under the header of a file of the same name: a pure function of the seed."""
    rng = Random(f"{name} {seed}")
    kept = {key: value for key, value in header.items() if key not in LISTS[name]}
    total = COUNTS.get(name, 0) if count is None else count
    return kept | _fresh(name, rng, total)


def _fresh(name: str, rng: Random, count: int) -> Payload:
    if name == "trigger_rules":
        return {
            "cases": tables.plain_rules(rng),
            "zero_upstream_cases": [{"rule": rule, "upstream": []} for rule in tables.ALL_RULES],
            "setup_teardown_cases": tables.setup_teardown_rules(rng),
        }
    if name == "retry_delay":
        return {
            "dag_id": f"rt{rng.randint(0, 999)}",
            "rows": [tables.retry_row(rng, i) for i in range(count)],
        }
    makers = {"priority_weights": tables.weights, "selection": tables.selection, "mapping": mapping,
              "dagrun_final_states": final_states}  # fmt: skip
    return {"cases": [makers[name](rng, i) for i in range(count)]}


def differences(name: str, old: Payload, new: Payload) -> Iterator[tuple[str, str, Any, Any]]:
    """(case, field, old answer, new answer) wherever two recordings of the same questions differ."""
    for key, answers in LISTS[name].items():
        for index, (before, after) in enumerate(zip(old[key], new[key], strict=True)):
            title = str(before.get("id") or before.get("name") or before.get("task_id") or f"{key}[{index}]")
            for answer in answers:
                observed = answer != "timing_class"  # that one is worked out by a model
                if observed and before.get(answer) != after.get(answer):
                    yield title, answer, before.get(answer), after.get(answer)


def size(name: str, payload: Payload) -> int:
    """How many cases the payload holds."""
    return sum(len(payload[key]) for key in LISTS[name])
