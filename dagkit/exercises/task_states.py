"""Exercise 2: changes of state that cannot be, found in a log."""

from __future__ import annotations

from typing import Any

from .. import examples
from ..checks import seeds
from ..engine import simulate
from ..errors import quoted, shown
from ..lesson.doctored import Doctored, Line, doctor
from ..lesson.lessons.task_states import tour
from .trial import NotYet, Task, call

SEEDS = range(1, 7)


def doctored(seed: int) -> Doctored:
    """A log of ``orders`` (even seeds) or of a day that visits every state (odd ones), with false lines in it.

    seed: a whole number; 0 is ``orders`` as it was, nothing false. Raises DagkitError for anything else.

    >>> doctored(0).illegal
    []
    """
    seed = seeds("doctored", seed)
    trace = simulate(tour() if seed % 2 else examples.orders())
    return doctor(trace, seed) if seed else Doctored(sound(trace))


def sound(trace: Any) -> list[Line]:
    return [tuple(row) for row in trace.events[["tick", "task_id", "old", "new"]].itertuples(index=False)]


def torn(seed: int) -> tuple[list[Line], list[int]]:
    """A log from which one line was lost, and the numbers of the lines that do not fit what is left."""
    lines = sound(simulate(tour() if seed % 2 else examples.orders()))
    places = [k for k, line in enumerate(lines) if any(later[1] == line[1] for later in lines[k + 1:])]
    at = places[seed * 7 % len(places)]
    after = next(k for k in range(at + 1, len(lines)) if lines[k][1] == lines[at][1])
    return lines[:at] + lines[at + 1:], [after]             # one line is gone before it, so the number is `after`


def gaps(answer: Any) -> None:
    """Where a task's line does not go on from where its line before had left it."""
    whole = sound(simulate(examples.orders()))
    for what, lines, right in [("a whole log", whole, []), *((f"torn log {s}", *torn(s)) for s in SEEDS)]:
        _judge(call(answer, lines, name="gaps"), right, lines, what,
               "One dictionary is enough: the state in which each task was last seen. Before its first line: none.")


def impossible(answer: Any) -> None:
    """The lines of doctored logs that Airflow would never write, by the table of legal transitions."""
    for seed in (0, *SEEDS):
        log = doctored(seed)
        see = f" See it: print(dk.exercises.doctored({seed}))."
        _judge(call(answer, list(log.lines), name="impossible"), log.illegal, list(log.lines), f"log {seed}",
               ("Rare is not impossible: who could have moved it? Retries, clears, sensors, skips." + see,
                "Does that step jump over a state which the task has to pass?" + see))


def _judge(found: Any, right: list[int], lines: list[Line], what: str, hint: str | tuple[str, str]) -> None:
    too_many, too_few = (hint, hint) if isinstance(hint, str) else hint
    try:
        said = set(found)
    except TypeError:
        raise NotYet(f"For {what} you give back {quoted(found)}: it should be a list of line numbers.") from None
    if strange := sorted(map(str, said - set(range(1, len(lines) + 1)))):
        raise NotYet(f"For {what} you name line {shown(strange[0])}; it has lines 1 to {len(lines)}.",
                     "The first line is number 1: enumerate(log, 1).")
    for k in sorted(said - set(right)):
        raise NotYet(f"In {what} line {k} is sound: {_line(lines[k - 1])}.", too_many)
    for k in sorted(set(right) - said):
        raise NotYet(f"In {what} you miss line {k}: {_line(lines[k - 1])}.", too_few)


def _line(line: Line) -> str:
    return f"{shown(line[1])} {line[2]} -> {line[3]}"


TASKS = (
    Task("2.1", ("gaps",), gaps, "No lost line escapes you."),
    Task("2.2", ("impossible",), impossible, "What cannot be is found, and what is only rare is left alone."),
)
