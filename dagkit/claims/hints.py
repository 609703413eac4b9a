"""Polling against hints: the same tables, the same guards, the same processes; only what wakes them differs.

Each run is a chain of tasks. Measured is the way from "its upstream's success is written" (or "its run is
written") to "a worker has started it". In both designs the database alone says what is so.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..checks import number, plain_fields, seeds, whole
from ..errors import DagkitError, choices, shown
from ..keywords import checked
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


@checked
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

    def __post_init__(self) -> None:
        plain_fields(self)
        number(f"design {shown(self.name)}", "interval", self.interval, 0.001, 3600, unit=" of seconds")
        number(f"design {shown(self.name)}", "lose", self.lose, 0, 1)


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


@checked
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

    def __post_init__(self) -> None:
        plain_fields(self)
        for name in ("runs", "tasks", "replicas", "workers", "slots"):
            whole("Load", name, getattr(self, name), 1)
        for name in ("gap", "duration", "work", "threshold"):
            number("Load", name, getattr(self, name), 0, 3600, unit=" of seconds")
        seeds("Load", self.seed)


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
    load, found = load or Load(), []
    with ExitStack() as stack:
        cast: list[Actor] = []
        for way in ways:
            if not cast:
                cast = stack.enter_context(actors(server, *["replica"] * load.replicas, *["worker"] * load.workers))
            found.append(Play(server, way, load, cast).start())
            progress(str(found[-1]))
            cast = [] if way.fault == "replica killed" else cast
    return found


class Play:
    """One load under one design, from the first run's arrival until all is done."""

    def __init__(self, server: Server, way: Design, load: Load, cast: list[Actor]):
        self.way, self.load, self.cast = way, load, cast
        self.replicas, self.workers = cast[:load.replicas], cast[load.replicas:]
        self.channel = f"{server.schema}_scheduler"
        self.db = server.connect()

    def start(self) -> Start:
        with self.db:
            self.db.execute(TABLES)
            # A victim begins alone, so that it has something in its hands when it is struck.
            fault = self.way.fault
            self._begin(self.replicas[:1] if fault == "replica killed" else self.replicas)
            self._begin(self.workers[:1] if fault == "worker cut off" else self.workers)
            begun = time.monotonic()
            sent = self._arrive()
            self._until_done()
            seconds = time.monotonic() - begun
            if fault == "worker cut off":
                self.workers[0].resume()                    # back again, it goes on where it stood
                self.workers[0].send(go=True)
            done = [_stopped(actor) for actor in self.cast if actor.process.poll() is None]
            return Start(self.way.name, self.load.runs * self.load.tasks,
                         tuple(row[0] for row in self.db.execute(LATENCIES)),
                         sent + sum(each["queries"] for each in done), sum(each["refused"] for each in done),
                         self._count(TWICE), self._count(MISSING), seconds)

    def _begin(self, some: list[Actor]) -> None:
        for actor in some:
            table = "replica" if actor in self.replicas else "worker"
            mates = self.replicas if table == "replica" else self.workers
            place = mates.index(actor)
            self.db.execute(f"INSERT INTO {table} VALUES (%s, clock_timestamp())", [actor.number])
            stops = (table, place, self.way.fault) == ("worker", 0, "worker cut off")
            actor.send(**asdict(self.way), **asdict(self.load), room=1000, stop_at="assigned" if stops else "",
                       hints=self.way.hear == "all" or (table, self.way.hear) == ("worker", "workers"),
                       phase=(place + 1) / len(mates))      # their timers do not beat together

    def _arrive(self) -> int:
        """Write the runs, one every ``gap``; after each commit drop a hint. The number of statements."""
        dice, sent = random.Random(self.load.seed), 0
        for run in range(1, self.load.runs + 1):
            self.db.execute(NEW_RUN, [run, self.load.tasks])
            sent += 1
            if self.way.hear == "all" and dice.random() >= self.way.lose:
                for _ in range(2 if self.way.twice else 1):
                    self.db.execute("SELECT pg_notify(%s, 'new')", [self.channel])
                    sent += 1
            self._strike(run)
            time.sleep(self.load.gap)
        return sent

    def _strike(self, run: int) -> None:
        if self.way.fault == "replica killed" and run == 5:
            self._begin(self.replicas[1:])
            self.replicas[0].kill()
        if self.way.fault == "worker cut off" and run == 1:
            self.workers[0].hear("assigned")
            self.workers[0].pause()
            self._begin(self.workers[1:])

    def _until_done(self) -> None:
        end = time.monotonic() + 30
        while self._count(OPEN) and time.monotonic() < end:
            time.sleep(0.02)

    def _count(self, query: str) -> int:
        return int(self.db.execute(query).fetchone()[0])


def _stopped(actor: Actor) -> dict[str, Any]:
    actor.send(stop=True)
    return actor.hear("done")


def unguarded(name: str) -> Design:
    """A design as a control: its workers start whatever they were given, whosever it is by now."""
    return replace(design(name), name=f"{name}, no guard", guarded=False)
