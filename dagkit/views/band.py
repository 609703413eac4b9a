"""A band of curves over a logarithmic axis: how much longer pods take, for a range of pod starts."""

from __future__ import annotations

import math

from ..breakeven import BreakEven
from .picture import Picture, brief, content_prefix, el, esc, num, plain, svg_root, text_style

WIDE, TALL, LEFT, TOP, BELOW, RIGHT = 540, 230, 52, 30, 52, 24
HIGHEST = 10.0
"""Curves are cut at ten times as long."""
DASHES = ("none", "7 4", "2 3", "9 3 2 3")
TIMES = ((1, "1 s"), (5, "5 s"), (20, "20 s"), (60, "1 min"), (300, "5 min"), (1200, "20 min"), (3600, "1 h"))


def band(found: BreakEven) -> Picture:
    """The curves, the band they span, and for each the task length at which pods no longer lose.

    >>> from dagkit.breakeven import break_even
    >>> band(break_even({"quick": 2, "slow": 9}, lengths=(5, 500))).svg.count('class="dk-curve"')
    2
    """
    prefix = content_prefix("band", found.names, found.lengths, sorted(found.curves.items()), sorted(found.even.items()))
    edges = [[max(curve[k] for curve in found.curves.values()) for k in range(len(found.lengths))],
             [min(curve[k] for curve in found.curves.values()) for k in range(len(found.lengths))]]
    body = [*_axes(found), el("path", cls="dk-band", d=_outline(found, *edges)),
            el("path", cls="dk-limit", d=f"M{LEFT} {num(_y(found.worse))} h{WIDE}")]
    body += [part for k, name in enumerate(found.names) for part in _curve(found, k, name)]
    body += [part for name in found.names for part in _even(found, name)]
    svg = svg_root(prefix, LEFT + WIDE + RIGHT, TOP + TALL + BELOW, "How much longer pods take than standing workers",
                   _style(f"{prefix}svg"), body)
    return Picture(svg, rows(found), words(found))


def rows(found: BreakEven) -> list[dict[str, object]]:
    """The curves as a table, one row per length."""
    return [{"task length, s": length, **{name: round(found.curves[name][k], 2) for name in found.names}}
            for k, length in enumerate(found.lengths)]


def words(found: BreakEven) -> str:
    """Where pods stop losing, in words."""
    said = [f"{plain(name)}: {'not up to 8 h' if found.even[name] is None else time(found.even[name] or 0)}"
            for name in found.names]
    return (f"Pods take at most {brief(round(found.worse, 2))} times as long from this task length on: " + "; ".join(said)
            + ".")


def time(seconds: float) -> str:
    """Seconds in words.

    >>> time(19), time(206), time(5400)
    ('19 s', '3.4 min', '1.5 h')
    """
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{brief(round(seconds / size, 1))} {unit}"
    return f"{brief(seconds)} s"


def _x(found: BreakEven, length: float) -> float:
    low, high = math.log(found.lengths[0]), math.log(found.lengths[-1])
    return LEFT + WIDE * (math.log(length) - low) / ((high - low) or 1)


def _y(ratio: float) -> float:
    return TOP + TALL * (1 - math.log(min(ratio, HIGHEST)) / math.log(HIGHEST)) if ratio > 1 else TOP + TALL


def _axes(found: BreakEven) -> list[str]:
    body = [el("text", esc("times as long"), cls="dk-axis", x=2, y=14)]
    for ratio in (1, 2, 5, 10):
        y = _y(ratio)
        body += [el("path", cls="dk-grid", d=f"M{LEFT} {num(y)} h{WIDE}"),
                 el("text", f"{ratio} x", cls="dk-axis dk-right", x=LEFT - 8, y=y + 4)]
    body.append(el("text", f"{brief(round(found.worse, 2))} x", cls="dk-axis dk-right", x=LEFT - 8, y=_y(found.worse) - 3))
    for length, name in TIMES:
        if found.lengths[0] <= length <= found.lengths[-1]:
            body += [el("path", cls="dk-grid", d=f"M{num(_x(found, length))} {TOP} v{TALL}"),
                     el("text", name, cls="dk-axis dk-mid", x=_x(found, length), y=TOP + TALL + 17)]
    return [*body, el("text", "length of a task", cls="dk-axis", x=LEFT, y=TOP + TALL + 38)]


def _outline(found: BreakEven, upper: list[float], lower: list[float]) -> str:
    there = [f"{num(_x(found, length))} {num(_y(ratio))}" for length, ratio in zip(found.lengths, upper, strict=True)]
    back = [f"{num(_x(found, length))} {num(_y(ratio))}" for length, ratio in zip(found.lengths, lower, strict=True)]
    return f"M{' L'.join([*there, *reversed(back)])} Z"


def _curve(found: BreakEven, k: int, name: str) -> list[str]:
    points = [(_x(found, length), _y(ratio)) for length, ratio in zip(found.lengths, found.curves[name], strict=True)]
    line = "M" + " L".join(f"{num(x)} {num(y)}" for x, y in points)
    dash, top = DASHES[k % len(DASHES)], TOP + 14 + 20 * k
    return [el("path", cls="dk-curve", stroke_dasharray=dash, d=line),
            el("path", cls="dk-key-line", stroke_dasharray=dash, d=f"M{LEFT + WIDE - 178} {top - 4} h28"),
            el("text", esc(plain(name, 16)), cls="dk-say", x=LEFT + WIDE - 144, y=top)]


def _even(found: BreakEven, name: str) -> list[str]:
    """Where pods no longer lose, marked on the limit, above all curves."""
    length = found.even[name]
    if length is None or not found.lengths[0] <= length <= found.lengths[-1]:
        return []
    x = _x(found, length)
    told = el("title", esc(f"{plain(name)}: from {time(length)} on"))
    return [el("circle", told, cls="dk-even", cx=x, cy=_y(found.worse), r=5),
            el("text", time(length), cls="dk-say dk-mid dk-clear", x=x, y=_y(found.worse) - 10)]


def _style(root: str) -> str:
    return text_style(root) + (
        f"#{root} .dk-axis{{font-size:11px;opacity:.75}}#{root} .dk-mid{{text-anchor:middle}}"
        f"#{root} .dk-right{{text-anchor:end}}#{root} .dk-say{{font-size:11px;font-weight:600}}"
        # curves pass behind these words; the page's own colour around each letter keeps them apart
        f"#{root} .dk-clear{{stroke:var(--jp-layout-color0,var(--vscode-editor-background,Canvas));stroke-width:4;"
        "stroke-linejoin:round;paint-order:stroke}"
        f"#{root} .dk-grid{{stroke:currentColor;stroke-opacity:.14}}"
        f"#{root} .dk-band{{fill:#1f7ae0;fill-opacity:.16}}"
        f"#{root} :is(.dk-curve,.dk-key-line){{stroke:#1f7ae0;stroke-width:2.2}}"
        f"#{root} .dk-limit{{stroke:currentColor;stroke-width:1.5;stroke-dasharray:6 4}}"
        f"#{root} .dk-even{{fill:currentColor}}"
        f"@media (forced-colors:active){{#{root} .dk-band{{forced-color-adjust:none}}}}"
    )
