"""DOT, the language of Graphviz, as written by Snakemake, ``airflow dags show``, terraform, ninja and many others.

Definition: https://graphviz.org/doc/info/lang.html. An arrow means *before*; tools that draw "needs" may mean it the
other way round. The grammar is in ``dot_parse``.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from dataclasses import replace
from typing import Any

from ..dag import Dag
from ..errors import shown
from .dot_parse import Parser, log_before, matches_text
from .draft import Draft, seconds
from .loaded import Loaded
from .source import Source
from .table import repr_number

NAME = "dot"


TITLE = "DOT (Graphviz)"


DEFINITION = "https://graphviz.org/doc/info/lang.html"


_EMPTY_NAME = re.compile(r"(?:n|node|t|task|job|v)?_?(?:0x[0-9a-f]+|\d+)\Z", re.I)


_JOINS = (".upstream_join_id", ".downstream_join_id")


_ENTITY = re.compile(r"&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|\w{2,32});")


_MAX_JOINS = 1000


_ESCAPES = {"n": " ", "l": " ", "r": " "}


def read(source: Source) -> Loaded:
    """The Dag of a DOT graph, where ``a -> b`` is a before b. A node's ``duration`` counts, if a number."""
    start = log_before(source.text)
    parser = Parser(replace(source, text=source.text[start:]))
    parser.parse()
    draft = Draft(NAME, source, parser.name or None)
    names = _names(draft, parser.nodes)
    upstream: dict[str, dict[str, None]] = {node: {} for node in parser.nodes}
    for up, down in parser.edges:
        upstream[down][up] = None
    _drop_joins(draft, parser.nodes, upstream)
    for node, ups in upstream.items():
        draft.task(names[node], [names[up] for up in ups], seconds(parser.nodes[node].get("duration")))
    if start:
        draft.note("The lines before the graph were taken for messages of a tool and ignored.")
    if parser.ahead is not None:
        draft.note(f"Only the first graph was read; what follows its closing brace ('{shown(parser.ahead.text)}' ...) "
                   "was ignored.")
    draft.note("An arrow was read as: left before right. Colours, shapes and clusters were ignored.")
    return draft.finish()


def _names(draft: Draft, nodes: dict[str, dict[str, str]]) -> dict[str, str]:
    """Task id by node. Where node names are bare numbers and all have labels, the labels are the names."""
    if not nodes or not all(_EMPTY_NAME.match(node) and attrs.get("label") for node, attrs in nodes.items()):
        return {node: node or "(no name)" for node in nodes}
    labels = {node: _label_of(attrs) for node, attrs in nodes.items()}
    count = Counter(labels.values())
    again = {node: text if count[text] == 1 else f"{text} ({node})" for node, text in labels.items()}
    draft.note_all(
        (text for text, n in count.items() if n > 1),
        "label|labels stood|stood on several nodes; the node's name was added in brackets",
    )
    return again


def _label_of(attrs: dict[str, str]) -> str:
    r"""A label on one line: ``\n``, ``\l`` and ``\r`` become a blank, ``&amp;`` an ampersand.

    >>> _label_of({"label": r"fetch\ns: a &lt; b"})
    'fetch s: a < b'
    """
    if "code_points" in attrs:  # from ``write``: a name that no label can show
        try:
            return "".join(chr(int(point, 16)) for point in attrs["code_points"].split())
        except (ValueError, OverflowError):
            pass
    text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), attrs["label"])
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), text, flags=re.S).replace("\n", " ").strip()


def _drop_joins(draft: Draft, nodes: dict[str, Any], upstream: dict[str, dict[str, None]]) -> None:
    """Airflow draws a small circle before and after a task group; it is no task, so its arrows are joined up."""
    joins = {node: None for node in nodes if node.endswith(_JOINS)}
    if len(joins) > _MAX_JOINS:
        return
    for node, ups in upstream.items():
        if node in joins or joins.keys().isdisjoint(ups):
            continue
        found: dict[str, None] = {}
        seen: set[str] = set()
        stack = list(ups)[::-1]
        while stack:
            up = stack.pop()
            if up not in joins:
                found[up] = None
            elif up not in seen:
                seen.add(up)
                stack += list(upstream[up])[::-1]
        upstream[node] = found
    for join in joins:
        del upstream[join]
    draft.note_all(joins, "circle|circles around task groups was|were read as the arrows they join")


def write(dag: Dag) -> str:
    r"""The Dag as DOT: nodes ``n0``, ``n1``, ... with the task ids as labels and the durations.

    It reads back to the same ids, dependencies and durations. A name with characters that no label can show
    has them escaped there, and all its code points in an attribute of their own.

    >>> print(write(Dag.from_dict({"a": {"duration": 2}, 'b "x"': {"upstream": "a"}}, dag_id="d")))
    digraph "d" {
      rankdir=LR; node [shape=box];
      n0 [label="a", duration="2"];
      n1 [label="b \"x\"", duration="1"];
      n0 -> n1;
    }
    <BLANKLINE>
    """
    number = {task.task_id: f"n{i}" for i, task in enumerate(dag)}
    name = shown(dag.dag_id, 200).replace('"', '\\"').removesuffix("\\")
    lines = [f'digraph "{name}" {{', "  rankdir=LR; node [shape=box];"]
    for task in dag:
        exact = "" if _showable(task.task_id) else f', code_points="{_points(task.task_id)}"'
        lines.append(
            f'  {number[task.task_id]} [label="{_label(task.task_id)}", '
            f'duration="{repr_number(task.duration)}"{exact}];'
        )
    lines += [f"  {number[up]} -> {number[down]};" for up, down in dag.edges]
    return "\n".join([*lines, "}", ""])


def _showable(text: str) -> bool:
    return text.isprintable() and text == text.strip()


def _points(text: str) -> str:
    return " ".join(f"{ord(character):x}" for character in text)


def _label(text: str) -> str:
    r"""Text inside the quotes of a label.

    >>> print(_label('a\\b & "c"'))
    a\\b &amp; \"c\"
    """
    if not _showable(text):
        text = shown(text, 10 * len(text) + 10)
    for plain, coded in (("\\", "\\\\"), ("&", "&amp;"), ('"', '\\"')):
        text = text.replace(plain, coded)
    return text


__all__ = ["matches_text", "read", "write"]
