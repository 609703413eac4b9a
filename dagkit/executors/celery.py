"""CeleryExecutor: standing workers fed by a broker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..checks import flag, plain_fields, whole
from ..errors import DagkitError, choices, nearest, quoted, shown
from ..keywords import checked
from .base import Executor, Stay, Worker, listed_workers, standing
from .latency import Latency, ticks

BROKERS = ("redis", "rabbitmq", "sqs")
KEEPALIVE = 30
"""Seconds an idle pool process is kept (AUTOSCALE_KEEPALIVE of Celery)."""


@checked
@dataclass(frozen=True)
class Broker:
    """The queue between scheduler and workers.

    product: "redis", "rabbitmq" or "sqs". latency: seconds from the scheduler's send until a worker can see the
    message (a Latency or a number). visibility_timeout: seconds after which Redis and SQS hand an unacknowledged
    message out again (None: never here). acks_late: acknowledge when the task has ended, as Airflow sets it.

    >>> Broker("redis", latency=2).arrives(0.5)
    2
    """

    product: str = "redis"
    latency: Any = 0
    visibility_timeout: int | None = None
    acks_late: bool = True

    def __post_init__(self) -> None:
        plain_fields(self)
        if not isinstance(self.product, str) or self.product not in BROKERS:
            raise DagkitError(f"Broker: product must be one of {choices(BROKERS)}, not {quoted(self.product)}."
                              f"{nearest(self.product, BROKERS)}")
        object.__setattr__(self, "latency", Latency.of("Broker", "latency", self.latency))
        whole("Broker", "visibility_timeout", self.visibility_timeout, 1, none=True, unit=" of seconds")
        flag("Broker", "acks_late", self.acks_late)
        if self.product == "rabbitmq" and self.visibility_timeout is not None:
            raise DagkitError("Broker: RabbitMQ knows no visibility_timeout; only Redis and SQS do. Leave it out.")

    def arrives(self, u: float) -> float:
        """Seconds a message is under way, for a share ``u`` of all messages at most."""
        return float(self.latency.seconds(u)) if self.latency.shape != "fixed" else self.latency.low


@checked
@dataclass(frozen=True)
class CeleryExecutor(Executor):
    """Standing workers fed by a broker: quick starts, a fleet to run.

    workers: each with its concurrency and queues. A queue nobody listens to is accepted, as in Airflow. broker: a
    Broker (None: one without latency). prefetch: [celery] worker_prefetch_multiplier: above 1 a worker reserves
    messages that it cannot start yet, and they wait behind its long tasks although another worker is idle.
    autoscale: [celery] worker_autoscale, (max, min) processes for every worker, in place of their concurrency: a
    pool grows as work comes (at once, in the kit) and shrinks when idle for 30 seconds; it is paid as it stands.

    >>> [w.concurrency for w in CeleryExecutor(workers=[Worker(4)], autoscale=(16, 2)).staff(None)]
    [16]
    """

    name: str = "CeleryExecutor"
    workers: Sequence[Worker] = (Worker(),)
    broker: Broker | None = None
    prefetch: int = 1
    autoscale: tuple[int, int] | None = None
    adopts = True
    isolation = "a process per task; workers and their packages shared"
    needs = "workers to run, a broker (Redis or RabbitMQ), a result backend"

    def __post_init__(self) -> None:
        super().__post_init__()
        who = shown(self.name)
        object.__setattr__(self, "workers", listed_workers(who, self.workers))
        if self.broker is not None and not isinstance(self.broker, Broker):
            raise DagkitError(f"{who}: broker must be a dk.Broker or None, not {quoted(self.broker)}. "
                              "Write broker=dk.Broker('redis', latency=0.1).")
        whole(who, "prefetch", self.prefetch, 1)
        object.__setattr__(self, "autoscale", _autoscale(who, self.autoscale))

    @property
    def steady(self) -> bool:
        return self.broker is None

    def arrival(self, draw: Callable[[str], float], config: Any) -> int:
        under_way = 0 if self.broker is None else ticks(self.broker.arrives(draw("broker")), config.tick_seconds)
        return self.handover + under_way

    def staff(self, config: Any) -> Sequence[Worker] | None:
        if self.autoscale is None:
            return self.workers
        return tuple(replace(w, concurrency=self.autoscale[0]) for w in self.workers)

    def paid(self, stays: Iterable[Stay], span: int, config: Any) -> float:
        if self.autoscale is None:
            return standing(self.workers, span)
        keep = ticks(KEEPALIVE, config.tick_seconds)
        by_worker: dict[int, list[Stay]] = {w: [] for w in range(len(self.workers))}
        for stay in stays:
            by_worker[stay.worker].append(stay)
        return float(sum(pool_ticks(found, span, self.autoscale[1], keep) for found in by_worker.values()))


def pool_ticks(stays: Sequence[Stay], span: int, least: int, keep: int) -> int:
    """Ticks of processes that a pool which grows and shrinks has had in ``span`` ticks from tick 0: at any time as many
    as were busy at once in the last ``keep`` ticks, and never fewer than ``least``.

    >>> pool_ticks([Stay(0, 1, 1, 4)], span=20, least=1, keep=5)     # one process, always
    20
    >>> pool_ticks([Stay(0, 1, 1, 4), Stay(0, 1, 1, 4)], span=20, least=1, keep=5)    # a second one, for 3 + 5
    28
    """
    change: dict[int, int] = {}
    for stay in stays:
        change[stay.picked] = change.get(stay.picked, 0) + 1
        change[stay.left] = change.get(stay.left, 0) - 1
    busy, total = 0, least * span
    since: dict[int, int] = {}                             # per process beyond the least, when it was needed
    gone: dict[int, int] = {}                              # and when it will be let go
    for tick in sorted(change):
        before, busy = busy, busy + change[tick]
        for process in range(max(before, least), busy):
            if gone.get(process, -1) < tick:               # it was let go before (or never there)
                total += gone.get(process, 0) - since.get(process, 0)
                since[process] = tick
        for process in range(max(busy, least), before):
            gone[process] = min(tick + keep, span)
    return total + sum(gone[process] - since[process] for process in since)


def _autoscale(who: str, given: Any) -> tuple[int, int] | None:
    if given is None:
        return None
    pair = tuple(given) if isinstance(given, (tuple, list)) else ()
    if len(pair) != 2 or not all(type(n) is int for n in pair) or not 0 <= pair[1] <= pair[0] or pair[0] < 1:
        raise DagkitError(f"{who}: autoscale must be (max, min), two whole numbers with max >= 1 and max >= min >= 0, not "
                          f"{quoted(given)}. Write autoscale=(16, 4).")
    return pair[0], pair[1]
