"""The numbers and states in the question ladders: each is asked of the simulator or the planner, none is typed in."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .. import examples, planning, trigger_rules
from ..engine import simulate
from ..errors import DagkitError, choices, nearest, shown
from ..scenario import Config
from . import scenes
from . import scenes_beyond as beyond
from .choosing_kinds import POD_START, played

PUBLISHED = {"p95_celery_50k": 23.582, "p95_hints_100k": 0.228, "p95_hints_300k": 0.294}
"""Seconds to a task's start, 95th percentile, as Astronomer published them in 2026: read, not computed."""


def _limits(name: str) -> Callable[[], Any]:
    def found() -> Any:
        from ..lesson.lessons import lesson
        return lesson(5).known[name]
    return found


def _at(task: str, state: str, nth: int = 0) -> Callable[[], int]:
    """The tick at which a task of ``orders`` comes into a state for the nth time."""
    def found() -> int:
        trace = simulate(examples.orders())
        ticks = [tick for tick, now in trace.changes[trace.labels.index(task)] if now == state and tick]
        return ticks[nth]
    return found


def _final(task: str) -> Callable[[], str]:
    return lambda: str(simulate(examples.orders()).final_states[task])


def _stuck(why: str, what: str = "state") -> Callable[[], str]:
    from ..lesson.lessons import limits_and_pools
    return lambda: limits_and_pools.stalled(why)[what]


