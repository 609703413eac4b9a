"""Random situations for the property tests, drawn from one ``random.Random``."""

from __future__ import annotations

import dataclasses
from random import Random
from typing import Any

import dagkit as dk
from dagkit.task import spec_of
from dagkit.trigger_rules import RULES

OUTCOMES = ("success", "success", "success", "fail", "fail", "fail_hard", "skip")
PLAIN_RULES = [rule for rule in RULES if rule != "all_done_setup_success"]


def script(rng: Random) -> list[str]:
    return rng.choices(OUTCOMES, k=rng.randint(0, 3))


def random_tasks(rng: Random, size: int, *, rules: list[str], kinds: float = 0.15, limits: bool = True,
                 past: bool = False) -> list[dk.Task]:
    """Tasks in a random declaration order. ``kinds``: how often a branch, short circuit, setup, ... turns up."""
    names = [f"t{i}" for i in range(size)]
    up = {t: rng.sample(names[:i], min(i, rng.choice((0, 1, 1, 2, 3)))) for i, t in enumerate(names)}
    specs: dict[str, dict[str, Any]] = {}
    for t in names:
        spec: dict[str, Any] = {"upstream": up[t], "duration": rng.choice((1, 1, 2, 3, 7)),
                                "trigger_rule": rng.choice((*rules, "all_success"))}
        if rng.random() < 0.4:
            spec |= {"retries": rng.randint(1, 3), "retry_delay": rng.choice((0, 1, 2, 2.5, 4))}
            if rng.random() < 0.2:
                spec |= {"retry_exponential_backoff": rng.choice((True, 1, 1.5)),
                         "max_retry_delay": rng.choice((None, 5))}
        if rng.random() < kinds / 3:
            spec["execution_timeout"] = rng.choice((1, 2, 2.5))
        below = [d for d in names if t in up[d]]
        if rng.random() < kinds:
            spec |= rng.choice(({"branch": rng.sample(below, rng.randint(0, len(below)))},
                                {"short_circuit": "hard"}, {"short_circuit": "soft"}, {"is_setup": True},
                                {"is_teardown": True, "trigger_rule": "all_success",
                                 "on_failure_fail_dagrun": rng.random() < 0.5},
                                {"empty": True}))
        if limits:
            spec |= {"priority_weight": rng.choice((0, 1, 1, 2, -3, 9)), "pool": rng.choice(("p", "q", "default_pool")),
                     "weight_rule": rng.choice(("downstream", "upstream", "absolute")),
                     "pool_slots": rng.choice((1, 1, 1, 2, 3))}
            if rng.random() < 0.15:
                spec["max_active_tis_per_dag"] = rng.randint(1, 2)
            if rng.random() < 0.1:
                spec["max_active_tis_per_dagrun"] = 1
        if past and rng.random() < 0.3:
            spec[rng.choice(("depends_on_past", "wait_for_downstream"))] = True
        specs[t] = spec
    if size > 2 and rng.random() < 2 * kinds:
        setup, teardown = (names[i] for i in sorted(rng.sample(range(size), 2)))
        for name, kind in ((setup, "is_setup"), (teardown, "is_teardown")):
            for other in ("branch", "short_circuit", "empty", "is_setup", "is_teardown"):
                specs[name].pop(other, None)
            specs[name][kind] = True
        specs[teardown] |= {"trigger_rule": "all_success", "on_failure_fail_dagrun": rng.random() < 0.5,
                            "upstream": list(dict.fromkeys([*specs[teardown]["upstream"], setup]))}
    declared = rng.sample(names, size)
    return [dk.Task(t, **specs[t]) for t in declared]


def random_dag(rng: Random, dag_id: str = "d", size: int | None = None, **options: Any) -> dk.Dag:
    fail_fast = rng.random() < 0.15
    tasks = random_tasks(rng, size or rng.randint(1, 9), rules=["all_success"] if fail_fast else PLAIN_RULES, **options)
    return dk.Dag(dag_id, tasks, fail_fast=fail_fast,
                  max_active_tasks=rng.choice((1, 2, 3, 16)) if options.get("limits", True) else 10_000,
                  max_active_runs=rng.choice((1, 2, 16)),
                  dagrun_timeout=rng.choice((3, 8, 20.5)) if rng.random() < 0.15 else None)


