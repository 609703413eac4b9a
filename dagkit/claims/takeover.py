"""One scheduler is killed, or cut off, in the middle of a claim. Nothing may be lost, nothing started twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import DagkitError, choices, shown
from .actors import Actor, actors
from .race import Progress, to_stderr
from .server import Server

TABLES = """
DROP TABLE IF EXISTS ti, claim, scheduler;
CREATE TABLE ti (id int PRIMARY KEY, state text NOT NULL, scheduler int);
CREATE TABLE claim (ti int, scheduler int, at timestamptz DEFAULT clock_timestamp());
CREATE TABLE scheduler (id int PRIMARY KEY, heartbeat timestamptz);
"""
ROWS = "INSERT INTO ti SELECT n, 'scheduled', NULL FROM generate_series(1, %s) n"
SCHEDULERS = "INSERT INTO scheduler SELECT n, clock_timestamp() FROM generate_series(1, %s) n"
LAST_BEAT = "SELECT heartbeat FROM scheduler WHERE id = 1"
LATER = "SELECT extract(epoch FROM min(at) - %s) FROM claim WHERE ti = ANY(%s) AND scheduler <> 1"
LOST = "SELECT count(*) FROM ti WHERE NOT EXISTS (SELECT FROM claim WHERE claim.ti = ti.id)"
TWICE = "SELECT count(*) FROM (SELECT FROM claim GROUP BY ti HAVING count(*) > 1) twice"
POINTS = {
    "killed before commit": "the database takes the unfinished claim back at once",
    "killed after commit": "the rows are queued, and nobody hands them over until somebody takes them over",
    "cut off after commit": "alive but not heard of: taken over, and refused when it comes back",
}


@dataclass(frozen=True)
class Takeover:
    """What became of it. held: rows in the hands of the one that was struck. seconds: from its last heartbeat until
    somebody else handed over the first of them. refused: hand-overs that the guard refused. twice, lost: rows."""

    point: str
    guarded: bool
    rows: int
    held: int
    seconds: float
    threshold: float
    refused: int
    twice: int
    lost: int

    def row(self) -> dict[str, Any]:
        return {"scheduler 1 is": self.point, "guard": "yes" if self.guarded else "no", "rows it held": self.held,
                "taken over after": f"{self.seconds:.2f} s", "refused": self.refused, "started twice": self.twice,
                "lost": self.lost}

    def __str__(self) -> str:
        return (f"{self.point}, guard {'on' if self.guarded else 'off'}: held {self.held} of {self.rows} rows, taken "
                f"over after {self.seconds:.2f} s (threshold {self.threshold:g} s), {self.refused} hand-overs refused, "
                f"{self.twice} started twice, {self.lost} lost")


def takeover(
    server: Server, point: str = "killed after commit", *, guarded: bool = True, schedulers: int = 3, rows: int = 60,
    batch: int = 5, threshold: float = 1.0, progress: Progress = to_stderr,
) -> Takeover:
    """Scheduler 1 claims ``batch`` rows and is struck at ``point``; the others go on.

    point: see ``POINTS``; "killed" is SIGKILL, "cut off" is SIGSTOP until its rows have been taken over. guarded:
    whether rows are handed over only by whom they belong to. threshold: seconds without a heartbeat after which a
    scheduler counts as dead (Airflow: 30). Raises DagkitError for an unknown point.
    """
    if point not in POINTS:
        raise DagkitError(f"claims: point '{shown(point)}' is unknown. Known: {choices(POINTS)}.")
    with actors(server, *["successor"] * schedulers) as cast, server.connect() as db:
        db.execute(TABLES)
        db.execute(ROWS, [rows])
        db.execute(SCHEDULERS, [schedulers])
        found = _struck(db, cast, point, {"batch": batch, "threshold": threshold, "guarded": guarded, "seconds": 30})
        seconds = db.execute(LATER, [found["beat"], found["held"]]).fetchone()[0]
        result = Takeover(point, guarded, rows, len(found["held"]), float(seconds or 0), threshold, found["refused"],
                          _count(db, TWICE), _count(db, LOST))
    progress(str(result))
    return result


def _struck(db: Any, cast: list[Actor], point: str, command: dict[str, Any]) -> dict[str, Any]:
    first, others = cast[0], cast[1:]
    where = "before commit" if "before" in point else "after commit"
    first.send(**command, stop_at=where)
    first.hear(where)
    beat = db.execute(LAST_BEAT).fetchone()[0]
    held = list(range(1, command["batch"] + 1))            # it was alone until now, and rows are taken by number
    for other in others:
        other.send(**command, stop_at="")
    first.pause() if "cut off" in point else first.kill()
    done = [other.hear("done") for other in others]
    if "cut off" in point:
        first.resume()
        first.send(go=True)
        done.append(first.hear("done"))
    return {"held": held, "beat": beat, "refused": sum(each["refused"] for each in done)}


def _count(db: Any, query: str) -> int:
    return int(db.execute(query).fetchone()[0])
