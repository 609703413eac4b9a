"""The symptom game: states over time and a few readings; which component, and what is the first thing to check?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..checks import levels, seeds
from ..errors import DagkitError, choices, nearest, quoted, shown
from ..lesson.page import static
from ..practice.dice import Dice
from . import shown as views
from .causes import CAUSES, COMPONENTS, Cause
from .deployment import Broken, broken
from .readings import Reading, readings
from .shown import Reply

EASY = ("scheduler dead", "broker down", "triggerer down", "dag paused", "api server slow", "worker image")
"""Causes whose first look already tells. Level 1 draws from these, with three choices; level 2 from all, with four."""
CHOICES = {1: 3, 2: 4, 3: 6}


@dataclass(frozen=True)
class Symptom:
    """One case. ``symptom`` is what people report, ``clues`` what was read so far; then two questions with ``choices``
    and ``checks``. ``answer`` and ``first_check`` are right; ``reply(given)`` says why a choice is not.
    """

    seed: int
    level: int
    case: Broken
    clues: tuple[Reading, ...]
    choices: tuple[str, ...]
    checks: tuple[str, ...]

    @property
    def cause(self) -> Cause:
        return self.case.causes[0]

    @property
    def trace(self) -> Any:
        """The real trace behind it; it goes on after the look."""
        return self.case.trace

    @property
    def at(self) -> int:
        return self.case.at

    @property
    def symptom(self) -> str:
        return self.case.say(self.cause.seen)

    @property
    def answer(self) -> str:
        return self.cause.component

    @property
    def first_check(self) -> str:
        return self.cause.first

    @property
    def solution(self) -> str:
        """The cause in words."""
        return f"{self.case.say(self.cause.said)} It began at tick {self.case.since}. First check: {self.cause.first}"

    def table(self) -> list[dict[str, Any]]:
        """Task instances by state over time, until somebody looks."""
        return views.table(self.case)

    def reply(self, given: str) -> Reply:
        """What is to be said to a component, or to a first check.

        Raises DagkitError for anything else, with what can be chosen.
        """
        if given in self.checks:
            seen = _shown_by(self.case, given)
            return Reply(given == self.first_check, f"The first check: yes, this look tells at once. {seen}"
                         if given == self.first_check else
                         f"The first check: that look costs time and shows nothing odd. {seen}")
        if given not in COMPONENTS:
            raise DagkitError(f"symptom: {quoted(given)} is not among the choices.{nearest(given, self.choices)} "
                              f"Choose one of {choices(map(shown, self.choices))}.")
        if given == self.answer:
            return Reply(True, f"The component: {given}. {self.case.say(self.cause.said)} "
                         f"It began at tick {self.case.since}.")
        calm = [r for r in readings(self.case) if r.component == given]
        told = "; ".join(f"{r.name} = {r.value}" for r in calm[:2])
        return Reply(False, f"The component: not {given}. Look at it: {told}. Nothing is odd there. "
                            "Who acts on a task in the state it is stuck in?")

    def __repr__(self) -> str:
        rows = self.table()
        lines = [self.symptom, *(str(clue) for clue in self.clues),
                 *("  ".join(f"{key} {value}" if key != "state" else f"{value:<16}" for key, value in row.items())
                   for row in rows), f"Which component? {choices(self.choices, 12)}."]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        clues = [str(clue) for clue in self.clues]
        return static(views.html(self.case, self.symptom, clues))


def symptom(seed: int = 0, level: int = 1) -> Symptom:
    """A case for a seed: level 1 (few choices, plain causes) to 3 (six choices; what was looked at is all healthy).

    >>> symptom(4, 3).reply(symptom(4, 3).answer).right
    True
    """
    seed, level = seeds("symptom", seed), levels("symptom", level)
    dice = Dice("symptom", seed, level)
    key = dice.one(EASY if level == 1 else tuple(CAUSES))
    case = broken(seed, key)
    right = CAUSES[key].component
    offered = dice.shuffled([right, *dice.some([c for c in COMPONENTS if c != right], CHOICES[level] - 1)])
    checks = dice.shuffled([CAUSES[key].first, *dice.some([c.first for c in CAUSES.values() if c.component != right], 3)])
    return Symptom(seed, level, case, tuple(_clues(case, right, offered, level, dice)), tuple(offered), tuple(checks))


def _clues(case: Broken, right: str, offered: list[str], level: int, dice: Dice) -> list[Reading]:
    """Level 1: one odd reading and one healthy. Level 2: three healthy ones. Level 3: all choices but the right one."""
    known = readings(case)
    odd = [r for r in known if r.odd and r.component == right]
    healthy = [r for r in known if r.component in offered and r.component != right]
    if level == 1:
        return [*dice.some(odd, 1), *dice.some(healthy, 1)]
    if level == 2:
        return dice.some(healthy, 3)
    firsts = {r.component: r for r in reversed(healthy)}
    return [firsts[component] for component in offered if component in firsts]


def _shown_by(case: Broken, check: str) -> str:
    component = next(cause.component for cause in CAUSES.values() if cause.first == check)
    found = [r for r in readings(case) if r.component == component]
    reading = next((r for r in found if r.odd), found[0])
    return f"{reading.name} = {reading.value}."
