"""The architecture of Airflow: a map to choose from, a task's journey, what breaks, and what the parts cost.

>>> from dagkit import architecture
>>> architecture.show(3).component("broker").needed
'with Celery only'
"""

from __future__ import annotations

from .breaking import Breaking, breaking, symptoms_table
from .drawn import Architecture, architecture, side_by_side
from .growth import ASSUMPTIONS, Growth, growth
from .journey import STEPS, Journey, Step, journey
from .parsing import Parse, Parsing, parse
from .parts import Component, Link

show = architecture

__all__ = ["ASSUMPTIONS", "STEPS", "Architecture", "Breaking", "Component", "Growth", "Journey", "Link", "Parse",
           "Parsing", "Step", "architecture", "breaking", "growth", "journey", "parse", "show", "side_by_side",
           "symptoms_table"]
