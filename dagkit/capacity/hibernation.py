"""Putting an idle, non-production deployment to sleep: in order, and not without losses.

The order matters because whoever is still awake reacts. A scheduler that is up takes the end of a worker for a loss
and starts the task again. A task whose API server is gone gives up, and nobody learns how far it got. A health check
that reads old heartbeats raises an alarm. So work is ended in the database first, by decision; then nothing is left
to react to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ..checks import number
from ..errors import DagkitError, choices, expect, nearest, quoted
from ..keywords import checked

STEPS = {
    "stop new runs": "no run is made any more",
    "end unfinished runs": "their runs are failed; running tasks are failed, the others skipped",
    "remove workers": "workers and pods go",
    "stop services": "triggerer, scheduler, Dag processor and API server go",
    "write heartbeats": "so that health checks know: asleep, not dead",
}
ORDER = tuple(STEPS)
"""The order that works."""
LONGEST = 10**9
"""Minutes: what is due later than that is never due."""


@checked
@dataclass
class Deployment:
    """What there is before. tis: state by task instance, those of finished runs left out. due: a run falls due while
    the steps are taken. next_run: minutes until the next planned run.
    """

    tis: dict[str, str] = field(default_factory=lambda: {
        "orders.extract": "success", "orders.load": "running", "orders.report": "none",
        "train.fit": "up_for_retry", "wait.for_file": "deferred"})
    production: bool = False
    due: bool = True
    next_run: float = 600.0
    makes_runs: bool = True
    workers: bool = True
    services: bool = True
    heartbeats: bool = False

    def __post_init__(self) -> None:
        self.next_run = number("Deployment", "next_run", self.next_run, 0, math.inf, unit=" of minutes")
        if self.next_run > LONGEST:
            self.next_run = math.inf


@dataclass(frozen=True)
class Taken:
    """A step that was taken. what: itself. reaction: what those still awake make of it, or ""."""

    step: str
    what: str
    reaction: str


@dataclass(frozen=True)
class Sleep:
    """taken: the steps. lost: (task instance, state before, state after). open: what the database still calls running
    or waiting. alarms, returned, unreported: what went wrong on the way. clean: nothing did.
    """

    taken: list[Taken]
    lost: list[tuple[str, str, str]]
    open: list[str]
    alarms: list[str]
    returned: list[str]
    unreported: list[str]

    @property
    def clean(self) -> bool:
        return not (self.open or self.alarms or self.returned or self.unreported)


def hibernate(deployment: Deployment | None = None, order: Sequence[str] = ORDER, look_ahead: float = 60.0) -> Sleep:
    """Take the steps in some order and see what becomes of the work.

    Raises DagkitError for an unknown step, for a production deployment, and if a run is due within ``look_ahead``
    minutes: an ordered stop loses work, so it is for what is idle and not in production.

    >>> hibernate().clean, hibernate(order=ORDER[::-1]).clean
    (True, False)
    """
    if deployment is not None:
        expect("hibernate", deployment, Deployment, "dk.capacity.Deployment(...)")
    expect("hibernate: order", order, Sequence, "a list of steps")
    now = replace(deployment or Deployment())
    look_ahead = number("hibernate", "look_ahead", look_ahead, 0, LONGEST, unit=" of minutes")
    _allowed(now, order, look_ahead)
    before, now.tis = dict(now.tis), dict(now.tis)
    taken: list[Taken] = []
    alarms: list[str] = []
    returned: list[str] = []
    unreported: list[str] = []
    for step in order:
        _take(step, now)
        taken.append(Taken(step, STEPS[step], _react(step, now, returned, unreported)))
    if taken and not now.services and not now.heartbeats:
        alarms.append("the health check reads old heartbeats and calls the deployment dead")
        taken[-1] = replace(taken[-1], reaction=f"{taken[-1].reaction} {_sentence(alarms[-1])}".strip())
    lost = [(ti, was, now.tis[ti]) for ti, was in before.items() if was != now.tis[ti]]
    still = [ti for ti, state in now.tis.items() if state not in ("success", "failed", "skipped")]
    return Sleep(taken, lost, still, alarms, returned, unreported)


def _allowed(deployment: Deployment, order: Sequence[str], look_ahead: float) -> None:
    for step in order:
        if not isinstance(step, str) or step not in STEPS:
            raise DagkitError(f"hibernate: step {quoted(step)} is unknown.{nearest(step, STEPS)} Known: {choices(STEPS)}.")
    if deployment.production:
        raise DagkitError("hibernate: the deployment is in production, and an ordered stop loses work. Scale it down "
                          "instead.")
    if deployment.next_run <= look_ahead:
        raise DagkitError(f"hibernate: a run is due in {deployment.next_run:g} minutes, within the look-ahead of "
                          f"{look_ahead:g}. Wait until it is over.")


def _take(step: str, now: Deployment) -> None:
    if step == "stop new runs":
        now.makes_runs = False
    elif step == "end unfinished runs":
        ended = {"running": "failed", "restarting": "failed", "queued": "failed"}
        now.tis = {ti: state if state in ("success", "failed", "skipped") else ended.get(state, "skipped")
                   for ti, state in now.tis.items()}
    elif step == "remove workers":
        now.workers = False
    elif step == "stop services":
        now.services = False
    else:
        now.heartbeats = True


def _react(step: str, now: Deployment, returned: list[str], unreported: list[str]) -> str:
    """What those that are still awake make of it."""
    told = []
    if step == "stop services" and now.workers:
        for ti in [ti for ti, state in now.tis.items() if state == "running"]:
            unreported.append(ti)
            told.append(f"the task {ti} finds no API server and gives up after three heartbeats: nobody learns how far it "
                        "got")
    if now.services and now.makes_runs and step == "end unfinished runs" and now.due:
        now.tis["orders.extract (new run)"] = "queued"
        told.append("the scheduler makes the run that is due now, and it will not be ended")
    if now.services and not now.workers:
        for ti, state in now.tis.items():
            if state in ("running", "queued"):
                now.tis[ti] = "up_for_retry"
                returned.append(ti)
                told.append(f"the scheduler misses the heartbeat of {ti} and wants to run it again: a worker comes back")
    return " ".join(map(_sentence, told))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."
