"""Every public callable that takes a number meets numbers nobody expects: it gives a result, or refuses in a sentence."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import dagkit as dk
from dagkit import latency

ODD: tuple[Any, ...] = (math.nan, math.inf, -math.inf, 10**400, -1, 0, 2.5, 1e308, True, "3", None, 3 + 4j, [],
                        np.float64("nan"), np.int64(-1))
NUMERIC = re.compile(r"^(ForwardRef\()?'?(int|float|str \| float|int \| str|Any)( \| None)?'?\)?$")

# What the kit itself makes and hands out: records of what was found. Nobody is asked to build one.
RECORDS = set("""
    architecture.Architecture architecture.Component architecture.Growth architecture.Link architecture.Parse
    architecture.Parsing capacity.Failover capacity.Tally claims.Lap claims.Recorded claims.Start claims.Takeover
    classroom.ClassView design.Verdict exercises.Table formats.Loaded formats.TaskRun latency.Parameter latency.Stage
    latency.Step latency.Survey planning.Row planning.Schedule practice.Drill practice.Game practice.Interview
    symptoms.Broken symptoms.Cause symptoms.Incident symptoms.Symptom
""".split())
NEED_A_SERVER = {"claims.race", "claims.takeover"}                # held to odd numbers in tests/test_claims.py


def small() -> Any:
    return dk.Dag("d", [dk.Task("a", duration=4), dk.Task("b", "a")])


def recorded() -> Any:
    return dk.load('[{"task_id": "a", "state": "success", "try_number": 1, "start_date": "2026-01-01T00:00:00", '
                   '"end_date": "2026-01-01T00:00:09"}]', dag="a -> a2\n")


def answered() -> Any:
    kept = dk.practice.Progress(None)
    kept.note("drill/makespan/7/1", 1, True)
    return kept


def orders() -> Any:
    return dk.examples.orders().dag


GIVEN: dict[str, dict[str, Callable[[], Any]]] = {
    "Dag": {"dag_id": lambda: "d", "tasks": lambda: [dk.Task("a")]},
    "Latency": {"shape": lambda: "uniform", "low": lambda: 1, "high": lambda: 3},
    "LoseMessage": {"task": lambda: "a"}, "LoseWorker": {"task": lambda: "a"}, "SlowWorker": {"task": lambda: "a"},
    "BrokenWorker": {"worker": lambda: "w"}, "WrongQueue": {"worker": lambda: "w", "queues": lambda: ["q"]},
    "Scenario": {"dags": orders}, "Task": {"task_id": lambda: "a"},
    "actual": {"loaded": recorded}, "beside": {"trace": lambda: dk.simulate(orders()),
                                                                   "recorded": recorded},
    "drill": {"kind": lambda: "makespan"}, "expand": {"task_id": lambda: "a", "dag": small, "items": lambda: 2},
    "export_airflow": {"dag_or_scenario": orders, "path": lambda: "FOLDER/made.py"},
    "split": {"dag": small, "task_id": lambda: "a"}, "play": {"trace": lambda: dk.simulate(orders())},
    "architecture.parse": {"files": lambda: {"a.py": 2.0}}, "symptoms.readings": {"case": lambda: dk.symptoms.broken(1)},
    "capacity.Job": {"name": lambda: "j", "queued": lambda: 0, "started": lambda: 1, "ended": lambda: 2},
    "capacity.Work": {"due": lambda: 1, "tasks": lambda: 2, "length": lambda: 3},
    "claims.Design": {"name": lambda: "d"}, "claims.Interleavings": {"name": lambda: "unlocked"},
    "claims.interleavings": {"name": lambda: "unlocked"},
    "classroom.save": {"path": lambda: "FOLDER/answers.csv", "kept": answered},
    "classroom.training": {"seed": lambda: 1}, "latency.Down": {"who": lambda: "worker 1", "after": lambda: 1},
    "latency.Flow": {"upstream": lambda: {"a": ()}},
    "practice.next_review": {"answers": lambda: []}, "views.trace_gantt": {"trace": lambda: dk.simulate(orders())},
    "Site": {"name": lambda: "s"}, "pooled_makespan": {"pools": dict},
    "practice.sheet": {"seed": lambda: 1}, "symptoms.broken": {"seed": lambda: 1},
}
SIMPLE = {"dag": orders, "tick": lambda: 2, "slots": lambda: 2, "parts": lambda: 2, "number": lambda: 1,
          "lesson": lambda: 1, "seed": lambda: 1, "step": lambda: 1, "case_id": lambda: next(iter(dk.museum.cases())),
          "concurrency": lambda: 4}


@cache
def public() -> dict[str, Callable[..., Any]]:
    """Everything that `dagkit` and its public modules export and that can be called, under its shortest name."""
    found = {name: getattr(dk, name) for name in dk.__all__}
    for module in dk._MODULES:
        names = getattr(getattr(dk, module), "__all__", ())
        found |= {f"{module}.{name}": getattr(getattr(dk, module), name) for name in names}
    kept: dict[int, str] = {}
    for name, what in found.items():
        if callable(what) and str(getattr(what, "__module__", "")).startswith("dagkit"):
            kept.setdefault(id(what), name)
    return {name: found[name] for name in kept.values()}


@cache
def numeric() -> list[tuple[str, str]]:
    """(callable, parameter) for each parameter that is annotated as a number or has one as its default."""
    found = []
    for name, what in public().items():
        try:
            parameters = inspect.signature(what).parameters.values()
        except ValueError:
            continue                                            # exceptions
        found += [(name, p.name) for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
                  and (type(p.default) in (int, float) or
                       (NUMERIC.match(str(p.annotation)) and "Any" not in str(p.annotation)))]
    return [(name, parameter) for name, parameter in found if name not in RECORDS | NEED_A_SERVER]


def called(name: str, changed: dict[str, Any], folder: Any) -> Any:
    """The result of a callable for sound arguments, but for what is changed."""
    what = public()[name]
    given: dict[str, Any] = {}
    for p in inspect.signature(what).parameters.values():
        make = GIVEN.get(name, {}).get(p.name)
        if make is None and p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
            make = SIMPLE[p.name]
        if make is not None:
            value = make()
            given[p.name] = str(folder) + value[6:] if str(value).startswith("FOLDER") else value
    return what(**{**given, **changed})


def shown_whole(result: Any) -> None:
    """A result has to be usable: a view or a table that fails when it is shown is none."""
    repr(result)
    if isinstance(result, Iterator):
        next(result, None)


@pytest.mark.parametrize(("name", "parameter"), numeric())
def test_an_odd_number_is_taken_or_refused_in_a_sentence(name: str, parameter: str, tmp_path: Any) -> None:
    called(name, {}, tmp_path)
    for odd in ODD:
        sound(lambda odd=odd: called(name, {parameter: odd}, tmp_path))


def sound(call: Callable[[], Any]) -> None:
    """A result that can be shown, or a refusal in a sentence; no other error."""
    try:
        shown_whole(call())
    except dk.DagkitError as refusal:
        text = str(refusal)
        assert text.isprintable() and text.endswith((".", "?")) and len(text) < 600, text


@pytest.mark.parametrize(("name", "parameter"), numeric())
def test_numbers_of_numpy_are_numbers(name: str, parameter: str, tmp_path: Any) -> None:
    make = GIVEN.get(name, {}).get(parameter) or SIMPLE.get(parameter)
    value = make() if make else inspect.signature(public()[name]).parameters[parameter].default
    if type(value) is float:
        shown_whole(called(name, {parameter: np.float64(value)}, tmp_path))
    elif type(value) is int and (name, parameter) != ("classroom.save", "seed"):
        shown_whole(called(name, {parameter: np.int64(value)}, tmp_path))


@pytest.mark.parametrize("name", latency.PARAMETERS)
def test_parameters_of_the_latency_model(name: str) -> None:
    for odd in ODD:
        sound(lambda odd=odd: latency.predictions(latency.Model(**{name: odd})))
        sound(lambda odd=odd: latency.curves(latency.Model().tuned(**{name: odd})))


def test_a_model_is_a_model() -> None:
    for odd in (5, [], "standard", float("nan"), 0):
        for ask in (latency.predictions, latency.curves, latency.conclusions):
            with pytest.raises(dk.DagkitError, match=r"expected dk.latency.Model\(...\), not"):
                ask(odd)


def test_every_record_that_is_left_out_exists() -> None:
    assert RECORDS | NEED_A_SERVER <= set(public())
