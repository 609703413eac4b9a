"""Picture: the base of everything the kit displays, and the few helpers every drawing needs.

A picture is SVG text, a table that says the same in words, and one plain sentence. It uses the page's own
text colour, so it fits light and dark pages alike, and the colours of ``states.TABLE`` for states.
"""

from __future__ import annotations

import decimal
import hashlib
import html
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from .. import states
from ..errors import DagkitError, shown
from ..written import write
from . import table as tables

LABEL = 40
"""Longest label in a picture, in characters."""
LONG = 2000
"""Longest line of words beside a picture, in characters."""
CHAR = 7.25
"""Width of one character of a 12 px label. Labels are monospaced, so sizes need no font file."""
LEGIBLE = 0.82
"""How far a wide picture may shrink to fit its page: text of 11 px stays at 9 px; then it scrolls."""
FONT = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"
QUIET = "--dk-fill:rgba(128,128,128,.16);--dk-ink:currentColor;"
"""Colours of what nothing has happened to yet: never louder than the page, light or dark."""
UNSEEN = '<p class="dk-untrusted">Here is a picture. Run the cell to see it, or choose File → Trust Notebook.</p>'
"""JupyterLab takes style and drawings away from a notebook of somebody else, but neither text nor ``hidden="hidden"``
(without a value it does). So a picture's own style hides this sentence and shows the drawing, of which only a heap of
words would be left."""
FRAME = ("<style>.dk-frame>.dk-untrusted{display:none}.dk-frame>.dk-scroll[hidden]{display:block!important;overflow-x:auto}"
         ".dk-frame>.dk-scroll>svg{display:block;max-width:100%;min-width:var(--dk-least);height:auto}</style>")
DASHES = {"solid": "none", "dashed": "5 3", "dotted": "1.5 2.5"}


def plain(text: object, limit: int = LABEL) -> str:
    r"""Untrusted text as it is shown: one line, control characters written out, never invisible.

    Cut in the middle: the ids of a large Dag tend to begin alike.

    >>> plain("a\nb"), plain("  "), plain("test.shop.not_null_orders_id", 20), len(plain("x" * 10_000))
    ('a\\nb', "'  '", 'test.shop…_orders_id', 40)
    """
    raw = str(text)
    safe = shown(raw, limit)
    if len(raw) > limit or len(shown(raw, 10 * limit)) > limit:
        head = (limit - 1) // 2
        tail = shown(raw[-limit:], 10 * limit)[-(limit - 1 - head):]
        return f"{shown(raw[:limit], 10 * limit)[:head]}…{tail}"
    return safe if safe.strip() else f"'{safe}'"


def esc(text: object) -> str:
    """Text for SVG or HTML, in an element or in a quoted attribute.

    >>> esc('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return html.escape(str(text), quote=True)


def num(value: float) -> str:
    """A coordinate, rounded so that every system writes the same bytes.

    >>> num(12.04), num(12.06), num(-0.01)
    ('12', '12.1', '0')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def el(name: str, *inner: str, cls: str = "", **attributes: Any) -> str:
    """One SVG element. Attribute values are escaped, numbers rounded; ``inner`` is SVG, not plain text.

    >>> el("text", esc("a<b"), cls="dk-axis", x=1.25, data_from="n0")
    '<text class="dk-axis" x="1.2" data-from="n0">a&lt;b</text>'
    """
    written = f' class="{esc(cls)}"' if cls else ""
    for key, value in attributes.items():
        text = num(value) if isinstance(value, (int, float)) else esc(value)
        written += f' {key.replace("_", "-")}="{text}"'
    return f"<{name}{written}>{''.join(inner)}</{name}>" if inner else f"<{name}{written}/>"


def brief(value: Any) -> str:
    """A number for people: whole numbers in full up to a billion, else six digits.

    >>> brief(1_500), brief(2.50), brief(1 / 3), brief(10**400)
    ('1,500', '2.5', '0.333333', '1.00000e+400')
    """
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**9 else f"{decimal.Decimal(value):.6g}"
    return f"{value:.6g}"


def counted(n: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "slot"), counted(2_000, "slot")
    ('1 slot', '2,000 slots')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def cells(text: str) -> int:
    """How many character cells a text takes: wide (East Asian) characters take two, combining marks none.

    >>> cells("abc"), cells("時間"), cells("e\u0301")
    (3, 4, 1)
    """
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1
               for c in text)


