"""Fills a payload of questions with the answers of the installed Airflow. Call inside `home.open_home`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from airflow_check import admission, naive, runs, tables
from airflow_check.files import Payload
from airflow_check.home import airflow_version, forget_dags

Watch = Callable[[str, list[dict[str, Any]]], Iterable[dict[str, Any]]]


def answer(name: str, payload: Payload, session: Any, watch: Watch, seed: int | None) -> Payload:
    """The payload with every answer filled in. `watch` passes the cases on and shows progress.

    The timing class, which is worked out and not observed, is added only if `seed` is given.
    """
    fill = {"trigger_rules": _trigger_rules, "priority_weights": _weights, "retry_delay": _retry_delay}
    if name in fill:
        found = fill[name](payload, session, watch)
    else:
        cases = _each(payload["cases"], session, watch, name)
        found = payload | {"cases": list(cases)}
        if name == "dagrun_final_states" and seed is not None:
            for case in watch("timing classes", found["cases"]):
                case["timing_class"] = naive.timing_class(case, seed)
    return found | {"airflow_version": airflow_version()}


def _each(cases: list[Any], session: Any, watch: Watch, name: str) -> Iterator[dict[str, Any]]:
    ask = {
        "selection": admission.record_selection,
        "mapping": runs.record_mapping,
        "dagrun_final_states": runs.record_final_states,
    }[name]
    for case in watch(name, cases):
        yield case | ask(case, session)
        forget_dags(session)


def _trigger_rules(payload: Payload, session: Any, watch: Watch) -> Payload:
    bench = tables.RuleBench(session)
    found = payload | tables.rule_vocabulary()
    for key in ("cases", "zero_upstream_cases", "setup_teardown_cases"):
        cases = watch(f"trigger_rules {key}", payload[key])
        found[key] = [case | {"verdict": bench.verdict(*tables.rule_question(case))} for case in cases]
    forget_dags(session)
    return found


def _weights(payload: Payload, session: Any, watch: Watch) -> Payload:
    cases = []
    for case in watch("priority_weights", payload["cases"]):
        cases.append(case | {"total": tables.record_weights(case, session)})
        forget_dags(session)
    found = payload | {"cases": cases}
    if "overflow_example" in payload:
        example = payload["overflow_example"]
        total = tables.record_weights(example | {"id": "overflow"}, session)
        found["overflow_example"] = example | {"total": total}
        forget_dags(session)
    return found


def _retry_delay(payload: Payload, session: Any, watch: Watch) -> Payload:
    rows = list(
        tables.record_retry_rows(payload["dag_id"], list(watch("retry_delay", payload["rows"])), session)
    )
    override = payload["override_check"]["retry_delay_override"]
    delay = tables.override_delay(override, "override", session)
    forget_dags(session)
    return payload | {"rows": rows, "override_check": {"retry_delay_override": override, "delay": delay}}
