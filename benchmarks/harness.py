"""How everything here is timed: in turns, in one process, answers compared before.

A *cell* is one goal in one case: how many times faster than a named peer (or how much of a budget is used). Seconds
are CPU time, so that a busy machine disturbs less; each call is timed several times in turns with its peers, the
median counts, and a cell whose times spread by more than 30 % of the median is measured again, at most twice.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

SPREAD = 0.3


@dataclass(frozen=True)
class Cell:
    """One figure beside its goal.

    value: for unit "x" how many times faster than ``peer``, for "k/s" thousands a second: more is better. For any
    other unit an amount, which is to stay under the goal. A goal of None: the figure is told, no goal was set.
    spread: (slowest - fastest) / median of the times behind it, the larger of the two sides.
    """

    what: str
    case: str
    peer: str
    value: float
    goal: float | None
    unit: str = "x"
    spread: float = 0.0

    @property
    def met(self) -> bool | None:
        if self.goal is None:
            return None
        return self.value >= self.goal if self.upwards else self.value <= self.goal

    @property
    def upwards(self) -> bool:
        """Whether more is better."""
        return self.unit in ("x", "k/s")

    def __str__(self) -> str:
        goal = f"{'>=' if self.upwards else '<='} {self.goal:<7,.4g}" if self.goal is not None else " " * 10
        return (f"{self.what:<44}{self.case:<36}{self.peer:<24}{self.value:>10,.3g} {self.unit:<6}{goal}"
                f"{ {True: 'met', False: 'missed', None: 'told'}[self.met]:<8}spread {self.spread:.0%}")

    def to_json(self) -> dict[str, Any]:
        kept = replace(self, value=float(f"{self.value:.3g}"), spread=round(self.spread, 2))
        return {**asdict(kept), "met": kept.met}


class Fresh:
    """A call that is given something new each time, made outside the clock."""

    def __init__(self, make: Callable[[], Any], use: Callable[[Any], Any]):
        self.make, self.use, self.given = make, use, None

    def __call__(self) -> Any:
        return self.use(self.given)


def seconds(call: Callable[[], Any]) -> float:
    if isinstance(call, Fresh):
        call.given = call.make()
    gc.collect()
    gc.disable()
    begin = time.process_time()
    call()
    took = time.process_time() - begin
    gc.enable()
    return took


def spread(times: list[float]) -> float:
    return (max(times) - min(times)) / max(statistics.median(times), 1e-9)


def in_turns(calls: dict[str, Callable[[], Any]], rounds: int = 5) -> dict[str, list[float]]:
    """The times of each call, taken in turns so that a slow moment hits all; the calmest of up to three attempts."""
    best: dict[str, list[float]] = {}
    for _ in range(3 if rounds > 1 else 1):
        taken: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(rounds):
            for name, call in calls.items():
                taken[name].append(seconds(call))
        if not best or max(map(spread, taken.values())) < max(map(spread, best.values())):
            best = taken
        if max(map(spread, best.values())) <= SPREAD:
            break
    return best


def beside(what: str, case: str, ours: Callable[[], Any], peers: dict[str, tuple[Callable[[], Any], float | None]],
           rounds: int = 5) -> list[Cell]:
    """A cell for each peer; peers are given as name -> (call, goal)."""
    taken = in_turns({"dagkit": ours, **{name: call for name, (call, _) in peers.items()}}, rounds)
    mine = statistics.median(taken["dagkit"])
    return [Cell(what, case, name, statistics.median(taken[name]) / max(mine, 1e-9), goal,
                 spread=max(spread(taken["dagkit"]), spread(taken[name]))) for name, (_, goal) in peers.items()]


def amount(what: str, case: str, call: Callable[[], Any], goal: float | None, *, unit: str = "s", rounds: int = 5,
           scale: float = 1) -> Cell:
    """A cell for our own time against a budget."""
    taken = in_turns({"dagkit": call}, rounds)["dagkit"]
    return Cell(what, case, "budget", statistics.median(taken) * scale, goal, unit, spread(taken))


def show(cells: Iterable[Cell]) -> list[Cell]:
    """Print each cell as it comes; an interrupt ends the list, and what was measured stays."""
    found: list[Cell] = []
    try:
        for cell in cells:
            print(cell, flush=True)
            found.append(cell)
    except KeyboardInterrupt:
        print("stopped")
        raise SystemExit(130) from None
    return found
