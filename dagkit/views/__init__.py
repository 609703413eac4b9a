"""What is shown: pictures, charts, tables and the player.

A view reads a Dag, a plan or a Trace, and decides nothing.
"""

from __future__ import annotations

from .picture import Picture
from .plans import answer, draw, plan
from .timeline import trace_gantt

__all__ = ["Picture", "answer", "draw", "plan", "trace_gantt"]
