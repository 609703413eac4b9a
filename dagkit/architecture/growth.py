"""The metadata database as a model: how many rows there are, and how long a scheduler loop then takes.

Rows are counted exactly. The loop is a model with stated assumptions: it shows a slowdown that no error announces, not
the speed of any machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

from ..checks import number, plain, whole
from ..errors import DagkitError, choices, nearest, shown
from ..faults import SlowDatabase

ASSUMPTIONS = {
    "fixed_ms": (200, "a pass with nothing to do: heartbeat, queries that find nothing, commit"),
    "per_run_ms": (12, "examining one running Dag run, while its rows are in memory"),
    "memory_rows": (20_000_000, "rows of task_instance that fit into the database's memory, indexes included"),
    "disk_factor": (12, "how much longer a read takes that finds its rows on disk"),
    "runs_per_pass": (20, "[scheduler] max_dagruns_per_loop_to_schedule"),
}
"""What the model assumes: value and meaning. Each can be given another value."""


@dataclass(frozen=True)
class Growth:
    """rows_per_day: new rows of task_instance. days: how long nothing was removed."""

    dags: int
    tasks: int
    runs_per_day: int
    tries: float
    days: int
    assumed: dict[str, float]

    @property
    def rows_per_day(self) -> int:
        """One row for each task of each run."""
        return self.dags * self.tasks * self.runs_per_day

    @property
    def rows(self) -> int:
        """Rows of task_instance after all days."""
        return self.rows_per_day * self.days

    @property
    def history_rows(self) -> int:
        """Rows of task_instance_history: a row for every try before the last."""
        return round(self.rows * (self.tries - 1))

    @property
    def on_disk(self) -> float:
        """The share of reads that do not find their rows in memory."""
        total = self.rows + self.history_rows
        return 0.0 if total <= self.assumed["memory_rows"] else 1 - self.assumed["memory_rows"] / total

    @property
    def loop_seconds(self) -> float:
        """Seconds of one pass of the scheduler under load."""
        read = self.assumed["per_run_ms"] * (1 + self.on_disk * (self.assumed["disk_factor"] - 1))
        return float((self.assumed["fixed_ms"] + self.assumed["runs_per_pass"] * read) / 1000)

    def fault(self, tick: int, tick_seconds: float = 1) -> SlowDatabase | None:
        """The same slowness as a fault for ``simulate``; None while a pass fits into a tick."""
        factor = ceil(self.loop_seconds / tick_seconds)
        return SlowDatabase(tick, factor=factor) if factor > 1 else None

    def __repr__(self) -> str:
        told = [f"{self.rows_per_day:,} rows of task_instance a day; after {self.days} days {self.rows:,}",
                f"{self.on_disk:.0%} of reads go to disk; a pass of the scheduler takes {self.loop_seconds:.2f} s",
                "assumed:"]
        assumed = [f"  {name} = {value:,.0f}: {ASSUMPTIONS[name][1]}" for name, value in self.assumed.items()]
        return "\n".join([*told, *assumed])


def growth(*, dags: int = 200, tasks: int = 30, runs_per_day: int = 24, days: int = 30, tries: float = 1.0,
           **assumed: Any) -> Growth:
    """Rows and loop time of a deployment. assumed: other values than those of ASSUMPTIONS.

    Raises DagkitError for numbers below 1 or an unknown assumption.

    >>> growth().rows_per_day, growth().rows
    (144000, 4320000)
    >>> growth(days=365).loop_seconds > 2 * growth().loop_seconds
    True
    """
    dags, tasks, runs_per_day, days = map(plain, (dags, tasks, runs_per_day, days))
    for name, value in (("dags", dags), ("tasks", tasks), ("runs_per_day", runs_per_day), ("days", days)):
        whole("growth", name, value, 1)
    tries = number("growth", "tries (on average)", tries, 1, 100)
    assumed = {name: plain(value) for name, value in assumed.items()}
    for name, value in assumed.items():
        if name not in ASSUMPTIONS:
            raise DagkitError(f"growth: '{shown(name)}' is no assumption of the model.{nearest(name, ASSUMPTIONS)} "
                              f"Known: {choices(ASSUMPTIONS)}.")
        whole("growth", name, value, 1)
    return Growth(dags, tasks, runs_per_day, tries, days, {name: float(assumed.get(name, value))
                                                           for name, (value, _) in ASSUMPTIONS.items()})
