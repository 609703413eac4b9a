"""The latency model is held to what it promises; hop by hop, nothing is lost or doubled whatever happens to hints."""

from __future__ import annotations

import ast
import html
import html.parser
import itertools
import math
import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dagkit as dk
from dagkit import latency
from dagkit.latency import CASES, PARAMETERS, Down, Faults, Model, play, verdict
from dagkit.latency.model import POINTS, SHAPES, _chance
from dagkit.lesson.hop_walk import hop_walk
from dagkit.lesson.latency_panel import chart, latency_panel, report

# ---- the model


def test_the_two_fitted_figures_are_met_and_only_they_are_called_fitted():
    rows = latency.predictions()
    fitted = [row for row in rows if row["use"] == "fitted"]
    assert [(row["published"], row["model"], row["error %"]) for row in fitted] == \
        [("23.582 s", "23.582 s", 0), ("0.228 s", "0.228 s", 0)]
    assert [row["published"] for row in rows if row["use"] == "predicted"] == ["0.294 s", "200,000", "500,000", "1.70 x"]
    assert {p.name for p in PARAMETERS.values() if p.kind == "calibrated"} == {"row_cost", "work"}     # one each


def test_errors_are_printed_as_they_are():
    """Worked out by hand from the model's answers: nothing is rounded away or left out."""
    model = Model()
    assert latency.predictions(Model(updates_per_second=25_000))[2]["error %"] == "infinite"      # 60,000 heartbeats
    (row,) = [row for row in latency.predictions(model) if row["published"] == "0.294 s"]
    assert row["error %"] == round((model.p95("hinted", 300_000) / 0.294 - 1) * 100) != 0
    contradicted = [row for row in latency.predictions(Model(updates_per_second=20_100)) if "contradicted" in row["note"]]
    assert [row["published"] for row in contradicted] == ["200,000", "500,000"]


def test_every_parameter_says_where_it_is_from_and_assumed_ones_have_a_range():
    for p in PARAMETERS.values():
        assert p.kind in latency.KINDS and p.source and p.unit
        assert (p.low is not None) == (p.kind == "assumed")
        assert p.kind != "assumed" or p.low <= p.value <= p.high


def test_p95_is_that_of_the_stages_added_up_by_other_dice():
    """Against plain sampling with random numbers of its own: within what chance allows."""
    dice, model = random.Random(5), Model()
    for design, n in (("standard", 50_000), ("executor", 80_000), ("hinted", 300_000)):
        stages = model.stages(design, n)
        drawn = sorted(sum(s.mean * SHAPES[s.shape](dice.random()) for s in stages) for _ in range(20_000))
        assert model.p95(design, n) == pytest.approx(drawn[19_000], rel=0.04)


def test_the_points_of_chance_are_even():
    for column in _chance(3):
        assert sum(column) / POINTS == pytest.approx(0.5) and len(set(column)) == POINTS
    assert _chance(2)[0] != _chance(2)[1]


def test_growth_has_the_shape_that_its_causes_give_it():
    """Longer passes times more rounds is a square; heartbeats take 1 / (1 - share) of a database."""
    model = Model()
    rounds = [model.stages("standard", n)[0].mean for n in (40_000, 80_000, 160_000)]
    period = [model.pass_seconds("standard", n) + 1 for n in (40_000, 80_000, 160_000)]
    assert rounds == pytest.approx([p * n / 40_000 for p, n in zip(period, (40_000, 80_000, 160_000), strict=True)])
    few = [model.stages("standard", n)[0].mean for n in (1_000, 20_000)]
    assert few == pytest.approx([(model.pass_seconds("standard", n) + 1) / 2 for n in (1_000, 20_000)])     # one round
    queue = [model.stages("hinted", n)[1].mean for n in (0, 250_000, 375_000)]
    assert queue == pytest.approx([model.work, 2 * model.work, 4 * model.work])
    assert math.isinf(model.p95("hinted", 500_000))                  # 100,000 heartbeats a second: all of it


def test_ceilings_are_where_their_rule_says():
    model = Model()
    for design in ("standard", "executor"):
        assert model.pass_seconds(design, model.ceiling(design)) == pytest.approx(30, rel=1e-3)
    assert model.p95("hinted", model.ceiling("hinted")) == pytest.approx(1, rel=1e-3)


