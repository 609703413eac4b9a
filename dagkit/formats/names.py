"""How the plain-text formats quote a name: as it is, or as a JSON string when it would be misread."""

from __future__ import annotations

import json
import re

QUOTED = r'"(?:[^"\\]|\\.)*"'
"""The pattern of a quoted name."""

OPEN = r'"(?:[^"\\]|\\.)*\\?\Z'
"""A quote that is never closed, to the end: tried after QUOTED, so that no text is scanned again and again."""

_WORD = re.compile(r"\w")
_PLAIN = re.compile(r"[\w.\[\]@:/+-]+\Z")


def quote(name: str) -> str:
    r"""A name for an edge list or a table: letters, digits and ``_.-[]@:/+`` stay as they are.

    A leading ``-``, ``+``, ``=`` or ``@`` is quoted too: a spreadsheet would take it for a formula. So is a name
    without a letter or digit, which could be half an arrow or a comment.

    >>> quote("load"), quote("load data"), quote("=1+1"), quote("a\nb"), quote("//")
    ('load', '"load data"', '"=1+1"', '"a\\nb"', '"//"')
    """
    plain = _PLAIN.match(name) and _WORD.search(name) and name[0] not in "-+=@" and "->" not in name
    return name if plain else json.dumps(name)


def unquote(text: str) -> str | None:
    r"""The name behind one word of such a file; None if its quotes do not match.

    >>> unquote('"a\\nb"'), unquote(" load "), unquote('"open')
    ('a\nb', 'load', None)
    """
    text = text.strip()
    if not text.startswith('"'):
        return text
    try:
        name = json.loads(text, strict=False)
    except ValueError:
        return None
    return name if isinstance(name, str) else None
