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
from .engine import simulate  # noqa: E402
from .executors import LocalExecutor  # noqa: E402
from .trace import Trace  # noqa: E402
