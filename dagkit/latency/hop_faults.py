"""What can go wrong between a commit and a running task, as data; and the cases that are worth playing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ..checks import flag, listed, names, number, plain_fields, whole
from ..errors import DagkitError, quoted
from ..keywords import checked

SCHEDULERS, WORKERS = ("scheduler 1", "scheduler 2"), ("worker 1", "worker 2")
KINDS = ("run", "task", "done")


@checked
@dataclass(frozen=True)
class Down:
    """``who`` stops right after a moment: a time in ms, or "owns", "assigned", "starts". until: ms, or None: for good.

    Who comes back goes on with what it was about to do, like a process that was frozen or cut off.
    """

    who: str
    after: int | str
    until: int | None = None

    def __post_init__(self) -> None:
        plain_fields(self)
        if self.who not in SCHEDULERS + WORKERS:
            raise DagkitError(f"Down: who is one of {', '.join(SCHEDULERS + WORKERS)}, not {quoted(self.who)}. "
                              "Write Down('worker 1', 100).")
        if self.after not in ("owns", "assigned", "starts"):
            whole("Down", "after (else 'owns', 'assigned' or 'starts')", self.after, 0, unit=" of ms")
        whole("Down", "until", self.until, 0, none=True, unit=" of ms")


@checked
@dataclass(frozen=True)
class Faults:
    """What goes wrong. lose, duplicate: kinds of hint ("run", "task", "done") whose first one is lost or comes twice;
    lose also takes the hint about one task, "done transform". lose_share, duplicate_share: the same by chance.
    broker_down: no hint at all. down: who stops. busy_until: all worker slots are taken until then (ms). fallback,
    guards: what protects; off, to see what they are for.
    """

    lose: tuple[str, ...] = ()
    duplicate: tuple[str, ...] = ()
    lose_share: float = 0.0
    duplicate_share: float = 0.0
    broker_down: bool = False
    down: tuple[Down, ...] = ()
    busy_until: int = 0
    fallback: bool = True
    guards: bool = True

    def __post_init__(self) -> None:
        plain_fields(self)
        for name in ("lose", "duplicate"):
            kinds = names("Faults", name, getattr(self, name)) if getattr(self, name) else ()
            object.__setattr__(self, name, kinds)
            known = KINDS if name == "duplicate" else (*KINDS, *(kind for kind in kinds if kind.split(" ")[0] in KINDS[1:]))
            if wrong := [kind for kind in kinds if kind not in known]:
                raise DagkitError(f"Faults: a hint is of the kind run, task or done, not {quoted(wrong[0])}. "
                                  f"Write {name}='task'.")
        for name in ("lose_share", "duplicate_share"):
            number("Faults", name, getattr(self, name), 0, 1)
        for name in ("broker_down", "fallback", "guards"):
            flag("Faults", name, getattr(self, name))
        whole("Faults", "busy_until", self.busy_until, 0, unit=" of ms")
        object.__setattr__(self, "down", listed("Faults", "down", self.down, "Write down=[Down(...)]."))
        if strange := [one for one in self.down if not isinstance(one, Down)]:
            raise DagkitError(f"Faults: down is a list of Down(who, after, until), not of {quoted(strange[0])}. "
                              "Write down=[Down('worker 1', 100)].")


class Case(NamedTuple):
    """One fault to play. happens: what is done to the system. then: what the system does about it."""

    name: str
    happens: str
    then: str
    faults: Faults


CASES = {case.name: case for case in (
    Case("nothing", "Nothing goes wrong.", "Each hop wakes the next: a few milliseconds between a commit and the next "
         "one.", Faults()),
    Case("hint not published", "The caller dies after the commit, before the hint.", "A scheduler's scan finds the run "
         "that nobody owns, within a second.", Faults(lose=("run",))),
    Case("hint comes twice", "The broker delivers the same hint to both schedulers.", "Both try to own the run. The insert "
         "of one changes a row, that of the other none.", Faults(duplicate=("run",))),
    Case("task hint lost", "The row says queued, and no worker hears of it.", "A worker asks every few seconds without "
         "being woken, and gets it.", Faults(lose=("task",))),
    Case("scheduler dies", "A scheduler owns the run and freezes before it queues anything. Later it comes back.",
         "Its ownership gets stale and is replaced. When it comes back, its old write finds the row changed: zero rows.",
         Faults(down=(Down("scheduler 1", "owns", 6_100),))),
    Case("broker down", "No hint arrives at all.", "Only scans are left: the same run, slower. Polling is what hints "
         "degrade to.", Faults(broker_down=True)),
    Case("worker lost, queued", "A worker takes a task and dies before it starts it.", "It never ran, so the assignment is "
         "cleared and another worker takes it. No try is used up.", Faults(down=(Down("worker 1", "assigned"),))),
    Case("worker cut off", "A worker takes a task and is cut off. Later it is back and starts what it was given.",
         "The row belongs to another worker by now. The start is refused before a line of the task has run.",
         Faults(down=(Down("worker 1", "assigned", 5_600),))),
    Case("lost while running", "A worker dies in the middle of a task.", "Its heartbeats end. After the timeout the retry "
         "rules decide. What it did outside may be done again: there is no exactly-once.",
         Faults(down=(Down("worker 1", "starts"),))),
    Case("all full", "Every slot of every worker is taken.", "The row waits in the database, where everybody can see it. "
         "The first worker with a free slot asks.", Faults(busy_until=2_500)),
)}
"""The faults of the lesson, by name."""
