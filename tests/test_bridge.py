"""The bridge to the real thing: no reason without a row, no name that Airflow 3.3.2 does not have.

tests/data/airflow_names.json was read from Airflow's source by tools/airflow_names.py.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

import dagkit as dk
from dagkit import bridge
from dagkit.engine.limits import needs_of

ROOT = Path(__file__).resolve().parents[1]
NAMES = json.loads((ROOT / "tests" / "data" / "airflow_names.json").read_text(encoding="utf-8"))
ROWS = [bridge.of(code) for code in bridge.codes()]
rows = pytest.mark.parametrize("row", ROWS, ids=bridge.codes())


def texts(node):
    return [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def codes_in_explain():
    """Every code the reasons' modules can return: first of four, key of a table of causes, or a word beside it."""
    found = set()
    trees = [ast.parse((ROOT / "dagkit" / name).read_text(encoding="utf-8"))
             for name in ("situation.py", "faulted.py", "delivered.py")]
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Tuple) and len(node.elts) == 4:
            found |= set(texts(node.elts[0]))
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Tuple):
            found |= {texts(item.elts[0])[0] for item in node.iter.elts
                      if isinstance(item, ast.Tuple) and len(item.elts) == 3 and texts(item.elts[0])}
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("_CAUSES", "KNOWN_AHEAD"):
            keys = node.value.keys if isinstance(node.value, ast.Dict) else [node.value]
            found |= {text for key in keys for text in texts(key)}
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "what":
            found |= {text for n in ast.walk(node) if isinstance(n, ast.Dict) for key in n.keys for text in texts(key)}
    return found


def causes_in_the_engine():
    """What the engine writes beside a change of state; ``explain`` gives it back as a code."""
    found = set()
    for path in (ROOT / "dagkit" / "engine").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(getattr(node, "func", None), "attr", getattr(getattr(node, "func", None), "id", ""))
            if isinstance(node, ast.Call) and name in ("record", "settle", "stop", "fail"):
                found |= {text for arg in node.args[2 if name != "fail" else 1:] for text in texts(arg)}
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "AFTER_WAIT":
                found |= {texts(pair)[1] for pair in node.value.values}
    return found


def test_every_reason_of_the_kit_has_a_bridge():
    found = codes_in_explain()
    assert {"pool", "trigger_rule", "setup", "not_examined", "executor", "stuck_in_queued", "finished"} <= found
    assert found - set(bridge.codes()) == set()


def test_every_cause_of_the_engine_has_a_bridge():
    found = causes_in_the_engine()
    assert {"heartbeat_timeout", "branch", "fail_fast", "sensor_timeout", "orphaned"} <= found
    assert found - set(bridge.codes()) == set()


def test_every_kind_of_limit_has_a_bridge():
    dag = dk.Dag("d", [dk.Task("a", max_active_tis_per_dag=1, max_active_tis_per_dagrun=1)])
    trace = dk.simulate(dag)
    plan = trace._plans[0]
    kinds = {need.limit.kind for need in needs_of(trace.scenario, plan, 0, plan.cls[0])}
    assert len(kinds) >= 5 and kinds <= set(bridge.codes())


def test_no_bridge_leads_nowhere():
    """The other way round: a row whose code nothing gives would be dead."""
    assert set(bridge.codes()) <= codes_in_explain() | causes_in_the_engine()


@rows
def test_metrics_exist(row):
    assert set(row.metrics) <= set(NAMES["metrics"])


@rows
def test_config_keys_exist(row):
    assert set(row.config) <= {*NAMES["config"], *NAMES["providers"]["config"]}


@rows
def test_parameters_exist(row):
    for text in row.parameters:
        kind, name = re.fullmatch(r"(Dag|Task|Sensor)\((\w+)\)", text).groups()
        assert name in NAMES["parameters"][kind], text


@rows
def test_commands_and_routes_exist(row):
    for text in row.ask:
        if text.startswith("airflow "):
            assert " ".join(text.split()[:3]) in {*NAMES["cli"], *NAMES["providers"]["cli"]}, text
        else:
            assert text in NAMES["rest"], text


@rows
def test_sources_exist(row):
    assert row.source
    for text in row.source:
        path, _, name = text.partition("::")
        assert name in NAMES["symbols"].get(path, ()), text


@rows
def test_dependencies_and_words_of_the_interface_exist(row):
    for name in re.findall(r"\b(\w+Dep)\b", row.check):
        assert name in NAMES["dependencies"], name
    for name in re.findall(r"has the row ([A-Z][\w ]+?)(?:$|[;,])", row.shows):
        assert name in NAMES["dependencies"].values(), name
    for word in ("Audit Log", "Required Actions", "Triggerer Info", "Dag Version",
                 "Dependencies Blocking Task From Getting Scheduled"):
        assert word not in row.shows or word in NAMES["ui"]


@rows
def test_a_row_says_what_stands_behind_and_what_is_seen(row):
    assert row.check and row.shows and (row.ask or row.metrics)
    assert str(row).splitlines()[0] == f"{row.code}: {row.check}"


def test_the_list_is_of_the_version_the_kit_follows():
    assert NAMES["airflow_version"] == bridge.AIRFLOW_VERSION == dk.states.AIRFLOW_VERSION


def test_reasons_of_a_trace_lead_across():
    trace = dk.simulate(dk.examples.orders())
    row = bridge.of(trace.explain("extract_users", tick=1).code)
    assert row.code == "pool" and "[core] default_pool_task_slot_count" in row.config


def test_unknown_codes_are_refused_with_the_nearest():
    with pytest.raises(dk.DagkitError, match="reason code 'max_active_task' is unknown. Did you mean 'max_active_tasks'"):
        bridge.of("max_active_task")
    with pytest.raises(dk.DagkitError, match="unknown"):
        bridge.table("pool", "<script>")


def test_the_table_has_a_row_for_each():
    table = bridge.table()
    assert list(table.index) == list(bridge.codes())
    assert table.loc["pool", "metrics"].startswith("pool.open_slots; ")
