"""Practice: drills from a seed, question ladders, you as the scheduler, a mock interview, and what to review when.

>>> from dagkit.practice import drill
>>> drill("slack", seed=1).lesson
1
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .drills import Drill, Judged, Worked, drill, kinds, sheet

_WHERE = {
    ".game": "Game puzzle", ".interviews": "Interview interview item review training", ".ladders": "Ladder ladder sheet_of",
    ".kept": "Progress progress", ".intervals": "next_review",
}
_LAZY = {name: module for module, names in _WHERE.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """The rest is found on first use."""
    if name not in _LAZY:
        raise AttributeError(f"module 'dagkit.practice' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_LAZY[name], __name__), name)
    return found


__all__ = ["Drill", "Judged", "Worked", "drill", "kinds", "sheet", *_LAZY]  # noqa: PLE0604
