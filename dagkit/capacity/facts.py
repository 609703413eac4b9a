"""Facts in the database, and what each may justify.

A fact never *is* an action: it makes one possible, and the most cautious one wins. A metric that is missing is not
zero. What cannot be read justifies nothing, least of all taking capacity away.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import NamedTuple

from ..checks import HUGE, plain_fields
from ..errors import DagkitError, expect, quoted
from ..keywords import checked

LOOK_AHEAD = 10
"""Minutes. Assumed: longer than anything takes to start."""
PER_TRIGGERER = 1_000
"""[triggerer] capacity: triggers in one event loop."""
OLD = 5
"""Minutes without an active task instance before a pod is looked at. Assumed."""


class FactToAction(NamedTuple):
    """One row: what is known, what it may lead to, and how far that is in use."""

    fact: str
    action: str
    status: str


TABLE = (
    FactToAction("a run is unfinished", "keep scheduling up", "prototype"),
    FactToAction("a run is due within the look-ahead", "start the services it needs", "prototype"),
    FactToAction("there are trigger rows", "keep triggerers, one per 1,000", "in production"),
    FactToAction("a pod has no active task instance, or belongs to an older try", "check again, then remove it",
                 "in production"),
    FactToAction("a required metric is missing", "no scale-down; never read as 0", "in production"),
)


@checked
@dataclass(frozen=True)
class Facts:
    """What was read. None: could not be read. next_run: minutes until the next run, inf if none is planned.

    pod_idle: minutes since a pod last had an active task instance; 0 if it has one.
    """

    unfinished_runs: int | None = 0
    next_run: float | None = math.inf
    trigger_rows: int | None = 0
    pod_idle: float | None = 0.0

    def __post_init__(self) -> None:
        plain_fields(self)
        for spec in fields(self):
            value = getattr(self, spec.name)
            if value is not None and (type(value) not in (int, float) or not (0 <= value < HUGE or value == math.inf)):
                raise DagkitError(f"facts: {spec.name} must be a number >= 0, not {quoted(value)}. Write None if it could "
                                  "not be read.")


class Action(NamedTuple):
    """What may be done to whom, and the fact that justifies it."""

    component: str
    action: str
    because: str


def decide(facts: Facts) -> list[Action]:
    """What the facts justify, component by component.

    >>> for action in decide(Facts(unfinished_runs=0, next_run=4, trigger_rows=1_200)): print(*action, sep=": ")
    scheduler: start: a run is due in 4 minutes
    triggerer: keep 2: 1,200 trigger rows
    pod: leave: it has an active task instance
    >>> decide(Facts(unfinished_runs=None))[0].action
    'leave as it is'
    """
    expect("decide", facts, Facts, "dk.capacity.Facts(...)")
    return [_scheduler(facts), _triggerer(facts), _pod(facts)]


def _scheduler(facts: Facts) -> Action:
    runs, due = facts.unfinished_runs, facts.next_run
    if runs:
        return Action("scheduler", "keep", f"{runs:,} unfinished run{'s' * (runs != 1)}")
    if due is not None and due <= LOOK_AHEAD:
        return Action("scheduler", "start", f"a run is due in {due:g} minutes")
    if runs is None or due is None:
        return Action("scheduler", "leave as it is", "a metric is missing, and missing is not zero")
    return Action("scheduler", "may stop", "no unfinished run, none due within the look-ahead")


def _triggerer(facts: Facts) -> Action:
    rows = facts.trigger_rows
    if rows is None:
        return Action("triggerer", "leave as it is", "a metric is missing, and missing is not zero")
    if rows:
        return Action("triggerer", f"keep {math.ceil(rows / PER_TRIGGERER)}", f"{rows:,} trigger rows")
    return Action("triggerer", "may stop", "nobody waits for a trigger")


def _pod(facts: Facts) -> Action:
    idle = facts.pod_idle
    if idle is None:
        return Action("pod", "leave", "its task instances could not be read")
    if idle >= OLD:
        return Action("pod", "check again, then remove", f"no active task instance for {idle:g} minutes")
    return Action("pod", "leave", "it has an active task instance" if idle == 0 else "not idle for long")
