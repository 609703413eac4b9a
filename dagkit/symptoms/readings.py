"""What the dashboards of a deployment show at one tick: counted from the trace, or told by the faults that hold.

Metric names are those of Airflow 3.3.2. Small numbers vary a little from component to component, as they do.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from .. import faults
from ..checks import plain
from ..practice.dice import Dice
from ..waits import Sensor
from .deployment import WORKERS, Broken


class Reading(NamedTuple):
    """One line of a dashboard. odd: whether it differs from what a healthy deployment shows."""

    component: str
    name: str
    value: str
    odd: bool

    def __str__(self) -> str:
        return f"{self.component}: {self.name} = {self.value}"


def readings(case: Broken, tick: int | None = None) -> list[Reading]:
    """Everything there is to see at a tick (None: when somebody looks)."""
    return _Board(case, case.at if tick is None else plain(tick)).all()


class _Board:
    def __init__(self, case: Broken, tick: int):
        self.case, self.tick = case, tick
        self.states = case.trace.states_at(tick)
        self.dice = Dice("board", case.seed, tick)

    def all(self) -> list[Reading]:
        return [*self.dag_file(), *self.dag_processor(), *self.scheduler(), *self.limits(), *self.database(),
                *self.broker(), *self.pods(), *self.workers(), *self.triggerer(), *self.api_server()]

    def holding(self, *kinds: type[Any]) -> list[Any]:
        return [f for f in self.case.trace.faults if isinstance(f, kinds) and f.tick <= self.tick
                and (not isinstance(f, faults.Outage) or f.holds(self.tick))]

    def of(self, state: str, *, executor: str | None = None, queue: str | None = None) -> list[str]:
        found = []
        for label, s in self.states.items():
            if s == state and (executor is None or self.task(label).executor == executor) and (
                    queue is None or self.task(label).queue == queue):
                found.append(label)
        return found

    def task(self, label: str) -> Any:
        dag_id, task_id, _, _ = self.case.trace.task_of(label)
        dags = {dag.dag_id: dag for dag in self.case.scenario.dags}
        return dags[dag_id][task_id] if task_id in dags[dag_id] else None

    def ago(self, kind: Any, usual: int) -> tuple[str, bool]:
        """How long ago something last came: a little, or since the fault."""
        gone = self.holding(*kind) if isinstance(kind, tuple) else self.holding(kind)
        seconds = 10 * (self.tick - gone[0].tick) + self.dice.between(1, usual) if gone else self.dice.between(1, usual)
        return f"{seconds} s ago", bool(gone)

    # ---- one method per component -----------------------------------------------------------------------------------

    def dag_file(self) -> list[Reading]:
        waits = [t for t in self.of("running") if isinstance(self.task(t).wait, Sensor)]
        return [Reading("Dag file", "running tasks that only poke", f"{len(waits)} of {len(self.of('running'))}",
                        bool(waits))]

    def dag_processor(self) -> list[Reading]:
        told, odd = self.ago(faults.DagProcessorDown, 29)
        return [Reading("Dag processor", "dag_processing.last_run.seconds_ago", told, odd),
                Reading("Dag processor", "dag_processing.import_errors", "0", False)]

    def scheduler(self) -> list[Reading]:
        told, odd = self.ago(faults.LoseScheduler, 5)
        return [Reading("scheduler", "scheduler_heartbeat", told, odd)]

    def limits(self) -> list[Reading]:
        slots = self.case.scenario.pools["warehouse"].slots
        used = len([t for t in [*self.of("running"), *self.of("queued")] if self.task(t).pool == "warehouse"])
        waiting = len([t for t in self.of("scheduled") if self.task(t).pool == "warehouse"])
        paused = [dag_id for tick, dag_id, why in self.case.trace._pauses if tick <= self.tick and "scheduler" not in why]
        return [Reading("a limit", "pool.open_slots of warehouse",
                        f"{slots - used} of {slots}, {waiting} tasks wait for it", used >= slots and waiting > 1),
                Reading("a limit", "paused Dags", ", ".join(paused) or "none", bool(paused))]

    def database(self) -> list[Reading]:
        slow = self.holding(faults.SlowDatabase)
        query = self.dice.between(4, 9) * (1000 if slow else 1)
        return [Reading("metadata DB", "scheduler.critical_section_query_duration", f"{query} ms", bool(slow)),
                Reading("metadata DB", "connections", f"{self.dice.between(30, 60)} of 100", False)]

    def broker(self) -> list[Reading]:
        down = self.holding(faults.BrokerDown)
        lie = len([t for t in self.of("queued") if self.task(t).executor is None]) if down else 0
        minute = "0" if down else str(self.dice.between(8, 20))
        return [Reading("broker", "messages that wait", str(lie), bool(lie)),
                Reading("broker", "messages delivered in the last minute", minute, bool(down))]

    def pods(self) -> list[Reading]:
        full = self.holding(faults.PodsPending)
        pending = len(self.of("queued", executor="KubernetesExecutor")) if full else 0
        return [Reading("executor", "pods pending", str(pending), bool(pending))]

    def workers(self) -> list[Reading]:
        """Slots in use are counted by queue; who runs what is not recorded, so two workers of a queue share alike."""
        found = []
        dead = {f.worker for f in self.holding(faults.LoseWorker)}
        for name, slots, queue in WORKERS:
            if name in dead:
                told, _ = self.ago(faults.LoseWorker, 9)
                found.append(Reading("worker", name, f"last heartbeat {told}", True))
                continue
            wrong = [f for f in self.holding(faults.WrongQueue) if f.worker == name]
            running = len([t for t in self.of("running", queue=queue) if self.task(t).executor is None])
            share = 0 if wrong else min(slots, -(-running // sum(q == queue for _, _, q in WORKERS)))
            heard = wrong[0].queues[0] if wrong else queue
            found.append(Reading("worker", name, f"heartbeat {self.dice.between(1, 9)} s ago, {share} of {slots} slots in "
                                 f"use, listens to {heard}", bool(wrong)))
        bad = self.holding(faults.BrokenWorker)
        failed = Counter(label for label, lines in zip(self.case.trace.labels, self.case.trace.changes, strict=True)
                         for tick, state in lines if state == "up_for_retry" and tick <= self.tick)
        log = f"{sum(failed.values())}, all on {bad[0].worker}: ModuleNotFoundError" if bad and failed else "0"
        return [*found, Reading("worker", "failed tries in the logs", log, log != "0")]

    def triggerer(self) -> list[Reading]:
        told, odd = self.ago(faults.TriggererDown, 9)
        return [Reading("triggerer", "triggerer_heartbeat", told, odd),
                Reading("triggerer", "triggers.running", "0" if odd else str(len(self.of("deferred"))), odd)]

    def api_server(self) -> list[Reading]:
        down, slow = self.holding(faults.ApiServerDown), self.holding(faults.SlowApiServer)
        told = "no answer" if down else f"healthy after {self.dice.between(21, 33)} s" if slow else \
            f"healthy after {self.dice.between(40, 90)} ms"
        return [Reading("API server", "GET /api/v2/monitor/health", told, bool(down or slow))]
