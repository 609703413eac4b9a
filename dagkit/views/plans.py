"""Pictures of a Dag and of a plan: what waits for what, how long it takes at least, what more slots buy."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .. import planning
from ..checks import plain as plain_number
from ..checks import whole
from . import charts, gantt, graph
from .collapse import wave_numbers
from .drawing import tally, task_states
from .picture import Picture, brief, content_prefix, counted, few, plain

CURVE = 32
"""Up to so many slots, every number is tried; above, about as many spread evenly by ratio."""
WORK = 100_000
"""Tasks scheduled in all for one staircase, roughly: large Dags get fewer points."""
BARS, JOINED = 600, 140
"""Above BARS tasks, bars of a schedule narrower than one of JOINED parts of it are joined."""
NAMED = 8
"""Most tasks of a path named in a sentence."""
TIES = 100
"""Tied paths counted, at most."""


def draw(
    dag: Any, *, states: Mapping[str, str] | None = None, collapse: str | None = None,
    expand: Collection[Any] = (), critical: bool = True,
) -> Picture:
    """A picture of the Dag: waves as columns, the critical path emphasised, and a table of all tasks.

    states: state name by task id or label, to colour the boxes. collapse, expand: for a large Dag, see
    ``graph.render``. critical: emphasise the critical path and give durations.

    Raises DagkitError for an unknown task, state, group or wave.

    >>> from dagkit.examples import file_fanout
    >>> draw(file_fanout())
    Dag file_fanout: 5 tasks in 4 waves.
    Critical path 7: list_files > process > join > report.
    """
    found = planning.critical_path(dag) if critical else None
    drawing = graph.render(
        dag, prefix=_prefix(dag, "draw", states and sorted(states.items()), collapse, str(expand), critical),
        states=states, collapse=collapse, expand=expand, badges=states is not None, legend=True,
        path=found.path if found else (), notes=_durations(dag) if found else None)
    words = [_shape(dag), _path(found) if found and len(dag) else "", drawing.collapsed or ""]
    return Picture(drawing.svg, tasks(dag, states), "\n".join(filter(None, words)), few(dag.warnings))


def plan(dag: Any, slots: int | None = None) -> Picture:
    """What limits this Dag, path or slots: its picture, makespan against slots, with ``slots`` a schedule.

    The table gives the makespan for each number of slots and what limits it. Durations may be in any one
    unit; slots are equal, pools and states play no part.

    Raises DagkitError unless slots is None or a whole number >= 1.

    >>> from dagkit import planning, examples
    >>> day = planning.expand(examples.file_fanout(), "process", 6)
    >>> plan(day, 4).table[["slots", "makespan", "limit"]].head(2).values.tolist()
    [[1, 26, 'slots'], [2, 16, 'slots']]
    """
    slots = _slots(slots)
    found, knee = planning.critical_path(dag), planning.saturation_slots(dag)
    curve = _curve(dag, found.length, knee, slots)
    prefix = _prefix(dag, "plan", slots)
    drawing = graph.render(dag, prefix=prefix + "d", badges=False, path=found.path, notes=_durations(dag))
    svgs = [drawing.svg]
    if len(dag):
        points = [(row["slots"], row["makespan"]) for row in curve]
        svgs.append(charts.staircase(points, prefix=prefix + "s", floor=found.length, knee=knee, here=slots))
    if slots is not None and len(dag):
        svgs.append(timeline(planning.schedule(dag, slots), prefix=prefix + "g", marked=found.path))
    import pandas as pd
    table = pd.DataFrame(curve, columns=["slots", "makespan", "lower_bound", "limit"])
    words = [*_limits(dag, found, knee, slots), drawing.collapsed or ""]
    return Picture(svgs, table, "\n".join(filter(None, words)))


def answer(dag: Any, slots: int | None = None) -> str:
    """What limits this Dag, in words.

    >>> from dagkit.examples import file_fanout
    >>> print(answer(file_fanout(), 1))
    Dag file_fanout: 5 tasks in 4 waves.
    Critical path 7: list_files > process > join > report. No number of slots finishes sooner.
    2 paths are that long: to finish sooner, all of them must become shorter.
    One slot takes 11 (all the work), 2 slots or more can reach 7: there, slots no longer limit.
    On 1 slot: 11. Slots limit it: one more would help.
    """
    slots = _slots(slots)
    return "\n".join(_limits(dag, planning.critical_path(dag), planning.saturation_slots(dag), slots))


def _slots(given: Any) -> int | None:
    if given is None:
        return None
    slots: int = plain_number(given)
    whole("plan", "slots", slots, 1)
    return slots


def _limits(dag: Any, found: Any, knee: int, slots: int | None) -> list[str]:
    if not len(dag):
        return [_shape(dag)]
    words = [_shape(dag), f"{_path(found)} No number of slots finishes sooner."]
    ties = len(planning.tied_critical_paths(dag, TIES))
    if ties > 1:
        many = f"{ties} paths are" if ties < TIES else f"{TIES} paths or more are"
        words.append(f"{many} that long: to finish sooner, all of them must become shorter.")
    words.append(_knee(brief(planning.makespan(dag, 1)), knee, brief(found.length)))
    if slots is not None:
        words.append(_on(dag, slots, found.length))
    return words


def timeline(schedule: Any, *, prefix: str, marked: Collection[str] = (), unit: str = "time") -> str:
    """A schedule as bars, one row per slot that has work. marked: tasks drawn with a heavy border."""
    rows: dict[int, list[gantt.Segment]] = {}
    for row in schedule.rows:
        rows.setdefault(row.slot, []).append((row.start, row.end, row.task_id))
    bars = [(f"slot {slot + 1}", rows[slot]) for slot in sorted(rows)]
    if len(schedule.rows) > BARS:
        bars = [(slot, _joined(row, schedule.makespan / JOINED)) for slot, row in bars]
    return gantt.svg(bars, prefix=prefix, last_tick=schedule.makespan, unit=unit, marked=marked,
                     title=f"Greedy schedule on {counted(schedule.slots, 'slot')}", rest=" (slots): see dk.schedule")


def _joined(row: Sequence[gantt.Segment], least: Any) -> list[gantt.Segment]:
    """Bars too narrow to be seen, joined with those that follow without a gap: "12 tasks".

    >>> _joined([(0, 1, "a"), (1, 2, "b"), (3, 9, "c")], 2)
    [(0, 2, '2 tasks'), (3, 9, 'c')]
    """
    found: list[gantt.Segment] = []
    count = 0
    for start, end, name in row:
        if found and start == found[-1][1] and found[-1][1] - found[-1][0] < least:
            count += 1
            found[-1] = (found[-1][0], end, f"{count} tasks")
        else:
            count = 1
            found.append((start, end, name))
    return found


def tasks(dag: Any, states: Mapping[str, str] | None = None) -> Any:
    """A DataFrame with a row per task: task, wave (from 1), duration, slack, critical, and state if given."""
    import pandas as pd
    slack = planning.slack(dag)
    critical = set(planning.critical_tasks(dag))
    frame = pd.DataFrame({
        "task": list(dag.tasks), "wave": wave_numbers(dag.graph), "duration": [t.duration for t in dag],
        "slack": [slack[t] for t in dag.tasks], "critical": [t in critical for t in dag.tasks]})
    if states is not None:
        state_of = task_states(dag, states)
        frame["state"] = [tally_of(state_of.get(t, ())) for t in dag.tasks]
    return frame


def tally_of(found: Sequence[str]) -> str:
    """The states of one task in words; none given: nothing."""
    return tally({name: found.count(name) for name in found}) if found else ""


def _prefix(dag: Any, *options: object) -> str:
    shape = [(t.task_id, t.upstream, t.duration, t.task_group) for t in dag]
    return content_prefix(dag.dag_id, shape, options)


def _shape(dag: Any) -> str:
    waves = max(wave_numbers(dag.graph), default=0)
    return f"Dag {plain(dag.dag_id)}: {counted(len(dag), 'task')} in {counted(waves, 'wave')}."


def _path(found: Any) -> str:
    names = [plain(task_id) for task_id in found.path]
    if len(names) > NAMED:
        names[NAMED - 3:-2] = [f"... ({len(names) - NAMED + 1:,} more) ..."]
    return f"Critical path {brief(found.length)}: {' > '.join(names)}."


def _knee(work: str, knee: int, floor: str) -> str:
    if knee == 1:
        return f"One slot takes {work} already: slots never limit."
    return (f"One slot takes {work} (all the work), {knee:,} slots or more can reach {floor}: "
            "there, slots no longer limit.")


def _on(dag: Any, slots: int, floor: Any) -> str:
    takes = planning.makespan(dag, slots)
    if takes == floor:
        what = "The path limits it: only a shorter path would help."
    else:
        better = _first_better(dag, slots, takes)
        what = ("Slots limit it: one more would help." if better == slots + 1
                else f"Slots limit it, but only from {better:,} slots on is it faster.")
    return f"On {counted(slots, 'slot')}: {brief(takes)}. {what}"


def _first_better(dag: Any, slots: int, takes: Any) -> int:
    """The fewest slots above ``slots`` that finish sooner."""
    return next(n for n in range(slots + 1, len(dag) + 2) if planning.makespan(dag, n) < takes)


def _durations(dag: Any) -> dict[str, str] | None:
    """Small second lines, unless all durations are the default."""
    if all(task.duration == 1 for task in dag):
        return None
    return {task.task_id: f"takes {brief(task.duration)}" for task in dag}


def curve(dag: Any, slots: int | None = None) -> list[dict[str, Any]]:
    """The rows of the table below ``plan``: slots, makespan, lower bound, and what limits.

    >>> from dagkit.examples import file_fanout
    >>> [(row["slots"], row["makespan"], row["limit"]) for row in curve(file_fanout())]
    [(1, 11, 'slots'), (2, 7, 'path'), (3, 7, 'path')]
    """
    return _curve(dag, planning.critical_path(dag).length, planning.saturation_slots(dag), slots)


def _curve(dag: Any, floor: Any, knee: int, slots: int | None) -> list[dict[str, Any]]:
    """Makespan for 1, 2, ... slots until one past saturation, and what limits it there."""
    last, tries = max(knee + 1, slots or 1), min(CURVE, max(6, WORK // (len(dag) + 1)))
    tried = {*range(1, last + 1)} if last <= tries else {round(last ** (k / tries)) for k in range(tries + 1)}
    found = []
    for n in sorted(tried | {knee} | ({slots} if slots else set())):
        takes = planning.makespan(dag, n)
        found.append({"slots": n, "makespan": takes, "lower_bound": planning.lower_bound(dag, n),
                      "limit": "path" if takes == floor else "slots"})
    return found
