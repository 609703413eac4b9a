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
_NUMBERED = re.compile(r"(.*?[^\d])\d+(\]?)\Z", re.DOTALL)


class Box(NamedTuple):
    """What one box shows: its name, its tasks by number, and the first wave among them (counted from 1)."""

    name: str
    members: list[int]
    wave: int

    @property
    def label(self) -> str:
        """The name; for several tasks, with their number."""
        return self.name if len(self.members) == 1 else f"{self.name}: {len(self.members):,} tasks"


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
        raise DagkitError(f"collapse '{shown(collapse)}' is unknown.{nearest(collapse, MODES)} "
                          f"Known: {choices(MODES)}.")
    opened = [expand] if isinstance(expand, (str, int)) else list(expand)
    count, depth = len(dag.graph.ids), wave_numbers(dag.graph)
    least, most = (2, READABLE) if collapse is None else (1, MOST)
    if count <= most and collapse in (None, "none"):
        return _joined(dag, [Box(plain(t), [i], depth[i]) for i, t in enumerate(dag.graph.ids)], None)
    found = _by_group(dag, depth, opened, least, most) if collapse in (None, "group") else None
    how = "wave" if found is None else "group"
    found = found or _by_wave(dag, depth, opened)
    return _joined(dag, found, _sentence(dag, found, how, collapse, opened))


def wave_numbers(graph: Any) -> list[int]:
    """The wave of each task, counted from 1: one more than the latest of its upstreams."""
    depth = [0] * len(graph.ids)
    for number, wave in enumerate(graph.waves, 1):
        for i in wave:
            depth[i] = number
    return depth


def group_of(task: Any) -> tuple[str, bool]:
    """What a task is grouped under, and whether that was declared (task group, dotted prefix) or guessed.

    >>> from dagkit import Task
    >>> [group_of(Task(t)) for t in ("etl.extract", "process[3]", "blast_ID0004", "report")]
    [('etl', True), ('process[*]', False), ('blast_ID*', False), ('report', True)]
    """
    if task.task_group:
        return str(task.task_group), True
    prefix = task.task_id.rpartition(".")[0]
    numbered = None if prefix else _NUMBERED.match(task.task_id)
    return (f"{numbered[1]}*{numbered[2]}", False) if numbered else (prefix or task.task_id, True)


def _by_group(dag: Any, depth: Sequence[int], opened: list[Any], least: int, most: int) -> list[Box] | None:
    """A box per group, or None if that gives fewer than ``least`` boxes or more than ``most``."""
    groups = [group_of(task) for task in dag]
    # A declared group is one box wherever that makes no ring; likeness of names only joins tasks of one wave.
    keys = [(name, 0 if declared else wave) for (name, declared), wave in zip(groups, depth, strict=True)]
    if len(set(keys)) <= most and not _acyclic(dag.graph, keys):
        keys = [(name, wave) for (name, _), wave in zip(groups, depth, strict=True)]
    if not least <= len(set(keys)) <= most:
        return None
    _check_opened(opened, {name for name, _ in groups}, "group")
    members: dict[tuple[str, int], list[int]] = {}
    for i, key in enumerate(keys):
        members.setdefault(key, []).append(i)
    found = []
    for (name, _), tasks in members.items():
        found += _open(dag, tasks, depth) if name in opened else [_box(dag, name, tasks, depth)]
    return found if len(found) <= MOST else None


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
            name = f"wave {start}" if start == end else f"waves {start:,} to {end:,}"
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
    return Box(plain(name), tasks, min(depth[i] for i in tasks))


def _open(dag: Any, tasks: list[int], depth: Sequence[int]) -> list[Box]:
    """A box per task; beyond OPENED one more box per wave for the rest, so that no ring can arise."""
    found = [Box(plain(dag.graph.ids[i]), [i], depth[i]) for i in tasks[:OPENED]]
    rest: dict[int, list[int]] = {}
    for i in tasks[OPENED:]:
        rest.setdefault(depth[i], []).append(i)
    return found + [_box(dag, "more", rest[wave], depth) for wave in sorted(rest)]


def _acyclic(graph: Any, keys: Sequence[Any]) -> bool:
    """Whether tasks merged by key still form no ring (Kahn's algorithm on the merged graph)."""
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


def _joined(dag: Any, found: list[Box], collapsed: str | None) -> Boxes:
    place = [0] * len(dag.graph.ids)
    for number, box in enumerate(found):
        for i in box.members:
            place[i] = number
    edges = dict.fromkeys((place[u], place[i]) for i, ups in enumerate(dag.graph.up) for u in ups
                          if place[u] != place[i])
    return Boxes(found, sorted(edges), collapsed)


def _sentence(dag: Any, found: Sequence[Box], how: str, asked: str | None, opened: list[Any]) -> str | None:
    """What was merged, why, and how to open it."""
    merged = [box for box in found if len(box.members) > 1]
    if not merged:
        return None
    count, limit = len(dag.graph.ids), MOST if asked == "none" else READABLE
    why = f"more than {limit} would be too small to read" if count > limit else "as asked for"
    ranged = any(box.name.startswith("waves ") for box in merged)
    each = "range of waves" if ranged else "wave" if how == "wave" else "group of like tasks"
    boxes_text = "1 box" if len(found) == 1 else f"{len(found)} boxes"
    words = f"{count:,} tasks are drawn as {boxes_text}, one per {each}: {why}."
    keys = [box.wave if how == "wave" else plain(group_of(dag[dag.graph.ids[box.members[0]]])[0])
            for box in merged]
    closed = next((key for key in keys if key not in opened), None)
    if closed is not None:
        words += f" Open one with draw(collapse={how!r}, expand=[{closed!r}])"
        words += ", or draw all with collapse='none'." if count <= MOST and asked != "none" else "."
    if any(box.name == "more" for box in merged):
        words += f" An opened box shows its first {OPENED} tasks."
    return words
