"""Parameters of Airflow operators as parameters of ``dagkit.Task``: names agree, odd values are told and
left out.

Times are in seconds. Defaults are Airflow's: https://airflow.apache.org/docs/apache-airflow/stable/configurations-ref.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import shown
from ..trigger_rules import RULES
from .draft import Draft, label, seconds

RETRY_DELAY = 300
"""Airflow's ``[core] default_task_retry_delay``, in seconds."""

_OLD_RULES = {"dummy": "always", "none_failed_or_skipped": "none_failed_min_one_success"}
_WHOLE = {"retries": 0, "pool_slots": 1, "max_active_tis_per_dag": 1, "max_active_tis_per_dagrun": 1}
_TIMES = ("retry_delay", "max_retry_delay", "execution_timeout")
_WORDS = ("pool", "queue", "executor")
_FLAGS = (
    "depends_on_past",
    "wait_for_downstream",
    "ignore_first_depends_on_past",
    "is_setup",
    "is_teardown",
    "on_failure_fail_dagrun",
)
NAMES = (
    *_WHOLE,
    *_TIMES,
    *_WORDS,
    *_FLAGS,
    "retry_exponential_backoff",
    "trigger_rule",
    "weight_rule",
    "priority_weight",
)
"""What is looked at."""

DAG_NAMES = (
    "max_active_tasks",
    "max_active_runs",
    "max_consecutive_failed_dag_runs",
    "dagrun_timeout",
    "fail_fast",
    "fail_stop",
)


def task_parameters(draft: Draft, task_id: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a task that ``dagkit.Task`` knows, checked one by one."""
    made: dict[str, Any] = {}
    for name in NAMES:
        value = given.get(name)
        if value is None:
            continue
        clean = _clean(name, value)
        if clean is None:
            draft.note(f"Task '{shown(task_id)}': {name} {shown(repr(value))} was ignored.")
        else:
            made[name] = clean
    if made.get("retries"):
        made.setdefault("retry_delay", RETRY_DELAY)
    else:
        for name in ("retry_delay", "max_retry_delay", "retry_exponential_backoff"):
            made.pop(name, None)
    if made.get("is_teardown"):
        made.pop("trigger_rule", None)
        made.pop("is_setup", None)
    if given.get("empty"):
        made["empty"] = True
    return made


def _clean(name: str, value: Any) -> Any:
    """The value as the kit takes it, or None."""
    if name in _WHOLE:
        return value if type(value) is int and value >= _WHOLE[name] else None
    if name in _TIMES:
        found = seconds(value)
        return found if found or name == "retry_delay" else None
    if name in _WORDS:
        return value if isinstance(value, str) and value else None
    if name in _FLAGS:
        return value if type(value) is bool else None
    if name == "priority_weight":
        return value if type(value) is int else None
    if name == "retry_exponential_backoff":
        return value if type(value) is bool else seconds(value)
    rule = label(value).lower()
    if name == "trigger_rule":
        rule = _OLD_RULES.get(rule, rule)
        return rule if rule in RULES else None
    # a weight rule may be written as the strategy class behind it
    return next((known for known in ("downstream", "upstream", "absolute") if known in rule), None)


def dag_options(draft: Draft, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a Dag that ``dagkit.Dag`` knows."""
    made: dict[str, Any] = {}
    for name in ("max_active_tasks", "max_active_runs"):
        if type(given.get(name)) is int and given[name] >= 1:
            made[name] = given[name]
    failed = given.get("max_consecutive_failed_dag_runs")
    if type(failed) is int and failed > 0:
        made["max_consecutive_failed_dag_runs"] = failed
    timeout = seconds(given.get("dagrun_timeout"))
    if timeout:
        made["dagrun_timeout"] = timeout
    rules = {
        spec.get("trigger_rule", "all_success")
        for spec in draft.specs.values()
        if not spec.get("is_teardown")
    }
    if given.get("fail_fast") is True or given.get("fail_stop") is True:
        if rules <= {"all_success"}:
            made["fail_fast"] = True
        else:
            draft.note("fail_fast was ignored: Airflow allows it only if every task has all_success.")
    return made


def add_expands(draft: Draft, mapped: Mapping[str, Mapping[str, Any]]) -> None:
    """Map tasks over what other tasks return (a task id), or over a literal of known length (a number).

    The length of what a task returns is known at run time only; 1 is assumed and said. A mapped task returns as
    many values as it has instances, so nothing need be assumed.
    """
    for task_id, sources in mapped.items():
        if not sources or not all(type(over) is int or over in draft.specs for over in sources.values()):
            draft.note(
                f"Task '{shown(task_id)}' is mapped over something only known at run time; here it is one."
            )
            continue
        draft.specs[task_id]["expand"] = dict(sources)
        for over in sources.values():
            if isinstance(over, str) and over not in mapped:
                draft.specs[over].setdefault("returns", 1)
                draft.note(
                    f"The length of what '{shown(over)}' returns is known at run time only; 1 was assumed. "
                    f"Change it with dag.replace('{shown(over)}', returns=...), in a terminal with --returns NAME=N."
                )
