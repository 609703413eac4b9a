"""The architecture as a drawing one can choose parts of, as tables, as Mermaid and as DOT."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..checks import plain
from ..errors import DagkitError, choices, nearest, quoted, shown
from ..lesson.chart import Chart
from ..lesson.maps import Edge, Node
from ..lesson.page import Page, Table, esc
from .parts import LINKS_THREE, LINKS_TWO, THREE, TWO, Component, Link


@dataclass(frozen=True)
class Architecture:
    """The parts of one version of Airflow. In a notebook it shows itself as a map: choose a box or an arrow.

    >>> architecture(3).component("triggerer").needed
    'no, only for deferrable operators'
    """

    version: int
    components: tuple[Component, ...]
    links: tuple[Link, ...]

    def component(self, name: str) -> Component:
        """A part by its name. Raises DagkitError for an unknown one, with the nearest."""
        known = {c.name: c for c in self.components}
        if name not in known:
            raise DagkitError(f"architecture: there is no component {quoted(name)}.{nearest(name, known)} "
                              f"Known: {choices(known, 12)}.")
        return known[name]

    def table(self) -> Table:
        """A row per part: needed or not, its job, why it exists, what one sees when it is unhealthy."""
        return Table([{"component": c.name, "needed?": c.needed, "job": c.job, "why it exists": c.why,
                       "when unhealthy": c.broken, "first check": c.check} for c in self.components])

    def edges(self) -> Table:
        """A row per arrow: protocol, direction, effect, and the consequence if it breaks."""
        return Table([{"from": e.start, "to": e.end, "protocol": e.protocol, "effect": e.effect,
                       "if it breaks": e.consequence} for e in self.links])

    @cached_property
    def map(self) -> Chart:
        return chart(f"Airflow {self.version}", self.components, self.links)

    def mermaid(self) -> str:
        """The diagram as Mermaid text, for slides and wikis."""
        return self.map.mermaid()

    def dot(self) -> str:
        """The diagram as DOT, for Graphviz.

        >>> architecture(3).dot().splitlines()[1]
        '  rankdir=LR; node [shape=box];'
        """
        number = {c.name: f"n{k}" for k, c in enumerate(self.components)}
        nodes = [f'  {number[c.name]} [label="{_dot(c.name)}\\n{_dot(c.does)}"];' for c in self.components]
        edges = [f'  {number[e.start]} -> {number[e.end]} [label="{_dot(e.protocol)}"];' for e in self.links]
        return "\n".join([f"digraph airflow{self.version} {{", "  rankdir=LR; node [shape=box];", *nodes, *edges, "}"])

    def page(self) -> Page:
        return Page(self.map.html({}), self.map.text({}))

    def __repr__(self) -> str:
        return self.map.text({})

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return self.page()._repr_mimebundle_(**kwargs)


def chart(title: str, components: tuple[Component, ...], links: tuple[Link, ...]) -> Chart:
    """Parts and links as a map that can be chosen from."""
    nodes = tuple(Node(c.name, c.does, f"{c.job} **Why it exists:** {c.why} **Needed:** {c.needed}. **When it is "
                       f"unhealthy:** {c.broken} **First check:** {c.check}".replace("{", "{{").replace("}", "}}"))
                  for c in components)
    edges = tuple(Edge(e.start, e.end, e.protocol, e.effect, e.consequence) for e in links)
    return Chart(title, nodes, edges, places={c.name: c.at for c in components},
                 sides={(e.start, e.end): e.sides for e in links if e.sides}, shades={})


def architecture(version: int = 3) -> Architecture:
    """The architecture of Airflow 3, or of 2 to compare with. Raises DagkitError for another number.

    >>> [e.end for e in architecture(2).links if e.start == "worker"]
    ['metadata DB']
    >>> [e.end for e in architecture(3).links if e.start == "worker"]
    ['API server']
    """
    version = plain(version)
    if version == 3 and type(version) is int:
        return Architecture(3, THREE, LINKS_THREE)
    if version == 2 and type(version) is int:
        return Architecture(2, TWO, LINKS_TWO)
    raise DagkitError(f"architecture: version must be 3 or 2, not {quoted(version)}. 3 is today's.")


def side_by_side() -> Page:
    """What changed in 3: a worker with the database's password beside a worker that asks the API server."""
    halves, words = "", []
    for version, names in ((2, ("worker", "metadata DB")), (3, ("worker", "API server", "metadata DB"))):
        whole = architecture(version)
        found = tuple(_moved(whole.component(name), (0, k)) for k, name in enumerate(names))
        links = tuple(Link(e.start, e.end, e.protocol, e.effect, e.consequence) for e in whole.links
                      if e.start in names and e.end in names)
        small = chart(f"Airflow {version}: how a task reports", found, links)
        listed = "".join(f"<li>{esc(e.start)} → {esc(e.end)}: {esc(e.protocol)}</li>" for e in links)
        halves += (f'<div style="flex:1 1 330px;min-width:0"><h4>Airflow {version}.x</h4>{small.html({})}'
                   f"<ul>{listed}</ul></div>")
        words.append(small.text({}))
    return Page(f'<div style="display:flex;flex-wrap:wrap;gap:8px 28px">{halves}</div>', "\n".join(words))


def _moved(part: Component, at: tuple[float, float]) -> Component:
    return Component(part.name, part.does, part.job, part.needed, part.why, part.broken, part.check, at)


def _dot(text: str) -> str:
    return shown(text).replace("\\", "\\\\").replace('"', '\\"')
