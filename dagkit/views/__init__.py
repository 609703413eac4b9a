"""What is shown: pictures, charts, tables and the player. A view reads a Dag, a plan or a Trace and decides nothing."""

from __future__ import annotations

from .picture import Picture

__all__ = ["Picture"]
