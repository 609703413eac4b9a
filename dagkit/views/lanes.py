"""The same work on several executors, one lane each, all on one time axis.

A lane shows over time how many task instances run, and on top of them how many are queued: handed over, on their way,
and not yet at work. A small Dag has a row for each of its task instances instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import states
from ..compared import Comparison
from . import gantt
from .gantt import ticks
from .picture import (
    CHAR,
    Picture,
    brief,
    cells,
    content_prefix,
    el,
    esc,
    legend,
    num,
    plain,
    state_style,
    svg_root,
    text_style,
)
from .timeline import segments

ROWS = 40
"""Up to so many task instances in all lanes together have a row of their own."""
WIDE, TALL, GAP, HEAD = 560, 64, 26, 26
COLUMNS = 280
"""Steps drawn in a lane, at most: two pixels each."""
STACK = ("running", "queued")


def executor_lanes(dag_or_workload: Any, executors: Mapping[str, Any], **changes: Any) -> Picture:
    """The same work on each executor, as lanes below each other on one time axis; the table is ``compare_executors``'.

    Arguments and errors are those of ``dk.compare_executors``.

    >>> from dagkit import Dag, KubernetesExecutor, LocalExecutor, Task
    >>> drawn = executor_lanes(Dag("d", [Task("a")]), {"local": LocalExecutor(), "pods": KubernetesExecutor()})
    >>> "local · a" in drawn.svg and "pods · a" in drawn.svg
    True
    """
    return lanes(Comparison(dag_or_workload, executors, **changes))


def lanes(comparison: Comparison, *, top: int | None = None) -> Picture:
    """A comparison that was played, as a picture. top: the height of all lanes, in task instances (None: as needed)."""
    traces = comparison.traces
    end = max((trace._end for trace in traces.values()), default=1) + 1
    seconds = next(iter(traces.values()))._now.config.tick_seconds
    if sum(len(trace.labels) for trace in traces.values()) <= ROWS:
        drawn = _rows(traces, end)
    else:
        spans = {name: row["makespan"] for name, row in comparison.rows.items()}
        found = {name: (levels(trace, end), trace._end, spans[name]) for name, trace in traces.items()}
        drawn = _areas(found, end, seconds, top)
    return Picture(drawn, comparison.table.reset_index(), _words(comparison))


def _words(comparison: Comparison) -> str:
    lines = []
    for name, row in comparison.rows.items():
        ended = "never ends" if row["makespan"] != row["makespan"] else f"takes {brief(round(row['makespan'], 1))} s"
        lines.append(f"{plain(name)} {ended}; half of all tries start within {brief(round(row['start_latency_p50'], 1))} "
                     f"s, 95 of 100 within {brief(round(row['start_latency_p95'], 1))} s; paid "
                     f"{brief(round(row['worker_seconds_paid']))} worker-seconds, used "
                     f"{brief(round(row['worker_seconds_used']))}.")
    return "\n".join(lines)


def _rows(traces: Mapping[str, Any], end: int) -> str:
    bars = [(f"{plain(name, 18)} · {plain(label, 24)}", segments(changes, end)) for name, trace in traces.items()
            for label, changes in zip(trace.labels, trace.changes, strict=True)]
    return gantt.svg(bars, prefix=content_prefix("lane", bars, end), last_tick=end,
                     title="The same work, executor by executor")


Level = tuple[int, int]
Lane = tuple[list[Level], int, float]
"""(levels, last tick, makespan in seconds)"""


def levels(trace: Any, end: int) -> list[Level]:
    """For each of at most COLUMNS spans of time, the most TIs that run, and that run or are queued, at one tick."""
    code = [states.CODE[name] for name in STACK]
    step = -(-end // COLUMNS)
    found = [(0, 0)] * -(-end // step)
    counts, at = dict.fromkeys(code, 0), 0

    def keep(until: int) -> None:
        running, both = counts[code[0]], sum(counts.values())
        for column in range(at // step, -(-until // step)):
            found[column] = max(found[column][0], running), max(found[column][1], both)

    for tick, old, new in zip(trace._event_tick.tolist(), trace._event_old, trace._event_new, strict=True):
        if tick > at:
            keep(tick)
            at = tick
        for state, by in ((old, -1), (new, 1)):
            if state in counts:
                counts[state] += by
    keep(end)
    return found


def _areas(lanes_of: Mapping[str, Lane], end: int, seconds: float, top: int | None) -> str:
    left = max(cells(plain(name, 24)) for name in lanes_of) * CHAR + 30
    high = top or max((max(level) for lane, *_ in lanes_of.values() for level in lane), default=1) or 1
    prefix = content_prefix("lanes", sorted(lanes_of.items()), end, seconds, top)
    bottom = HEAD + len(lanes_of) * (TALL + GAP) - GAP + 6
    body = [el("text", "s", cls="dk-axis", x=left - 26, y=HEAD - 10)]
    for mark in ticks(end * seconds):
        x = left + WIDE * float(mark / (end * seconds))
        body.append(el("path", cls="dk-grid", d=f"M{num(x)} {HEAD - 4} V{num(bottom)}"))
        body.append(el("text", brief(mark), cls="dk-axis dk-mid", x=x, y=HEAD - 10))
    for k, (name, (lane, last, span)) in enumerate(lanes_of.items()):
        base, x = HEAD + k * (TALL + GAP) + TALL, left + WIDE * float(last / end)
        body += [el("text", f"{high}", cls="dk-axis dk-right", x=left - 6, y=base - TALL + 9),
                 el("path", cls="dk-over", d=f"M{num(x)} {base - TALL} V{base}"),
                 el("text", "never ends" if span != span else f"{brief(round(span))} s", cls="dk-axis", x=x + 6,
                    y=base - TALL + 9),
                 el("text", el("title", esc(plain(name, 250))), esc(plain(name, 24)), x=0, y=base - TALL / 2 + 4),
                 _lane(name, lane, left, base, high), el("path", cls="dk-base", d=f"M{num(left)} {base} h{WIDE}")]
    keys, room = legend(set(STACK), left, bottom + 8, WIDE)
    return svg_root(prefix, left + WIDE + 80, bottom + 8 + room, "Task instances over time, executor by executor",
                    style(f"{prefix}svg"), [*body, *keys])


def _lane(name: str, lane: Sequence[Level], left: float, base: float, high: int) -> str:
    wide = WIDE / len(lane)
    parts = [el("title", esc(f"{plain(name)}: at most {max(level[0] for level in lane)} run at once"))]
    for which in (1, 0):
        path, before = [f"M{num(left)} {num(base)}"], 0
        for column, level in enumerate(lane):
            if level[which] != before:
                before = level[which]
                path.append(f"H{num(left + column * wide)} V{num(base - TALL * min(1.0, before / high))}")
        path.append(f"H{num(left + WIDE)} V{num(base)} Z")
        parts.append(el("path", cls=f"dk-area dk-{STACK[which]}", d=" ".join(path)))
    return el("g", *parts)


def style(root: str) -> str:
    """The look of the lanes, inside the element ``root`` only."""
    return state_style(root) + text_style(root) + (
        f"#{root} .dk-axis{{font-size:11px;opacity:.75}}#{root} .dk-mid{{text-anchor:middle}}"
        f"#{root} .dk-right{{text-anchor:end}}#{root} .dk-over{{stroke:currentColor;stroke-width:2}}"
        f"#{root} .dk-grid{{stroke:currentColor;stroke-opacity:.16}}"
        f"#{root} .dk-base{{stroke:currentColor;stroke-opacity:.6}}"
        f"#{root} .dk-area{{fill:var(--dk-fill);stroke:var(--dk-ink);stroke-opacity:.7;"
        "stroke-dasharray:var(--dk-dash,none)}"
        f"@media (forced-colors:active){{#{root} .dk-area{{forced-color-adjust:none}}}}"
    )
