"""Two schedulers and a few rows, without a database: every order in which their steps can happen.

A small model of what a database promises under READ COMMITTED. A SELECT sees what is committed. A row that somebody
has changed or locked, and not yet committed, makes another writer wait. When the wait is over, the WHERE is looked
at again: that is what makes a guard work (PostgreSQL documentation, chapter 13.2.1, Read Committed).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..checks import plain
from ..errors import DagkitError, quoted
from .strategies import POOL, TURN, Strategy, strategy

WHO = ("A", "B")
OVER = ("done", "skips its turn", "finds nothing", "gets an error")
"""How a scheduler's turn ends. While it lasts, its status is "" or "waits"."""
MOST = 4
"""Most rows: beyond that the orders add nothing but number."""


@dataclass(frozen=True)
class Side:
    """One scheduler: its next step, the rows it picked, those its UPDATE returned, and the row it waits for."""

    at: int = 0
    picked: tuple[int, ...] = ()
    taken: tuple[int, ...] = ()
    waits: int | None = None
    over: str = ""


@dataclass(frozen=True)
class Moment:
    """All there is: both schedulers, the committed states ("scheduled" or "queued") by row, who holds each row (None:
    nobody), whose uncommitted change it bears, who has the turn, and what the executor was handed, by row."""

    sides: tuple[Side, Side]
    rows: tuple[str, ...]
    held: tuple[int | None, ...]
    changed: tuple[int | None, ...]
    turn: int | None
    handed: tuple[tuple[int, ...], ...]

    @property
    def double(self) -> bool:
        """Whether a row was handed over twice."""
        return any(len(each) > 1 for each in self.handed)


