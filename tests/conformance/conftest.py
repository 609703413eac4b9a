"""Recorded cases: found by file name anywhere below $DAGKIT_CASES, counted, and never skipped."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("mini_scheduler*.json", "planning.json", "trigger_rules.json", "dagrun_final_states.json", "selection.json",
         "priority_weights.json", "mapping.json", "retry_delay.json")
COUNTED: dict[str, int] = dict.fromkeys(KINDS, 0)


def cases_root() -> Path:
    return Path(os.environ.get("DAGKIT_CASES") or ROOT / "tests" / "data")


@pytest.fixture(scope="session")
def recorded() -> Callable[[str], list[Any]]:
    """``recorded("mapping.json")`` -> the parsed files of that name."""
    def load(pattern: str) -> list[Any]:
        return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(cases_root().rglob(pattern))]
    return load


@pytest.fixture
def count(request: pytest.FixtureRequest) -> Callable[[str, int], None]:
    """Note that so many cases of a kind were run, for the closing table."""
    def note(kind: str, cases: int) -> None:
        COUNTED[kind] = COUNTED.get(kind, 0) + cases
    return note


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if any(COUNTED.values()):
        terminalreporter.write_line("recorded cases run: " + ", ".join(f"{k} {n}" for k, n in COUNTED.items()))

