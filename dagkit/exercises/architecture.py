"""Exercise 7: broken deployments, a limited number of looks, and a detective that decides where to look first."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..errors import DagkitError, nearest, quoted, shown
from ..symptoms import COMPONENTS, Broken, Incident, incident
from .trial import NotYet, Task, bounded, where

TWO_FAULTS = 3
"""The seed of the incident of task 7.2."""
SEEDS = range(100, 114)
SOLVED = 12
"""Of the incidents of SEEDS, how many a detective has to solve."""


def two_faults() -> Incident:
    """The incident of task 7.2, fresh: two things are broken, four checks."""
    return incident(TWO_FAULTS, 3)


@cache
def _case(seed: int) -> Broken:
    return incident(seed, 1).case


def drill(seed: int) -> Incident:
    """A fresh incident with one fault and five checks. Raises DagkitError for a seed that is no whole number >= 0."""
    return Incident(seed, 1, _case(seed)) if seed in SEEDS else incident(seed, 1)


def odd(answer: Any) -> None:
    """Whether a dashboard shows something odd."""
    for seed in list(SEEDS)[:3]:
        for component in COMPONENTS:
            fresh = drill(seed)
            right = any(reading.odd for reading in fresh.check(component))
            found = _tried(lambda c=component, s=seed: answer(drill(s), c), seed)
            if found is not right:
                seen = "; ".join(map(str, fresh.check(component)))
                raise NotYet(f"looks_odd for {component} should be {right}; yours is {quoted(found)}. It shows: {seen}.",
                             "One odd reading is enough, and healthy ones beside it do not count against it.")


def _tried(ask: Any, seed: int) -> Any:
    """What the learner's function says; never nothing."""
    try:
        found = bounded(ask)
    except (NotYet, DagkitError):
        raise
    except (Exception, SystemExit) as error:
        raise NotYet(f"On incident {seed} your function ended in {type(error).__name__}: {shown(error, 200)}"
                     f"{where(error)}.") from None
    if found is None or found is ...:
        raise NotYet("Your function gives back nothing.", "Write its body, and end it with return.")
    return found


def both(case: Any, culprits: Any) -> None:
    """Both faults named, from no more looks than allowed."""
    if not isinstance(case, Incident) or (case.seed, case.level) != (TWO_FAULTS, 3):
        raise NotYet("case must be the incident of this task: case = dk.exercises.two_faults().")
    if not isinstance(culprits, (list, tuple, set)) or not all(isinstance(name, str) for name in culprits):
        raise NotYet(f"culprits must be a list of names, not {quoted(culprits)}.")
    if strange := sorted(set(culprits) - set(COMPONENTS)):
        raise NotYet(f"{quoted(strange[0])} is no component.{nearest(strange[0], COMPONENTS)} "
                     f"Known: {', '.join(COMPONENTS)}.")
    if not case.checked:
        raise NotYet("You have not looked at a single dashboard, so this is a guess.", "case.check('...') shows one.")
    right = set(case.solution)
    if wrong := sorted(set(culprits) - right):
        raise NotYet(f"{len(set(culprits) & right)} of {len(right)} found, and {wrong[0]} is not broken.",
                     "A line in the log is no proof: some of them any day has. What do people report?")
    if set(culprits) != right:
        raise NotYet(f"{len(culprits)} of {len(right)} found.",
                     "People report two things, and one does not explain the other.")


def detective(answer: Any) -> None:
    """A function that finds the one broken component in most of some incidents, each with five checks at most."""
    missed = []
    for seed in SEEDS:
        fresh = drill(seed)
        try:
            found = _tried(lambda c=fresh: answer(c), seed)
        except DagkitError as error:
            if isinstance(error, NotYet):
                raise
            found = f"nothing ({error})"                        # all checks used, or a component that does not exist
        if not fresh.checked and found not in fresh.solution:
            raise NotYet(f"Your detective answered incident {seed} without a look, and wrongly.",
                         "Look first: case.check('...').")
        if found not in fresh.solution:
            missed.append((seed, found, fresh.reports()[0], len(fresh.checked)))
    if len(SEEDS) - len(missed) < SOLVED:
        seed, found, said, checks = missed[0]
        raise NotYet(f"{len(SEEDS) - len(missed)} of {len(SEEDS)} incidents solved, {SOLVED} are wanted. The first "
                     f"one missed "
                     f"is {seed}: “{said}” After {checks} checks you said {shown(found)}.",
                     "Five looks are not enough for ten parts. What do people report, and which part could do that? "
                     f"Look at it: dk.symptoms.incident({seed}, 1).")


TASKS = (
    Task("7.1", ("looks_odd",), odd, "You can read a dashboard."),
    Task("7.2", ("case", "culprits"), both, "Both faults, from four looks."),
    Task("7.3", ("detective",), detective, "It knows where to look first."),
)
