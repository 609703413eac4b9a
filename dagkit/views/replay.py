"""A Trace, or two to be compared, as one JSON-able dictionary: all that the player and the HTML export know.

Text in it is safe to show and to send: control characters and lone surrogates are written out
(``\\n``, ``\\ud800``), long ids are cut. States, nodes and reasons are sent once and referred to by number.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .. import states
from ..errors import shown
from ..scenario import ACTIONS, Pool, Scenario
from ..task import spec_of
from . import graph
from .picture import content_prefix, counted, plain

VERSION = 1
LABEL = 80
"""Longest task label sent, in characters."""
LINE = 400
"""Longest sentence or log line sent, in characters."""
EXPLAINED = 200_000
"""Up to so many TIs times ticks, the reason of each TI at each tick is sent along."""
METERS = 12
"""Most limits shown."""
ORDER = ("First", "Second")
"""Of two futures, as the sentence of ``Trace.diff`` calls them."""
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


def final_drawings(trace: Any, lane: int = 0) -> list[graph.Drawing]:
    """The Dags as saved pictures, coloured by the last states; each lane of a page has ids of its own."""
    ends: dict[str, dict[str, list[str]]] = {}
    for label, changes in zip(trace.labels, trace.changes, strict=True):
        dag_id, task_id, *_ = trace.task_of(label)
        ends.setdefault(dag_id, {}).setdefault(task_id, []).append(changes[-1][1])
    found = []
    for dag in _dags(trace):
        last = _numbered({t: held for t, held in ends.get(dag.dag_id, {}).items() if t in dag})
        drawn = (dag.dag_id, list(dag.tasks), dag.edges, last, *([lane] if lane else []))
        found.append(_drawing(dag, content_prefix(*drawn), last))
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
        found.append(f"With {counted(len(labels), 'task')} over {counted(trace.last_tick, 'tick')} the reasons "
                     "are not sent along; ask trace.explain(task, tick) for one of them.")
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
    if not trace.run_states:
        return "There is no run, so there is nothing to judge."
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
    return (f"Simulated scheduler after Airflow {states.AIRFLOW_VERSION}, {pacing}. "
            "What is simplified: docs/fidelity.md in the repository.")


# ---- two futures ----


def beside(trace: Any, other: Any, titles: Sequence[str] | None = None, *, prefix: str = "dk-b-") -> dict[str, Any]:
    """The second future beside ``trace``: its replay, where and why the two part, which TIs belong together.

    pairs: ``[number in trace, number in other]``, -1 where a future has no such TI.

    >>> from dagkit import examples, simulate
    >>> trace = simulate(examples.orders())
    >>> sent = beside(trace, trace.fork(1, pools={"db": 2}))
    >>> sent["titles"], sent["tick"], sent["pairs"][:2]
    (['as it was', 'at tick 1: pool db = 2'], 1, [[0, 0], [1, 1]])
    """
    return {"replay": replay(other, prefix=prefix), "titles": named(trace, other, titles), **parting(trace, other),
            "pairs": pairs(trace, other)}


def parting(trace: Any, other: Any) -> dict[str, Any]:
    """The tick at which two traces part (None: never), and the sentence of ``Trace.diff``."""
    difference = trace.diff(other)
    sentence = str(difference)
    return {"tick": difference.tick, "text": shown(sentence[:1].upper() + sentence[1:], LINE)}


def pairs(trace: Any, other: Any) -> list[list[int]]:
    """Which TIs are the same task instance in both traces, in display order; those only in ``other`` come last."""
    theirs = {other.task_of(label): number for number, label in enumerate(other.labels)}
    found = [[number, theirs.get(trace.task_of(label), -1)] for number, label in enumerate(trace.labels)]
    met = {right for _, right in found}
    return found + [[-1, number] for number in range(len(other.labels)) if number not in met]


def named(trace: Any, other: Any, titles: Sequence[str] | None = None) -> list[str]:
    """What the two futures are called: as given, else after what was changed in each."""
    return [plain(title, LABEL) for title in titles or _titles(trace, other)]


def _titles(trace: Any, other: Any) -> list[str]:
    before, after = trace.scenario, other.scenario
    if not {dag.dag_id for dag in before.dags} & {dag.dag_id for dag in after.dags}:
        return [_title(trace), _title(other)]
    common = 0
    while before.changes[common:] and after.changes[common:] and before.changes[common] == after.changes[common]:
        common += 1
    words = list(_differences(before, after))
    left, right = _changes(before, common), _changes(after, common)
    return [_few(left) or "as it was", _few([*words, *right]) or ("as it was" if left else "the same")]


def _few(words: list[str], most: int = 3) -> str:
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def _changes(scenario: Scenario, since: int) -> list[str]:
    """What was changed on the way, after the first ``since`` changes: "at tick 3: pool db = 2"."""
    found, now = [], scenario
    for number, (tick, change) in enumerate(scenario.changes):
        then = now.merged({name: value for name, value in change.items() if name not in ACTIONS})
        done = [f"{name} {_value(change[name])}" for name in ACTIONS if name in change]
        if number >= since:
            found.append(f"at tick {tick}: {_few([*_differences(now, then), *done]) or 'no change'}")
        now = then
    return found


def _differences(before: Scenario, after: Scenario) -> Iterator[str]:
    """What was set differently from the start, in a few words each: "pool db = 2"."""
    for name, noun in (("pools", "pool "), ("outcomes", "outcomes of "), ("durations", "duration of "),
                       ("initial", "initial state of ")):
        yield from _entries(getattr(before, name) or {}, getattr(after, name) or {}, noun)
    yield from _entries({**vars(before.config), "seed": before.seed}, {**vars(after.config), "seed": after.seed})
    yield from (f"other {name}" for name in ("executor", "faults", "runs")
                if getattr(before, name) != getattr(after, name))
    old, new = ({dag.dag_id: dag for dag in scenario.dags} for scenario in (before, after))
    yield from (f"{'with' if dag_id in new else 'without'} Dag {dag_id}" for dag_id in {**old, **new}
                if (dag_id in old) != (dag_id in new))
    for dag_id in old:
        if dag_id in new and old[dag_id] is not new[dag_id]:
            yield from _entries(old[dag_id].options(), new[dag_id].options())
            yield from _task_differences(*({t.task_id: spec_of(t) for t in dags[dag_id]} for dags in (old, new)))


def _task_differences(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    for task_id in {**old, **new}:
        if task_id in old and task_id in new:
            yield from _entries(old[task_id], new[task_id], f"{task_id}: ")
        else:
            yield f"{'with' if task_id in new else 'without'} task {task_id}"


def _entries(old: Mapping[str, Any], new: Mapping[str, Any], noun: str = "") -> Iterator[str]:
    for key in {**old, **new}:
        if key not in new:
            yield f"{noun}{key} as by default"
        elif key not in old or old[key] != new[key]:
            yield f"{noun}{key} = {_value(new[key])}"


def _value(value: Any) -> str:
    if isinstance(value, Pool):
        slots = "unlimited" if value.slots < 0 else str(value.slots)
        return slots + (" with deferred" if value.include_deferred else "")
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
