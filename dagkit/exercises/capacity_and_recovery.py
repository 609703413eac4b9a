"""Exercise 10: which fact justifies which action, and a repair that looks twice."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

from ..capacity import FINDINGS, Facts, decide
from ..capacity import judge as judged
from ..errors import quoted
from .trial import NotYet, Task, call

FINDING = "stuck pod"


def readings() -> Iterator[Facts]:
    """Every mix of what may be read about runs and triggers, unreadable values among them."""
    for runs, due, rows in product((0, 1, 40, None), (math.inf, 0, 9, 10, 11, 500, None), (0, 1, 1000, 1001, 2500, None)):
        yield Facts(unfinished_runs=runs, next_run=due, trigger_rows=rows)


def triggerers(answer: Any) -> None:
    """How many triggerers are needed for so many trigger rows; None where nothing may be changed."""
    for rows in (0, 1, 999, 1000, 1001, 2500, None):
        said = decide(Facts(trigger_rows=rows))[1].action
        right: Any = {"leave as it is": "leave", "may stop": 0}.get(said, said)
        if said.startswith("keep"):
            right = int(said.split()[1])
        found = call(answer, rows, name="triggerers")
        if found != right or type(found) is not type(right):
            raise NotYet(f"triggerers({rows}) should be {right!r}; yours is {quoted(found)}.",
                         "What could not be read is not zero." if rows is None else
                         "One holds a thousand waits, not one more.")


def scheduler(answer: Any) -> None:
    """keep, start, stop or leave: as the kit's own table decides it."""
    words = {"may stop": "stop", "leave as it is": "leave"}
    for facts in readings():
        said = decide(facts)[0]
        right = words.get(said.action, said.action)
        found = call(answer, facts.unfinished_runs, facts.next_run, name="scheduler")
        if found != right:
            asked = f"scheduler({facts.unfinished_runs}, {facts.next_run})"
            raise NotYet(f"{asked} should be {right!r}, since: {said.because}. Yours is {quoted(found)}.",
                         "Taking capacity away needs every fact. Keeping it needs one." if right in ("leave", "keep") else
                         "Read the four lines of the task from above: the first that holds decides.")


def looks() -> Iterator[dict[str, bool | None]]:
    """Everything that one look may find: each piece of evidence is there, is not, or could not be read."""
    needs = FINDINGS[FINDING].needs
    for values in product((True, False, None), repeat=len(needs)):
        yield dict(zip(needs, values, strict=True))


def repair(answer: Any) -> None:
    """Delete only if all evidence was there, at both looks."""
    for first, second in product(looks(), looks()):
        said, why = judged(FINDING, first, second)
        right = said == FINDINGS[FINDING].action
        found = call(answer, first, second, name="repair")
        if found is not right:
            raise NotYet(f"First look {list(first.values())}, second look {list(second.values())}: repair should be "
                         f"{right}, since: {why}. Yours is {quoted(found)}.",
                         "Look at both, and take what could not be read for what it is: unknown.")


TASKS = (
    Task("10.1", ("triggerers",), triggerers, "As many as are needed, and hands off what cannot be read."),
    Task("10.2", ("scheduler",), scheduler, "Every fact leads to what it justifies, and missing facts to nothing."),
    Task("10.3", ("repair",), repair, "Nothing innocent is deleted."),
)
