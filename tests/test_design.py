"""The design scenario: designs that pass, what breaks without each of their parts, and the day itself."""

from __future__ import annotations

import html.parser
from collections import Counter

import pytest

import dagkit as dk
from dagkit.design import Design, Report, facts, grade, grading, playing, world
from dagkit.design.counting import Readings
from dagkit.design.report import steps
from tests.designs import ALL, FLEET, GOOD, GPU, METRICS, SPOILED, STORED


@pytest.fixture(scope="module")
def naive() -> Report:
    return grade(Design())


@pytest.fixture(scope="module")
def fleet() -> Report:
    return grade(FLEET)


def broken(design: dict, kinds: tuple[str, ...]) -> set[str]:
    """Requirements that are not met when only some kinds of Dags run."""
    made = Design(**design)
    return {v.name for v in grading.verdicts(made, playing.play(made, kinds)) if not v.passed}


# ---- the situation


def test_the_situation_has_the_numbers_of_the_task():
    kinds = world.KINDS
    assert sum(kind.count for kind in kinds.values()) == 300 and kinds["critical"].count == 300 * 5 // 100
    assert (world.CONNECTIONS, world.CALLS_A_MINUTE, kinds["training"].count, len(world.GPUS)) == (20, 100, 6, 2)
    due = playing.scenario(Design()).runs
    missed = [len(runs.due()) for dag_id, runs in due.items() if not dag_id.startswith("critical")]
    assert set(missed) == {30, 1} and {tick for tick, _ in due["short_001"].due()} == {world.UNPAUSED}
    assert playing.scenario(Design()).config.scheduler_health_check_threshold * world.TICK_SECONDS == 30


def test_it_can_be_solved_at_all():
    """The work of the month, by hand: it fits into four hours of source, API and places, but not into half of them."""
    runs = {name: kind.count * kind.days for name, kind in world.KINDS.items()}
    held = runs["short"] * 20 + runs["heavy"] * 40 * 4 + runs["training"] * 60
    work = runs["short"] * 40 + runs["saas"] * 60 + runs["heavy"] * 640
    minutes = {"source": held / 20 / 60, "api": runs["saas"] * 10 / 100, "places": work / world.CPU_SLOTS / 60}
    assert all(world.DRAINED / 2 < used < world.DRAINED for used in minutes.values()) or minutes == {
        "source": pytest.approx(154.8), "api": 120, "places": pytest.approx(140.3, abs=0.3)}


# ---- good designs, and what each knob buys


@pytest.mark.parametrize("name", ["bulkheads", "mixed"])
def test_different_designs_pass(name):
    assert grade(GOOD[name]).passed


def test_the_fleet_passes_and_every_task_ends_well(fleet):
    assert fleet.passed and fleet.line == "12 of 12 requirements met"
    assert set(fleet.trace.final_states.values()) == {"success"}
    assert max(fleet.trace.tries.values()) == 1


def test_edge_workers_on_the_gpu_machines_pass_too():
    assert not broken(GOOD["edge"], ("training",))


@pytest.mark.parametrize("name", SPOILED)
def test_each_part_of_the_design_is_needed(name, fleet):
    design, expected, kinds = SPOILED[name]
    usual = set() if kinds == ALL else broken(FLEET, kinds)      # what needs kinds that do not run here
    assert broken(design, kinds) - usual == expected


def test_the_naive_default_fails_for_the_expected_reasons(naive):
    assert not any(verdict.passed for verdict in naive.verdicts)
    assert naive["source connections"].tick == world.UNPAUSED
    assert naive["source connections"].found.startswith("at most 49 of 20: 10 x bulk_read (4 each), 9 x extract (1 each)")
    assert naive["API calls"].by == 300
    assert naive["a scheduler machine is lost"].tick == world.LOST
    assert "no scheduler was left" in naive["a scheduler machine is lost"].found
    assert "no GPU" in naive["GPU machines"].found and "only Dag processor" in naive["the bad file"].found
    assert "4,521 running runs for 1 scheduler" in naive["scheduler loop"].found


# ---- counted another way


def test_figures_are_what_the_states_say(fleet):
    """Connections and calls, counted from the table of events instead of the record."""
    events = fleet.trace.events
    events = events[events["tick"] < 200]
    opens, calls, line = 0, Counter(), {}
    for tick, task_id, old, new in events[["tick", "task_id", "old", "new"]].itertuples(index=False):
        opens += world.OPENS.get(task_id, 0) * ((new == "running") - (old == "running"))
        line[tick] = opens
        calls[tick] += 10 * (task_id == "call" and new == "running")
    seen = Readings(fleet.trace)
    assert {tick: n for tick, n in seen.connections if tick < 200}.items() <= line.items() and max(line.values()) == 20
    assert max(sum(calls[t - k] for k in range(6)) for t in range(6, 200)) == max(n for t, n in seen.calls if t < 200)


