"""A Trace as one JSON-able dictionary: all that the player and the HTML export know.

Text in it is safe to show and to send: control characters and lone surrogates are written out
(``\\n``, ``\\ud800``), long ids are cut. States, nodes and reasons are sent once and referred to by number.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

from .. import states
from ..errors import shown
from . import graph
from .picture import content_prefix, plain

VERSION = 1
LABEL = 80
"""Longest task label sent, in characters."""
LINE = 400
"""Longest sentence or log line sent, in characters."""
EXPLAINED = 200_000
"""Up to so many TIs times ticks, the reason of each TI at each tick is sent along."""
METERS = 12
"""Most limits shown."""
DRAWN = 4
"""Up to so many Dags are drawn; all their TIs are listed anyway."""


def replay(trace: Any, *, prefix: str = "dk-", title: str | None = None) -> dict[str, Any]:
    """Everything a player needs to show ``trace`` without asking again.

    prefix: what the ids inside the drawings start with (unique on its page). title: instead of the Dag's id.

    Times are ticks. ``[[tick, value], ...]`` always means: from that tick on, until the next entry.

    >>> from dagkit import examples, simulate
    >>> sent = replay(simulate(examples.orders()))
    >>> sent["last_tick"], sent["tis"][0]["label"], sent["verdict"]["run_state"]
    (16, 'extract_orders', 'success')
    """
    graphs, nodes = _drawings(trace, prefix)
    return {
        "version": VERSION,
        "title": plain(title or _title(trace), LABEL),
        "last_tick": trace.last_tick,
        "tick_seconds": trace.scenario.config.tick_seconds,
        "states": [{**state._asdict(), "final": code in states.FINISHED}
                   for code, state in enumerate(states.TABLE)],
        "tis": [{"label": plain(label, LABEL), "changes": _codes(changes)}
                for label, changes in zip(trace.labels, trace.changes, strict=True)],
        "graphs": graphs,
        "nodes": nodes,
        "meters": _meters(trace),
        "log": [[tick, shown(line, LINE)] for tick, line in trace.log_lines],
        "reasons": _reasons(trace),
        "verdict": verdict(trace),
        "warnings": notes(trace),
        "fidelity": fidelity(trace),
    }


def _title(trace: Any) -> str:
    dags = trace.scenario.dags
    return str(dags[0].dag_id) if len(dags) == 1 else f"{len(dags)} Dags"


def _codes(changes: Iterable[tuple[int, str]]) -> list[list[int]]:
    return [[tick, states.CODE[name]] for tick, name in changes]


def _drawings(trace: Any, prefix: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The drawings, and which TIs each of their nodes stands for."""
    tis: dict[tuple[str, str], list[int]] = {}
    for number, label in enumerate(trace.labels):
        tis.setdefault(trace.task_of(label)[:2], []).append(number)
    graphs, nodes = [], []
    for number, dag in enumerate(_dags(trace)):
        drawing = _drawing(dag, f"{prefix}{number}-")
        graphs.append({"dag_id": plain(dag.dag_id, LABEL), "svg": drawing.svg,
                       "collapsed": _collapsed(drawing)})
        for node in drawing.nodes:
            members = [ti for task_id in node.task_ids for ti in tis.get((dag.dag_id, task_id), ())]
            nodes.append({"id": node.id, "label": plain(node.label, LABEL), "graph": number, "tis": members})
    return graphs, nodes


def _dags(trace: Any) -> list[Any]:
    """The Dags to draw. Where a definition changed on the way: the larger one, so that most tasks are in it."""
    before, after = trace.scenario.dags, trace._now.dags
    return [max(pair, key=len) for pair in zip(before, after, strict=True)][:DRAWN]


def _meters(trace: Any) -> list[dict[str, Any]]:
    """The limits that were used at all, the tightest first."""
    def room(meter: Any) -> float:
        return math.inf if not meter.size else meter.size / max(n for _, n in meter.used)
    used = sorted((meter for meter in trace.meters if any(n for _, n in meter.used)), key=room)
    return [{"name": plain(meter.name, LABEL), "kind": meter.kind, "size": meter.size,
             "used": [list(step) for step in meter.used]} for meter in used[:METERS]]


def _drawing(dag: Any, prefix: str, ends: dict[str, str] | None = None) -> graph.Drawing:
    """As ``graph`` draws it; but one or two groups tell nothing, so then a box per wave."""
    drawing = graph.render(dag, prefix=prefix, states=ends)
    if drawing.collapsed and len(drawing.nodes) < 3:
        return graph.render(dag, prefix=prefix, states=ends, collapse="wave")
    return drawing


def _collapsed(drawing: graph.Drawing) -> str | None:
    """In a player a box is opened by choosing it, so it needs its own sentence."""
    if drawing.collapsed is None:
        return None
    tasks = sum(len(node.task_ids) for node in drawing.nodes)
    return (f"Too large to read task by task: {tasks:,} tasks in {len(drawing.nodes)} boxes, each with a bar "
            "of its tasks' states. Choose a box to list its tasks below.")


