"""When something is due. The engine jumps from one due tick to the next; empty ticks cost nothing."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any

from ..errors import DagkitError, shown

LAST_TICK = 2**53 - 1
"""The largest whole number that a browser, too, counts exactly."""


class Buckets(dict[int, list[Any]]):
    """tick -> what is due then. Asking for a tick that has nothing yet puts it on the calendar."""

    def __init__(self, ticks: list[int]):
        super().__init__()
        self.ticks = ticks

    def __missing__(self, tick: int) -> list[Any]:
        if tick > LAST_TICK:
            raise DagkitError(f"a duration, delay or due time leads to tick {shown(tick)}, but ticks are counted up to "
                              f"{LAST_TICK}. Choose a larger unit.")
        heappush(self.ticks, tick)
        bucket = self[tick] = []
        return bucket


class Calendar:
    """Five kinds of appointments on one time line, in the order in which a tick keeps them.

    change: a learner's hand, ``f(sim, tick)``. finish: TIs whose running try ends. source: anything else from outside
    the four phases, ``f(sim, tick)``: a timeout, a fault, the end of a wait. start: TIs a worker picks up. look: TIs
    to evaluate again (a retry falls due).
    """

    def __init__(self) -> None:
        self.ticks: list[int] = []
        self.change = Buckets(self.ticks)
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