def test_the_same_design_gives_the_same_report(naive):
    assert repr(grade({})) == repr(naive)


def test_the_machine_that_is_lost_is_the_first_schedulers():
    design = Design(schedulers=("host-c", "host-b"), triggerers=("host-c",), processors=("host-a",))
    assert [type(fault).__name__ for fault in playing.faults_of(design)] == ["LoseScheduler", "TriggererDown"]


# ---- what is refused


@pytest.mark.parametrize(("given", "said"), [
    ({"pool": {}}, "'pool' cannot be declared. Did you mean 'pools'"),
    ({"tasks": {"extrakt": {}}}, "no task 'extrakt'. Did you mean 'extract'"),
    ({"tasks": {"extract": {"pool": "sauce"}}, "pools": {"source": 20}},
     "pool 'sauce' is not declared. Did you mean 'source'"),
    ({"tasks": {"extract": {"retries": 2}}}, "'retries' cannot be declared here"),
    ({"tasks": {"train": {"executor": "gpu"}}}, "executor 'gpu' is not configured"),
    ({"tasks": []}, "tasks must be a dictionary"),
    ({"pools": {"source": -2}}, "slots must be a whole number"),
    ({"max_active_runs": {"shrt": 2}}, "no kind of Dag 'shrt'. Did you mean 'short'"),
    ({"max_active_runs": 0}, "must be a whole number >= 1"),
    ({"schedulers": ["host-d"]}, "no machine 'host-d'"),
    ({"schedulers": []}, "at least one machine"),
    ({"executors": dk.LocalExecutor(parallelism=65)}, "65 places besides the GPU machines; there is money for 64"),
    ({"executors": dk.KubernetesExecutor()}, "no end of places"),
    ({"executors": dk.CeleryExecutor(workers=[*GPU, dk.Worker(1, name="gpu-3")])}, "worker 'gpu-3' has no machine"),
    ({"stored": {"logs": "worker disk"}}, "no item to store 'logs'"),
    ({"stored": {"task logs": "a drawer"}}, "no place to store 'a drawer'"),
    ({"metrics": ["scheduler_hartbeat"]}, "Did you mean 'scheduler_heartbeat'"),
    ({"metrics": ["<script>\n\ud800"]}, "no metric"),
    (3, "expected a dk.design.Design"),
])
def test_what_cannot_be_is_refused_in_a_sentence(given, said):
    with pytest.raises(dk.DagkitError) as refused:
        grade(given)
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_stored_state_and_metrics_say_what_is_wrong(naive):
    def judged(**given):
        return {v.name: v for v in (judge(Design(**given), Readings(naive.trace)) for judge in grading.REQUIREMENTS[-2:])}
    found = judged(stored={**STORED, "task logs": "worker disk"}, metrics=(*METRICS, "page views of the UI"))
    assert "a pod's disk is gone" in found["stored state"].found
    assert "page views of the UI tells nothing" in found["health metrics"].found
    assert "too many" in judged(metrics=[m for m in facts.METRICS if facts.METRICS[m].tells])["health metrics"].found
    assert all(v.passed for v in judged(stored=STORED, metrics=METRICS).values())


# ---- how it is shown


class Tags(html.parser.HTMLParser):
    def __init__(self, text: str):
        super().__init__()
        self.seen: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)


def test_the_report_is_readable_without_scripts(naive):
    shown = naive._repr_mimebundle_()
    seen = Tags(shown["text/html"]).seen
    assert seen.count("svg") == 4 and "script" not in seen and shown["text/html"].count("<li") == 12
    assert shown["text/plain"].count("✗") == 12 and "First at minute 5:00 (tick 31)" in shown["text/plain"]
    assert len(shown["text/html"]) < 120_000


def test_a_chart_shows_the_highest_of_every_two_minutes():
    line = [(1, 5), (3, 9), (4, 2), (30, 1)]
    assert steps(line) == [(0.0, 9), (2.0, 2), (4.0, 2)]


def test_an_unknown_requirement_is_named(naive):
    with pytest.raises(dk.DagkitError, match="no requirement 'api'.*API calls"):
        naive["api"]
