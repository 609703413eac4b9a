"""Classroom: demos for a projector, the same drills for a whole room, and what the room still believes.

``demo(name)`` is a talk of under ten minutes: a question for the room, prepared situations on the keys 1, 2, 3 ...,
a script for the presenter and a file to hand out. ``training(seed)`` gives everybody the same drills, ``save`` writes
one's answers as CSV, ``read`` joins the files of a class and shows its misconceptions.

>>> from dagkit import classroom
>>> classroom.demos()
['stall', 'flood', 'sensors', 'lost_worker', 'two_schedulers', 'hints']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import DagkitError, choices, nearest, quoted
from .results import read, save
from .view import ClassView

if TYPE_CHECKING:
    from .show import Demo

NAMES = ("stall", "flood", "sensors", "lost_worker", "two_schedulers", "hints")


def demos() -> list[str]:
    """The names of the demos, in the order they are best shown."""
    return list(NAMES)


def demo(name: str) -> Demo:
    """A demo by its name: show it, press the keys, hand it out with ``.to_html(path)``.

    Raises DagkitError for an unknown name.
    """
    if not isinstance(name, str) or name not in NAMES:
        raise DagkitError(f"classroom: there is no demo {quoted(name)}.{nearest(name, NAMES)} Known: {choices(NAMES)}.")
    from . import parts_demos, waiting_demos
    made: Demo = {**waiting_demos.BUILD, **parts_demos.BUILD}[name]()
    return made


def training(seed: int, count: int = 10, level: int = 1) -> Any:
    """Drills as cards, the same for everybody in the room who takes the same seed.

    seed: any whole number >= 0. count: how many, 1 to 100. level: 1 to 3. Raises DagkitError for anything else.
    """
    from ..practice import training as deal
    return deal(seed, count, level)


__all__ = ["ClassView", "demo", "demos", "read", "save", "training"]
