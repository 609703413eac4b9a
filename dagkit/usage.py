"""The states of all task instances at the end of one tick, and who holds which places then."""

from __future__ import annotations

from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any

from .engine.limits import LimitName, Need, needs_of
from .states import ACTIVE, AWAITING_INPUT, DEFERRED, EXECUTION, REMOVED

if TYPE_CHECKING:
    from .trace import Trace

_IS_ACTIVE = bytes(code in ACTIVE for code in range(256))


def needs(trace: Trace, ti: int) -> list[Need]:
    """What a TI takes of which limits; one whose task left the Dag, what it took before."""
    if ti in trace._gone:
        left = next((tick for tick, new, _ in trace._changes_of(ti) if new == REMOVED), 1)
        then = trace._until(left - 1)
        twin = then._same(trace, ti) if then is not trace else None
        return [] if twin is None else needs(then, twin)
    run = trace._run_of[ti]
    cls = run.plan.cls[trace._task_of[ti]]
    key = run.plan.number, run.number, cls
    cache: dict[Any, list[Need]] = trace.__dict__.setdefault("_needs", {})
    if key not in cache:
        cache[key] = needs_of(trace._now, run.plan, run.number, cls)
    return cache[key]


def held(need: Need, state: int) -> int:
    """The places of a limit that a TI in this state holds."""
    parked = need.kept and (state == DEFERRED or (state == AWAITING_INPUT and need.limit.kind != "pool"))
    return need.places if state in EXECUTION or parked else 0


class Usage:
    """The states of all task instances at the end of one tick, and what they hold. It can move on to a later tick.

    codes: state number by TI. active: TIs that are queued, running or parked. holders: for each limit in use, the TIs
    that hold places in it and how many.
    """

    def __init__(self, trace: Trace, tick: int):
        self.trace, self.tick = trace, tick
        self.codes = bytearray(trace._codes_at(tick).tobytes())
        self.moved = False                                 # whether it has been at another tick before
        self._known: dict[Any, Any] = {}                   # answers that hold for a whole class of TIs in this tick

    def advance(self, tick: int) -> set[int]:
        """Move to a later tick; only what changed since is looked at. Returns the TIs that changed, and those below."""
        trace = self.trace
        first, last = trace._events_until(self.tick), trace._events_until(tick)
        self.moved |= tick != self.tick
        self.tick = tick
        self._known.clear()
        moved: set[int] = set()
        for ti, new in zip(trace._event_ti[first:last], trace._event_new[first:last], strict=True):
            old, self.codes[ti] = self.codes[ti], new
            run = trace._run_of[ti]
            moved.add(ti)
            if ti not in trace._gone:
                moved.update(di for d in run.plan.down[trace._task_of[ti]] for di in run.tis(d))
            if "active" in self.__dict__:
                (self.active.add if new in ACTIVE else self.active.discard)(ti)
            if "holders" in self.__dict__:
                for need in needs(trace, ti):
                    if held(need, old) and not held(need, new):
                        del self.holders[need.limit][ti]
                    elif held(need, new):
                        self.holders.setdefault(need.limit, {})[ti] = need.places
        return moved

    @cached_property
    def active(self) -> set[int]:
        return set(compress(range(len(self.codes)), self.codes.translate(_IS_ACTIVE)))

    @cached_property
    def holders(self) -> dict[LimitName, dict[int, int]]:
        found: dict[LimitName, dict[int, int]] = {}
        for ti in self.active:
            for need in needs(self.trace, ti):
                if held(need, self.codes[ti]):
                    found.setdefault(need.limit, {})[ti] = need.places
        return found

    def used(self, limit: LimitName) -> int:
        return sum(self.holders.get(limit, {}).values())
