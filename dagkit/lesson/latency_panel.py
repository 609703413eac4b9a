"""The latency model drawn, and a panel that moves what is only assumed.

Both axes are logarithmic: equal steps are equal ratios, so "in proportion" is a slope of one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..errors import DagkitError
from ..latency import ASSUMED, CONCLUSIONS, DESIGNS, PARAMETERS, Model, conclusions, curves, predictions
from ..views.charts import DASHES, INKS
from ..views.picture import Picture, content_prefix, el, esc, num, svg_root, text_style
from ..widget import Panel
from .page import esc as safe
from .page import fold, static

WIDE, TALL, LEFT, TOP = 560.0, 300.0, 62.0, 36.0
LOW_X, HIGH_X, LOW_Y, HIGH_Y = 1e3, 1e6, 0.1, 1e3
CURVES = {"standard": "Celery", "executor": "new executor", "hinted": "hints"}
"""How each design is called at its curve."""
POINTS = (("standard", 50_000, 23.582, True), ("hinted", 100_000, 0.228, True), ("hinted", 300_000, 0.294, False))
"""Published p95: design, resident tasks, seconds, whether the model was solved with it."""


def chart(model: Model | None = None, beside: Model | None = None) -> Picture:
    """p95 start latency over resident tasks, with what was published. beside: another model, drawn faintly.

    >>> chart().svg.count('class="dk-fitted"')
    3
    """
    model = model or Model()
    found = curves(model)
    prefix = content_prefix("latency", sorted(model.changes.items()), beside and sorted(beside.changes.items()))
    body = _axes()
    if beside is not None and beside.changes != model.changes:
        body += [el("path", cls="dk-line dk-faint", stroke=INKS[k], stroke_dasharray=DASHES[k], d=_path(points))
                 for k, points in enumerate(curves(beside).values())]
    for k, (design, points) in enumerate(found.items()):
        inside = [point for point in points if point[1] <= HIGH_Y]
        body += _curve(k, design, inside, ends=len(inside) == len(points))
    body += [_point(model, *point) for point in POINTS] + _reached() + _keys()
    look = text_style(f"{prefix}svg") + _style(f"{prefix}svg")
    svg = svg_root(prefix, LEFT + WIDE + 118, TOP + TALL + 72, "p95 of a task start over resident tasks", look, body)
    rows = [{"resident tasks": n, **{DESIGNS[d]: _seconds(dict(points).get(n)) for d, points in found.items()}}
            for n, _ in max(found.values(), key=len)]
    return Picture(svg, rows, _words(model))


def _words(model: Model) -> str:
    ends = ", ".join(f"{CURVES[design]} {round(model.ceiling(design), -3):,.0f}" for design in CURVES)
    return f"Where each curve ends by its own rule (resident tasks): {ends}."


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3g} s"


def _x(n: float) -> float:
    return LEFT + WIDE * math.log(n / LOW_X) / math.log(HIGH_X / LOW_X)


def _y(seconds: float) -> float:
    share = math.log(min(max(seconds, LOW_Y), HIGH_Y) / LOW_Y) / math.log(HIGH_Y / LOW_Y)
    return TOP + TALL * (1 - share)


def _axes() -> list[str]:
    found = []
    for seconds, said in ((0.1, "0.1 s"), (1.0, "1 s"), (10.0, "10 s"), (100.0, "100 s"), (1_000.0, "1,000 s")):
        y = _y(seconds)
        found += [el("path", cls="dk-grid", d=f"M{num(LEFT)} {num(y)} H{num(LEFT + WIDE)}"),
                  el("text", said, cls="dk-axis dk-end", x=LEFT - 8, y=y + 4)]
    for n in (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000):
        x = _x(n)
        found += [el("path", cls="dk-grid", d=f"M{num(x)} {num(TOP)} V{num(TOP + TALL)}"),
                  el("text", f"{n:,}", cls="dk-axis dk-mid", x=x, y=TOP + TALL + 18)]
    return [*found, el("text", "95 of 100 tasks start within", cls="dk-axis", x=2, y=16),
            el("text", "tasks already running", cls="dk-axis dk-end", x=LEFT + WIDE, y=TOP + TALL + 34)]


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + " L".join(f"{num(_x(n))} {num(_y(p95))}" for n, p95 in points)


def _curve(k: int, design: str, points: Sequence[tuple[int, float]], ends: bool) -> list[str]:
    """A curve and its name. ends: its last point is where it can do no more, not the edge of the picture."""
    if not points:
        return []
    n, p95 = points[-1]
    x, y = _x(n), _y(p95)
    told = el("title", esc(f"{DESIGNS[design]}, drawn up to {n:,} resident tasks"))
    aside = max([point for point in points if point[1] < 150] or points[:1])      # the first has no room at its end
    name = el("text", esc(CURVES[design]), cls="dk-name", x=x + 9, y=y + 4) if k else \
        el("text", esc(CURVES[design]), cls="dk-name dk-end", x=_x(aside[0]) - 12, y=_y(aside[1]) - 4)
    return [el("path", told, cls="dk-line", stroke=INKS[k], stroke_dasharray=DASHES[k], d=_path(points)),
            *([el("circle", cx=x, cy=y, r=4, fill=INKS[k])] if ends else []), name]


def _point(model: Model, design: str, n: int, seconds: float, fitted: bool) -> str:
    """A published figure: an open square if the model was solved with it, a full diamond if it has to predict it."""
    x, y = _x(n), _y(seconds)
    off = model.p95(design, n) / seconds - 1
    said = f"{seconds} s, fitted" if fitted else f"{seconds} s, predicted: {off:+.0%}" if math.isfinite(off) else \
        f"{seconds} s, cannot keep up"
    told = f"published: {seconds} s at {n:,} resident tasks; {'the model was solved with it' if fitted else 'predicted'}"
    mark = el("rect", cls="dk-fitted", x=x - 6, y=y - 6, width=12, height=12) if fitted else \
        el("path", cls="dk-predicted", d=f"M{num(x)} {num(y - 8)} l8 8 l-8 8 l-8 -8 Z")
    name = el("text", esc(said), cls="dk-key dk-end", x=x - 12, y=y - 8) if design == "standard" else \
        el("text", esc(said), cls="dk-said", x=x, y=y + 24) if fitted else \
        el("text", esc(said), cls="dk-key", x=x + 13, y=y + 10)
    return el("g", el("title", esc(told)), mark, name)


def _reached() -> list[str]:
    """How many tasks a test kept running: marks on the upper edge, as no start time was published with them."""
    found = []
    for n in (200_000, 500_000):
        x = _x(n)
        found += [el("path", cls="dk-predicted", d=f"M{num(x)} {num(TOP + 2)} l6 -11 h-12 Z"),
                  el("text", f"{n:,}", cls="dk-said", x=x, y=TOP - 14)]
    return found


def _keys() -> list[str]:
    y = TOP + TALL + 60
    return [el("rect", cls="dk-fitted", x=LEFT, y=y - 10, width=12, height=12),
            el("text", "published, fitted", cls="dk-key", x=LEFT + 20, y=y),
            el("path", cls="dk-predicted", d=f"M{num(LEFT + 198)} {num(y - 12)} l8 8 l-8 8 l-8 -8 Z"),
            el("text", "published, predicted", cls="dk-key", x=LEFT + 214, y=y),
            el("path", cls="dk-predicted", d=f"M{num(LEFT + 384)} {num(y + 1)} l6 -11 h-12 Z"),
            el("text", "kept running in a test", cls="dk-key", x=LEFT + 398, y=y),
            el("circle", cx=LEFT + 572, cy=y - 4, r=4, fill="currentColor"),
            el("text", "no more", cls="dk-key", x=LEFT + 582, y=y)]


def _style(root: str) -> str:
    return (f"#{root} .dk-axis{{font-size:11px;opacity:.75}}#{root} .dk-mid{{text-anchor:middle}}"
            f"#{root} .dk-end{{text-anchor:end}}#{root} .dk-grid{{stroke:currentColor;stroke-opacity:.16}}"
            f"#{root} .dk-line{{stroke-width:2.4;stroke-linejoin:round}}"
            f"#{root} .dk-faint{{stroke-opacity:.35;stroke-width:1.6}}"
            f"#{root} .dk-name{{font-weight:700}}#{root} .dk-said{{text-anchor:middle;font-size:11px}}"
            f"#{root} .dk-fitted{{stroke:currentColor;stroke-width:2}}"
            f"#{root} .dk-predicted{{fill:currentColor;stroke:currentColor}}")


# ---- the panel -----------------------------------------------------------------------------------------------------


class LatencyPanel(Panel):
    """A slider for every assumed number. Moving one solves the model anew and asks which conclusions still stand."""

    def __init__(self) -> None:
        import ipywidgets as widgets
        self.usual = Model()
        wide = {"layout": widgets.Layout(width="395px"), "style": {"description_width": "140px"}}
        self.controls = {name: widgets.SelectionSlider(
            options=[(_brief(v), v) for v in _stops(name)], value=_stops(name)[STOPS // 2], description=name,
            continuous_update=False, tooltip=f"{PARAMETERS[name].unit}: {PARAMETERS[name].source}", **wide)
            for name in ASSUMED}
        self.result = widgets.HTML()
        sliders = list(self.controls.values())
        half = (len(sliders) + 1) // 2
        columns = widgets.HBox([widgets.VBox(sliders[:half]), widgets.VBox(sliders[half:])],
                               layout=widgets.Layout(flex_flow="row wrap"))
        meant = "".join(f"<li><code>{safe(name)}</code>, in {safe(PARAMETERS[name].unit)}: "
                "{safe(PARAMETERS[name].source)}</li>"
                        for name in ASSUMED)
        told = widgets.HTML(static(fold("What each of them means", f"<ul>{meant}</ul>")))
        self.again = widgets.Button(description="As assumed", tooltip="every slider back to where it was")
        self.again.on_click(self.reset)
        for control in self.controls.values():
            control.observe(self.play, "value")
        self.box = widgets.VBox([columns, told, self.again, self.result])
        self.play()

    def reset(self, _: Any = None) -> None:
        """Every slider back."""
        for name, control in self.controls.items():
            control.value = _stops(name)[STOPS // 2]

    def play(self, _: Any = None) -> None:
        """Solve the model with the sliders as they are."""
        changed = {name: c.value for name, c in self.controls.items() if c.value != PARAMETERS[name].value}
        self.inner = report(Model(**changed), self.usual)
        self.result.value = static(self.inner)

    def __repr__(self) -> str:
        return "\n".join(f"{row['figure']}: published {row['published']}, model {row['model']}, error {row['error %']} % "
                         f"({row['use']})" for row in predictions(self.usual))

    def twin(self) -> str:
        note = "<p>Without widgets the assumed numbers are moved in code: <code>dk.latency.Model(schedulers=4)</code>.</p>"
        return static(note + self.inner)


STOPS = 9
"""Positions of a slider; the middle one is what is assumed."""


def _stops(name: str) -> list[float]:
    """From the lowest plausible value through the assumed one to the highest, by equal ratios on either side."""
    p = PARAMETERS[name]
    assert p.low is not None and p.high is not None
    half = STOPS // 2
    below = [p.low * (p.value / p.low) ** (k / half) for k in range(half)]
    above = [p.value * (p.high / p.value) ** (k / half) for k in range(1, half + 1)]
    return [float(f"{v:.3g}") for v in (*below, p.value, *above)]


def _brief(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def report(model: Model, beside: Model | None = None) -> str:
    """Conclusions, chart and errors of a model, as HTML; a sentence if it cannot be solved."""
    try:
        stand = conclusions(model)
        rows = predictions(model)
    except DagkitError as error:
        return f'<p class="dl-verdict dl-bad">{safe(error)}</p>'
    holds = "".join(f"<li>{'✓ stands' if good else '✗ falls'}: {safe(CONCLUSIONS[name][0])}</li>"
                    for name, good in stand.items())
    lines = "".join(f"<tr><td>{safe(r['figure'])}</td>{_short(r['published'])}{_short(r['model'])}"
                    f"{_short(_percent(r))}<td>{safe(r['use'])}</td><td>{safe(r['note'])}</td></tr>" for r in rows)
    return (f'{chart(model, beside).html()}<ul>{holds}</ul><div class="dl-scroll dl-table"><table><thead><tr>'
            "<th>figure</th><th>published</th><th>model</th><th>error</th><th>use</th><th></th></tr></thead>"
            f"<tbody>{lines}</tbody></table></div>")


def _percent(row: dict[str, object]) -> str:
    return f"{row['error %']} %"


def _short(text: object) -> str:
    return f'<td class="dk-num" style="white-space:nowrap">{safe(text)}</td>'


def latency_panel() -> LatencyPanel:
    """The panel."""
    return LatencyPanel()
