"""A story as a sequence diagram: a column for everybody, a row for every step, time downwards."""

from __future__ import annotations

from collections.abc import Sequence

from ..latency.story import Step, Story
from ..views.charts import INKS
from ..views.picture import content_prefix, el, esc, num, svg_root, text_style

LANES = ("caller", "database", "hints", "scheduler 1", "scheduler 2", "worker 1", "worker 2")
LEFT, COLUMN, HEAD, ROW = 118.0, 118.0, 40.0, 30.0
LOOKS = {
    "write": ("none", ""), "start": ("none", "►"), "hint": ("6 4", ""), "lost": ("6 4", "✗"), "refused": ("none", "⊘"),
    "scan": ("2 3", "⟳"), "fault": ("none", "✗"), "step": ("none", ""),
}
"""Per kind: dashes, and a sign. Colour comes on top."""
SHADES = {"write": INKS[0], "start": INKS[2], "hint": "currentColor", "lost": INKS[1], "refused": INKS[1], "scan": INKS[3],
          "fault": INKS[1], "step": "currentColor"}
KEYS = (("write", "commit"), ("hint", "hint"), ("lost", "hint lost"), ("scan", "fallback"), ("start", "a task runs"),
        ("refused", "refused"))


def sequence(story: Story, title: str = "") -> str:
    """The diagram as SVG. Each step is a group ``dk-step`` with its number in ``data-k``.

    >>> from dagkit.latency import play
    >>> story = play()
    >>> sequence(story).count('class="dk-step"') == len(story.steps)
    True
    """
    prefix = content_prefix("sequence", title, [(s.at, s.who, s.to, s.what, s.kind) for s in story.steps])
    bottom = HEAD + ROW * len(story.steps) + 12
    body = [_lane(name, bottom) for name in LANES]
    body += [_step(step, k, story.steps) for k, step in enumerate(story.steps)]
    body += _keys(bottom + 46)
    width = LEFT + COLUMN * (len(LANES) - 1) + 62
    return svg_root(prefix, width, bottom + 60, title or "Hop by hop", _style(f"{prefix}svg"), body)


def _x(lane: str) -> float:
    return LEFT + COLUMN * LANES.index(lane)


def _y(k: int) -> float:
    return HEAD + ROW * k + 22


def _lane(name: str, bottom: float) -> str:
    return el("g", el("path", cls="dk-lane", d=f"M{num(_x(name))} {num(HEAD - 8)} V{num(bottom)}"),
              el("text", esc(name), cls="dk-lane-name", x=_x(name), y=HEAD - 18),
              el("text", esc(name), cls="dk-lane-name", x=_x(name), y=bottom + 18))


def _away(steps: Sequence[Step], k: int) -> str:
    """A bar along the lane of somebody who is gone, until its next step."""
    back = next((j for j in range(k + 1, len(steps)) if steps[j].who == steps[k].who), len(steps))
    top, end = _y(k), _y(back) - 16
    return el("rect", cls="dk-away", x=_x(steps[k].who) - 5, y=top + 6, width=10, height=max(4.0, end - top - 6), rx=4)


def _step(step: Step, k: int, steps: Sequence[Step]) -> str:
    y, (_, sign) = _y(k), LOOKS[step.kind]
    said = f"{sign} {step.what}".strip()
    row = el("rect", cls="dk-row-box", x=2, y=y - 19, width=LEFT + COLUMN * 6 + 56, height=28, rx=4)
    parts = [el("title", esc(step.why)), row]
    if k == 0 or steps[k - 1].at != step.at:
        parts.append(el("text", f"{step.at:,} ms", cls="dk-time", x=LEFT - 52, y=y + 3))
    if step.to:
        parts += [el("path", cls=f"dk-arrow dk-is-{step.kind}", d=_arrow(_x(step.who), _x(step.to), y, step.kind)),
                  el("text", esc(said), cls="dk-what", x=(_x(step.who) + _x(step.to)) / 2, y=y - 5)]
    else:
        parts += [el("circle", cls=f"dk-dot dk-is-{step.kind}", cx=_x(step.who), cy=y, r=4.5),
                  el("text", esc(said), cls="dk-what", x=_x(step.who), y=y - 8)]
    if step.kind == "fault":
        parts.append(_away(steps, k))
    return el("g", *parts, cls="dk-step", data_k=str(k))


def _arrow(a: float, b: float, y: float, kind: str) -> str:
    way = 1 if b > a else -1
    tip = b - way * (COLUMN * 0.3 if kind == "lost" else 2)           # a lost hint does not arrive
    if kind == "lost":
        return (f"M{num(a)} {num(y)} H{num(tip)} M{num(tip - 4)} {num(y - 4)} L{num(tip + 4)} {num(y + 4)} "
                f"M{num(tip + 4)} {num(y - 4)} L{num(tip - 4)} {num(y + 4)}")
    return (f"M{num(a)} {num(y)} H{num(tip)} M{num(tip - way * 7)} {num(y - 4)} L{num(tip)} {num(y)} "
            f"L{num(tip - way * 7)} {num(y + 4)}")


def _keys(y: float) -> list[str]:
    found, x = [], 66.0
    for kind, name in KEYS:
        sign = LOOKS[kind][1]
        found.append(el("path", cls=f"dk-arrow dk-is-{kind}", d=f"M{num(x)} {num(y)} h26"))
        found.append(el("text", esc(f"{sign} {name}".strip()), cls="dk-key", x=x + 32, y=y + 4))
        x += 56 + 7.2 * len(f"{sign} {name}")
    return found


def _style(root: str) -> str:
    kinds = "".join(f"#{root} .dk-is-{kind}{{stroke:{SHADES[kind]};stroke-dasharray:{LOOKS[kind][0]}}}" for kind in LOOKS)
    return text_style(root) + (
        f"#{root} .dk-lane{{stroke:currentColor;stroke-opacity:.2}}"
        f"#{root} .dk-lane-name{{text-anchor:middle;font-weight:700}}"
        f"#{root} .dk-time{{text-anchor:end;opacity:.75;font-size:11px}}"
        f"#{root} .dk-what{{text-anchor:middle;font-size:11px}}"
        f"#{root} .dk-arrow{{stroke-width:2}}#{root} .dk-is-start{{stroke-width:3}}"
        f"#{root} .dk-dot{{stroke-width:2}}#{root} .dk-row-box{{fill:transparent}}"
        f"#{root} .dk-away{{stroke:{INKS[1]};stroke-dasharray:3 3;fill:{INKS[1]};fill-opacity:.12}}{kinds}"
        f"#{root} .dk-now .dk-row-box{{fill:currentColor;fill-opacity:.09;stroke:currentColor;stroke-opacity:.5}}"
        f"#{root} .dk-later{{visibility:hidden}}")
