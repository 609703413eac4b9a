"""A worker that pulls: asks for work as long as it has free slots, and starts what it was given. Child process of
``hints.py``. Its tasks only take time; what matters is who starts them, and when."""

from __future__ import annotations

import time
from typing import Any

from .actor import Stage
from .listening import Listener

# One statement is one transaction. ``waited`` is the waiting inside it: once, and only if there is a row.
# The allocator: each row goes to one worker, and no two workers wait for each other.
ASSIGN = """
WITH given AS (
    UPDATE ti SET worker = %s FROM (
        SELECT run, task FROM ti WHERE state = 'queued' AND worker IS NULL ORDER BY run, task LIMIT %s
        FOR UPDATE SKIP LOCKED) AS chosen
    WHERE ti.run = chosen.run AND ti.task = chosen.task RETURNING ti.run, ti.task)
SELECT run, task, (SELECT pg_sleep(%s)) FROM given"""
# Guarded: the row must still be queued, and still be this worker's. What starts is logged, to be counted later.
RUN = """
WITH waited AS MATERIALIZED (SELECT pg_sleep(%s)), running AS (
    UPDATE ti SET state = 'running' FROM waited, unnest(%s::int[], %s::int[]) AS chosen (run, task)
    WHERE ti.run = chosen.run AND ti.task = chosen.task AND {guard} RETURNING ti.run, ti.task)
INSERT INTO started (run, task, worker) SELECT run, task, %s FROM running RETURNING run, task"""
GUARD = "ti.state = 'queued' AND ti.worker = %s"
NO_GUARD = "%s > 0"
SUCCEED = """
WITH waited AS MATERIALIZED (SELECT pg_sleep(%s))
UPDATE ti SET state = 'success', ended = clock_timestamp()
FROM waited, unnest(%s::int[], %s::int[]) AS chosen (run, task)
WHERE ti.run = chosen.run AND ti.task = chosen.task AND ti.state = 'running' AND ti.worker = %s RETURNING ti.run"""
DONE = """
UPDATE run SET done = true WHERE id = ANY(%s)
AND NOT EXISTS (SELECT FROM ti WHERE ti.run = run.id AND ti.state <> 'success')"""
Pairs = list[tuple[int, int]]


class Worker(Listener):
    """slots: tasks at once. duration: seconds a task takes. guarded: it starts only what is still its own.
    stop_at: "assigned" makes it report and stand still when it first was given work."""

    table, hears = "worker", "worker"

    def __init__(self, stage: Stage, command: dict[str, Any]):
        super().__init__(stage, command)
        self.slots, self.duration = command["slots"], command["duration"]
        self.guarded, self.stop_at = command["guarded"], command["stop_at"]
        self.running: list[tuple[float, tuple[int, int]]] = []

    def step(self) -> None:
        """Report what is done, then ask for as much as there is room for."""
        now, full = time.monotonic(), len(self.running) == self.slots
        done = [ti for end, ti in self.running if end <= now]
        self.running = [(end, ti) for end, ti in self.running if end > now]
        if done:
            self._report(done)
        asked, self.heard = bool(self.heard), []
        if (asked or (done and full) or self.due()) and len(self.running) < self.slots:
            self._ask_for_work()
        self.heartbeat()

    def _report(self, done: Pairs) -> None:
        runs = [run for run, in self.ask(SUCCEED, [self.work, *_columns(done), self.me])]
        for run in runs:
            self.hint("scheduler", run)
        self.ask(DONE, [runs])

    def _ask_for_work(self) -> None:
        free = self.slots - len(self.running)
        given = [(run, task) for run, task, _ in self.ask(ASSIGN, [self.me, free, self.work])]
        if not given:
            return
        if self.stop_at == "assigned":
            self.stop_at = ""
            self.stage.say("assigned", given=given)
            self.stage.hear()
        self._start(given)

    def _start(self, given: Pairs) -> None:
        query = RUN.format(guard=GUARD if self.guarded else NO_GUARD)
        started = self.ask(query, [self.work, *_columns(given), self.me, self.me])
        self.refused += len(given) - len(started)
        end = time.monotonic() + self.duration
        self.running += [(end, ti) for ti in started]


def _columns(pairs: Pairs) -> list[list[int]]:
    return [[run for run, _ in pairs], [task for _, task in pairs]]


def play(stage: Stage, command: dict[str, Any]) -> dict[str, Any]:
    """Work until told to stop."""
    me = Worker(stage, command)
    me.next_scan = time.monotonic() + command["phase"] * me.interval
    while me.wait(min([end for end, _ in me.running], default=time.monotonic() + me.interval)):
        me.step()
    me.close()
    return {"queries": me.queries, "refused": me.refused}
