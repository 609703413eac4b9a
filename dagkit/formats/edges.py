"""A plain edge list: a dependency a line, ``extract -> load`` or just ``extract load``.

Chains (``a -> b -> c``) and lists (``a, b -> c``) are understood, a name alone is a task, ``;`` parts two statements,
``#`` or ``//`` after a blank begins a comment, and a name with odd characters stands in double quotes, as in JSON.
Other arrows are refused, not guessed at. The pair form is that of the Unix tool ``tsort`` and of networkx, see DEFINITION.
"""

from __future__ import annotations

import json
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
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")
_WORDS = re.compile(rf"{QUOTED}|\S+")
_CUT = re.compile(rf"{QUOTED}|{OPEN}|(?P<cut>;|(?:^|(?<=\s))(?:#|//(?=\s|$)).*)")
_ODD = re.compile(r"[<>|]|(?:^|\s)[!-/:-@\[-^`{-~]+(?:\s|$)")  # part of another arrow, or a word of signs alone
_MERMAID = r"""(?:(?:flowchart(?:-elk)?|graph)\s+(?:TB|TD|BT|LR|RL)\b|
(?:flowchart(?:-elk)?|stateDiagram(?:-v2)?|sequenceDiagram|classDiagram|erDiagram|gitGraph)\s*:?\s*\Z)"""
_FOREIGN = (
    (re.compile(_MERMAID, re.VERBOSE | re.IGNORECASE), "Mermaid, which the kit writes and does not read"),
    (re.compile(r"@start\w+\b"), "PlantUML"),
    (re.compile(r"<[!?/\w]"), "HTML or XML"),
)
"""How other languages of arrows begin."""


def matches_text(text: str) -> bool:
    """Every line that says anything has an arrow, or is one or two bare words; at least one is a dependency."""
    lines = [part for line in text[:20_000].split("\n")[:50] for part in _parts(line)]
    pairs = [line for line in lines if not _is_arrow(line)]
    return all(map(_PAIR.match, pairs)) and (
        len(pairs) < len(lines) or any(len(line.split()) == 2 for line in pairs)
    )


def _parts(line: str) -> list[str]:
    """The statements of a line, if there is an arrow in it; ``;`` alone is no sign of an edge list."""
    parts = _statements(line)
    return parts if len(parts) < 2 or _is_arrow(line) else [line]


def _statements(line: str) -> list[str]:
    """What a line says, without its comment.

    >>> _statements('a -> b; "b;" -> c#2  # then d')
    ['a -> b', '"b;" -> c#2']
    """
    made, start = [], 0
    for found in _CUT.finditer(line):
        if found["cut"]:
            made.append(line[start : found.start()])
            start = found.end()
    return [part for part in map(str.strip, [*made, line[start:]]) if part]


def _is_arrow(line: str) -> bool:
    return any(part and part[0] in "-=>→" for part in _MARKS.split(line)[1::2])


def read(source: Source) -> Loaded:
    """The Dag of an edge list; the left of an arrow comes first. Raises FormatError with the line number."""
    check_lines(source)
    draft = Draft(NAME, source)
    for number, line in enumerate(source.text.split("\n"), 1):
        simple = _SIMPLE.match(line)
        if simple:
            draft.edge(simple[1], simple[2])
            continue
        for statement in _statements(line):
            if not draft.specs:
                _check_language(source, statement)
            _read(draft, number, statement)
    return draft.finish()


def _check_language(source: Source, first: str) -> None:
    for pattern, language in _FOREIGN:
        if pattern.match(first):
            raise source.bad("an edge list", language, "Keep its plain lines a -> b and drop the rest.")


def _read(draft: Draft, number: int, line: str) -> None:
    groups = _arrow_groups(draft.source, number, line) if _is_arrow(line) else _pair(draft, number, line)
    for names in groups:
        for name in names:
            if name not in draft.specs:
                draft.task(name)
    for left, right in zip(groups, groups[1:], strict=False):
        for up in left:
            for down in right:
                draft.edge(up, down)


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
    if len(words) > 2 and not (words[2].startswith("{") or len(words) == 3 and _NUMBER.match(words[2])):
        raise _bad(draft.source, number, f"{len(words)} words")
    if len(words) > 2:
        draft.note("What follows the two names on a line (a weight or attributes) was ignored.")
    return [[_name(draft.source, number, word)] for word in words[:2]]


def _name(source: Source, number: int, text: str) -> str:
    name = unquote(text)
    if not name:
        raise _bad(source, number, f"a badly quoted name {shown(text)}")
    if not text.lstrip().startswith('"') and _ODD.search(name):
        raise _bad(source, number, f"'{shown(name)}', which is no name and no arrow known here,")
    return name


def write(dag: Dag) -> str:
    r"""The Dag as an edge list: every task on a line of its own, then every dependency. Durations are lost.

    >>> write(Dag.from_dict({"a": {}, "b c": {"upstream": "a"}}))
    'a\n"b c"\na -> "b c"\n'
    """
    quoted = {task.task_id: quote(task.task_id) for task in dag}
    for name in dag.tasks:
        if any(pattern.match(name) for pattern, _ in _FOREIGN):
            quoted[name] = json.dumps(name)
    lines = [*quoted.values(), *(f"{quoted[up]} -> {quoted[down]}" for up, down in dag.edges)]
    return "".join(f"{line}\n" for line in lines)
