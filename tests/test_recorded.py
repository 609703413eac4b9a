"""A recorded run against its ideal, on runs small enough to be worked out on paper."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dagkit as dk
from dagkit.recorded import WAITS, against_ideal

START = "2026-01-01T00:00:{:06.3f}"


def listing(rows: dict[str, tuple[float, float, float, float]]) -> str:
    """JSON of task instances from (scheduled, queued, start, end) in seconds; ``task[i]`` is an index."""
    made = []
    for name, times in rows.items():
        task, _, index = name.partition("[")
        made.append({"task_id": task, "map_index": int(index[:-1]) if index else -1, "state": "success", "try_number": 1,
                     **{key: START.format(t) for key, t in zip(("scheduled_when", "queued_when", "start_date", "end_date"),
                                                               times, strict=True)}})
    return json.dumps(made)


def test_who_owns_the_time() -> None:
    """a runs 0 to 4; b is ready at 4, scheduled at 5, queued at 8, starts at 10, ends at 13; c waits for nobody."""
    loaded = dk.load(listing({"a": (0, 0, 0, 4), "b": (5, 8, 10, 13), "c": (0, 0, 1, 3)}), dag="a -> b\nc\n")
    found = against_ideal(loaded)
    assert (found.took, found.floor, found.ideal, found.slots) == (13, 7, 7, 2)
    assert found.chain == ("a", "b") and found.owned == {
        "retried": 0, "slots": 0, "unseen": 1, "scheduled": 3, "queued": 2, "ran": 7}
    b = next(row for row in found.rows if row.task == "b")
    assert (b.ready, b.unseen, b.scheduled, b.queued, b.ran, b.ideal_start, b.later) == (4, 1, 3, 2, 3, 4, 6)
    picture = dk.actual(loaded)
    assert "Of the 6 s of waiting on that chain, 3 s belong to limits and pools." in str(picture)
    assert picture.table["task"].tolist() == ["a", "c", "b"]


def test_fewer_slots_make_a_longer_ideal() -> None:
    loaded = dk.load(listing({"a": (0, 0, 0, 4), "b": (0, 0, 0, 4)}), dag="a\nb\nb -> c\n")
    assert against_ideal(loaded, 1).ideal == 8 and against_ideal(loaded).ideal == 4
    assert against_ideal(loaded).slots == 2


def test_what_even_the_ideal_waits_for_a_slot_is_the_slots() -> None:
    """One slot: a 0-4, b 4-8, c 8-10 is the ideal, 10; the floor is b > c, 6. So 4 of the 7 s are the slot's."""
    rows = {"a": (0, 0, 0, 4), "b": (0, 0, 5, 9), "c": (0, 0, 11, 13)}
    bare = [{k: v for k, v in row.items() if not k.endswith("_when")} for row in json.loads(listing(rows))]
    loaded = dk.load(json.dumps(bare), dag="a\nb -> c\n")
    found = against_ideal(loaded)
    assert (found.took, found.floor, found.ideal, found.slots) == (13, 6, 10, 1)
    assert (found.owned["slots"], found.owned["unseen"], found.owned["ran"]) == (4, 3, 6)
    assert "Of the 7 s of waiting on that chain, 4 s belong to the slots" in str(dk.actual(loaded))
    told = against_ideal(dk.load(listing(rows), dag="a\nb -> c\n"))
    assert told.owned["slots"] == 0 and told.owned["queued"] > 0        # the file itself says what was waited for


def test_fewer_slots_than_the_run_used_explain_nothing() -> None:
    rows = [{"task_id": t, "state": "success", "start_date": START.format(s), "end_date": START.format(s + 4)}
            for t, s in (("a", 0), ("b", 0), ("c", 6))]
    loaded = dk.load(json.dumps(rows), dag="a\nb -> c\n")
    assert against_ideal(loaded, 1).ideal == 12 and against_ideal(loaded, 1).owned["slots"] == 0


def test_mapped_tasks_have_the_width_they_had() -> None:
    dag = dk.Dag("d", [dk.Task("p", returns=1), dk.Task("m", "p", expand={"x": "p"}), dk.Task("j", "m")])
    rows = {"p": (0, 0, 0, 1), "m[0]": (1, 1, 1, 3), "m[1]": (1, 1, 1, 6), "j": (6, 6, 6, 7)}
    found = against_ideal(dk.load(listing(rows), dag=dag))
    assert found.chain == ("p", "m[1]", "j") and found.floor == 7 and found.owned["ran"] == 7
    assert "only a shorter path would help" in str(dk.actual(dk.load(listing(rows), dag=dag)))


