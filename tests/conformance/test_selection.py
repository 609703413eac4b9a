"""selection.json: exactly which rows one pass of the real critical section queues, and in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from dagkit.engine.limits import UNLIMITED, Limit, LimitName, Limits
from dagkit.engine.selection import Key, Row, hidden, max_tis, select

EXECUTION = ("queued", "running")
ACTIVE = (*EXECUTION, "deferred", "awaiting_input")


class Table:
    """One recorded case as a database would hold it."""

    def __init__(self, case: dict[str, Any]):
        self.case, self.limits = case, Limits()
        self.run = {(r["dag"], r["run"]): r for r in case["runs"]}
        for ti in case["tis"]:
            for limit, places in self.needs(ti):
                kind = limit.name.kind
                state = ti.get("state", "scheduled")
                pool = case["pools"].get(ti.get("pool", "default_pool"), {})
                if state in EXECUTION and kind != "executor" \
                        or state in ACTIVE and kind.startswith("max_active_tis") \
                        or kind == "pool" and state == "deferred" and pool.get("include_deferred"):
                    limit.used += places
        for executor in case["executors"]:
            self.limits.add(LimitName("executor", executor["name"]), executor["parallelism"]).used = executor["occupied"]

    def needs(self, ti: dict[str, Any]) -> list[tuple[Limit, int]]:
        case, add = self.case, self.limits.add
        dag, task = case["dags"][ti["dag"]], case["dags"][ti["dag"]]["tasks"][ti["task"]]
        pool = ti.get("pool", "default_pool")
        slots = case["pools"].get(pool, {"slots": 0})["slots"]
        executor = ti.get("executor") or case["executors"][0]["name"]
        size = {e["name"]: e["parallelism"] for e in case["executors"]}[executor]
        needs = [(add(LimitName("pool", pool), UNLIMITED if slots == -1 else slots), ti.get("pool_slots", 1)),
                 (add(LimitName("max_active_tasks", ti["dag"], (ti["dag"], ti["run"])), dag["max_active_tasks"]), 1)]  # type: ignore[arg-type]
        for knob, run in (("max_active_tis_per_dag", None), ("max_active_tis_per_dagrun", ti["run"])):
            if task.get(knob) is not None:
                needs.append((add(LimitName(knob, f"{ti['dag']}.{ti['task']}", run), task[knob]), 1))
        return [*needs, (add(LimitName("executor", executor), size), 1)]

    def order(self, i: int) -> tuple[Any, ...]:
        ti = self.case["tis"][i]
        return -ti["priority_weight"], self.run[ti["dag"], ti["run"]]["logical_date"], ti.get("map_index", -1)

    def query(self, starved: set[Key]) -> Iterator[Row]:
        taken: Counter[tuple[str, str]] = Counter()
        for i in sorted(range(len(self.case["tis"])), key=self.order):
            ti = self.case["tis"][i]
            dag, run = self.case["dags"][ti["dag"]], self.run[ti["dag"], ti["run"]]
            row = Row(i, ti["dag"], ti["run"], ti["task"], ti.get("pool", "default_pool"), self.needs(ti))
            (pool, _), (of_run, _) = row.needs[:2]
            known_full = row.pool in self.case["pools"] and self.before[pool] >= pool.cap
            if (ti.get("state", "scheduled") == "scheduled" and run.get("state", "running") == "running"
                    and not dag.get("paused") and self.before[of_run] < of_run.cap and not known_full
                    and not hidden(row, starved)):
                taken[ti["dag"], ti["run"]] += 1
                if taken[ti["dag"], ti["run"]] <= dag["max_active_tasks"]:
                    yield row

    def queued(self) -> list[int]:
        case = self.case
        self.before = {limit: limit.used for limit in self.limits.by_name.values()}
        free = [e["parallelism"] - e["occupied"] for e in case["executors"]]
        if not any(n > 0 for n in free):
            return []
        opened = [UNLIMITED if p["slots"] == -1 else p["slots"] - self.limits.used("pool", name)
                  for name, p in case["pools"].items()]
        held = sum(e["occupied"] for e in case["executors"])
        return [row.ti for row in select(self.query, max_tis(case["max_tis_per_query"], case["parallelism"], held,
                                                             opened))]


def test_every_selection(recorded: Any, count: Any) -> None:
    wrong, possible, impossible = [], 0, 0
    for case in [c for file in recorded("selection.json") for c in file["cases"]]:
        if case.get("has_impossible_ti"):
            impossible += 1
        else:
            possible += 1
        got = Table(case).queued()
        if got != case["queued"]:
            wrong.append(f"{case['id']} ({case['kind']}): {got} instead of {case['queued']}")
    count("selection.json", possible)
    count("selection.json (impossible)", impossible)
    assert not wrong, f"{len(wrong)} of {possible + impossible} differ:\n" + "\n".join(wrong[:10])
