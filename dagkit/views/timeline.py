"""A trace as bars over time: the picture behind ``trace.gantt()``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..checks import plain as plain_number
from ..errors import DagkitError, choices, nearest, shown
from . import gantt
from .picture import Picture, content_prefix, counted, few, plain
from .replay import verdict_word


def trace_gantt(trace: Any, *, tick: int | None = None, tasks: Iterable[str] | None = None) -> Picture:
    """One row per task instance of a trace, its states as segments; the table gives its states at one tick.

    tick: where to draw the line of the current tick; the table is of that tick. None: no line, the last tick.
    tasks: labels to show, in this order; None: all, as far as there is room. What broke on the way is marked.

    Raises DagkitError for a label or a tick that is not in the trace.
    """
    tick = plain_number(tick)
    labels = list(trace.labels)
    chosen = labels if tasks is None else [tasks] if isinstance(tasks, str) else list(tasks)
    known = dict(zip(labels, trace.changes, strict=True))
    for label in chosen:
        if label not in known:
            raise DagkitError(f"gantt: no task instance is called '{shown(label)}'.{nearest(label, known)} "
                              f"Known: {choices(known)}.")
    table = trace.table(tick)
    rows = [(label, segments(known[label], trace.last_tick + 1)) for label in chosen]
    title = (f"{_names(trace)}: {counted(len(labels), 'task instance')}, {counted(trace.last_tick, 'tick')}, "
             f"{'run' if len(trace.run_states) == 1 else 'runs:'} {verdict_word(trace)}")
    prefix = content_prefix(title, rows[:gantt.ROWS], tick)
    broken = [fault for fault in trace.faults if fault.tick <= trace.last_tick]
    drawn = gantt.svg(rows, prefix=prefix, last_tick=trace.last_tick + 1, now=tick, title=title,
                      marks=[(fault.tick, str(fault)) for fault in broken])
    return Picture(drawn, table, title, few([*(f"▼ {fault}" for fault in broken), *trace.warnings]))


def segments(changes: Sequence[tuple[int, str]], end: int) -> list[gantt.Segment]:
    """Changes as bars; what lasted no tick is left out.

    >>> segments([(0, "none"), (1, "scheduled"), (1, "queued"), (2, "running")], 4)
    [(0, 1, 'none'), (1, 2, 'queued'), (2, 4, 'running')]
    """
    ends = [*(tick for tick, _ in changes[1:]), end]
    return [(tick, until, state) for (tick, state), until in zip(changes, ends, strict=True) if until > tick]


def _names(trace: Any) -> str:
    dags = trace.scenario.dags
    return plain(dags[0].dag_id) if len(dags) == 1 else f"{len(dags)} Dags"
