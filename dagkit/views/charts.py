"""Small step charts: makespan against slots, usage over time. SVG text, no plotting library."""

from __future__ import annotations

from collections.abc import Sequence

from .gantt import ticks
from .picture import FONT, esc, num, plain, svg_root

WIDE, TALL = 520, 220
LEFT, RIGHT, TOP, BOTTOM = 56, 24, 26, 44
STROKES = ("none", "7 4", "2 3", "9 3 2 3")
"""Lines differ by dashes, not by colour alone."""
INKS = ("#1f7ae0", "#c2571a", "#0b8f6a", "#a2489a")
Points = Sequence[tuple[float, float]]


def staircase(points: Points, *, prefix: str, floor: float | None = None, knee: float | None = None,
              title: str = "Makespan against slots", x_label: str = "slots", y_label: str = "makespan") -> str:
    """Makespan against slots as steps, with the floor no number of slots can pass and the knee that reaches it.

    points: (slots, makespan), slots rising. floor: the critical path's length. knee: the saturation point.

    >>> "floor" in staircase([(1, 26), (2, 16)], floor=7, knee=7, prefix="s-")
    True
    """
    plot = Plot(points, extra_x=knee, extra_y=floor)
    body = plot.axes(x_label, y_label)
    if floor is not None:
        y = num(plot.y(floor))
        body.append(f'<path class="dk-floor" d="M{LEFT} {y} H{LEFT + WIDE}"/>'
                    f'<text class="dk-say" x="{LEFT + 6}" y="{num(plot.y(floor) - 6)}">'
                    f"floor {floor:.6g}: the critical path</text>")
    body.append(f'<path class="dk-line" stroke="{INKS[0]}" d="{plot.steps(points)}"/>')
    body += [f'<circle class="dk-dot" cx="{num(plot.x(x))}" cy="{num(plot.y(y))}" r="3.5" fill="{INKS[0]}">'
             f"<title>{x:.6g} slots: {y:.6g}</title></circle>" for x, y in points]
    body += [f'<text class="dk-value" x="{num(plot.x(x))}" y="{num(plot.y(y) - 9)}">{y:.6g}</text>'
             for k, (x, y) in enumerate(points) if len(points) <= 16 and (k == 0 or points[k - 1][1] != y)]
    if knee is not None:
        y = floor if floor is not None else dict(points).get(knee, 0)
        x = num(plot.x(knee))
        body.append(f'<path class="dk-knee" d="M{x} {num(plot.y(y))} V{TOP + TALL}"/>'
                    f'<circle class="dk-ring" cx="{x}" cy="{num(plot.y(y))}" r="8"/>'
                    f'<text class="dk-say dk-end" x="{x}" y="{num(plot.y(y) - 26)}">saturation: {knee:.6g} slots</text>')
    return svg_root(prefix, LEFT + WIDE + RIGHT, TOP + TALL + BOTTOM, title, style(f"{prefix}svg"), body)


def lines(*series: tuple[str, Points], prefix: str, title: str = "", x_label: str = "tick", y_label: str = "",
          limit: float | None = None) -> str:
    """One to four step lines over the same axes: ``("running", [(tick, n), ...])``. limit: a ceiling to draw.

    >>> "used" in lines(("used", [(0, 0), (2, 1)]), prefix="l-", limit=1)
    True
    """
    plot = Plot([p for _, points in series for p in points], extra_y=limit)
    body = plot.axes(x_label, y_label)
    if limit is not None:
        body.append(f'<path class="dk-floor" d="M{LEFT} {num(plot.y(limit))} H{LEFT + WIDE}"/>')
    for k, (name, points) in enumerate(series):
        ink, dash = INKS[k % 4], STROKES[k % 4]
        body.append(f'<path class="dk-line" stroke="{ink}" stroke-dasharray="{dash}" d="{plot.steps(points)}"/>'
                    f'<path class="dk-line" stroke="{ink}" stroke-dasharray="{dash}" d="M{LEFT + 130 * k} 12 h22"/>'
                    f'<text class="dk-say" x="{LEFT + 130 * k + 28}" y="16">{esc(plain(name, 14))}</text>')
    return svg_root(prefix, LEFT + WIDE + RIGHT, TOP + TALL + BOTTOM, title or "Over time", style(f"{prefix}svg"), body)


class Plot:
    """Maps values to pixels: x from the first to the last point, y from 0 to a little above the highest."""

    def __init__(self, points: Points, extra_x: float | None = None, extra_y: float | None = None):
        xs = [p[0] for p in points] + ([extra_x] if extra_x is not None else [])
        ys = [p[1] for p in points] + ([extra_y] if extra_y is not None else [])
        self.low, self.high = min(xs, default=0), max(xs, default=1)
        self.top = max([*ys, 0]) or 1

    def x(self, value: float) -> float:
        return LEFT + 12 + (WIDE - 24) * (value - self.low) / ((self.high - self.low) or 1)

    def y(self, value: float) -> float:
        return TOP + TALL - (TALL - 16) * value / self.top

    def steps(self, points: Points) -> str:
        """A path that keeps each value until the next point."""
        if not points:
            return ""
        (x, y), rest = points[0], points[1:]
        return f"M{num(self.x(x))} {num(self.y(y))}" + "".join(f" H{num(self.x(a))} V{num(self.y(b))}" for a, b in rest)

    def axes(self, x_label: str, y_label: str) -> list[str]:
        base = TOP + TALL
        found = [f'<path class="dk-grid" d="M{LEFT} {base} H{LEFT + WIDE}"/>']
        for y in ticks(self.top, 6):
            found.append(f'<path class="dk-grid" d="M{LEFT} {num(self.y(y))} H{LEFT + WIDE}"/>'
                         f'<text class="dk-axis dk-end" x="{LEFT - 8}" y="{num(self.y(y) + 4)}">{y:.6g}</text>')
        for x in ticks(self.high):
            if x >= self.low:
                found.append(f'<text class="dk-axis dk-mid" x="{num(self.x(x))}" y="{base + 17}">{x:.6g}</text>')
        found.append(f'<text class="dk-axis dk-mid" x="{LEFT + WIDE / 2:.0f}" y="{base + 36}">{esc(x_label)}</text>')
        found.append(f'<text class="dk-axis" x="2" y="14">{esc(y_label)}</text>' if y_label else "")
        return found


def style(root: str) -> str:
    """The look of a chart, inside the element ``root`` only."""
    return (
        f"#{root} text{{font:12px {FONT};fill:currentColor;white-space:pre}}#{root} .dk-axis{{font-size:11px;opacity:.75}}"
        f"#{root} .dk-mid,#{root} .dk-value{{text-anchor:middle}}#{root} .dk-end{{text-anchor:end}}"
        f"#{root} .dk-grid{{stroke:currentColor;stroke-opacity:.18}}#{root} .dk-line{{stroke-width:2.2;stroke-linejoin:round}}"
        f"#{root} .dk-value{{font-weight:700}}#{root} .dk-floor{{stroke:currentColor;stroke-width:1.5;stroke-dasharray:6 4}}"
        f"#{root} .dk-knee{{stroke:currentColor;stroke-dasharray:2 3}}#{root} .dk-ring{{stroke:currentColor;stroke-width:2}}"
    )
