"""How long something takes: a fixed time or a distribution, drawn without dice.

A draw is a hash of the scenario's seed, the task instance, its try and what is drawn. So it does not depend on the
order of draws, and is the same on every machine.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import exp, log
from statistics import NormalDist
from typing import Any

from ..checks import is_number, plain
from ..errors import DagkitError, choices, nearest, quoted, shown
from ..keywords import checked

SHAPES = ("fixed", "uniform", "lognormal")
_Z95 = NormalDist().inv_cdf(0.95)
SHORTEST = 1e-6
LONGEST = 1e9
"""Seconds: about thirty years. Nothing that waits longer is worth a simulation."""


@checked
@dataclass(frozen=True)
class Latency:
    """Seconds something takes. Make one with ``fixed``, ``uniform`` or ``lognormal``.

    shape: one of SHAPES. low, high: the two seconds that fix it: both ends of a uniform one, median and 95th percentile
    of a lognormal one (most are near the median, a few take much longer: as start-ups do).

    >>> Latency.lognormal(median=5, p95=15).seconds(0.5)
    5.0
    >>> round(Latency.lognormal(median=5, p95=15).seconds(0.95), 6)
    15.0
    >>> Latency.uniform(2, 4).seconds(0.25), Latency.fixed(3).seconds(0.9)
    (2.5, 3)
    """

    shape: str
    low: float
    high: float

    def __post_init__(self) -> None:
        if not isinstance(self.shape, str) or self.shape not in SHAPES:
            raise DagkitError(f"latency: '{shown(self.shape)}' is not a shape.{nearest(self.shape, SHAPES)} "
                              f"Known: {choices(SHAPES)}.")
        for name in ("low", "high"):
            value = getattr(self, name)
            if not is_number(value) or not 0 <= value <= LONGEST:
                raise DagkitError(f"latency: seconds must be a number from 0 to {LONGEST:.0e}, not {quoted(value)}. "
                                  "Nothing takes less than no time.")
            object.__setattr__(self, name, plain(value))
        if self.high < self.low:
            what = ("its 95th percentile", "its median") if self.shape == "lognormal" else ("its end", "its start")
            raise DagkitError(f"latency: {what[0]} must be at least {what[1]}, {quoted(self.low)}, not "
                              f"{quoted(self.high)}. Swap the two.")
        if self.shape == "lognormal" and not self.low:
            raise DagkitError("latency: the median of a lognormal one must be above 0. Write Latency.fixed(0) for none.")

    @classmethod
    def fixed(cls, seconds: float) -> Latency:
        """Always the same."""
        return cls("fixed", seconds, seconds)

    @classmethod
    def uniform(cls, low: float, high: float) -> Latency:
        """Anything between two bounds, all alike."""
        return cls("uniform", low, high)

    @classmethod
    def lognormal(cls, median: float, p95: float) -> Latency:
        """Half take at most ``median`` seconds, 95 of 100 at most ``p95``."""
        return cls("lognormal", median, p95)

    @classmethod
    def of(cls, who: str, name: str, given: Any) -> Latency:
        """A Latency, or a number of seconds as a fixed one. ``who`` and ``name`` are for the message.

        >>> Latency.of("Broker", "latency", 2)
        Latency(shape='fixed', low=2, high=2)
        """
        if isinstance(given, Latency):
            return given
        if not is_number(given) or not 0 <= given <= LONGEST:
            raise DagkitError(f"{who}: {name} must be a number of seconds >= 0 or a dk.Latency, not {quoted(given)}. "
                              "Write dk.Latency.lognormal(median=5, p95=15).")
        return cls.fixed(given)

    def seconds(self, u: float) -> float:
        """The time below which a share ``u`` of all cases lies (0 < u < 1)."""
        if self.low == self.high:
            return self.low
        if self.shape == "uniform":
            return self.low + u * (self.high - self.low)
        spread = log(self.high / self.low) / _Z95
        return self.low * exp(spread * NormalDist().inv_cdf(u))

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.low:g} s"
        words = ("half within {:g} s, 95 of 100 within {:g} s" if self.shape == "lognormal" else "{:g} to {:g} s")
        return words.format(self.low, self.high)


def seconds(who: str, name: str, value: Any, low: float = 0) -> Any:
    """A number of seconds from ``low`` to LONGEST, as Python's own; anything else is refused.

    >>> seconds("Edge", "poll_interval", 5)
    5
    """
    if not is_number(value) or not low <= value <= LONGEST:
        rule = "> 0" if low else ">= 0"
        raise DagkitError(f"{who}: {name} must be a number of seconds {rule} (from {low:g} to {LONGEST:.0e}), not "
                          f"{quoted(value)}. Write {name}=5.")
    return plain(value)


def draw(*key: object) -> float:
    """A number between 0 and 1, both excluded, that depends on nothing but its key.

    >>> draw("seed", 1) == draw("seed", 1), 0 < draw("seed", 2) < 1
    (True, True)
    """
    text = "\x1f".join(map(str, key)).encode("utf-8", "surrogatepass")
    return (int.from_bytes(hashlib.sha256(text).digest()[:6], "big") + 0.5) / 2**48


def ticks(seconds: float, tick_seconds: float) -> int:
    """Seconds as whole ticks, to the nearest.

    >>> ticks(2.4, 1), ticks(2.5, 1), ticks(90, 60)
    (2, 3, 2)
    """
    return int(seconds / tick_seconds + 0.5)
