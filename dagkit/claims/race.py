"""The race: several scheduler processes claim the same rows of a real PostgreSQL, each strategy in turn."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import DagkitError, choices
from .actors import Actor, actors
from .server import Server
from .strategies import STRATEGIES, strategy

TABLES = """
DROP TABLE IF EXISTS ti, claim, slot_pool;
CREATE TABLE ti (id int PRIMARY KEY, state text NOT NULL, scheduler int);
CREATE INDEX ti_scheduled ON ti (id) WHERE state = 'scheduled';
CREATE TABLE claim (ti int, scheduler int);
CREATE TABLE slot_pool (pool text PRIMARY KEY, slots int);
INSERT INTO slot_pool VALUES ('default_pool', 128);
"""
FILL = "TRUNCATE ti, claim; INSERT INTO ti SELECT n, 'scheduled', NULL FROM generate_series(1, {rows}) n"
TWICE = "SELECT count(*) FROM (SELECT FROM claim GROUP BY ti HAVING count(*) > 1) twice"
LEFT = "SELECT count(*) FROM ti WHERE state = 'scheduled' OR NOT EXISTS (SELECT FROM claim WHERE claim.ti = ti.id)"
BARRIER = ("unlocked", "guarded")
"""Strategies whose first SELECT waits for everybody's: with row locks it would wait for ever."""
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Lap:
    """One strategy with so many schedulers. seconds: from the start to the last claim. doubles: rows handed over
    more than once. waits: statements that waited for a lock (they took nearly as long as a transaction). refused: NOWAIT
    errors, or turns skipped. left: rows that nobody handed over. share: rows handed over, scheduler by scheduler.
    """

    strategy: str
    schedulers: int
    rows: int
    seconds: float
    doubles: int
    waits: int
    refused: int
    left: int
    share: tuple[int, ...]

    @property
    def rate(self) -> float:
        """Rows handed over per second, each counted once."""
        return (self.rows - self.left) / self.seconds

    def row(self) -> dict[str, Any]:
        """As a row of a table."""
        return {"strategy": strategy(self.strategy).label, "schedulers": self.schedulers, "claims/s": round(self.rate),
                "double claims": self.doubles, "lock waits": self.waits, "refused": self.refused, "rows left": self.left,
                "share": ", ".join(map(str, self.share))}

    def __str__(self) -> str:
        return (f"{strategy(self.strategy).label:<22} {self.schedulers} at work: {self.rate:6.0f} claims/s, "
                f"{self.doubles} double, {self.waits} waits, {self.refused} refused, {self.left} left, "
                f"share {', '.join(map(str, self.share))}")


@dataclass(frozen=True)
class Race:
    """All laps of one run. ``verdict`` says what they prove, if they prove anything."""

    laps: tuple[Lap, ...]

    def lap(self, name: str, schedulers: int) -> Lap:
        """One of them. Raises DagkitError if it was not run."""
        for lap in self.laps:
            if (lap.strategy, lap.schedulers) == (name, schedulers):
                return lap
        ran = choices(sorted({lap.schedulers for lap in self.laps}))
        raise DagkitError(f"claims: {strategy(name).label} was not run with {schedulers} schedulers. Known: {ran}.")

    @property
    def proved(self) -> bool:
        """Whether the control without lock and guard did claim twice, wherever more than one scheduler ran."""
        several = {lap.schedulers for lap in self.laps if lap.schedulers > 1}
        control = {lap.schedulers for lap in self.laps if lap.strategy == "unlocked" and lap.doubles}
        return bool(several) and several <= control

    @property
    def verdict(self) -> str:
        """One sentence."""
        if not self.proved:
            return ("This run proved nothing: the control without lock and guard claimed nothing twice (or was not "
                    "run), so the others may only have been lucky.")
        bad = {strategy(lap.strategy).label for lap in self.laps if lap.doubles and lap.strategy != "unlocked"}
        lost = sum(lap.left for lap in self.laps)
        said = f"claimed twice as well: {', '.join(sorted(bad))}" if bad else "no other strategy claimed anything twice"
        return f"Without lock and guard rows were claimed twice; {said}. Rows left over: {lost}."

    def ratios(self, many: int = 4) -> dict[str, float]:
        """What does not depend on the machine so much: SKIP LOCKED against one scheduler, and against waiting."""
        skip = self.lap("skip_locked", many).rate
        return {f"SKIP LOCKED, {many} against 1": skip / self.lap("skip_locked", 1).rate,
                f"SKIP LOCKED against FOR UPDATE, {many}": skip / self.lap("for_update", many).rate}

    def table(self) -> list[dict[str, Any]]:
        return [lap.row() for lap in self.laps]

    def to_json(self) -> list[dict[str, Any]]:
        return [asdict(lap) for lap in self.laps]


def quiet(_: str) -> None:
    """No progress."""


def to_stderr(line: str) -> None:
    """Progress, one line for each step."""
    print(line, file=sys.stderr, flush=True)


def race(
    server: Server, names: Sequence[str] = tuple(STRATEGIES), schedulers: Sequence[int] = (1, 2, 4), *,
    rows: int = 400, batch: int = 4, work: float = 0.005, progress: Progress = to_stderr,
) -> Race:
    """Let each strategy claim ``rows`` rows, ``batch`` per transaction, with each number of scheduler processes.

    work: seconds that each transaction waits between its SELECT and its UPDATE (pg_sleep), for what a real
    scheduler does there. progress: called with a line after each lap. Ctrl-C ends the processes and is passed on.
    Raises DagkitError for an unknown strategy, or if a process fails.
    """
    ways = [strategy(name).name for name in names]
    most = max(schedulers)
    laps = []
    with actors(server, *["claimer"] * most) as cast, server.connect() as db:
        db.execute(TABLES)
        for name in ways:
            for number in schedulers:
                laps.append(_lap(db, cast[:number], name, rows, batch, work))
                progress(str(laps[-1]))
    return Race(tuple(laps))


def _lap(db: Any, cast: list[Actor], name: str, rows: int, batch: int, work: float) -> Lap:
    db.execute(FILL.format(rows=int(rows)))
    barrier = name in BARRIER and len(cast) > 1
    begun = time.perf_counter()
    for actor in cast:
        actor.send(strategy=name, batch=batch, work=work, seconds=30, barrier=barrier, alone=len(cast) == 1)
    if barrier:
        for actor in cast:
            actor.hear("barrier")
        for actor in cast:
            actor.send(go=True)
    done = [actor.hear("done") for actor in cast]
    seconds = time.perf_counter() - begun
    return Lap(name, len(cast), rows, seconds, _count(db, TWICE), sum(d["waits"] for d in done),
               sum(d["refused"] for d in done), _count(db, LEFT), tuple(d["claims"] for d in done))


def _count(db: Any, query: str) -> int:
    return int(db.execute(query).fetchone()[0])
