"""Picture: the base of everything the kit displays, and the few helpers every drawing needs.

A picture is SVG text, a table that says the same in words, and one plain sentence. It uses the page's own
text colour, so it fits light and dark pages alike, and the colours of ``states.TABLE`` for states.
"""

from __future__ import annotations

import hashlib
import html
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .. import states
from ..errors import DagkitError, shown
from . import table as tables

LABEL = 40
"""Longest label in a picture, in characters."""
CHAR = 7.25
"""Width of one character of a 12 px label. Labels are monospaced, so sizes need no font file."""
LEGIBLE = 0.75
"""How far a wide picture may shrink to fit its page: 12 px labels stay at 9 px; then it scrolls."""
FONT = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"
DASHES = {"solid": "none", "dashed": "5 3", "dotted": "1.5 2.5"}


def plain(text: object, limit: int = LABEL) -> str:
    r"""Untrusted text as it is shown: one line, control characters written out, cut, never invisible.

    >>> plain("a\nb"), plain("  "), len(plain("x" * 10_000))
    ('a\\nb', "'  '", 40)
    """
    safe = shown(text, limit)
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
    return f"{value:.1f}".removesuffix(".0").replace("-0", "0") if abs(value) < 0.05 else f"{value:.1f}".removesuffix(".0")


def cells(text: str) -> int:
    """How many character cells a text takes: wide (East Asian) characters take two, combining marks none.

    >>> cells("abc"), cells("時間"), cells("e\u0301")
    (3, 4, 1)
    """
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


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
    rules = [f"#{root} .dk-{s.name}{{--dk-fill:{s.fill};--dk-ink:{s.ink};--dk-dash:{DASHES[s.border]};--dk-solid:1}}"
             for s in states.TABLE]
    return "".join(rules)


def svg_root(prefix: str, width: float, height: float, title: str, style: str, body: Iterable[str]) -> str:
    """A complete ``<svg>`` element; its id is ``{prefix}svg``. ``title`` is plain text."""
    w, h = num(width), num(height)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" id="{esc(prefix)}svg" class="dk-svg" width="{w}" height="{h}" '
        f'viewBox="0 0 {w} {h}" role="img" aria-label="{esc(title)}" fill="none">',
        f"<title>{esc(title)}</title>",
        f"<style>{style}</style>",
        *body,
        "</svg>",
    ]
    return "\n".join(lines)


class Picture:
    """SVG, a table beside it, and the same in plain words. Notebooks show the first two, terminals the last.

    svg: one ``<svg>`` element. table: rows (dictionaries) or a DataFrame, or None. text: what ``print`` gives.
    notes: sentences shown above the picture, for example warnings.

    >>> Picture("<svg/>", [{"task": "a"}], "one task")
    one task
    """

    def __init__(self, svg: str, table: Any = None, text: str = "", notes: Iterable[str] = ()):
        self.svg = svg
        self.table = table
        self.text = text
        self.notes = list(notes)

    def __repr__(self) -> str:
        return "\n".join([*self.notes, self.text])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """One text/html with picture *and* table: where only one form survives, both do."""
        return {"text/html": self.html(), "text/plain": repr(self)}

    def html(self) -> str:
        """The picture and its table as an HTML fragment without scripts."""
        root = content_prefix(self.svg, self.text) + "pic"
        notes = "".join(f'<p class="dk-note">{esc(note)}</p>' for note in self.notes)
        words = f'<p class="dk-text">{esc(self.text).replace(chr(10), "<br>")}</p>' if self.text else ""
        return (f'<div id="{root}" class="dk-picture"><style>{_fit(root, self.svg)}</style>{notes}'
                f'<div class="dk-scroll">{self.svg}</div>{words}{self._details()}</div>')

    def _details(self) -> str:
        if self.table is None:
            return ""
        return f'<details class="dk-details"><summary>As a table</summary>{tables.html(self.table)}</details>'

    def save(self, path: Any) -> Path:
        """Write the picture to ``path`` (``.svg``, or ``.html`` with the table) and return the path.

        Raises DagkitError for another ending or a file that cannot be written.
        """
        target = Path(path)
        if target.suffix == ".svg":
            text = self.svg.replace("<svg ", '<svg style="color-scheme:light dark;color:CanvasText" ', 1)
        elif target.suffix == ".html":
            text = ('<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>dagkit</title>'
                    f'<style>:root{{color-scheme:light dark}}</style><body>{self.html()}</body></html>')
        else:
            raise DagkitError(f"picture: cannot save as '{shown(path)}', only .svg and .html. Choose one of these endings.")
        try:
            target.write_text(text + "\n", encoding="utf-8", newline="\n")
        except OSError as error:
            raise DagkitError(f"picture: cannot write '{shown(path)}': {error.strerror}. Choose another path.") from error
        return target


def _fit(root: str, svg: str) -> str:
    """Shrink to the page as long as labels stay legible, then scroll sideways."""
    width = svg.partition(' width="')[2].partition('"')[0]
    least = f"min-width:{num(float(width) * LEGIBLE)}px;" if width.replace(".", "", 1).isdigit() else ""
    return (f"#{root} .dk-scroll{{overflow-x:auto}}#{root} svg{{max-width:100%;{least}height:auto;display:block}}"
            f"#{root} .dk-text{{margin:6px 0}}#{root} .dk-note{{margin:4px 0}}#{root} summary{{cursor:pointer}}"
            f"#{root} table{{margin:6px 0;border-collapse:collapse}}#{root} td,#{root} th{{padding:2px 10px;text-align:left;"
            f"border-bottom:1px solid rgba(128,128,128,.35);white-space:pre-wrap;overflow-wrap:anywhere}}"
            f"#{root} .dk-num{{text-align:right;font-variant-numeric:tabular-nums}}")
