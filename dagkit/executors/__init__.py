"""Executors: how much the scheduler may hand over, who picks it up when, when it starts and what it costs.

``base.py`` holds the interface, each other module one kind. Defaults without a source are marked *assumed*, see
``sources.py``.
"""

from __future__ import annotations

from .base import UNLIMITED, Executor, Rhythm, Stay, Turn, Worker
from .batch import BatchExecutor
from .celery import Broker, CeleryExecutor
from .edge import EdgeExecutor, Site
from .kubernetes import KubernetesExecutor
from .latency import Latency
from .local import LocalExecutor
from .several import Executors

__all__ = [
    "UNLIMITED", "BatchExecutor", "Broker", "CeleryExecutor", "EdgeExecutor", "Executor", "Executors",
    "KubernetesExecutor", "Latency", "LocalExecutor", "Rhythm", "Site", "Stay", "Turn", "Worker",
]
