"""Durations as exact integers, and what planning accepts."""

from __future__ import annotations

import math
from decimal import Decimal
from numbers import Integral
from typing import Any
from weakref import WeakKeyDictionary

from ..checks import HUGE, plain
from ..dag import Dag
from ..errors import DagkitError, quoted, shown
from ..graph import Graph, Numbered

Number = int | float


class Times:
    """The durations as exact integers, and the way back.

    Whole durations are kept as they are (scale None). Floats are read as the decimals they print as, and one
    common denominator, scale, makes them integers: so sums, ties and slack have no rounding error.
    exact: in declared order. by_number: in the order of the numbered graph, once that is asked for.
    """

    def __init__(self, dag: Dag):
        self.exact: list[Any] = [task.duration for task in dag]
        self.scale: int | None = None
        if not {*map(type, self.exact)} <= {int}:
            self.exact, self.scale = _common_denominator(self.exact)
        self.work: int = sum(self.exact)
        self.by_number: list[int] = []
        try:
            self.shown(self.work)
        except OverflowError:
            raise DagkitError(f"Dag '{shown(dag.dag_id)}': its durations add up to more than a float can "
                              "hold (about 1.8e308). Choose a larger unit, or whole numbers.") from None

    @property
    def whole(self) -> bool:
        return self.scale is None

    def shown(self, exact: int) -> Number:
        """An exact sum in the unit of the durations."""
        return exact if self.scale is None else exact / self.scale

    def all_shown(self, exact: list[int]) -> list[Number]:
        return [*exact] if self.scale is None else [each / self.scale for each in exact]

    def shared(self, exact: int, slots: int, *, up: bool) -> Number:
        """exact / slots; where a float is too coarse for the fraction, the whole number on the safe side."""
        if self.scale is not None:
            return exact / (self.scale * slots)
        whole, rest = divmod(exact, slots)
        if rest and whole < 2**52:
            return exact / slots
        return whole + (up and rest > 0)


def _common_denominator(given: list[Any]) -> tuple[list[int], int | None]:
    """The durations as integers over one denominator; None if all were whole after all."""
    # numpy has scalars of its own
    plain: list[Any] = [int(d) if isinstance(d, Integral) else float(d) for d in given]
    if {*map(type, plain)} <= {int}:
        return plain, None
    ratio = {d: (d, 1) if type(d) is int else Decimal(repr(d)).as_integer_ratio() for d in plain}
    scale = math.lcm(*{below for _, below in ratio.values()})
    return [ratio[d][0] * (scale // ratio[d][1]) for d in plain], scale


def graph_of(dag: Any) -> Graph:
    if not isinstance(dag, Dag):
        raise DagkitError(f"planning needs a Dag, not {type(dag).__name__}. Give it a dk.Dag "
                          "(of a Scenario: its .dag).")
    return dag.graph


def times_of(dag: Any) -> Times:
    """The durations. Kept as long as the graph: of a built Dag nothing changes."""
    graph = graph_of(dag)
    if graph not in _kept:
        _kept[graph] = Times(dag)
    return _kept[graph]


def timed(dag: Any) -> tuple[Numbered, Times]:
    """The graph in its own order, and the durations in that order too."""
    graph, times = graph_of(dag).numbered, times_of(dag)
    if not times.by_number:
        times.by_number = list(map(times.exact.__getitem__, graph.declared))
    return graph, times


_kept: WeakKeyDictionary[Graph, Times] = WeakKeyDictionary()


def at_least_one(what: str, value: Any, most: int = HUGE) -> int:
    """A count as Python's own int; most: how many there may be where each is made."""
    found = plain(value)
    if type(found) is not int or found < 1:
        raise DagkitError(f"{what} must be a whole number >= 1, not {quoted(value)}. Give at least 1.")
    if found > most:
        raise DagkitError(f"{what} must be at most {most}, not {quoted(value)}. Give a smaller number.")
    return found
