"""Random questions for trigger_rules.json, priority_weights.json, retry_delay.json and selection.json."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from random import Random
from typing import Any

from airflow_check.generate_runs import RULES

STATES = ("none", "success", "failed", "skipped", "upstream_failed", "removed")
ALL_RULES = (*RULES, "all_done_setup_success")
UNFINISHED = ("running", "queued", "deferred", "awaiting_input")


def plain_rules(rng: Random) -> list[dict[str, Any]]:
    """Every multiset of up to 3 upstream states under every rule, and random ones of 4 to 7."""
    small = [states for n in (1, 2, 3) for states in combinations_with_replacement(STATES, n)]
    found = [{"rule": rule, "upstream": list(states)} for states in small for rule in ALL_RULES]
    for _ in range(30):
        states = [rng.choice(STATES) for _ in range(rng.randint(4, 7))]
        found += [{"rule": rule, "upstream": states} for rule in ALL_RULES]
    return found


def setup_teardown_rules(rng: Random, count: int = 400) -> list[dict[str, Any]]:
    """A random part of the many ways to combine setups, tasks and teardowns."""
    down = "all_done_setup_success"
    found: list[dict[str, Any]] = []
    for setups, tasks in product(range(4), range(4)):
        if not 1 <= setups + tasks <= 4:
            continue
        for states in product(STATES, repeat=setups + tasks):
            head, tail = list(states[:setups]), list(states[setups:])
            if head == sorted(head) and tail == sorted(tail):
                found.append({"kind": "teardown_direct", "rule": down, "setups": head, "tasks": tail})
    for setup, a, b in product(STATES, repeat=3):
        scope = {"setup": setup, "inner_indirect": a, "inner_direct": b}
        found.append({"kind": "teardown_scope", "rule": down} | scope)
    for rule, setup, direct in product(RULES, STATES, STATES):
        found.append({"kind": "indirect_setup", "rule": rule, "indirect_setup": setup, "direct_task": direct})
    return rng.sample(found, min(count, len(found)))


def weights(rng: Random, number: int) -> dict[str, Any]:
    """A random Dag with weights; most use one weight rule throughout, some a rule per task."""
    names = [f"t{i:02d}" for i in range(rng.choice((1, 3, 5, 8, 12, 20)))]
    dense = rng.choice((0.1, 0.3, 0.6))
    rule = rng.choice(("downstream", "upstream", "absolute", "mixed"))
    tasks: dict[str, Any] = {}
    for i, name in enumerate(names):
        upstream = [other for other in names[:i] if rng.random() < dense]
        own = rng.choice(("downstream", "upstream", "absolute")) if rule == "mixed" else rule
        weight = rng.choice((1, 1, 1, 0, 2, 3, 5, 10, 100, -2, -7))
        tasks[name] = {"upstream": upstream, "priority_weight": weight, "weight_rule": own}
    return {"id": f"w{number:03d}", "tasks": tasks}


def retry_row(rng: Random, number: int) -> dict[str, Any]:
    """One task with a retry delay, a backoff and a cap, and the attempts to ask about."""
    return {
        "task_id": f"r{number}",
        "retry_delay": rng.choice((0, 1, 2, 7, 10, 45, 60, 299, 300, 1800, 3600, 86400, 100000)),
        "backoff": rng.choice((0, True, 1, 2, 3, 4, 10, 1.1, 1.5, 0.5)),
        "max_retry_delay": rng.choice((None, None, 1, 60, 600, 3600, 90000)),
        "attempts": sorted(rng.sample(range(1, 13), 6)),
    }


SELECTION_KINDS = ("basic", "limits", "pools", "mixed", "executors", "window")


def selection(rng: Random, number: int) -> dict[str, Any]:
    """Task instances of several Dags and runs, with limits that get in their way."""
    kind = SELECTION_KINDS[number % len(SELECTION_KINDS)]
    case: dict[str, Any] = {"id": f"q{number:04d}", "kind": kind}
    held = rng.choice((0, 0, 1, 2, 5))
    case["parallelism"] = rng.choice((2, 4, 8, 16, 32, 32)) + held
    if kind == "window":
        case["parallelism"] = 32 + held
    case["max_tis_per_query"] = (
        rng.choice((1, 2, 3, 4, 6)) if kind == "window" else rng.choice((0, 0, 2, 4, 7, 16, 16, 16))
    )
    case["executors"] = _executors(rng, kind, case["parallelism"], held)
    case["pools"] = _pools(rng, kind)
    case["dags"] = {f"d{i}": _dag(rng, kind) for i in range(rng.randint(1, 4))}
    case["runs"] = _runs(rng, case["dags"])
    case["tis"] = [ti for run in case["runs"] for ti in _instances(rng, case, run)]
    case["has_impossible_ti"] = any(impossible(ti, case["pools"]) for ti in case["tis"])
    return case


def impossible(ti: dict[str, Any], pools: dict[str, Any]) -> bool:
    """An unknown pool, or more slots than the pool has: Airflow accepts it and never runs it."""
    pool = pools.get(ti.get("pool", "default_pool"))
    return pool is None or (pool["slots"] != -1 and ti.get("pool_slots", 1) > pool["slots"])


def _executors(rng: Random, kind: str, parallelism: int, held: int) -> list[dict[str, Any]]:
    if kind != "executors":
        return [{"name": "default", "parallelism": parallelism, "occupied": held}]
    first = {"name": "default", "parallelism": rng.choice((held + 1, held + 3, 32 + held)), "occupied": held}
    more = [{"name": "other", "parallelism": rng.choice((1, 2, 4, 16)), "occupied": rng.choice((0, 0, 1))}]
    return [first, *more]


def _pools(rng: Random, kind: str) -> dict[str, Any]:
    pools: dict[str, Any] = {"default_pool": {"slots": 128}}
    if kind in ("pools", "mixed", "window") or rng.random() < 0.4:
        for name in ("p0", "p1", "p2")[: rng.randint(1, 3)]:
            pools[name] = {"slots": rng.choice((-1, 0, 1, 2, 3, 5, 5, 8, 8, 13))}
            if rng.random() < 0.3:
                pools[name]["include_deferred"] = True
    if kind == "pools" and rng.random() < 0.3:
        pools["default_pool"]["slots"] = rng.choice((0, 2, 4))
    return pools


def _dag(rng: Random, kind: str) -> dict[str, Any]:
    tasks: dict[str, Any] = {}
    for i in range(rng.randint(2, 8)):
        limits: dict[str, Any] = {}
        if kind in ("limits", "mixed", "window") and rng.random() < 0.4:
            limits["max_active_tis_per_dag"] = rng.choice((1, 2, 3, 5))
        if kind in ("limits", "mixed", "window") and rng.random() < 0.3:
            limits["max_active_tis_per_dagrun"] = rng.choice((1, 2))
        tasks[f"t{i}"] = limits
    found = {"max_active_tasks": rng.choice((1, 2, 3, 4, 6, 16, 16)), "tasks": tasks}
    return found | ({"paused": True} if rng.random() < 0.06 else {})


def _runs(rng: Random, dags: dict[str, Any]) -> list[dict[str, Any]]:
    """No two runs share a logical date, so that no two task instances can tie."""
    days = rng.sample(range(1, 29), 20)
    found = []
    for dag in dags:
        for i in range(rng.randint(1, 5)):
            run = {"dag": dag, "run": f"r{i}", "logical_date": f"2026-01-{days.pop():02d}T00:00:00"}
            state = rng.choices(("running", "queued", "success", "failed"), weights=(90, 5, 3, 2))[0]
            found.append(run | ({} if state == "running" else {"state": state}))
    return found


def _instances(rng: Random, case: dict[str, Any], run: dict[str, Any]) -> list[dict[str, Any]]:
    names = list(case["dags"][run["dag"]]["tasks"])
    priorities = rng.sample(range(-5, 40), len(names))  # unique inside a run
    found = []
    for name, priority in zip(names, priorities, strict=True):
        base = {"dag": run["dag"], "run": run["run"], "task": name, "priority_weight": priority}
        base |= _demands(rng, case)
        indexes = [-1] if rng.random() < 0.75 else list(range(rng.randint(2, 5)))
        for index in indexes:
            ti = base | ({} if index < 0 else {"map_index": index})
            if rng.random() < 0.28:
                ti["state"] = rng.choice((*UNFINISHED, "running", "none", "success", "up_for_retry"))
            found.append(ti)
    return found


def _demands(rng: Random, case: dict[str, Any]) -> dict[str, Any]:
    wants: dict[str, Any] = {}
    pools = [name for name in case["pools"] if name != "default_pool"]
    if pools and rng.random() < (0.6 if case["kind"] in ("pools", "window") else 0.3):
        wants["pool"] = rng.choice(pools)
    if case["kind"] in ("pools", "mixed", "window") and rng.random() < 0.01:
        wants["pool"] = "nopool"
    if case["kind"] != "basic" and rng.random() < 0.2:
        wants["pool_slots"] = rng.choice((2, 2, 2, 3, 5))
    if len(case["executors"]) > 1 and rng.random() < 0.4:
        wants["executor"] = "other"
    return wants
