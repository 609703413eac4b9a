"""How everything here is timed: in turns, in one process, answers compared before.

A *cell* is one goal in one case: how many times faster than a named peer (or how much of a budget is used). Seconds
are CPU time, so that a busy machine disturbs less. Each call is timed several times in turns with its peers, short
ones many times within one reading of the clock; the median counts. Calls whose times spread by more than 30 % are
measured again, at most twice, and the calmest attempt counts.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

SPREAD = 0.3
SHORT = 0.01
"""Seconds: a shorter call is repeated until its readings of the clock are about this far apart."""
FRESH = 10
"""Not more often than this, if each time something new has to be made for it."""


@dataclass(frozen=True)
class Cell:
    """One figure beside its goal.

    value: for unit "x" how many times faster than ``peer``, for "k/s" thousands a second: more is better. For any
    other unit an amount, which is to stay under the goal. A goal of None: the figure is told, no goal was set.
    spread: of the times behind it, see ``spread``; the larger of the two sides. None: measured once, or counted.
    """

    what: str
    case: str
    peer: str
    value: float
    goal: float | None
    unit: str = "x"
    spread: float | None = None

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
        wide = "once" if self.spread is None else f"spread {self.spread:.0%}"
        return (f"{self.what:<44}{self.case:<36}{self.peer:<24}{self.value:>10,.3g} {self.unit:<6}{goal}"
                f"{ {True: 'met', False: 'missed', None: 'told'}[self.met]:<8}{wide}")

    def to_json(self) -> dict[str, Any]:
        wide = self.spread if self.spread is None else round(self.spread, 2)
        kept = replace(self, value=float(f"{self.value:.3g}"), spread=wide)
        return {**asdict(kept), "met": kept.met}


class Fresh:
    """A call that is given something new each time, made outside the clock."""

    def __init__(self, make: Callable[[], Any], use: Callable[[Any], Any]):
        self.make, self.use = make, use


def reading(call: Callable[[], Any] | Fresh, times: int = 1) -> tuple[float, Any]:
    """CPU seconds of one call, as the mean of so many in a row, and what the last one answered."""
    fresh = isinstance(call, Fresh)
    given = [call.make() for _ in range(times)] if fresh else [()] * times
    answer = None
    gc.collect()
    by_itself = gc.isenabled()
    gc.disable()
    begin = time.process_time()
    if fresh:
        for each in given:
            answer = call.use(each)
    else:
        for _ in given:
            answer = call()
    took = time.process_time() - begin
    if by_itself:
        gc.enable()
    return took / times, answer


def seconds(call: Callable[[], Any] | Fresh, times: int = 1) -> float:
    return reading(call, times)[0]


def repeats(call: Callable[[], Any] | Fresh, took: float) -> int:
    """How many calls make a reading of the clock that can be trusted."""
    enough = max(1, int(SHORT / max(took, 1e-9)))
    return min(enough, FRESH) if isinstance(call, Fresh) else enough


def spread(times: list[float]) -> float | None:
    """The distance between the quartiles as a share of the median: a single slow moment does not count."""
    if len(times) < 2:
        return None
    low, middle, high = statistics.quantiles(times, n=4, method="inclusive")
    return (high - low) / max(middle, 1e-9)


class Taken(dict[str, list[float]]):
    """The times of each call, by its name."""

    def median(self, name: str) -> float:
        return max(statistics.median(self[name]), 1e-9)

    def spread(self, *names: str) -> float | None:
        """The largest among these; of all if none is named."""
        found = [wide for name in names or self if (wide := spread(self[name])) is not None]
        return max(found, default=None)

    def beside(self, what: str, case: str, name: str, peer: str, goal: float | None) -> Cell:
        return Cell(what, case, peer, self.median(peer) / self.median(name), goal, spread=self.spread(name, peer))


def in_turns(calls: dict[str, Callable[[], Any] | Fresh], rounds: int = 5,
             same: Callable[[Any], Any] | None = None) -> Taken:
    """Take each call's time so many times, in turns, so that a slow moment hits all.

    Each is called once before: that warms it up, says how often it has to be repeated, and gives its answer. same:
    what of an answer must agree with all others; AssertionError if it does not.
    """
    gc.collect()
    gc.freeze()                                            # what is there now is not looked through again and again
    first: dict[str, float] = {}
    agreed = None
    for name, call in calls.items():
        first[name], answer = reading(call)
        if same:
            told = same(answer)
            agreed = told if agreed is None else agreed
            assert told == agreed, f"{name} answers something else"
            del answer, told
    times = {name: repeats(call, first[name]) for name, call in calls.items()}
    attempts: list[Taken] = []
    while not attempts or len(attempts) < 3 and (attempts[-1].spread() or 0) > SPREAD:
        counts = not attempts                              # the first reading of a long call is one of the first attempt
        taken = Taken({name: [first[name]] if counts and (times[name] == 1 or rounds == 1) else [] for name in calls})
        for turn in range(rounds):
            for name, call in calls.items():
                if len(taken[name]) <= turn:
                    taken[name].append(seconds(call, times[name]))
        attempts.append(taken)
    gc.unfreeze()
    return min(attempts, key=lambda taken: taken.spread() or 0)


def beside(case: str, ours: dict[str, Callable[[], Any] | Fresh],
           peers: dict[str, tuple[Callable[[], Any] | Fresh, float | None]], rounds: int = 5,
           same: Callable[[Any], Any] | None = None) -> Iterator[Cell]:
    """A cell for each of ours beside each peer. ours: what -> call; peers: name -> (call, goal); same: see in_turns."""
    taken = in_turns({**ours, **{name: call for name, (call, _) in peers.items()}}, rounds, same)
    for what in ours:
        for name, (_, goal) in peers.items():
            yield taken.beside(what, case, what, name, goal)


def amount(what: str, case: str, call: Callable[[], Any], goal: float | None, *, unit: str = "s", rounds: int = 5,
           scale: float = 1) -> Cell:
    """A cell for our own time against a budget."""
    taken = in_turns({what: call}, rounds)
    return Cell(what, case, "budget", taken.median(what) * scale, goal, unit, taken.spread())


def tell(what: str) -> None:
    """Say what is being done, where the next cells are some seconds away."""
    print(f"... {what}", file=sys.stderr, flush=True)


def show(cells: Iterable[Cell]) -> list[Cell]:
    """Print each cell as it comes; an interrupt ends the list, and what was measured stays.

    Garbage is collected before each reading of the clock, and not while graphs of a million nodes are being built.
    """
    found: list[Cell] = []
    gc.disable()
    try:
        for cell in cells:
            print(cell, flush=True)
            found.append(cell)
    except KeyboardInterrupt:
        print("stopped")
        raise SystemExit(130) from None
    finally:
        gc.enable()
    return found
