"""One refusal for every class that is declared with keywords: a name that does not exist, a value that is missing.

Python says that in a TypeError of its own, which names neither the nearest parameter nor the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar

from .errors import DagkitError, choices, nearest, quoted, shown

T = TypeVar("T")


def checked(cls: type[T]) -> type[T]:
    """Class decorator: what the parameters have no place for is refused in a sentence. Stands above ``@dataclass``.

    The check runs only after Python has refused, so that an object that is declared well costs nothing more.

    >>> @checked
    ... class Shelf:
    ...     def __init__(self, width, depth=1): self.width = width
    >>> Shelf(2, deep=3)
    Traceback (most recent call last):
    ...
    dagkit.errors.DagkitError: Shelf: parameter 'deep' is unknown. Did you mean 'depth'? Known: width, depth.
    >>> Shelf(depth=3)
    Traceback (most recent call last):
    ...
    dagkit.errors.DagkitError: Shelf: width is missing. Write Shelf(width=...).
    """
    made: Any = cls.__init__

    @wraps(made)
    def init(self: Any, *given: Any, **named: Any) -> None:
        try:
            made(self, *given, **named)
        except TypeError:
            refuse(type(self).__name__, list(signature(made).parameters.values())[1:], given, named)
            raise

    cls.__init__ = init  # type: ignore[method-assign]
    return cls


def refuse(who: str, takes: list[Parameter], given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Raises DagkitError if these values do not fit these parameters."""
    known = [p.name for p in takes if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    places = [p.name for p in takes if p.kind is p.POSITIONAL_OR_KEYWORD]
    for name in named:
        if name not in known and not any(p.kind is p.VAR_KEYWORD for p in takes):
            raise unknown(who, name, known)
    if len(given) > len(places):
        raise DagkitError(f"{who}: {quoted(given[len(places)])} has no parameter, since only {len(places)} values go "
                          f"without a name. Name the others: {choices(known, 40)}.")
    filled = places[:len(given)]
    for name in filled:
        if name in named:
            raise DagkitError(f"{who}: {name} is given twice, as {quoted(given[places.index(name)])} and as "
                              f"{quoted(named[name])}. Keep one of the two.")
    for p in takes:
        if p.name in known and p.default is p.empty and p.name not in (*filled, *named):
            raise DagkitError(f"{who}: {p.name} is missing. Write {who}({p.name}=...).")


def unknown(who: str, name: object, known: list[str] | tuple[str, ...]) -> DagkitError:
    """The refusal of a parameter that does not exist, with the nearest that does.

    >>> unknown("Pool", "slot", ["slots", "include_deferred"])
    DagkitError("Pool: parameter 'slot' is unknown. Did you mean 'slots'? Known: slots, include_deferred.")
    """
    return DagkitError(f"{who}: parameter '{shown(name)}' is unknown.{nearest(name, known)} Known: {choices(known, 40)}.")
