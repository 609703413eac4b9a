"""The requirements: each is one function that reads the record and says passed or not, where, by how much, and a hint."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

from ..architecture import growth
from ..errors import choices, shown
from . import facts, world
from .counting import Readings, first_above, highest
from .declared import Design
from .playing import parsed, survivors
from .world import clock


@dataclass(frozen=True)
class Verdict:
    """One requirement. found: what was seen, in words. tick: where it first broke (None: not in time). by: how much is
    missing, in the unit of the requirement (0 if passed or not a number). hint: where to look."""

    name: str
    asks: str
    passed: bool
    found: str
    tick: int | None = None
    by: float = 0
    hint: str = ""

    def __str__(self) -> str:
        mark = "✓" if self.passed else "✗"
        at = "" if self.passed or self.tick is None else f" First at {clock(self.tick)} (tick {self.tick})."
        hint = f"\n    hint: {self.hint}" if self.hint and not self.passed else ""
        return f"{mark} {self.name}: {self.found}{at}{hint}"


def source(design: Design, seen: Readings) -> Verdict:
    most, at = highest(seen.connections)
    tick = first_above(seen.connections, world.CONNECTIONS)
    held = dict(seen.holders)[at] if at else {}
    who = ", ".join(f"{n} x {task_id} ({world.OPENS[task_id]} each)" for task_id, n in sorted(held.items()))
    return Verdict("source connections", f"never more than {world.CONNECTIONS} at once", tick is None,
                   f"at most {most} of {world.CONNECTIONS}: {who}.", tick, max(0, most - world.CONNECTIONS),
                   "Which limit is shared by the tasks of all Dags? And what does a task open that it does not say?")


def api(design: Design, seen: Readings) -> Verdict:
    most, _ = highest(seen.calls)
    tick = first_above(seen.calls, world.CALLS_A_MINUTE)
    return Verdict("API calls", f"never more than {world.CALLS_A_MINUTE} in any 60 seconds", tick is None,
                   f"at most {most} of {world.CALLS_A_MINUTE} in a minute.", tick, max(0, most - world.CALLS_A_MINUTE),
                   "Slots limit how many run at once, the quota how many start in a minute. How often can one slot be "
                   "used in a minute?")


def late(seen: Readings, limits: tuple[int, ...], ended: bool) -> dict[str, list[tuple[int, float]]]:
    """By critical Dag, for each run: (tick at which its limit was up, seconds it took from due; endless if never)."""
    found: dict[str, list[tuple[int, float]]] = {}
    for run in seen.critical:
        limit = limits[world.strict(int(run.dag_id.rpartition("_")[2]) - 1)]
        done = run.ended if ended else run.began
        took = float("inf") if done is None else (done - run.due) * world.TICK_SECONDS
        found.setdefault(run.dag_id, []).append((run.due + limit // world.TICK_SECONDS, took))
    return found


def starts(design: Design, seen: Readings) -> Verdict:
    worst, tick, by, slow = "", None, 0.0, 0
    for k, (dag_id, runs) in enumerate(late(seen, world.START_WITHIN, ended=False).items()):
        limit = world.START_WITHIN[world.strict(k)]
        p95 = sorted(took for _, took in runs)[ceil(0.95 * len(runs)) - 1]
        if p95 > limit:
            slow += 1
            over = sorted(up for up, took in runs if took > limit)
            broke = over[len(runs) - ceil(0.95 * len(runs))]        # up to here it could still have been kept
            tick = broke if tick is None else min(tick, broke)
            if p95 - limit > by:
                worst, by = f"{dag_id} needs {seconds(p95)}, its target is {limit} s", p95 - limit
    found = f"{slow} of {world.KINDS['critical'].count} Dags are too slow; {worst}." if slow else "kept by all of them."
    return Verdict("critical starts", "95 of 100 runs of each critical Dag begin within its target", not slow, found, tick, by,
                   "At that moment, who holds the places that read needs, and who is asked first when one comes free?")


def deadlines(design: Design, seen: Readings) -> Verdict:
    missed = [(up, took, dag_id, world.END_WITHIN[world.strict(k)])
              for k, (dag_id, runs) in enumerate(late(seen, world.END_WITHIN, ended=True).items()) for up, took in runs
              if took > world.END_WITHIN[world.strict(k)]]
    worst = max(missed, key=lambda m: m[1] - m[3], default=None)
    found = "all were kept." if worst is None else (
        f"{len(missed)} of {len(seen.critical)} runs were late; the worst, of {worst[2]}, took {seconds(worst[1])} of {worst[3]} s.")
    return Verdict("critical deadlines", "every critical run ends within its deadline", not missed, found,
                   min((up for up, *_ in missed), default=None), 0 if worst is None else worst[1] - worst[3],
                   "A run has two tasks. Does the second one also come before the backlog?")


def seconds(value: float) -> str:
    """A time in words.

    >>> seconds(90.0), seconds(float("inf"))
    ('90 s', 'for ever')
    """
    return "for ever" if value == float("inf") else f"{value:.0f} s"


def loss(design: Design, seen: Readings) -> Verdict:
    asks = "another scheduler goes on; nothing is lost, nothing is done twice"
    if not survivors(design):
        n = sum(seen.left.values())
        return Verdict("a scheduler machine is lost", asks, False,
                       f"no scheduler was left on another machine; {n} task instances stood still.", world.LOST, n,
                       "How many schedulers are there, and on which machines?")
    if seen.twice:
        return Verdict("a scheduler machine is lost", asks, False,
                       f"{len(seen.twice)} running tasks were lost with it and begun again.", seen.twice[0][0], len(seen.twice),
                       "Where do tasks run that die with the scheduler? Which executor lets another scheduler adopt them?")
    parked = sum(n for (_, state), n in seen.left.items() if state == "deferred")
    if parked:
        return Verdict("a scheduler machine is lost", asks, False,
                       f"{parked} deferred tasks never woke: the only triggerer ran on that machine.", world.LOST, parked,
                       "What else runs on the machine of the first scheduler?")
    return Verdict("a scheduler machine is lost", asks, True, "another took over; nothing was lost, nothing done twice.")


def gpu_places(design: Design, seen: Readings) -> Verdict:
    asks = "trainings run on the two GPU machines only, one on each"
    hint = "Which queue do the GPU workers listen to, and which one does train name?"
    executor = design.executors.by_name[design.executor_of(world.GPU_TASK)]
    staff = executor.staff(design.config)
    total = world.KINDS["training"].count
    wrong = [] if executor.own_image else [
        (tick, staff[worker].name or "a worker without a name") for tick, _, worker in seen.picked(world.GPU_TASK)
        if staff is not None and staff[worker].name not in world.GPUS]
    if staff is None:
        begun = first_above(seen.trainings, 0)
        return Verdict("GPU machines", asks, False, "trainings ran beside the scheduler, where there is no GPU.", begun, total, hint)
    if wrong:
        return Verdict("GPU machines", asks, False, f"{len(wrong)} trainings went elsewhere, the first to {shown(wrong[0][1])}.",
                       wrong[0][0], len(wrong), hint)
    most, _ = highest(seen.trainings)
    if most > len(world.GPUS) or any(w.concurrency > 1 for w in staff if w.name in world.GPUS and most > 1):
        return Verdict("GPU machines", asks, False, f"{most} trainings at once shared {len(world.GPUS)} GPUs.",
                       first_above(seen.trainings, 1), most - 1, "How many tasks may a worker on a GPU machine run at once?")
    if seen.trained < total:
        failed = [tick for tick, task_id in seen.failed if task_id == world.GPU_TASK]
        return Verdict("GPU machines", asks, False, f"{total - seen.trained} of {total} trainings never got there; "
                       f"{len(failed)} failed in queued.", min(failed, default=None), total - seen.trained,
                       "What waits in queued for over 600 s is queued again twice, then failed. In which state should a "
                       "training wait for its GPU, and which limit keeps it there?")
    return Verdict("GPU machines", asks, True, f"all {total} trainings ran on them.")


def gpu_waits(design: Design, seen: Readings) -> Verdict:
    longest = max(((end - start) * world.TICK_SECONDS for start, end in seen.idle_gpu), default=0)
    over = [start for start, end in seen.idle_gpu if (end - start) * world.TICK_SECONDS > world.IDLE_GPU]
    never = world.KINDS["training"].count - seen.trained
    found = f"a GPU was idle for up to {longest} s while a training was ready." if longest else "no GPU was ever kept waiting."
    found = f"{found[:-1]}, and {never} trainings never ended." if never and not over else found
    return Verdict("GPU waits", f"no GPU is idle for more than {world.IDLE_GPU} s while a training is ready", not over and not never,
                   found, min(over, default=None), max(0, longest - world.IDLE_GPU),
                   "Does a training stand behind other tasks: in a pool, in the order of priorities, for parallelism?")


def look_seconds(runs: int, schedulers: int) -> float:
    """Seconds until every running run has been looked at once more: 20 runs in a pass, passes shared by the schedulers.

    A pass takes what ``dk.architecture.growth`` assumes for one under load; in truth it depends on the database.

    >>> round(look_seconds(400, 2), 1)
    4.4
    """
    return ceil(runs / 20) * growth().loop_seconds / schedulers


def looks(design: Design, seen: Readings) -> Verdict:
    worst, at, broke = 0.0, None, None
    for tick, runs in seen.running_runs:
        alive = len(design.schedulers) if tick < world.LOST else survivors(design)
        took = look_seconds(runs, alive) if alive else 0.0
        if took > worst:
            worst, at = took, (runs, alive)
        if took > world.LOOK and broke is None:
            broke = tick
    runs, alive = at or (0, 0)
    return Verdict("scheduler loop", f"every running run is looked at within {world.LOOK} s", broke is None,
                   f"up to {worst:.0f} s, with {runs:,} running runs for {alive} scheduler{'s' * (alive != 1)}.",
                   broke, max(0.0, worst - world.LOOK), "Which limit holds back whole runs?")


def files(design: Design, seen: Readings) -> Verdict:
    asks = f"the file that hangs delays an edit of any other by {world.FILE_TIMEOUT} s at most"
    if set(design.processors) == {design.schedulers[0]}:
        return Verdict("the bad file", asks, False, "the only Dag processor was lost with the scheduler's machine: no edit is "
                       "seen any more.", world.LOST, float("inf"), "Where does the Dag processor run? It needs no scheduler.")
    settings = design.parsing_processes, design.dag_file_processor_timeout
    gap, usual = (max(p.longest_gap(file) or float("inf") for file in p.files if file != world.BAD_FILE)
                  for p in (parsed(*settings, True), parsed(*settings, False)))
    delay = gap - usual
    return Verdict("the bad file", asks, delay <= world.FILE_TIMEOUT,
                   f"an edit waits {gap:.0f} s at most, {delay:.0f} s of it for the file that hangs.", None,
                   max(0.0, delay - world.FILE_TIMEOUT), "Who gives up on the file, and when? How many files are parsed at once?")


def backlog(design: Design, seen: Readings) -> Verdict:
    done = [tick for tick, state in seen.missed if tick is not None and state == "success"]
    total, limit = len(seen.missed), world.UNPAUSED + world.DRAINED * 60 // world.TICK_SECONDS
    asks = f"the {total:,} missed runs succeed within {world.DRAINED // 60} hours"
    in_time = sum(tick <= limit for tick in done)
    if len(done) < total:
        stuck = ", ".join(f"{n:,} x {task_id} {state}" for (task_id, state), n in seen.left.most_common(2))
        if seen.failed:
            stuck = f"{len(seen.failed):,} tasks failed, the first {seen.failed[0][1]} at {clock(seen.failed[0][0])}"
        return Verdict("backlog", asks, False, f"{total - len(done):,} runs never get there: {stuck}.", limit, total - len(done),
                       "Ask the trace: report.trace.waiting() or report.trace.warnings name the limit or the part that is gone.")
    minutes = (max(done) - world.UNPAUSED) * world.TICK_SECONDS / 60
    return Verdict("backlog", asks, in_time == total, f"done after {minutes:.0f} of {world.DRAINED} minutes.", limit,
                   max(0.0, minutes - world.DRAINED),
                   "What is full all the time: the source, the API, or the places of parallelism, which a lost scheduler takes "
                   "along?")


def stored(design: Design, seen: Readings) -> Verdict:
    missing = [name for name in facts.ITEMS if name not in design.stored]
    wrong = [name for name, place in design.stored.items() if place not in facts.ITEMS[name].good]
    found = "everything lies where it is found again."
    if missing or wrong:
        parts = [f"{name} on '{design.stored[name]}': {facts.ITEMS[name].why}" for name in wrong[:2]]
        found = "; ".join([*parts, *([f"nothing said about {choices(missing)}"] if missing else [])]) + "."
    return Verdict("stored state", "each piece of state lies where it survives and is found", not missing and not wrong, found,
                   None, len(missing) + len(wrong), "Who has to read it, from which machine, after what has been lost?")


def metrics(design: Design, seen: Readings) -> Verdict:
    open_, wrong = facts.unanswered(design.metrics), facts.decoys(design.metrics)
    many = len(set(design.metrics)) > facts.MOST_METRICS
    said = [f"nothing answers: {' '.join(open_)}"] if open_ else []
    said += [f"{name} tells nothing: {facts.METRICS[name].why}" for name in wrong[:2]]
    said += [f"{len(set(design.metrics))} are too many to be looked at"] if many else []
    return Verdict("health metrics", f"every question is answered, by at most {facts.MOST_METRICS} metrics, none a decoy",
                   not said, ("; ".join(said) or "each question has its metric") + ".", None, len(open_) + len(wrong),
                   "Take the events of this day one by one: which number would have moved first?")


REQUIREMENTS = (source, api, deadlines, starts, loss, gpu_places, gpu_waits, looks, files, backlog, stored, metrics)


def verdicts(design: Design, trace: Any) -> tuple[Verdict, ...]:
    """All requirements, in the order of the report."""
    seen = Readings(trace)
    return tuple(requirement(design, seen) for requirement in REQUIREMENTS)
