"""Reasons asked of a trace: at one tick, or over time. How a reason is found stands in ``situation.py``."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .engine.seen import seen
from .faulted import moments
from .situation import MANY, Reason, Situation
from .states import FINISHED, NAMES

if TYPE_CHECKING:
    from .trace import Trace

KNOWN_AHEAD = frozenset({"retry_delay", "running", "reschedule", "run_not_due", "lost_worker", "message_lost",
                         "pod_pending", "provisioning"})
"""Reasons whose end is fixed beforehand: a delay or a timeout."""
FEW = 100
"""Asked of more TIs at once, a trace makes an index of their events first."""


def situation(trace: Trace, tick: int) -> Situation:
    """The situation at the end of a tick, under the rules and limits that held then."""
    then = trace._until(tick)
    cache: dict[int, Situation] = then.__dict__.setdefault("_situations", {})
    if tick not in cache:
        if len(cache) >= 8:
            cache.clear()
        cache[tick] = Situation(then, tick)
    return cache[tick]


def _twin(trace: Trace, then: Trace, ti: int) -> int:
    """The TI in the trace as it was before later changes."""
    twin = ti if then is trace else then._same(trace, ti)
    return ti if twin is None else twin


def brief(trace: Trace, tis: Sequence[int], tick: int) -> list[tuple[str, str, str]]:
    """(state, code, text) of each TI at the end of a tick: the reasons without their names."""
    at = situation(trace, tick)
    if len(tis) > FEW:
        at.trace._index_events()
    found = []
    for ti in tis:
        twin = _twin(trace, at.trace, ti)
        state = at.codes[twin]
        code, text, _, _ = at.why(twin, state)
        found.append((NAMES[state], code, text))
    return found


def reason(trace: Trace, ti: int, tick: int) -> Reason:
    """The reason of one TI at the end of a tick, under the rules and limits that held then."""
    at = situation(trace, tick)
    return at.reason(_twin(trace, at.trace, ti))


def explain(trace: Trace, ti: int, tick: int) -> Reason:
    """The reason of one TI, with its next change in this trace."""
    why = reason(trace, ti, tick)
    at = next((t for t, _, _ in trace._changes_of(ti) if t > tick), None)
    return replace(why, unblocks_at=at, known_ahead=at is not None and why.code in KNOWN_AHEAD)


def _keeps(last: Reason, state: str) -> bool:
    """Whether a reason holds on while neither the TI nor its upstreams change."""
    return last.state == state and (last.code == "trigger_rule" or state in _DONE)


_DONE = frozenset(NAMES[code] for code in FINISHED)


def timelines(trace: Trace, tis: Sequence[int]) -> dict[int, list[tuple[int, int, Reason]]]:
    """For each TI its reasons over time as (from tick, to tick, Reason), equal neighbours joined."""
    found: dict[int, list[tuple[int, int, Reason]]] = {ti: [] for ti in tis}
    changes = sorted({tick for tick, _ in seen(trace.scenario)})
    broken = moments(trace.scenario)
    ticks = sorted({0, *trace._tick_no, *changes, *(tick for tick in broken if tick <= trace._end)})
    for start in [0, *changes]:                            # between two changes the same rules and limits hold
        then = trace._until(start)
        end = next((c for c in changes if c > start), trace._end + 1)
        same = {ti: ti if then is trace else then._same(trace, ti) for ti in tis}
        known = [ti for ti in tis if same[ti] is not None]
        situation = Situation(then, start)
        if len(tis) > FEW:
            then._index_events()
        for tick in ticks[bisect_left(ticks, start):bisect_left(ticks, end)]:
            moved = situation.advance(tick)
            for ti in known:
                line, twin = found[ti], same[ti]
                assert twin is not None
                turned = any(t == tick for t, _ in then._run_of[twin].history)
                if line and tick != start and tick not in broken and twin not in moved and not turned and _keeps(
                        line[-1][2], NAMES[situation.codes[twin]]):
                    continue
                why = situation.reason(twin)
                if not line or line[-1][2] != why:
                    if line:
                        line[-1] = line[-1][0], tick - 1, line[-1][2]
                    line.append((tick, trace._end, why))
    return found


__all__ = ["KNOWN_AHEAD", "MANY", "Reason", "Situation", "brief", "explain", "reason", "timelines"]
