"""The engine's layout read from top to bottom in task order, as the rows of the charts below it are.

Two things that change no crossing: boxes that are joined to the same others change places, and the whole picture is
mirrored if that puts more boxes in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .drawing import Layout, Point, Sized


def downwards(layout: Layout, sized: Sequence[Sized], edges: Sequence[tuple[int, int]]) -> Layout:
    """The layout with the first tasks on top, wherever no line says otherwise."""
    either = [_twins_sorted(one, sized, edges) for one in (layout, _mirrored(layout))]
    return min(either, key=lambda one: _against(one, sized))


def _columns(layout: Layout, sized: Sequence[Sized]) -> list[list[int]]:
    """The boxes of each wave from top to bottom."""
    columns: dict[int, list[int]] = {}
    for k in sorted(range(len(sized)), key=lambda k: (layout.centres[k][1], k)):
        columns.setdefault(sized[k].box.wave, []).append(k)
    return list(columns.values())


def _against(layout: Layout, sized: Sequence[Sized]) -> int:
    """How many boxes stand right below one that comes after them in task order."""
    return sum(b < a for column in _columns(layout, sized) for a, b in pairwise(column))


def _mirrored(layout: Layout) -> Layout:
    def turn(p: Point) -> Point:
        return p[0], layout.height - p[1]
    return layout._replace(centres=[*map(turn, layout.centres)], curves=[[*map(turn, c)] for c in layout.curves])


def _twins_sorted(layout: Layout, sized: Sequence[Sized], edges: Sequence[tuple[int, int]]) -> Layout:
    """Boxes of one wave with the same neighbours take their places in task order, and their curves with them.

    A curve over more than one column begins and ends where the engine saw the box, so there the widths count too.
    """
    before: list[list[int]] = [[] for _ in sized]
    after: list[list[int]] = [[] for _ in sized]
    for a, b in edges:
        before[b].append(a)
        after[a].append(b)
    twins: dict[object, list[int]] = {}
    for k, one in enumerate(sized):
        near = all(abs(sized[j].box.wave - one.box.wave) == 1 for j in (*before[k], *after[k]))
        alike = (one.box.wave, round(layout.centres[k][0]), one.height, near or one.width,
                 tuple(sorted(before[k])), tuple(sorted(after[k])))
        twins.setdefault(alike, []).append(k)
    place = list(range(len(sized)))                            # whose place each box takes
    for group in twins.values():
        for k, there in zip(group, sorted(group, key=lambda k: (layout.centres[k][1], k)), strict=True):
            place[k] = there
    curve = dict(zip(edges, layout.curves, strict=True))
    return layout._replace(centres=[layout.centres[place[k]] for k in range(len(sized))],
                           curves=[curve[place[a], place[b]] for a, b in edges])
