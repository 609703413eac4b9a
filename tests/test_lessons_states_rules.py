"""Lessons 2 and 4: what they claim, held to recorded cases and to the engine; their notebooks show the same."""

from __future__ import annotations

import contextlib
import io
import json
from collections import Counter
from pathlib import Path

import nbformat
import pytest

import dagkit as dk
from dagkit.lesson import truth
from dagkit.lesson.chart import Chart
from dagkit.lesson.chips import chips
from dagkit.lesson.doctored import FALSE, doctor
from dagkit.lesson.lessons import find, lesson, task_states, trigger_rules
from dagkit.lesson.maps import Node

ROOT = Path(__file__).resolve().parents[1]
RULES = [*dk.trigger_rules.RULES]
RECORDED = json.loads((ROOT / "tests" / "data" / "trigger_rules.json").read_text(encoding="utf-8"))


def played(name):
    """Everything a notebook's code leaves behind, and what each of its cells showed last."""
    space, shown = {}, {}
    for cell in nbformat.read(ROOT / "notebooks" / name, as_version=4).cells:
        if cell.cell_type == "code":
            body, _, last = cell.source.rstrip().rpartition("\n")
            with contextlib.redirect_stdout(io.StringIO()):
                try:
                    code = compile(last, cell.id, "eval")
                except SyntaxError:
                    exec(cell.source, space)  # noqa: S102  (the lesson's own cells)
                else:
                    exec(body, space)  # noqa: S102
                    shown[cell.id] = eval(code, space)  # noqa: S307
    return space, shown


@pytest.fixture(scope="module")
def states_book():
    return played("02_task_states.ipynb")


@pytest.fixture(scope="module")
def rules_book():
    return played("04_trigger_rules.ipynb")


# ---- lesson 2


def test_the_tour_visits_every_state():
    trace = dk.simulate(task_states.tour())
    assert {state for changes in trace.changes for _, state in changes} == set(dk.states.NAMES)
    held = {state for tick in range(trace.last_tick + 1) for state in trace.states_at(tick).values()}
    assert held == set(dk.states.NAMES), "each must be seen at the end of some tick, where the player shows it"


def test_the_tour_makes_legal_moves_only():
    events = dk.simulate(task_states.tour()).events
    assert all(dk.states.is_legal(old, new) for old, new in zip(events["old"], events["new"], strict=True))


def test_the_rule_of_thumb_and_its_exceptions():
    blame = {name: make() for name, make in task_states.BLAME.items()}
    waits = {name: (trace.states_at(3)["t3"], trace.explain("t3", tick=3).code) for name, trace in blame.items()}
    assert waits["pool"] == ("scheduled", "pool")
    assert waits["workers"] == ("queued", "worker_slots")
    assert waits["low parallelism"] == ("scheduled", "parallelism")
    assert waits["forgetful"][0] == "queued"
    assert blame["scheduler dead"].final_states == {"t0": "success", "t1": "success", "t2": "scheduled",
                                                    "t3": "scheduled"}
    crowd = task_states.crowded()
    assert crowd.explain("small", tick=1).code == "not_examined" and crowd.states_at(2)["small"] == "queued"


def test_a_waiting_sensor_gives_its_slot_back_only_asleep():
    starts = {way: task_states.starts(task_states.shared_slot(wait), "load") for way, wait in task_states.WAYS.items()}
    file_there = 2 + 8                                            # first look at tick 2, there after 8 ticks
    assert starts["sensor, mode poke"] > file_there
    assert starts["sensor, mode reschedule"] < file_there and starts["deferred"] < file_there


def test_the_answers_of_lesson_2():
    right = {name: find(name).right for name in lesson(2).asks}
    assert right == {"cleared": "restarting", "asleep": "while the other still waits", "few_slots": "scheduled",
                     "few_workers": "queued", "low_parallelism": "scheduled", "no_scheduler": "scheduled"}


def test_the_chart_has_the_twelve_nodes_and_every_way():
    chart = lesson(2).map
    key = {node.name: node.name.split()[0] for node in chart.nodes}
    assert sorted(key.values()) == sorted([*"12345678DFRX", "skipped"])
    wanted = "1-2 2-3 3-4 3-X 4-5 5-4 5-6 6-7 7-8 7-D D-4 7-R R-3 7-F 3-skipped"
    assert Counter(f"{key[e.start]}-{key[e.end]}" for e in chart.edges) == Counter(wanted.split())
    assert chart.svg().count('class="dk-edge"') == len(chart.edges) == chart.mermaid().count("-->")


