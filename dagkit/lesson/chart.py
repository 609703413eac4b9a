"""Charts: maps whose arrows may lead back, so each box has a given place instead of a wave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .. import states
from ..views.drawing import style
from ..views.picture import content_prefix, el, num, svg_root
from .maps import Edge, Map, Node
from .page import esc

WIDTH, HEIGHT = 148.0, 46.0
STEP_X, STEP_Y = 200.0, 84.0
MARGIN = 8.0
CORNERS = {"right": (1.0, 0.5), "left": (0.0, 0.5), "top": (0.5, 0.0), "bottom": (0.5, 1.0)}
OUT = {"right": (1.0, 0.0), "left": (-1.0, 0.0), "top": (0.0, -1.0), "bottom": (0.0, 1.0)}
Point = tuple[float, float]


@dataclass(frozen=True)
class Chart(Map):
    """A map with places. ``places``: (column, row) by node name, fractions allowed. ``sides``: for an arrow, the
    sides it leaves and enters by and how far it swings out; without it they follow from the places. ``shades``:
    the state a node stands for, which colours it.

    >>> parts = Node("a", "", "w"), Node("b", "", "w")
    >>> back = [Edge("a", "b", "go", "e", "x"), Edge("b", "a", "back", "e", "x")]
    >>> Chart("c", parts, back, places={"a": (0, 0), "b": (1, 0)}, sides={}, shades={}).svg().count("dk-edge\\"")
    2
    """

    places: Mapping[str, tuple[float, float]]
    sides: Mapping[tuple[str, str], tuple[str, str, float]]
    shades: Mapping[str, str]

    def svg(self) -> str:
        prefix = content_prefix("chart", self.title, [*map(repr, self.nodes)], sorted(self.places.items()))
        ids = {node.name: f"{prefix}n{k}" for k, node in enumerate(self.nodes)}
        body = [self._arrow(edge, f"{prefix}e{k}", ids) for k, edge in enumerate(self.edges)]
        body += [self._box(node, ids[node.name]) for node in self.nodes]
        columns, rows = zip(*self.places.values(), strict=True)
        width = max(columns) * STEP_X + WIDTH + 2 * MARGIN
        height = max(rows) * STEP_Y + HEIGHT + 2 * MARGIN
        return svg_root(prefix, width, height, self.title, style(f"{prefix}svg"), body)

    def _corner(self, name: str) -> Point:
        column, row = self.places[name]
        return MARGIN + column * STEP_X, MARGIN + row * STEP_Y

    def _box(self, node: Node, id_: str) -> str:
        x, y = self._corner(node.name)
        shade = states.TABLE[states.code(self.shades[node.name])] if node.name in self.shades else None
        look = f"--dk-fill:{shade.fill};--dk-ink:{shade.ink};--dk-solid:1" if shade else ""
        parts = [el("title", esc(node.name)),
                 el("rect", cls="dk-box", x=x, y=y, width=WIDTH, height=HEIGHT, rx=7),
                 el("text", esc(node.name), cls="dk-label", x=x + 10, y=y + 19),
                 el("text", esc(node.does), cls="dk-small", x=x + 10, y=y + 36)]
        return el("g", *parts, cls="dk-node", id=id_, **({"style": look} if look else {}))

    def _arrow(self, edge: Edge, id_: str, ids: Mapping[str, str]) -> str:
        leaves, enters, swing = self.sides.get((edge.start, edge.end)) or self._usual(edge)
        start, end = self._port(edge.start, leaves), self._port(edge.end, enters)
        (dx, dy), (ex, ey) = OUT[leaves], OUT[enters]
        reach = swing or max(abs(end[0] - start[0]), abs(end[1] - start[1])) / 2.2
        bends = (start[0] + dx * reach, start[1] + dy * reach), (end[0] + ex * reach, end[1] + ey * reach)
        return el("path", cls="dk-edge", id=id_, data_from=ids[edge.start], data_to=ids[edge.end],
                  d=f"M{_at(start)} C{' '.join(map(_at, (*bends, end)))} {_head(end, (-ex, -ey))}")

    def _usual(self, edge: Edge) -> tuple[str, str, float]:
        (a, b), (c, d) = self.places[edge.start], self.places[edge.end]
        if a == c:
            return ("bottom", "top", 0) if b < d else ("top", "bottom", 0)
        return ("right", "left", 0) if a < c else ("left", "right", 0)

    def _port(self, name: str, side: str) -> Point:
        (x, y), (fx, fy) = self._corner(name), CORNERS[side]
        return x + fx * WIDTH, y + fy * HEIGHT


def _at(point: Point) -> str:
    return f"{num(point[0])} {num(point[1])}"


def _head(tip: Point, way: Point) -> str:
    """An open arrow head, drawn in full: a shared marker would have to be referred to by URL."""
    (x, y), (ux, uy) = tip, (way[0] * 7, way[1] * 7)
    wings: Sequence[Point] = ((x - ux - uy * 0.6, y - uy + ux * 0.6), (x - ux + uy * 0.6, y - uy - ux * 0.6))
    return f"M{_at(wings[0])} L{_at(tip)} L{_at(wings[1])}"
