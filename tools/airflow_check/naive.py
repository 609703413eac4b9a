"""A deliberately simple model of a Dag run, used for one thing only: the `timing_class` of a recorded case.

It visits every task in every tick, knows nothing of dagkit, and is trusted for a case only where it
reproduces the recording of the real Airflow tick for tick. With it a case can be replayed under timings the
recording did not use; whether its outcome survives them is its timing class:

free        the same final states, tries and run state under every timing tried: a skip or failure is seen one
            level down in the next pass, later in the same pass level by level, or later in the same walk over
            the tasks (see CASCADES); an attempt waits one tick in the queue or none; and in each of these
            six ways two dozen random sets of durations
phase_free  the same under the six ways with the case's own durations
exact       anything else: the model does not reproduce the recording, or it had to use the one rule that no
            other timing shares, that a deadlock check made while a task runs may skip that task (`_runnable`)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from random import Random
from typing import Any

FINISHED = ("success", "failed", "skipped", "upstream_failed", "removed")
FAILED = ("failed", "upstream_failed")
BLOCKS_DEADLOCK_CHECK = ("depends_on_past", "max_active_tis_per_dag", "max_active_tis_per_dagrun")
CASCADES = ("next", "rounds", "walk")
DURATION_SETS = 24
DURATIONS = (1, 1, 2, 3, 5, 9, 17)  # uneven, so that a long chain can beat one slow task
TICK_LIMIT = 2000


@dataclass
class Shape:
    """The tasks of a case and their relatives, worked out once for all its replays."""

    case: dict[str, Any]

    @property
    def tasks(self) -> dict[str, dict[str, Any]]:
        """The tasks as the case lists them."""
        found: dict[str, dict[str, Any]] = self.case["tasks"]
        return found

    @cached_property
    def children(self) -> dict[str, list[str]]:
        """Direct downstream ids of every task."""
        return {t: [c for c, spec in self.tasks.items() if t in spec["upstream"]] for t in self.tasks}

    @cached_property
    def above(self) -> dict[str, set[str]]:
        """All ancestors of every task (cases are listed in topological order)."""
        found: dict[str, set[str]] = {}
        for task, spec in self.tasks.items():
            found[task] = set(spec["upstream"]).union(*(found[u] for u in spec["upstream"]))
        return found

    @cached_property
    def below(self) -> dict[str, set[str]]:
        """All descendants of every task."""
        return {t: {d for d in self.tasks if t in self.above[d]} for t in self.tasks}

    def marked(self, task: str, mark: str) -> bool:
        """Whether the case marks the task, for example as `setup`."""
        return bool(self.tasks[task].get(mark))

    @cached_property
    def indirect_setups(self) -> dict[str, list[str]]:
        """Setups above a task, not direct, without a teardown or with one below the task."""
        return {task: [s for s in self.above[task] if self._guards(s, task)] for task in self.tasks}

    def _guards(self, setup: str, task: str) -> bool:
        if not self.marked(setup, "setup") or setup in self.tasks[task]["upstream"]:
            return False
        teardowns = [child for child in self.children[setup] if self.marked(child, "teardown")]
        return not teardowns or any(teardown in self.below[task] for teardown in teardowns)

    @cached_property
    def scope(self) -> dict[str, set[str]]:
        """Tasks between the direct setups of a teardown and the teardown, its direct upstreams apart."""
        found: dict[str, set[str]] = {}
        for task, spec in self.tasks.items():
            setups = [u for u in spec["upstream"] if self.marked(u, "setup")]
            inside = set().union(*(self.below[s] for s in setups)) & self.above[task]
            found[task] = inside - set(spec["upstream"])
        return found

    @cached_property
    def leaves(self) -> list[str]:
        """The tasks that decide the run: without a child that counts, and themselves counting."""

        def counts(task: str) -> bool:
            return not self.marked(task, "teardown") or self.marked(task, "on_failure_fail_dagrun")

        found = [t for t in self.tasks if counts(t) and not any(counts(c) for c in self.children[t])]
        return found or [t for t in self.tasks if not self.children[t]]

    def skipped_by(self, task: str) -> list[str]:
        """What the task asks to skip when it succeeds."""
        spec = self.tasks[task]
        if spec.get("short_circuit"):
            return sorted(t for t in self.below[task] if not self.marked(t, "teardown"))
        if "branch_follow" in spec:
            kept = set(spec["branch_follow"]).union(*(self.below[f] for f in spec["branch_follow"]))
            return sorted(child for child in self.children[task] if child not in kept)
        return []


def rule_verdict(rule: str, states: list[str], setups: list[str]) -> str:
    """run, wait or the state set, for the states of the direct upstreams (`setups`: of their setups)."""
    n = len(states)
    if n == 0 or rule == "always":
        return "run"
    seen = Counter(states)
    ok, skip, gone = seen["success"], seen["skipped"], seen["removed"]
    bad = seen["failed"] + seen["upstream_failed"]
    done = ok + skip + gone + bad == n
    if rule == "all_done_setup_success" and done and setups:
        if all(state == "skipped" for state in setups):
            return "skipped"
        return "run" if "success" in setups else "upstream_failed"
    table: dict[str, list[tuple[bool, str]]] = {
        "all_success": [(bad > 0, "upstream_failed"), (skip > 0, "skipped"), (ok + gone == n, "run")],
        "all_failed": [(ok + skip > 0, "skipped"), (bad + gone == n, "run")],
        "all_done": [(done, "run")],
        "all_done_setup_success": [(done, "run")],
        "one_success": [(ok > 0, "run"), (skip == n, "skipped"), (done, "upstream_failed")],
        "one_failed": [(bad > 0, "run"), (done, "skipped")],
        "one_done": [(ok + seen["failed"] > 0, "run"), (done, "skipped")],
        "none_failed": [(bad > 0, "upstream_failed"), (done, "run")],
        "none_failed_min_one_success": [
            (bad > 0, "upstream_failed"), (skip == n, "skipped"), (done and ok == 0, "upstream_failed"),
            (done, "run"),
        ],
        "none_skipped": [(skip > 0, "skipped"), (done, "run")],
        "all_skipped": [(ok + bad > 0, "skipped"), (skip == n, "run")],
        "all_done_min_one_success": [
            (skip > 0, "skipped"), (done and ok == 0, "upstream_failed"), (done, "run"),
        ],
    }  # fmt: skip
    return next((verdict for holds, verdict in table[rule] if holds), "wait")


@dataclass
class Model:
    """One replay of a case under one timing."""

    shape: Shape
    durations: dict[str, int]
    cascade: str = "next"  # one of CASCADES
    queue_ticks: int = 0
    ticks: list[dict[str, Any]] = field(default_factory=list)
    run_state: str = "running"

    def __post_init__(self) -> None:
        self.state = dict.fromkeys(self.shape.tasks, "none") | self.shape.case.get("initial", {})
        self.tries = dict.fromkeys(self.shape.tasks, 0)
        self.passed_by = False  # the deadlock check skipped a task that was running
        self.asked: dict[str, list[str]] = {}  # branch -> what it asked to skip
        self.due: dict[str, tuple[int, int]] = {}  # task -> (tick it starts in, tick it ends in)

    def replay(self) -> Model:
        """Tick until decided or stuck."""
        while len(self.ticks) < TICK_LIMIT and not self._tick():
            pass
        return self

    def result(self) -> tuple[Any, ...]:
        """What the timing classes compare."""
        return self.state, self.tries, self.run_state

    def _tick(self) -> bool:
        if self.ticks and self.ticks[-1] == {"sched": [], "end": {}}:
            self.ticks.append({"sched": []})  # nothing has changed since, so this pass finds the same
            self._work(self.ticks[-1])
            return False
        unfinished = [task for task, state in self.state.items() if state not in FINISHED]
        ready, written = self._pass()
        while self.cascade != "next" and (more := self._pass()) != ([], {}):
            ready, written = ready + more[0], written | more[1]
        if self.cascade != "next":
            unfinished = [task for task, state in self.state.items() if state not in FINISHED]
        tick: dict[str, Any] = {"sched": sorted(ready)} | ({"set": written} if written else {})
        self.ticks.append(tick)
        if self._decided(unfinished, bool(ready or written), tick):
            return True
        if not (ready or written or self.due or "up_for_retry" in self.state.values()):
            tick["stuck"] = True
            return True
        self._work(tick)
        return False

    def _pass(self) -> tuple[list[str], dict[str, str]]:
        waiting = [task for task, state in self.state.items() if state in ("none", "up_for_retry")]
        pairs: Iterable[tuple[str, str]] = ((task, self._verdict(task)) for task in waiting)
        if self.cascade != "walk":
            pairs = list(pairs)  # all judged before any is written
        ready, written = [], {}
        for task, verdict in pairs:
            if verdict == "run":
                ready.append(task)
                self._queue(task)
            elif verdict != "wait":
                self.state[task] = written[task] = verdict
        return ready, written

    def _queue(self, task: str) -> None:
        self.state[task] = "queued"
        self.tries[task] += 1
        start = len(self.ticks) + 1 + self.queue_ticks
        self.due[task] = (start, start + self.durations[task] - 1)

    def _verdict(self, task: str) -> str:
        spec, shape = self.shape.tasks[task], self.shape
        held = False
        if any(task in self.asked.get(parent, ()) for parent in spec["upstream"]):
            return "skipped"  # it was running when its branch chose another way
        if not shape.marked(task, "teardown") and spec["upstream"] and spec["trigger_rule"] != "always":
            states = [self.state[setup] for setup in shape.indirect_setups[task]]
            if any(state in FAILED for state in states):
                return "upstream_failed"
            if "skipped" in states:
                return "skipped"
            held = any(state != "success" for state in states)
        states = [self.state[u] for u in spec["upstream"]]
        setups = [self.state[u] for u in spec["upstream"] if shape.marked(u, "setup")]
        verdict = rule_verdict(spec["trigger_rule"], states, setups)
        if shape.marked(task, "teardown"):
            held = any(self.state[t] not in FINISHED for t in shape.scope[task])
        return "wait" if verdict == "run" and held else verdict

    def _decided(self, unfinished: list[str], moved: bool, tick: dict[str, Any]) -> bool:
        if unfinished:
            checked = not any(
                self.shape.marked(t, mark) for t in unfinished for mark in BLOCKS_DEADLOCK_CHECK
            )
            if checked and not moved and not self._runnable(unfinished, tick):
                self.run_state = "failed"
            return self.run_state != "running"
        failed = any(self.state[leaf] in FAILED for leaf in self.shape.leaves)
        self.run_state = "failed" if failed else "success"
        return True

    def _runnable(self, unfinished: list[str], tick: dict[str, Any]) -> bool:
        """The deadlock check. It also asks about running tasks, and skips one that a branch passed by."""
        verdicts = [(task, self._verdict(task)) for task in unfinished]
        for task, verdict in verdicts:
            if verdict == "run":
                return True
            if verdict != "wait":
                self.state[task] = tick.setdefault("set", {})[task] = verdict
                self.passed_by = True
        return False

    def _work(self, tick: dict[str, Any]) -> None:
        now = len(self.ticks)
        for task, (start, _) in list(self.due.items()):
            if self.state[task] not in ("queued", "running"):
                del self.due[task]  # skipped by a branch or stopped by fail_fast
            elif start <= now:
                self.state[task] = "running"
        tick["end"] = {}
        for task in sorted(task for task, (_, end) in self.due.items() if end == now):
            del self.due[task]
            if self.state[task] == "running":
                self._finish(task, tick)

    def _finish(self, task: str, tick: dict[str, Any]) -> None:
        spec = self.shape.tasks[task]
        outcome = spec["outcomes"][min(self.tries[task], len(spec["outcomes"])) - 1]
        retry = outcome == "fail" and self.tries[task] <= spec["retries"]
        new = "up_for_retry" if retry else {"success": "success", "skip": "skipped"}.get(outcome, "failed")
        if new == "success" and (skipped := self.shape.skipped_by(task)):
            tick.setdefault("skip_call", []).append([task, skipped])
            self.asked[task] = skipped
            for other in skipped:
                if self.state[other] not in ("running", "success", "failed"):
                    self.state[other] = "skipped"
        self.state[task] = tick["end"][task] = new
        if new == "failed" and self.shape.case.get("fail_fast"):
            self._stop_others(task)

    def _stop_others(self, task: str) -> None:
        for other, state in self.state.items():
            if (
                other != task
                and state not in ("success", "failed")
                and not self.shape.marked(other, "teardown")
            ):
                self.state[other] = "failed" if state == "running" else "skipped"


def own_durations(case: dict[str, Any]) -> dict[str, int]:
    """The durations the case was recorded with."""
    return {task: spec.get("duration", 1) for task, spec in case["tasks"].items()}


def reproduces(case: dict[str, Any]) -> bool:
    """Whether the model gives the recorded final states, tries, run state and every recorded tick."""
    return _same(Model(Shape(case), own_durations(case)).replay(), case)


def _same(model: Model, case: dict[str, Any]) -> bool:
    recorded = (case["final"], case["tries"], case["dag_run_state"])
    return model.result() == recorded and model.ticks == case["ticks"]


def timing_class(case: dict[str, Any], seed: int = 0) -> str:
    """free, phase_free or exact, as described at the top of this module."""
    own = own_durations(case)
    recorded = (case["final"], case["tries"], case["dag_run_state"])
    shape = Shape(case)
    model = Model(shape, own).replay()
    if not _same(model, case) or model.passed_by:
        return "exact"
    if any(result != recorded for result in _six_ways(shape, own)):
        return "exact"
    rng = Random(f"timing {seed} {case['id']}")
    for _ in range(DURATION_SETS):
        durations = {task: rng.choice(DURATIONS) for task in own}
        if any(result != recorded for result in _six_ways(shape, durations)):
            return "phase_free"
    return "free"


def _six_ways(shape: Shape, durations: dict[str, int]) -> Iterator[tuple[Any, ...]]:
    for cascade, queue_ticks in product(CASCADES, (0, 1)):
        yield Model(shape, durations, cascade, queue_ticks).replay().result()
