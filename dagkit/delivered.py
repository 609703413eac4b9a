"""Why a queued task instance (TI) does not run yet: on its way, in line, or its worker is getting ready."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from . import faulted
from .errors import shown
from .executors import Executor, Worker
from .faults import LoseMessage, LoseWorker
from .states import QUEUED, RUNNING
from .stays import Place, places, places_of

if TYPE_CHECKING:
    from .situation import Situation

Told = tuple[str, str, Sequence[int], str]
"""(code, text, blockers, remedy), as in ``situation``."""


def why(at: Situation, ti: int) -> Told:
    """The reason of one queued TI at the end of a tick."""
    scenario = at.trace._now
    task = at.trace._run_of[ti].plan.tasks[at.trace._task_of[ti]]
    executor, name = scenario.executor.get(task.executor), scenario.executor.name_of(task.executor)
    if any(isinstance(f, LoseMessage) and f.tick <= at.tick and ti in _tis_of(at, f) for f in scenario.faults):
        return ("message_lost", "the broker lost its message; the scheduler finds out after task_queued_timeout.",
                (), "lower task_queued_timeout")
    if staff := _staff(at, executor, name):
        able = {w: worker for w, worker in staff.items() if worker.serves(task.queue)}
        if found := _getting_ready(at, ti, executor, name) or _in_line(at, ti, executor, name, able):
            return found
    elif executor.staff(scenario.config) is not None:
        return _nobody(name, task.queue)
    changes = at.trace._changes_of(ti)
    moment, then = next(((t, new) for t, new, _ in changes if t > at.tick), (None, None))
    what = "a worker picks it up" if then in (None, RUNNING) else "no worker picks it up; it is found"
    return "worker", f"handed to {shown(name)}; {what}{f' at tick {moment}' if moment else ''}.", (), ""


def _tis_of(at: Situation, fault: Any) -> list[int]:
    return [ti for ti in range(len(at.trace._task_of)) if fault.task in (at.trace._label(ti), at.trace._task_id(ti))]


def _staff(at: Situation, executor: Executor, name: str) -> dict[int, Worker]:
    """The workers that are alive, by number, with the queues they really listen to."""
    scenario = at.trace._now
    staff = executor.staff(scenario.config)
    if staff is None:
        return {}
    dead = {f.worker for f in scenario.faults if isinstance(f, LoseWorker) and f.tick <= at.tick and f.worker
            and f.executor in (None, name)}
    found = enumerate(faulted.staff(scenario.faults, staff, name, at.tick))
    return {w: worker for w, worker in found if worker.name not in dead}


def _nobody(name: str, queue: str) -> Told:
    return ("no_worker_for_queue", f"no worker of {shown(name)} listens to queue '{shown(queue)}'.", (),
            f"start a worker that listens to '{shown(queue)}', or change the task's queue")


def _here(at: Situation) -> dict[int, Place]:
    """By TI, the place it has at the end of this tick."""
    known: dict[Any, Any] = at._known
    if "places" not in known:
        everywhere = places(at.trace) if at.moved else places_of(at.trace, _placed(at))   # for one tick not all are read
        known["places"] = {p.ti: p for p in everywhere if p.picked <= at.tick < p.left}
    found: dict[int, Place] = known["places"]
    return found


def _placed(at: Situation) -> set[int]:
    """The TIs that can have a place: they run, or they are queued and were picked up before."""
    return {ti for ti in at.active if at.codes[ti] == RUNNING} | {
        ti for ti, tick, _, _ in at.trace._picks if tick <= at.tick and at.codes[ti] == QUEUED}


def _busy(at: Situation, number: int, queue: str, able: Collection[int]) -> list[int]:
    """The TIs on the workers of an executor that serve a queue."""
    key = "busy", number, queue
    if key not in at._known:
        at._known[key] = sorted(p.ti for p in _here(at).values() if p.executor == number and p.worker in able)
    found: list[int] = at._known[key]
    return found


def _queued_at(at: Situation, ti: int) -> int:
    return max((tick for tick, new, _ in at.trace._changes_of(ti) if new == QUEUED and tick <= at.tick), default=0)


def _getting_ready(at: Situation, ti: int, executor: Executor, name: str) -> Told | None:
    """It has a place already, and what will run it is being started."""
    place = _here(at).get(ti)
    if place is None:
        return None
    until = f", until tick {place.began}" if place.began is not None else "; it is taken back before it runs"
    if executor.waits == "pod_pending":
        return ("pod_pending", f"its pod was created at tick {place.picked} and is pending: it is placed on a node, its "
                f"image is pulled, it starts{until}.", (), "a smaller image, images on the nodes beforehand, spare nodes; "
                "or a standing worker for short tasks")
    if executor.waits == "provisioning":
        return ("provisioning", f"its job was submitted at tick {place.picked}; {shown(name)} provisions a container for "
                f"it{until}.", (), "capacity that stays ready; or a standing worker for short tasks")
    return None


def _in_line(at: Situation, ti: int, executor: Executor, name: str, able: dict[int, Worker]) -> Told | None:
    """It waits for a place with a worker, or for somebody to look."""
    queue = at.trace._run_of[ti].plan.tasks[at.trace._task_of[ti]].queue
    if not able:
        return _nobody(name, queue)
    number = list(at.trace._now.executor.by_name).index(name)
    busy = _busy(at, number, queue, able)
    if len(busy) >= sum(worker.concurrency for worker in able.values()):
        return ("worker_slots", f"all {len(busy)} worker slots for queue '{shown(queue)}' of {shown(name)} "
                f"are taken by {at._names(busy)}.", busy, "add workers or raise their concurrency")
    if at.tick < _queued_at(at, ti) + executor.handover:
        return None                                       # it is on its way
    config, seed = at.trace._now.config, at.trace._now.seed
    rhythm = executor.rhythm(config, seed)
    if rhythm is not None and executor.looks == "pod_creation" and rhythm.most is not None:
        loops = "in each loop of the scheduler" if rhythm.every > 1 else "in each tick"
        return ("pod_creation", f"its pod is not created yet: {shown(name)} creates {rhythm.most} {loops}, and others are "
                "before it.", (), "raise worker_pods_creation_batch_size")
    if rhythm is not None and executor.looks == "edge_poll":
        after = min(rhythm.next_look(w, at.tick) for w in able)
        return ("edge_poll", f"no worker has asked since it arrived: each looks for work every {rhythm.every} ticks, the "
                f"next one at tick {after}.", (), "lower job_poll_interval")
    if executor.prefetch > 1:
        return ("prefetched", "a worker has reserved it and is busy, while another has a free slot (prefetch).", busy,
                "set worker_prefetch_multiplier to 1")
    return None