def test_conclusions_can_fail():
    """Few runs to go round: the standard path no longer grows more than in proportion. So the check is no ornament."""
    assert all(latency.conclusions().values())
    assert not latency.conclusions(Model(tasks_per_run=500, pass_base=0.5, process_start=4.0))["superlinear"]
    assert not latency.conclusions(Model(updates_per_second=25_000))["flat"]


def test_a_survey_is_the_same_twice_and_has_all_shares():
    one = latency.survey(12, seed=3)
    verdict._survey.cache_clear()
    assert latency.survey(12, seed=3) == one and one.tried == 12
    assert set(one.holds) == set(latency.CONCLUSIONS) and all(0 <= share <= 1 for share in one.holds.values())
    assert all(low <= high for low, high in one.ranges.values()) and len(one.ranges) == 4


@pytest.mark.parametrize(("call", "said"), [
    (lambda: Model(scheduler=3), "parameter 'scheduler' is unknown. Did you mean 'schedulers'"),
    (lambda: Model(row_cost=1), "row_cost is solved for"),
    (lambda: Model(schedulers=0), "must be a number above 0 and at most 1e+12, not 0"),
    (lambda: Model(schedulers=True), "must be a number above 0 and at most 1e+12, not True"),
    (lambda: Model(celery_share=1.5), "is a share below 1, not 1.5"),
    (lambda: Model(heartbeat=float("nan")), "must be a number above 0 and at most 1e+12, not nan"),
    (lambda: Model(process_start=60).p95("standard", 1), "no row_cost gives 23.582 s"),
    (lambda: Model().p95("hint", 1), "design 'hint' is unknown. Did you mean 'hinted'"),
    (lambda: Model().p95("hinted", -1), "must be a number >= 0, not -1"),
    (lambda: latency.survey(0), "a whole number of models from 1 to 2,000"),
    (lambda: Model().p95([], 1), "design [] is unknown"),
    (lambda: play(lose=("tasks",)), "of the kind run, task or done, not 'tasks'"),
    (lambda: play(lose=5), "lose must be"),
    (lambda: play(lose_share=1.5), "lose_share must be a number from 0 to 1, not 1.5"),
    (lambda: play(lose_share="half"), "lose_share must be a number from 0 to 1, not 'half'"),
    (lambda: play(guards=0), "guards must be True or False, not 0"),
    (lambda: play(busy_until=-1), "busy_until must be a whole number of ms >= 0, not -1"),
    (lambda: play(down=["worker 1"]), "a list of Down(who, after, until), not of 'worker 1'"),
    (lambda: play(seed=1.5), "seed must be a whole number >= 0"),
    (lambda: play(retries=-1), "retries must be a whole number >= 0"),
    (lambda: Down("worker 1", "later"), "after (else 'owns', 'assigned' or 'starts') must be a whole number"),
    (lambda: Down("worker 1", "owns", -5), "until must be a whole number of ms >= 0 or None"),
    (lambda: play(lose=("done publsh",)), "lose names 'publsh', which is no task here. Did you mean 'publish'"),
    (lambda: play(lose=("run extract",)), "a hint is of the kind run, task or done, not 'run extract'"),
    (lambda: play(flow=3), "play: expected dk.latency.Flow"),
    (lambda: latency.Flow({"a": (), "b": ("aa",)}), "'b' waits for 'aa', which is not listed before it. Did you mean 'a'"),
    (lambda: latency.Flow({"a": ("a",)}), "'a' waits for 'a', which is not listed before it"),
    (lambda: latency.Flow(["a"]), "Flow: upstream must be a dictionary"),
    (lambda: latency.Flow({"a": ()}, first=(1,)), "first must be two times"),
    (lambda: latency.Flow({"a": ()}, scan=1), "scan must be a whole number of ms >= 100, not 1"),
    (lambda: play(loose=("run",)), "Faults: parameter 'loose' is unknown. Did you mean 'lose'"),
    (lambda: Down("worker 3", 5), "who is one of scheduler 1, .*not 'worker 3'"),
])
def test_bad_input_is_refused(call, said):
    with pytest.raises(dk.DagkitError, match=said if ".*" in said else re.escape(said)):
        call()


