"""Practice: drills from a seed, question ladders, you as the scheduler, a mock interview, and what to review when.

>>> from dagkit.practice import drill
>>> drill("slack", seed=1).lesson
1
"""

from __future__ import annotations

from .drill import Drill, Judged, Worked, drill, kinds, sheet

__all__ = ["Drill", "Judged", "Worked", "drill", "kinds", "sheet"]
