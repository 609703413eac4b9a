"""A directory without any recorded case is an error, not a success."""

from __future__ import annotations

from .conftest import cases_root


def test_some_cases_are_there(kinds: tuple[str, ...]) -> None:
    root = cases_root()
    assert any(any(root.rglob(kind)) for kind in kinds), f"no recorded cases below {root}: set DAGKIT_CASES"
