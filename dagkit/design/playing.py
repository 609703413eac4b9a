"""From a design to what happens: the scenario of the bad day, and the simulation of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from ..architecture import Parsing, parse
from ..dag import Dag
from ..engine import simulate
from ..errors import DagkitError, choices, expect, nearest, quoted
from ..faults import DagProcessorDown, Fault, LoseScheduler, TriggererDown
from ..scenario import Runs, Scenario
from ..task import Task
from ..waits import Deferral
from . import world
from .declared import Design


def scenario(design: Design, kinds: Sequence[str] = tuple(world.KINDS)) -> Scenario:
    """Everything the engine needs: the 300 Dags with the design's limits, their runs, and what breaks.

    kinds: only these kinds of Dags, to look at one thing alone.

    The hand-over to a standing worker takes less than a tick and counts as none; pods take the time their executor says.

    >>> made = scenario(Design())
    >>> len(made.dags), sum(len(runs.due()) for runs in made.runs.values()), [f.tick for f in made.faults]
    (300, 8676, [301, 301, 301])
    """
    expect("design", design, Design, "dk.design.Design(...)")
    for name in kinds:
        if name not in world.KINDS:
            raise DagkitError(f"design: there is no kind of Dag {quoted(name)}.{nearest(name, world.KINDS)} "
                              f"Known: {choices(world.KINDS)}.")
    chosen = [world.KINDS[name] for name in kinds]
    dags = [dag_of(design, kind, dag_id) for kind in chosen for dag_id in kind.dag_ids]
    runs = {dag_id: runs_of(kind, k) for kind in chosen for k, dag_id in enumerate(kind.dag_ids)}
    executors = {name: replace(executor, handover=0) if executor.handover == 1 else executor
                 for name, executor in design.executors.by_name.items()}
    return Scenario(dags, pools=design.pools, executor=executors, config=design.config, runs=runs,
                    faults=faults_of(design), changes=fewer(design))


def dag_of(design: Design, kind: world.Kind, dag_id: str) -> Dag:
    """One Dag: its parts in a row, with what the design declares for each."""
    tasks: list[Task] = []
    for part in kind.parts:
        knobs = dict(design.tasks.get(part.task_id, {}))
        ticks = part.seconds // world.TICK_SECONDS
        wait = Deferral(before=1, wait=part.waits // world.TICK_SECONDS, after=ticks - 1) if part.waits else None
        tasks.append(Task(part.task_id, [t.task_id for t in tasks[-1:]], duration=ticks, weight_rule="absolute", wait=wait,
                          **knobs))
    return Dag(dag_id, tasks, max_active_runs=design.max_active_runs[kind.name],
               max_active_tasks=design.max_active_tasks[kind.name])


def runs_of(kind: world.Kind, number: int) -> Runs:
    """The runs of one Dag. Missed days fall due together at UNPAUSED, with logical dates a tick apart: only their order
    matters. Critical Dags begin one after the other, so that they are not all due at once.
    """
    if kind.days:
        return Runs(world.DAYS, every=1, unpaused_at=world.UNPAUSED, catchup=kind.days > 1)
    return Runs(world.CRITICAL_RUNS, every=world.CRITICAL_EVERY, start=2 + 5 * number % world.CRITICAL_EVERY)


def faults_of(design: Design) -> list[Fault]:
    """The machine of the first scheduler is lost, and with it all that runs there."""
    lost = design.schedulers[0]
    faults: list[Fault] = [LoseScheduler(world.LOST) for host in design.schedulers if host == lost]
    if set(design.triggerers) == {lost}:
        faults.append(TriggererDown(world.LOST))
    if set(design.processors) == {lost}:
        faults.append(DagProcessorDown(world.LOST))
    return faults


def survivors(design: Design) -> int:
    """Schedulers that are left after the loss."""
    return sum(host != design.schedulers[0] for host in design.schedulers)


def fewer(design: Design) -> list[Any]:
    """parallelism counts per scheduler, so its sum shrinks with the loss (rounded down to what the engine can say)."""
    left, all_ = survivors(design), len(design.schedulers)
    if not left:
        return []
    share = max(1, design.parallelism * left // all_)
    return [(world.LOST, {"config": replace(design.config, parallelism=share)})]


def play(design: Design, kinds: Sequence[str] = tuple(world.KINDS)) -> Any:
    """The trace of the bad day, or of what it is for some kinds of Dags alone."""
    return simulate(scenario(design, kinds))


def parsed(processes: int, timeout: int, bad: bool) -> Parsing:
    """A quarter of an hour of one Dag processor over all 300 files, with or without the bad one."""
    files = {f"dag_{k:03d}.py": world.FILE_SECONDS for k in range(1, 300)}
    files[world.BAD_FILE] = world.BAD_SECONDS if bad else world.FILE_SECONDS
    return parse(files, until=900, parsing_processes=processes, dag_file_processor_timeout=timeout)


@cache
def longest_gap(processes: int, timeout: int, bad: bool) -> float:
    """Seconds in which an edit of some other file would not have been seen, at worst: from the start of one stored parse
    of a file to the end of its next. Endless if a file is stored less than twice.
    """
    before: dict[str, float] = {}
    gaps: dict[str, float] = {}
    record = parsed(processes, timeout, bad)
    for p in record.parses:
        if p.stored and p.file != world.BAD_FILE:
            if p.file in before:
                gaps[p.file] = max(gaps.get(p.file, 0.0), p.end - before[p.file])
            before[p.file] = p.start
    return max(gaps.values()) if len(gaps) == len(record.files) - 1 else float("inf")
