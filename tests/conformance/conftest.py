"""Recorded cases: found by file name anywhere below $DAGKIT_CASES, and never skipped."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def cases_root() -> Path:
    return Path(os.environ.get("DAGKIT_CASES") or ROOT / "tests" / "data")


@pytest.fixture(scope="session")
def recorded() -> Callable[[str], list[Any]]:
    """``recorded("mapping.json")`` -> the parsed files of that name."""
    def load(pattern: str) -> list[Any]:
        return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(cases_root().rglob(pattern))]
    return load
