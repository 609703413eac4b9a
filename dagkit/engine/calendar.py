"""When something is due. The engine jumps from one due tick to the next; empty ticks cost nothing."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any


class Buckets(dict[int, list[Any]]):
    """tick -> what is due then. Asking for a tick that has nothing yet puts it on the calendar."""

    def __init__(self, ticks: list[int]):
        super().__init__()
        self.ticks = ticks

    def __missing__(self, tick: int) -> list[Any]:
        heappush(self.ticks, tick)
        bucket = self[tick] = []
        return bucket


class Calendar:
    """Four kinds of appointments on one time line.

    finish: TIs whose running try ends. start: TIs a worker picks up. look: TIs to evaluate again (a retry falls due).
    source: anything from outside the four phases, as functions ``f(sim, tick)``: a run falls due, a timeout, a
    fault, a learner's change.
    """

    def __init__(self) -> None:
        self.ticks: list[int] = []
        self.finish = Buckets(self.ticks)
        self.start = Buckets(self.ticks)
        self.look = Buckets(self.ticks)
        self.source = Buckets(self.ticks)

    def __iter__(self) -> Iterator[int]:
        """The due ticks in order, those added meanwhile included."""
        ticks = self.ticks
        while ticks:
            now = heappop(ticks)
            while ticks and ticks[0] == now:
                heappop(ticks)
            yield now
