"""A log with false lines in it, to be found: seeded, so that every seed poses a puzzle and the answer is computed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import states

FALSE = 3
"""False lines in a log, each in another task."""
Line = tuple[int, str, str, str]


@dataclass(frozen=True)
class Doctored:
    """A log whose lines are numbered; some of them Airflow would never write. Printing it poses the puzzle.

    lines: (tick, task, old, new). Each task's lines still fit together: an old state is always the new one before.
    """

    lines: Sequence[Line]

    @property
    def illegal(self) -> list[int]:
        """The numbers of the false lines, found by the table of legal transitions."""
        return [k for k, (_, _, old, new) in enumerate(self.lines, 1) if not states.is_legal(old, new)]

    def __repr__(self) -> str:
        return "\n".join(f"{k:>3}  tick {tick:>2}  {task:<10} {old:>17} -> {new}"
                         for k, (tick, task, old, new) in enumerate(self.lines, 1))


def doctor(trace: Any, seed: int) -> Doctored:
    """The log of a trace with FALSE of its lines made false: a step left out, or a failure that is called final.

    >>> from dagkit import examples, simulate
    >>> len(doctor(simulate(examples.orders()), seed=1).illegal)
    3
    """
    draw = random.Random(seed)
    lines: list[Line] = [tuple(row) for row in trace.events[["tick", "task_id", "old", "new"]].itertuples(index=False)]
    marred: list[str] = []
    while len(marred) < FALSE:
        # Only random() itself promises the same numbers in every version of Python.
        places = [k for k, line in enumerate(lines) if line[1] not in marred and _mar(lines, k)]
        if not places:
            break
        at = places[int(draw.random() * len(places))]
        marred.append(lines[at][1])
        lines = _mar(lines, at)
    return Doctored(lines)


def _mar(lines: Sequence[Line], at: int) -> list[Line]:
    """The lines with line ``at`` and the same task's next one made false; nothing if that gives no false line."""
    tick, task, old, mid = lines[at]
    after = next((k for k in range(at + 1, len(lines)) if lines[k][1] == task), None)
    if after is None:
        return []
    new = lines[after][3]
    rest = [*lines]
    if mid == "up_for_retry" and states.is_legal(old, "failed"):
        rest[at], rest[after] = (tick, task, old, "failed"), (lines[after][0], task, "failed", new)
        return rest
    rest[after] = (lines[after][0], task, old, new)
    del rest[at]
    return [] if old == new or states.is_legal(old, new) else rest
