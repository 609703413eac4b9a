"""Hop by hop: one Dag run from the API call to its last success, through hints that may get lost.

Two rules make it safe. **The database is the only truth**: whoever wakes reads it, and every write is guarded ("only
if the row is still as I read it"). **A hint is disposable**: it says "look", never "what"; behind it a slow scan looks
anyway. Time is in milliseconds. Waits are shortened (ten seconds stand for a heartbeat timeout of minutes).

    caller -> database -> hint -> scheduler -> database -> hint -> worker -> database
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

from ..checks import plain, seeds, whole
from ..errors import DagkitError, choices, expect, nearest, shown
from .flow import EXAMPLE_ETL, Flow
from .hop_faults import KINDS, SCHEDULERS, WORKERS, Faults
from .story import Story

WRITE, HINT, FORK = 10, 5, 30
POLL, BEAT = 3_000, 1_000
"""How often a worker asks without being woken, and says that it lives."""
STALE, SILENT = 5_000, 10_000
"""After so long without a sign of life: an owner or an assignment is replaced; a running task is given up."""
END = 120_000


@dataclass
class Row:
    """A task instance in the database. beat: the last sign of life of whoever has it. serial: counts assignments."""

    state: str = "none"
    worker: str | None = None
    try_number: int = 1
    serial: int = 0
    beat: int = 0


@dataclass
class Database:
    """The only truth: one run, its owner, its task instances."""

    run: str = "none"
    owner: str | None = None
    owner_seen: int = 0
    rows: dict[str, Row] = field(default_factory=dict)

    def said(self) -> str:
        """All of it in one line."""
        return ", ".join(f"{name} {row.state}" + (f" on {row.worker}" if row.worker and row.state in
                                                  ("queued", "running") else "") for name, row in self.rows.items())


class World:
    """Everything that moves. Each method is something that somebody does at a moment."""

    def __init__(self, faults: Faults, seed: int, retries: int, flow: Flow):
        self.faults, self.dice, self.retries, self.flow = faults, random.Random(seed), retries, flow
        self.now, self.count = 0, 0
        self.heap: list[tuple[int, int, str, Callable[[], None]]] = []
        self.db = Database()
        self.story = Story()
        self.down: dict[str, tuple[float, int | None]] = {
            d.who: (d.after, d.until) for d in faults.down if isinstance(d.after, int)}
        self.triggers = [d for d in faults.down if isinstance(d.after, str)]
        self.free = dict.fromkeys(WORKERS, 0 if faults.busy_until else 1)
        self.sent = dict.fromkeys(KINDS, 0)
        self.pending: set[tuple[str, str]] = set()       # wake-ups under way, so that one read follows another

    # ---- time, and who is there

    def later(self, delay: int, who: str, act: Callable[[], None]) -> None:
        heappush(self.heap, (self.now + delay, self.count, who, act))
        self.count += 1

    def away(self, who: str) -> bool:
        since, until = self.down.get(who, (math.inf, None))
        return since <= self.now and (until is None or self.now < until)

    def note(self, who: str, to: str, what: str, why: str, kind: str = "step") -> None:
        self.story.add(self.now, who, to, what, why, kind, self.db.said())

    def moment(self, who: str, name: str) -> None:
        """A moment at which a fault may stop somebody."""
        for fault in [d for d in self.triggers if d.who == who and d.after == name]:
            self.triggers.remove(fault)
            self.down[who] = (self.now, fault.until)
            back = f"It comes back at {fault.until:,} ms." if fault.until else "It does not come back."
            self.note(who, "", "gone", f"{who} stops, or nobody can reach it. {back}", "fault")

    def play(self) -> None:
        self.later(0, "caller", self.call)
        for first, scheduler in zip(self.flow.first, SCHEDULERS, strict=True):
            self.later(first, scheduler, lambda s=scheduler: self.scan(s))  # type: ignore[misc]
        for k, worker in enumerate(WORKERS):
            self.later(POLL + 100 * k, worker, lambda w=worker: self.poll(w))  # type: ignore[misc]
            self.later(0, worker, lambda w=worker: self.beat(w))  # type: ignore[misc]
            if self.faults.busy_until:
                self.later(self.faults.busy_until, worker, lambda w=worker: self.freed(w))  # type: ignore[misc]
        while self.heap and self.now <= END and self.db.run not in ("success", "failed"):
            self.now, _, who, act = heappop(self.heap)
            if not self.away(who):
                act()
            elif (until := self.down[who][1]) is not None:
                self.later(until - self.now, who, act)     # frozen: it goes on where it stopped
        self.story.close(self.db.run, {name: (row.state, row.try_number) for name, row in self.db.rows.items()}, self.now)

    # ---- hints

    def hint(self, sender: str, kind: str, about: str, task: str = "") -> None:
        """Drop a hint: no answer is waited for, and nothing depends on its arrival."""
        self.sent[kind] += 1
        first = self.sent[kind] == 1
        lose = self.faults.lose
        lost = self.faults.broker_down or (first and kind in lose) or f"{kind} {task}" in lose or \
            self.dice.random() < self.faults.lose_share
        twice = (first and kind in self.faults.duplicate) or self.dice.random() < self.faults.duplicate_share
        if lost:
            self.note(sender, "hints", f"{about} (lost)", "The hint gets lost. Nothing is retried: the row is committed, "
                      "and the fallback will find it.", "lost")
            return
        self.note(sender, "hints", about, "A hint is dropped, after the commit. It says where to look, not what to do.",
                  "hint")
        for copy in range(2 if twice else 1):
            self.later(HINT, "hints", lambda c=copy: self.deliver(kind, c, twice))  # type: ignore[misc]

    def deliver(self, kind: str, copy: int, twice: bool) -> None:
        there = [s for s in SCHEDULERS if not self.away(s)]
        if kind == "task":
            for worker in WORKERS:
                self.later(0, worker, lambda w=worker: self.ask(w, "hint"))  # type: ignore[misc]
        elif there:
            owner = self.db.owner if self.db.owner in there else there[0]
            chosen = there[copy % len(there)] if twice else owner
            self.note("hints", str(chosen), "wake up" + (" (again)" if copy else ""), "The same hint twice: both copies "
                      "wake somebody." if twice else f"The hint wakes {chosen}, which now reads the database.", "hint")
            self.wake(str(chosen), "hint")

    # ---- hop 1 and 2: schedulers

    def call(self) -> None:
        self.db.run, self.db.rows = "queued", {name: Row() for name in self.flow.upstream}
        self.note("caller", "database", f"1 run, {len(self.db.rows)} rows", "The API call commits the run and its task "
                  "instances. From now on nothing can be forgotten.", "write")
        self.hint("caller", "run", "a run waits")

    def scan(self, who: str) -> None:
        """The slow way, again and again: look without being told."""
        self.later(self.flow.scan, who, lambda: self.scan(who))
        if self.db.owner == who:
            self.db.owner_seen = self.now
        if self.faults.fallback:
            self.clear_stale(who)
            self.wake(who, "scan")

    def wake(self, who: str, cause: str) -> None:
        """Read the database; what to write follows from what was read, and is written a moment later."""
        owner, seen = self.db.owner, self.db.owner_seen
        fresh = owner is not None and self.now - seen < STALE
        if self.db.run not in ("queued", "running") or (who, "claim") in self.pending:
            return
        if owner == who:
            self.evaluate(who, cause)
        elif not fresh:
            if cause == "scan":
                silent = f": {owner} has not been heard of for {(self.now - seen) / 1000:g} s." if owner else "."
                self.note(who, "database", "scan", f"{who} scans and finds a run that nobody owns{silent}", "scan")
            self.pending.add((who, "claim"))
            self.later(WRITE, who, lambda: self.claim(who, owner))

    def claim(self, who: str, seen: str | None) -> None:
        """Insert ownership if absent: one insert wins, whoever else tried finds it taken."""
        self.pending.discard((who, "claim"))
        if self.faults.guards and self.db.owner != seen:
            self.note(who, "database", "own it: 0 rows", f"{self.db.owner} was first. The insert changes nothing, and "
                      f"{who} lets go.", "refused")
            return
        self.db.owner, self.db.owner_seen, self.db.run = who, self.now, "running"
        self.note(who, "database", "own it: 1 row", f"{who} owns the run now.", "write")
        self.evaluate(who, "own")
        self.moment(who, "owns")

    def evaluate(self, who: str, cause: str) -> None:
        """Whose upstreams have succeeded? Airflow's own dependency check, on rows as they are now."""
        ready = [(name, row.state) for name, row in self.db.rows.items() if row.state in ("none", "up_for_retry")
                 and all(self.db.rows[up].state == "success" for up in self.flow.upstream[name])]
        if ready and (who, "queue") not in self.pending:
            if cause == "scan":
                self.note(who, "database", "scan", f"{who} scans its run and finds {ready[0][0]} ready.", "scan")
            self.pending.add((who, "queue"))
            self.later(WRITE, who, lambda: self.queue(who, ready))

    def queue(self, who: str, ready: list[tuple[str, str]]) -> None:
        """The guarded update: only rows that are still as they were read, and only by the owner."""
        self.pending.discard((who, "queue"))
        for name, seen in ready:
            row = self.db.rows[name]
            if self.faults.guards and (row.state != seen or self.db.owner != who):
                self.note(who, "database", f"queue {name}: 0 rows", f"The row is {row.state} already, or the run belongs "
                          "to somebody else by now. Zero rows changed: somebody else did it.", "refused")
                continue
            row.state, row.worker = "queued", None
            self.note(who, "database", f"queue {name}: 1 row", f"{name}: its upstreams succeeded. Scheduled, limits asked, "
                      "queued, in one transaction.", "write")
            self.hint(who, "task", f"{name} waits", name)

    # ---- hop 3: workers

    def ask(self, who: str, cause: str) -> None:
        """A worker's open request is answered: rows that nobody has are locked, skipping locked ones, and assigned."""
        waiting = [name for name, row in self.db.rows.items() if row.state == "queued" and row.worker is None]
        if self.free[who] < 1 or not waiting or self.away(who):
            return
        name = waiting[0]
        row = self.db.rows[name]
        self.free[who] -= 1
        row.worker, row.beat, row.serial = who, self.now, row.serial + 1
        told = {"hint": "The hint answers its open request.", "poll": "It asked without a hint: the fallback.",
                "free": "A slot came free, so it asks."}[cause]
        self.note(who, "database", f"take {name}", f"{who} has a free slot. {told} The allocator writes the worker on the "
                  "row: one lock, one winner.", "scan" if cause == "poll" else "write")
        self.later(FORK, who, lambda: self.start(who, name, row.serial))
        self.moment(who, "assigned")

    def poll(self, who: str) -> None:
        self.later(POLL, who, lambda: self.poll(who))
        if self.faults.fallback:
            self.ask(who, "poll")

    def freed(self, who: str) -> None:
        self.free[who] += 1
        self.note(who, "", "a slot is free", f"Another task on {who} has ended.")
        self.ask(who, "free")

    def start(self, who: str, name: str, serial: int) -> None:
        """The process is there and asks to run: granted if the row is still queued and still assigned to it."""
        row = self.db.rows[name]
        if self.faults.guards and (row.state, row.worker, row.serial) != ("queued", who, serial):
            self.note(who, "database", f"start {name}: refused", f"The row is {row.state} and belongs to {row.worker}. The "
                      "process ends before it ran a line of the task.", "refused")
            self.free[who] += 1
            return
        row.state, row.worker, row.beat = "running", who, self.now
        self.story.started(self.now, name, who, row.try_number)
        self.note(who, "database", f"start {name}: 1 row", f"Queued to running, guarded: one winner. {name} runs, try "
                  f"{row.try_number}.", "start")
        self.later(self.flow.length, who, lambda: self.finish(who, name, serial))
        self.moment(who, "starts")

    def finish(self, who: str, name: str, serial: int) -> None:
        row = self.db.rows[name]
        self.free[who] += 1
        if self.faults.guards and (row.state, row.worker, row.serial) != ("running", who, serial):
            self.note(who, "database", f"{name} done: refused", "This try was given up long ago. Its result is not taken; "
                      "what it did outside has happened all the same.", "refused")
        else:
            row.state = "success"
            if all(other.state == "success" for other in self.db.rows.values()):
                self.db.run = "success"
            self.note(who, "database", f"{name} succeeded", "The result is committed first.", "write")
            if self.db.run != "success":
                self.hint(who, "done", f"{name} is done", name)
        self.ask(who, "free")

    def beat(self, who: str) -> None:
        """A worker's heartbeat, for all that it has."""
        self.later(BEAT, who, lambda: self.beat(who))
        for row in self.db.rows.values():
            if row.worker == who and row.state in ("queued", "running"):
                row.beat = self.now

    def clear_stale(self, who: str) -> None:
        """Part of the scan: take back what belongs to workers that have fallen silent."""
        for name, row in self.db.rows.items():
            quiet = self.now - row.beat
            if row.state == "queued" and row.worker and quiet >= STALE:
                was, row.worker = row.worker, None
                self.note(who, "database", f"clear {name}", f"{was} has been silent for {quiet / 1000:g} s. It never "
                          f"started {name}, so the assignment is simply cleared.", "scan")
                self.hint(who, "task", f"{name} waits", name)
            elif row.state == "running" and quiet >= SILENT:
                again = row.try_number <= self.retries
                row.state, row.worker = ("up_for_retry" if again else "failed"), None
                row.try_number += again
                self.db.run = "running" if again else "failed"
                self.note(who, "database", f"{name} lost", f"No heartbeat for {quiet / 1000:g} s while running. Nobody "
                          "knows how far it got, so the retry rules decide: " +
                          ("it runs again." if again else "no try is left."), "scan")