# ---- hop by hop


def statements(story):
    return [step.what for step in story.steps]


def test_the_three_hops_in_order():
    story = play()
    first = [what for what in statements(story) if "wake" not in what][:7]
    assert first == ["1 run, 3 rows", "a run waits", "own it: 1 row", "queue extract: 1 row", "extract waits",
                     "take extract", "start extract: 1 row"]
    assert story.waits() == [60, 50, 50]      # hints 5, writes 10, fork 30: 5+10+10+5+30, then 5+10+5+30
    for before, step in itertools.pairwise(story.steps):
        if step.to == "hints":                # whoever drops a hint has just committed
            assert (before.who, before.to, before.at, before.kind) == (step.who, "database", step.at, "write")


@pytest.mark.parametrize("name", CASES)
def test_each_fault_ends_well_and_leaves_its_mark(name):
    story = play(CASES[name].faults)
    assert story.run == "success" and not story.missing and not story.doubled
    marks = {
        "nothing": {}, "hint not published": {"lost": 1}, "hint comes twice": {"refused": 1}, "task hint lost": {"lost": 1},
        "scheduler dies": {"fault": 1, "refused": 1}, "broker down": {"lost": 6}, "worker lost, queued": {"fault": 1},
        "worker cut off": {"fault": 1, "refused": 1}, "lost while running": {"fault": 1}, "all full": {}}
    assert {kind: n for kind in ("lost", "refused", "fault") if (n := story.count(kind))} == marks[name]
    tries = {task: tries for task, (_, tries) in story.final.items()}
    assert tries == {"extract": 2 if name == "lost while running" else 1, "transform": 1, "publish": 1}


def test_how_long_each_fault_delays_the_first_task():
    """From the intervals: a scan within a second, a worker's timer within three, staleness five, heartbeats ten."""
    wait = {name: play(case.faults).waits()[0] for name, case in CASES.items()}
    assert wait["nothing"] == wait["hint comes twice"] < 100
    assert wait["hint not published"] < 1_000 + 100 and wait["task hint lost"] < 3_000 + 100
    assert all(5_000 <= wait[name] < 7_000 for name in ("scheduler dies", "worker lost, queued", "worker cut off"))
    assert play(CASES["lost while running"].faults).ended > 10_000
    assert 2_500 <= wait["all full"] < 2_600


def test_without_the_fallback_a_lost_hint_loses_the_work():
    assert play(lose=("run",), fallback=False).missing == ["extract", "transform", "publish"]
    assert play(lose=("task",), fallback=False).run == "running"
    assert not play(fallback=False).missing                          # as long as no hint is lost


def test_without_guards_things_run_twice():
    assert play(CASES["worker cut off"].faults, guards=False).doubled == ["extract, try 1"]
    assert play(CASES["scheduler dies"].faults, guards=False).doubled
    owned = [step for step in play(CASES["hint comes twice"].faults, guards=False).steps if step.what == "own it: 1 row"]
    assert len(owned) == 2


moments = st.sampled_from(["owns", "assigned", "starts"]) | st.integers(0, 4_000)
outages = st.builds(
    lambda pair, after, back: Down(pair, after, None if back is None else 100 + back),
    st.sampled_from(["scheduler 1", "worker 1"]), moments, st.none() | st.integers(5_000, 15_000))


@given(lose=st.floats(0, 1), twice=st.floats(0, 1), seed=st.integers(0, 10_000), down=st.lists(outages, max_size=2),
       busy=st.sampled_from([0, 0, 1_300]), broker=st.booleans())
@settings(max_examples=150, deadline=None)
def test_nothing_is_lost_or_doubled_whatever_happens_to_hints(lose, twice, seed, down, busy, broker):
    """One scheduler and one worker stay; hints get lost and doubled at any rate, the others freeze or die at any time."""
    faults = Faults(lose_share=lose, duplicate_share=twice, down=tuple(down), busy_until=busy, broker_down=broker)
    story = play(faults, seed=seed)
    assert story.run == "success" and not story.missing and not story.doubled, story
    for task, starts in itertools.groupby(sorted(story.starts, key=lambda s: (s.task, s.at)), key=lambda s: s.task):
        tries = [start.try_number for start in starts]
        assert tries == list(range(1, len(tries) + 1)), task         # one start per try, tries in order
    first = {task: min(s.at for s in story.starts if s.task == task) for task in ("extract", "transform", "publish")}
    assert first["extract"] < first["transform"] < first["publish"]
    assert repr(play(faults, seed=seed)) == repr(story)


