"""Small Dags and scenarios from dice, for drills: readable on one screen, every task one letter."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any, TypeVar

from ..dag import Dag
from ..task import Task
from .dice import Dice

T = TypeVar("T")
SIZES = {1: (4, 5), 2: (6, 7), 3: (8, 9)}
TRIES = 300


def random_dag(dice: Dice, level: int, *, longest: int = 5, **options: Any) -> Dag:
    """Tasks a, b, c ...; each may wait for one or two before it. More tasks on higher levels."""
    names = string.ascii_lowercase[:dice.between(*SIZES[level])]
    tasks = []
    for place, name in enumerate(names):
        most = min(place, 1 if level == 1 and dice.often(.6) else 2)
        upstream = dice.some(names[:place], dice.between(0 if place < 2 else 1, most) if dice.often(.85) else 0)
        tasks.append(Task(name, upstream, duration=dice.between(1, longest)))
    return Dag("drill", tasks, **options)


def first(make: Callable[[Dice], T | None], *key: object) -> T:
    """The first of many throws that is worth asking about: ``make`` returns None for one that is not."""
    for attempt in range(TRIES):
        found = make(Dice(*key, attempt))
        if found is not None:
            return found
    raise AssertionError(f"no throw in {TRIES} fits {key}: the maker asks too much")


def rows_of(dag: Dag, *columns: str) -> list[dict[str, Any]]:
    """The table of a problem: task, what it waits for, what it takes, and further parameters."""
    return [{"task": task.task_id, "after": ", ".join(task.upstream), "takes": task.duration,
             **{name: getattr(task, name) for name in columns}} for task in dag]


def listed(found: Any) -> str:
    """Names in a sentence.

    >>> listed(["a", "b", "c"]), listed([])
    ('a, b and c', 'none')
    """
    found = list(found)
    return " and ".join(filter(None, [", ".join(found[:-1]), *found[-1:]])) or "none"
