"""A plain edge list: a dependency a line, ``extract -> load`` or just ``extract load``.

Chains (``a -> b -> c``) and lists (``a, b -> c``) are understood, a name alone is a task, ``#`` starts a
comment line, and a name with odd characters stands in double quotes, as in JSON. The pair form is that of the
Unix tool ``tsort`` and of networkx, see DEFINITION.
"""

from __future__ import annotations

import re

from ..dag import Dag
from ..errors import shown
from .draft import Draft, check_lines
from .loaded import Loaded
from .names import OPEN, QUOTED, quote, unquote
from .source import Source

NAME = "edges"
TITLE = "edge list (a -> b)"
DEFINITION = "https://networkx.org/documentation/stable/reference/readwrite/edgelist.html"

_MARKS = re.compile(rf"({QUOTED}|{OPEN}|-+>|=+>|>>|→|,)")
_SIMPLE = re.compile(r"([\w.]+)\s*->\s*([\w.]+)\Z")
_PAIR = re.compile(r"[\w.\"][^\s:{}]*(?:\s+[\w.\"][^\s:{}]*)?\Z")  # YAML's "key: value" is no pair of names
_WORDS = re.compile(rf"{QUOTED}|\S+")
_MERMAID = re.compile(r"(?:flowchart|graph)[ \t]+(?:TB|TD|BT|LR|RL)[ \t]*;?$")


def matches_text(text: str) -> bool:
    """Every line that says anything has an arrow, or is one or two bare words; at least one is a dependency."""
    lines = [line.strip() for line in text[:20_000].split("\n")[:50]]
    lines = [line for line in lines if line and not line.startswith("#")]
    pairs = [line for line in lines if not _is_arrow(line)]
    return all(map(_PAIR.match, pairs)) and (
        len(pairs) < len(lines) or any(len(line.split()) == 2 for line in pairs)
    )


def _is_arrow(line: str) -> bool:
    return any(part and part[0] in "-=>→" for part in _MARKS.split(line)[1::2])


def read(source: Source) -> Loaded:
    """The Dag of an edge list; the left of an arrow comes first. Raises FormatError with the line number."""
    check_lines(source)
    draft = Draft(NAME, source)
    for number, line in enumerate(source.text.split("\n"), 1):
        line = line.strip().removesuffix(";")
        if not line or line.startswith("#"):
            continue
        if not draft.specs and _MERMAID.match(line):
            raise source.bad("an edge list", "Mermaid, which the kit writes and does not read",
                             "Drop its first line and keep plain lines a -> b.")
        simple = _SIMPLE.match(line)
        if simple:
            draft.edge(simple[1], simple[2])
            continue
        groups = _arrow_groups(source, number, line) if _is_arrow(line) else _pair(draft, number, line)
        for names in groups:
            for name in names:
                if name not in draft.specs:
                    draft.task(name)
        for left, right in zip(groups, groups[1:], strict=False):
            for up in left:
                for down in right:
                    draft.edge(up, down)
    return draft.finish()


def _bad(source: Source, number: int, found: str) -> Exception:
    return source.bad(
        "'a -> b' or 'a b' on every line", f"{found} on line {number}", "Put odd names in quotes."
    )


def _arrow_groups(source: Source, number: int, line: str) -> list[list[str]]:
    """The names between the arrows of one line."""
    groups: list[list[str]] = [[]]
    fresh = True  # whether a name may start here
    for place, part in enumerate(_MARKS.split(line)):
        mark = place % 2 == 1 and not part.startswith('"')
        if mark and part != ",":
            groups.append([])
        elif not mark and part.strip():
            if not fresh:
                raise _bad(source, number, f"'{shown(part.strip())}' right after a name")
            groups[-1].append(_name(source, number, part))
        fresh = mark or (fresh and not part.strip())
    if not all(groups):
        raise _bad(source, number, f"an arrow without a name on one side ('{shown(line)}')")
    return groups


def _pair(draft: Draft, number: int, line: str) -> list[list[str]]:
    words = _WORDS.findall(line)
    if len(words) > 2 and not (len(words) == 3 or words[2].startswith("{")):
        raise _bad(draft.source, number, f"{len(words)} words")
    if len(words) > 2:
        draft.note("What follows the two names on a line (a weight or attributes) was ignored.")
    return [[_name(draft.source, number, word)] for word in words[:2]]


def _name(source: Source, number: int, text: str) -> str:
    name = unquote(text)
    if not name:
        raise _bad(source, number, f"a badly quoted name {shown(text)}")
    return name


def write(dag: Dag) -> str:
    r"""The Dag as an edge list: every task on a line of its own, then every dependency. Durations are lost.

    >>> write(Dag.from_dict({"a": {}, "b c": {"upstream": "a"}}))
    'a\n"b c"\na -> "b c"\n'
    """
    quoted = {task.task_id: quote(task.task_id) for task in dag}
    lines = [*quoted.values(), *(f"{quoted[up]} -> {quoted[down]}" for up, down in dag.edges)]
    return "".join(f"{line}\n" for line in lines)
