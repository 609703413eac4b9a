"""EdgeExecutor: workers at remote sites that pull their work over HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..checks import text
from ..errors import shown
from ..keywords import checked
from .base import Executor, Rhythm, Stay, Worker, listed_workers, standing
from .latency import draw, seconds, ticks

POLL = 5


@checked
@dataclass(frozen=True)
class Site(Worker):
    """A worker at a remote site; it listens to the queue that bears its name unless queues are given.

    >>> Site(name="berlin").queues
    ('berlin',)
    """

    concurrency: int = 8
    queues: Sequence[str] = ()

    def __post_init__(self) -> None:
        text("Site", "name", self.name)
        object.__setattr__(self, "queues", self.queues or (self.name,))
        super().__post_init__()


@checked
@dataclass(frozen=True)
class EdgeExecutor(Executor):
    """Workers at remote sites that pull the work of their own queues, by priority, then age.

    sites: Site by Site (or workers: any Workers). poll_interval: [edge] job_poll_interval, seconds between two looks of
    a worker; at each it takes as much as it has room for. When a worker first looks is drawn. handover: given, it is
    the whole way in ticks and nobody polls, unless poll_interval is given too.

    >>> EdgeExecutor(sites=[Site(name="berlin")]).workers[0].queues
    ('berlin',)
    """

    handover: int | None = None  # type: ignore[assignment]
    name: str = "EdgeExecutor"
    workers: Sequence[Worker] = (Worker(),)
    sites: Sequence[Site] | None = None
    poll_interval: float | None = None
    adopts = True
    pull = "priority"
    looks = "edge_poll"
    isolation = "a process per task; sites apart from each other"
    needs = "an edge worker at each site, and HTTPS from there to the API server"

    def __post_init__(self) -> None:
        who, timed, fix = shown(self.name), self.handover is None, object.__setattr__
        fix(self, "handover", 1 if timed else self.handover)
        super().__post_init__()
        if self.sites is not None:
            fix(self, "sites", listed_workers(who, self.sites, Site, "sites"))
            fix(self, "workers", self.sites)
        fix(self, "workers", listed_workers(who, self.workers))
        given = (POLL if timed else 0) if self.poll_interval is None else self.poll_interval
        fix(self, "poll_interval", seconds(who, "poll_interval", given))

    def staff(self, config: Any) -> Sequence[Worker] | None:
        return self.workers

    def rhythm(self, config: Any, seed: int) -> Rhythm | None:
        every = ticks(self.poll_interval or 0, config.tick_seconds)
        if every < 2:
            return None
        return Rhythm(every, None, tuple(int(draw(seed, "poll", self.name, w) * every) for w in range(len(self.workers))))

    def paid(self, stays: Iterable[Stay], span: int, config: Any) -> float:
        return standing(self.workers, span)