class Interleavings:
    """Every order of the steps of two schedulers that claim ``batch`` of ``rows`` rows once each.

    ``orders``: how many there are. ``doubles``: how many of them hand a row over twice. ``example``: one of those
    (or, if there is none, one in which both take turns), as a string like "ABABAABB".

    row_locks=False: the SELECT takes no locks, as where Airflow leaves them out (MariaDB, MySQL before 8, SQLite).
    Raises DagkitError for an unknown strategy or a number of rows that is not between 1 and 4.

    >>> interleavings("unlocked").can_double, interleavings("for_update").can_double
    (True, False)
    >>> interleavings("for_update", row_locks=False).can_double
    True
    """

    def __init__(self, name: str, *, row_locks: bool = True, rows: int = 2, batch: int = 1):
        rows, batch = plain(rows), plain(batch)
        for what, number in (("rows", rows), ("batch", batch)):
            if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MOST:
                raise DagkitError(f"interleavings: {what} is {quoted(number)}; choose a whole number from 1 to {MOST}.")
        self.strategy: Strategy = strategy(name)
        self.row_locks, self.rows, self.batch = row_locks, rows, batch
        self.steps = (*(["turn"] if self.strategy.turn else []), "select", "update", "commit", "hand over")

    @property
    def first(self) -> Moment:
        free = (None,) * self.rows
        return Moment((Side(), Side()), ("scheduled",) * self.rows, free, free, None, ((),) * self.rows)

    # ---- the rules ------------------------------------------------------------------------------------------------

    def can_step(self, now: Moment, who: int) -> bool:
        """Whether this scheduler can do its next step: its turn is not over, and it waits for no row that is held."""
        side = now.sides[who]
        return not side.over and (side.waits is None or now.held[side.waits] is None)

    def step(self, now: Moment, who: int) -> tuple[Moment, str]:
        """What comes next if this scheduler goes on, and the sentence that says so."""
        side = now.sides[who]
        act = {"turn": self._turn, "select": self._select, "update": self._update, "commit": self._commit,
               "hand over": self._hand_over}[self.steps[side.at]]
        return act(now, who)

    def _turn(self, now: Moment, who: int) -> tuple[Moment, str]:
        if not self.row_locks:
            return self._next(now, who), "asks for no lock: this database has none to give"
        if now.turn is not None:
            return self._over(now, who, "skips its turn"), f"skips its turn: {WHO[now.turn]} has the lock"
        return self._next(replace(now, turn=who), who), "has the lock, and the pools' rows"

    def _select(self, now: Moment, who: int) -> tuple[Moment, str]:
        lock = self.strategy.lock if self.row_locks else ""
        picked: list[int] = []
        held = list(now.held)
        for row, state in enumerate(now.rows):
            if len(picked) == self.batch or state != "scheduled":
                continue
            if lock and held[row] not in (None, who):
                if lock == "wait":
                    return self._wait(replace(now, held=tuple(held)), who, row)
                if lock == "nowait":
                    return self._over(now, who, "gets an error"), f"finds {names([row])} locked: an error, all undone"
                continue
            picked.append(row)
            held[row] = who if lock else held[row]
        if not picked:
            return self._over(now, who, "finds nothing"), "finds no row to take"
        after = self._next(replace(now, held=tuple(held)), who, picked=tuple(picked), waits=None)
        return after, f"reads {names(picked)} as scheduled" + (" and locks it" if lock else "")

    def _update(self, now: Moment, who: int) -> tuple[Moment, str]:
        side, held, changed, taken = now.sides[who], list(now.held), list(now.changed), []
        for row in side.picked:
            if held[row] not in (None, who):
                return self._wait(now, who, row)
            if self.strategy.guard and now.rows[row] != "scheduled":
                continue
            held[row] = changed[row] = who
            taken.append(row)
        after = replace(now, held=tuple(held), changed=tuple(changed))
        said = f"sets {names(taken)} to queued" if taken else "changes 0 rows: the guard sees that it is queued already"
        return self._next(after, who, taken=tuple(taken), waits=None), said

    def _commit(self, now: Moment, who: int) -> tuple[Moment, str]:
        rows = tuple("queued" if changed == who else state for state, changed in zip(now.rows, now.changed, strict=True))
        after = self._next(replace(self._released(now, who), rows=rows), who)
        if not now.sides[who].taken:
            return self._over(after, who, "finds nothing"), "commits nothing"
        return after, "commits: all others see it now"

    def _hand_over(self, now: Moment, who: int) -> tuple[Moment, str]:
        taken = now.sides[who].taken
        handed = tuple((*each, who) if row in taken else each for row, each in enumerate(now.handed))
        after = self._over(replace(now, handed=handed), who, "done")
        twice = [row for row in taken if len(handed[row]) > 1]
        said = f"hands {names(taken)} to the executor"
        return after, said + (f": {names(twice)} runs TWICE" if twice else "")

    def _wait(self, now: Moment, who: int, row: int) -> tuple[Moment, str]:
        holder = now.held[row]
        assert holder is not None
        return _side(now, who, waits=row), f"waits: {WHO[holder]} holds {names([row])}"

    def _next(self, now: Moment, who: int, **changes: Any) -> Moment:
        return _side(now, who, at=now.sides[who].at + 1, **changes)

    def _over(self, now: Moment, who: int, how: str) -> Moment:
        return _side(self._released(now, who), who, over=how, waits=None)

    @staticmethod
    def _released(now: Moment, who: int) -> Moment:
        """The end of a transaction: its locks go, and what it had changed is either committed or forgotten."""
        return replace(now, held=tuple(None if h == who else h for h in now.held),
                       changed=tuple(None if c == who else c for c in now.changed),
                       turn=None if now.turn == who else now.turn)

    # ---- all orders -----------------------------------------------------------------------------------------------

    def after(self, now: Moment) -> Iterator[tuple[int, Moment, str]]:
        """Who can go on, to what, and the sentence."""
        for who in range(len(WHO)):
            if self.can_step(now, who):
                yield (who, *self.step(now, who))

    @cached_property
    def moments(self) -> dict[Moment, list[tuple[int, Moment, str]]]:
        """Every moment that can be reached, and what can follow it. No moment comes again, so this is a Dag."""
        found: dict[Moment, list[tuple[int, Moment, str]]] = {}
        ahead = [self.first]
        while ahead:
            now = ahead.pop()
            if now not in found:
                found[now] = list(self.after(now))
                ahead += [after for _, after, _ in found[now]]
        return found

    @cached_property
    def _counts(self) -> dict[Moment, tuple[int, int]]:
        """For every moment: in how many ways it can go on to the end, and how many of them end with a double."""
        counts: dict[Moment, tuple[int, int]] = {}

        def count(now: Moment) -> tuple[int, int]:
            if now not in counts:
                ways = [count(after) for _, after, _ in self.moments[now]] or [(1, int(now.double))]
                counts[now] = sum(way[0] for way in ways), sum(way[1] for way in ways)
            return counts[now]

        count(self.first)                                   # at most a dozen steps deep
        return counts

    @property
    def orders(self) -> int:
        return self._counts[self.first][0]

    @property
    def doubles(self) -> int:
        return self._counts[self.first][1]

    @property
    def can_double(self) -> bool:
        return self.doubles > 0

    @property
    def example(self) -> str:
        """One order, in which they take turns as far as possible: with a double if there can be one."""
        now, last, said = self.first, len(WHO) - 1, ""
        while ways := self.moments[now]:
            fit = [way for way in ways if self._counts[way[1]][1] or not self.can_double]
            last, now, _ = next((way for way in fit if way[0] != last), fit[0])
            said += WHO[last]
        return said

    def told(self, order: str) -> list[tuple[str, str, Moment]]:
        """An order told step by step: (who, sentence, the moment after it). Raises DagkitError if it cannot happen."""
        said: list[tuple[str, str, Moment]] = []
        now = self.first
        for letter in order:
            way = next(((after, text) for who, after, text in self.moments[now] if WHO[who] == letter), None)
            if way is None:
                raise DagkitError(f"interleavings: after {len(said)} steps of {quoted(order)} it cannot be the turn of "
                                  f"{quoted(letter)}; it waits or is over. Leave that step out.")
            now = way[0]
            said.append((letter, way[1], now))
        return said

    def row(self) -> dict[str, Any]:
        """As a row of a table."""
        return {"strategy": self.strategy.label, "row locks": "yes" if self.row_locks else "no", "orders": self.orders,
                "with a double": self.doubles, "so": "can start a task twice" if self.can_double else "never twice"}

    def __repr__(self) -> str:
        return ", ".join(f"{key}: {value}" for key, value in self.row().items())


