"""Workers that come and go, minute by minute: what a policy sees decides when capacity comes.

Three policies see three things. ``cpu``: how busy the workers were in the last minute. ``queue``: what is queued and
running (the formula of Airflow's own chart for KEDA). ``planned``: that, and what the database already knows is due.
A new worker takes some minutes to start, so whoever only sees demand that is already there comes late.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..checks import plain_fields, whole
from ..errors import DagkitError, choices, nearest, quoted
from ..keywords import checked

POLICIES = {
    "cpu": "how busy the workers were",
    "queue": "what is queued and running",
    "planned": "that, and what is due",
}
SLOTS = 8
BOOT = 3
"""Minutes a worker takes to start: node, image, import. Assumed."""
BUSY = 0.7
"""The share of busy slots that ``cpu`` aims at. Assumed; the formula is that of Kubernetes' horizontal autoscaler."""
CALM = 5
"""Minutes for which fewer must have been wanted before any are taken away: the 300 s window of the autoscaler, which
KEDA uses too."""
GRACE = 10
"""Minutes in which a worker that is taken away may finish what it runs (600 s in Airflow's own chart)."""
END = 90
TRIGGER_BOOT = 1


@checked
@dataclass(frozen=True)
class Work:
    """Tasks that come together. due: minute. tasks: how many. length: minutes each. deferred: they wait for a trigger,
    which fires at ``due`` if a triggerer runs by then.
    """

    due: int
    tasks: int
    length: int
    deferred: bool = False

    def __post_init__(self) -> None:
        plain_fields(self)
        for name, low in (("due", 0), ("tasks", 0), ("length", 1)):
            whole("Work", name, getattr(self, name), low)


BACKGROUND = tuple(Work(minute, 1, 4) for minute in range(0, 60))
"""One task a minute, so that somebody is always busy."""
SITUATIONS: dict[str, tuple[Work, ...]] = {
    "a burst that is due": (*BACKGROUND, Work(30, 48, 4)),
    "a trigger that will fire": (Work(0, 4, 3), Work(40, 16, 4, deferred=True)),
    "a missing metric": (*BACKGROUND, Work(25, 24, 25)),
}
MISSING = range(35, 45)
"""Minutes without the metric in the situation of that name."""