FACTS: dict[str, Callable[[], Any]] = {
    # 1 shape
    "ring": lambda: scenes.find("ring").lines[0],
    "day_1": lambda: planning.makespan(scenes.six_files(), 1), "day_2": lambda: planning.makespan(scenes.six_files(), 2),
    "day_4": lambda: planning.makespan(scenes.six_files(), 4), "day_6": lambda: planning.makespan(scenes.six_files(), 6),
    "day_8": lambda: planning.makespan(scenes.six_files(), 8),
    "knee": lambda: planning.saturation_slots(scenes.six_files()),
    "floor": lambda: planning.critical_path(examples.file_fanout()).length,
    "one_faster": lambda: planning.critical_path(planning.what_if(examples.file_fanout(), process=1)).length,
    "both_faster": lambda: planning.critical_path(planning.what_if(examples.file_fanout(), process=1, load_dim=2)).length,
    "graham_3": lambda: planning.makespan(examples.graham_anomaly(), 3),
    "graham_4": lambda: planning.makespan(examples.graham_anomaly(), 4),
    "map_limit": lambda: Config().max_map_length,
    "long_producer": lambda: scenes.find("too_long").trace.final_states["list_files"],
    "long_mapped": lambda: scenes.find("too_long").trace.final_states["process"],
    # 2 states
    "stuck_pool": _stuck("pool of 1"), "stuck_workers": _stuck("1 worker slot"),
    "stuck_parallelism": _stuck("parallelism 1, 4 worker slots"),
    "stuck_scheduler": _stuck("the scheduler died at tick 3"),
    "why_workers": _stuck("1 worker slot", "why"), "why_pool": _stuck("pool of 1", "why"),
    "cleared_state": lambda: scenes.find("cleared").trace.states_at(3)["load"],
    # 3 orders
    "orders_end": lambda: simulate(examples.orders()).last_tick,
    "orders_wide_end": lambda: scenes.find("orders_wide").trace.last_tick,
    "orders_run": lambda: simulate(examples.orders()).run_state,
    "publish": _final("publish"), "cleanup": _final("cleanup_tmp"),
    "transform_failed_at": _at("transform", "up_for_retry"), "transform_again_at": _at("transform", "running", 1),
    "users_queued_at": _at("extract_users", "queued"), "publish_at": _at("publish", "upstream_failed"),
    "users_why": lambda: simulate(examples.orders()).explain("extract_users", tick=1).text,
    "watched_run": lambda: scenes.find("orders_watched").trace.run_state,
    # 4 rules
    "join_default": lambda: scenes.find("join_default").trace.final_states["join"],
    "clean_after_short": lambda: scenes.find("short_circuit").trace.final_states["clean"],
    "mapped_no_list": lambda: scenes.find("producer_failed").trace.final_states["each"],
    "alarm_at": lambda: next(t for t, s in scenes.find("early").trace.changes[2] if s == "running"),
    "slow_done": lambda: scenes.find("early").trace.changes[1][-1][0],
    "teardown_run": lambda: scenes.find("teardown").trace.run_state,
    "close_state": lambda: scenes.find("teardown").trace.final_states["close"],
    "rules": lambda: len(trigger_rules.RULES),
    # 5 limits
    **{name: _limits(name) for name in (
        "days", "flood_at_once", "flood_report", "pool_report", "pool_end", "runs_end", "due", "big_starts", "big_own",
        "quick_hidden", "quick_wide", "poke", "reschedule", "poke_held", "reschedule_held", "defer_held",
        "two_runs", "one", "two")},
    # 6 executors
    "pod_start": lambda: POD_START, "short_workers": lambda: played(5)["CeleryExecutor"],
    "short_pods": lambda: played(5)["KubernetesExecutor"], "short_batched": beyond.batched,
    "long_loss": lambda: f"{played(300)['KubernetesExecutor'] / played(300)['CeleryExecutor'] - 1:.0%}".replace("%", " %"),
    "wrong_queue": lambda: scenes.find("wrong_queue").trace.states_at(3)["train"],
    # 7 architecture
    "rows_a_day": lambda: f"{200 * 30 * 24:,}", "rows_a_month": lambda: f"{200 * 30 * 24 * 30 / 1e6:.1f}",
    "message_found": beyond.lost_message_found, "queued_timeout": lambda: Config().task_queued_timeout,
    "queued_check": lambda: Config().task_queued_timeout_check_interval,
    "queued_retries": lambda: Config().num_stuck_in_queued_retries,
    "heartbeat_timeout": lambda: Config().task_instance_heartbeat_timeout,
    "worker_found": lambda: next(t for t, s in beyond.lost_worker_trace().changes[0] if s == "up_for_retry"),
    "no_triggerer": lambda: scenes.find("no_triggerer").trace.states_at(6)["wait"],
    "triggers": lambda: f"{Config().triggerer_capacity:,}",
    # 8 high availability
    "health": lambda: Config().scheduler_health_check_threshold,
    "alone_b": lambda: beyond.scheduler_lost(1).final_states["b"],
    "two_run": lambda: beyond.scheduler_lost(2).run_state, "two_tries": lambda: beyond.scheduler_lost(2).tries["a"],
    # 9 polling
    "chain_airflow": lambda: beyond.chain("airflow").last_tick, "chain_lesson": lambda: beyond.chain("lesson").last_tick,
    "p95_celery_50k": lambda: f"{PUBLISHED['p95_celery_50k']:.1f} s",
    "p95_hints_100k": lambda: f"{PUBLISHED['p95_hints_100k'] * 1000:.0f} ms",
    "p95_hints_300k": lambda: f"{PUBLISHED['p95_hints_300k'] * 1000:.0f} ms",
    "p95_times": lambda: f"{PUBLISHED['p95_celery_50k'] / PUBLISHED['p95_hints_100k']:.0f}",
    # 11 your own Dag
    "your_1": lambda: planning.makespan(beyond.your_dag(), 1), "your_2": lambda: planning.makespan(beyond.your_dag(), 2),
    "your_3": lambda: planning.makespan(beyond.your_dag(), 3),
    "your_knee": lambda: planning.saturation_slots(beyond.your_dag()),
    "your_floor": lambda: planning.critical_path(beyond.your_dag()).length,
    "your_path": lambda: " > ".join(planning.critical_path(beyond.your_dag()).path),
    "your_width": lambda: max(map(len, planning.waves(beyond.your_dag()))),
    # 12 dates
    "catchup_on": lambda: len(beyond.due(True)), "catchup_off": lambda: len(beyond.due(False)),
    "again_tries": lambda: scenes.find("again").trace.tries["load"],
}


@cache
def fact(name: str) -> Any:
    """A fact by its name, computed once. Raises DagkitError with the nearest known name.

    >>> fact("knee"), fact("publish")
    (7, 'upstream_failed')
    """
    if name not in FACTS:
        raise DagkitError(f"there is no fact '{shown(name)}'.{nearest(name, FACTS)} Known: {choices(FACTS, 12)}.")
    return FACTS[name]()


class _Facts(dict[str, Any]):
    def __missing__(self, name: str) -> Any:
        return fact(name)


def filled(text: str) -> str:
    """A text of the ladders with its facts put in.

    >>> filled("{knee} slots")
    '7 slots'
    """
    return text.format_map(_Facts())