def _side(now: Moment, who: int, **changes: Any) -> Moment:
    changed = replace(now.sides[who], **changes)
    return replace(now, sides=(changed, now.sides[1]) if who == 0 else (now.sides[0], changed))


def names(rows: Any) -> str:
    """Rows for people, numbered from 1.

    >>> names([0]), names([0, 1])
    ('row 1', 'rows 1, 2')
    """
    return f"row{'s' if len(rows) > 1 else ''} " + ", ".join(str(row + 1) for row in rows)


def statements(plays: Interleavings) -> dict[str, str]:
    """The SQL behind each step; the last one is no SQL. Where no row locks are taken, Airflow does not ask for any.

    >>> statements(interleavings("nowait"))["select"]
    "SELECT id FROM ti WHERE state = 'scheduled' ORDER BY id LIMIT 1 FOR UPDATE NOWAIT"
    """
    how = plays.strategy if plays.row_locks else replace(plays.strategy, lock="")
    asked = f"{TURN};\n{POOL}" if plays.row_locks else "(no lock to ask for)"
    return {**({"turn": asked} if how.turn else {}), "select": how.select.replace("%s", str(plays.batch)),
            "update": how.update.replace("%s", "me", 1).replace("ANY(%s)", "ANY(what was read)"),
            "commit": "COMMIT", "hand over": "executor.queue(what the UPDATE returned)"}


def interleavings(name: str, *, row_locks: bool = True, rows: int = 2, batch: int = 1) -> Interleavings:
    """Every order of two schedulers' steps under a strategy: see ``Interleavings``."""
    return Interleavings(name, row_locks=row_locks, rows=rows, batch=batch)
