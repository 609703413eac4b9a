"""Dice that fall the same everywhere: one key, one sequence, on every system and Python version."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Random choices from a key. Only ``random.Random.random`` is used, whose sequence Python promises to keep.

    >>> Dice("a", 1).between(1, 6) == Dice("a", 1).between(1, 6)
    True
    """

    def __init__(self, *key: object):
        self._next = random.Random("/".join(map(str, key))).random

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + int(self._next() * (high - low + 1))

    def often(self, share: float) -> bool:
        """True in this share of all throws."""
        return self._next() < share

    def one(self, of: Sequence[T]) -> T:
        return of[self.between(0, len(of) - 1)]

    def some(self, of: Sequence[T], count: int) -> list[T]:
        """So many different ones, in the order given."""
        left = list(range(len(of)))
        taken = sorted(left.pop(self.between(0, len(left) - 1)) for _ in range(min(count, len(of))))
        return [of[i] for i in taken]

    def shuffled(self, of: Sequence[T]) -> list[T]:
        left = list(of)
        return [left.pop(self.between(0, len(left) - 1)) for _ in range(len(left))]
