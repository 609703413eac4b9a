"""Mermaid, the text diagrams that GitHub, GitLab and many wikis draw: out only.

Definition: https://mermaid.js.org/syntax/flowchart.html. Names are labels in quotes with every character that
Mermaid, Markdown or HTML could take for markup written as a number, so a hostile id stays plain text.
"""

from __future__ import annotations

from ..dag import Dag
from ..errors import shown

NAME = "mermaid"
TITLE = "Mermaid flowchart"
DEFINITION = "https://mermaid.js.org/syntax/flowchart.html"

MAX_EDGES = 500
"""What Mermaid draws unless it is configured otherwise; a larger text is still correct."""


def write(dag: Dag) -> str:
    """The Dag as a Mermaid flowchart from left to right. Names are cut at 60 characters; durations are lost.

    >>> print(write(Dag.from_dict({"a": {}, "<b>": {"upstream": "a"}})))
    flowchart LR
      n0["a"]
      n1["#lt;b#gt;"]
      n0 --> n1
    <BLANKLINE>
    """
    number = {task.task_id: f"n{i}" for i, task in enumerate(dag)}
    lines = ["flowchart LR"]
    lines += [f'  {node}["{_label(task_id)}"]' for task_id, node in number.items()]
    lines += [f"  {number[up]} --> {number[down]}" for up, down in dag.edges]
    return "\n".join([*lines, ""])


_NAMED = {"<": "#lt;", ">": "#gt;", "&": "#amp;", '"': "#quot;"}
_SAFE = frozenset(" -_./:,+=@()[]")


def _label(text: str) -> str:
    """Letters and digits of any script as they are, other signs as Mermaid's entity codes."""
    return "".join(c if c.isalnum() or c in _SAFE else _NAMED.get(c, f"#{ord(c)};") for c in shown(text))
