"""A second scheduler, written only for the tests: slow and plain, with none of the engine's cleverness.

It visits every task instance in every tick, counts every limit from scratch and follows the written rules. No
code of dagkit decides anything here; only the descriptions Dag, Task and Scenario are read. The engine must
give the same events in the same order. Left out: mapping, waiting, faults, changes on the way.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

DONE = ("success", "failed", "skipped", "upstream_failed", "removed")
BAD = ("failed", "upstream_failed")
BUSY = ("queued", "running")
IDLE_TICKS = 3        # so many ticks without anything due or changed: nothing can ever happen again


def rule_says(rule: str, above: list[str], setups: list[str]) -> str:
    """The verdict of a trigger rule on its direct upstreams, after the sentences of the documentation."""
    n, seen = len(above), Counter(above)
    good, skip, gone = seen["success"], seen["skipped"], seen["removed"]
    bad = seen["failed"] + seen["upstream_failed"]
    done = good + skip + gone + bad == n
    if n == 0 or rule == "always":
        return "run"
    if rule == "all_success":
        return "upstream_failed" if bad else "skipped" if skip else "run" if done else "wait"
    if rule == "all_failed":
        return "skipped" if good or skip else "run" if done else "wait"
    if rule == "all_done":
        return "run" if done else "wait"
    if rule == "one_success":
        return "run" if good else "wait" if not done else "skipped" if skip == n else "upstream_failed"
    if rule == "one_failed":
        return "run" if bad else "skipped" if done else "wait"
    if rule == "one_done":
        return "run" if good + seen["failed"] else "skipped" if done else "wait"
    if rule == "none_failed":
        return "upstream_failed" if bad else "run" if done else "wait"
    if rule == "none_failed_min_one_success":
        return ("upstream_failed" if bad else "wait" if not done else "run" if good
                else "skipped" if skip == n else "upstream_failed")
    if rule == "none_skipped":
        return "skipped" if skip else "run" if done else "wait"
    if rule == "all_skipped":
        return "skipped" if good or bad else "run" if skip == n else "wait"
    if rule == "all_done_min_one_success":
        return "skipped" if skip else "wait" if not done else "run" if good else "upstream_failed"
    assert rule == "all_done_setup_success", rule
    if not done:
        return "wait"
    if setups and "success" not in setups:
        return "skipped" if all(s == "skipped" for s in setups) else "upstream_failed"
    return "run"


class Shape:
    """Who is related to whom in one Dag."""

    def __init__(self, dag: Any):
        self.tasks = {t.task_id: t for t in dag}
        self.up = {t: list(dict.fromkeys(spec.upstream)) for t, spec in self.tasks.items()}
        self.order = self._order()
        self.down = {t: [d for d in self.order if t in self.up[d]] for t in self.tasks}
        self.above = {t: self._reach(self.up, t) for t in self.tasks}
        self.below = {t: self._reach(self.down, t) for t in self.tasks}
        self.weight = {t: self._weight(spec) for t, spec in self.tasks.items()}
        self.skips = {t: self._skips(spec) for t, spec in self.tasks.items()}
        self.setups = {t: [s for s in self.order if self._guards(s, t)] for t in self.tasks}
        self.scope = {t: self._scope(t) for t in self.tasks}
        self.leaves = self._leaves()

    def _order(self) -> list[str]:
        """Repeatedly the first declared task whose upstreams are all taken."""
        taken: list[str] = []
        while len(taken) < len(self.tasks):
            taken.append(next(t for t in self.tasks if t not in taken and set(self.up[t]) <= set(taken)))
        return taken

    @staticmethod
    def _reach(near: dict[str, list[str]], start: str) -> set[str]:
        found: set[str] = set()
        todo = [start]
        while todo:
            todo += [n for n in near[todo.pop()] if n not in found and not found.add(n)]  # type: ignore[func-returns-value]
        return found

    def _weight(self, spec: Any) -> int:
        relatives = {"downstream": self.below, "upstream": self.above}.get(spec.weight_rule, {})
        others = relatives.get(spec.task_id, ())
        return spec.priority_weight + sum(self.tasks[o].priority_weight for o in others)

    def _skips(self, spec: Any) -> list[str]:
        if spec.branch is not None:
            kept = set(spec.branch).union(*(self.below[f] for f in spec.branch))
            return [d for d in self.down[spec.task_id] if d not in kept]
        if spec.short_circuit is not None:
            reached = self.below[spec.task_id] if spec.short_circuit == "hard" else self.down[spec.task_id]
            return [t for t in self.order if t in reached and not self.tasks[t].is_teardown]
        return []

    def _guards(self, setup: str, task: str) -> bool:
        """Whether ``task`` works under ``setup`` without being its direct child."""
        if not self.tasks[setup].is_setup or setup not in self.above[task] or setup in self.up[task] \
                or self.tasks[task].is_teardown:
            return False
        teardowns = [d for d in self.down[setup] if self.tasks[d].is_teardown]
        return not teardowns or any(td in self.below[task] for td in teardowns)

    def _scope(self, task: str) -> set[str]:
        if not self.tasks[task].is_teardown:
            return set()
        own = [u for u in self.up[task] if self.tasks[u].is_setup]
        return {t for s in own for t in self.below[s] & self.above[task]} - set(own)

    def _leaves(self) -> list[str]:
        counts = [t for t in self.order
                  if not self.tasks[t].is_teardown or self.tasks[t].on_failure_fail_dagrun]
        return [t for t in counts if not set(self.down[t]) & set(counts)] \
            or [t for t in self.order if not self.down[t]]


@dataclass
class DagRun:
    dag: int
    number: int
    due: int
    state: str = "queued"
    started: int | None = None
    began: int = 0                  # the same, or later if it was cleared and begins again
    ended: int | None = None


@dataclass(eq=False)
class TI:
    dag: int
    place: int                      # position in task order
    run: DagRun
    task: Any
    state: str = "none"
    tries: int = 0
    last_try: int = 0               # the last try it may fail in without being failed for good
    scripted_from: int = 0          # tries before the present script
    until: int = 0                  # queued: picked up; running: ends; up_for_retry: may go on
    order: tuple[int, int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.order = (self.dag, self.place, self.run.number)
        self.last_try = self.task.retries


class Reference:
    """Plays a Scenario. events: (tick, dag_id, run, task_id, old, new)."""

    def __init__(self, scenario: Any):
        self.s, self.config, self.s_changes = scenario, scenario.config, scenario.changes
        self.lesson = self.config.pacing == "lesson"
        self.dags = scenario.dags
        self.shapes = [Shape(dag) for dag in self.dags]
        self.runs: list[DagRun] = []
        for number, dag in enumerate(self.dags):
            wanted = scenario.runs[dag.dag_id]
            self.runs += [DagRun(number, r, wanted.start + r * wanted.every) for r in range(wanted.count)]
        self.tis = sorted((TI(run.dag, place, run, self.shapes[run.dag].tasks[task])
                           for run in self.runs for place, task in enumerate(self.shapes[run.dag].order)),
                          key=lambda ti: ti.order)
        self.find = {(ti.dag, ti.run.number, ti.task.task_id): ti for ti in self.tis}
        for label, state in scenario.initial.items():
            for ti in self.tis:
                if ti.task.task_id == label:
                    ti.state = state
        self.now, self.changed = 0, False
        self.restarted: list[TI] = []
        self.events: list[tuple[int, str, int, str, str, str]] = []

    # ---- small words --------------------------------------------------------------------------------------

    def set(self, ti: TI, new: str) -> None:
        dag_id = self.dags[ti.dag].dag_id
        self.events.append((self.now, dag_id, ti.run.number, ti.task.task_id, ti.state, new))
        ti.state, self.changed = new, True

    def states(self, ti: TI, tasks: Any) -> list[str]:
        return [self.find[ti.dag, ti.run.number, t].state for t in tasks]

    def of(self, run: DagRun) -> list[TI]:
        return [ti for ti in self.tis if ti.run is run]

    def play(self) -> Reference:
        idle = 0
        while idle < IDLE_TICKS:
            self.tick()
            idle = 0 if self.changed or self.anything_ahead() else idle + 1
        return self

    def anything_ahead(self) -> bool:
        """Whether the calendar holds anything that can change the situation."""
        busy = any(ti.state in (*BUSY, "restarting") or (ti.state == "up_for_retry" and ti.until > self.now)
                   for ti in self.tis)
        due = any(run.due > self.now or self._timeout(run) for run in self.runs)
        return busy or due or any(tick > self.now for tick, _ in self.s_changes)

    def _timeout(self, run: DagRun) -> int | None:
        limit = self.dags[run.dag].dagrun_timeout
        return None if limit is None or run.state != "running" else run.began + math.ceil(limit)

    # ---- the tick -----------------------------------------------------------------------------------------

    def tick(self) -> None:
        self.now += 1
        self.changed = False
        restarting = [ti for ti in self.restarted if ti.state == "restarting"]
        for tick, change in self.s_changes:
            if tick == self.now:
                self.change(change)
        for ti in restarting:
            if ti.state == "restarting":
                self.retry(ti)
        self.restarted = [ti for ti in self.restarted if ti.state == "restarting" and ti not in restarting]
        for ti in self.tis:
            if ti.state == "running" and ti.until == self.now:
                self.finish(ti)
        for run in sorted(self.runs, key=lambda r: (r.began, r.dag, r.number)):
            if self._timeout(run) == self.now:
                self.end(run, "failed")
                for ti in self.of(run):
                    if ti.state not in DONE:
                        self.set(ti, "skipped")
        self.start([ti for ti in self.tis if ti.state == "queued" and ti.until == self.now])
        self.evaluate()
        self.admit()

    def change(self, change: dict[str, Any]) -> None:
        """Settings are swapped; clearing sends tasks back to none, and ended runs back to the queue."""
        self.s = self.s.merged({name: value for name, value in change.items() if name != "clear"})
        self.config = self.s.config
        cleared = []                  # one change clears a task instance once, however many labels mean it
        for label in change.get("clear", ()):
            for ti in sorted(self.tis, key=lambda t: (t.dag, t.run.number, t.place)):
                if label in (ti.task.task_id, f"{self.dags[ti.dag].dag_id}.{ti.task.task_id}"):
                    if not any(ti is done for done in cleared):
                        cleared.append(ti)
                        self.clear(ti, fresh="outcomes" in change)

    def clear(self, ti: TI, fresh: bool) -> None:
        if ti.run.state in ("success", "failed"):
            ti.run.state, ti.run.ended = "queued", None
        if fresh:
            ti.scripted_from = ti.tries
        if ti.state == "running":
            self.set(ti, "restarting")                      # its worker stops within a tick
            self.restarted.append(ti)
        else:
            ti.last_try = ti.tries + ti.task.retries
            if ti.state != "none":
                self.set(ti, "none")

    def start(self, tis: list[TI]) -> None:
        for ti in sorted(tis, key=lambda t: t.order):
            limit, lasts = ti.task.execution_timeout, self.lasts(ti)
            ti.until = self.now + (lasts if limit is None else min(lasts, math.ceil(limit)))
            self.set(ti, "running")

    def lasts(self, ti: TI) -> int:
        return int(self.s.durations.get(ti.task.task_id, ti.task.duration))

    def finish(self, ti: TI) -> None:
        script = self.s.outcomes.get(ti.task.task_id, ())
        entry = ti.tries - 1 - ti.scripted_from
        outcome = script[entry] if 0 <= entry < len(script) else "success"
        limit = ti.task.execution_timeout
        if limit is not None and self.lasts(ti) > limit:
            outcome = "fail"
        if outcome == "success":
            self.set(ti, "success")
            for other in self.shapes[ti.dag].skips[ti.task.task_id]:
                left_out = self.find[ti.dag, ti.run.number, other]
                if left_out.state not in ("running", "success", "failed", "skipped", "removed"):
                    self.set(left_out, "skipped")
        elif outcome == "skip":
            self.set(ti, "skipped")
        elif outcome == "fail" and ti.task.retries and ti.tries <= ti.last_try:
            self.retry(ti)
        else:
            self.set(ti, "failed")
            if self.dags[ti.dag].fail_fast:
                for other_ti in self.of(ti.run):
                    if other_ti is not ti and not other_ti.task.is_teardown \
                            and other_ti.state not in ("success", "failed", "skipped", "removed"):
                        self.set(other_ti, "failed" if other_ti.state == "running" else "skipped")

    def retry(self, ti: TI) -> None:
        self.set(ti, "up_for_retry")
        ti.until = self.now + self.delay(ti)

    def delay(self, ti: TI) -> int:
        task = ti.task
        multiplier = 2.0 if task.retry_exponential_backoff is True else float(task.retry_exponential_backoff)
        if multiplier in (0.0, 1.0):
            return math.ceil(task.retry_delay)
        base = max(1, math.ceil(task.retry_delay * multiplier ** (ti.tries - 1)))
        minute, second = divmod(ti.run.due - 1, 60)
        date = f"2026-01-01 00:{minute:02}:{second:02}+00:00"
        text = f"{self.dags[ti.dag].dag_id}#{task.task_id}#{date}#{ti.tries}"
        jitter = int(hashlib.sha1(text.encode()).hexdigest(), 16) % base
        wait = min(base + jitter, self.config.max_task_retry_delay)
        return math.ceil(wait if task.max_retry_delay is None else min(wait, task.max_retry_delay))

    # ---- evaluate -----------------------------------------------------------------------------------------

    def evaluate(self) -> None:
        self.decide_runs()
        if not self.lesson:
            verdicts = [(ti, self.verdict(ti)) for ti in self.tis]
            for ti, verdict in verdicts:
                self.apply(ti, verdict)
            return
        while True:
            for ti in self.tis:
                if (verdict := self.verdict(ti)) != "wait":
                    self.apply(ti, verdict)
                    break
            else:
                if not self.decide_runs():
                    return

    def apply(self, ti: TI, verdict: str) -> None:
        if verdict == "run":
            ti.tries += 1
            self.set(ti, "success" if ti.task.empty else "scheduled")
        elif verdict != "wait":
            self.set(ti, verdict)

    def verdict(self, ti: TI) -> str:
        if ti.state not in ("none", "up_for_retry") or ti.run.state != "running":
            return "wait"
        verdict = self.dependencies(ti)
        if verdict == "run" and ((ti.state == "up_for_retry" and ti.until > self.now) or not self.past(ti)):
            return "wait"
        return verdict

    def dependencies(self, ti: TI) -> str:
        shape, me = self.shapes[ti.dag], ti.task.task_id
        up, rule = shape.up[me], ti.task.trigger_rule
        direct = self.states(ti, up)
        own = rule_says(rule, direct, self.states(ti, [u for u in up if shape.tasks[u].is_setup]))
        if up and rule != "always":
            above = self.states(ti, shape.setups[me])
            if any(s in BAD for s in above):
                return "upstream_failed"
            if "skipped" in above:
                return "skipped"
            if own == "run" and any(s != "success" for s in above):
                own = "wait"
            if own == "run" and any(s not in DONE for s in self.states(ti, shape.scope[me])):
                own = "wait"
        if own in ("run", "wait") and any(
                me in shape.skips[u] and state == "success" for u, state in zip(up, direct, strict=True)):
            return "skipped"
        return own

    def past(self, ti: TI) -> bool:
        if not (ti.task.depends_on_past or ti.task.wait_for_downstream) or ti.run.number == 0:
            return True
        wanted = [ti.task.task_id]
        if ti.task.wait_for_downstream:
            wanted += self.shapes[ti.dag].down[ti.task.task_id]
        return all(self.find[ti.dag, ti.run.number - 1, t].state in ("success", "skipped") for t in wanted)

    # ---- runs ---------------------------------------------------------------------------------------------

    def decide_runs(self) -> bool:
        """Verdicts, and queued runs start while there is room. True if anything happened.

        A pass of Airflow starts runs before it looks at the running ones: there the room a run leaves waits a tick.
        """
        if not self.lesson:
            self.start_runs()
            return self.end_runs()
        happened = False
        while self.end_runs() | self.start_runs():
            happened = True
        return happened

    def start_runs(self) -> bool:
        started = False
        for run in self.runs:
            room = self.dags[run.dag].max_active_runs - self.running(run.dag)
            if run.state == "queued" and run.due <= self.now and room > 0:
                run.state, run.began, started = "running", self.now, True
                run.started = run.started or self.now
        return started

    def end_runs(self) -> bool:
        ended = False
        for run in [r for r in self.runs if r.state == "running"]:
            if all(ti.state in DONE for ti in self.of(run)):
                leaves = [self.find[run.dag, run.number, t].state for t in self.shapes[run.dag].leaves]
                self.end(run, "failed" if any(s in BAD for s in leaves) else "success")
                ended = True
            elif self.deadlocked(run):
                self.end(run, "failed")
                ended = True
        return ended

    def running(self, dag: int) -> int:
        return sum(run.dag == dag and run.state == "running" for run in self.runs)

    def end(self, run: DagRun, state: str) -> None:
        run.state, run.ended, self.changed = state, self.now, True

    def deadlocked(self, run: DagRun) -> bool:
        open_tis = [ti for ti in self.of(run) if ti.state not in DONE]
        return bool(open_tis) and all(
            ti.state == "none" and self.dependencies(ti) == "wait" and not (
                ti.task.depends_on_past or ti.task.wait_for_downstream or ti.task.max_active_tis_per_dag
                or ti.task.max_active_tis_per_dagrun) for ti in open_tis)

    # ---- admit --------------------------------------------------------------------------------------------

    def key(self, ti: TI) -> tuple[Any, ...]:
        return -self.shapes[ti.dag].weight[ti.task.task_id], ti.run.due, ti.run.number, ti.order

    def refusal(self, ti: TI) -> str | None:
        """The first limit that has no room for this TI, in Airflow's order of checks."""
        busy = [other for other in self.tis if other.state in BUSY]
        task, pool = ti.task, self.s.pools.get(ti.task.pool)
        same = [other for other in busy if other.task is task]
        slots = self.s.executor.get(None).parallelism
        if len(busy) >= self.config.parallelism * self.config.schedulers:
            return "parallelism"
        if pool is None:
            return "unknown_pool"
        if pool.slots != -1:
            used = sum(other.task.pool_slots for other in busy if other.task.pool == task.pool)
            if used >= pool.slots:
                return "pool"
            if used + task.pool_slots > pool.slots:
                return "pool_slots"
        if sum(other.run is ti.run for other in busy) >= self.dags[ti.dag].max_active_tasks:
            return "max_active_tasks"
        if task.max_active_tis_per_dag is not None and len(same) >= task.max_active_tis_per_dag:
            return "max_active_tis_per_dag"
        if task.max_active_tis_per_dagrun is not None and \
                sum(other.run is ti.run for other in same) >= task.max_active_tis_per_dagrun:
            return "max_active_tis_per_dagrun"
        return "executor" if slots is not None and len(busy) >= slots else None

    def admit(self) -> None:
        queued: list[TI] = []
        scheduled = sorted((ti for ti in self.tis if ti.state == "scheduled"), key=self.key)
        for ti in scheduled if self.lesson else self.window(scheduled):
            if not self.lesson or self.refusal(ti) is None:
                self.set(ti, "queued")
                queued.append(ti)
        handover = self.s.executor.get(None).handover
        for ti in queued:
            ti.until = self.now + handover
        if not handover:
            self.start(queued)

    def window(self, scheduled: list[TI]) -> list[TI]:
        """What one pass of Airflow's critical section takes, in order. The states stay as they were."""
        busy = [ti for ti in self.tis if ti.state in BUSY]
        size = self.config.parallelism * self.config.schedulers - len(busy)
        if self.config.max_tis_per_query:
            size = min(size, self.config.max_tis_per_query)
        size = min(size, sum(max(0, self.open_slots(pool)) for pool in self.s.pools))
        starved: set[Any] = set()
        taken: list[TI] = []
        while size > 0 and not taken:
            rows = self.query(scheduled, starved)[:int(size)]
            before = len(starved)
            for ti in rows:
                if (why := self.refusal(ti)) is None:
                    taken.append(ti)
                    ti.state = "queued"                     # so that the next row sees it as taken
                else:
                    starved.add(self.filter_of(why, ti))
            if len(rows) < size or len(starved) == before:
                break
        for ti in taken:
            ti.state = "scheduled"
        return taken

    def open_slots(self, name: str) -> float:
        pool = self.s.pools[name]
        if pool.slots == -1:
            return math.inf
        busy = [ti for ti in self.tis if ti.state in BUSY and ti.task.pool == name]
        return pool.slots - sum(ti.task.pool_slots for ti in busy)

    def query(self, scheduled: list[TI], starved: set[Any]) -> list[TI]:
        rows, per_run = [], Counter()
        for ti in scheduled:
            cap = self.dags[ti.dag].max_active_tasks
            names = (("pool", ti.task.pool), ("dag", ti.dag), ("task", ti.dag, ti.task.task_id),
                     ("run", ti.dag, ti.run.number, ti.task.task_id))
            if (starved & set(names) or (ti.task.pool in self.s.pools and self.open_slots(ti.task.pool) <= 0)
                    or sum(o.state in BUSY for o in self.of(ti.run)) >= cap):
                continue
            per_run[id(ti.run)] += 1
            if per_run[id(ti.run)] <= cap:
                rows.append(ti)
        return rows

    @staticmethod
    def filter_of(why: str, ti: TI) -> Any:
        if why in ("pool", "unknown_pool"):
            return "pool", ti.task.pool
        if why == "max_active_tasks":
            return "dag", ti.dag
        if why == "max_active_tis_per_dagrun":
            return "run", ti.dag, ti.run.number, ti.task.task_id
        return "task", ti.dag, ti.task.task_id
