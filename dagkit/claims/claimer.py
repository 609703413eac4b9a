"""A scheduler that does nothing but claim: the child process of ``race.py`` and ``takeover.py``."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from .actor import Stage
from .strategies import POOL, TURN, Strategy, strategy

CLAIMED = "INSERT INTO claim (ti, scheduler) SELECT unnest(%s::int[]), %s"
ANY_LEFT = "SELECT EXISTS (SELECT FROM ti WHERE state = 'scheduled')"


class SkipTurn(Exception):
    """Somebody else holds what this transaction needs."""


class Claimer:
    """work: seconds of waiting inside each transaction, for what a scheduler does between reading and writing."""

    def __init__(self, stage: Stage, how: Strategy, batch: int, work: float, barrier: bool, alone: bool):
        self.stage, self.db, self.how = stage, stage.db, how
        self.batch, self.work, self.barrier, self.alone = batch, work, barrier, alone
        self.claims = self.waits = self.refused = self.empty = 0

    def turn(self) -> None:
        """One transaction. Rows that the UPDATE returns are handed over: they are logged in the same transaction."""
        with self.db.transaction():
            if self.how.turn:
                self._critical_section()
            ids = self._select()
            if self.barrier:
                self._wait_for_all()
            if not ids:
                raise SkipTurn
            self.db.execute("SELECT pg_sleep(%s)", [self.work])
            begun = time.perf_counter()
            taken = [row[0] for row in self.db.execute(self.how.update, [self.stage.number, ids])]
            self._note_wait(begun)
            self.db.execute(CLAIMED, [taken, self.stage.number])
        self.claims += len(taken)
        self.empty += not taken

    def _critical_section(self) -> None:
        if not self.db.execute(TURN).fetchone()[0]:
            self.refused += 1
            raise SkipTurn
        self.db.execute(POOL)

    def _select(self) -> list[int]:
        begun = time.perf_counter()
        ids = [row[0] for row in self.db.execute(self.how.select, [self.batch])]
        self._note_wait(begun)
        return ids

    def _note_wait(self, begun: float) -> None:
        """A statement that took nearly as long as another's transaction has waited for a lock; alone, nobody waits."""
        self.waits += not self.alone and time.perf_counter() - begun > self.work * 0.8

    def _wait_for_all(self) -> None:
        """The barrier: nobody writes before everybody has read."""
        self.barrier = False
        self.stage.say("barrier")
        self.stage.hear()


def play(stage: Stage, command: dict[str, Any]) -> dict[str, Any]:
    """Claim until nothing is scheduled any more, or until ``seconds`` are over."""
    from psycopg.errors import LockNotAvailable
    me = Claimer(stage, strategy(command["strategy"]), command["batch"], command["work"], command["barrier"],
                 command["alone"])
    end = time.monotonic() + command["seconds"]
    while time.monotonic() < end:
        stage.check()
        with suppress(SkipTurn):
            try:
                me.turn()
                continue
            except LockNotAvailable:
                me.refused += 1
        # Skipped: on to its other work, which takes as long. Those that are left may be in others' hands.
        if not stage.db.execute(ANY_LEFT).fetchone()[0]:
            break
        time.sleep(me.work)
    return {"claims": me.claims, "waits": me.waits, "refused": me.refused, "empty": me.empty}
