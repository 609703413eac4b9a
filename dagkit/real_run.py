"""A recorded run of a real Airflow beside the simulation of the same Dag.

What must agree does not depend on luck: final states, tries, the state of the run. Start times are laid side by side and
judged by nobody: a real run needs time to start processes, and its clock does not stand still between two ticks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .checks import number
from .errors import DagkitError, choices, quoted, shown
from .formats.loaded import Loaded
from .recorded import left_out
from .trace import Trace


@dataclass(frozen=True)
class Beside:
    """rows: one for each task instance, dictionaries of task, state, real_state, tries, real_tries, start, real_start
    (of the last try, in seconds after the run began; None if it never ran), agrees. differences: sentences, none
    if all agree. tick_seconds: how long a tick lasts."""

    rows: tuple[dict[str, Any], ...]
    differences: tuple[str, ...]
    tick_seconds: float

    @property
    def agrees(self) -> bool:
        return not self.differences

    @property
    def table(self) -> Any:
        """The rows as a pandas DataFrame, in order of simulated start; ``later``: real minus simulated start."""
        import pandas as pd
        frame = pd.DataFrame(self.rows, columns=["task", "state", "real_state", "tries", "real_tries", "start",
                                                 "real_start", "agrees"])
        for name in ("start", "real_start"):
            frame[name] = frame[name].astype("float64")
        frame.insert(7, "later", (frame["real_start"] - frame["start"]).round(2))
        return frame.sort_values(["start", "task"], kind="stable", ignore_index=True)

    def __str__(self) -> str:
        return "\n".join(self.differences) if self.differences else (
            f"{len(self.rows)} task instances: final states, tries and run state agree.")


def beside(trace: Trace, recorded: Any, tick_seconds: float = 1) -> Beside:
    """Compare the simulation of a run with its recording.

    trace: of one Dag and one run. recorded: what ``load`` gave back for a listing of task instances.
    tick_seconds: how long a tick lasted in the real run, in seconds.

    Raises DagkitError without a recorded run, or for a trace of several runs.

    >>> from dagkit import examples, load, simulate
    >>> listing = '[{"task_id": "a", "state": "success", "try_number": 1, "start_date": "2026-01-01T00:00:00"}]'
    >>> from dagkit.dag import Dag
    >>> print(beside(simulate(Dag.from_dict({"a": {}})), load(listing)))
    1 task instances: final states, tries and run state agree.
    """
    if not isinstance(trace, Trace) or len(trace.run_states) != 1:
        raise DagkitError("beside: needs the Trace of one run of one Dag. Write beside(dk.simulate(...), dk.load(...)).")
    if not isinstance(recorded, Loaded) or recorded.run is None:
        raise DagkitError("beside: needs a recorded run, as dk.load gives for a listing of task instances, "
                          f"not {quoted(recorded)}. Write dk.load('listing.json').")
    tick_seconds = number("beside", "tick_seconds", tick_seconds, 1e-6, 1e9)
    rows = tuple(_rows(trace, recorded, tick_seconds))
    return Beside(rows, tuple(_differences(trace, recorded, rows)), tick_seconds)


def _rows(trace: Trace, recorded: Loaded, tick_seconds: float) -> list[dict[str, Any]]:
    assert recorded.run is not None
    real = {row.task: row for row in recorded.run.rows}
    states, tries, first = trace.final_states, trace.tries, _last_starts(trace)
    made = []
    for label in dict.fromkeys([*states, *real]):
        row = real.get(label)
        state, real_state = states.get(label), row.state if row else None
        real_tries = row.try_number if row else None
        start = first.get(label)
        made.append({
            "task": label, "state": state, "real_state": real_state, "tries": tries.get(label), "real_tries": real_tries,
            "start": None if start is None else (start - 1) * tick_seconds,
            "real_start": None if row is None or left_out(row) else row.start,
            "agrees": state == real_state and real_tries in (None, tries.get(label)) and label in states})
    return made


def _last_starts(trace: Trace) -> dict[str, int]:
    """The tick at which the last try of each label began to run."""
    found = {}
    for label, changes in zip(trace.labels, trace.changes, strict=True):
        started = [tick for tick, state in changes if state == "running"]
        if started:
            found[label] = started[-1]
    return found


def _differences(trace: Trace, recorded: Loaded, rows: tuple[dict[str, Any], ...]) -> list[str]:
    assert recorded.run is not None
    missing = [r["task"] for r in rows if r["real_state"] is None]
    extra = [r["task"] for r in rows if r["state"] is None]
    said = [f"{len(names)} only in {where}: {choices(names)}." for names, where in
            ((missing, "the simulation"), (extra, "the recording")) if names]
    for row in rows:
        if row["state"] and row["real_state"] and not row["agrees"]:
            said.append(f"{shown(row['task'])}: simulated {row['state']} after {row['tries']} tries, really "
                        f"{shown(row['real_state'])} after {row['real_tries']}.")
    if recorded.run.state not in (None, trace.run_state):
        said.append(f"The run: simulated {trace.run_state}, really {shown(recorded.run.state)}.")
    return said