def content_prefix(*parts: object) -> str:
    """An id prefix that depends on what is drawn alone: same picture, same bytes; other pictures, other ids.

    >>> content_prefix("a", 1) == content_prefix("a", 1) != content_prefix("a", 2)
    True
    """
    return "dk" + hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()[:10] + "-"


def badge(state: states.State) -> str:
    """Glyph and letter of a state, once if they are the same.

    >>> [badge(states.TABLE[code]) for code in (states.SUCCESS, states.FAILED)]
    ['✓', '✗ F']
    """
    return state.glyph if state.glyph == state.letter else f"{state.glyph} {state.letter}"


def state_style(root: str) -> str:
    """CSS that gives each state its fill, ink and border inside the element with id ``root``."""
    return "".join(
        f"#{root} .dk-{state.name}{{{QUIET if code == states.NONE else _loud(state)}"
        f"--dk-dash:{DASHES[state.border]};--dk-solid:1}}" for code, state in enumerate(states.TABLE))


def _loud(state: states.State) -> str:
    return f"--dk-fill:{state.fill};--dk-ink:{state.ink};"


def text_style(root: str) -> str:
    """CSS for the text of a drawing: the page's own colour, as typed, each label on its own."""
    return (f"#{root} text{{font:12px {FONT};fill:currentColor;white-space:pre;unicode-bidi:isolate}}"
            f"#{root} .dk-key{{font-size:11px}}#{root} .dk-in{{fill:var(--dk-ink);text-anchor:middle}}"
            f"#{root} .dk-swatch{{fill:var(--dk-fill);stroke:var(--dk-ink);"
            "stroke-dasharray:var(--dk-dash,none)}")


def legend(used: Collection[str], x: float, y: float, width: float) -> tuple[list[str], float]:
    """The states in ``used`` by mark, colour and name, in rows from (x, y); also the height they take."""
    body, left, top = [], x, y
    for state in states.TABLE:
        if state.name not in used:
            continue
        wide = 34 + len(state.name) * 6.7 + 16
        if left > x and left + wide > x + width:
            left, top = x, top + 22
        body.append(el(
            "g", el("title", esc(state.meaning)),
            el("rect", cls="dk-swatch", x=left, y=top, width=28, height=16, rx=3),
            el("text", esc(badge(state)), cls="dk-key dk-in", x=left + 14, y=top + 12),
            cls=f"dk-{state.name}"))
        body.append(el("text", state.name, cls="dk-key", x=left + 34, y=top + 12))
        left += wide
    return body, top + 22 - y if body else 0.0


def svg_root(prefix: str, width: float, height: float, title: str, style: str, body: Iterable[str]) -> str:
    """A complete ``<svg>`` element; its id is ``{prefix}svg``. ``title`` is plain text."""
    inner = [el("title", esc(title)), f"<style>{style}</style>", *body, ""]
    return el("svg", "\n", "\n".join(inner), xmlns="http://www.w3.org/2000/svg", id=f"{prefix}svg",
              cls="dk-svg", width=width, height=height, viewBox=f"0 0 {num(width)} {num(height)}", role="img",
              aria_label=title, fill="none")


def stacked(svgs: Sequence[str], gap: float = 14) -> str:
    """Several drawings below each other as one ``<svg>``."""
    if len(svgs) == 1:
        return svgs[0]
    sizes, parts, top = [_size_of(svg) for svg in svgs], [], 0.0
    for svg, (_, height) in zip(svgs, sizes, strict=True):
        parts.append(svg.replace("<svg ", f'<svg y="{num(top)}" ', 1))
        top += height + gap
    titles = "; ".join(html.unescape(svg.partition("<title>")[2].partition("</title>")[0]) for svg in svgs)
    return svg_root(content_prefix(*svgs), max(w for w, _ in sizes), top - gap, titles, "", parts)


def _size_of(svg: str) -> tuple[float, float]:
    found = re.search(r' width="([\d.]+)" height="([\d.]+)"', svg)
    return (float(found[1]), float(found[2])) if found else (0.0, 0.0)


def framed(svg: str) -> str:
    """A drawing within a page of words: it shrinks and scrolls like a Picture, and hides where style is taken away.

    >>> framed("<svg/>").endswith('hidden="hidden" style="--dk-least:0px"><svg/></div></div>')
    True
    """
    return (f'<div class="dk-frame">{FRAME}{UNSEEN}'
            f'<div class="dk-scroll" hidden="hidden" style="{_room(svg)}">{svg}</div></div>')