def test_the_property_would_notice():
    """The same search with the guards off, or the fallback off, does find doubled and lost work."""
    cut = (Down("worker 1", "assigned", 5_600),)
    assert any(play(down=cut, duplicate_share=0.5, guards=False, seed=k).doubled for k in range(5))
    assert any(play(lose_share=0.3, fallback=False, seed=k).missing for k in range(10))


def test_neither_part_uses_the_engine():
    """A model of the way to running that borrowed the simulator's would prove nothing about it."""
    folder = Path(latency.__file__).parent
    found = {node.module for path in sorted(folder.glob("*.py")) for node in ast.walk(ast.parse(path.read_text("utf-8")))
             if isinstance(node, ast.ImportFrom) and node.level == 2}
    assert found == {"checks", "errors", "keywords"}


# ---- the pictures


class Reader(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.marks = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.marks += dict(attrs).get("class", "").split()


def test_the_chart_tells_fitted_from_predicted_and_ends_each_curve_at_its_ceiling():
    model = Model()
    drawn = chart(model)
    marks = Reader(drawn.svg).marks
    assert marks.count("dk-line") == 3 and marks.count("dk-fitted") == 2 + 1           # two figures, and the key
    assert marks.count("dk-predicted") == 1 + 2 + 2                   # one start time, two counts, and their keys
    for design, points in latency.curves(model).items():
        assert points[-1][0] == math.floor(model.ceiling(design)) and points == sorted(points)
    both = chart(Model(schedulers=4), model)
    assert Reader(both.svg).marks.count("dk-faint") == 3 and both.svg != drawn.svg
    assert chart(Model(updates_per_second=1e9, pass_base=0.1)).svg                     # curves that leave the picture


def test_the_panel_solves_anew_and_can_be_read_without_widgets():
    panel = latency_panel()
    before = panel.inner
    panel.controls["updates_per_second"].value = max(value for _, value in panel.controls["updates_per_second"].options)
    assert panel.inner != before and "contradicted" in before and "contradicted" not in panel.inner
    panel.reset()
    assert panel.inner == before
    panel.controls["process_start"].value = 4.0
    panel.controls["schedulers"].value = 3.0
    bundle = latency_panel()._repr_mimebundle_()
    assert "script" not in Reader(bundle["text/html"]).tags and "(fitted)" in bundle["text/plain"]
    assert all(name in panel.controls for name in latency.ASSUMED)


def test_a_model_that_cannot_be_solved_is_a_sentence():
    assert "no row_cost gives 23.582 s" in report(Model(process_start=60))


def test_a_walk_shows_every_step_and_plays_what_is_chosen():
    walk = hop_walk("worker cut off")
    shown = walk.twin()
    assert Reader(shown).marks.count("dk-step") == len(walk.story.steps) and "script" not in Reader(shown).tags
    assert all(step.why in html.unescape(shown) for step in walk.story.steps)
    walk.guards = False
    assert walk.shown["bad"] and "RAN TWICE: extract" in walk.shown["verdict"]
    with pytest.raises(dk.DagkitError, match="fault 'worker cut of' is unknown. Did you mean 'worker cut off'"):
        hop_walk("worker cut of")


def test_the_hint_about_one_task_is_lost_and_no_other() -> None:
    """extract ends, its hint is lost, and only transform waits for a scan; the others start as if nothing was wrong."""
    well, late = play(), play(lose=("done extract",))
    assert [step.what for step in late.steps if step.kind == "lost"] == ["extract is done (lost)"]
    assert late.starts[0] == well.starts[0] and late.starts[1].at > well.starts[1].at
    assert late.starts[2].at - late.starts[1].at == well.starts[2].at - well.starts[1].at
    assert play(lose=("done publish",)).ended == well.ended                  # nobody waits for that one
