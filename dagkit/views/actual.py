"""A recorded run and its ideal in one picture: bars for what happened, a thin line below each for what could have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..recorded import OWNERS, Actual, Spent, against_ideal
from . import gantt
from .collapse import wave_numbers
from .picture import Picture, content_prefix, counted, plain

LISTED = 4
"""Tasks at each end of the chain named in a sentence."""
SHORT = 0.005
"""Seconds too few to speak of."""
WORDS = {"ran": "running", "queued": "queued", "scheduled": "scheduled", "unseen": "unseen", "slots": "for a slot",
         "retried": "earlier tries"}


def actual(loaded: Any, slots: int | None = None) -> Picture:
    """Where the time of a recorded run went: its Gantt chart against the ideal schedule, and a table of all tasks.

    loaded: what ``load`` gave back for a run with its dependencies. slots: of the ideal; by default as many as the run
    had tasks running at once. The table: when each task was ready, how long it was retried, unseen, scheduled, queued
    and running (seconds), when the ideal starts it, and whether it is on the chain that decided the end.

    Raises DagkitError if the file records no run.

    >>> import json
    >>> from dagkit import load
    >>> rows = [{"task_id": task, "state": "success", "start_date": f"2026-01-01T00:00:{start}",
    ...          "end_date": f"2026-01-01T00:00:{end}"} for task, start, end in (("a", "02", "05"), ("b", "09", "10"))]
    >>> print(actual(load(json.dumps(rows), dag="a -> b\\n")))
    dag: the run took 8 s. Floor 4 s (critical path), ideal on 1 slot (the most at once in this run) 4 s.
    Decided by a > b: running 4 s, unseen 4 s.
    Of the 4 s of waiting on that chain, 4 s belong to the scheduler.
    In the picture: * is that chain, a line below a bar is the ideal.
    """
    found = against_ideal(loaded, slots)
    large = len(found.rows) > gantt.ROWS
    bars = _waves(found) if large else [_bar(row) for row in found.rows]
    ghosts = {label: ideal for label, _, ideal in bars}
    prefix = content_prefix("actual", found.rows[: gantt.ROWS], found.slots)
    drawn = gantt.svg([(label, segments) for label, segments, _ in bars], prefix=prefix, unit="seconds", ghosts=ghosts,
                      last_tick=max(found.took, found.ideal), title=f"{plain(found.dag.dag_id)}: the run and its ideal")
    words = [*sentences(found), "In the picture: * is that chain, a line below a bar is the ideal."]
    if large:
        words.append(f"{counted(len(found.rows), 'task instance')}: a bar is a wave, from its first start to its last end.")
    return Picture(drawn, found.to_frame(), "\n".join(words))


def sentences(found: Actual) -> list[str]:
    """What limited the run, in words."""
    on = counted(found.slots, "slot") + (" (the most at once in this run)" if found.counted else "")
    said = [f"{plain(found.dag.dag_id)}: the run took {_s(found.took)}. Floor {_s(found.floor)} (critical path), ideal on "
            f"{on} {_s(found.ideal)}."]
    names = [plain(name) for name in found.chain]
    if len(names) > 2 * LISTED:
        names[LISTED:-LISTED] = [f"... ({len(names) - 2 * LISTED} more) ..."]
    parts = [f"{WORDS[name]} {_s(found.owned[name])}" for name in WORDS if found.owned[name] >= SHORT]
    said.append(f"Decided by {' > '.join(names)}: {', '.join(parts)}.")
    waits = {name: found.owned[name] for name in OWNERS if name != "ran"}
    most = max(waits, key=waits.__getitem__)
    if waits[most] >= SHORT:
        said.append(f"Of the {_s(sum(waits.values()))} of waiting on that chain, {_s(waits[most])} belong to "
                    f"{OWNERS[most]}.")
    else:
        said.append("There is next to no waiting on that chain: only a shorter path would help.")
    if found.never:
        said.append(f"Left out because it never ran: {counted(len(found.never), 'task instance')}.")
    return said


def _s(seconds: float) -> str:
    return f"{seconds:.4g} s"


Bar = tuple[str, list[gantt.Segment], tuple[float, float]]


def _bar(row: Spent) -> Bar:
    moments = [0.0, row.ready, row.ready + row.retried, row.start - row.queued - row.scheduled, row.start - row.queued,
               row.start, row.end]
    states = ("none", "up_for_retry", "none", "scheduled", "queued", "running")
    parts = [(a, b, state) for a, b, state in zip(moments, moments[1:], states, strict=False) if b > a]
    return row.task + (" *" if row.chain else ""), parts, (row.ideal_start, row.ideal_end)


def _waves(found: Actual) -> list[Bar]:
    wave_of = dict(zip(found.dag.graph.ids, wave_numbers(found.dag.graph), strict=True))
    waves: dict[int, list[Spent]] = {}
    for row in found.rows:
        waves.setdefault(wave_of[row.task], []).append(row)
    return [_wave(number, waves[number]) for number in sorted(waves)]


def _wave(number: int, rows: Sequence[Spent]) -> Bar:
    first, start = min(r.ready for r in rows), min(r.start for r in rows)
    end = max(r.end for r in rows)
    parts = [(a, b, state) for a, b, state in ((0.0, first, "none"), (first, start, "scheduled"), (start, end, "running"))
             if b > a]
    label = f"wave {number}: {counted(len(rows), 'task')}" + (" *" if any(r.chain for r in rows) else "")
    return label, parts, (min(r.ideal_start for r in rows), max(r.ideal_end for r in rows))
