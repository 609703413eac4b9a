"""networkx graphs: the object itself, and the node-link JSON that ``networkx.node_link_data`` gives.

Definition: https://networkx.org/documentation/stable/reference/readwrite/json_graph.html
"""

from __future__ import annotations

from typing import Any

from ..checks import is_number
from ..errors import FormatError, shown
from ..interop import from_networkx
from .draft import Draft, label, seconds
from .loaded import Loaded
from .safe import as_dict, as_list, parse_json
from .source import Source

NAME = "networkx"
TITLE = "networkx graph (object or node-link JSON)"
DEFINITION = "https://networkx.org/documentation/stable/reference/readwrite/json_graph.html"


def is_graph(given: Any) -> bool:
    """Whether this is a networkx graph, told without importing networkx."""
    return all(hasattr(given, name) for name in ("nodes", "edges", "is_directed"))


def from_object(graph: Any, **options: Any) -> Loaded:
    """The Dag of a directed graph, see ``dagkit.interop.from_networkx``; names become text."""
    import networkx as nx

    names = {node: label(node) for node in graph}
    if len(set(names.values())) < len(names) or "" in names.values():
        raise FormatError(
            "networkx graph: expected nodes whose text is unique and not empty, found two alike or an "
            "empty one. Rename the nodes first."
        )
    report = [
        f"Node names that are not text were turned into text ({sum(type(n) is not str for n in names)})."
    ]
    dag = from_networkx(nx.relabel_nodes(graph, names) if names else graph, **options)
    missing = tuple(names[n] for n, data in graph.nodes(data=True) if not is_number(data.get("duration")))
    if missing:
        having = "node has" if len(missing) == 1 else "nodes have"
        report.append(f"{len(missing)} {having} no attribute 'duration' (counted as 1).")
    return Loaded(dag, NAME, report[all(type(n) is str for n in names) :], missing=missing)


def matches(data: Any) -> bool:
    """``nodes`` and ``links`` (or ``edges``), both lists, with source and target."""
    data = as_dict(data)
    links = data.get("links", data.get("edges"))
    return (
        isinstance(data.get("nodes"), list)
        and isinstance(links, list)
        and all(isinstance(link, dict) and "source" in link and "target" in link for link in links[:5])
    )


def read(source: Source, data: Any = None) -> Loaded:
    """The Dag of a node-link JSON text. Raises FormatError if it says that the graph has no direction."""
    data = parse_json(source) if data is None else data
    if not matches(data):
        raise source.bad(
            "node-link JSON with 'nodes' and 'links'", type(data).__name__, "See networkx.node_link_data."
        )
    if data.get("directed") is False:
        raise source.bad(
            "a directed graph", '"directed": false', "Direct its edges from upstream to downstream."
        )
    draft = Draft(NAME, source, label(as_dict(data.get("graph")).get("name")) or None)
    for node in data["nodes"]:
        entry = node if isinstance(node, dict) else {"id": node}
        draft.task(label(entry.get("id")), (), seconds(entry.get("duration")))
    for link in data.get("links", data.get("edges")):
        ends = [label(as_dict(link).get(end)) for end in ("source", "target")]
        for end in ends:
            if end not in draft.specs:
                raise source.bad(
                    "links between listed nodes", f"a link with '{shown(end)}'", "List that node."
                )
        draft.edge(ends[0], ends[1])
    if as_list(data.get("multigraph")) == [True]:
        draft.note("Parallel links count once.")
    return draft.finish()
