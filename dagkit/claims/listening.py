"""What replica and worker of the hinted design share: they wait for a hint or for a timer, and drop hints themselves.

A hint (NOTIFY) says only "look again"; the truth is in the tables. So it may be lost, come twice or come late:
nothing is wrong then, something is only found later, by the slow scan that is always there.
"""

from __future__ import annotations

import random
import select
import time
from collections.abc import Sequence
from typing import Any

from .actor import PIPE, Stage

BEAT_EVERY = 0.25
"""Seconds between two heartbeats."""


class Listener:
    """command: ``work`` (seconds of waiting inside each transaction), ``interval`` (seconds between two scans),
    ``hints`` (whether it listens), ``lose`` and ``twice`` (what happens to hints it drops), ``seed``."""

    table = ""
    hears = ""

    def __init__(self, stage: Stage, command: dict[str, Any]):
        self.stage, self.db, self.me = stage, stage.db, stage.number
        self.work, self.interval = command["work"], command["interval"]
        self.lose, self.twice = command["lose"], command["twice"]
        self.dice = random.Random(1000 * command["seed"] + stage.number)
        self.queries = self.refused = 0
        self.heard: list[str] = []
        self.beat = 0.0
        self.next_scan = 0.0
        self.db.add_notify_handler(self._note)
        if command["hints"]:
            self.ask(f"LISTEN {self.channel(self.hears)}")

    def _note(self, note: Any) -> None:
        self.heard.append(note.payload)

    def close(self) -> None:
        self.db.execute("UNLISTEN *")
        self.db.remove_notify_handler(self._note)

    def channel(self, name: str) -> str:
        return f"{self.stage.schema}_{name}"

    def ask(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """One statement, counted; its rows, if it has any."""
        self.queries += 1
        done = self.db.execute(query, values or None)
        return done.fetchall() if done.description else []

    def hint(self, name: str, payload: object) -> None:
        """After a commit: tell whoever listens. With bad luck the hint is lost, or sent twice."""
        if self.dice.random() < self.lose:
            return
        for _ in range(2 if self.twice else 1):
            self.ask("SELECT pg_notify(%s, %s)", [self.channel(name), str(payload)])

    def heartbeat(self) -> None:
        if time.monotonic() - self.beat > BEAT_EVERY:
            self.beat = time.monotonic()
            self.ask(f"UPDATE {self.table} SET heartbeat = clock_timestamp() WHERE id = %s", [self.me])

    def wait(self, until: float) -> bool:
        """Sleep until a hint, until ``until``, or until the parent says stop (then False)."""
        while not self.heard and (left := min(until, self.beat + BEAT_EVERY, self.next_scan) - time.monotonic()) > 0:
            ready, _, _ = select.select([PIPE, self.db.fileno()], [], [], left)
            if PIPE in ready:
                self.stage.hear()
                return False
            self.db.pgconn.consume_input()
            while (note := self.db.pgconn.notifies()) is not None:
                self.heard.append(note.extra.decode())
        self.stage.check()
        return True

    def due(self) -> bool:
        """Whether it is time for a scan without a hint; also sets the next time."""
        if time.monotonic() < self.next_scan:
            return False
        self.next_scan = time.monotonic() + self.interval
        return True
