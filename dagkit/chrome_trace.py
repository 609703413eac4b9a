"""A trace for chrome://tracing and https://ui.perfetto.dev: one process per pool, one thread per slot.

Rules kept, from the Trace Event Format (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU)
and what Perfetto reads of it (https://perfetto.dev/docs/faq):

- an object with the list ``traceEvents``; ``displayTimeUnit`` is "ms" or "ns";
- an event has ``name``, ``ph``, ``pid``, ``tid``, and ``ts`` in microseconds; "X" (complete) has ``dur`` too;
- "M" (metadata) names processes and threads: ``process_name``, ``thread_name``, ``..._sort_index``;
- "C" (counter) has numbers in ``args``;
- "X" events of one thread lie side by side or one inside the other, never across each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from heapq import heappop, heappush
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import shown
from .states import NAMES
from .usage import held, needs
from .written import write

if TYPE_CHECKING:
    from .trace import Trace

MICROSECONDS = 1_000_000

WIDEST = 64
"""Threads that one task instance is drawn on; one that holds more slots gets a single bar that says how many."""


def chrome_trace(trace: Trace) -> str:
    """The trace as text, an event a line. What a task instance does with its slots is one event per state.

    >>> from dagkit import examples, simulate
    >>> events = json.loads(chrome_trace(simulate(examples.orders())))["traceEvents"]
    >>> [e["args"]["name"] for e in events if e["name"] == "process_name"]
    ['pool db', 'pool default']
    """
    pools = _Pools()
    bars = list(_bars(trace, pools))
    events = [*pools.names(), *bars, *_counters(trace, pools)]
    lines = ",\n".join(json.dumps(event) for event in events)
    return '{"displayTimeUnit": "ms", "otherData": {"times": "one tick lasts ' + (
        f'{trace.scenario.config.tick_seconds:g} s"}}, "traceEvents": [\n{lines}\n]}}\n')


def to_chrome_trace(trace: Trace, path: str | Path) -> Path:
    """Write ``chrome_trace`` to a file; the same trace gives the same bytes everywhere."""
    path = write("to_chrome_trace", path, chrome_trace(trace))
    return path


class _Pools:
    """Numbers for pools (processes) and their slots (threads); the lowest free slot is taken first."""

    def __init__(self) -> None:
        self.pid: dict[str, int] = {}
        self.free: dict[str, list[int]] = {}
        self.width: dict[str, int] = {}

    def take(self, pool: str, count: int) -> list[int]:
        self.pid.setdefault(pool, len(self.pid) + 1)
        free = self.free.setdefault(pool, [])
        while len(free) < count:                          # a pool may be unlimited, or shrink below what is in use
            self.width[pool] = self.width.get(pool, 0) + 1
            heappush(free, self.width[pool])
        return [heappop(free) for _ in range(count)]

    def give_back(self, pool: str, slots: list[int]) -> None:
        for slot in slots:
            heappush(self.free[pool], slot)

    def names(self) -> Iterator[dict[str, Any]]:
        for pool, pid in self.pid.items():
            yield _named("process_name", pid, 0, name=f"pool {shown(pool)}")
            yield _named("process_sort_index", pid, 0, sort_index=pid)
            for slot in range(1, self.width[pool] + 1):
                yield _named("thread_name", pid, slot, name=f"slot {slot}")
                yield _named("thread_sort_index", pid, slot, sort_index=slot)


def _named(what: str, pid: int, tid: int, **args: Any) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": pid, "tid": tid, "ts": 0, "args": args}


def _bars(trace: Trace, pools: _Pools) -> Iterator[dict[str, Any]]:
    """An event for every stretch of a state in which a task instance holds slots, on each of its slots."""
    holds: dict[int, tuple[str, list[int], int, int]] = {}      # TI -> pool, slots, since, state
    tries = [0] * len(trace._task_of)
    for tick, ti, old, new in zip(trace._event_tick.tolist(), trace._event_ti, trace._event_old, trace._event_new,
                                  strict=True):
        tries[ti] += NAMES[new] == "scheduled" and NAMES[old] in ("none", "up_for_retry")
        pool, before, after = _slots(trace, ti, old, new)
        if ti in holds:
            yield from _ended(trace, pools, holds[ti], ti, tick, tries[ti])
        if before and not after and ti in holds:
            pools.give_back(pool, holds.pop(ti)[1])
        elif after:
            slots = holds[ti][1] if ti in holds else pools.take(pool, after if after <= WIDEST else 1)
            holds[ti] = pool, slots, tick, new
    for ti, held_now in holds.items():
        yield from _ended(trace, pools, held_now, ti, trace.last_tick + 1, tries[ti])


def _slots(trace: Trace, ti: int, old: int, new: int) -> tuple[str, int, int]:
    """The pool of a TI, and how many of its slots it holds in the old and in the new state."""
    need = next((n for n in needs(trace, ti) if n.limit.kind == "pool"), None)
    return ("", 0, 0) if need is None else (need.limit.name, held(need, old), held(need, new))


def _ended(trace: Trace, pools: _Pools, hold: tuple[str, list[int], int, int], ti: int, tick: int, tries: int,
           ) -> Iterator[dict[str, Any]]:
    pool, slots, since, state = hold
    count = max(_slots(trace, ti, state, state)[1:])
    many = {"slots": count} if count > WIDEST else {}
    for slot in slots if tick > since else ():
        yield {"name": shown(trace._label(ti)), "cat": NAMES[state], "ph": "X", "ts": _at(trace, since),
               "dur": _at(trace, tick) - _at(trace, since), "pid": pools.pid[pool], "tid": slot,
               "args": {"state": NAMES[state], "try": tries, **many}}


def _counters(trace: Trace, pools: _Pools) -> Iterator[dict[str, Any]]:
    """Slots in use over time, for each pool."""
    for meter in trace.meters:
        pool = meter.name.removeprefix("pool ")
        pid = next((pid for name, pid in pools.pid.items() if shown(name) == pool), None)
        if meter.kind == "pool" and pid is not None:
            for tick, used in meter.used:
                yield {"name": "slots in use", "ph": "C", "ts": _at(trace, tick), "pid": pid, "tid": 0,
                       "args": {"used": used}}


def _at(trace: Trace, tick: int) -> int:
    """A tick in microseconds."""
    return round(tick * trace.scenario.config.tick_seconds * MICROSECONDS)
