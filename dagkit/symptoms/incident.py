"""The incident drill: a noisy timeline, several plausible causes, a limited number of checks, one fault or two."""

from __future__ import annotations

from ..checks import levels, seeds
from ..errors import DagkitError, choices, nearest, quoted, shown
from ..lesson.page import items, static
from ..practice.dice import Dice
from . import shown as views
from .causes import CAUSES, COMPONENTS
from .deployment import Broken, broken
from .readings import Reading, readings
from .shown import Reply

BUDGET = {1: 5, 2: 4, 3: 4}
COST = {"check": 12, "wrong": 25}
FULL = 100
HARMLESS = (
    "worker celery-2: task took 14 s longer than its average",
    "scheduler: DagRun {0} was examined late (3 s)",
    "API server: 401 from a client with an old token",
    "metadata DB: autovacuum of task_instance took 22 s",
    "triggerer: 1 trigger took more than 0.2 s, the loop was blocked",
    "Dag processor: {1}.py took 9 s to parse",
    "worker reports-1: warning, deprecated parameter in {2}.send",
    "broker: memory at 61 %",
)
"""Lines that any day has. They are noise, and each points to a component."""
HARD = ("dag processor down", "database slow", "broker down", "cluster full", "worker lost", "wrong queue", "worker image",
        "triggerer down", "pool too small")
"""Causes that can be there side by side and still both be found."""


class Incident:
    """One incident. ``check(component)`` shows its dashboard and costs; ``answer(...)`` names the component, or all.

    >>> drill = incident(5)
    >>> drill.left, drill.score
    (5, 100)
    """

    def __init__(self, seed: int, level: int, case: Broken):
        self.seed, self.level, self.case = seed, level, case
        self.budget = BUDGET[level]
        self.checked: list[str] = []
        self.wrong = 0
        self.solved = False

    @property
    def left(self) -> int:
        """Checks that may still be made."""
        return self.budget - len(self.checked)

    @property
    def score(self) -> int:
        """100, less what checks and wrong answers cost."""
        return max(0, FULL - COST["check"] * len(self.checked) - COST["wrong"] * self.wrong)

    @property
    def components(self) -> tuple[str, ...]:
        """What can be checked, and answered."""
        return tuple(COMPONENTS)

    @property
    def solution(self) -> list[str]:
        """The components that are broken, in the order of COMPONENTS."""
        guilty = {cause.component for cause in self.case.causes}
        return [name for name in COMPONENTS if name in guilty]

    def can_be_seen(self) -> bool:
        """Whether the dashboards show just what is broken: one fault can hide another."""
        return [name for name in COMPONENTS if any(r.odd and r.component == name for r in readings(self.case))] \
            == self.solution

    def reports(self) -> list[str]:
        """What people say; with two faults both are reported, in no order of importance."""
        dice = Dice("reports", self.seed, self.level)
        return dice.shuffled([self.case.say(cause.seen) for cause in self.case.causes])

    def log(self) -> list[str]:
        """The timeline: real changes of state, and lines that any day has."""
        dice = Dice("log", self.seed, self.level)
        real = [line.replace("FAULT: ", "") for tick, line in self.case.trace.log_lines
                if self.case.since - 2 <= tick <= self.case.at and "FAULT" not in line and _tells(line)]
        noise = [f"tick {dice.between(self.case.since - 2, self.case.at):>2}  {self.case.say(line)}"
                 for line in dice.some(HARMLESS, 3 + self.level)]
        return sorted([*dice.some(real, 12), *noise], key=lambda line: int(line[5:].split()[0]))

    def check(self, component: str) -> list[Reading]:
        """The dashboard of one component. A second look at the same costs nothing.

        Raises DagkitError for an unknown component, and when no check is left.
        """
        if component not in COMPONENTS:
            raise DagkitError(f"check: there is no {quoted(component)}.{nearest(component, COMPONENTS)} "
                              f"Known: {choices(COMPONENTS, 12)}.")
        if component not in self.checked:
            if self.left <= 0:
                raise DagkitError(f"check: all {self.budget} checks are used. Answer with what you have.")
            self.checked.append(component)
        return [r for r in readings(self.case) if r.component == component]

    def answer(self, *components: str) -> Reply:
        """Name what is broken: one component, or two where two are."""
        given = {c for c in components if c in COMPONENTS}
        if not components or len(given) < len(components):
            bad = next((c for c in components if c not in COMPONENTS), "nothing")
            raise DagkitError(f"answer: '{shown(bad)}' is not a component.{nearest(bad, COMPONENTS)} "
                              f"Known: {choices(COMPONENTS, 12)}.")
        right = set(self.solution)
        if given == right:
            self.solved = True
            said = " ".join(self.case.say(cause.said) for cause in self.case.causes)
            first = " ".join(cause.first for cause in self.case.causes)
            return Reply(True, f"{said} Score {self.score} with {_checks(len(self.checked))}. First to check: {first}")
        self.wrong += 1
        hit = len(given & right)
        if given < right:
            text = f"{hit} of {len(right)} found. Something is left that this does not explain."
        elif hit:
            text = f"{hit} of {len(right)} is right, and {len(given - right)} is not broken."
        else:
            text = "Not broken: " + "; ".join(str(r) for r in readings(self.case) if r.component in given)[:300]
        return Reply(False, text)

    def __repr__(self) -> str:
        return "\n".join([*self.reports(), *self.log(), f"{_checks(self.left)} left; score {self.score}.",
                          f"Check or answer one of: {choices(COMPONENTS, 12)}."])

    def _repr_html_(self) -> str:
        return static(views.html(self.case, " ".join(self.reports()), [])
                      + "<h4>From the logs</h4>" + items(self.log())
                      + f"<p>{_checks(self.left)} left, score {self.score}. Check or answer one of: "
                      f"{', '.join(COMPONENTS)}.</p>")


def _checks(count: int) -> str:
    return f"{count} check{'s' * (count != 1)}"


def _tells(line: str) -> bool:
    """Lines of the log that say something besides the usual steps."""
    return any(word in line for word in ("failed", "up_for_retry", "deferred", "queued -> running", "-> success"))


def incident(seed: int = 0, level: int = 1) -> Incident:
    """An incident for a seed: level 1 one fault, level 2 one fault and fewer checks, level 3 two faults.

    >>> incident(1, 3).solution == incident(1, 3).solution
    True
    """
    seed, level = seeds("incident", seed), levels("incident", level)
    dice = Dice("incident", seed, level)
    firsts = dice.shuffled(HARD if level > 1 else tuple(CAUSES))
    seconds = dice.shuffled(HARD)
    drills = (Incident(seed, level, broken(seed, *keys)) for first in firsts for keys in (
        [(first, other) for other in seconds if CAUSES[other].component != CAUSES[first].component]
        if level == 3 else [(first,)]))
    return next(drill for drill in drills if drill.can_be_seen())
