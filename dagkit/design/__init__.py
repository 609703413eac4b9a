"""The design scenario: declare a deployment for 300 Dags, and see it graded by what happens on a bad day.

``world`` is the situation and its numbers, ``Design`` what can be declared, ``grade`` plays and judges it. The trace of
the day comes with the report, so that every verdict can be asked for its reason.

>>> print(grade(Design())["API calls"].passed)
False
"""

from __future__ import annotations

from .declared import Design
from .facts import ITEMS, METRICS, STORES
from .grading import REQUIREMENTS
from .playing import scenario
from .report import Report, grade
from .verdict import Verdict
from .world import KINDS

__all__ = ["ITEMS", "KINDS", "METRICS", "REQUIREMENTS", "STORES", "Design", "Report", "Verdict", "grade", "scenario"]
