"""Rows as an HTML table or as aligned text: every cell is untrusted and escaped."""

from __future__ import annotations

import html as _html
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import shown

MOST = 200
"""Rows shown; the rest is counted."""
CELL = 80
"""Longest cell, in characters."""


def rows_of(table: Any) -> tuple[list[str], list[Sequence[Any]]]:
    """Column names and rows of a DataFrame or of a sequence of dictionaries with the same keys.

    >>> rows_of([{"task": "a", "wave": 1}])
    (['task', 'wave'], [('a', 1)])
    """
    if hasattr(table, "itertuples"):
        named = [n is not None for n in table.index.names]
        frame = table.reset_index() if any(named) else table
        return [str(c) for c in frame.columns], list(frame.itertuples(index=False, name=None))
    rows: Sequence[Mapping[str, Any]] = list(table)
    columns = list(rows[0]) if rows else []
    return [str(c) for c in columns], [tuple(row.get(c) for c in columns) for row in rows]


def cell(value: Any) -> str:
    """One value as short plain text.

    >>> cell(2.5), cell(None), cell(True), cell(0.1 + 0.2)
    ('2.5', '', 'yes', '0.3')
    """
    if value is None or value != value:
        return ""
    if value is True or value is False:
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, (list, tuple)):
        return shown(", ".join(map(str, value)), CELL)
    return shown(value, CELL)


def html(table: Any, most: int = MOST) -> str:
    """The table as HTML; after ``most`` rows it says how many more there are.

    >>> html([{"task": "<b>"}])
    '<table><thead><tr><th>task</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    columns, rows = rows_of(table)
    head = "".join(f"<th>{_html.escape(shown(c, CELL))}</th>" for c in columns)
    body = "".join(f"<tr>{''.join(map(_td, row))}</tr>" for row in rows[:most])
    rest = f"<p>The first {most} of {len(rows):,} rows.</p>" if len(rows) > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _td(value: Any) -> str:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    start = '<td class="dk-num">' if number else "<td>"
    return f"{start}{_html.escape(cell(value))}</td>"