class Play:
    """One situation under one policy, played.

    needed, slots, triggerers: by minute. waits: minutes from due to start, task by task, in order of start. lost:
    tasks that were running on a worker that was taken away. never: tasks that did not start at all.
    """

    def __init__(self, policy: str, work: Sequence[Work], missing: range, missing_as: str):
        self.policy, self.missing, self.missing_as = policy, missing, missing_as
        self.planned = [w for w in work if not w.deferred]
        self.deferred = [w for w in work if w.deferred]
        self.watched = bool(self.deferred)                   # whether anybody waits for a trigger
        self.queue: list[Work] = []                          # one entry a task
        self.workers: list[list[tuple[int, Work]]] = [[]]    # per worker: (end, task)
        self.draining: list[tuple[int, Work]] = []           # what finishes on workers that take nothing new
        self.booting: list[int] = []                         # minutes at which workers come up
        self.wanted: list[int] = []
        self.triggerer = 1.0                                 # up since; inf: stopped
        self.needed: list[int] = []
        self.slots: list[int] = []
        self.triggerers: list[int] = []
        self.waits: list[int] = []
        self.lost = 0
        self.asked: set[int] = set()
        for now in range(END):
            self._minute(now)
        self.never = len(self.queue) + sum(w.tasks for w in self.deferred)

    def _minute(self, now: int) -> None:
        self._arrive(now)
        self.workers = [[(end, task) for end, task in worker if end > now] for worker in self.workers]
        self.draining = [(end, task) for end, task in self.draining if end > now]
        self.workers += [[] for ready in self.booting if ready <= now]
        self.booting = [ready for ready in self.booting if ready > now]
        self._start(now)
        self._scale(now)
        self.needed.append(len(self.queue) + self._running())
        self.slots.append(SLOTS * len(self.workers))
        self.triggerers.append(int(self.triggerer <= now))

    def _running(self) -> int:
        return sum(map(len, self.workers)) + len(self.draining)

    def _arrive(self, now: int) -> None:
        self.queue += [w for w in self.planned if w.due == now for _ in range(w.tasks)]
        fired = [w for w in self.deferred if w.due <= now and self.triggerer <= now]
        self.queue += [w for w in fired for _ in range(w.tasks)]
        self.deferred = [w for w in self.deferred if w not in fired]

    def _start(self, now: int) -> None:
        for worker in self.workers:
            while self.queue and len(worker) < SLOTS:
                task = self.queue.pop(0)
                worker.append((now + task.length, task))
                self.waits.append(now - task.due)

    def _scale(self, now: int) -> None:
        there = len(self.workers) + len(self.booting)
        known = now not in self.missing
        if known or self.missing_as == "zero":
            self.wanted.append(self._want(now) if known else self._least())
            self._triggerer(now, known)
        else:
            self.wanted.append(max([there, *self.wanted[-1:]]))          # no evidence: nothing is taken away
        if self.wanted[-1] > there:
            self.booting += [now + BOOT] * (self.wanted[-1] - there)
        most = max(self.wanted[-CALM:])
        if len(self.wanted) >= CALM and most < len(self.workers):
            self._remove(now, len(self.workers) - most)

    def _least(self) -> int:
        return 1 if self.policy == "cpu" else 0                        # the autoscaler cannot start from nothing

    def _want(self, now: int) -> int:
        busy = self._running()
        if self.policy == "cpu":
            return max(1, math.ceil(busy / SLOTS / BUSY))
        soon = sum(w.tasks for w in self.planned if now < w.due <= now + BOOT + 1) if self.policy == "planned" else 0
        return math.ceil((len(self.queue) + busy + soon) / SLOTS)

    def _triggerer(self, now: int, known: bool) -> None:
        """``planned`` reads the trigger rows. ``queue`` sees nothing to do and stops it; ``cpu`` keeps one."""
        if self.policy == "queue" and (not known or not self.queue and not self._running()):
            self.triggerer = math.inf
        elif self.policy == "queue" and math.isinf(self.triggerer):
            self.triggerer = now + TRIGGER_BOOT

    def _remove(self, now: int, count: int) -> None:
        """The idlest workers go first. What cannot end within the grace is lost and stands in the queue again."""
        self.workers.sort(key=len, reverse=True)
        keep = len(self.workers) - count
        for end, task in (entry for worker in self.workers[keep:] for entry in worker):
            if end > now + GRACE:
                self.lost += 1
                self.queue.append(task)
            else:
                self.draining.append((end, task))
        del self.workers[keep:]

    # ---- answers

    @property
    def p95(self) -> int:
        """Minutes within which 95 of 100 tasks started."""
        ordered = sorted(self.waits)
        return ordered[math.ceil(0.95 * len(ordered)) - 1] if ordered else 0

    @property
    def cost(self) -> int:
        """Worker minutes paid for."""
        return sum(self.slots) // SLOTS

    def row(self) -> dict[str, object]:
        return {"policy": self.policy, "it sees": POLICIES[self.policy], "longest wait": max(self.waits, default=0),
                "p95 wait": self.p95, "worker minutes": self.cost, "tasks lost": self.lost, "never ran": self.never}


def scale(policy: str, situation: str = "a burst that is due", *, missing_as: str = "hold") -> Play:
    """Play a situation under a policy. missing_as: what is read while the metric is missing, "zero" or "hold".

    Raises DagkitError for an unknown policy, situation or reading.

    >>> scale("planned").row()["longest wait"] < scale("queue").row()["longest wait"]
    True
    """
    for name, known in ((policy, POLICIES), (situation, SITUATIONS), (missing_as, ("zero", "hold"))):
        if not isinstance(name, str) or name not in known:
            raise DagkitError(f"capacity: {quoted(name)} is unknown.{nearest(name, known)} Known: {choices(known)}.")
    return Play(policy, SITUATIONS[situation], MISSING if situation == "a missing metric" else range(0), missing_as)


def compare(situation: str = "a burst that is due", *, missing_as: str = "hold") -> list[dict[str, object]]:
    """A row per policy.

    Raises DagkitError as ``scale`` does.
    """
    return [scale(policy, situation, missing_as=missing_as).row() for policy in POLICIES]
