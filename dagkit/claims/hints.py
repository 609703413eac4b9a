"""Polling against hints: the same tables, the same guards, the same processes; only what wakes them differs.

Each run is a chain of tasks. Measured is the way from "its upstream's success is written" (or "its run is
written") to "a worker has started it". In both designs the database alone says what is so.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..errors import DagkitError, choices, shown
from .actors import Actor, actors
from .race import Progress, to_stderr
from .server import Server

TABLES = """
DROP TABLE IF EXISTS ti, run, owner, replica, worker, started;
CREATE TABLE run (id int PRIMARY KEY, created timestamptz NOT NULL, done bool NOT NULL DEFAULT false);
CREATE TABLE owner (run int PRIMARY KEY, replica int NOT NULL);
CREATE TABLE ti (run int, task int, state text NOT NULL, worker int, ended timestamptz, PRIMARY KEY (run, task));
CREATE INDEX ti_open ON ti (state) WHERE state IN ('scheduled', 'queued');
CREATE TABLE replica (id int PRIMARY KEY, heartbeat timestamptz);
CREATE TABLE worker (id int PRIMARY KEY, heartbeat timestamptz);
CREATE TABLE started (run int, task int, worker int, at timestamptz DEFAULT clock_timestamp());
"""
NEW_RUN = """
WITH made AS (INSERT INTO run VALUES (%s, clock_timestamp()) RETURNING id)
INSERT INTO ti (run, task, state) SELECT id, task, 'scheduled' FROM made, generate_series(1, %s) AS task"""
LATENCIES = """
SELECT extract(epoch FROM min(started.at) - coalesce(up.ended, run.created))::float FROM started
JOIN run ON run.id = started.run LEFT JOIN ti up ON up.run = started.run AND up.task = started.task - 1
GROUP BY started.run, started.task, up.ended, run.created ORDER BY 1"""
OPEN = "SELECT count(*) FROM run WHERE NOT done"
MISSING = "SELECT count(*) FROM ti WHERE state <> 'success'"
TWICE = "SELECT count(*) FROM (SELECT FROM started GROUP BY run, task HAVING count(*) > 1) twice"


@dataclass(frozen=True)
class Design:
    """What wakes whom. ``hear``: "nobody" (both poll), "workers" (they are pushed, as by a broker; the scheduler
    polls), "all". interval: seconds between two scans; with hints it is the fallback. lose: share of hints that
    never arrive. twice: every hint comes twice. fault: "", "replica killed" or "worker cut off"."""

    name: str
    hear: str = "all"
    interval: float = 1.0
    lose: float = 0.0
    twice: bool = False
    fault: str = ""
    guarded: bool = True


DESIGNS = {each.name: each for each in (
    Design("polling, all of it", "nobody"),
    Design("polling, workers pushed", "workers"),
    Design("polling ten times as often", "workers", interval=0.1),
    Design("hints"),
    Design("hints, a fifth lost", lose=0.2),
    Design("hints, each sent twice", twice=True),
    Design("hints, broker stopped", lose=1.0),
    Design("hints, replica killed", fault="replica killed"),
    Design("hints, worker cut off", fault="worker cut off"),
)}


@dataclass(frozen=True)
class Start:
    """What one design measured. latencies: seconds to start, sorted, one per task. queries: statements of all
    processes, without BEGIN and COMMIT. refused: updates that a guard turned away. twice, missing: tasks."""

    design: str
    tasks: int
    latencies: tuple[float, ...]
    queries: int
    refused: int
    twice: int
    missing: int
    seconds: float

    def quantile(self, share: float) -> float:
        """Seconds within which this share of the tasks had started (nearest rank).

        >>> Start("", 4, (0.1, 0.2, 0.3, 0.4), 0, 0, 0, 0, 1.0).quantile(0.5)
        0.2
        """
        rank = max(1, -(-round(share * 1e6) * len(self.latencies) // 1_000_000))
        return self.latencies[rank - 1] if self.latencies else float("inf")

    def row(self) -> dict[str, Any]:
        """As a row of a table."""
        return {"design": self.design, "p50": ms(self.quantile(0.5)), "p95": ms(self.quantile(0.95)),
                "slowest": ms(self.quantile(1)), "queries per task": round(self.queries / self.tasks, 1),
                "refused": self.refused, "started twice": self.twice, "missing": self.missing}

    def __str__(self) -> str:
        return f"{self.design:<27} " + ", ".join(f"{key} {value}" for key, value in list(self.row().items())[1:])


def ms(seconds: float) -> str:
    """A time for people.

    >>> ms(0.01234), ms(1.5)
    ('12 ms', '1,500 ms')
    """
    return f"{1000 * seconds:,.0f} ms"


@dataclass(frozen=True)
class Load:
    """runs arrive one every ``gap`` seconds, each a chain of ``tasks`` tasks of ``duration`` seconds. work: seconds
    of waiting inside each transaction. threshold: seconds without a heartbeat after which one counts as dead."""

    runs: int = 20
    tasks: int = 3
    gap: float = 0.1
    duration: float = 0.05
    work: float = 0.005
    replicas: int = 2
    workers: int = 2
    slots: int = 8
    threshold: float = 1.0
    seed: int = 0


def design(name: str) -> Design:
    """A design by its name. Raises DagkitError if there is none."""
    if name not in DESIGNS:
        raise DagkitError(f"claims: design '{shown(name)}' is unknown. Known: {choices(DESIGNS, 20)}.")
    return DESIGNS[name]


def compare(
    server: Server, designs: Sequence[str | Design] = tuple(DESIGNS), load: Load | None = None, *,
    progress: Progress = to_stderr,
) -> list[Start]:
    """Play the same load under each design. progress: called with a line after each. Ctrl-C ends all processes.

    Raises DagkitError for an unknown design, or if a process fails.
    """
    ways = [design(each) if isinstance(each, str) else each for each in designs]
    found = []
    for way in ways:
        found.append(play(server, way, load or Load()))
        progress(str(found[-1]))
    return found


def play(server: Server, way: Design, load: Load) -> Start:
    """One load under one design, from the first run's arrival until all is done."""
    with actors(server, *["replica"] * load.replicas, *["worker"] * load.workers) as cast, server.connect() as db:
        db.execute(TABLES)
        replicas, workers = cast[:load.replicas], cast[load.replicas:]
        _begin(db, replicas, "replica", way, load, hints=way.hear == "all")
        _begin(db, workers, "worker", way, load, hints=way.hear != "nobody")
        begun = time.monotonic()
        sent = _arrive(db, server, way, load, _faults(way, replicas, workers))
        _until_done(db, load)
        seconds = time.monotonic() - begun
        if way.fault == "worker cut off":
            workers[0].resume()                             # back again, it goes on where it stood
            workers[0].send(go=True)
        done = [_stopped(actor) for actor in cast if actor.process.poll() is None]
        return Start(way.name, load.runs * load.tasks, tuple(row[0] for row in db.execute(LATENCIES)),
                     sent + sum(each["queries"] for each in done), sum(each["refused"] for each in done),
                     _count(db, TWICE), _count(db, MISSING), seconds)


