"""From which task length on does it no longer matter that a pod has to start? Worked out by simulation.

Two executors with equally many slots play the same tasks, once for each length. What is compared is the makespan: the
one that starts slowly *loses* where the work takes more than ``worse`` times as long. A conclusion that holds at one
assumed latency is worth little, so the answer is given for a range of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from .checks import is_number, whole
from .dag import Dag
from .engine import simulate
from .errors import DagkitError, quoted
from .executors import CeleryExecutor, Executor, KubernetesExecutor, Latency, Worker
from .scenario import Config
from .task import Task

SLOTS, TASKS = 16, 160
WORSE = 1.1
"""A tenth more is taken for "as good"."""
LONGEST = 8 * 3600
LENGTHS = (1, 2, 5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560)
PLAUSIBLE: Mapping[str, Latency] = {
    "warm cluster": Latency.lognormal(median=2, p95=5),
    "as assumed": Latency.lognormal(median=5, p95=15),
    "busy cluster": Latency.lognormal(median=12, p95=40),
    "new node each": Latency.lognormal(median=60, p95=180),
}
"""Pod starts from quick to slow, in seconds. Assumed, all of them: that is why there are four."""


@dataclass(frozen=True)
class BreakEven:
    """names: of the latencies. lengths: seconds. curves: by name, how many times longer pods take at each length.
    even: by name, the shortest length in seconds at which pods no longer lose (None: not up to LONGEST)."""

    names: tuple[str, ...]
    lengths: tuple[int, ...]
    curves: Mapping[str, tuple[float, ...]]
    even: Mapping[str, int | None]
    worse: float


def celery() -> Executor:
    """Standing workers with SLOTS slots."""
    return CeleryExecutor(workers=[Worker(SLOTS)])


def pods(pod_start: Any, image_pull: Any = 0) -> Executor:
    """As many pods at once, created without delay, their image on the nodes already."""
    return KubernetesExecutor(max_pods=SLOTS, batch=SLOTS, pod_start=pod_start, image_pull=image_pull)


@cache
def makespan(executor: Executor, length: int, tasks: int = TASKS) -> float:
    """Seconds for so many tasks of ``length`` seconds each. What has no slot waits in scheduled, not in queued: there
    it would be taken back after task_queued_timeout."""
    dag = Dag("same", [Task(f"t{k}", duration=length) for k in range(tasks)], max_active_tasks=tasks)
    return float(simulate(dag, executor=executor, config=Config(parallelism=SLOTS)).last_tick - 1)


def ratio(pod_start: Any, length: int) -> float:
    """How many times longer the work takes in pods than on standing workers.

    >>> ratio(Latency.fixed(5), 5) > 1.5 > 1.01 > ratio(Latency.fixed(5), 3600)
    True
    """
    return makespan(pods(pod_start), length) / makespan(celery(), length)


def even(pod_start: Any, worse: float = WORSE) -> int | None:
    """The shortest task, in seconds, at which pods no longer lose; None if they still do at LONGEST.

    Raises DagkitError unless worse is a number above 1.

    >>> even(Latency.fixed(5)) < even(Latency.fixed(50))
    True
    """
    if not is_number(worse) or worse <= 1:
        raise DagkitError(f"break-even: worse must be a number above 1, not {quoted(worse)}. Write 1.1 for a tenth more.")
    low, high = 0, LONGEST                                # it loses at low, or low is 0
    if ratio(pod_start, high) > worse:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ratio(pod_start, middle) > worse else (low, middle)
    return high


def break_even(pod_starts: Mapping[str, Any] = PLAUSIBLE, *, lengths: Sequence[int] = LENGTHS,
               worse: float = WORSE) -> BreakEven:
    """Curves and break-even points for a range of pod starts.

    Raises DagkitError for an empty range or a length that is no whole number of seconds >= 1.
    """
    if not isinstance(pod_starts, Mapping) or not pod_starts:
        raise DagkitError(f"break-even: pod_starts must be a dictionary of at least one, not {quoted(pod_starts)}. "
                          "Write {'quick': dk.Latency.fixed(2)}.")
    for length in lengths:
        whole("break-even", "each length", length, 1, unit=" of seconds")
    curves = {name: tuple(ratio(start, length) for length in lengths) for name, start in pod_starts.items()}
    return BreakEven(tuple(pod_starts), tuple(lengths), curves,
                     {name: even(start, worse) for name, start in pod_starts.items()}, worse)
