"""The Chrome trace against the trace-event format, whose rules are written down in ``dagkit/chrome_trace.py``."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

import dagkit as dk
from dagkit.chrome_trace import chrome_trace

from .random_scenarios import mapped_scenario, random_scenario, waiting_scenario

NEEDS = {"X": {"name", "ph", "ts", "dur", "pid", "tid"}, "M": {"name", "ph", "pid", "args"},
         "C": {"name", "ph", "ts", "pid", "args"}}
METADATA = {"process_name": "name", "process_sort_index": "sort_index", "thread_name": "name",
            "thread_sort_index": "sort_index"}


def checked(trace: dk.Trace) -> list[dict[str, Any]]:
    """The events, after every rule of the format was looked at."""
    data = json.loads(chrome_trace(trace))
    assert data["displayTimeUnit"] in ("ms", "ns")
    events: list[dict[str, Any]] = data["traceEvents"]
    for event in events:
        assert NEEDS[event["ph"]] <= event.keys() and type(event["pid"]) is int
        assert isinstance(event["name"], str) and type(event.get("tid", 0)) is int
        if event["ph"] == "M":
            assert METADATA[event["name"]] in event["args"]
        else:
            assert event["ts"] >= 0
        if event["ph"] == "C":
            assert all(type(value) is int and value >= 0 for value in event["args"].values())
    lanes: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for event in events:
        if event["ph"] == "X":
            assert event["dur"] > 0
            lanes.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    assert named >= set(lanes)
    for bars in lanes.values():                            # side by side: none is inside another here
        bars.sort()
        assert all(a[1] <= b[0] for a, b in zip(bars, bars[1:], strict=False))
    return events


def test_orders_by_hand() -> None:
    """Ticks from golden/orders_trace.txt: extract_orders is queued at 1, runs from 2 to 4, in the one slot of db."""
    events = checked(dk.simulate(dk.examples.orders()))
    names = {e["args"]["name"]: e["pid"] for e in events if e["name"] == "process_name"}
    assert list(names) == ["pool db", "pool default"]
    db = [(e["name"], e["cat"], e["ts"] / 1e6, e["dur"] / 1e6, e["tid"]) for e in events
          if e["ph"] == "X" and e["pid"] == names["pool db"]]
    assert db == [("extract_orders", "queued", 1, 1, 1), ("extract_orders", "running", 2, 2, 1),
                  ("extract_users", "queued", 4, 1, 1), ("extract_users", "running", 5, 1, 1)]
    assert [e["args"]["try"] for e in events if e["name"] == "transform" and e.get("cat") == "running"] == [1, 2]
    counter = [(e["ts"] / 1e6, e["args"]["used"]) for e in events if e["ph"] == "C" and e["pid"] == names["pool db"]]
    assert counter == [(0, 0), (1, 1), (6, 0)]


def test_a_task_of_two_slots_lies_on_two_threads_and_a_tick_may_be_longer() -> None:
    tasks = [dk.Task("big", pool="p", pool_slots=2), dk.Task("small", pool="p"), dk.Task("late", "big", pool="p")]
    dag = dk.Dag("d", tasks)
    events = checked(dk.simulate(dag, pools={"p": 3}, config=dk.Config(tick_seconds=0.5)))
    running = [(e["name"], e["tid"], e["ts"]) for e in events if e.get("cat") == "running"]
    assert sorted(running) == [("big", 1, 1_000_000), ("big", 2, 1_000_000), ("late", 1, 2_000_000),
                               ("small", 3, 1_000_000)]


@pytest.mark.parametrize("pose", [random_scenario, mapped_scenario, waiting_scenario])
def test_any_trace_keeps_the_rules(pose: Any) -> None:
    for seed in range(30):
        checked(dk.simulate(pose(Random(seed))))


def test_hostile_names_are_plain_text_and_bytes_repeat(tmp_path: Path) -> None:
    dag = dk.Dag("d", [dk.Task('</script>"\n\ud800', pool="p\u2028")])
    trace = dk.simulate(dag, pools={"p\u2028": 1})
    written = trace.to_chrome_trace(tmp_path / "t.json").read_bytes()
    assert written == chrome_trace(trace).encode() and written.isascii()
    assert {e["name"] for e in json.loads(written)["traceEvents"] if e["ph"] == "X"} == {'</script>"\\n\\ud800'}


def test_a_million_slots_are_one_bar_that_says_so() -> None:
    dag = dk.Dag("d", [dk.Task("a", pool="p", pool_slots=10**6), dk.Task("b", pool="p", pool_slots=2)])
    bars = [e for e in checked(dk.simulate(dag, pools={"p": 10**6 + 2})) if e["ph"] == "X" and e["cat"] == "running"]
    assert [(e["name"], e["args"].get("slots")) for e in bars] == [("a", 10**6), ("b", None), ("b", None)]


@pytest.mark.parametrize("path", [5, "no/such/folder/t.json", ".", "a\0b"])
def test_a_path_where_nothing_can_be_written_is_refused(path: Any) -> None:
    trace = dk.simulate(dk.Dag("d", [dk.Task("a")]))
    for write in (trace.to_chrome_trace, trace.to_html):
        with pytest.raises(dk.DagkitError, match="cannot write .* Choose another path"):
            write(path)
