"""A requirement, and the verdict on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .counting import Readings
from .declared import Design
from .world import clock


@dataclass(frozen=True)
class Verdict:
    """One requirement. found: what was seen, in words. tick: where it first broke (None: not in time). by: how much is
    missing, in the unit of the requirement (0 if passed or not a number). hint: where to look.
    """

    name: str
    asks: str
    passed: bool
    found: str
    tick: int | None = None
    by: float = 0
    hint: str = ""

    @property
    def at(self) -> str:
        """Where it first broke, in words, or ""."""
        return "" if self.passed or self.tick is None else f"{clock(self.tick)} (tick {self.tick})"

    def __str__(self) -> str:
        at = f" First at {self.at}." if self.at else ""
        hint = f"\n    hint: {self.hint}" if self.hint and not self.passed else ""
        return f"{'✓' if self.passed else '✗'} {self.name}: {self.found}{at}{hint}"


@dataclass(frozen=True)
class Result:
    """What a requirement's function finds. hint: instead of the usual one."""

    passed: bool
    found: str
    tick: int | None = None
    by: float = 0
    hint: str = ""


Judge = Callable[[Design, Readings], Verdict]


def requirement(name: str, asks: str, hint: str = "") -> Callable[[Callable[[Design, Readings], Result]], Judge]:
    """Make a function that reads the record a requirement with a name, what it asks for and the usual hint."""
    def named(find: Callable[[Design, Readings], Result]) -> Judge:
        def judge(design: Design, seen: Readings) -> Verdict:
            result = find(design, seen)
            return Verdict(name, asks, result.passed, result.found, result.tick, round(result.by, 1), result.hint or hint)
        judge.__doc__ = find.__doc__
        return judge
    return named


def seconds(value: float) -> str:
    """A time in words.

    >>> seconds(90.0), seconds(float("inf"))
    ('90 s', 'for ever')
    """
    return "for ever" if value == float("inf") else f"{value:,.0f} s"


def fail(found: str, tick: int | None = None, by: Any = 0, hint: str = "") -> Result:
    """The result of a requirement that is not met."""
    return Result(False, found, tick, by, hint)


__all__ = ["Judge", "Result", "Verdict", "fail", "requirement", "seconds"]