def test_no_two_boxes_of_the_chart_touch():
    places = [*lesson(2).map.places.values()]
    for k, (a, b) in enumerate(places):
        assert all(abs(a - c) >= 1 or abs(b - d) >= 0.75 for c, d in places[:k])


def test_a_hostile_name_in_a_chart_is_text():
    name = '<script>"&\x00\ud800'
    chart = Chart("c", (Node(name, name, "why"),), (), places={name: (0, 0)}, sides={}, shades={})
    assert "<script>" not in chart.svg() and "\x00" not in chart.svg()
    chart.svg().encode()


@pytest.mark.parametrize("seed", range(40))
def test_a_doctored_log_has_three_false_lines_and_still_hangs_together(seed):
    trace = dk.simulate(task_states.tour())
    log = doctor(trace, seed)
    assert len(log.illegal) == FALSE == len({log.lines[k - 1][1] for k in log.illegal})
    now = dict.fromkeys(trace.labels, "none")
    for tick, task, old, new in log.lines:
        assert now[task] == old and tick <= trace.last_tick
        now[task] = new
    assert [line[0] for line in log.lines] == sorted(line[0] for line in log.lines)
    assert now == trace.final_states
    assert repr(log) == repr(doctor(trace, seed))


def test_seeds_pose_different_puzzles():
    trace = dk.simulate(task_states.tour())
    assert len({tuple(doctor(trace, seed).illegal) for seed in range(40)}) > 20


def test_a_log_too_short_to_doctor_is_left_alone():
    assert doctor(dk.simulate(dk.Dag("d", [dk.Task("a", empty=True)])), 1).illegal == []


# ---- lesson 4


