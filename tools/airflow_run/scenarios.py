"""The Dags that are run for real. No outcome here hangs on which of two tasks happens to be quicker."""

from __future__ import annotations

from pathlib import Path

import dagkit as dk


def orders_daily() -> dk.Scenario:
    """The Dag file of the architecture lesson, with minutes shrunk to ticks: four files, one of which fails at first."""
    dag = dk.load(Path(__file__).resolve().parents[2] / "notebooks" / "data" / "orders_daily.py").dag
    for task_id, changes in {"list_files": {"returns": 4}, "process": {"duration": 2}, "publish": {}}.items():
        dag = dag.replace(task_id, retry_delay=1, **changes)
    return dk.Scenario(dag, pools={"orders_db": 1}, outcomes={"process[2]": ["fail"]}, durations={"process[3]": 4})


def rules() -> dk.Scenario:
    """Every trigger rule once, behind a task that succeeds, one that fails and one that is skipped; a branch; a
    teardown."""
    ends = {"ok": ["success"], "bad": ["fail"], "gone": ["skip"]}
    joins = {
        "all_success": ["ok", "left"], "all_failed": ["bad"], "all_done": ["ok", "bad", "gone"],
        "one_success": ["ok"], "one_failed": ["bad"], "one_done": ["ok", "bad"], "none_failed": ["ok", "gone"],
        "none_failed_min_one_success": ["ok", "gone"], "none_skipped": ["ok", "bad"], "all_skipped": ["gone"],
        "all_done_min_one_success": ["ok", "bad"], "always": ["bad"],
    }
    return dk.Scenario(
        dk.Dag("rules", [
            *(dk.Task(name) for name in ends),
            dk.Task("choose", branch=["left"]), dk.Task("left", "choose"), dk.Task("right", "choose"),
            dk.Task("after_branch", ["left", "right"], trigger_rule="none_failed_min_one_success"),
            *(dk.Task(f"by_{rule}", ups, trigger_rule=rule) for rule, ups in joins.items()),
            dk.Task("refused", ["bad"]), dk.Task("left_out", ["gone"]),
            dk.Task("make_cluster", is_setup=True), dk.Task("use_cluster", "make_cluster"),
            dk.Task("drop_cluster", ["make_cluster", "use_cluster"], is_teardown=True),
        ]),
        outcomes={**ends, "use_cluster": ["fail"]})


def mapping() -> dk.Scenario:
    """A width known at run time, one that is empty, one over another, a failure among the instances."""
    return dk.Scenario(
        dk.Dag("mapping", [
            dk.Task("list_days", returns=3), dk.Task("list_none", returns=0),
            dk.Task("clean", "list_days", expand={"day": "list_days"}, duration=2),
            dk.Task("check", "clean", expand={"day": "clean"}),
            dk.Task("pairs", expand={"left": 2, "right": 2}),
            dk.Task("nothing", "list_none", expand={"day": "list_none"}),
            dk.Task("after_nothing", "nothing", trigger_rule="none_failed"),
            dk.Task("strict", "check"), dk.Task("report", ["check", "pairs"], trigger_rule="all_done"),
        ]),
        outcomes={"check[1]": ["fail"]}, durations={"clean[0]": 3})


def pools() -> dk.Scenario:
    """A pool of two slots, a task that takes both, priorities, and a task that must not overlap itself."""
    return dk.Scenario(
        dk.Dag("pools", [
            *(dk.Task(f"read_{k}", pool="warehouse", priority_weight=k, weight_rule="absolute") for k in range(1, 5)),
            dk.Task("big_read", pool="warehouse", pool_slots=2, priority_weight=9, weight_rule="absolute"),
            dk.Task("one_by_one", expand={"part": 3}, max_active_tis_per_dagrun=1),
            dk.Task("done", ["read_1", "read_2", "read_3", "read_4", "big_read", "one_by_one"]),
        ], max_active_tasks=4),
        pools={"warehouse": 2})


def retries() -> dk.Scenario:
    """Success on the third try, tries used up, a failure that forbids a retry, a timeout, a growing delay."""
    return dk.Scenario(
        dk.Dag("retries", [
            dk.Task("third_time", retries=3, retry_delay=1), dk.Task("never", retries=1, retry_delay=1),
            dk.Task("no_second_try", retries=3, retry_delay=1),
            dk.Task("too_slow", duration=4, execution_timeout=2, retries=1, retry_delay=1),
            dk.Task("patient", retries=2, retry_delay=1, retry_exponential_backoff=True),
            dk.Task("after_never", "never"), dk.Task("after_third", "third_time"),
            dk.Task("tidy", ["after_third", "after_never", "no_second_try", "too_slow", "patient"],
                    trigger_rule="all_done"),
            dk.Task("watcher", ["tidy", "never", "no_second_try", "too_slow"], trigger_rule="one_failed"),
        ]),
        outcomes={"third_time": ["fail", "fail"], "never": ["fail", "fail"], "no_second_try": ["fail_hard"],
                  "patient": ["fail", "fail"], "watcher": ["fail"]})


def groups() -> dk.Scenario:
    """A mapped task group, both kinds of short circuit, latest-only, an empty task; a task declared before its source."""
    return dk.Scenario(
        dk.Dag("groups", [
            dk.Task("last", ["b", "other"], trigger_rule="all_done"), dk.Task("other"),
            dk.Task("a", task_group="per_day"), dk.Task("b", ["a", "other"], task_group="per_day", retries=1),
            dk.Task("each", expand={"x": "days"}), dk.Task("days", returns=3),
            dk.Task("cut", short_circuit="hard"), dk.Task("after_cut", "cut", trigger_rule="all_done"),
            dk.Task("soft", short_circuit="soft"), dk.Task("after_soft", "soft"),
            dk.Task("end", "after_soft", trigger_rule="all_done"),
            dk.Task("marker", empty=True), dk.Task("latest", "marker", latest_only=True), dk.Task("after_latest", "latest"),
        ], groups={"per_day": {"day": "days"}}),
        outcomes={"a[1]": ["fail"], "b[0]": ["fail"]})


SCENARIOS = {"orders": dk.examples.orders, "orders_daily": orders_daily, "rules": rules, "mapping": mapping,
             "pools": pools, "retries": retries, "groups": groups}
