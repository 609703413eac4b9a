"""Values of the wrong type are refused where they are given, in one sentence; what is accepted can be written as JSON."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dagkit as dk
from dagkit.checks import MOST
from dagkit.errors import DagkitError, FormatError
from dagkit.keywords import checked
from dagkit.trigger_rules import evaluate

ARRAY = np.array(["a", "b"])


def dag(**options: Any) -> dk.Dag:
    return dk.Dag("d", [dk.Task("a", returns=2), dk.Task("b", "a")], **options)


def scenario(**options: Any) -> dk.Scenario:
    return dk.Scenario(dag(), **options)


def grouped(over: Any) -> dk.Dag:
    return dk.Dag("d", [dk.Task("list_files", returns=2), dk.Task("in", task_group="g")], groups={"g": over})


REFUSED = {
    # what a task may hold
    "wait": (lambda: dk.Task("a", wait=5), ["task 'a'", "wait must be a dk.Sensor", "not 5", "Write wait="]),
    "wait class": (lambda: dk.Task("a", wait=dk.Sensor), ["task 'a'", "wait must be"]),
    "rule array": (lambda: dk.Task("a", trigger_rule=ARRAY), ["task 'a'", "trigger_rule", "is unknown"]),
    "weight array": (lambda: dk.Task("a", weight_rule=ARRAY), ["task 'a'", "weight_rule", "is unknown"]),
    "short array": (lambda: dk.Task("a", short_circuit=ARRAY), ["task 'a'", "short_circuit", "Leave it out"]),
    "outlets": (lambda: dk.Task("a", outlets=5), ["task 'a'", "outlets must be names of assets, not int"]),
    "expand name": (lambda: dk.Task("a", expand={1: 2}), ["task 'a': expand", "argument name 1", "in quotes"]),
    "expand long": (lambda: dk.Task("a", expand={"x": MOST + 1}), ["task 'a'", "1000001", "shorter list"]),
    "expand wide": (lambda: dk.Task("a", expand={"x": 2000, "y": 2000}), ["task 'a'", "4000000 instances"]),
    "returns long": (lambda: dk.Task("a", returns=MOST + 1), ["task 'a': returns", "1000001"]),
    "hint": (lambda: dk.Task("a", duration="x"), ["task 'a'", "not 'x'", "Give a number of ticks."]),
    "huge retries": (lambda: dk.Task("a", retries=10**5000), ["task 'a'", "retries", "a very large number"]),
    "third value": (lambda: dk.Task("a", "b", 3), ["task 'a'", "3 has none", "Write duration=3", "in a list"]),
    # Dags and groups
    "tasks 5": (lambda: dk.Dag("d", 5), ["Dag 'd'", "tasks must be a list", "not int"]),
    "tasks None": (lambda: dk.Dag("d", None), ["Dag 'd'", "tasks must be a list", "not None"]),
    "tasks set": (lambda: dk.Dag("d", {dk.Task("a")}), ["Dag 'd'", "tasks must be a list", "not set"]),
    "fail_fast": (lambda: dag(fail_fast="no"), ["Dag 'd'", "fail_fast must be True or False, not 'no'"]),
    "assets": (lambda: dag(assets=5), ["Dag 'd'", "assets must be names of assets, not int"]),
    "groups 5": (lambda: dag(groups=5), ["Dag 'd'", "groups must be a dictionary", "not 5"]),
    "groups text": (lambda: dag(groups="x"), ["Dag 'd'", "groups must be a dictionary", "not 'x'"]),
    "group name": (lambda: dag(groups={1: {"x": 2}}), ["Dag 'd'", "group name 1", "non-empty text"]),
    "group float": (lambda: grouped({"x": 1.5}), ["Dag 'd': group 'g'['x']", "a list or its length", "not 1.5"]),
    "group below 0": (lambda: grouped({"x": -1}), ["Dag 'd': group 'g'['x']", "not -1"]),
    "group source": (lambda: grouped({"x": "list_file"}),
                     ["group 'g' is mapped over 'list_file'", "not a task", "Did you mean 'list_files'?"]),
    "group itself": (lambda: grouped({"x": "in"}), ["group 'g' is mapped over 'in'", "one of its own tasks"]),
    # scenarios
    "faults 5": (lambda: scenario(faults=5), ["faults must be a list, not 5", "Write faults="]),
    "faults None": (lambda: scenario(faults=None), ["faults must be a list, not None"]),
    "fault": (lambda: scenario(faults=["boom"]), ["faults: 'boom' is not a fault", "LoseWorker"]),
    "changes 5": (lambda: scenario(changes=5), ["changes must be a list, not 5"]),
    "changes text": (lambda: scenario(changes="x"), ["changes must be a list, not 'x'"]),
    "changes item": (lambda: scenario(changes=[1]), ["changes must be pairs", "not 1"]),
    "clear 5": (lambda: scenario(changes=[(2, {"clear": 5})]), ["change: clear must be a list, not 5"]),
    "clear [5]": (lambda: scenario(changes=[(2, {"clear": [5]})]), ["change: clear", "must be text, not 5"]),
    "pause None": (lambda: scenario(changes=[(2, {"pause": None})]), ["change: pause must be a list, not None"]),
    "unpause": (lambda: scenario(changes=[(2, {"unpause": 5})]), ["change: unpause must be a list, not 5"]),
    "fork tasks": (lambda: dk.simulate(dag()).fork(2, tasks={"a": None}), ["tasks['a']", "dictionary", "not None"]),
    "fork task id": (lambda: dk.simulate(dag()).fork(2, tasks={"aa": {}}), ["'aa'", "Known: a, b"]),
    "fork no dag": (lambda: dk.Scenario([], changes=[(1, {"tasks": {"a": {}}})]), ["no Dag has a task 'a'"]),
    "fork dag": (lambda: dk.simulate(dag()).fork(2, dag=5), ["dag must be a dk.Dag", "not 5"]),
    "fork config": (lambda: dk.simulate(dag()).fork(2, config=None), ["config must be a dk.Config, not None"]),
    "outcome label": (lambda: scenario(outcomes={1: "fail"}), ["outcomes", "task label 1 must be text"]),
    "duration label": (lambda: scenario(durations={None: 2}), ["durations", "task label None must be text"]),
    "initial label": (lambda: scenario(initial={("a",): "success"}), ["initial", "must be text"]),
    "outcome array": (lambda: scenario(outcomes={"a": [ARRAY]}), ["outcomes['a']", "is not an outcome"]),
    "outcome digits": (lambda: scenario(outcomes={"a": "success:" + "9" * 5000}), ["outcomes['a']", "1000000"]),
    "outcome long": (lambda: scenario(outcomes={"a": "success:1000001"}), ["outcomes['a']", "'success:1000001'"]),
    "pools": (lambda: scenario(pools="boom"), ["pools must be a dictionary keyed by pool name, not str"]),
    "seed": (lambda: scenario(seed=10**5000), ["seed", "a very large number"]),
    "runs": (lambda: scenario(runs=MOST + 1), ["runs: count must be at most 1000000, not 1000001"]),
    "catchup": (lambda: dk.Runs(catchup="no"), ["runs: catchup must be True or False, not 'no'"]),
    "include_deferred": (lambda: dk.Pool(1, "no"), ["pool: include_deferred must be True or False, not 'no'"]),
    "pacing": (lambda: dk.Config(pacing=ARRAY), ["config: pacing must be one of lesson, airflow"]),
    # waits, faults, executors, rules
    "huge mode": (lambda: dk.Sensor(mode=10**5000), ["Sensor: mode", "not 'a very large number'"]),
    "mode": (lambda: dk.Sensor(mode=ARRAY), ["Sensor: mode must be one of poke, reschedule"]),
    "soft_fail": (lambda: dk.Sensor(soft_fail=1), ["Sensor: soft_fail must be True or False, not 1"]),
    "defaults": (lambda: dk.HumanInput(defaults="x"), ["HumanInput: defaults must be True or False, not 'x'"]),
    "lost worker": (lambda: dk.LoseWorker(1, task=5), ["LoseWorker: task must be text or None, not 5"]),
    "lost at": (lambda: dk.LoseWorker(1, task="a", executor=5), ["LoseWorker: executor must be text or None, not 5"]),
    "lost message": (lambda: dk.LoseMessage(1, task=5), ["LoseMessage: task must be text, not 5"]),
    "queues": (lambda: dk.Worker(queues=5), ["Worker: queues must be a list, not 5"]),
    "queues None": (lambda: dk.Worker(queues=None), ["Worker: queues must be a list, not None"]),
    "worker name": (lambda: dk.Worker(name=5), ["Worker: name must be text, not 5"]),
    "executor name": (lambda: dk.LocalExecutor(name=5), ["LocalExecutor: name must be text, not 5"]),
    "dispatched": (lambda: dk.LocalExecutor(remember_dispatched=0), ["remember_dispatched must be True or False, not 0"]),
    "alias": (lambda: scenario(executor={5: dk.LocalExecutor()}), ["executor: each name must be text, not 5"]),
    # planning
    "parts": (lambda: dk.split(dag(), "b", 10**400), ["split: parts must be at most 1000000", "smaller number"]),
    "wide": (lambda: dk.expand(dag(), "b", MOST + 1, MOST + 1), ["expand 'b'", "1000001", "shorter list"]),
    "wider": (lambda: dk.expand(dag(), "b", 10**5000), ["expand 'b'", "a very large number"]),
    "length": (lambda: dk.split(dag().replace("b", duration=10**400 + 1), "b", 2),
               ["task 'b'", "cannot be divided", "larger unit"]),
    "slots": (lambda: dk.makespan(dag(), 10**5000), ["slots", "a very large number"]),
    "slots_to": (lambda: dk.moves(dag(), 2, slots_to=5), ["moves: slots_to must be a list, not 5"]),
    "faster": (lambda: dk.moves(dag(), 2, faster=["b"]), ["moves: faster must be a dictionary", "Write {'train': 2}"]),
    "faster inf": (lambda: dk.moves(dag(), 2, faster={"b": 10**400}), ["moves: faster['b']", "2 means twice"]),
    "cuts": (lambda: dk.moves(dag(), 2, parts=["b"]), ["moves: parts must be a dictionary", "Write {'train': 3}"]),
    "new pools": (lambda: dk.moves(dag(), 2, pools=5), ["moves: pools must be a dictionary, not 5"]),
    "one pool": (lambda: dk.pooled_makespan(dag(), 2, ["b"]), ["pools must be a dictionary", "Write {'db': (1, "]),
    "what_if": (lambda: dk.what_if(dag(), ["b"]), ["what_if: durations must be a dictionary", "Write {'process': 1}"]),
    "evaluate": (lambda: evaluate("all_done", 5), ["evaluate: upstream_states must be a list, not 5"]),
    "evaluate setups": (lambda: evaluate("all_done", [], setups=5), ["evaluate: setups must be a list, not 5"]),
    "evaluate above": (lambda: evaluate("all_done", [], indirect_setups=5), ["indirect_setups must be a list, not 5"]),
    "evaluate scope": (lambda: evaluate("all_done", [], scope=5), ["evaluate: scope must be a list, not 5"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_type_is_refused_in_one_sentence(case: str) -> None:
    call, says = REFUSED[case]
    with pytest.raises(DagkitError) as refusal:
        call()
    message = str(refusal.value)
    assert message.isprintable() and len(message) < 500
    for part in says:
        assert part in message


# ---- what is accepted is kept in plain types -----------------------------------------------------------------------


def back_and_forth(trace: dk.Trace) -> dk.Trace:
    text = trace.to_json()
    again = dk.Trace.from_json(text)
    assert again.to_json() == text
    return again


def test_numpy_numbers_become_pythons_own() -> None:
    task = dk.Task("a", duration=np.int64(3), retry_delay=np.float32(0.5), execution_timeout=np.float64(9))
    assert [type(v) for v in (task.duration, task.retry_delay, task.execution_timeout)] == [int, float, float]
    config = dk.Config(tick_seconds=np.float64(2.5), max_task_retry_delay=np.int32(60))
    shape = dk.Dag("d", [task], dagrun_timeout=np.int64(50))
    again = back_and_forth(dk.simulate(shape, config=config, durations={"a": np.int64(2)}))
    assert (again.scenario.config.tick_seconds, again.scenario.dag.dagrun_timeout) == (2.5, 50)


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    one, two, three = np.int64(1), np.int32(2), np.uint8(3)
    task = dk.Task("a", retries=three, pool_slots=two, priority_weight=-one, max_active_tis_per_dag=two, returns=three)
    mapped = dk.Task("b", "a", expand={"x": "a", "y": two})
    shape = dk.Dag("d", [task, mapped], max_active_tasks=three, groups={"g": {"x": two}})
    kept = [task.retries, task.pool_slots, task.priority_weight, task.returns, mapped.expand["y"], shape.max_active_tasks,
            shape.groups["g"]["x"]]
    assert kept == [3, 2, -1, 3, 2, 3, 2] and {*map(type, kept)} == {int}
    trace = dk.simulate(shape)
    back_and_forth(trace.fork(two, pools={"default_pool": three}))
    assert trace.states_at(two) == trace.states_at(2) and trace.explain("a", one) == trace.explain("a", 1)
    assert trace.explain("a", one, run=np.int64(0)).code == trace.explain("a", 1).code
    found = dk.moves(shape, two, faster={"a": two}, parts={"b": two}, slots_to=[one], pools={"db": (one, ["a"])})
    assert found.to_dict() == dk.moves(shape, 2, faster={"a": 2}, parts={"b": 2}, slots_to=[1],
                                       pools={"db": (1, ["a"])}).to_dict()
    assert repr(dk.schedule(shape, two)) == repr(dk.schedule(shape, 2))
    assert dk.expand(shape, "b", three).edges == dk.expand(shape, "b", 3).edges


def test_sets_of_names_have_one_order() -> None:
    task = dk.Task("a", upstream={"z", "y", "x"}, outlets={"q", "p"})
    assert (task.upstream, task.outlets) == (("x", "y", "z"), ("p", "q"))
    assert dk.Task("a", outlets=set()).outlets == ()
    trace = dk.simulate(dag(), changes=[(2, {"clear": {"b", "a"}, "pause": "d"}), (4, {"unpause": ["d"]})])
    assert trace.scenario.changes == ((2, {"clear": ("a", "b"), "pause": ("d",)}), (4, {"unpause": ("d",)}))
    back_and_forth(trace)


def test_edits_on_the_way_are_written_and_read() -> None:
    edits = {"b": {"wait": dk.Sensor(true_after=2, poke_interval=1), "duration": np.int64(2), "outlets": {"x"}}}
    trace = back_and_forth(dk.simulate(dag()).fork(2, tasks=edits, durations={"b": np.int64(3)}))
    ((_, change),) = trace.scenario.changes
    assert change["tasks"]["b"] == {"wait": dk.Sensor(true_after=2, poke_interval=1), "duration": 2, "outlets": ("x",)}
    assert change["durations"] == {"b": 3}
    assert back_and_forth(dk.simulate(dag()).fork(2, tasks={"b": {"wait": None}})).scenario.changes


def test_executors_keep_their_names_and_their_order() -> None:
    given = {"short": dk.LocalExecutor(), "kind": dk.CeleryExecutor(), "a": dk.LocalExecutor(name="other")}
    again = back_and_forth(dk.simulate(dag(), executor=given))
    assert dict(again.scenario.executor.by_name) == given
    assert list(again.scenario.executor.by_name) == ["short", "kind", "a"]     # the first is the default


# ---- mapped groups and open blocks ---------------------------------------------------------------------------------


def test_a_group_may_be_mapped_over_a_list() -> None:
    trace = back_and_forth(dk.simulate(grouped({"x": ["mon", "tue", "wed"]})))
    assert [label for label in trace.labels if label.startswith("in")] == ["in[0]", "in[1]", "in[2]"]


def test_a_group_waits_for_what_it_is_mapped_over() -> None:
    shape = dk.Dag("d", [dk.Task("first", task_group="g"), dk.Task("second", "first", task_group="g"),
                         dk.Task("list_files", returns=2, duration=3)], groups={"g": {"x": "list_files"}})
    assert sorted(shape.edges) == [("first", "second"), ("list_files", "first")]
    assert shape.close().edges == dk.Dag.from_dict(
        {"first": {"upstream": "list_files", "task_group": "g"}, "second": {"upstream": "first", "task_group": "g"},
         "list_files": {"returns": 2}}, groups={"g": {"x": "list_files"}}).edges
    assert sum(label.startswith("first") for label in dk.simulate(shape).labels) == 2


def test_blocks_in_two_threads_keep_their_tasks_apart() -> None:
    opened, made = threading.Barrier(2), {}

    def build(name: str) -> None:
        with dk.Dag(name) as block:
            opened.wait(10)                                # both blocks are open from here on
            dk.Task(f"{name}_1") >> dk.Task(f"{name}_2")
            opened.wait(10)
        made[name] = list(block.tasks)

    threads = [threading.Thread(target=build, args=(name,)) for name in ("left", "right")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert made == {"left": ["left_1", "left_2"], "right": ["right_1", "right_2"]}


# ---- keywords ------------------------------------------------------------------------------------------------------


def public_classes() -> dict[str, type]:
    """Every class that `dk.` or `dk.<module>.` offers, by its name there."""
    places = {"dk": dk, **{f"dk.{name}": getattr(dk, name) for name in dk._MODULES}}
    found = {}
    for place, module in places.items():
        for name in getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")]):
            cls = getattr(module, name)
            if isinstance(cls, type) and cls.__module__.startswith("dagkit") and cls not in found.values():
                found[f"{place}.{name}"] = cls
    return found


DECLARED = {name: cls for name, cls in public_classes().items()
            if hasattr(cls, "__post_init__") or cls in (dk.Prediction, dk.Dag, dk.Task, dk.latency.Model)}
"""What a user makes: the kit looks at what it was given. Other public classes are what the kit answers with."""


@pytest.mark.parametrize("name", DECLARED)
def test_a_mistyped_keyword_is_refused_with_the_nearest_name(name: str) -> None:
    cls = DECLARED[name]
    takes = inspect.signature(cls).parameters
    known = [p for p in takes if takes[p].kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)]
    known = known or list(dk.latency.parameters.PARAMETERS)                   # Model(**changes)
    needed = {p: "x" for p in takes if takes[p].default is inspect.Parameter.empty and p in known}
    slip = known[-1] + "z"
    with pytest.raises(DagkitError) as refusal:
        cls(**needed, **{slip: 1})
    who = {"dk.Task": "task 'x'", "dk.Dag": "Dag 'x'", "dk.latency.Model": "latency"}.get(name, cls.__name__)
    said = str(refusal.value)
    assert said.startswith(f"{who}: parameter '{slip}' is unknown.") and said.endswith(".")
    assert f"Did you mean '{known[-1]}'?" in said


def test_the_sweep_meets_every_kind_of_declaration() -> None:
    assert len(DECLARED) > 40
    assert {dk.Scenario, dk.Worker, dk.PodsPending, dk.Sensor, dk.Latency, dk.capacity.Facts} <= {*DECLARED.values()}


UNFIT = {
    "missing": (lambda: dk.Pool(), "Pool: slots is missing. Write Pool(slots=...)."),
    "missing of several": (lambda: dk.LoseWorker(task="a"), "LoseWorker: tick is missing. Write LoseWorker(tick=...)."),
    "missing task id": (lambda: dk.Task(duration=3), "task id None: an id must be text (str), not None. Put it in quotes."),
    "missing id": (lambda: dk.Dag(), "Dag: dag_id is missing. Write Dag(dag_id=...)."),
    "one too many": (lambda: dk.Pool(1, True, 3), "Pool: 3 has no parameter, since only 2 values go without a name. "
                                                  "Name the others: slots, include_deferred."),
    "twice": (lambda: dk.Pool(1, slots=2), "Pool: slots is given twice, as 1 and as 2. Keep one of the two."),
    "hidden characters": (lambda: dk.Pool(1, **{"a\n\ud800": 2}), "Pool: parameter 'a\\n\\ud800' is unknown. "
                                                                  "Known: slots, include_deferred."),
    "copy": (lambda: dataclasses.replace(dk.Config(), paralelism=3), "Config: parameter 'paralelism' is unknown. Did you"),
    "subclass": (lambda: type("Mine", (dk.Config,), {})(paralelism=3), "Mine: parameter 'paralelism' is unknown. Did you"),
    "on the way": (lambda: dk.simulate(dag(), pool={}), "Scenario: parameter 'pool' is unknown. Did you mean 'pools'?"),
}


@pytest.mark.parametrize("case", UNFIT)
def test_what_does_not_fit_the_parameters_is_said(case: str) -> None:
    call, says = UNFIT[case]
    with pytest.raises(DagkitError) as refusal:
        call()
    assert str(refusal.value).startswith(says)


def test_an_error_inside_a_class_stays_what_it_is() -> None:
    @checked
    class Faulty:
        def __init__(self, size: int) -> None:
            _ = "x" + size  # type: ignore[operator]

    with pytest.raises(TypeError, match="concatenate"):
        Faulty(3)


# ---- damaged traces ------------------------------------------------------------------------------------------------


def mapped_trace() -> dk.Trace:
    shape = dk.Dag("d", [dk.Task("p", returns=2), dk.Task("m", expand={"x": "p"}), dk.Task("z", "m")])
    return dk.simulate(shape, runs=2).fork(2, pause="d").fork(4, unpause="d")


DAMAGE = {
    "dag of a run": ("runs", 0, "dag", 7), "negative dag": ("runs", 0, "dag", -1), "due": ("runs", 0, "due", "1"),
    "history": ("runs", 0, "history", "x"), "tick of a run": ("runs", 0, "history", 0, 0, None),
    "state in time": ("runs", 0, "history", [["x", None]]), "order of states": ("runs", 0, "history", 0, 0, 99),
    "last state": ("runs", 0, "history", -1, 1, "failed"), "no history": ("runs", 0, "history", []),
    "state of a run": ("runs", 0, "state", "done"), "started": ("runs", 0, "started", 1.5),
    "cause": ("runs", 0, "cause", 5), "triggered": ("runs", 0, "triggered", 0), "number": ("runs", 0, "number", None),
    "tis of a run": ("runs", 0, "ti", [0]), "ti of a run": ("runs", 0, "ti", 0, 999),
    "instances": ("runs", 0, "instances", 0, 1, [999]), "no instances": ("runs", 0, "instances", 0, 1, []),
    "mapped task": ("runs", 0, "instances", 0, 0, 99), "no longer mapped": ("mapped", []),
    "run of a ti": ("tis", 0, 0, 9), "task of a ti": ("tis", 0, 1, 9), "tries": ("tis", 0, 2, "x"),
    "mapped ti": ("mapped", 0, 0, 999), "map index": ("mapped", 0, 1, "0"),
    "born": ("mapped", 0, 2, None), "born too soon": ("mapped", 2, 2, 0),
    "initial": ("initial", [0]), "initial state": ("initial", 0, 14), "ticks": ("tick_no", 0, 99),
    "tick type": ("tick_no", 0, True), "ends": ("tick_end", 0, 999), "event": ("event_ti", 0, 999),
    "negative event": ("event_ti", 0, -1), "state": ("event_new", 0, 14), "events": ("event_new", []),
    "causes": ("causes", [[999, "x"]]), "cause type": ("causes", [[0, 5]]), "gone": ("gone", [[999, "x"]]),
    "gone id": ("gone", [[0, 5]]), "joined": ("joined", [[999, 1]]), "joined at": ("joined", [[0, "x"]]),
    "pauses": ("pauses", 0, 0, "x"), "paused": ("pauses", 0, 1, 5), "capped": ("capped", [[["pool"], 1]]),
    "capped at": ("capped", [[["pool", "a"], "x"]]), "capped kind": ("capped", [[[5, "a"], 1]]),
    "window": ("window_cut", "x"), "overdriven": ("overdriven", [5]), "overdriven text": ("overdriven", "d"),
    "executor": ("scenario", "executor", 0, 1, "kind", "Mapping"), "faults": ("scenario", "faults", [{"kind": []}]),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_trace_is_refused_when_it_is_read(case: str) -> None:
    data = json.loads(mapped_trace().to_json())
    *path, last, value = DAMAGE[case]
    place = data
    for step in path:
        place = place[step]
    assert place[last] != value or type(place[last]) is not type(value)
    place[last] = value
    with pytest.raises(FormatError, match=r"\Atrace: .*\.\Z") as refusal:
        dk.Trace.from_json(json.dumps(data))
    assert str(refusal.value).isprintable()


def test_only_a_trace_can_be_held_against_a_trace() -> None:
    trace = mapped_trace()
    for other in (None, trace.to_json()[:9], trace.scenario):
        with pytest.raises(dk.DagkitError, match=r"diff: needs another trace, not .*\. Write "):
            trace.diff(other)


# ---- what to do next -----------------------------------------------------------------------------------------------


ONE_SENTENCE = {
    "errors.py: {who}: expected {named}, not {value}.": "`named` is what to give",
    "planning/changes.py: {task_id}: {count} mapped tasks > max_map_length {most}, task fails":
        "the line of the planning sheet, which ends in what would happen",
    "compared.py: compare_executors: '{name}': {problem}": "hands on a whole refusal",
    "claims/server.py: claims: {problem()}.": "says itself what to install",
    "practice/progress_file.py: is not JSON": "a clause: the caller says what becomes of the file",
    "practice/progress_file.py: is no progress file of this kit": "the same",
    "practice/progress_file.py: was written by another version of the kit (format {version}, this one reads {VERSION})":
        "the same",
    "practice/progress_file.py: is damaged: it has no list of answers": "the same",
}
AUTHORS = "practice/content.py"
"""Reads the kit's own questions: whoever sees a refusal is writing one, and it names file, place and rule."""


