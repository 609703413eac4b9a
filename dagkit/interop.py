"""To and from networkx, for its algorithms and its users.

>>> from dagkit.examples import file_fanout
>>> graph = to_networkx(file_fanout())
>>> list(graph.predecessors("join")), graph.nodes["process"]["duration"]
(['process', 'load_dim'], 3)
>>> from_networkx(graph).edges == file_fanout().edges
True
"""

from __future__ import annotations

from typing import Any

from .dag import Dag
from .errors import DagkitError
from .task import PARAMETERS, spec_of


def to_networkx(dag: Dag) -> Any:
    """The Dag as a ``networkx.DiGraph``: nodes are task ids in declared order, edges point downstream.

    A node has the attribute ``duration`` and every other parameter that differs from its default; the graph
    has ``name`` (the dag_id) and the Dag's options.
    """
    import networkx as nx
    graph = nx.DiGraph(name=dag.dag_id, **dag.options())
    for task in dag:
        spec = {"duration": task.duration, **spec_of(task)}
        spec.pop("upstream", None)
        graph.add_node(task.task_id, **spec)
    graph.add_edges_from(dag.edges)
    return graph


def from_networkx(graph: Any, dag_id: str | None = None, *, duration: str = "duration", **options: Any,
                  ) -> Dag:
    """A Dag from a directed networkx graph; edges point downstream, parallel edges count once.

    dag_id: by default the graph's name. duration: the node attribute that holds the durations (a node without
    it lasts 1). Other node attributes are taken if they are parameters of Task and left out if they are not;
    so it is with graph attributes and the options of Dag, which ``options`` overrule. Raises DagkitError for
    what is no directed graph, for node ids that are not text (never converted silently) and for whatever Dag
    refuses.

    >>> import networkx as nx
    >>> dag = from_networkx(nx.DiGraph([("a", "b"), ("a", "c")]), "small")
    >>> dag, dag.edges
    (Dag('small', 3 tasks), [('a', 'b'), ('a', 'c')])
    """
    if not getattr(graph, "is_directed", lambda: False)():
        raise DagkitError("from_networkx needs a directed graph (networkx.DiGraph), not "
                          f"{type(graph).__name__}. Direct its edges from upstream to downstream.")
    specs: dict[Any, dict[str, Any]] = {}
    for task_id, attributes in graph.nodes(data=True):
        spec = {name: value for name, value in attributes.items() if name in PARAMETERS[3:]}
        if duration in attributes:
            spec["duration"] = attributes[duration]
        specs[task_id] = {**spec, "upstream": list(graph.predecessors(task_id))}
    kept = {name: value for name, value in graph.graph.items() if name in Dag("_").options()}
    return Dag.from_dict(specs, dag_id or graph.graph.get("name") or "dag", **{**kept, **options})
