"""The fidelity page: its numbers are those of the recorded cases, and it names what it promises to name."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

import dagkit as dk

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("make_fidelity", ROOT / "tools" / "make_fidelity.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_generated_tables_are_fresh(tool):
    assert tool.filled(PAGE) == PAGE, "run: python tools/make_fidelity.py"


def test_a_stale_number_is_noticed(tool):
    stale = PAGE.replace("| 77 |", "| 78 |")
    assert stale != PAGE and tool.filled(stale) == PAGE


def test_every_recorded_file_is_counted(tool):
    counted = {file for _, file, *_ in tool.evidence()}
    recorded = {path.name for path in (ROOT / "tests" / "data").glob("*.json")
                if "airflow_version" in json.loads(path.read_text(encoding="utf-8"))}
    assert recorded - counted <= {"lifecycle.json", "airflow_names.json"}      # prose, and a list of names


def test_the_page_is_of_the_version_the_kit_follows():
    assert f"Airflow {dk.states.AIRFLOW_VERSION}" in PAGE


def test_the_player_leads_to_the_page():
    from dagkit.views.replay import fidelity
    assert "docs/fidelity.md" in fidelity(dk.simulate(dk.examples.orders()))
