"""The architecture of Airflow: a map to choose from, a task's journey, what breaks, and what the parts cost.

>>> from dagkit import architecture
>>> architecture.show(3).component("broker").needed
'with Celery only'
"""

from __future__ import annotations

from .breaking import Breaking, breaking, symptoms_table
from .drawn import Architecture, architecture, side_by_side
from .journey import STEPS, Journey, Step, journey
from .parts import Component, Link

show = architecture

__all__ = ["STEPS", "Architecture", "Breaking", "Component", "Journey", "Link", "Step", "architecture", "breaking", "journey",
           "show", "side_by_side", "symptoms_table"]
