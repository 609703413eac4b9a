"""The interface that all executors share: five questions, asked by the engine and by comparisons.

    slots     what is handed over   how many task instances (TIs) the scheduler may have given to it
    arrival   how it gets there     ticks from queued until a worker can see it
    staff     who picks it up       the workers, their order (``pull``) and their rhythm
    begin     when it starts        ticks from picked up until it runs; its place is taken meanwhile
    paid      what it costs         ticks for which a place was kept, used or not

An executor is a setting of the scheduler, not a process: the border between "decided" and "ran".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..checks import names, plain_fields, text, whole
from ..errors import DagkitError, quoted, shown
from ..keywords import checked

UNLIMITED = float("inf")
ENDLESS = 10**9
"""The concurrency of a cluster without a cap."""


@checked
@dataclass(frozen=True)
class Worker:
    """A standing worker: how many TIs it runs at once, and which queues it listens to.

    environment: the one set of packages it has; see ``Executor.environments``.

    >>> Worker(concurrency=2, queues=("gpu",)).serves("gpu")
    True
    """

    concurrency: int = 16
    queues: Sequence[str] = ("default",)
    name: str = ""
    environment: str = ""

    def __post_init__(self) -> None:
        plain_fields(self)
        whole("Worker", "concurrency", self.concurrency, 1)
        object.__setattr__(self, "queues", names("Worker", "queues", self.queues))
        for each in ("name", "environment"):
            text("Worker", each, getattr(self, each), empty=True)

    def serves(self, queue: str) -> bool:
        return "*" in self.queues or queue in self.queues


class Rhythm(NamedTuple):
    """Workers that look for work only now and then. every: ticks between two looks. most: TIs taken at one look, over
    all workers (None: as many as there is room for). offsets: by worker, the tick of its first look.

    >>> Rhythm(5, None, (0, 2)).looks(1, 7), Rhythm(5, None, (0, 2)).looks(0, 7)
    (True, False)
    """

    every: int
    most: int | None
    offsets: tuple[int, ...]

    def looks(self, worker: int, tick: int) -> bool:
        return (tick - self.offsets[worker]) % self.every == 0

    def next_look(self, worker: int, tick: int) -> int:
        """The first look after ``tick``."""
        return tick + self.every - (tick - self.offsets[worker]) % self.every


class Turn(NamedTuple):
    """A TI that was picked up, as far as an executor may know it. draw: a number from 0 to 1 for a purpose, the same
    whenever this try is played. seen: what the executor remembers during one simulation."""

    now: int
    task_id: str
    tick_seconds: float
    draw: Callable[[str], float]
    seen: dict[Any, Any]


class Stay(NamedTuple):
    """One TI on one worker: the ticks at which it was picked up, began to run and left. began: None if it never ran."""

    worker: int
    picked: int
    began: int | None
    left: int


@checked
@dataclass(frozen=True)
class Executor:
    """What all executors have in common.

    parallelism: TIs it holds at once (None: ``Config.parallelism``). handover: ticks from queued to the moment a
    worker may pick it up; with 0 a TI is queued and running in the same tick. name: what ``Task(executor=...)`` calls it.
    environments: which set of packages a task needs, ``{task_id: environment}``. A try on a worker that has another
    one fails on its first import. Where each task brings its own image there is nothing to fail.
    """

    parallelism: int | None = None
    handover: int = 1
    name: str = "Executor"
    environments: Any = field(default=(), kw_only=True)

    adopts = False
    """Whether another scheduler can take over its running work when a scheduler dies."""
    counts = True
    """Whether the scheduler's parallelism counts what it holds."""
    revokes = True
    """Whether it can take a queued task back, which the check for stuck task instances needs."""
    pull = "queue"
    """The order in which workers take work: "queue" (first handed over first) or "priority"."""
    prefetch = 1
    """Messages a worker keeps per slot; above 1 it reserves work that it cannot start yet."""
    own_image = False
    """Whether each task brings its own image, and so its own packages."""
    waits = "worker"
    """The reason code of a TI that was picked up and does not run yet."""
    looks = "worker"
    """The reason code of a TI that waits for the next look (see Rhythm)."""
    isolation = ""
    """What separates one task from the next."""
    needs = ""
    """What has to be there besides the scheduler, the API server and the database."""

    def __post_init__(self) -> None:
        plain_fields(self)
        text(type(self).__name__, "name", self.name)
        whole(shown(self.name), "parallelism", self.parallelism, 1, none=True)
        whole(shown(self.name), "handover", self.handover, 0)
        object.__setattr__(self, "environments", _environments(shown(self.name), self.environments))

    def slots(self, config: Any) -> float:
        """How many TIs the scheduler may have handed to it at once."""
        return self.parallelism if self.parallelism is not None else config.parallelism * config.schedulers

    def arrival(self, draw: Callable[[str], float], config: Any) -> int:
        """Ticks from queued until a worker can see it."""
        return self.handover

    @property
    def steady(self) -> bool:
        """Whether every TI arrives after just ``handover`` ticks, so that nothing need be drawn."""
        return True

    def staff(self, config: Any) -> Sequence[Worker] | None:
        """The workers that pick its work up, or None where one is always free."""
        return None

    def rhythm(self, config: Any, seed: int) -> Rhythm | None:
        """How often its workers look for work, or None where they are told."""
        return None

    def begin(self, turn: Turn) -> int:
        """Ticks from picked up until it runs."""
        return 0

    def paid(self, stays: Iterable[Stay], span: int, config: Any) -> float:
        """Ticks of places that had to be kept over ``span`` ticks; here: all its slots, all the time."""
        return float(self.slots(config) * span)

    def environment_of(self, task_id: str) -> str:
        """The set of packages a task needs, "" where any will do."""
        return dict(self.environments).get(task_id, "")


def _environments(who: str, given: Any) -> tuple[tuple[str, str], ...]:
    pairs = list(given.items()) if isinstance(given, Mapping) else list(given) if isinstance(given, (list, tuple)) else None
    if pairs is None or not all(isinstance(p, (tuple, list)) and len(p) == 2 for p in pairs):
        raise DagkitError(f"{who}: environments must be a dictionary, not {quoted(given)}. "
                          "Write environments={'train': 'torch'}.")
    for pair in pairs:
        for word in pair:
            text(who, "environments: each task id and each environment", word)
    return tuple(sorted((task_id, environment) for task_id, environment in pairs))


def listed_workers(who: str, given: Any, kind: type[Worker] = Worker, name: str = "workers") -> tuple[Any, ...]:
    """One worker or several, checked; no workers at all is refused."""
    found = (given,) if isinstance(given, kind) else tuple(given) if isinstance(given, (list, tuple)) else ()
    if not found or not all(isinstance(w, kind) for w in found):
        example = "dk.Worker(concurrency=4)" if kind is Worker else f"dk.{kind.__name__}(name='berlin')"
        raise DagkitError(f"{who}: {name} must be a list of at least one dk.{kind.__name__}, not {quoted(given)}. "
                          f"Write {name}=[{example}].")
    return found


def standing(workers: Iterable[Worker], span: int) -> float:
    """Ticks of places that standing workers keep, busy or not."""
    return float(sum(w.concurrency for w in workers) * span)


def started(stays: Iterable[Stay]) -> float:
    """Ticks of places that exist only from the moment they are asked for until the work leaves."""
    return float(sum(stay.left - stay.picked for stay in stays))