def test_the_truth_tables_agree_with_recorded_airflow():
    cases = [c for c in RECORDED["cases"] if 0 < len(c["upstream"]) <= truth.MOST]
    open_states = set(dk.states.NAMES) - set(truth.DONE)
    for case in cases:
        mix = [truth.OPEN if state in open_states else state for state in case["upstream"]]
        mix.sort(key=truth.ASKED.index)
        assert truth.verdicts(case["rule"])[tuple(mix)] == case["verdict"], case
    assert {c["rule"] for c in cases} == set(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_a_verdict_depends_only_on_which_states_there_are(rule):
    """That is why pairs show nearly everything, and why the words may speak of mixes."""
    by_kind = {}
    for mix, verdict in truth.verdicts(rule).items():
        by_kind.setdefault(frozenset(mix), set()).add(verdict)
    assert {len(verdicts) for verdicts in by_kind.values()} == {1}


def test_the_words_of_the_table_are_what_airflow_says():
    """Written by hand from the recorded behaviour of 3.3.2, not from our own output."""
    fail = ["failed", "upstream_failed"]
    assert {rule: truth.early(rule) for rule in RULES} == {
        "all_success": {"upstream_failed": fail, "skipped": ["skipped"]},
        "all_failed": {"skipped": ["success", "skipped"]},
        "all_done": {}, "all_done_setup_success": {},
        "one_success": {"run": ["success"]}, "one_failed": {"run": fail}, "one_done": {"run": ["success", "failed"]},
        "none_failed": {"upstream_failed": fail}, "none_failed_min_one_success": {"upstream_failed": fail},
        "none_skipped": {"skipped": ["skipped"]}, "all_skipped": {"skipped": ["success", *fail]},
        "all_done_min_one_success": {"skipped": ["skipped"]}, "always": {"run": list(truth.DONE)},
    }
    late = {rule: truth.late(rule) for rule in RULES}
    assert late["all_skipped"] == {"run": "all skipped", "wait": "at least one removed"}
    assert late["one_success"] == {"skipped": "all skipped", "upstream_failed": "any other mix"}
    assert late["none_failed_min_one_success"] == {
        "run": "at least one success", "skipped": "all skipped", "upstream_failed": "all removed, skipped with removed"}
    assert truth.late(truth.OWNER, setups=True) == {
        "run": "at least one success", "skipped": "all skipped", "upstream_failed": "any other mix"}


@pytest.mark.parametrize("rule", RULES)
def test_a_card_shows_every_pair(rule):
    card = truth.card(rule)
    assert card.html.count("<td ") == len(truth.ASKED) ** 2
    for a, b in (("failed", "running"), ("success", "skipped")):
        said = dk.trigger_rules.evaluate(rule, [b], setups=[a]) if rule == truth.OWNER else \
            dk.trigger_rules.evaluate(rule, [a, b])
        assert f"{a} + {b}: {said}" in card.text and f'title="{a} and {b}: {said}"' in card.html


def test_an_unknown_rule_is_refused_with_the_nearest():
    with pytest.raises(dk.DagkitError, match="one_failled.*Did you mean 'one_failed'"):
        truth.card("one_failled")


def test_every_rule_has_a_question_of_its_own():
    assert set(RULES) <= set(lesson(4).asks)
    assert set(trigger_rules.JOINS) == set(RULES) - {truth.OWNER}


def test_the_answers_of_lesson_4():
    right = {name: find(name).right for name in lesson(4).asks}
    last = "when `slow` has ended too"
    assert right == {
        "all_success": "upstream_failed", "all_failed": "skipped", "all_done": last, "one_success": "success",
        "one_failed": "skipped", "one_done": last, "none_failed": "success", "none_failed_min_one_success": "skipped",
        "none_skipped": "success", "all_skipped": "skipped", "all_done_min_one_success": "skipped",
        "all_done_setup_success": "success", "always": "before either has ended",
        "who_is_first": "skipped, run success", "clean_up_survives": "1", "nothing_made": "upstream_failed",
    }


def test_only_a_plain_failure_is_survived():
    ends = {what: dk.simulate(scene).final_states["cleanup"] for what, scene in trigger_rules.six().items()}
    assert [what for what, state in ends.items() if state == "success"] == ["its upstream fails"]


def test_exactly_one_rule_is_right_for_the_join():
    assert [rule for rule in RULES if dk.check("branch_join", rule)] == ["none_failed_min_one_success"]


def test_an_upstream_that_lost_its_own_upstream():
    assert truth.join("one_done", lost=("upstream_failed", 1), fine=("skip", 1)).final_states["after"] == "skipped"


# ---- the notebooks show what the words speak of


def test_the_notebook_of_lesson_2_plays_the_same(states_book):
    space, shown = states_book
    assert space["trace"] == dk.simulate(task_states.tour())
    assert shown["play"].trace == space["trace"]
    assert space["narrow_pool"] == task_states.BLAME["pool"]()
    assert space["few_workers"] == task_states.BLAME["workers"]()
    assert space["dead"] == task_states.BLAME["scheduler dead"]()
    assert space["low"] == task_states.BLAME["low parallelism"]()
    assert space["local"] == task_states.BLAME["forgetful"]()
    assert space["window"] == task_states.crowded()
    assert space["WAYS"] == task_states.WAYS
    assert {row["state"] for row in space["first"].values()} == set(dk.states.NAMES)
    assert shown["false"].illegal == task_states.puzzle(space["SEED"]).illegal


@pytest.mark.parametrize("rule", RULES)
def test_the_notebook_of_lesson_4_plays_the_same(rules_book, rule):
    _, shown = rules_book
    player = shown["owner" if rule == truth.OWNER else rule]
    assert player.question.name == rule
    assert player.trace == trigger_rules.played(rule)


def test_the_six_days_of_the_notebook_are_those_of_the_question(rules_book):
    space, _ = rules_book
    assert [dk.simulate(s) for s in space["SIX"].values()] == [dk.simulate(s) for s in trigger_rules.six().values()]
    assert list(space["SIX"]) == list(trigger_rules.six())


def test_checks_wait_for_the_learner(states_book, rules_book):
    assert states_book[1]["false-check"].ok is None and rules_book[1]["branch-check"].ok is None


# ---- tables with states in colour


def test_a_table_of_chips_shows_states_in_colour_and_nothing_cut():
    long = "because " * 30
    table = chips([{"task": "a", "ended": "failed", "then": ["none", "removed"], "final": True, "why": long}])
    html = table._repr_html_()
    for name in ("failed", "removed"):
        assert dk.states.TABLE[dk.states.CODE[name]].fill in html
    assert "○ N none" in html and dk.states.TABLE[0].fill not in html      # an outline: near-white glares on a dark page
    assert long.strip() in html and long.strip() in repr(table)
    assert repr(table).startswith("task | ended | then | final | why\na | failed | none, removed | yes | because")


def test_a_reason_with_the_name_of_a_state_is_no_state():
    html = chips([{"state": "running", "reason": "running", "why": "running"}])._repr_html_()
    assert html.count(dk.states.TABLE[dk.states.CODE["running"]].fill) == 1 and html.count("running") == 3


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a\x00\ud800b"])
def test_hostile_text_in_a_table_of_chips_is_text(text):
    html = chips([{text: text, "states": ["failed", text]}])._repr_html_()
    html.encode()
    assert "<script" not in html and "<img" not in html and "\x00" not in html


def test_a_table_of_chips_takes_a_dataframe_or_nothing():
    trace = dk.simulate(dk.examples.orders())
    assert "upstream_failed" in repr(chips(trace.why("publish")))
    assert "<table" in chips([])._repr_html_()
