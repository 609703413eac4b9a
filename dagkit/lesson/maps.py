"""Maps: a small diagram of parts and what passes between them, to be clicked or read as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..dag import Dag
from ..errors import shown
from ..views import graph
from ..views.picture import UNSEEN, content_prefix
from .page import esc, fold, rich


@dataclass(frozen=True)
class Node:
    """A part. does: a few words in its box. why: why it exists."""

    name: str
    does: str
    why: str


@dataclass(frozen=True)
class Edge:
    """What passes between two parts. by: its form. effect: what it changes. broken: what if it breaks."""

    start: str
    end: str
    by: str
    effect: str
    broken: str


@dataclass(frozen=True)
class Map:
    """Parts and the arrows between them, left to right.

    >>> parts = Node("a", "makes it", "w"), Node("b", "uses it", "w")
    >>> print(Map("m", parts, [Edge("a", "b", by="file", effect="e", broken="x")]).mermaid())
    flowchart LR
      n0["a"]
      n1["b"]
      n0 -->|"file"| n1
    """

    title: str
    nodes: Sequence[Node]
    edges: Sequence[Edge]

    def dag(self) -> Dag:
        above: dict[str, list[str]] = {node.name: [] for node in self.nodes}
        for edge in self.edges:
            above[edge.end].append(edge.start)
        return Dag.from_dict({name: {"upstream": ups} for name, ups in above.items()}, self.title)

    def svg(self) -> str:
        notes = {node.name: node.does for node in self.nodes}
        arrows = [(edge.start, edge.end) for edge in self.edges]
        prefix = content_prefix("map", self.title, sorted(notes.items()), arrows)
        return graph.render(self.dag(), prefix=prefix, badges=False, notes=notes, collapse="none",
                            headings=False).svg

    def mermaid(self) -> str:
        """The diagram as Mermaid text, for slides and wikis."""
        number = {node.name: f"n{k}" for k, node in enumerate(self.nodes)}
        lines = [f'  {number[node.name]}["{_quoted(node.name)}"]' for node in self.nodes]
        lines += [f'  {number[e.start]} -->|"{_quoted(e.by)}"| {number[e.end]}' for e in self.edges]
        return "\n".join(["flowchart LR", *lines])

    def html(self, facts: Mapping[str, Any]) -> str:
        """The drawing, a place for what was chosen, and everything as text below."""
        nodes = "".join(
            fold(f"<b>{rich(n.name)}</b>: {rich(n.does)}", f"<p>{rich(n.why.format(**facts))}</p>",
                 f' class="dl-part" data-part="{esc(n.name)}"') for n in self.nodes)
        edges = "".join(
            fold(f"<b>{rich(e.start)} → {rich(e.end)}</b>: {rich(e.by)}",
                 f"<p>{rich(e.effect.format(**facts))}</p>"
                 f"<p><b>If it breaks:</b> {rich(e.broken.format(**facts))}</p>",
                 f' class="dl-part" data-from="{esc(e.start)}" data-to="{esc(e.end)}"') for e in self.edges)
        return (f'<section class="dl-map">{UNSEEN}<div class="dl-scroll" hidden="hidden">{self.svg()}</div>'
                f'<div class="dl-told" aria-live="polite" hidden></div>'
                f'<details class="dl-parts"><summary>All parts and arrows as text</summary><div>'
                f"<h4>Parts: why each exists</h4>{nodes}"
                f"<h4>Arrows: what passes, and what if it breaks</h4>{edges}</div></details>"
                f'{fold("As Mermaid text", f"<pre>{_lines(self.mermaid())}</pre>")}</section>')

    def text(self, facts: Mapping[str, Any]) -> str:
        return "\n".join([f"Map: {self.title}", *(f"{n.name}: {n.does}" for n in self.nodes),
                          *(f"{e.start} -> {e.end}: {e.by}" for e in self.edges)])


def _quoted(text: str) -> str:
    return shown(text).replace('"', "#quot;")


def _lines(text: str) -> str:
    return "\n".join(esc(line) for line in text.split("\n"))
