"""A plain layout in pure Python: waves as columns. Serves where the Graphviz engine is missing.

Columns by longest path; inside a column, boxes are put near the middle of what they are joined to (the
barycentre method of Sugiyama, Tagawa and Toda, 1981). Same ids and classes as ``graph``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .drawing import Drawing, Layout, Point, Sized, draw

GAP_X, GAP_Y = 44.0, 14.0
SWEEPS = 6
DUMMIES = 3000
"""Up to so many bends are placed for edges that pass over columns; above, edges go straight."""


def render(dag: Any, *, prefix: str, **options: Any) -> Drawing:
    """Draw a Dag without Graphviz. Parameters, result and errors as in ``graph.render``."""
    return draw(dag, layout, prefix=prefix, **options)


def layout(sized: Sequence[Sized], edges: Sequence[tuple[int, int]]) -> Layout:
    """Columns from left to right, every column centred."""
    column = _columns(len(sized), edges)
    widths = [max((s.width for s, c in zip(sized, column, strict=True) if c == k), default=0.0)
              for k in range(max(column, default=-1) + 1)]
    heights = [s.height for s in sized]
    chains = _chains(column, edges, heights)
    rows = _order(column, chains)
    y = _stack(rows, heights)
    lefts = [0.0]
    for width in widths:
        lefts.append(lefts[-1] + width + GAP_X)
    middle = [left + width / 2 for left, width in zip(lefts, widths, strict=False)]
    centres = [(middle[column[k]], y[k]) for k in range(len(sized))]
    curves = [_curve(chain, sized, column, centres, y, lefts, widths) for chain in chains]
    tall = max((y[k] + heights[k] / 2 for row in rows for k in row), default=20.0)
    return Layout(max(lefts[-1] - GAP_X, 60.0), tall, centres, curves, "layered")


def _columns(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    down: list[list[int]] = [[] for _ in range(count)]
    waiting, column = [0] * count, [0] * count
    for a, b in edges:
        down[a].append(b)
        waiting[b] += 1
    ready = [k for k in range(count) if not waiting[k]]
    for a in ready:
        for b in down[a]:
            column[b] = max(column[b], column[a] + 1)
            waiting[b] -= 1
            if not waiting[b]:
                ready.append(b)
    return column


def _chains(column: list[int], edges: Sequence[tuple[int, int]], heights: list[float]) -> list[list[int]]:
    """Each edge as a chain of places, one per column it passes; new thin places are appended to the lists."""
    passed = sum(column[b] - column[a] - 1 for a, b in edges)
    chains = []
    for a, b in edges:
        between = range(column[a] + 1, column[b]) if passed <= DUMMIES else range(0)
        chain = [a]
        for k in between:
            chain.append(len(column))
            column.append(k)
            heights.append(6.0)
        chains.append([*chain, b])
    return chains


def _order(column: Sequence[int], chains: Sequence[Sequence[int]]) -> list[list[int]]:
    """Places by column, each near the middle of its neighbours in the column before, then after."""
    rows: list[list[int]] = [[] for _ in range(max(column, default=-1) + 1)]
    for place, k in enumerate(column):
        rows[k].append(place)
    near: dict[tuple[int, int], list[int]] = {}
    for chain in chains:
        for a, b in zip(chain, chain[1:], strict=False):
            near.setdefault((b, -1), []).append(a)
            near.setdefault((a, 1), []).append(b)
    for sweep in range(SWEEPS):
        side = -1 if sweep % 2 == 0 else 1
        rank = {p: (i + 0.5) / len(row) for row in rows for i, p in enumerate(row)}
        for row in rows[1:] if side < 0 else reversed(rows[:-1]):
            def middle(p: int, side: int = side, rank: dict[int, float] = rank) -> float:
                joined = near.get((p, side))
                return sum(rank[q] for q in joined) / len(joined) if joined else rank[p]
            row.sort(key=lambda p: (round(middle(p), 9), p))
            rank.update({p: (i + 0.5) / len(row) for i, p in enumerate(row)})
    return rows


def _stack(rows: Sequence[Sequence[int]], heights: Sequence[float]) -> dict[int, float]:
    tall = [sum(heights[p] for p in row) + GAP_Y * (len(row) - 1) for row in rows]
    y: dict[int, float] = {}
    for row, size in zip(rows, tall, strict=True):
        top = (max(tall) - size) / 2
        for place in row:
            y[place] = top + heights[place] / 2
            top += heights[place] + GAP_Y
    return y


def _curve(
    chain: Sequence[int], sized: Sequence[Sized], column: Sequence[int], centres: Sequence[Point],
    y: Mapping[int, float], lefts: Sequence[float], widths: Sequence[float],
) -> list[Point]:
    """From the right side of the first box to the left side of the last, level across the columns passed."""
    first, last = chain[0], chain[-1]
    at: Point = (centres[first][0] + sized[first].width / 2, y[first])
    points = [at]
    for place in chain[1:]:
        left = lefts[column[place]]
        to = (centres[last][0] - sized[last].width / 2, y[last]) if place == last else (left, y[place])
        points += bend(at, to)
        at = to
        if place != last:
            at = (left + widths[column[place]], y[place])
            points += bend(to, at)
    return points


def bend(a: Point, b: Point) -> list[Point]:
    """The rest of a curve from a to b that leaves and arrives level."""
    middle = (a[0] + b[0]) / 2
    return [(middle, a[1]), (middle, b[1]), b]
