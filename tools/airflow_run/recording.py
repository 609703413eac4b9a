"""A finished run as a small file: what happened and how long after the start, no clock time, no machine, no path."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

ZERO = datetime(2026, 1, 1, tzinfo=UTC)
"""Every recorded run begins here."""
TIMES = ("scheduled_when", "queued_when", "start_date", "end_date")
KEPT = ("task_id", "map_index", "state", "try_number", "pool", "pool_slots", "priority_weight", "duration")


def recorded(run: dict[str, Any], rows: list[dict[str, Any]], facts: dict[str, Any]) -> dict[str, Any]:
    """The listing of one run as ``dk.load`` reads it, times counted from the start of the run."""
    start = datetime.fromisoformat(run["start_date"])

    def moved(text: str | None) -> str | None:
        if text is None:
            return None
        since = (datetime.fromisoformat(text) - start).total_seconds()
        return (ZERO + timedelta(seconds=round(since, 2))).isoformat()

    def row(found: dict[str, Any]) -> dict[str, Any]:
        lasted = found["duration"]
        return {**{key: found[key] for key in KEPT}, **{key: moved(found[key]) for key in TIMES},
                "duration": None if lasted is None else round(lasted, 2)}

    made = [row(found) for found in sorted(rows, key=lambda f: (f["task_id"], f["map_index"]))]
    about = {"dag_id": run["dag_id"], "state": run["state"], "start_date": ZERO.isoformat(),
             "end_date": moved(run["end_date"])}
    return {**facts, "dag_run": about, "task_instances": made, "total_entries": len(made)}


def text(recording: dict[str, Any]) -> str:
    """As JSON, a task instance a line."""
    head = {key: value for key, value in recording.items() if key != "task_instances"}
    lines = ",\n".join(json.dumps(row) for row in recording["task_instances"])
    return json.dumps(head)[:-1] + ', "task_instances": [\n' + lines + "\n]}\n"
