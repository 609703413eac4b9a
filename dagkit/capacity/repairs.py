"""Repairs that look twice: an action needs all its evidence, at two looks, and stops where any is missing.

Each finding has an innocent twin: a worker that is about to take its first task, a pod that is merely slow to end, a
pod whose task instance starts this very second. The second look tells them apart. What cannot be read is no evidence.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ..checks import number, plain, seeds
from ..errors import DagkitError, choices, expect, nearest, quoted

MOST = 100_000
"""Most findings of one trial: a matter of seconds."""
Evidence = Mapping[str, "bool | None"]


class Finding(NamedTuple):
    """needs: the evidence, all of it. action: the repair. twin: what looks the same at first and is none."""

    needs: tuple[str, ...]
    action: str
    twin: str


FINDINGS = {
    "idle worker": Finding(("has free slots", "its queue has waiting tasks", "took none for minutes"),
                           "restart the Celery worker", "it took a task between the two looks"),
    "stuck pod": Finding(("terminating past its grace period", "no active task instance"), "delete the pod by force",
                         "it is only slow to end"),
    "orphan pod": Finding(("no active task instance runs on it", "none is about to: the newest try is elsewhere"),
                          "remove the pod", "its task instance is just being committed"),
}


def judge(finding: str, first: Evidence, second: Evidence | None) -> tuple[str, str]:
    """(what is done, why): the repair, or ``leave it``. second: None if nobody looks again.

    Raises DagkitError for an unknown finding.

    >>> seen = dict.fromkeys(FINDINGS["stuck pod"].needs, True)
    >>> judge("stuck pod", seen, {**seen, "no active task instance": None})
    ('leave it', 'no active task instance: could not be read at the second look')
    """
    if not isinstance(finding, str) or finding not in FINDINGS:
        raise DagkitError(f"repair: finding {quoted(finding)} is unknown.{nearest(finding, FINDINGS)} "
                          f"Known: {choices(FINDINGS)}.")
    for which, look in (("first", first), ("second", second)):
        if look is None:
            continue
        expect(f"repair: the {which} look", look, Mapping, "a dictionary of evidence")
        for name in FINDINGS[finding].needs:
            if look.get(name) is None:
                return "leave it", f"{name}: could not be read at the {which} look"
            if not look[name]:
                return "leave it", f"{name}: not so at the {which} look"
    return FINDINGS[finding].action, "all evidence, at every look"


@dataclass(frozen=True)
class Tally:
    """What became of many findings. rightly, wrongly: repaired. left: broken ones not repaired (yet)."""

    looks: int
    rightly: int
    wrongly: int
    left: int


def trial(looks: int = 2, *, count: int = 300, broken: float = 0.3, missing: float = 0.1, seed: int = 0) -> Tally:
    """Many findings, some truly broken (share ``broken``), the others innocent twins; a share of readings is missing.

    The shares are assumed: what counts is the order of the three ways, not the numbers.

    looks: 1 acts at once, 2 looks again; 0 acts at once and reads what is missing as if it were there.
    Raises DagkitError for another number of looks, a count above MOST, and what is no share.

    >>> trial(2).wrongly < trial(1).wrongly < trial(0).wrongly
    True
    """
    looks, count = plain(looks), plain(count)
    if type(looks) is not int or looks not in (0, 1, 2):
        raise DagkitError(f"repair: looks is 0, 1 or 2, not {quoted(looks)}. Two are the careful way.")
    if type(count) is not int or not 0 <= count <= MOST:
        raise DagkitError(f"repair: count must be a whole number from 0 to {MOST:,}, not {quoted(count)}. "
                          "Three hundred will do.")
    broken, missing = number("repair", "broken", broken, 0, 1), number("repair", "missing", missing, 0, 1)
    seed = seeds("repair", seed)
    dice, found = random.Random(seed), {"rightly": 0, "wrongly": 0, "left": 0}
    for k in range(count):
        name = list(FINDINGS)[k % len(FINDINGS)]
        truly = dice.random() < broken
        first = _look(dice, name, True, missing)
        # An innocent twin is found out by the second look in most cases, and at once in some.
        second = _look(dice, name, truly or dice.random() < 0.1, missing)
        innocent_already = not truly and dice.random() < 0.3
        if innocent_already:
            first[FINDINGS[name].needs[-1]] = None if dice.random() < 0.5 else False
        if looks == 0:
            first = {key: True if value is None else value for key, value in first.items()}
        done = judge(name, first, second if looks == 2 else None)[0] != "leave it"
        if done or truly:
            found["left" if not done else "rightly" if truly else "wrongly"] += 1
    return Tally(looks, **found)


def _look(dice: random.Random, name: str, holds: bool, missing: float) -> dict[str, bool | None]:
    seen: dict[str, bool | None] = dict.fromkeys(FINDINGS[name].needs, True)
    if not holds:
        seen[FINDINGS[name].needs[-1]] = False
    for key in seen:
        if dice.random() < missing:
            seen[key] = None
    return seen
