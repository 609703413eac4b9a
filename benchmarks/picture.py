"""The table of results as one picture: a bar for each figure, on a scale where 1 is the goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import log10
from typing import Any

ROW, LEFT, WIDTH, RIGHT = 18, 520, 260, 200
STYLE = ("text{font:12px system-ui,sans-serif;fill:#24292f}.m{fill:#0072b2}.n{fill:#d55e00}.t{fill:#8b949e}"
         ".g{stroke:#57606a;stroke-dasharray:3 3}.b{fill:#fff}"
         "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.b{fill:#0d1117}"
         ".m{fill:#56b4e9}.n{fill:#e69f00}.g{stroke:#8b949e}}")


def picture(cells: Sequence[Mapping[str, Any]]) -> str:
    """An SVG: right of the dashed line a goal is met (each is a tenfold scale), left of it it is missed."""
    height = ROW * (len(cells) + 3)
    middle = LEFT + WIDTH / 2
    rows = [f'<line class="g" x1="{middle}" x2="{middle}" y1="{ROW * 1.3:.0f}" y2="{height - ROW}"/>',
            f'<text x="{middle}" y="{ROW}" text-anchor="middle">goal</text>',
            f'<text x="{LEFT}" y="{ROW}">a tenth</text>'
            f'<text x="{LEFT + WIDTH}" y="{ROW}" text-anchor="end">ten times</text>']
    for number, cell in enumerate(cells):
        y = ROW * (number + 2)
        upwards = cell["unit"] in ("x", "k/s")
        goal = cell["goal"]
        share = 1.0 if goal is None else cell["value"] / goal if upwards else goal / max(cell["value"], 1e-9)
        reach = max(-1.0, min(1.0, log10(max(share, 1e-3)))) * WIDTH / 2
        begin, length = min(middle, middle + reach), max(abs(reach), 1.0)
        peer = "" if cell["peer"] == "budget" else f", beside {cell['peer']}"
        label = f"{cell['what']}: {cell['case']}{peer}"
        asked = "no goal set" if goal is None else f"{'at least' if upwards else 'at most'} {goal:,g}"
        said = f"{cell['value']:,g} {cell['unit']} ({asked})"
        look, mark = {True: ("m", "✓"), False: ("n", "✗"), None: ("t", "·")}[cell["met"]]
        rows.append(f'<text x="{LEFT - 8}" y="{y}" text-anchor="end">{escape(label)}</text>'
                    f'<rect class="{look}" x="{begin:.1f}" y="{y - 10}" width="{length:.1f}" '
                    f'height="11"/><text x="{LEFT + WIDTH + 8}" y="{y}">{mark} {escape(said)}</text>')
    width = LEFT + WIDTH + RIGHT
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-label="Benchmark results beside their goals"><style>{STYLE}</style>'
            f'<rect class="b" width="{width}" height="{height}"/>{"".join(rows)}</svg>\n')
