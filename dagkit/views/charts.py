"""Small step charts: makespan against slots, usage over time. SVG text, no plotting library."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .gantt import ticks
from .picture import CHAR, brief, el, esc, num, plain, svg_root, text_style

WIDE, TALL = 520, 200
LEFT, RIGHT, TOP, BOTTOM = 56, 24, 34, 44
BASE = TOP + TALL
NAMED = 16
"""Up to so many steps carry their value."""
RATIO = 40
"""Above so many slots, each doubling takes the same room."""
DASHES = ("none", "7 4", "2 3", "9 3 2 3")
"""Lines differ by dashes, not by colour alone."""
INKS = ("#1f7ae0", "#c2571a", "#0b8f6a", "#a2489a")
Points = Sequence[tuple[float, float]]


def staircase(
    points: Points, *, prefix: str, floor: float | None = None, knee: float | None = None,
    here: float | None = None, title: str = "Makespan against slots", x_label: str = "slots",
    y_label: str = "makespan",
) -> str:
    """Makespan against slots as steps, the floor no number of slots can pass, and the knee that reaches it.

    points: (slots, makespan), slots rising. floor: the critical path's length. knee: the saturation point.
    here: the number of slots asked about, if any.

    >>> "floor 7" in staircase([(1, 26), (2, 16)], floor=7, knee=7, prefix="s-")
    True
    """
    plot = Plot(points, extra_x=knee, extra_y=floor, by_ratio=max(p[0] for p in points) > RATIO)
    body = plot.axes(x_label, y_label)
    if floor is not None:
        body.append(el("path", cls="dk-floor", d=f"M{LEFT} {num(plot.y(floor))} H{LEFT + WIDE}"))
        body.append(_say(*_floor(plot, floor)))
    if knee is not None:
        body += _knee(plot, knee, floor if floor is not None else plot.at(points, knee))
    body.append(el("path", cls="dk-line", stroke=INKS[0], d=plot.steps(points)))
    body += _dots(plot, points, x_label, here)
    body += _values(plot, points, x_label, floor, knee, here)
    return svg_root(prefix, LEFT + WIDE + RIGHT, BASE + BOTTOM, title, style(f"{prefix}svg"), body)


def _dots(plot: Plot, points: Points, x_label: str, here: float | None) -> list[str]:
    """A dot for each number of slots, a square where it was asked about."""
    found = []
    for x, y in points:
        told = el("title", esc(f"{brief(x)} {x_label}: {brief(y)}"))
        found.append(el("circle", told, cx=plot.x(x), cy=plot.y(y), r=3.5, fill=INKS[0]))
        if x == here:
            found.append(el("rect", cls="dk-ring", x=plot.x(x) - 7, y=plot.y(y) - 7, width=14, height=14))
    return found


def _values(
    plot: Plot, points: Points, x_label: str, floor: float | None, knee: float | None, here: float | None,
) -> list[str]:
    """The values at the dots: where it was asked about, at saturation, the first; then changes that have room."""
    changes = [x for k, (x, y) in enumerate(points) if k == 0 or points[k - 1][1] != y]
    wanted = [here, knee, *changes[:1], *(changes if len(points) <= NAMED else ())]
    value = dict(points)
    taken = [] if floor is None else [_box(*_floor(plot, floor))]
    found = []
    for x in dict.fromkeys(x for x in wanted if x is not None and x in value):
        unit = x_label.removesuffix("s") if x == 1 else x_label
        said = f"{brief(value[x])} on {brief(x)} {unit}" if x == here else brief(value[x])
        left = min(plot.x(x) + 6, LEFT + WIDE + RIGHT - 2 - len(said) * CHAR)
        box = _box(left, plot.y(value[x]) - 10, said)
        if any(_overlap(box, other) for other in taken):
            continue
        taken.append(box)
        found.append(el("text", esc(said), cls="dk-value", x=left, y=plot.y(value[x]) - 10))
    return found


Box = tuple[float, float, float, float]


def _box(x: float, y: float, text: str) -> Box:
    """The room a text takes that starts at (x, y): left, top, right, bottom."""
    return x, y - 10, x + len(text) * CHAR + 3, y + 3


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _floor(plot: Plot, floor: float) -> tuple[float, float, str]:
    """Where the floor is named, and how."""
    y = plot.y(floor) + (15 if plot.y(floor) < BASE - 19 else -6)
    return LEFT + 26, y, f"floor {brief(floor)}: the critical path"


def _knee(plot: Plot, knee: float, height: float) -> list[str]:
    """Where the staircase meets the floor: a ring, and a line down to its name below the axis."""
    x, said = plot.x(knee), f"saturation: {brief(knee)}"
    room = len(said) * CHAR / 2
    return [el("path", cls="dk-knee", d=f"M{num(x)} {num(plot.y(height))} V{BASE + 4}"),
            el("circle", cls="dk-ring", cx=x, cy=plot.y(height), r=7),
            _say(min(max(x, LEFT + room), LEFT + WIDE - room), BASE + 35, said, " dk-mid")]


def _say(x: float, y: float, text: str, look: str = "") -> str:
    return el("text", esc(text), cls=f"dk-say{look}", x=x, y=y)


def lines(
    *series: tuple[str, Points], prefix: str, title: str = "", x_label: str = "tick", y_label: str = "",
    limit: float | None = None,
) -> str:
    """One to four step lines over the same axes. limit: a ceiling to draw.

    series: ``("running", [(tick, n), ...])``, ticks rising; each value holds until the next point.

    >>> "used" in lines(("used", [(0, 0), (2, 1)]), prefix="l-", limit=1)
    True
    """
    plot = Plot([p for _, points in series for p in points], extra_y=limit)
    body, right = plot.axes(x_label, y_label), float(RIGHT)
    if limit is not None:
        said = f"limit {brief(limit)}"
        right = max(right, len(said) * CHAR + 10)              # beside the plot, where no line can cross it
        body.append(el("path", cls="dk-floor", d=f"M{LEFT} {num(plot.y(limit))} H{LEFT + WIDE}"))
        body.append(_say(LEFT + WIDE + 6, plot.y(limit) + 4, said))
    for k, (name, points) in enumerate(series[:4]):
        left = LEFT + 60 + 115 * k
        for path in (plot.steps(points), f"M{left} 12 h22"):
            body.append(el("path", cls="dk-line", stroke=INKS[k], stroke_dasharray=DASHES[k], d=path))
        body.append(_say(left + 28, 16, plain(name, 11)))
    look = style(f"{prefix}svg")
    return svg_root(prefix, LEFT + WIDE + right, BASE + BOTTOM, title or "Over time", look, body)


class Plot:
    """Maps values to pixels: x from the first to the last point, y from 0 to the highest.

    by_ratio: every doubling of x takes the same room.
    """

    def __init__(self, points: Points, extra_x: float | None = None, extra_y: float | None = None,
                 by_ratio: bool = False):
        xs = [p[0] for p in points] + ([] if extra_x is None else [extra_x])
        ys = [p[1] for p in points] + ([] if extra_y is None else [extra_y])
        self.low, self.high = min(xs, default=0), max(xs, default=1)
        self.top = max([*ys, 0]) or 1
        self.by_ratio = by_ratio

    def x(self, value: float) -> float:
        """Pixels from the left."""
        low, high, at = ((math.log2(v) for v in (self.low, self.high, value)) if self.by_ratio
                         else (self.low, self.high, value))
        return LEFT + 14 + (WIDE - 28) * float((at - low) / ((high - low) or 1))

    def marks(self) -> list[float]:
        """Round numbers on the x axis."""
        if not self.by_ratio:
            return [tick for tick in ticks(self.high) if tick >= self.low]
        powers = [2 ** k for k in range(int(self.low).bit_length() - 1, int(self.high).bit_length())]
        return [p for p in powers[::-(-len(powers) // 12)] if p >= self.low]

    def y(self, value: float) -> float:
        """Pixels from the top."""
        return BASE - (TALL - 6) * float(value / self.top)

    def at(self, points: Points, x: float) -> float:
        """The value that holds at ``x``."""
        return max((p for p in points if p[0] <= x), default=(0.0, 0.0))[1]

    def steps(self, points: Points) -> str:
        """A path that keeps each value until the next point."""
        if not points:
            return ""
        (x, y), rest = points[0], points[1:]
        moves = "".join(f" H{num(self.x(a))} V{num(self.y(b))}" for a, b in rest)
        return f"M{num(self.x(x))} {num(self.y(y))}{moves}"

    def axes(self, x_label: str, y_label: str) -> list[str]:
        """Grid lines, round numbers and the names of the axes."""
        found = []
        for tick in ticks(self.top, 6):
            y = self.y(tick)
            found.append(el("path", cls="dk-grid", d=f"M{LEFT} {num(y)} H{LEFT + WIDE}"))
            found.append(el("text", brief(tick), cls="dk-axis dk-end", x=LEFT - 8, y=y + 4))
        for tick in self.marks():
            found.append(el("text", brief(tick), cls="dk-axis dk-mid", x=self.x(tick), y=BASE + 17))
        found.append(el("text", esc(x_label), cls="dk-axis", x=2, y=BASE + 17))
        return [*found, el("text", esc(y_label), cls="dk-axis", x=2, y=16)]


def style(root: str) -> str:
    """The look of a chart, inside the element ``root`` only."""
    return text_style(root) + (
        f"#{root} .dk-axis{{font-size:11px;opacity:.75}}#{root} .dk-mid{{text-anchor:middle}}"
        f"#{root} .dk-end{{text-anchor:end}}#{root} .dk-value{{font-weight:700}}"
        f"#{root} .dk-grid{{stroke:currentColor;stroke-opacity:.16}}"
        f"#{root} .dk-line{{stroke-width:2.2;stroke-linejoin:round}}"
        f"#{root} .dk-floor{{stroke:currentColor;stroke-width:1.5;stroke-dasharray:6 4}}"
        f"#{root} .dk-knee{{stroke:currentColor;stroke-dasharray:2 3}}"
        f"#{root} .dk-ring{{stroke:currentColor;stroke-width:2}}"
    )
