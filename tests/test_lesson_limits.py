"""Lesson 5: what its demonstrations claim, and that the tuning panel is a fair puzzle."""

from __future__ import annotations

import html.parser
import itertools

import pytest

import dagkit as dk
from dagkit.lesson import tuning
from dagkit.lesson.lessons import find
from dagkit.lesson.lessons import limits_and_pools as demo
from dagkit.lesson.tuning import GOALS, KNOBS, futures, panel, tune

REACHED = {"parallelism": 6, "max_active_runs": 4, "max_active_tis_per_dag": 1, "max_active_tis_per_dagrun": 2,
           "source_slots": 3, "load_pool_slots": 3, "train_queue": "gpu", "report_weight": 2, "weight_rule": "absolute"}


def use(trace, *tasks):
    """The most TIs of some tasks that run in one tick, counted from the events."""
    now = most = 0
    for event in trace.events.to_dict("records"):
        if not tasks or event["task_id"] in tasks:
            now += (event["new"] == "running") - (event["old"] == "running")
        most = max(most, now)
    return most


# ---- the demonstrations


def test_the_flood_delays_the_report_and_both_brakes_mend_it():
    rows = {name: demo.flooded(name) for name in demo.SETTINGS}
    due = 11
    assert rows["nothing set"]["report starts at"] > due
    assert {row["report starts at"] for name, row in rows.items() if name != "nothing set"} == {due}
    assert rows["nothing set"]["extracts at once"] == 6            # parallelism is all that stops it
    assert rows["pool source of 2"]["extracts at once"] == 2
    assert rows["nothing set"]["days caught up"] == 9 and rows["catchup off"]["days caught up"] == 1
    assert rows["pool source of 2"]["all done at"] < rows["max_active_runs 2"]["all done at"]
    # Nine extracts of three ticks on two slots need fourteen ticks at the least, after tick 10.
    assert rows["pool source of 2"]["all done at"] >= 10 + -(-9 * 3 // 2)


def test_runs_wait_as_runs_under_max_active_runs():
    trace = dk.simulate(demo.flood(max_active_runs=2))
    assert trace.explain("daily.extract@5", tick=10).code == "max_active_runs"
    assert trace.states_at(10)["daily.extract@5"] == "none"


def test_a_task_larger_than_its_pool_waits_for_ever():
    trace = dk.simulate(demo.too_big())
    assert trace.stalled and trace.final_states == {"whole_table": "scheduled", "one_row": "success"}
    assert trace.explain("whole_table").code == "pool_too_small"
    assert not dk.simulate(demo.too_big(slots=3)).stalled


@pytest.mark.parametrize("small", [1, 2, 5, 9])
def test_the_big_task_starts_when_no_small_one_is_left(small):
    trace = dk.simulate(demo.starved(small=small))
    last = max(demo.starts(trace, f"small_{k}") for k in range(1, small + 1))
    assert demo.starts(trace, "big") > last
    assert {r.code for _, _, r in trace.reasons["big"] if r.state == "scheduled"} == {"pool"}
    assert demo.starts(dk.simulate(demo.starved(small=small, own_pool=True)), "big") == 1


def test_the_window_hides_a_task_that_nothing_holds():
    trace = dk.simulate(demo.window())
    hidden = [(start, end) for start, end, r in trace.reasons["other.quick_1"] if r.code == "not_examined"]
    # Eight important tasks, one a tick; fewer than four are left to fill the window after five ticks.
    assert hidden == [(1, 5)] and demo.starts(trace, "other.quick_1") == 6
    assert demo.starts(dk.simulate(demo.window(pacing="lesson")), "other.quick_1") == 1


def test_waiting_costs_places_when_poking_and_none_when_deferred():
    rows = {how: demo.waiting(how) for how in demo.WAITS}
    assert rows["poke"]["work starts at"] > 20 > rows["reschedule"]["work starts at"]
    spent = [rows[how]["worker ticks spent on waiting"] for how in ("poke", "reschedule", "defer")]
    assert spent == sorted(spent, reverse=True)
    assert spent[0] == 4 * 21 and spent[1] == 4 * 5 and spent[2] == 4 * 2   # all of it, five checks each, two stays each


def test_the_report_no_longer_waits_for_the_ledger():
    whole, parts = demo.reports(dk.simulate(demo.giant())), demo.reports(dk.simulate(demo.split()))
    assert len(whole) == len(parts) == 3 and whole[0] == parts[0]
    assert all(part < one for part, one in zip(parts[1:], whole[1:], strict=True))
    assert {b - a for a, b in itertools.pairwise(parts)} == {4}             # as often as it is due


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_max_active_tasks_is_per_run_and_parallelism_per_scheduler(number):
    assert use(dk.simulate(demo.per_run(runs=number))) == number
    assert use(dk.simulate(demo.schedulers(number, parallelism=1))) == number


def test_the_folk_rule_holds_and_breaks():
    rows = {why: (row["state"], row["reason"]) for why in demo.STUCK for row in [demo.stalled(why)]}
    assert rows["pool of 1"] == ("scheduled", "pool") and rows["1 worker slot"] == ("queued", "worker_slots")
    broken = list(demo.STUCK[2:])
    assert [rows[why] for why in broken] == [
        ("scheduled", "parallelism"), ("queued", "worker_slots"), ("scheduled", "no_scheduler")]


def test_answers_come_from_the_engine():
    answers = {name: find(name).right for name in demo.ASKS}
    assert answers == {
        "flood_report": "15", "flood_cure": "the pool", "too_many_slots": "it waits for ever",
        "big_starts": "all small ones first, big last", "hidden": "6", "sensors": "22", "split": "14",
        "two_schedulers": "4", "folk_rule": "scheduled"}


# ---- the panel


def test_the_panel_begins_where_airflow_does_and_can_be_solved():
    assert sum(good for *_, good in tune().goals) == 1
    assert tune(**REACHED).reached


@pytest.mark.parametrize("knob", REACHED)
def test_each_knob_of_the_solution_is_needed(knob):
    rest = {name: value for name, value in REACHED.items() if name != knob}
    assert not tune(**rest).reached


def test_max_active_tasks_can_do_the_work_of_another_knob():
    without = {name: value for name, value in REACHED.items() if name != "max_active_tis_per_dagrun"}
    assert set(KNOBS) - set(REACHED) == {"max_active_tasks"}
    parts = next(k for k, goal in enumerate(GOALS) if goal.text.startswith("parts of one run"))
    assert not tune(**without).goals[parts][2] and tune(**without, max_active_tasks=2).goals[parts][2]


def test_the_solution_and_every_usual_value_are_offered():
    for knob in KNOBS.values():
        assert knob.usual in knob.offered
        assert REACHED.get(knob.name, knob.usual) in knob.offered


def test_goals_are_counted_from_what_happened():
    trace = tune(**REACHED).trace
    assert max(tuning.connections(trace)) <= 3 and use(trace, "train") == 1
    queued = [e["tick"] for e in trace.events.to_dict("records") if e["new"] == "queued"]
    assert queued and trace.run(dag_id="report").state == "success"


def test_unknown_knobs_and_values_are_refused():
    with pytest.raises(dk.DagkitError, match="knob 'source_slot' is unknown. Did you mean 'source_slots'"):
        tune(source_slot=3)
    with pytest.raises(dk.DagkitError, match="must be a whole number"):
        tune(parallelism="many")


def test_a_deployment_that_can_never_finish_reaches_no_end():
    tuned = tune(source_slots=1, load_pool_slots=2)
    assert tuned.trace.stalled and not tuned.reached
    assert "✗ history is caught up at tick: never" in repr(tuned) and "<td>never</td>" in tuned.inner()


def test_the_panel_plays_when_a_control_is_turned():
    shown = panel()
    before = shown.result.value
    assert {control.value for control in shown.controls.values()} >= {"none", "32", "default"}     # never blank
    for name, value in REACHED.items():
        shown.controls[name].value = str(value)
    assert shown.tuned.reached and shown.result.value != before and "8 of 8 goals" in shown.result.value


class Reader(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)


def test_the_panel_is_readable_without_widgets():
    bundle = panel()._repr_mimebundle_()
    seen = Reader(bundle["text/html"]).tags
    assert seen.count("svg") == 2 and "script" not in seen
    assert all(f"<code>{name}</code>" in bundle["text/html"] for name in KNOBS)
    assert bundle["text/plain"] == repr(tune())


# ---- two futures


def test_two_futures_share_one_axis_and_say_where_they_part():
    four = dk.simulate(demo.flood(source=4))
    changed = four.fork(12, pools={"source": 1})
    shown = futures(four, changed, names=("wide", "narrow"))
    assert len(shown.svgs) == 2 and len({svg.partition('width="')[2].split('"')[0] for svg in shown.svgs}) == 1
    assert "Above: wide. Below: narrow." in repr(shown) and "They part at tick 13" in repr(shown)
    assert four.states_at(12) == changed.states_at(12) and four.states_at(13) != changed.states_at(13)


def test_diff_names_the_limit_that_differs_though_others_are_full_too():
    flood = dk.simulate(demo.flood())
    changed = flood.fork(12, pools={"source": 1})
    part = flood.diff(changed)
    assert changed.explain(part.label, tick=part.tick).code == "parallelism"     # the first check that fails
    assert "What made the difference: pool (pool 'source' is full" in str(part)


def test_futures_refuse_unknown_labels():
    trace = dk.simulate(demo.flood())
    with pytest.raises(dk.DagkitError, match="no task instance is called 'report.biuld'.*report.build"):
        futures(trace, trace, tasks=["report.biuld"])


@pytest.mark.parametrize("name", ["<script>", "a\nb\x00\ud800", '"><img src=x>'])
def test_names_of_futures_are_text(name):
    trace = dk.simulate(dk.Dag("d", [dk.Task("a")]))
    shown = futures(trace, trace, names=(name, name)).html()
    assert not {"script", "img"} & set(Reader(shown).tags)
    shown.encode()
