"""Faults of what decides and knows: scheduler, API server, metadata database, triggerer, Dag processor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..checks import whole
from ..keywords import checked
from .base import Fault, Outage

EARLIEST = 15
"""Ticks (here: seconds) until a supervisor gives up: [workers] max_failed_heartbeats 3 x min_heartbeat_interval 5."""


@checked
@dataclass(frozen=True)
class LoseScheduler(Fault):
    """One scheduler dies at ``tick``. Another finds out after scheduler_health_check_threshold.

    What it had queued or was running is adopted where the executor can; the rest goes back to none and counts a new
    try when it is scheduled again. With only one scheduler nothing is scheduled any more.
    """

    component = "scheduler"

    def _what(self) -> str:
        return "a scheduler dies"


@checked
@dataclass(frozen=True)
class ApiServerDown(Outage):
    """The API server does not answer: nobody can report, and nobody can start.

    A running task's supervisor gives it up ``give_up_after`` ticks later, after three failed heartbeats (each call is
    also retried, so in truth a little later); the scheduler finds the silence after task_instance_heartbeat_timeout.
    If the server is back before that, what ended meanwhile reports late and nothing is lost. Queued task instances
    cannot start (assumed: they do when it is back). The scheduler itself goes on: it asks the database.
    Source: sdk/execution_time/supervisor.py, _handle_heartbeat_failures, Airflow 3.3.2.
    """

    give_up_after: int = EARLIEST

    component = "API server"
    mutes: ClassVar[tuple[str, ...]] = ("answer",)

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self._name, "give_up_after", self.give_up_after, 1)

    @property
    def given_up(self) -> int | None:
        """The tick at which supervisors give up; None if the server is back in time."""
        gives_up = self.tick + self.give_up_after
        return gives_up if self.until is None or gives_up < self.until else None

    def _what(self) -> str:
        return "the API server does not answer"


@checked
@dataclass(frozen=True)
class SlowApiServer(Outage):
    """Pages take long. Tasks hardly notice: their calls are few, and are tried again."""

    component = "API server"

    def _what(self) -> str:
        return "the API server is slow"


@checked
@dataclass(frozen=True)
class DatabaseDown(ApiServerDown):
    """The metadata database is gone: no scheduler passes, and the API server cannot answer either."""

    component = "metadata DB"
    mutes: ClassVar[tuple[str, ...]] = ("answer", "event", "timeout")

    def _what(self) -> str:
        return "the metadata database does not answer"


@checked
@dataclass(frozen=True)
class SlowDatabase(Outage):
    """Every query is slow: a pass of the scheduler takes ``factor`` ticks instead of one. No error anywhere."""

    factor: int = 5

    component = "metadata DB"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self._name, "factor", self.factor, 2)

    def next_pass(self, tick: int) -> int:
        """The first tick from ``tick`` on at which a pass begins.

        >>> SlowDatabase(tick=3, factor=5).next_pass(4)
        8
        """
        at = tick + (self.tick - tick) % self.factor
        return at if self.until is None else min(at, max(tick, self.until))

    def _what(self) -> str:
        return f"the metadata database is slow (a pass takes {self.factor} ticks)"


def governing(faults: Iterable[Fault], tick: int) -> SlowDatabase | None:
    """Of the slow databases that hold at a tick, the slowest: passes keep to its rhythm alone (the kit's rule).

    Each in turn would be wrong: where two rhythms never meet, no pass would ever begin.

    >>> governing([SlowDatabase(1, factor=3), SlowDatabase(2, factor=5)], 4)
    SlowDatabase(tick=2, until=None, factor=5)
    """
    slow = [fault for fault in faults if isinstance(fault, SlowDatabase) and fault.holds(tick)]
    return max(slow, key=lambda fault: (fault.factor, -fault.tick), default=None)


def next_pass(faults: Sequence[Fault], tick: int) -> int:
    """The first tick from ``tick`` on at which a pass begins, given all the slow databases among the faults.

    >>> next_pass([SlowDatabase(1, factor=3), SlowDatabase(2, factor=3)], 3)
    4
    """
    edges = {edge for f in faults if isinstance(f, SlowDatabase) for edge in (f.tick, f.until) if edge is not None}
    while (slow := governing(faults, tick)) is not None and (at := slow.next_pass(tick)) != tick:
        tick = min([at, *(edge for edge in edges if edge > tick)])
    return tick


@checked
@dataclass(frozen=True)
class TriggererDown(Outage):
    """No triggerer runs: *deferred* task instances do not wake.

    An event that comes meanwhile is seen when it is back. Timeouts of waits go on: the scheduler watches those.
    """

    component = "triggerer"
    mutes = ("event",)

    def _what(self) -> str:
        return "no triggerer runs"


@checked
@dataclass(frozen=True)
class DagProcessorDown(Outage):
    """No file is parsed: edits of Dags stay unseen until it is back. What is known already goes on."""

    component = "Dag processor"

    def _what(self) -> str:
        return "the Dag processor is down"

    def seen(self, tick: int) -> int | None:
        """When an edit of ``tick`` takes effect (None: never)."""
        return self.until if self.holds(tick) else tick


@checked
@dataclass(frozen=True)
class SlowDagProcessor(Outage):
    """Parsing takes long: an edit takes effect ``delay`` ticks later."""

    delay: int = 60

    component = "Dag processor"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self._name, "delay", self.delay, 1)

    def _what(self) -> str:
        return f"the Dag processor is {self.delay} ticks late"

    def seen(self, tick: int) -> int | None:
        """When an edit of ``tick`` takes effect."""
        return tick + self.delay if self.holds(tick) else tick