def play(faults: Faults | None = None, *, seed: int = 0, retries: int = 2, flow: Flow = EXAMPLE_ETL,
         **changes: object) -> Story:
    """Play a run once and return its story: ``example_etl`` (extract, transform, publish) unless a flow is given.

    faults: what goes wrong; keyword arguments change single fields of it. seed: of what happens by chance. retries: of
    each task. The same arguments give the same story.
    Raises DagkitError for a fault that does not exist or cannot be.

    >>> story = play()
    >>> story.run, story.ended, len(story.starts)
    ('success', 760, 3)
    >>> play(broker_down=True).ended > 5 * story.ended
    True
    """
    seed, retries = seeds("play", seed), plain(retries)
    whole("play", "retries", retries, 0)
    if faults is not None:
        expect("play", faults, Faults, "dk.latency.Faults(...)")
    expect("play", flow, Flow, "dk.latency.Flow(...)")
    asked = replace(faults or Faults(), **changes)  # type: ignore[arg-type]
    for task in [about for kind in asked.lose if (about := kind.partition(" ")[2]) and about not in flow.upstream]:
        raise DagkitError(f"play: lose names '{shown(task)}', which is no task here.{nearest(task, flow.upstream)} "
                          f"Known: {choices(flow.upstream)}.")
    world = World(asked, seed, retries, flow)
    world.play()
    return world.story
