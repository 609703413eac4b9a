"""Where the seconds go: each part of the way as a piece of a bar, as long as it takes on average."""

from __future__ import annotations

from collections.abc import Sequence

from ..latency import DESIGNS, Model
from ..views.charts import INKS
from ..views.picture import Picture, content_prefix, el, esc, num, svg_root, text_style

LEFT, WIDE, ROW, TOP = 250.0, 430.0, 40.0, 12.0
LOOKS = ("none", "6 3", "2 2", "9 3 2 3", "1 3")
"""Borders of the pieces, so that they differ without colour too."""
COLOURS = (*INKS, "#7a7f87")


def bars(rows: Sequence[tuple[str, int]] = (("standard", 1_000), ("standard", 50_000), ("hinted", 50_000)),
         model: Model | None = None) -> Picture:
    """One bar for each (design, resident tasks); the pieces are the parts of the way, numbered as in the table.

    >>> print(bars())
    standard scheduler, Celery, 1,000 running: 2.53 s on average.
    standard scheduler, Celery, 50,000 running: 13.9 s on average.
    hints, pull executor, 50,000 running: 0.109 s on average.
    """
    model = model or Model()
    ways = [(design, n, model.stages(design, n)) for design, n in rows]
    longest = max(sum(stage.mean for stage in stages) for *_, stages in ways)
    prefix = content_prefix("bars", [(d, n, [(s.name, f"{s.mean:.6g}") for s in stages]) for d, n, stages in ways])
    body, table, words = [], [], []
    for k, (design, n, stages) in enumerate(ways):
        total, y = sum(stage.mean for stage in stages), TOP + ROW * k
        body.append(el("text", esc(DESIGNS[design]), cls="dk-way", x=0, y=y + 13))
        body.append(el("text", esc(f"{n:,} running"), cls="dk-key", x=0, y=y + 28))
        x = LEFT
        for j, stage in enumerate(stages):
            width = WIDE * stage.mean / longest
            body.append(_piece(j, stage.name, stage.mean, x, y, width))
            x += width
            table.append({"way": DESIGNS[design], "running": n, "part": f"{j + 1} {stage.name}",
                          "mean": f"{stage.mean:.4g} s"})
        body.append(el("text", f"{total:.3g} s", cls="dk-total", x=x + 8, y=y + 20))
        words.append(f"{DESIGNS[design]}, {n:,} running: {total:.3g} s on average.")
    height = TOP + ROW * len(ways) + 10
    for j, stage in enumerate(ways[0][2]):
        body += _key(j, stage.name, LEFT + WIDE / 2 * (j % 2), height + 20 * (j // 2))
    height += 20 * ((len(ways[0][2]) + 1) // 2) + 6
    look = text_style(f"{prefix}svg") + (
        f"#{prefix}svg .dk-way{{font-weight:700}}#{prefix}svg .dk-total{{font-weight:700}}"
        f"#{prefix}svg .dk-piece{{stroke:currentColor;fill-opacity:.9}}"
        f"#{prefix}svg .dk-no{{text-anchor:middle;fill:#fff;font-weight:700}}")
    return Picture(svg_root(prefix, LEFT + WIDE + 80, height, "Where the seconds go", look, body), table, "\n".join(words))


def _piece(j: int, name: str, mean: float, x: float, y: float, width: float) -> str:
    """A piece of a bar, with its number where there is room."""
    number = [el("text", str(j + 1), cls="dk-no", x=x + width / 2, y=y + 20)] if width > 14 else []
    return el("g", el("title", esc(f"{name}: {mean:.3g} s")),
              el("rect", cls="dk-piece", x=x, y=y + 3, width=num(max(width, 0.6)), height=24, fill=COLOURS[j],
                 stroke_dasharray=LOOKS[j]), *number)


def _key(j: int, name: str, x: float, y: float) -> list[str]:
    return [el("rect", cls="dk-piece", x=x, y=y, width=16, height=14, fill=COLOURS[j], stroke_dasharray=LOOKS[j]),
            el("text", str(j + 1), cls="dk-no", x=x + 8, y=y + 11), el("text", esc(name), cls="dk-key", x=x + 24, y=y + 11)]