def _begin(db: Any, cast: list[Actor], table: str, way: Design, load: Load, *, hints: bool) -> None:
    command = {**asdict(way), **asdict(load), "hints": hints, "room": 1000, "stop_at": ""}
    for place, actor in enumerate(cast):
        db.execute(f"INSERT INTO {table} VALUES (%s, clock_timestamp())", [actor.number])
        stops = table == "worker" and place == 0 and way.fault == "worker cut off"
        # Their timers do not beat together.
        actor.send(**{**command, "phase": (place + 1) / len(cast), "stop_at": "assigned" if stops else ""})


def _arrive(db: Any, server: Server, way: Design, load: Load, fault: Callable[[int], None]) -> int:
    """Write the runs, one every ``gap``; after each commit drop a hint. The number of statements."""
    dice, sent = random.Random(load.seed), 0
    for run in range(1, load.runs + 1):
        db.execute(NEW_RUN, [run, load.tasks])
        sent += 1
        if way.hear == "all" and dice.random() >= way.lose:
            for _ in range(2 if way.twice else 1):
                db.execute("SELECT pg_notify(%s, 'new')", [f"{server.schema}_scheduler"])
                sent += 1
        time.sleep(load.gap)
        fault(run)
    return sent


def _faults(way: Design, replicas: list[Actor], workers: list[Actor]) -> Callable[[int], None]:
    """What goes wrong after which run."""
    def strike(run: int) -> None:
        if way.fault == "replica killed" and run == 5:
            replicas[0].kill()
        if way.fault == "worker cut off" and run == 2:
            workers[0].hear("assigned")
            workers[0].pause()
    return strike


def _until_done(db: Any, load: Load) -> None:
    end = time.monotonic() + 30
    while _count(db, OPEN) and time.monotonic() < end:
        time.sleep(0.02)


def _stopped(actor: Actor) -> dict[str, Any]:
    actor.send(stop=True)
    return actor.hear("done")


def _count(db: Any, query: str) -> int:
    return int(db.execute(query).fetchone()[0])


def unguarded(name: str) -> Design:
    """A design as a control: its workers start whatever they were given, whosever it is by now."""
    return replace(design(name), name=f"{name}, no guard", guarded=False)
