"""The scheduler's tick: four phases, and nothing else.

    finish    what ends now leaves its places and counts down for the tasks after it
    start     what was handed over is picked up by a worker
    evaluate  whose dependencies are met becomes scheduled (or is skipped, or fails with its upstream)
    admit     the scheduled take free places and become queued

Everything from outside (a run falls due, a retry's delay is over, a timeout) is an appointment in the calendar.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop
from typing import TYPE_CHECKING

from ..states import NONE, QUEUED, RUNNING, SCHEDULED, SUCCESS, UP_FOR_RESCHEDULE
from . import decide, ending, limits, mapping, outages, runs, window, workers
from .order import MASK

if TYPE_CHECKING:
    from .core import Sim


def tick(sim: Sim, now: int) -> None:
    """One pass of the scheduler at tick ``now``."""
    sim.now = now
    calendar = sim.calendar
    for change in calendar.change.pop(now, ()):
        change(sim, now)
    if now in calendar.finish:
        finish(sim, calendar.finish.pop(now))
    for source in calendar.source.pop(now, ()):
        source(sim, now)
    if now in calendar.start or sim.floors:               # a worker that is free now may take what waits
        start(sim, calendar.start.pop(now, []))
    for ti in calendar.look.pop(now, ()):
        sim.look_at(ti)
    if not sim.gates or outages.passes(sim, now):
        if sim.looks or runs.stirred(sim):
            evaluate(sim)
        admit(sim, now)
    sim.tick_no.append(now)
    sim.tick_end.append(len(sim.event_new))


def finish(sim: Sim, due: list[int]) -> None:
    """Running tries that end now, in task order."""
    state, run_of, task_of = sim.state, sim.run_of, sim.task_of
    for ti in sim.in_order(due):
        if state[ti] != RUNNING or (ti in sim.ends and sim.ends[ti] != sim.now):
            continue                                      # it was stopped before its time
        run, task = run_of[ti], task_of[ti]
        limits.give_back(sim.limits, run.heads[run.plan.cls[task]].needs)
        if sim.floors:
            workers.release(sim, ti)
        if task in run.plan.scripted:
            ending.conclude(sim, ti)
        else:
            sim.settle(ti, SUCCESS)


def start(sim: Sim, picked_up: list[int]) -> None:
    """Queued TIs that a worker picks up now, in task order."""
    state = sim.state
    if sim.floors or sim.lost_messages:
        picked_up = workers.arrive(sim, picked_up)
    now, finish, started = sim.now, sim.calendar.finish, []
    for ti in sim.in_order(picked_up):
        if state[ti] == QUEUED and (not sim.starts or sim.starts.get(ti, now) == now):
            state[ti] = RUNNING
            finish[now + ending.length(sim, ti)].append(ti)
            started.append(ti)
    sim.record_all(started, RUNNING)


def evaluate(sim: Sim) -> None:
    """Look at every TI whose situation changed, in task order.

    Under lesson pacing a state set here is seen by the tasks after it in the same tick, so a cascade settles at
    once. Under airflow pacing verdicts are taken on the states at the start of the pass, so it travels one level
    per pass.
    """
    while True:
        runs.update(sim)
        before = len(sim.event_new)
        for ti, verdict in in_turn(sim) if sim.cascade else at_once(sim):
            if verdict == "run":
                schedule(sim, ti)
            elif verdict != "wait":
                decide.set_state(sim, ti, verdict)
        if not (sim.cascade and (sim.looks or runs.unsettled(sim))):
            break
    if not sim.cascade:
        runs.after_pass(sim, before)
        if sim.looks or runs.unsettled(sim):
            sim.calendar.look[sim.now + 1]                # seen in the next pass


def in_turn(sim: Sim) -> Iterator[tuple[int, str]]:
    """Each TI to look at and its verdict, in order; those that a verdict before it gave cause to look at included."""
    later: list[int] = []
    first, sim.looks = sorted(sim.looks), later
    for rank in first:
        while later and later[0] < rank:
            ti = heappop(later) & MASK
            yield ti, decide.verdict(sim, ti)
        ti = rank & MASK
        yield ti, decide.verdict(sim, ti)
    while later:
        ti = heappop(later) & MASK
        yield ti, decide.verdict(sim, ti)


def at_once(sim: Sim) -> Iterator[tuple[int, str]]:
    """The verdicts on the states at the start of the pass. A TI counts once however many of its upstreams changed;
    mapped tasks expand within the pass."""
    first, sim.looks = sorted(set(sim.looks)), []
    decided = [(ti, decide.verdict(sim, ti)) for ti in map(MASK.__and__, first)]
    return mapping.with_new_instances(sim, decided) if sim.grows else iter(decided)


def schedule(sim: Sim, ti: int) -> None:
    """Its dependencies are met: it may run as soon as there is room. Each new try is counted here."""
    run, task = sim.run_of[ti], sim.task_of[ti]
    plan = run.plan
    if plan.mapped and mapping.expand(sim, ti):
        return
    if sim.state[ti] != UP_FOR_RESCHEDULE:
        sim.tries[ti] += 1
    if task in plan.empty and sim.state[ti] == NONE:
        sim.settle(ti, SUCCESS)                           # an EmptyOperator never takes a place
    else:
        sim.record(ti, SCHEDULED)
        limits.make_ready(sim, ti, run, task)


def admit(sim: Sim, now: int) -> None:
    """Hand what fits to its executor, which says when a worker may pick it up."""
    queued = limits.admit(sim) if sim.cascade else window.admit(sim)
    if not queued:
        return
    sim.record_all(queued, QUEUED)
    if sim.tracks_queued:
        workers.handed_over(sim, queued)
    at_once = workers.hand_over(sim, queued)
    if at_once:
        start(sim, at_once)
