"""The checks that declarations share: one value, one rule, one sentence when it is broken.

``who`` names the object in the message ("runs", "Worker"), ``name`` the parameter, ``hint`` what to do next.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

from .errors import DagkitError, quoted

MOST = 1_000_000
"""The longest list, the widest mapped task and the largest number of runs the kit takes."""
HUGE = 2**63
"""Whole-number settings end below this, as they would in any database."""
UNPRINTABLE = 10**4000
"""Durations end below this: Python neither prints nor reads integers much longer."""
NUMPY_BOOLS = ("bool", "bool_")
"""numpy's name for its own truth values, since version 2 and before."""


def whole(who: str, name: str, value: Any, low: int, *, none: bool = False, unit: str = "") -> None:
    """Refuses what is not a whole number >= low (or None, with ``none``). A bool is no number.

    >>> whole("Worker", "concurrency", "4", 1)
    Traceback (most recent call last):
    ...
    dagkit.errors.DagkitError: Worker: concurrency must be a whole number >= 1, not '4'. Give 1 or more.
    """
    if type(value) is int and value >= HUGE:
        raise DagkitError(f"{who}: {name} must be below 2**63, not {quoted(value)}. Give a smaller number.")
    if not (none and value is None) and (type(value) is not int or value < low):
        raise DagkitError(f"{who}: {name} must be a whole number{unit} >= {low}{' or None' * none}, "
                          f"not {quoted(value)}. Give {low} or more.")


def flag(who: str, name: str, value: Any) -> None:
    """Refuses what is neither True nor False: 0, 1 and "no" are more likely a slip than a wish."""
    if type(value) is not bool:
        raise DagkitError(f"{who}: {name} must be True or False, not {quoted(value)}. Write {name}=True.")


def text(who: str, name: str, value: Any, *, none: bool = False, empty: bool = False) -> None:
    """Refuses what is not text; ``none`` and ``empty`` say whether None and "" will do."""
    if not (none and value is None) and not (isinstance(value, str) and (value or empty)):
        raise DagkitError(f"{who}: {name} must be text{' or None' * none}, not {quoted(value)}. Put a name in quotes.")


def listed(who: str, name: str, value: Any, hint: str) -> tuple[Any, ...]:
    """The items of a list, tuple or other iterable; a set is sorted, so that the same set gives the same order.

    >>> listed("Dag 'd'", "assets", {"b", "a"}, "Write assets=['a'].")
    ('a', 'b')
    """
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise DagkitError(f"{who}: {name} must be a list, not {quoted(value)}. {hint}")
    return tuple(sorted(value, key=str) if isinstance(value, (set, frozenset)) else value)


def table(what: str, value: Any, example: str) -> None:
    """Refuses what is no dictionary."""
    if not isinstance(value, Mapping):
        raise DagkitError(f"{what} must be a dictionary, not {quoted(value)}. Write {example}.")


def names(who: str, name: str, value: Any) -> tuple[str, ...]:
    """One name or several, as a tuple of text.

    >>> names("change", "clear", "load"), names("change", "clear", {"b", "a"})
    (('load',), ('a', 'b'))
    """
    found = (value,) if isinstance(value, str) else listed(who, name, value, f"Write {name}=['a', 'b'].")
    for item in found:
        text(who, f"{name}: each name", item)
    return found


def plain(value: Any) -> Any:
    """A number, text or truth value of numpy as Python's own, which can be written as JSON. All else stays what it is.

    >>> plain(3), plain(2.5), plain("3")
    (3, 2.5, '3')
    """
    if not hasattr(value, "dtype") or not (isinstance(value, (Real, str)) or type(value).__name__ in NUMPY_BOOLS):
        return value
    item: Any = value.item()
    return item if type(item) in (int, float, bool, str) else float(item)


def plain_fields(declared: Any) -> None:
    """The same for the fields of a dataclass, before they are checked."""
    for field in dataclasses.fields(declared):
        value = getattr(declared, field.name)
        if plain(value) is not value:
            object.__setattr__(declared, field.name, plain(value))


def number(who: str, name: str, value: Any, low: float, high: float, *, unit: str = "") -> Any:
    """A number from low to high as Python's own, whole or not; anything else is refused.

    >>> number("survey", "share", 2, 0, 1)
    Traceback (most recent call last):
    ...
    dagkit.errors.DagkitError: survey: share must be a number from 0 to 1, not 2. Choose one between the two.
    """
    found = plain(value)
    if type(found) not in (int, float) or not low <= found <= high:
        top = "" if high == math.inf else f" to {high:,}"
        raise DagkitError(f"{who}: {name} must be a number{unit} {'from' if top else '>='} {low:g}{top}, not "
                          f"{quoted(value)}. {'Choose one between the two.' if top else 'Nothing is less than that.'}")
    return found


def levels(who: str, value: Any) -> int:
    """A level of difficulty: 1, 2 or 3."""
    found = plain(value)
    if type(found) is not int or found not in (1, 2, 3):
        raise DagkitError(f"{who}: level must be 1, 2 or 3, not {quoted(value)}. Begin with level=1.")
    return found


def seeds(who: str, value: Any) -> int:
    """A seed: what is drawn depends on it and on nothing else."""
    found = plain(value)
    if type(found) is not int or not 0 <= found < HUGE:
        raise DagkitError(f"{who}: seed must be a whole number >= 0, not {quoted(value)}. Any will do, for example 7.")
    return found


def is_number(value: object) -> bool:
    """A finite int or float, and not a bool (which Python counts as 0 or 1)."""
    return (type(value) is int and abs(value) < UNPRINTABLE) or (type(value) is float and math.isfinite(value)) or (
        hasattr(value, "dtype") and isinstance(value, Real) and math.isfinite(value)   # numpy's scalars, not its arrays
    )
