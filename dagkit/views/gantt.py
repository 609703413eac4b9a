"""Bars over time: a row per task or slot, the states it passed through as segments.

Waiting is a thin bar, work a full one; a state is told by height, letter and border as well as by colour.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import states
from ..errors import DagkitError
from .picture import CHAR, FONT, cells, esc, num, plain, state_style, svg_root

ROWS = 60
"""Rows drawn; the rest is counted in a line below."""
TICKS = 12
"""Marks on the axis, at most."""
ROW, BAR, HEAD, PLOT = 24, 17, 26, 560
WORK = frozenset({"running", "restarting"})
"""Drawn at full height: something is being done. A finished state is a thin line after its letter."""
_FINISHED = frozenset(states.NAMES[code] for code in states.FINISHED)
Segment = tuple[float, float, str]
"""(start, end, what): a state name, or any other text (a task) that is written into a plain bar."""


def svg(rows: Sequence[tuple[str, Sequence[Segment]]], *, prefix: str, last_tick: float, now: float | None = None,
        title: str = "", width: int = PLOT, unit: str = "tick") -> str:
    """The chart as SVG text.

    rows: (label, [(start, end, state), ...]) from top to bottom; anything that is no state name is taken for
    the name of a task and drawn as work. last_tick: the end of the axis, in the segments' unit.
    now: where to draw the line of the current tick, or None. width: of the plot, in pixels.

    Raises DagkitError if a segment ends before it starts.

    >>> "<svg" in svg([("load", [(0, 2, "none"), (2, 5, "running")])], prefix="g-", last_tick=5, title="one task")
    True
    """
    shown = rows[:ROWS]
    left = max([cells(plain(label, 30)) for label, _ in shown], default=4) * CHAR + 16
    end = max(last_tick, 1e-9)
    scale = width / end
    bottom = HEAD + ROW * len(shown)
    body = _axis(left, bottom, end, scale, unit)
    for k, (label, segments) in enumerate(shown):
        body += _row(label, segments, left, HEAD + ROW * k, scale)
    if now is not None:
        x = num(left + min(max(now, 0), end) * scale)
        body.append(f'<path class="dk-now" d="M{x} {HEAD - 8} V{num(bottom)}"/>')
    rest = len(rows) - len(shown)
    if rest > 0:
        body.append(f'<text class="dk-axis" x="0" y="{bottom + 18}">and {rest:,} more rows, see the table</text>')
    height = bottom + (26 if rest > 0 else 6)
    return svg_root(prefix, left + width + 16, height, title or "Tasks over time", style(f"{prefix}svg"), body)


def ticks(end: float, most: int = TICKS) -> list[float]:
    """Round marks from 0 to ``end``: steps of 1, 2 or 5 times a power of ten, whole ones where possible.

    >>> ticks(16), ticks(7), ticks(1.0)
    ([0, 2, 4, 6, 8, 10, 12, 14, 16], [0, 1, 2, 3, 4, 5, 6, 7], [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    """
    step: float = 1
    if isinstance(end, float) and end < 2:
        step = 10.0 ** -12
    while end / step > most:
        step = _next(step)
    count = int(end / step + 1e-9)
    return [k * step if isinstance(step, int) else round(k * step, 12) for k in range(count + 1)]


def _next(step: float) -> float:
    """1, 2, 5, 10, 20 ... and the same below one."""
    lead = f"{step:e}"[0]
    return step * 5 // 2 if lead == "2" and isinstance(step, int) else step * 2.5 if lead == "2" else step * 2


def _axis(left: float, bottom: float, end: float, scale: float, unit: str) -> list[str]:
    found = [f'<text class="dk-axis" x="0" y="{HEAD - 10}">{esc(unit)}</text>']
    for tick in ticks(end):
        x = num(left + tick * scale)
        found.append(f'<path class="dk-grid" d="M{x} {HEAD - 5} V{num(bottom)}"/>'
                     f'<text class="dk-axis dk-mid" x="{x}" y="{HEAD - 10}">{tick:.6g}</text>')
    return found


def _row(label: str, segments: Sequence[Segment], left: float, top: float, scale: float) -> list[str]:
    found = [f'<g class="dk-row"><text class="dk-name" x="0" y="{num(top + 16)}">{esc(plain(label, 30))}</text>']
    for start, end, what in segments:
        if end < start:
            raise DagkitError(f"gantt: a segment of '{plain(label)}' ends at {end}, before its start {start}. "
                              "Give (start, end, state) with end >= start.")
        found.append(_segment(label, start, end, what, left, top, scale))
    return ["".join([*found, "</g>"])]


def _segment(label: str, start: float, end: float, what: str, left: float, top: float, scale: float) -> str:
    state = states.TABLE[states.CODE[what]] if what in states.CODE else None
    work = state is None or what in WORK
    high = BAR if work else 9
    x, wide = left + start * scale, max((end - start) * scale, 1.0)
    kind = f"dk-{state.name}" if state else "dk-running dk-task"
    text = _letter(state, what, wide)
    y = top + (ROW - high) / 2
    told = f"{plain(label)}: {plain(what)}, {start:.10g} to {end:.10g}"
    bar = f'<rect class="dk-seg {kind}" x="{num(x)}" y="{num(y)}" width="{num(wide)}" height="{high}" rx="2"/>'
    if what in _FINISHED:
        bar = _final(kind, x, top, wide)
    mark = f'<text class="dk-in {kind}" x="{num(x + min(wide, 16) / 2 if what in _FINISHED else x + wide / 2)}" '
    mark += f'y="{num(top + 16)}">{esc(text)}</text>' if text else ""
    return f"<g><title>{esc(told)}</title>{bar}{mark if text else ''}</g>"


def _final(kind: str, x: float, top: float, wide: float) -> str:
    """A finished state: a box with its letter where it began, a thin line from there on."""
    line = f'<rect class="dk-seg {kind}" x="{num(x)}" y="{num(top + ROW / 2 - 1.5)}" width="{num(wide)}" height="3"/>'
    box = f'<rect class="dk-seg {kind}" x="{num(x)}" y="{num(top + 4)}" width="{num(min(wide, 16))}" height="16" rx="3"/>'
    return line + box


def _letter(state: states.State | None, what: str, wide: float) -> str:
    if state is None:
        room = int((wide - 6) / CHAR)
        name = plain(what)
        return name if cells(name) <= room else name[: max(room - 1, 0)] + "…" if room >= 3 else ""
    return (state.glyph if state.name in _FINISHED else state.letter) if wide >= 11 else ""


def style(root: str) -> str:
    """The look of a chart, inside the element ``root`` only."""
    return (
        state_style(root)
        + f"#{root} text{{font:12px {FONT};fill:currentColor;white-space:pre;unicode-bidi:isolate}}"
        f"#{root} .dk-axis{{font-size:11px;opacity:.75}}#{root} .dk-mid,#{root} .dk-in{{text-anchor:middle}}"
        f"#{root} .dk-grid{{stroke:currentColor;stroke-opacity:.18}}"
        f"#{root} .dk-seg{{fill:var(--dk-fill);stroke:currentColor;stroke-opacity:.7;stroke-dasharray:var(--dk-dash,none)}}"
        f"#{root} .dk-in{{fill:var(--dk-ink);font-size:11px;font-weight:700}}#{root} .dk-task.dk-in{{font-weight:400}}"
        f"#{root} .dk-now{{stroke:#1f7ae0;stroke-width:2}}"
        f"@media (forced-colors:active){{#{root} .dk-row{{forced-color-adjust:none}}}}"
    )
