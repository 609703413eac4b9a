"""trigger_rules.json: every rule on every multiset of up to three upstream states, as Airflow itself decided."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dagkit.states import FINISHED as FINISHED_CODES
from dagkit.states import NAMES, TABLE
from dagkit.trigger_rules import RULES, evaluate

pytestmark = pytest.mark.conformance


def plain(case: dict[str, Any]) -> str:
    return evaluate(case["rule"], case["upstream"])


def with_setups(case: dict[str, Any]) -> str:
    rule, kind = case["rule"], case["kind"]
    if kind == "teardown_direct":
        return evaluate(rule, case["tasks"], setups=case["setups"])
    if kind == "teardown_scope":
        return evaluate(rule, [case["inner_direct"]], setups=[case["setup"]], scope=[case["inner_indirect"]])
    assert kind == "indirect_setup", f"cannot express {kind}"
    return evaluate(rule, [case["direct_task"]], indirect_setups=[case["indirect_setup"]])


FAMILIES: dict[str, Callable[[dict[str, Any]], str]] = {
    "cases": plain, "zero_upstream_cases": plain, "setup_teardown_cases": with_setups}


@pytest.mark.parametrize("family", FAMILIES)
def test_verdicts(recorded: Any, count: Any, family: str) -> None:
    cases = [case for file in recorded("trigger_rules.json") for case in file.get(family, [])]
    wrong = [f"{case}: {got}" for case in cases if (got := FAMILIES[family](case)) != case["verdict"]]
    count("trigger_rules.json", len(cases))
    assert not wrong, f"{len(wrong)} of {len(cases)} differ:\n" + "\n".join(wrong[:10])


def test_the_file_holds_no_family_that_is_not_run(recorded: Any) -> None:
    for file in recorded("trigger_rules.json"):
        assert {name for name in file if name.endswith("cases")} <= set(FAMILIES)


def test_states_and_rules_are_those_of_the_recorded_release(recorded: Any) -> None:
    for file in recorded("trigger_rules.json"):
        if "ti_states" in file:
            assert set(file["ti_states"]) == {state.name for state in TABLE}
            assert set(file["finished_states"]) == {NAMES[code] for code in FINISHED_CODES}
            assert set(file["rules"]) == set(RULES)
