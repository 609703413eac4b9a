"""A scheduler replica of the hinted design: owns runs, queues what is ready. Child process of ``hints.py``."""

from __future__ import annotations

import time
from typing import Any

from .actor import Stage
from .listening import Listener

# Insert if absent: whoever comes second inserts nothing, so a duplicate hint has one owner.
OWN = """
INSERT INTO owner (run, replica) SELECT id, %s FROM run
WHERE NOT EXISTS (SELECT FROM owner WHERE owner.run = run.id) AND NOT done ORDER BY id LIMIT %s
ON CONFLICT DO NOTHING RETURNING run"""
INHERIT = """
UPDATE owner SET replica = %s WHERE replica IN (
    SELECT id FROM replica WHERE heartbeat < clock_timestamp() - make_interval(secs => %s))
RETURNING run"""
CLEAR = """
UPDATE ti SET worker = NULL WHERE state = 'queued' AND worker IN (
    SELECT id FROM worker WHERE heartbeat < clock_timestamp() - make_interval(secs => %s))
RETURNING run"""
READY = """
SELECT ti.run, ti.task FROM ti JOIN owner ON owner.run = ti.run AND owner.replica = %s
LEFT JOIN ti up ON up.run = ti.run AND up.task = ti.task - 1
WHERE ti.state = 'scheduled' AND (up.run IS NULL OR up.state = 'success') ORDER BY ti.run"""
# Guarded: a row that somebody else has queued meanwhile is not touched, and not hinted again. ``waited`` is the
# waiting inside the transaction.
QUEUE = """
WITH waited AS MATERIALIZED (SELECT pg_sleep(%s))
UPDATE ti SET state = 'queued' FROM waited, unnest(%s::int[], %s::int[]) AS chosen (run, task)
WHERE ti.run = chosen.run AND ti.task = chosen.task AND ti.state = 'scheduled' RETURNING ti.run"""


class Replica(Listener):
    """room: runs it owns at most. threshold: seconds without a heartbeat after which another counts as dead."""

    table, hears = "replica", "scheduler"

    def __init__(self, stage: Stage, command: dict[str, Any]):
        super().__init__(stage, command)
        self.room, self.threshold = command["room"], command["threshold"]
        self.mine: set[int] = set()

    def step(self) -> None:
        """On a hint look at what it may be about; when the timer rings look at everything."""
        heard, self.heard = self.heard, []
        scan = self.due()
        if scan:
            self._take_over()
        if scan or "new" in heard:
            self.mine |= {run for run, in self.ask(OWN, [self.me, self.room])}
        if scan or "new" in heard or any(word.isdigit() and int(word) in self.mine for word in heard):
            self._queue_ready()
        self.heartbeat()

    def _take_over(self) -> None:
        self.mine |= {run for run, in self.ask(INHERIT, [self.me, self.threshold])}
        if self.ask(CLEAR, [self.threshold]):
            self.hint("worker", "queued")

    def _queue_ready(self) -> None:
        ready = self.ask(READY, [self.me])
        if not ready:
            return
        queued = self.ask(QUEUE, [self.work, [run for run, _ in ready], [task for _, task in ready]])
        self.refused += len(ready) - len(queued)
        if queued:
            self.hint("worker", "queued")


def play(stage: Stage, command: dict[str, Any]) -> dict[str, Any]:
    """Schedule until told to stop."""
    me = Replica(stage, command)
    me.next_scan = time.monotonic() + command["phase"] * me.interval
    while me.wait(time.monotonic() + me.interval):
        me.step()
    me.close()
    return {"queries": me.queries, "refused": me.refused}
