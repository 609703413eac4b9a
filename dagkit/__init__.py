"""dagkit: DAG scheduling and Airflow 3 understood by running it."""

from __future__ import annotations

from . import loading  # noqa: F401  (first: from here on a Ctrl-C is quiet)

# isort: split

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from . import examples, trigger_rules
from .dag import Dag
from .doctor import doctor
from .engine import simulate
from .errors import CycleError, DagkitError, FormatError
from .executors import (
    BatchExecutor,
    Broker,
    CeleryExecutor,
    EdgeExecutor,
    KubernetesExecutor,
    Latency,
    LocalExecutor,
    Site,
    Worker,
)
from .faults import LoseMessage, LoseScheduler, LoseWorker
from .scenario import Config, Pool, Runs, Scenario
from .task import Task
from .trace import Trace
from .waits import Deferral, HumanInput, Sensor

try:
    __version__ = version("dagkit")
except PackageNotFoundError:  # run from a checkout that is not installed
    __version__ = "0.1.0"

# Found on first use, so that `import dagkit` is quick and needs neither pandas nor widgets.
_WHERE = {
    ".compared": "compare_executors",
    ".faults": "ApiServerDown BrokenWorker BrokerDown DagProcessorDown DatabaseDown PodsPending SlowApiServer "
               "SlowDagProcessor SlowDatabase SlowWorker TriggererDown WrongQueue",
    ".formats": "dump load",
    ".formats.airflow_export": "export_airflow",
    ".lesson": "check predict",
    ".planning": "critical_path critical_tasks expand graham_bound lower_bound makespan makespan_curve "
                 "moves pooled_makespan saturation_slots schedule slack split tied_critical_paths waves what_if",
    ".practice": "drill",
    ".real_run": "beside",
    ".views": "answer draw plan",
    ".views.actual": "actual",
    ".views.lanes": "executor_lanes",
    ".views.player": "Prediction play",
    ".views.read_aloud": "read_aloud",
    ".weights": "priority_totals",
}
_LAZY = {name: module for module, names in _WHERE.items() for name in names.split()}
_MODULES = ("architecture", "bridge", "symptoms", "capacity", "claims", "classroom", "design", "exercises", "museum",
            "formats", "latency", "lesson", "naive", "planning", "practice", "states", "views")


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
    "BatchExecutor", "Broker", "CeleryExecutor", "Config", "CycleError", "Dag", "DagkitError", "Deferral",
    "EdgeExecutor", "FormatError", "HumanInput", "KubernetesExecutor", "Latency", "LocalExecutor", "LoseMessage",
    "LoseScheduler", "LoseWorker", "Pool", "Runs", "Scenario", "Sensor", "Site", "Task", "Trace", "Worker",
    "doctor", "examples", "simulate", "trigger_rules",
    *_LAZY, *_MODULES,
]
