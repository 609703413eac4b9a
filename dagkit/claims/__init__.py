"""Claims: who may take a row. Schedulers that share a database, with real row locks and without a database.

``interleavings(strategy)`` plays two schedulers against each other in every possible order; ``steps(strategy)``
is the same as a picture to walk through. Neither needs a database.

With the extra ``pg`` (``pip install 'dagkit[pg]'``) the same is shown by real processes on a real PostgreSQL:
``race``, ``takeover``, ``compare`` (polling against hints), all of them with ``python -m dagkit.claims``.
``recorded()`` holds what that gave once. Nothing here imports the scheduler engine.
"""

from __future__ import annotations

from typing import Any

from .hints import DESIGNS, Design, Load, Start, compare, unguarded
from .model import Interleavings, interleavings
from .race import Lap, Race, race
from .recorded import AGAIN, Recorded, recorded
from .server import Server, problem, start
from .strategies import STRATEGIES, Strategy, strategy
from .takeover import POINTS, Takeover, takeover

__all__ = [
    "AGAIN", "DESIGNS", "Design", "Interleavings", "Lap", "Load", "POINTS", "Race", "Recorded", "STRATEGIES", "Server",
    "Start", "Strategy", "Takeover", "compare", "interleavings", "measure", "problem", "race", "recorded", "start",
    "steps", "strategy", "takeover", "unguarded",
]


def __getattr__(name: str) -> Any:
    """The picture needs widgets, and the processes of an experiment need none: so it is loaded when it is asked for."""
    from importlib import import_module
    module = {"measure": ".measuring", "steps": ".stepping"}.get(name)
    if module is None:
        raise AttributeError(f"module 'dagkit.claims' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(module, __name__), name)
    return found