def final_drawings(trace: Any) -> list[graph.Drawing]:
    """The Dags as saved pictures, coloured by the last states."""
    ends: dict[str, dict[str, list[str]]] = {}
    for label, changes in zip(trace.labels, trace.changes, strict=True):
        dag_id, task_id, *_ = trace.task_of(label)
        ends.setdefault(dag_id, {}).setdefault(task_id, []).append(changes[-1][1])
    found = []
    for dag in _dags(trace):
        last = _numbered({t: held for t, held in ends.get(dag.dag_id, {}).items() if t in dag})
        found.append(_drawing(dag, content_prefix(dag.dag_id, list(dag.tasks), dag.edges, last), last))
    return found


def _numbered(ends: dict[str, list[str]]) -> dict[str, str]:
    """One state per TI, as ``graph`` wants them: "a[0]", "a[1]" are the TIs of a, mapped or of several runs.

    >>> _numbered({"a": ["success"], "b": ["success", "failed"]})
    {'a': 'success', 'b[0]': 'success', 'b[1]': 'failed'}
    """
    return {task_id if len(found) == 1 else f"{task_id}[{number}]": state
            for task_id, found in ends.items() for number, state in enumerate(found)}


def notes(trace: Any) -> list[str]:
    """The trace's warnings, and what the player does not hold, said plainly."""
    labels, found = trace.labels, []
    if len(trace.scenario.dags) > DRAWN:
        found.append(f"Only the first {DRAWN} of {len(trace.scenario.dags)} Dags are drawn; "
                     "all their tasks are in the rows.")
    if not _explained(trace):
        found.append(f"With {len(labels)} tasks over {trace.last_tick} ticks the reasons are not sent along; "
                     "ask trace.explain(task, tick) for one of them.")
    return [shown(note, LINE) for note in (*found, *trace.warnings)]


def _explained(trace: Any) -> bool:
    return len(trace.labels) * trace.last_tick <= EXPLAINED


def _reasons(trace: Any) -> dict[str, Any]:
    """Each sentence once; per TI from which tick on it holds (-1: the state says it all)."""
    texts: dict[str, int] = {}
    by_ti = []
    for label in trace.labels if _explained(trace) else ():
        steps = []
        for start, _end, reason in trace.reasons[label]:
            finished = reason.code == "finished"
            steps.append([start, -1 if finished else texts.setdefault(_sentence(reason), len(texts))])
        by_ti.append(steps)
    return {"texts": list(texts), "by_ti": by_ti}


def _sentence(reason: Any) -> str:
    help_ = f" What would help: {reason.remedy}." if reason.remedy else ""
    return shown(reason.text + help_, LINE)


def verdict(trace: Any) -> dict[str, Any]:
    """Airflow's verdict and the naive one, with the sentence that says why they agree or differ."""
    return {"run_state": verdict_word(trace), "good": set(trace.run_states.values()) == {"success"},
            "any_failed": trace.any_failed, "text": verdict_text(trace)}


def verdict_word(trace: Any) -> str:
    """The state of the only run, or how many runs ended how."""
    counts = Counter(trace.run_states.values())
    if len(trace.run_states) == 1:
        return next(iter(counts))
    return ", ".join(f"{counts[state]} {state}" for state in states.RUN_STATES if counts[state]) or "no run"


def verdict_text(trace: Any) -> str:
    """Why Airflow's run state and "did some task fail?" agree or differ in this trace."""
    bad = [shown(label) for label, state in trace.final_states.items()
           if state in ("failed", "upstream_failed")]
    named = ", ".join(bad[:4]) + (f" and {len(bad) - 4} more" if len(bad) > 4 else "")
    rule = "Airflow looks only at the leaves, the tasks that nothing waits for."
    if trace.stalled:
        return "The run cannot finish: tasks are left over and nothing will move them. The warnings say why."
    if len(trace.run_states) > 1:
        lost = f" These did not do their work: {named}." if bad else ""
        return f"{rule} Each run is judged by itself.{lost}"
    if trace.run_state == "success" and bad:
        return (f"{rule} Every leaf ended in success or skipped, so the run counts as a success, "
                f"although these did not do their work: {named}.")
    if trace.run_state == "success":
        return "The two agree: nothing failed, so every leaf ended well too."
    if bad:
        return f"The two agree. {rule} At least one is among those that did not do their work: {named}."
    return "No task failed, yet the run did not end well."


def fidelity(trace: Any) -> str:
    """One sentence on what was simulated."""
    pacing = {
        "lesson": "lesson pacing: whatever follows from a change happens within the same tick",
        "airflow": "Airflow's own pacing: one level per pass, within its query window",
    }[trace.scenario.config.pacing]
    return f"Simulated scheduler after Airflow {states.AIRFLOW_VERSION}, {pacing}."
