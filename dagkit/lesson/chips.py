"""Tables in which a state looks like a state: its colour, its sign, its border, wherever its name stands in a cell."""

from __future__ import annotations

from typing import Any

from .. import states
from ..errors import shown
from ..views.picture import badge
from ..views.table import rows_of
from .page import LONGEST, breaks, esc, static

_CELL = ("padding:4px 14px 4px 0;text-align:left;vertical-align:baseline;white-space:normal;"
         "overflow-wrap:normal;word-break:normal")
_LOOK = ("display:inline-block;margin:1px 0;padding:0 6px;border:1px {border} currentColor;border-radius:8px;"
         "white-space:nowrap")

PLAIN = ("reason", "why")
"""Columns that stay words: a reason may have the name of a state ('running') and is none."""


def chip(name: str) -> str:
    """A state as it looks in every picture.

    >>> "✗ F" in chip("failed")
    True
    """
    state = states.TABLE[states.code(name)]
    fill, ink = ("none", "inherit") if name == "none" else (state.fill, state.ink)      # as in the charts: nothing yet
    return (f'<span style="{_LOOK.format(border=state.border)};background:{fill};color:{ink}">'
            f"{esc(badge(state))} {esc(name)}</span>")


class Chips:
    """A table whose cells are shown in full; a cell that is a state, or a list of states, becomes chips. See ``PLAIN``."""

    def __init__(self, rows: Any):
        self.columns, self.rows = rows_of(rows)

    def __repr__(self) -> str:
        return "\n".join(" | ".join(map(_words, row)) for row in [self.columns, *self.rows])

    def _repr_html_(self) -> str:
        head = "".join(f'<th style="{_CELL}">{esc(name)}</th>' for name in self.columns)
        rows = (zip(self.columns, row, strict=True) for row in self.rows)
        body = "".join("<tr>" + "".join(f'<td style="{_CELL}">{_cell(value, name)}</td>' for name, value in row) + "</tr>"
                       for row in rows)
        return static(f'<div class="dl-scroll"><table style="table-layout:auto;border-collapse:collapse;font-size:13px">'
                      f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>")


def chips(rows: Any) -> Chips:
    """Rows (a DataFrame, or a list of dictionaries) as a table with states in colour. Nothing is cut short.

    >>> chips([{"task": "a", "ended": "failed", "then": ["none", "removed"]}])
    task | ended | then
    a | failed | none, removed
    """
    return Chips(rows if hasattr(rows, "itertuples") else list(rows))


def _words(value: Any) -> str:
    if value is None or value is False:
        return ""
    if value is True:
        return "yes"
    return shown(", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value, LONGEST)


def _cell(value: Any, column: str) -> str:
    names = value if isinstance(value, (list, tuple)) else [value]
    if names and column not in PLAIN and all(isinstance(name, str) and name in states.CODE for name in names):
        return " ".join(map(chip, names))
    text = _words(value)
    return f'<span style="white-space:nowrap">{esc(text)}</span>' if len(text) < 30 else breaks(text)
