"""dagkit: DAG scheduling and Airflow 3 understood by running it."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from . import trigger_rules
from .dag import Dag, Task
from .errors import CycleError, DagkitError, FormatError

try:
    __version__ = version("dagkit")
except PackageNotFoundError:  # run from a checkout that is not installed
    __version__ = "0.1.0"
from .scenario import Config, Pool, Runs, Scenario  # noqa: E402
from . import examples  # noqa: E402
from .doctor import doctor  # noqa: E402
from .engine import simulate  # noqa: E402
from .executors import CeleryExecutor, EdgeExecutor, KubernetesExecutor, LocalExecutor, Worker  # noqa: E402
from .faults import LoseMessage, LoseScheduler, LoseWorker  # noqa: E402
from .waits import Deferral, HumanInput, Sensor  # noqa: E402
from .trace import Trace  # noqa: E402

# Found on first use, so that `import dagkit` is quick and needs neither pandas nor widgets.
_WHERE = {
    ".formats": "load",
    ".lesson": "check predict",
    ".planning": "critical_path critical_tasks expand graham_bound lower_bound makespan makespan_curve "
                 "saturation_slots schedule slack tied_critical_paths waves what_if",
    ".views": "answer draw plan",
    ".views.player": "Prediction play",
    ".views.read_aloud": "read_aloud",
    ".weights": "priority_totals",
}
_LAZY = {name: module for module, names in _WHERE.items() for name in names.split()}
_MODULES = ("formats", "lesson", "naive", "planning", "states", "views")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _LAZY:
        raise AttributeError(f"module 'dagkit' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_LAZY[name], __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_MODULES})


__all__ = [  # noqa: PLE0604
    "CeleryExecutor", "Config", "CycleError", "Dag", "Deferral", "EdgeExecutor", "HumanInput", "KubernetesExecutor",
    "LoseMessage", "LoseScheduler", "LoseWorker", "Sensor", "Worker", "DagkitError", "FormatError", "LocalExecutor", "Pool", "Runs", "Scenario", "Task",
    "Trace", "doctor", "examples", "simulate", "trigger_rules", *_LAZY, *_MODULES,
]
