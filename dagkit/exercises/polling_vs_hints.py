"""Exercise 9: a worker that hints make quick, and that loses nothing when hints are lost, doubled or late."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from ..errors import quoted, shown
from .trial import NotYet, Task, bounded, where

TASKS_SENT, GAP = 12, 3
"""How many tasks are queued, one every so many ticks."""
LONGEST, READS = 12, 60
"""Task 9.3: ticks that a task may wait when no hint arrives at all; reads of one worker in a quiet time of QUIET ticks."""
QUIET = 600


@dataclass
class Table:
    """The database as a worker sees it. It is the only truth, and others use it too.

    >>> db = Table({"a": "queued"})
    >>> db.waiting(), db.take("a"), db.take("a"), db.waiting()
    (['a'], True, False, [])
    """

    states: dict[str, str] = field(default_factory=dict)
    reads: int = 0
    now: int = 0
    starts: list[tuple[int, str]] = field(default_factory=list)
    rival: Any = None

    def waiting(self) -> list[str]:
        """The tasks that are queued and that nobody has taken. A moment later that may be otherwise."""
        self.reads += 1
        found = [task for task, state in self.states.items() if state == "queued"]
        if self.rival and found:
            self.rival(found)
        return found

    def take(self, task: str) -> bool:
        """The guarded update. True: the row is yours. False: it was not queued any more, somebody else has it."""
        if self.states.get(task) != "queued":
            return False
        self.states[task] = "taken"
        return True

    def start(self, task: str) -> None:
        """Run the task, now. Nobody stops you from running one that is not yours."""
        self.starts.append((self.now, task))


@dataclass(frozen=True)
class Weather:
    """What happens to hints, and whether other workers take rows at the same time."""

    name: str
    lost: float = 0.0
    doubled: float = 0.0
    late: int = 0
    rivals: float = 0.0
    seed: int = 1


CALM, ALONE = Weather("all hints arrive"), Weather("all hints are lost", lost=1.0)
WEATHERS = (CALM, Weather("every hint comes twice", doubled=1.0), Weather("other workers are as quick as you", rivals=0.6),
            ALONE, Weather("one hint in five is lost", lost=0.2, seed=2), Weather("hints come four ticks late", late=4),
            Weather("late, lost, doubled, and rivals", lost=0.3, doubled=0.4, late=2, rivals=0.3, seed=3))


def played(worker: Any, weather: Weather, scan_every: int = 10) -> tuple[Table, dict[str, int], dict[str, int], set[str]]:
    """A worker in some weather: the table after it, when each task was queued and first hinted, what rivals ran."""
    draw = random.Random(weather.seed).random
    db, rivals = Table(), set[str]()
    queued: dict[str, int] = {}
    hinted: dict[str, int] = {}
    letters: list[tuple[int, str]] = []

    def rival(seen: list[str]) -> None:
        if draw() < weather.rivals and db.take(seen[0]):
            rivals.add(seen[0])

    db.rival = rival
    for tick in range(1, TASKS_SENT * GAP + 3 * scan_every):
        db.now = tick
        if tick % GAP == 0 and len(queued) < TASKS_SENT:
            task = f"t{len(queued)}"
            db.states[task], queued[task] = "queued", tick
            if draw() >= weather.lost:
                letters += [(tick + weather.late, task)] * (2 if draw() < weather.doubled else 1)
        for due, task in letters:
            if due == tick:
                hinted.setdefault(task, tick)
                worker.hinted(db, task)
        if tick % scan_every == 0:
            worker.timer(db)
    return db, queued, hinted, rivals


def look(looker: Any) -> None:
    """Whatever waits is taken and started, and what somebody else has is left alone."""
    class Looking:
        def __init__(self, own: Any):
            self.own = own

        def hinted(self, db: Table, task: str) -> None:
            self.own.look(db)

        timer = hinted

    for weather in (CALM, Weather("other workers are as quick as you", rivals=0.6)):
        _judge(lambda w=weather: played(_Timed(Looking(looker())), w), weather)


class _Timed:
    """A worker whose timer does the same as a hint."""

    def __init__(self, inner: Any):
        self.hinted = inner.hinted

    def timer(self, db: Table) -> None:
        self.hinted(db, "")


def survives(worker: Any) -> None:
    for weather in WEATHERS:
        _judge(lambda w=weather: played(worker(), w), weather)


def _judge(play: Any, weather: Weather) -> None:
    """Each task once, in time, and at once where its hint arrived."""
    try:
        db, queued, hinted, rivals = bounded(play)
    except NotYet:
        raise
    except Exception as error:
        raise NotYet(f"When {weather.name}, your worker ended in {type(error).__name__}: {shown(error, 200)}"
                     f"{where(error)}.") from None
    told = [task for _, task in db.starts]
    for task in queued:
        if told.count(task) + (task in rivals) > 1:
            who = "another worker has it, and you started it too" if task in rivals else "you started it twice"
            raise NotYet(f"When {weather.name}: {task}: {who}.", "What did take answer?")
        if task not in told and task not in rivals:
            lost = "" if task in hinted else " Its hint was lost."
            took = " You took it and never started it." if db.states[task] == "taken" else ""
            raise NotYet(f"When {weather.name}: {task} never ran.{lost}{took}", "A hint came: who takes, and who starts?"
                         if task in hinted else "Who looks when no hint comes?")
    for tick, task in db.starts:
        if task in hinted and tick > hinted[task]:
            raise NotYet(f"When {weather.name}: the hint for {task} came at tick {hinted[task]}, and it ran at tick "
                         f"{tick}.",
                         "A hint says: look now.")


def scan_every(worker: Any, every: Any) -> None:
    """A fallback that is quick enough when no hint comes, and that leaves the database alone when nothing happens."""
    if type(every) is not int or every < 1:
        raise NotYet(f"scan_every must be a whole number of ticks, not {quoted(every)}.")
    survives(worker)
    db, queued, _, _ = played(worker(), ALONE, every)
    longest = max(tick - queued[task] for tick, task in db.starts)
    if longest > LONGEST:
        raise NotYet(f"With all hints lost a task waits {longest} ticks; {LONGEST} are allowed.", "Look more often.")
    quiet, own = Table(), worker()
    for tick in range(1, QUIET + 1):
        if tick % every == 0:
            own.timer(quiet)
    if quiet.reads > READS:
        raise NotYet(f"In {QUIET} quiet ticks each worker reads the table {quiet.reads} times; {READS} are allowed.",
                     "Hints make it quick. What is the scan for?")


TASKS = (
    Task("9.1", ("Looker",), look, "It runs what it really got, and nothing else."),
    Task("9.2", ("Worker",), survives, "Lost, doubled, late: every task runs once, and at once where a hint came."),
    Task("9.3", ("Worker", "scan_every"), scan_every,
         "Rare enough for the database, often enough for a day without hints."),
)