def random_scenario(rng: Random, pacing: str | None = None) -> dk.Scenario:
    """Anything the reference scheduler can play: several Dags and runs, every limit, every rule."""
    several = rng.random() < 0.3
    past = rng.random() < 0.4
    dags = [random_dag(rng, dag_id, past=past) for dag_id in (("d", "e") if several else ("d",))]
    runs = {dag.dag_id: dk.Runs(rng.choice((1, 1, 2, 3)), every=rng.choice((0, 0, 1, 4)), start=rng.choice((1, 1, 3)))
            for dag in dags}
    names = sorted({task.task_id for dag in dags for task in dag})
    # Some situations hold a pool that does not exist, or one too small: Airflow accepts both.
    pools = {"p": rng.choice((1, 2, 3, 4)), "q": rng.choice((3, 5, -1)), "default_pool": rng.choice((3, 128))}
    if rng.random() < 0.1:
        pools.pop("p")
    elif rng.random() < 0.05:
        pools["p"] = 0
    return dk.Scenario(
        dags, pools=pools, runs=runs,
        outcomes={t: script(rng) for t in names if rng.random() < 0.5},
        durations={t: rng.randint(1, 5) for t in names if rng.random() < 0.1},
        initial={rng.choice(names): rng.choice(("success", "failed", "skipped", "removed"))}
        if rng.random() < 0.15 else None,
        executor=dk.LocalExecutor(parallelism=rng.choice((None, 1, 3)), handover=rng.choice((0, 1, 1, 3))),
        config=dk.Config(pacing=pacing or rng.choice(("lesson", "airflow")), parallelism=rng.choice((1, 2, 4, 32)),
                         schedulers=rng.choice((1, 1, 2)), max_tis_per_query=rng.choice((0, 1, 2, 16))))


def may_be_skipped_while_running(scenario: dk.Scenario) -> bool:
    """Whether a task may start before a branch, short circuit or setup above it has decided.

    Airflow can then set its state while it runs, in a pass in which nothing else happens: see test_lifecycle.
    """
    early = ("always", "one_success", "one_failed", "one_done")
    return any(task.trigger_rule in early and (
        any(dag[u].branch is not None or dag[u].short_circuit is not None for u in task.upstream)
        or any(other.is_setup for other in dag)) for dag in scenario.dags for task in dag)


def random_changes(rng: Random, scenario: dk.Scenario) -> dk.Scenario:
    """The scenario with one to three changes on the way: pools, parallelism, outcomes, clearing."""
    labels = sorted({task.task_id for dag in scenario.dags for task in dag}
                    | {f"{dag.dag_id}.{task.task_id}" for dag in scenario.dags for task in dag})
    changes: list[tuple[int, dict[str, Any]]] = []
    for tick in sorted(rng.randint(1, 20) for _ in range(rng.randint(1, 3))):
        change: dict[str, Any] = {}
        if rng.random() < 0.6:
            change["clear"] = rng.sample(labels, rng.randint(1, min(3, len(labels))))
        if rng.random() < 0.4:
            change["pools"] = {rng.choice(("p", "q")): rng.choice((0, 1, 2, 9))}
        if rng.random() < 0.3:
            change["outcomes"] = {rng.choice(labels).rpartition(".")[2]: script(rng)}
        if rng.random() < 0.2 or not change:
            change["config"] = dataclasses.replace(scenario.config, parallelism=rng.choice((1, 2, 5)))
        changes.append((tick, change))
    return scenario.replace(changes=tuple(changes))


