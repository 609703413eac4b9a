"""Requirements on what is shared: the source, the API, the scheduler's time, and who comes first when places are scarce."""

from __future__ import annotations

from math import ceil

from ..architecture import growth
from . import world
from .counting import Readings, first_above, highest
from .declared import Design
from .playing import survivors
from .verdict import Result, fail, requirement, seconds


@requirement("source connections", f"never more than {world.CONNECTIONS} at once",
             "Which limit is shared by the tasks of all Dags? And what does a task open that it does not say?")
def source(design: Design, seen: Readings) -> Result:
    """Connections held by running tasks, whatever any pool believes."""
    most, at = highest(seen.connections)
    held = dict(seen.holders)[at] if at else {}
    who = ", ".join(f"{n} x {task_id} ({world.OPENS[task_id]} each)" for task_id, n in sorted(held.items()))
    tick = first_above(seen.connections, world.CONNECTIONS)
    return Result(tick is None, f"at most {most} of {world.CONNECTIONS}: {who}.", tick, max(0, most - world.CONNECTIONS))


@requirement("API calls", f"never more than {world.CALLS_A_MINUTE} in any 60 seconds",
             "Slots limit how many run at once, the quota how many start in a minute. How often can a slot be used in one?")
def api(design: Design, seen: Readings) -> Result:
    """Calls in the last 60 seconds, at each tick in which some are made."""
    most, _ = highest(seen.calls)
    tick = first_above(seen.calls, world.CALLS_A_MINUTE)
    return Result(tick is None, f"at most {most} of {world.CALLS_A_MINUTE} in a minute.", tick,
                  max(0, most - world.CALLS_A_MINUTE))


def took(seen: Readings, limits: tuple[int, int], ended: bool) -> dict[str, list[tuple[int, float, int]]]:
    """By critical Dag, for each run: (tick at which its limit is up, seconds from due, the limit); endless if never."""
    found: dict[str, list[tuple[int, float, int]]] = {}
    for run in seen.critical:
        limit = limits[world.strict(int(run.dag_id.rpartition("_")[2]) - 1)]
        done = run.ended if ended else run.began
        time = float("inf") if done is None else (done - run.due) * world.TICK_SECONDS
        found.setdefault(run.dag_id, []).append((run.due + limit // world.TICK_SECONDS, time, limit))
    return found


@requirement("critical starts", "95 of 100 runs of each critical Dag begin within its target",
             "At that moment, who holds the places that read needs, and who is asked first when one comes free?")
def starts(design: Design, seen: Readings) -> Result:
    """The 95th percentile by nearest rank: of 20 runs the 19th, so one may be late."""
    worst, ticks, by = "", [], 0.0
    for dag_id, runs in took(seen, world.START_WITHIN, ended=False).items():
        rank = ceil(0.95 * len(runs))
        p95, limit = sorted(time for _, time, _ in runs)[rank - 1], runs[0][2]
        if p95 > limit:
            ticks.append(sorted(up for up, time, _ in runs if time > limit)[len(runs) - rank])   # the first not forgiven
            if p95 - limit > by:
                worst, by = f"{dag_id} waits {seconds(p95)}, its target is {limit} s", p95 - limit
    if not ticks:
        return Result(True, "each is within its target.")
    return fail(f"{len(ticks)} of {world.KINDS['critical'].count} Dags are too slow; {worst}.", min(ticks), by)


@requirement("critical deadlines", "every critical run ends within its deadline",
             "A run has two tasks. Does the second one also come before the backlog?")
def deadlines(design: Design, seen: Readings) -> Result:
    """From due to the end of the run."""
    missed = [(up, time, limit, dag_id) for dag_id, runs in took(seen, world.END_WITHIN, ended=True).items()
              for up, time, limit in runs if time > limit]
    if not missed:
        return Result(True, "all were kept.")
    _, time, limit, dag_id = max(missed, key=lambda miss: miss[1] - miss[2])
    how = "never ended" if time == float("inf") else f"took {seconds(time)} instead of {limit} s"
    return fail(f"{len(missed)} of {len(seen.critical)} runs were late; the worst, of {dag_id}, {how}.",
                min(up for up, *_ in missed), time - limit)


def look_seconds(runs: int, schedulers: int) -> float:
    """Seconds until every running run has been looked at once more: 20 runs in a pass, passes shared by the schedulers.

    A pass takes what ``dk.architecture.growth`` assumes for one under load; in truth it depends on the database.

    >>> round(look_seconds(400, 2), 1)
    4.4
    """
    return ceil(runs / 20) * growth().loop_seconds / schedulers


@requirement("scheduler loop", f"every running run is looked at again within {world.LOOK} s",
             "Which limit holds back whole runs?")
def looks(design: Design, seen: Readings) -> Result:
    """A model beside the trace: only the number of running runs is read from it."""
    alive = [(tick, runs, len(design.schedulers) if tick < world.LOST else survivors(design))
             for tick, runs in seen.running_runs]
    times = [(tick, look_seconds(runs, left), runs, left) for tick, runs, left in alive if left]
    _, worst, runs, left = max(times, key=lambda time: time[1])
    tick = next((tick for tick, time, *_ in times if time > world.LOOK), None)
    return Result(tick is None, f"up to {worst:.0f} s, with {runs:,} running runs for {left} scheduler{'s' * (left != 1)}.",
                  tick, max(0.0, worst - world.LOOK))
