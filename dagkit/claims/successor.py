"""A scheduler with a heartbeat that claims, hands over, and takes over from the dead: child of ``takeover.py``."""

from __future__ import annotations

import time
from typing import Any

from .actor import Stage
from .strategies import STRATEGIES

HOW = STRATEGIES["skip_locked"]
BEAT = "UPDATE scheduler SET heartbeat = clock_timestamp() WHERE id = %s"
# Airflow: SchedulerJobRunner.adopt_or_reset_orphaned_tasks, for jobs whose latest_heartbeat is older than
# [scheduler] scheduler_health_check_threshold (30 s). The rows are locked with SKIP LOCKED, so one heir wins.
ADOPT = """
UPDATE ti SET scheduler = %s WHERE id IN (
    SELECT ti.id FROM ti JOIN scheduler s ON s.id = ti.scheduler
    WHERE ti.state = 'queued' AND s.heartbeat < clock_timestamp() - make_interval(secs => %s)
    FOR UPDATE OF ti SKIP LOCKED)
RETURNING id"""
HAND_OVER = "UPDATE ti SET state = 'running' WHERE id = ANY(%s)"
GUARD = " AND state = 'queued' AND scheduler = %s"
HANDED = "INSERT INTO claim (ti, scheduler) SELECT unnest(%s::int[]), %s"
ANY_LEFT = "SELECT EXISTS (SELECT FROM ti WHERE state <> 'running')"


class Successor:
    """threshold: seconds without a heartbeat after which a scheduler is taken for dead. stop_at: the point at
    which this one reports and waits to be killed or paused. guarded: it hands over only what is still its own."""

    def __init__(self, stage: Stage, batch: int, threshold: float, stop_at: str, guarded: bool):
        self.stage, self.db, self.me = stage, stage.db, stage.number
        self.batch, self.threshold, self.stop_at, self.guarded = batch, threshold, stop_at, guarded
        self.refused = 0

    def turn(self) -> bool:
        """One pass of its loop; False when there was nothing to do."""
        self.db.execute(BEAT, [self.me])
        mine = self._claim() or self._ids(ADOPT, [self.me, self.threshold])
        self._reach("after commit")
        self._hand_over(mine)
        return bool(mine)

    def _claim(self) -> list[int]:
        with self.db.transaction():
            ids = self._ids(HOW.select, [self.batch])
            taken = self._ids(HOW.update, [self.me, ids]) if ids else []
            self._reach("before commit")
        return taken

    def _hand_over(self, ids: list[int]) -> None:
        guard, values = (GUARD, [ids, self.me]) if self.guarded else ("", [ids])
        with self.db.transaction():
            handed = self._ids(HAND_OVER + guard + " RETURNING id", values)
            self.db.execute(HANDED, [handed, self.me])
        self.refused += len(ids) - len(handed)

    def _ids(self, query: str, values: list[Any]) -> list[int]:
        return [row[0] for row in self.db.execute(query, values)]

    def _reach(self, point: str) -> None:
        if point == self.stop_at:
            self.stop_at = ""
            self.stage.say(point)
            self.stage.hear()


def play(stage: Stage, command: dict[str, Any]) -> dict[str, Any]:
    """Claim, hand over and take over until every row runs, or ``seconds`` are over."""
    me = Successor(stage, command["batch"], command["threshold"], command["stop_at"], command["guarded"])
    end = time.monotonic() + command["seconds"]
    while time.monotonic() < end:
        stage.check()
        if not me.turn():
            if not stage.db.execute(ANY_LEFT).fetchone()[0]:
                break
            time.sleep(0.02)
    return {"refused": me.refused}
