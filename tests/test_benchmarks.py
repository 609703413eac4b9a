"""The benchmarks: what they keep is what they draw, and a cell knows whether its goal is met. Nothing is timed here."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

import pytest  # noqa: E402
from harness import FRESH, SHORT, SPREAD, Cell, Fresh, Taken, in_turns, repeats, spread  # noqa: E402
from picture import picture  # noqa: E402


def test_more_is_better_for_ratios_and_less_for_budgets():
    assert Cell("waves", "wide", "networkx", 3.1, 3).met and not Cell("waves", "wide", "networkx", 2.9, 3).met
    assert Cell("memory", "a Task", "budget", 399, 400, "B").met and not Cell("memory", "", "budget", 401, 400, "B").met
    assert Cell("speed", "", "budget", 700, 600, "k/s").met


def test_calls_are_timed_in_turns():
    order = []
    in_turns({"ours": lambda: order.append("ours"), "theirs": lambda: order.append("theirs")}, rounds=1)
    assert order == ["ours", "theirs"]


def test_spread_is_that_of_the_middle_half():
    assert spread([1.0, 2.0, 3.0, 4.0, 5.0]) == (4 - 2) / 3
    assert spread([1.0, 1.0, 1.0, 1.0, 9.0]) == 0                   # one slow moment
    assert spread([1.0]) is None                                    # measured once: nothing is known


def test_a_ratio_is_that_of_the_medians_with_the_larger_spread():
    cell = Taken({"ours": [1.0, 2.0, 3.0], "theirs": [8.0, 8.0, 8.0]}).beside("waves", "wide", "ours", "theirs", 3)
    assert (cell.value, cell.peer, cell.spread, cell.met) == (4, "theirs", 0.5, True)


def test_calls_that_spread_are_measured_again_and_the_calmest_attempt_counts(monkeypatch):
    attempts = {1: [1.0, 2.0, 9.0], 2: [1.0, 1.1, 1.2], 3: [5.0, 5.0, 5.0]}
    times = iter([*attempts[1], *attempts[2], *attempts[3]])        # the first reading is one of the first attempt
    monkeypatch.setattr("harness.reading", lambda call, n=1: (next(times), None))
    assert spread(attempts[1]) > SPREAD > spread(attempts[2])
    assert in_turns({"ours": lambda: None}, rounds=3) == {"ours": attempts[2]}


def test_the_first_reading_of_a_short_call_is_not_counted(monkeypatch):
    told = iter([SHORT / 5, 2.0, 2.0, 2.0])
    monkeypatch.setattr("harness.reading", lambda call, n=1: (next(told), None))
    assert in_turns({"ours": lambda: None}, rounds=3) == {"ours": [2.0, 2.0, 2.0]}


def test_short_calls_are_repeated_and_fresh_ones_get_something_new_each_time():
    assert repeats(len, SHORT / 100) == 100 and repeats(len, 5 * SHORT) == 1
    assert repeats(Fresh(list, len), SHORT / 100) == FRESH
    made, used = [], []
    call = Fresh(lambda: made.append(len(made)) or len(made), used.append)
    in_turns({"ours": call}, rounds=2)
    assert used == list(range(1, len(made) + 1))


def test_nothing_is_told_where_the_answers_differ():
    calls = {"ours": lambda: [2, 1], "theirs": lambda: [1, 2]}
    assert set(in_turns(calls, rounds=1, same=sorted)) == {"ours", "theirs"}
    with pytest.raises(AssertionError, match="theirs answers something else"):
        in_turns(calls, rounds=1, same=list)


def test_the_picture_shows_every_cell_and_marks_what_was_missed():
    cells = [Cell("waves <&>", "wide", "networkx", 6, 3).to_json(),
             Cell("memory", "a Task", "budget", 800, 400, "B").to_json(),
             Cell("transitions", "a pool", "bare loop", 0.2, None).to_json()]
    drawn = picture(cells)
    ElementTree.fromstring(drawn)
    assert "waves &lt;&amp;&gt;: wide, beside networkx" in drawn and "✓ 6 x (at least 3)" in drawn
    assert "✗ 800 B (at most 400)" in drawn and "· 0.2 x (no goal set)" in drawn


PARTS = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))["parts"]
KEPT = [cell for part in PARTS.values() for cell in part["cells"]]


def test_the_picture_kept_is_that_of_the_results_kept():
    assert (ROOT / "docs" / "benchmarks.svg").read_text(encoding="utf-8") == picture(KEPT)
    assert all(Cell(**{k: v for k, v in cell.items() if k != "met"}).met == cell["met"] for cell in KEPT)


def test_what_readme_says_of_speed_is_in_the_results():
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())

    def values(what: str, peer: str, case: str = "") -> list[float]:
        found = [cell["value"] for cell in KEPT if cell["what"] == what and cell["peer"] == peer and case in cell["case"]]
        assert found, (what, peer)
        return found

    def of_size(what: str, size: str) -> list[float]:
        return [cell["value"] for cell in KEPT if cell["what"] == what and f" {cell['case']}".startswith(f"{size} tasks")]

    def says(sentence: str) -> bool:
        return sentence in readme

    assert says("**rustworkx** finds the waves themselves several times faster")
    assert max(values("waves, found anew", "rustworkx")) < 1 / 2
    assert says("is half to nine tenths as fast") and 0.5 < values("full simulator", "SimPy, lean model")[0] < 0.95
    assert says("about 1,300 of Python's bytecodes, the model less than 700: a goal of 450")
    assert 1_250 < values("bytecodes a task", "dagkit, whole simulate")[0] < 1_350
    assert values("bytecodes a task", "SimPy, lean model")[0] < 700
    assert says("some 900 bytecodes a task, the loop 175")
    assert 850 < values("bytecodes a task", "dagkit, ticks alone", "runs of 20")[0] < 950
    assert 170 < values("bytecodes a task", "bare dict and heap")[0] < 180
    assert says("it is 500 to 700 times slower") and 400 < values("full simulator", "naive loop")[0] < 800
    assert says("holds about 200 MiB") and 185 < values("memory", "budget", "500,000 tasks, all of it")[0] < 215
    assert says("Up to 10,000 tasks it does, or nearly; beyond, where names lie outside the caches, 3 to 5 times")
    assert min(value for size in (" 1,000", " 10,000") for value in of_size("build and waves, a dictionary", size)) > 4.5
    assert all(3 < value < 5 for size in (" 100,000", " 1,000,000")
               for value in of_size("build and waves, a dictionary", size))
    assert says("a little more than once as fast")
    assert all(1 < value < 2 for value in values("build and waves, a checked Dag", "networkx"))
    assert says("compiled by mypyc is not quite twice as fast")
    assert 1.4 < max(values("ticks compiled by mypyc", "as they are")) < 2
    assert says("some eight minutes for Dags of up to 100,000 tasks")
    assert 5 < sum(PARTS[part]["minutes"] for part in ("start", "notebooks", "design", "engine", "planning")) < 10
    assert says("critical paths nearly everywhere")
    paths = [cell["met"] for cell in KEPT if cell["what"].startswith("critical path")]
    assert sum(paths) >= 0.9 * len(paths)
    for words, (what, case) in REACHED.items():
        assert says(words)
        goals = [cell["met"] for cell in KEPT if cell["what"] == what and case in cell["case"] and cell["met"] is not None]
        assert goals and all(goals), what


REACHED = {"Waves": ("waves of a built Dag, first call", ""), "list schedules": ("list schedule, 64 slots", ""),
           "500,000 tasks at once": ("all at once", "500,000"),
           "the scheduler's window": ("airflow window", ""),
           "memory": ("memory", ""), "explanations": ("first explain", ""),
           "first players reach their goals": ("first player", "")}
"""What README says reaches its goals -> (row, case) that must all do."""