class Picture:
    """Drawings, a table and the same in plain words: notebooks show all three, terminals the words.

    svg: one ``<svg>`` element, or several shown below each other. table: rows (dictionaries), a DataFrame, or
    None. text: what ``print`` gives. notes: sentences shown above the picture, for example warnings.

    >>> Picture("<svg/>", [{"task": "a"}], "one task")
    one task
    """

    def __init__(
        self, svg: str | Sequence[str], table: Any = None, text: str = "", notes: Iterable[str] = (),
    ):
        self.svgs = [svg] if isinstance(svg, str) else list(svg)
        self.table = table
        self.text = "\n".join(shown(line, LONG) for line in text.split("\n"))
        self.notes = [shown(note, LONG) for note in notes]

    @property
    def svg(self) -> str:
        """All drawings as one ``<svg>`` element."""
        return stacked(self.svgs)

    def __repr__(self) -> str:
        return "\n".join([*self.notes, self.text])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """One text/html with picture *and* table: where only one form survives, both do."""
        return {"text/html": self.html(), "text/plain": repr(self)}

    def html(self) -> str:
        """The picture and its table as an HTML fragment without scripts."""
        root = content_prefix(*self.svgs, self.text) + "pic"
        notes = "".join(f'<p class="dk-note">⚠ {esc(note)}</p>' for note in self.notes)
        words = f'<p class="dk-words">{esc(self.text)}</p>' if self.text else ""
        drawn = "".join(f'<div class="dk-scroll" hidden="hidden" style="{_room(svg)}">{svg}</div>' for svg in self.svgs)
        table = "" if self.table is None else (
            f'<details class="dk-details"><summary>As a table</summary>{tables.html(self.table)}</details>')
        inside = f"<style>{_fit(root)}</style>{notes}{words}{UNSEEN}{drawn}{table}"
        return f'<div id="{root}" class="dk-picture">{inside}</div>'

    def save(self, path: Any) -> Path:
        """Write the picture to ``path`` (``.svg``, or ``.html`` with the table) and return the path.

        Raises DagkitError for another ending or a file that cannot be written.
        """
        target = Path(path)
        if target.suffix not in (".svg", ".html"):
            raise DagkitError(f"picture: cannot save as '{shown(target.name)}', only as .svg or .html. "
                              "Choose one of these endings.")
        return write("picture", target, self._file(target.suffix))

    def _file(self, suffix: str) -> str:
        """A file of its own has no page around it to take text colour and background from."""
        if suffix == ".svg":
            own = '<svg style="color-scheme:light dark;color:CanvasText" '
            return self.svg.replace("<svg ", own, 1) + "\n"
        return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>dagkit</title>'
                "<style>:root{color-scheme:light dark}body{font-family:system-ui,sans-serif}</style></head>"
                f"<body>{self.html()}</body></html>\n")


def few(notes: Sequence[str], most: int = 3) -> list[str]:
    """The first notes, and how many more there are.

    >>> few(["a", "b", "c", "d", "e"])
    ['a', 'b', 'c', 'and 2 more like these.']
    """
    more = len(notes) - most
    return [*notes[:most], f"and {more:,} more like these."] if more > 1 else list(notes)


def _room(svg: str) -> str:
    """Shrink to the page as long as labels stay legible, then scroll sideways."""
    return f"--dk-least:{num(_size_of(svg)[0] * LEGIBLE)}px"


def _fit(root: str) -> str:
    return (
        f"#{root} .dk-untrusted{{display:none}}"
        f"#{root} .dk-scroll{{display:block!important;overflow-x:auto;margin:0 0 6px}}"
        # a bar that stays in sight tells that there is more
        f"#{root} .dk-scroll::-webkit-scrollbar{{height:11px;background:rgba(128,128,128,.18)}}"
        f"#{root} .dk-scroll::-webkit-scrollbar-thumb{{border-radius:6px;background:rgba(128,128,128,.7)}}"
        f"#{root} .dk-scroll>svg{{display:block;max-width:100%;min-width:var(--dk-least);height:auto}}"
        f"#{root} p{{margin:4px 0;white-space:pre-line;overflow-wrap:anywhere}}"
        f"#{root} .dk-details{{overflow-x:auto}}#{root} summary{{cursor:pointer}}"
        f"#{root} table{{margin:6px 0;border-collapse:collapse;font-size:13px}}"
        f"#{root} td,#{root} th{{padding:3px 12px 3px 0;text-align:left;vertical-align:top;"
        "border-bottom:1px solid rgba(128,128,128,.35);white-space:pre-wrap;overflow-wrap:break-word;"
        "word-break:normal}"
        f"#{root} .dk-num{{text-align:right;font-variant-numeric:tabular-nums}}"
    )
