"""Bars over time: a row per task or slot, the states it passed through as segments.

Work is a full bar, waiting a thinner one, not yet begun a dotted line, an end a mark with a line after it:
a state is told by shape, letter and border as well as by colour.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from .. import states
from ..errors import DagkitError
from .picture import CHAR, brief, cells, el, esc, legend, num, plain, state_style, svg_root, text_style

ROWS = 60
"""Rows drawn; the rest is counted in a line below."""
TICKS = 12
"""Marks on the axis after zero, at most."""
NAME = 30
"""Longest row label, in characters."""
ROW, HEAD, PLOT = 24, 30, 560
WORK, WAIT, MARK = 18, 13, 16
"""Heights of a bar of work and of waiting, and the size of the mark of an end, in pixels."""
_WORKING = frozenset({"running", "restarting"})
_ENDS = frozenset(states.NAMES[code] for code in states.FINISHED)
Segment = tuple[float, float, str]
"""(start, end, what): a state name, or any other text (a task), which is written into a bar of work."""


def svg(
    rows: Sequence[tuple[str, Sequence[Segment]]], *, prefix: str, last_tick: float, now: float | None = None,
    title: str = "", width: int = PLOT, unit: str = "tick", marked: Collection[str] = (), rest: str = "",
    ghosts: Mapping[str, tuple[float, float]] | None = None, marks: Sequence[tuple[float, str]] = (),
    first: float = 0,
) -> str:
    """The chart as SVG text.

    rows: (label, [(start, end, state), ...]) from top to bottom; a name that is no state is taken for a task
    and drawn as work. last_tick: the end of the axis, in the segments' unit. now: where to draw the line of
    the current tick, or None. width: of the plot, in pixels. marked: tasks drawn with a heavy border.
    rest: what to say about rows beyond ROWS, after their number. ghosts: by label, from when to when something else
    (an ideal) would have been; a thin line below the bar. marks: (when, what happened then): a broken line from a
    triangle on the axis. first: where the axis begins; what was before it is not drawn.

    Raises DagkitError if a segment ends before it starts.

    >>> drawn = svg([("load", [(0, 2, "none"), (2, 5, "running")])], prefix="g-", last_tick=5)
    >>> drawn.count("dk-seg dk-running")
    1
    """
    drawn, end = rows[:ROWS], last_tick or 1
    left = max([cells(unit) + 1, *(cells(plain(label, NAME)) for label, _ in drawn)]) * CHAR + 16
    bottom = float(HEAD + ROW * len(drawn))

    def at(time: float) -> float:
        # the ratio first: whole numbers may be too large for a float
        return left + width * float(max(time - first, 0) / (end - first))

    body = _axis(at, bottom, first, end, unit)
    for k, (label, segments) in enumerate(drawn):
        body.append(_row(label, segments, HEAD + ROW * k, at, marked))
        if ghosts and label in ghosts:
            body.append(_ghost(*ghosts[label], HEAD + ROW * k, at))
    for time, told in marks:
        body.append(_mark(num(at(min(time, end))), told, bottom))
    if now is not None:
        x = num(at(min(max(now, 0), end)))
        line = f"M{x} {HEAD - 6} V{num(bottom)}"
        body.append(el("path", el("title", f"now: {brief(now)}"), cls="dk-now", d=line))
    if len(rows) > ROWS:
        said = f"and {len(rows) - ROWS:,} more rows{rest or ', see the table'}"
        body.append(el("text", esc(said), cls="dk-axis", x=0, y=bottom + 18))
        bottom += 24
    used = {what for _, segments in drawn for _, _, what in segments if what in states.CODE}
    keys, room = legend(used, 0, bottom + 10, left + width)
    look = style(f"{prefix}svg")
    if ghosts:
        look += f"#{prefix}svg .dk-ghost{{stroke:currentColor;stroke-width:2;fill:none;stroke-opacity:.75}}"
    if marks:
        look += (f"#{prefix}svg .dk-mark{{stroke:currentColor;stroke-width:1.5;stroke-dasharray:2 3;fill:currentColor;"
                 "stroke-opacity:.8}")
    return svg_root(prefix, left + width + MARK + 2, bottom + (room + 10 if used else 6),
                    title or "Tasks over time", look, [*body, *keys])


def ticks(end: float, most: int = TICKS) -> list[float]:
    """Round marks from 0 to ``end``: steps of 1, 2 or 5 times a power of ten, whole ones where possible.

    >>> ticks(16), ticks(7)
    ([0, 2, 4, 6, 8, 10, 12, 14, 16], [0, 1, 2, 3, 4, 5, 6, 7])
    >>> ticks(0.5, 5), len(ticks(10**30)) <= TICKS + 1
    ([0.0, 0.1, 0.2, 0.3, 0.4, 0.5], True)
    """
    power = (len(str(end)) if isinstance(end, int) else int(f"{end:e}".partition("e")[2])) - 2
    if end >= 2 or isinstance(end, int):
        power = max(power, 0)
    while True:
        for lead in (1, 2, 5):
            step = lead * 10 ** power if power >= 0 else lead / 10 ** -power
            count = end // step if isinstance(end, int) else int(end / step + 1e-9)
            if count <= most:
                return [k * step if power >= 0 else round(k * step, -power) for k in range(count + 1)]
        power += 1


def _marks(first: float, end: float) -> list[float]:
    """Round marks from ``first`` to ``end``."""
    marks = ticks(end - first)
    if not first or len(marks) < 2:
        return [first + mark for mark in marks]
    step = marks[1]
    return [step * k for k in range(int(-(-first // step)), int(end // step) + 1)]


def _axis(at: Callable[[float], float], bottom: float, first: float, end: float, unit: str) -> list[str]:
    found = [el("text", esc(unit), cls="dk-axis", x=0, y=HEAD - 12)]
    for tick in _marks(first, end):
        x = at(tick)
        found.append(el("path", cls="dk-grid", d=f"M{num(x)} {HEAD - 7} V{num(bottom)}"))
        found.append(el("text", brief(tick), cls="dk-axis dk-mid", x=x, y=HEAD - 12))
    return found


def _row(
    label: str, segments: Sequence[Segment], top: float, at: Callable[[float], float],
    marked: Collection[str],
) -> str:
    name = plain(label, NAME)
    found = [el("text", el("title", esc(plain(label, 250))), esc(name), x=0, y=top + 16)]
    for start, end, what in segments:
        if not end >= start:
            raise DagkitError(f"gantt: a segment of '{name}' ends at {end}, before its start {start}. "
                              "Give (start, end, state) with end >= start.")
        told = el("title", esc(f"{name}: {plain(what)}, {brief(start)} to {brief(end)}"))
        x, wide = at(start), max(at(end) - at(start), 1.0)
        shape = _end if what in _ENDS else _none if what == "none" else _bar
        found.append(el("g", told, *shape(what, x, wide, top, what in marked)))
    return el("g", *found, cls="dk-row")


def _bar(what: str, x: float, wide: float, top: float, marked: bool) -> list[str]:
    known = what in states.CODE
    look = f"dk-{what}" if known else "dk-running dk-task"
    high = WORK if what in _WORKING or not known else WAIT
    text = states.TABLE[states.CODE[what]].letter if known else _cut(plain(what), int((wide - 6) / CHAR))
    heavy = " dk-critical" if marked else ""
    y = top + (ROW - high) / 2
    bar = el("rect", cls=f"dk-seg {look}{heavy}", x=x, y=y, width=wide, height=high, rx=2)
    return [bar, _inside(look, x + wide / 2, top, text) if wide >= 11 and text else ""]


def _none(what: str, x: float, wide: float, top: float, marked: bool) -> list[str]:
    return [el("path", cls="dk-idle", d=f"M{num(x)} {num(top + ROW / 2)} h{num(wide)}")]


def _end(what: str, x: float, wide: float, top: float, marked: bool) -> list[str]:
    """A finished state: a mark where it began, a line from there on."""
    look, middle = f"dk-{what}", top + ROW / 2
    return [el("rect", cls=f"dk-tail {look}", x=x, y=middle - 1.5, width=wide, height=3),
            el("rect", cls=f"dk-seg {look}", x=x, y=middle - MARK / 2, width=MARK, height=MARK, rx=3),
            _inside(look, x + MARK / 2, top, states.TABLE[states.CODE[what]].glyph)]


def _inside(look: str, x: float, top: float, text: str) -> str:
    return el("text", esc(text), cls=f"dk-in {look}", x=x, y=top + 16)


def _mark(x: str, told: str, bottom: float) -> str:
    """A triangle on the axis and a broken line through all rows."""
    return el("path", el("title", esc(plain(told, 250))), cls="dk-mark",
              d=f"M{x} {HEAD - 1} l-5 -8 h10 Z M{x} {HEAD - 1} V{num(bottom)}")


def _ghost(start: float, end: float, top: float, at: Callable[[float], float]) -> str:
    """A thin line with a foot at each end, below a bar."""
    y, x1, x2 = num(top + ROW - 1.5), num(at(start)), num(max(at(end), at(start) + 1))
    told = el("title", esc(f"ideal: {brief(start)} to {brief(end)}"))
    return el("path", told, cls="dk-ghost", d=f"M{x1} {y} v-3 M{x1} {y} H{x2} v-3")


def _cut(name: str, room: int) -> str:
    """What there is room for of a name. The groups of a dotted one go first: many tasks share them.

    >>> _cut("model.shop.orders", 17), _cut("model.shop.orders", 9), _cut("model.shop.orders", 5), _cut("orders", 2)
    ('model.shop.orders', '…orders', 'orde…', '')
    """
    if cells(name) <= room:
        return name
    own = name.rpartition(".")[2] or name
    if own != name and cells(own) < room:
        return f"…{own}"
    return own[: room - 1] + "…" if room >= 3 else ""


def style(root: str) -> str:
    """The look of a chart, inside the element ``root`` only."""
    return state_style(root) + text_style(root) + (
        f"#{root} .dk-axis{{font-size:11px;opacity:.75}}#{root} .dk-mid{{text-anchor:middle}}"
        f"#{root} .dk-grid{{stroke:currentColor;stroke-opacity:.16}}"
        f"#{root} .dk-seg{{fill:var(--dk-fill);stroke:var(--dk-ink);stroke-opacity:.8;"
        "stroke-dasharray:var(--dk-dash,none)}"
        f"#{root} .dk-tail{{fill:var(--dk-fill)}}"
        f"#{root} .dk-idle{{stroke:currentColor;stroke-opacity:.55;stroke-dasharray:1.5 3}}"
        f"#{root} .dk-row .dk-in{{font-size:11px;font-weight:700}}#{root} .dk-row .dk-task{{font-weight:400}}"
        f"#{root} .dk-critical{{stroke:currentColor;stroke-width:2.6;stroke-opacity:1}}"
        f"#{root} .dk-now{{stroke:#1f7ae0;stroke-width:2}}"
        f"@media (forced-colors:active){{#{root} .dk-row{{forced-color-adjust:none}}}}"
    )
