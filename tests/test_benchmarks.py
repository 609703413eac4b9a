"""The benchmarks: what they keep is what they draw, and a cell knows whether its goal is met. Nothing is timed here."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from harness import Cell, in_turns, spread  # noqa: E402
from picture import picture  # noqa: E402


def test_more_is_better_for_ratios_and_less_for_budgets():
    assert Cell("waves", "wide", "networkx", 3.1, 3).met and not Cell("waves", "wide", "networkx", 2.9, 3).met
    assert Cell("memory", "a Task", "budget", 399, 400, "B").met and not Cell("memory", "", "budget", 401, 400, "B").met
    assert Cell("speed", "", "budget", 700, 600, "k/s").met


def test_calls_are_timed_in_turns():
    order = []
    in_turns({"ours": lambda: order.append("ours"), "theirs": lambda: order.append("theirs")}, rounds=1)
    assert order == ["ours", "theirs"]
    assert spread([1.0, 1.0, 2.0]) == 1.0


def test_the_picture_shows_every_cell_and_marks_what_was_missed():
    cells = [Cell("waves <&>", "wide", "networkx", 6, 3).to_json(),
             Cell("memory", "a Task", "budget", 800, 400, "B").to_json(),
             Cell("transitions", "a pool", "bare loop", 0.2, None).to_json()]
    drawn = picture(cells)
    ElementTree.fromstring(drawn)
    assert "waves &lt;&amp;&gt;: wide, beside networkx" in drawn and "✓ 6 x (at least 3)" in drawn
    assert "✗ 800 B (at most 400)" in drawn and "· 0.2 x (no goal set)" in drawn


def test_the_picture_kept_is_that_of_the_results_kept():
    kept = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))
    assert (ROOT / "docs" / "benchmarks.svg").read_text(encoding="utf-8") == picture(kept["cells"])
    assert all(Cell(**{k: v for k, v in cell.items() if k != "met"}).met == cell["met"] for cell in kept["cells"])


def test_what_readme_says_of_the_others_is_in_the_results():
    kept = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))["cells"]

    def values(what: str, peer: str) -> list[float]:
        return [cell["value"] for cell in kept if cell["what"] == what and cell["peer"] == peer]

    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "finds the waves of a graph several times faster" in readme
    assert max(values("waves, found anew", "rustworkx")) < 1 / 3
    assert "builds its graph sooner" in readme and max(values("build and waves", "networkx")) < 1
    assert "about twice as fast as the whole simulator" in readme
    assert all(1 / 3 < value < 2 / 3 for value in values("full simulator", "SimPy, lean model"))
    assert "Waves of a Dag that is asked again, critical paths, memory and the scheduler's window reach" in readme
    for what in ("waves, asked again", "critical path", "memory", "airflow window"):
        goals = [cell["met"] for cell in kept if cell["what"] == what]
        assert goals and all(goals), what