def mapped_scenario(rng: Random) -> dk.Scenario:
    """Mapped tasks over results and literals, chained and grouped, with pools, caps, failures and several runs."""
    names = [f"t{i}" for i in range(rng.randint(2, 6))]
    grouped = rng.random() < 0.3
    tasks = []
    for i, name in enumerate(names):
        spec: dict[str, Any] = {
            "upstream": rng.sample(names[:i], min(i, rng.choice((0, 1, 1, 2)))), "duration": rng.choice((1, 1, 2, 5)),
            "trigger_rule": rng.choice((*PLAIN_RULES, "all_success", "all_success", "all_done")),
            "retries": rng.choice((0, 0, 1, 2)), "retry_delay": rng.choice((0, 1, 3)),
            "returns": rng.choice((None, 0, 1, 3))}
        if i and rng.random() < 0.5:
            spec["expand"] = {"x": rng.choice((rng.choice(names[:i]), rng.randint(0, 4)))}
            if rng.random() < 0.2:
                spec["expand"]["y"] = 2
        elif i and grouped and rng.random() < 0.5:
            spec["task_group"] = "g"
        if rng.random() < 0.3:
            spec |= {"pool": "p", "pool_slots": rng.randint(1, 2)}
        if rng.random() < 0.2:
            spec["max_active_tis_per_dagrun"] = rng.randint(1, 2)
        if rng.random() < 0.1:
            spec["depends_on_past"] = True
        tasks.append(dk.Task(name, **spec))
    groups = {"g": {"x": rng.choice((names[0], 3))}} if any(t.task_group for t in tasks) else {}
    outcomes = {name: rng.choices(("success", "success:2", "success:5", "success:0", "fail", "skip"), k=2)
                for name in names if rng.random() < 0.5}
    outcomes |= {f"{task.task_id}[{rng.randint(0, 3)}]": [rng.choice(("fail", "skip", "fail_hard"))]
                 for task in tasks if (task.expand or task.task_group) and rng.random() < 0.5}
    return dk.Scenario(
        dk.Dag("d", tasks, groups=groups, max_active_tasks=rng.choice((2, 16))), outcomes=outcomes,
        pools={"p": rng.choice((2, 3))}, runs=rng.choice((1, 1, 2)),
        executor=dk.LocalExecutor(handover=rng.choice((0, 1, 2))),
        config=dk.Config(pacing=rng.choice(("lesson", "airflow")), max_map_length=rng.choice((4, 1024)),
                         max_tis_per_query=rng.choice((0, 1, 16))))


def waiting_scenario(rng: Random) -> dk.Scenario:
    """Sensors, deferrals, human input, queues and workers, faults, pools that count deferred tasks."""
    plain = random_scenario(rng) if rng.random() < 0.7 else mapped_scenario(rng)
    dags = []
    for dag in plain.dags:
        specs = {task.task_id: spec_of(task) for task in dag}
        for spec in specs.values():
            if rng.random() < 0.35 and not spec.get("empty"):
                spec["wait"] = rng.choice((
                    dk.Sensor(rng.choice((None, 0, 9)), rng.choice(("poke", "reschedule")), 3, rng.choice((5, 20))),
                    dk.Deferral(1, rng.choice((None, 0, 5)), 2, rng.choice((None, 3))),
                    dk.HumanInput(1, rng.choice((None, 4)), 1, rng.choice((None, 3)), rng.random() < 0.5)))
            spec["queue"] = rng.choice(("default", "default", "gpu"))
        dags.append(dk.Dag.from_dict(specs, dag.dag_id, **dag.options()))
    names = [task.task_id for dag in dags for task in dag]
    faults = [rng.choice((dk.LoseWorker(rng.randint(1, 9), task=rng.choice(names)), dk.LoseScheduler(rng.randint(1, 9)),
                          dk.LoseMessage(rng.randint(1, 9), rng.choice(names))))
              for _ in range(rng.choice((0, 0, 1, 2)))]
    workers = [dk.Worker(rng.randint(1, 3), "default", "w1"), dk.Worker(1, "gpu", "w2")][:rng.randint(1, 2)]
    executor = rng.choice((plain.executor, dk.CeleryExecutor(workers=workers, handover=rng.choice((0, 1, 2))),
                           dk.LocalExecutor(parallelism=2, remember_dispatched=False),
                           dk.KubernetesExecutor(max_pods=2, handover=2)))
    config = dataclasses.replace(
        plain.config, task_queued_timeout=rng.choice((4, 60)), task_queued_timeout_check_interval=3,
        task_instance_heartbeat_timeout=7, task_instance_heartbeat_timeout_detection_interval=3,
        scheduler_health_check_threshold=4, triggerer_capacity=rng.choice((1, 1000)), triggerers=rng.choice((0, 1, 1)))
    pools = {name: dk.Pool(pool.slots, rng.random() < 0.4) for name, pool in plain.pools.items()}
    return plain.replace(dags=dags, runs=plain.runs, faults=faults, config=config, executor=executor, pools=pools)