def written(node: ast.expr) -> str:
    """The text of a message, with names for what is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(map(written, node.values))
    if isinstance(node, ast.FormattedValue):
        inner = node.value
        while isinstance(inner, ast.Call) and inner.args and isinstance(inner.func, ast.Name) and \
                inner.func.id in ("shown", "quoted", "repr"):
            inner = inner.args[0]
        return "{" + ast.unparse(inner) + "}"
    if isinstance(node, ast.BinOp):
        return written(node.left) + written(node.right)
    return "{" + ast.unparse(node) + "}"


def raised() -> Iterator[tuple[str, str]]:
    """(file, message) of every refusal that is raised in the package."""
    package = Path(dk.__file__).parent
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args and \
                    getattr(node.exc.func, "id", "") in ("DagkitError", "FormatError"):
                yield path.relative_to(package).as_posix(), written(node.exc.args[0])


def sentences(message: str) -> int:
    """How many clauses of its own a message has; a suggestion that is filled in at its end counts."""
    told = re.sub(r"\{nearest\([^{}]*\)\}", " Mean this?", message)
    return len([part for part in re.split(r"[.?;](?:\s+|$)", re.sub(r"\{[^{}]*\}", "x", told)) if part.strip()])


def test_every_refusal_says_what_to_do_next() -> None:
    found = list(raised())
    assert len(found) > 300
    lonely = [f"{file}: {message}" for file, message in found
              if sentences(message) < 2 and not file.startswith(AUTHORS)]
    assert [each for each in lonely if each not in ONE_SENTENCE] == []
    assert set(ONE_SENTENCE) <= set(lonely), "an exception that nothing needs any more goes"


def test_a_sentence_is_counted_as_one() -> None:
    assert sentences("pool: slots must be >= 1, not {slots}.") == 1
    assert sentences("pool: slots must be >= 1, not {slots}. Write dk.Pool(2).") == 2
    assert sentences("state '{name}' is unknown.{nearest(name, known)}") == 2
    assert sentences("rows is 0.5; choose a whole number.") == 2