def test_in_a_mapped_group_an_index_waits_for_its_own() -> None:
    dag = dk.Dag("d", [dk.Task("a", task_group="g"), dk.Task("b", "a", task_group="g")], groups={"g": {"x": 2}})
    rows = {"a[0]": (0, 0, 0, 1), "a[1]": (0, 0, 0, 9), "b[0]": (1, 1, 2, 3), "b[1]": (9, 9, 9, 10)}
    found = against_ideal(dk.load(listing(rows), dag=dag))
    assert found.chain == ("a[1]", "b[1]") and next(r for r in found.rows if r.task == "b[0]").ready == 1


def test_clocks_a_little_off_and_missing_times() -> None:
    """b claims to have been queued before a ended; nothing may become negative, and all of the time is somebody's."""
    text = listing({"a": (0, 0, 0, 5), "b": (3, 4, 6, 7)})
    found = against_ideal(dk.load(text, dag="a -> b\n"))
    assert all(getattr(row, name) >= 0 for row in found.rows for name in WAITS)
    assert sum(found.owned.values()) == pytest.approx(found.took)
    rows = [{k: v for k, v in row.items() if not k.endswith("_when")} for row in json.loads(text)]
    assert against_ideal(dk.load(json.dumps(rows), dag="a -> b\n")).owned == {
        "retried": 0, "slots": 0, "unseen": 1, "scheduled": 0, "queued": 0, "ran": 6}


def test_tries_before_the_last_and_tasks_left_out() -> None:
    rows = json.loads(listing({"a": (0, 0, 0, 2), "b": (2, 2, 2, 2), "c": (5, 6, 7, 8)}))
    rows[2]["try_number"], rows[1]["state"] = 2, "upstream_failed"
    found = against_ideal(dk.load(json.dumps(rows), dag="a -> b -> c\n"))
    assert found.never == ("b",) and [row.task for row in found.rows] == ["a", "c"]
    assert found.owned == {"retried": 3, "slots": 0, "unseen": 0, "scheduled": 1, "queued": 1, "ran": 3}


def test_large_runs_are_drawn_by_wave_and_listed_in_full() -> None:
    rows = {f"t{i:03}": (0, 0, i % 7, i % 7 + 1) for i in range(100)} | {"end": (8, 8, 8, 9)}
    loaded = dk.load(listing(rows), dag="".join(f"t{i:03} -> end\n" for i in range(100)))
    picture = dk.actual(loaded)
    assert "wave 1: 100 tasks" in picture.svg and len(picture.table) == 101
    assert picture.svg.count("dk-ghost") < 10


@pytest.mark.parametrize(("given", "message"), [
    (lambda: dk.actual(dk.load("a -> b\n")), "needs a file with a recorded run"),
    (lambda: dk.actual(dk.load('[{"task_id": "a", "state": "running", "start_date": "2026-01-01T00:00:00"}]')),
     "no task of this run has both a start and an end"),
    (lambda: dk.actual(dk.load(listing({"a": (0, 0, 0, 1)})), 0), "slots must be a whole number >= 1"),
    (lambda: dk.beside(dk.simulate(dk.examples.orders()), dk.load("a -> b\n")), "needs a recorded run"),
])
def test_refusals(given: Any, message: str) -> None:
    with pytest.raises(dk.DagkitError, match=message):
        given()


def test_beside_names_every_difference() -> None:
    trace = dk.simulate(dk.Dag.from_dict({"a": {}, "b": {"upstream": "a"}}))
    real = json.dumps({"dag_run": {"state": "failed", "start_date": START.format(0)}, "task_instances": [
        {"task_id": "a", "state": "success", "try_number": 2, "start_date": START.format(3)},
        {"task_id": "z", "state": "failed", "try_number": 1}]})
    found = dk.beside(trace, dk.load(real), 10)
    assert not found.agrees and found.differences == (
        "1 only in the simulation: b.", "1 only in the recording: z.",
        "a: simulated success after 1 tries, really success after 2.", "The run: simulated success, really failed.")
    row = found.table.set_index("task").loc["a"]
    assert (row["start"], row["real_start"], row["later"]) == (10, 3, -7)    # it runs from tick 2, 10 s after the first
