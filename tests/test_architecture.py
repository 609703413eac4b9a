"""The architecture as data, the journey, the panel, and the models of Dag processor and database."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

import dagkit as dk
from dagkit import architecture
from dagkit.architecture.breaking import broke, seen, symptoms_table, why
from dagkit.symptoms import CAUSES, COMPONENTS

MAPS = [architecture.show(3), architecture.show(2)]
maps = pytest.mark.parametrize("drawn", MAPS, ids=("3", "2"))


# ---- parts and links ------------------------------------------------------------------------------------------------


@maps
def test_everything_is_said_of_every_part_and_link(drawn):
    names = [c.name for c in drawn.components]
    assert len(set(names)) == len(names)
    for part in drawn.components:
        assert all((part.does, part.job, part.needed, part.why, part.broken, part.check)), part.name
        assert len(part.does) <= 20, "it must fit into its box"
    for link in drawn.links:
        assert {link.start, link.end} <= set(names)
        assert all((link.protocol, link.effect, link.consequence))
    assert {name for link in drawn.links for name in (link.start, link.end)} == set(names)


def test_only_in_2_does_a_worker_reach_the_database():
    ends = {drawn.version: {e.end for e in drawn.links if e.start == "worker"} for drawn in MAPS}
    assert ends == {3: {"API server"}, 2: {"metadata DB"}}
    for version in ("2", "3"):
        assert f"Airflow {version}.x" in architecture.side_by_side().html


@maps
def test_no_box_lies_on_another(drawn):
    places = [c.at for c in drawn.components]
    assert all(abs(a[0] - b[0]) >= 1 or abs(a[1] - b[1]) >= 0.9 for i, a in enumerate(places) for b in places[:i])


@maps
def test_mermaid_and_dot_hold_every_part_and_arrow(drawn):
    assert drawn.mermaid().count("-->|") == drawn.dot().count(" -> ") == len(drawn.links)
    assert all(f'label="{c.name}\\n' in drawn.dot() for c in drawn.components)
    assert all(f'["{c.name}"]' in drawn.mermaid() for c in drawn.components)


def test_unknown_parts_and_versions_are_refused():
    with pytest.raises(dk.DagkitError, match="there is no component 'trigerer'. Did you mean 'triggerer'"):
        architecture.show(3).component("trigerer")
    with pytest.raises(dk.DagkitError, match="version must be 3 or 2, not '3'"):
        architecture.show("3")


# ---- the journey ----------------------------------------------------------------------------------------------------


def test_the_journey_takes_the_way_of_a_real_trace():
    """The states of the steps, in order, are those that the engine takes a task instance through."""
    trace = dk.simulate(dk.Dag("d", [dk.Task("t")]), executor=dk.CeleryExecutor())
    told = [step.state for step in architecture.STEPS if step.state]
    assert list(dict.fromkeys(told)) == [state for _, state in trace.changes[0]]


def test_the_journey_goes_from_part_to_part_along_the_map():
    drawn = architecture.show(3)
    there = {c.name for c in drawn.components}
    assert [s.component for s in architecture.STEPS if s.component not in there] == []
    twin = architecture.journey()._repr_mimebundle_()[0]["text/html"]
    assert all(step.does.split(".")[0][:20] in twin for step in architecture.STEPS)
    HTMLParser().feed(twin)


# ---- the panel ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", CAUSES)
def test_every_cause_can_be_looked_at_and_differs_from_the_healthy_twin(key):
    html = seen(key, broke(key).at)
    assert CAUSES[key].first.replace("'", "&#x27;") in html
    assert seen(key, 5) != html
    reason = why(key)
    assert (reason is None) == (key in ("api server slow", "dag processor down"))


def test_the_table_names_every_component_that_can_be_to_blame():
    rows = repr(symptoms_table())
    assert all(name in rows for name in COMPONENTS)
    assert "never seen" in rows and "nothing: the states are as ever" in rows
    assert not re.search(r"\{\w*\}", rows)


def test_the_panel_without_widgets_is_that_table():
    panel = architecture.breaking()
    assert "Without widgets" in panel._repr_mimebundle_()["text/html"]
    panel.cause.value = "broker down"
    assert "delivers nothing" in panel.result.value
    with pytest.raises(dk.DagkitError, match="'broker dwon' is unknown. Did you mean 'broker down'"):
        broke("broker dwon")


# ---- the Dag processor ----------------------------------------------------------------------------------------------

TWENTY = {f"dag_{k:02}.py": 2 for k in range(20)}


def test_parses_are_an_interval_apart_and_never_more_at_once_than_there_are_processes():
    done = architecture.parse(TWENTY, parsing_processes=3, until=400)
    for file in TWENTY:
        mine = [p for p in done.parses if p.file == file]
        assert all(b.start - a.end >= 30 for a, b in zip(mine, mine[1:], strict=False)) and len(mine) >= 10
    moments = [p.start for p in done.parses]
    assert max(sum(p.start <= t < p.end for p in done.parses) for t in moments) == 3


def test_a_saved_file_comes_next_and_a_new_one_at_the_next_refresh():
    quick = architecture.parse(TWENTY, saved=("dag_07.py", 100))
    assert quick.waited is not None and quick.waited <= 2 + 2              # after whatever is being parsed
    new = architecture.parse(TWENTY, saved=("dag_07.py", 100), new=True)
    assert new.seen_at == 302                                              # refreshed at 300, parsed in 2
    assert min(p.start for p in new.parses if p.file == "dag_07.py") == 300


def test_slow_files_hold_up_the_others_and_too_slow_ones_are_killed():
    calm = architecture.parse(TWENTY)
    slow = architecture.parse({**TWENTY, "a.py": 45, "b.py": 45})
    dead = architecture.parse({**TWENTY, "a.py": 51})
    assert slow.longest_gap("dag_03.py") > 2 * calm.longest_gap("dag_03.py")
    assert {p.stored for p in dead.parses if p.file == "a.py"} == {False} and dead.longest_gap("a.py") is None
    assert {p.end - p.start for p in dead.parses if p.file == "a.py"} == {50}
    assert dead.table()[-1]["an edit waits at most"] == "for ever"


def test_a_shorter_interval_shows_edits_sooner_and_costs_more():
    usual, eager = (architecture.parse(TWENTY, min_file_process_interval=n) for n in (30, 5))
    assert eager.longest_gap("dag_03.py") < usual.longest_gap("dag_03.py")
    assert sum(map(eager.seconds, TWENTY)) > 1.5 * sum(map(usual.seconds, TWENTY))


@pytest.mark.parametrize(("call", "words"), [
    (lambda: architecture.parse({}), "files must be a dictionary"),
    (lambda: architecture.parse({"a.py": -1}), "file 'a.py' must take more than 0"),
    (lambda: architecture.parse({"a.py": 1}, parsing_proceses=2), "Did you mean 'parsing_processes'"),
    (lambda: architecture.parse({"a.py": 1}, parsing_processes=0), "parsing_processes must be a whole number >= 1"),
    (lambda: architecture.parse({"a.py": 1}, saved=("b.py", 3)), "saved must be (a file, a second until 600)"),
    (lambda: architecture.parse({"a.py": 1}).longest_gap("b.py"), "there is no file 'b.py'"),
    (lambda: architecture.growth(dags=0), "growth: dags must be a whole number >= 1"),
    (lambda: architecture.growth(per_run=3), "Did you mean 'per_run_ms'"),
])
def test_bad_input_of_the_models_is_refused(call, words):
    with pytest.raises(dk.DagkitError) as refused:
        call()
    assert words in str(refused.value)


# ---- the database ---------------------------------------------------------------------------------------------------


def test_rows_are_dags_times_tasks_times_runs():
    month = architecture.growth(dags=200, tasks=30, runs_per_day=24, days=30)
    assert (month.rows_per_day, month.rows, month.history_rows) == (144_000, 4_320_000, 0)
    assert architecture.growth(tries=1.5, days=10).history_rows == 720_000


def test_the_loop_slows_down_only_when_rows_leave_the_memory_and_says_what_it_assumes():
    loops = [architecture.growth(days=days).loop_seconds for days in (1, 30, 130, 200, 400, 4000)]
    assert loops[0] == loops[1] == loops[2] < loops[3] < loops[4] < loops[5] < 0.2 + 20 * 0.012 * 12
    assert all(name in repr(architecture.growth()) for name in architecture.ASSUMPTIONS)


def test_its_slowness_can_be_simulated():
    assert architecture.growth().fault(1) is None
    fault = architecture.growth(days=1000).fault(1)
    assert fault == dk.SlowDatabase(1, factor=3)
    trace = dk.simulate(dk.examples.orders(), faults=[fault])
    assert trace.last_tick > 16 and trace.run_state == "success"


def test_hostile_file_names_stay_plain_text():
    html = architecture.parse({"<script>\n\x00\ud800.py": 60, "b.py": 1}).picture().html()
    assert "<script>" not in html and "\x00" not in html and html.encode("utf-8")
