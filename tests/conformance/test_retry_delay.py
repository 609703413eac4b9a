"""retry_delay.json: how long Airflow waits between two tries, to the second, jitter included."""

from __future__ import annotations

import math
from typing import Any

import pytest

import dagkit as dk
from dagkit.engine.retries import backoff

pytestmark = pytest.mark.conformance


def rows(recorded: Any) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [(file, row) for file in recorded("retry_delay.json") for row in file["rows"]]


def test_backoff_to_the_second(recorded: Any, count: Any) -> None:
    wrong, checked = [], 0
    for file, row in rows(recorded):
        multiplier = row["stored_multiplier"]
        for try_number, base, delay in row["tries"]:
            checked += 1
            if multiplier in (0, 1):
                got = float(row["retry_delay"])               # fixed, and max_retry_delay is ignored
            else:
                who = file["dag_id"], row["task_id"], file["logical_date_in_hash"]
                got = backoff(row["retry_delay"], multiplier, try_number, *who,
                              max_retry_delay=row["stored_max_retry_delay"])
                assert base <= backoff(row["retry_delay"], multiplier, try_number, *who,
                                       max_task_retry_delay=math.inf) < 2 * base
            if got != delay:
                wrong.append(f"{row['task_id']} try {try_number}: {got} instead of {delay}")
    count("retry_delay.json", checked)
    assert not wrong, f"{len(wrong)} of {checked} differ:\n" + "\n".join(wrong[:10])


def test_the_engine_waits_as_recorded(recorded: Any) -> None:
    """The same, through a whole simulation: the ticks between a failed try and the next one being scheduled."""
    wrong = []
    for file, row in rows(recorded):
        last = max(number for number, _, _ in row["tries"])
        task = dk.Task(row["task_id"], retries=last, retry_delay=row["retry_delay"],
                       retry_exponential_backoff=row["backoff"], max_retry_delay=row["max_retry_delay"])
        trace = dk.simulate(dk.Dag(file["dag_id"], [task]), outcomes={row["task_id"]: ["fail"] * (last + 1)})
        failed = [e.tick for e in trace.events.itertuples() if e.new == "up_for_retry"]
        again = [e.tick for e in trace.events.itertuples() if e.old == "up_for_retry"]
        for number, _, delay in row["tries"]:
            waited = again[number - 1] - failed[number - 1]
            if waited != delay:
                wrong.append(f"{row['task_id']} try {number}: {waited} ticks instead of {delay} s")
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:10])


def test_the_stored_multiplier(recorded: Any) -> None:
    """True means 2.0; 0 and 1 mean a fixed delay."""
    for _, row in rows(recorded):
        given = row["backoff"]
        assert row["stored_multiplier"] == (2.0 if given is True else float(given))
