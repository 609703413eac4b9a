"""Page: one piece of a lesson. HTML that works as it is; where widgets run, a script makes it livelier."""

from __future__ import annotations

import html as _html
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import traitlets

from ..errors import shown
from ..views import table as tables
from ..widget import Widget, module

HERE = Path(__file__).parent
LONGEST = 4000
"""Longest text shown in one piece, in characters: a bound for hostile ids, far above any sentence."""


@cache
def css() -> str:
    """The one stylesheet of all lessons."""
    return (HERE / "lesson.css").read_text(encoding="utf-8").strip()


class Page(Widget):
    """What a lesson cell shows: ``html`` for people, ``text`` for terminals, ``answers`` once given."""

    _esm = module(HERE / "lesson.js")
    _css = HERE / "lesson.css"
    html = traitlets.Unicode("").tag(sync=True)
    answers = traitlets.Dict({}).tag(sync=True)

    def __init__(self, html: str, text: str, **traits: Any):
        super().__init__(html=html, **traits)
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def twin(self) -> str:
        return static(self.html)


class Table:
    """A table whose cells are shown in full; pandas cuts long sentences. A line breaks at a space or after ``_``."""

    def __init__(self, rows: Any):
        self.rows = rows

    def __repr__(self) -> str:
        columns, rows = tables.rows_of(self.rows)
        return "\n".join(" | ".join(map(whole, row)) for row in [columns, *rows])

    def _repr_html_(self) -> str:
        columns, rows = tables.rows_of(self.rows)
        first = rows[0] if rows else [""] * len(columns)
        head = "".join(f"<th{_look(value)}>{breaks(name)}</th>" for name, value in zip(columns, first, strict=True))
        body = "".join(f"<tr>{''.join(map(_td, row))}</tr>" for row in rows[:tables.MOST])
        more = f"<p>The first {tables.MOST} of {len(rows):,} rows.</p>" if len(rows) > tables.MOST else ""
        return static(f'<div class="dl-scroll dl-table"><table><thead><tr>{head}</tr></thead>'
                      f"<tbody>{body}</tbody></table>{more}</div>")


def whole(value: Any) -> str:
    """A cell as plain text, as long as it is.

    >>> len(whole("a" * 500)), whole(["a", "b"]), whole(None)
    (500, 'a, b', '')
    """
    if isinstance(value, (list, tuple)):
        return shown(", ".join(map(str, value)), LONGEST)
    return shown(value, LONGEST) if isinstance(value, str) else tables.cell(value)


def breaks(value: Any) -> str:
    """A cell as HTML: a long name may go on in the next line after an underscore, never inside a word.

    >>> breaks("trigger_rule")
    'trigger_<wbr>rule'
    """
    return esc(whole(value)).replace("_", "_<wbr>")


def _td(value: Any) -> str:
    return f"<td{_look(value)}>{breaks(value)}</td>"


def _look(value: Any) -> str:
    """Numbers stand to the right, and so does the name above them."""
    return ' class="dk-num"' if isinstance(value, (int, float)) and not isinstance(value, bool) else ""


class Folded:
    """Anything that shows itself as HTML, behind a line that opens."""

    def __init__(self, line: str, inside: Any):
        self.line, self.inside = line, inside

    def __repr__(self) -> str:
        return self.line

    def _repr_html_(self) -> str:
        return static(fold(rich(self.line), content(self.inside)))


def content(found: Any) -> str:
    """Whatever was given, as HTML: it shows itself, or its text is set as it is."""
    for name in ("html", "_repr_html_"):
        make = getattr(found, name, None)
        if callable(make):
            return str(make())
    return "<pre>" + "\n".join(esc(line) for line in str(found).split("\n")) + "</pre>"


def static(html: str) -> str:
    """The page without a script: it carries its own look."""
    return f'<div class="dl-lesson"><style>{css()}</style>{html}</div>'


def esc(text: object) -> str:
    """Text for HTML, control characters written out.

    >>> esc('<b>\\x00')
    '&lt;b&gt;\\\\x00'
    """
    return _html.escape(shown(text, LONGEST), quote=True)


def rich(text: object) -> str:
    """Text of a lesson: escaped, then `code` and **bold** set.

    >>> rich("`a` > **b**")
    '<code>a</code> &gt; <b>b</b>'
    """
    safe = re.sub(r"`([^`]+)`", r"<code>\1</code>", esc(text))
    return re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", safe)


def plain(text: str) -> str:
    """The same without marks, for terminals and for speech."""
    return re.sub(r"`([^`]+)`", r"\1", text).replace("**", "")


def fold(summary: str, inside: str, attributes: str = "") -> str:
    """A line that opens: needs no script and no kernel, only a key. Both parts are HTML already."""
    return f"<details{attributes}><summary>{summary}</summary><div>{inside}</div></details>"


def items(texts: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{rich(text)}</li>" for text in texts) + "</ul>"


def filled(text: str, facts: Mapping[str, Any]) -> str:
    """A text with its computed numbers put in."""
    return text.format(**facts)
