"""Which boxes stand for which tasks: a Dag too large to read is drawn by group or by wave.

A box is a list of tasks (numbers in ``dag.graph``). Boxes never form a ring: tasks are merged along a
group name only where the result stays acyclic, and waves come one after the other anyway.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from ..errors import DagkitError, choices, nearest, shown
from .picture import plain

READABLE = 60
"""Boxes that fit at a legible size; above it a Dag is collapsed unless asked otherwise."""
MOST = 400
"""Boxes drawn at the very most, even when asked: far below what the layout engine can bear."""
OPENED = 40
"""Tasks shown of a box that is opened; one more box stands for the rest."""
RANGES = 30
"""Boxes for the waves of a very long Dag: each then stands for a range of waves."""
MODES = ("wave", "group", "none")
_NUMBERED = re.compile(r"(.+?)(?:\[\d+\]|_?ID\d+|[._-]?\d+)\Z", re.DOTALL)


class Box(NamedTuple):
    """What one box shows: its label, its tasks by number, and the first wave among them (counted from 1)."""

    label: str
    members: list[int]
    wave: int


class Boxes(NamedTuple):
    """All boxes, the edges between them, and one sentence when they stand for several tasks each."""

    boxes: list[Box]
    edges: list[tuple[int, int]]
    collapsed: str | None


def boxes(dag: Any, collapse: str | None = None, expand: Collection[Any] = ()) -> Boxes:
    """The boxes of a Dag.

    collapse: "none" (a box per task), "wave", "group" (same task group, dotted prefix or numbered name), or
    None: a box per task as long as that can be read, then by group, then by wave.
    expand: wave numbers or group names to open.

    Raises DagkitError for an unknown mode or a box that is not there.
    """
    if collapse is not None and collapse not in MODES:
        raise DagkitError(f"collapse '{shown(collapse)}' is unknown.{nearest(collapse, MODES)} Known: {choices(MODES)}.")
    opened = [expand] if isinstance(expand, (str, int)) else list(expand)
    count = len(dag.graph.ids)
    depth = wave_numbers(dag.graph)
    if count <= (READABLE if collapse is None else MOST) and collapse in (None, "none"):
        return _drawn(dag, [Box(plain(t), [i], depth[i]) for i, t in enumerate(dag.graph.ids)], None)
    found = None
    if collapse in (None, "group"):
        found = _by_group(dag, depth, opened)
        if len(found) > (READABLE if collapse is None else MOST):
            found = None
    how = "group"
    if found is None:
        found, how = _by_wave(dag, depth, opened), "wave"
    return _drawn(dag, found, _sentence(dag, found, how, collapse))


def wave_numbers(graph: Any) -> list[int]:
    """The wave of each task, counted from 1: one more than the latest of its upstreams."""
    depth = [1] * len(graph.ids)
    for i in graph.order:
        for u in graph.up[i]:
            if depth[u] >= depth[i]:
                depth[i] = depth[u] + 1
    return depth


def group_name(task: Any) -> str:
    """What a task is grouped under: its task group, its dotted prefix, or its name without a trailing number.

    >>> from dagkit import Task
    >>> [group_name(Task(t)) for t in ("etl.extract", "process[3]", "blast_ID0004", "load_7", "report")]
    ['etl', 'process', 'blast', 'load', 'report']
    """
    if task.task_group:
        return str(task.task_group)
    numbered = _NUMBERED.match(task.task_id)
    if numbered:
        return numbered[1]
    return task.task_id.rpartition(".")[0] or task.task_id


def _declared(task: Any) -> bool:
    return bool(task.task_group) or ("." in task.task_id and not _NUMBERED.match(task.task_id))


def _by_group(dag: Any, depth: Sequence[int], opened: list[Any]) -> list[Box]:
    names = [group_name(task) for task in dag]
    # A declared group is one box wherever that makes no ring; likeness of names only joins tasks of one wave.
    keys: list[Any] = [name if _declared(task) else (name, wave)
                       for task, name, wave in zip(dag, names, depth, strict=True)]
    if not _acyclic(dag.graph, keys):
        keys = list(zip(names, depth, strict=True))
    members: dict[Any, list[int]] = {}
    for i, key in enumerate(keys):
        members.setdefault(key, []).append(i)
    _check_opened(opened, set(names), "group")
    found = []
    for key, tasks in members.items():
        name = key if isinstance(key, str) else key[0]
        found += _open(dag, tasks, depth) if name in opened else [_box(dag, name, tasks, depth)]
    return found


def _by_wave(dag: Any, depth: Sequence[int], opened: list[Any]) -> list[Box]:
    last = max(depth, default=0)
    waves: list[list[int]] = [[] for _ in range(last)]
    for i, wave in enumerate(depth):
        waves[wave - 1].append(i)
    _check_opened(opened, range(1, last + 1), "wave")
    found = []
    for start, end in _ranges(last, opened):
        tasks = [i for wave in waves[start - 1:end] for i in wave]
        if start in opened:
            found += _open(dag, tasks, depth)
        else:
            name = f"wave {start}" if start == end else f"waves {start}–{end}"
            found.append(_box(dag, name, tasks, depth))
    return found


def _ranges(last: int, opened: list[Any]) -> list[tuple[int, int]]:
    """Waves 1 to ``last`` in at most about RANGES pieces, opened waves on their own.

    >>> _ranges(3, []), _ranges(100, [2])[:3]
    ([(1, 1), (2, 2), (3, 3)], [(1, 1), (2, 2), (3, 4)])
    """
    size = -(-last // RANGES)
    starts = {*range(1, last + 1, size or 1), *opened, *(w + 1 for w in opened)}
    cuts = sorted(s for s in starts if 1 <= s <= last)
    return list(zip(cuts, [*(c - 1 for c in cuts[1:]), last], strict=True))


def _check_opened(opened: list[Any], known: Collection[Any], what: str) -> None:
    for name in opened:
        if name not in known or isinstance(name, bool):
            raise DagkitError(f"expand: there is no {what} '{shown(name)}' in this drawing."
                              f"{nearest(name, known)} Known: {choices(known)}.")


def _box(dag: Any, name: str, tasks: list[int], depth: Sequence[int]) -> Box:
    if len(tasks) == 1:
        return Box(plain(dag.graph.ids[tasks[0]]), tasks, depth[tasks[0]])
    more = f": {len(tasks):,} tasks"
    return Box(plain(name, 40 - len(more)) + more, tasks, min(depth[i] for i in tasks))


def _open(dag: Any, tasks: list[int], depth: Sequence[int]) -> list[Box]:
    """A box per task; beyond OPENED one more box per wave for the rest, so that no ring can arise."""
    found = [Box(plain(dag.graph.ids[i]), [i], depth[i]) for i in tasks[:OPENED]]
    rest: dict[int, list[int]] = {}
    for i in tasks[OPENED:]:
        rest.setdefault(depth[i], []).append(i)
    return found + [_box(dag, "more", rest[wave], depth) for wave in sorted(rest)]


def _acyclic(graph: Any, keys: Sequence[Any]) -> bool:
    down: dict[Any, set[Any]] = {key: set() for key in keys}
    waiting = dict.fromkeys(down, 0)
    for i, ups in enumerate(graph.up):
        for u in ups:
            if keys[u] != keys[i] and keys[i] not in down[keys[u]]:
                down[keys[u]].add(keys[i])
                waiting[keys[i]] += 1
    ready = [key for key, n in waiting.items() if not n]
    taken = 0
    while ready:
        taken += 1
        for key in down[ready.pop()]:
            waiting[key] -= 1
            if not waiting[key]:
                ready.append(key)
    return taken == len(down)


def _drawn(dag: Any, found: list[Box], collapsed: str | None) -> Boxes:
    place = [0] * len(dag.graph.ids)
    for number, box in enumerate(found):
        for i in box.members:
            place[i] = number
    edges = dict.fromkeys((place[u], place[i]) for i, ups in enumerate(dag.graph.up) for u in ups
                          if place[u] != place[i])
    return Boxes(found, sorted(edges), collapsed)


def _sentence(dag: Any, found: Sequence[Box], how: str, asked: str | None) -> str | None:
    groups = [box for box in found if len(box.members) > 1]
    if not groups:
        return None
    count = len(dag.graph.ids)
    limit = MOST if asked == "none" else READABLE
    why = f"more than {limit} boxes are too small to read" if count > limit else "asked for"
    kind = "wave" if how == "wave" else "group of tasks"
    what = f"a range of waves (or one {kind})" if any("waves" in box.label for box in groups) else f"a {kind}"
    key = groups[0].wave if how == "wave" else plain(group_name(dag[dag.graph.ids[groups[0].members[0]]]))
    rest = ", or collapse='none' for one box per task" if count <= MOST and asked != "none" else ""
    return (f"{count:,} tasks are drawn as {len(found)} boxes, each {what}: {why}. "
            f"Open one with draw(collapse={how!r}, expand=[{key!r}]){rest}.")
