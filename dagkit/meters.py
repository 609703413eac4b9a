"""How full each pool and cap is over time, counted from the events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .engine.limits import LimitName
from .errors import shown
from .usage import held, needs

if TYPE_CHECKING:
    from .trace import Trace


@dataclass(frozen=True)
class Meter:
    """One pool or cap over time. size: its places, None for unlimited. used: (tick, places in use) at each change."""

    name: str
    kind: str
    size: int | None
    used: list[tuple[int, int]]


def meters(trace: Trace) -> list[Meter]:
    """Usage over time of each limit that some TI could meet, from the events."""
    caps: dict[LimitName, float] = {}
    for ti in range(len(trace._task_of)):
        for need in needs(trace, ti):
            caps.setdefault(need.limit, need.cap)
    used = dict.fromkeys(caps, 0)
    series: dict[LimitName, list[tuple[int, int]]] = {limit: [(0, 0)] for limit in caps}
    for tick, ti, old, new in zip(trace._event_tick.tolist(), trace._event_ti, trace._event_old, trace._event_new,
                                  strict=True):
        for need in needs(trace, ti):
            change = held(need, new) - held(need, old)
            if change:
                used[need.limit] += change
                line = series[need.limit]
                if line[-1][0] == tick:
                    line[-1] = (tick, used[need.limit])
                else:
                    line.append((tick, used[need.limit]))
    return [Meter(meter_name(limit), limit.kind, None if caps[limit] == float("inf") else int(caps[limit]),
                  [line[0], *(b for a, b in zip(line, line[1:], strict=False) if a[1] != b[1])])
            for limit, line in series.items()]


def meter_name(limit: LimitName) -> str:
    run = "" if limit.run is None else f"@{limit.run}"
    return f"{limit.kind} {shown(limit.name)}{run}".strip() if limit.kind != "executor" else shown(limit.name)
