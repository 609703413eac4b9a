"""BatchExecutor: a cloud's batch service runs each task in a container of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..checks import whole
from ..errors import shown
from ..keywords import checked
from .base import ENDLESS, Executor, Stay, Turn, Worker, started
from .latency import Latency, seconds, ticks

PROVISIONING = Latency.lognormal(median=30, p95=90)
LEAST_PAID = 60


@checked
@dataclass(frozen=True)
class BatchExecutor(Executor):
    """A cloud's batch service (AWS Batch, ECS): capacity that is there when asked for, after a while.

    provisioning: seconds from the job's submission until its process runs. max_jobs: jobs at once (None: as many as
    parallelism allows). least_paid: seconds that are paid even for a shorter job.

    >>> BatchExecutor(provisioning=20).provisioning
    Latency(shape='fixed', low=20, high=20)
    """

    handover: int = 0
    name: str = "BatchExecutor"
    provisioning: Any = PROVISIONING
    max_jobs: int | None = None
    least_paid: float = LEAST_PAID
    adopts = True
    own_image = True
    waits = "provisioning"
    isolation = "a container per task: image and packages of its own"
    needs = "one cloud's batch service, and an image registry"

    def __post_init__(self) -> None:
        super().__post_init__()
        who = shown(self.name)
        object.__setattr__(self, "provisioning", Latency.of(who, "provisioning", self.provisioning))
        whole(who, "max_jobs", self.max_jobs, 1, none=True)
        object.__setattr__(self, "least_paid", seconds(who, "least_paid", self.least_paid))

    def staff(self, config: Any) -> Sequence[Worker] | None:
        return (Worker(self.max_jobs or ENDLESS, ("*",), "service"),)

    def begin(self, turn: Turn) -> int:
        return max(1, ticks(self.provisioning.seconds(turn.draw("provisioning")), turn.tick_seconds))

    def paid(self, stays: Iterable[Stay], span: int, config: Any) -> float:
        least = self.least_paid / config.tick_seconds
        found = list(stays)
        return started(found) + sum(max(0.0, least - (stay.left - stay.picked)) for stay in found)
