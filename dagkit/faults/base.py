"""What all faults have in common: when they begin, what they break, and until when they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..checks import plain_fields, text, whole
from ..errors import DagkitError


@dataclass(frozen=True)
class Fault:
    """What all faults have in common: when it begins, and which component it breaks."""

    tick: int

    component: ClassVar[str] = ""

    def __post_init__(self) -> None:
        plain_fields(self)
        whole(self._name, "tick", self.tick, 1)

    @property
    def _name(self) -> str:
        return type(self).__name__

    def _texts(self, *fields: str) -> None:
        for name in fields:
            text(self._name, name, getattr(self, name), none=True)

    def _one_of(self, first: str, second: str, what: str) -> None:
        self._texts(first, second)
        if (getattr(self, first) is None) == (getattr(self, second) is None):
            raise DagkitError(f"{self._name}: name either the {first} {what} ({first}=) or the {second} ({second}=). "
                              "One of the two, not both.")

    def __str__(self) -> str:
        return f"{self._what()} {self._when()}"

    def _what(self) -> str:
        return self._name

    def _when(self) -> str:
        return f"at tick {self.tick}"


@dataclass(frozen=True)
class Outage(Fault):
    """A fault that may pass: it holds from ``tick`` until (not including) ``until``; None: for good."""

    until: int | None = None

    mutes: ClassVar[tuple[str, ...]] = ()
    """What is not heard of meanwhile: "event" (of a trigger), "answer" (of a person), "timeout" (of a wait)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self._name, "until", self.until, self.tick + 1, none=True)

    def _when(self) -> str:
        return f"from tick {self.tick} {'on' if self.until is None else f'until tick {self.until}'}"

    def holds(self, tick: int) -> bool:
        """Whether it holds at the end of a tick.

        >>> Outage(5, until=7).holds(6), Outage(5, until=7).holds(7)
        (True, False)
        """
        return self.tick <= tick and (self.until is None or tick < self.until)
