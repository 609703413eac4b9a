"""How a try ends: its scripted outcome, retries, what a branch skips, what fail_fast stops."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from ..states import FAILED, FINISHED, NONE, QUEUED, REMOVED, RUNNING, SCHEDULED, SKIPPED, SUCCESS, UP_FOR_RETRY
from . import limits, mapping, waiting, workers
from .retries import delay

if TYPE_CHECKING:
    from .core import Run, Sim

UNTOUCHED_BY_SKIP = frozenset({RUNNING, SUCCESS, FAILED, REMOVED})
"""A branch overwrites every other state, even upstream_failed (SkipMixin, Airflow 3.3.2); removed is out of play."""

AFTER_WAIT = {"timed_out": ("fail", "wait_timeout"), "sensor_timeout": ("fail_hard", "sensor_timeout"),
              "sensor_timeout_skip": ("skip", "sensor_timeout"), "poke_error": ("fail", "poke_error")}
"""How a wait that took too long ends the try. A sensor's timeout is final: it uses no retry."""


def length(sim: Sim, ti: int) -> int:
    """Ticks the try that starts now will run."""
    run, task = sim.run_of[ti], sim.task_of[ti]
    plan = run.plan
    if task not in plan.odd_length and ti not in sim.ends and not sim.outages:
        return plan.duration[task]
    wait = plan.tasks[task].wait
    if wait is not None:
        ticks = waiting.length(sim, ti, wait)
    else:
        ticks = sim.script.duration(sim, ti) if task in plan.timed else plan.duration[task]
    if sim.outages:
        from .outages import stay
        ticks = stay(sim, ti, ticks)
    if ti in sim.misfits:
        ticks = 1                                             # it gets no further than its imports
    limit = plan.tasks[task].execution_timeout
    if limit is not None and ticks > limit:
        ticks = ceil(limit)
        sim.overran.add(ti)
    if ti in sim.ends:
        sim.ends[ti] = sim.now + ticks
    return ticks


def conclude(sim: Sim, ti: int) -> None:
    """The running try of a TI ends as scripted."""
    run, task = sim.run_of[ti], sim.task_of[ti]
    word, pushed = sim.script.outcome(sim, ti)
    wait, cause = run.plan.tasks[task].wait, None
    if ti in sim.overran:
        sim.overran.discard(ti)
        word, cause = "fail", "execution_timeout"
    elif ti in sim.misfits:
        sim.misfits.discard(ti)
        word, cause = "fail", "import_error"
    elif wait is not None and (after := waiting.after_stay(sim, ti, wait)):
        if after == "parked":
            return
        word, cause = AFTER_WAIT[after]
    elif word == "success":
        cause = mapping.refused(sim, run, task, ti, pushed)
        word = "fail" if cause else word
    if word == "success":
        sim.settle(ti, SUCCESS)
        _skip_others(sim, run, task)
    elif word == "skip":
        sim.settle(ti, SKIPPED, cause or "own_skip")
    else:
        fail(sim, ti, cause, retry=word == "fail")


def fail(sim: Sim, ti: int, cause: str | None = None, *, retry: bool = True) -> None:
    """A try failed: wait for the next one if tries are left, else failed for good."""
    run, task = sim.run_of[ti], sim.task_of[ti]
    spec = run.plan.tasks[task]
    sim.waits.resumed.pop(ti, None)
    if retry and spec.retries and sim.tries[ti] <= sim.max_tries.get(ti, spec.retries):
        wait_for_retry(sim, ti, cause)
    else:
        sim.settle(ti, FAILED, cause)
        if run.plan.dag.fail_fast:
            _fail_fast(sim, run, task)


def wait_for_retry(sim: Sim, ti: int, cause: str | None) -> None:
    """Another try follows when the delay is over."""
    run = sim.run_of[ti]
    sim.record(ti, UP_FOR_RETRY, cause)
    due = sim.now + delay(sim, ti, run, run.plan.tasks[sim.task_of[ti]])
    sim.not_before[ti] = due
    if due > sim.now:
        sim.calendar.look[due].append(ti)
    sim.look_at(ti)                               # its upstreams may have been cleared while it ran


def _skip_others(sim: Sim, run: Run, task: int) -> None:
    """A branch or short circuit writes skipped on the tasks it leaves out, whatever their trigger rules.

    It asks for tasks, not for instances: those of a mapped task that has expanded are not reached. A direct child
    is skipped in the next pass all the same (NotPreviouslySkippedDep); one further down goes by its own rule.
    """
    if run.plan.tasks[task].latest_only and not _is_late(sim, run):
        sim.let_pass.add(run.ti[task])
        return
    for t in run.plan.skips.get(task, ()):
        for ti in run.tis(t):
            if sim.state[ti] not in UNTOUCHED_BY_SKIP and sim.state[ti] != SKIPPED and ti not in sim.map_index:
                stop(sim, ti, SKIPPED, "branch" if run.plan.tasks[task].branch is not None else "short_circuit")


def _is_late(sim: Sim, run: Run) -> bool:
    """Whether a newer run of the Dag has fallen due."""
    newer = sim.next_run.get(run)
    return newer is not None and newer.due <= sim.now


def _fail_fast(sim: Sim, run: Run, failed: int) -> None:
    """Running TIs fail, all others not yet decided are skipped; teardowns and siblings of the failed one go on."""
    for t, task in enumerate(run.plan.tasks):
        if t != failed and not task.is_teardown:
            for ti in run.tis(t):
                if sim.state[ti] not in (SUCCESS, FAILED, SKIPPED, REMOVED):
                    stop(sim, ti, FAILED if sim.state[ti] == RUNNING else SKIPPED, "fail_fast")


def stop(sim: Sim, ti: int, new: int, cause: str) -> None:
    """Take a TI out of whatever it is doing and give it a state."""
    leave(sim, ti)
    if new == NONE:
        sim.record(ti, NONE, cause)
    else:
        sim.settle(ti, new, cause)


def leave(sim: Sim, ti: int) -> None:
    """A TI leaves the state it is in: places are given back, appointments void, its countdown taken back."""
    old = sim.state[ti]
    run, task = sim.run_of[ti], sim.task_of[ti]
    if old in (QUEUED, RUNNING):
        limits.give_back(sim.limits, run.heads[run.plan.cls[task]].needs)
        workers.release(sim, ti)
        sim.ends[ti] = sim.starts[ti] = -1
    elif old == SCHEDULED:
        sim.limits.left.add(ti)
    elif old in FINISHED:
        sim.unsettle(ti)
    waiting.forget(sim, ti)
    sim.not_before.pop(ti, None)
    sim.overran.discard(ti)
