"""A task's journey from file to success: who acts, which row changes, and the state after each step."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import traitlets

from ..lesson.chips import chips
from ..lesson.page import static
from ..views.picture import framed
from ..widget import Widget, module
from .drawn import architecture


class Step(NamedTuple):
    """One step. component: who acts. does: what. row: what changes in the database. state: of the task instance after
    it ("" while there is none)."""

    component: str
    does: str
    row: str
    state: str


STEPS = (
    Step("Dag bundle", "The file is saved; the bundle holds a new version.", "dag_bundle: the version", ""),
    Step("Dag processor", "A child process imports the file, finds the Dag and serializes it.",
         "dag, dag_version, serialized_dag: inserted", ""),
    Step("scheduler", "A run falls due: it is made, with a task instance for each task.",
         "dag_run: inserted; task_instance: one row each, state NULL", "none"),
    Step("scheduler", "The run starts. All upstreams are done, the trigger rule holds.",
         "task_instance: state scheduled, try_number 1", "scheduled"),
    Step("scheduler", "Every limit has room: pool, run, task, parallelism.",
         "task_instance: state queued, queued_dttm; its pool slot counts from here",
         "queued"),
    Step("executor", "It makes a workload of the row and sends it on.", "no change: the row said queued first",
         "queued"),
    Step("broker", "The message lies in the queue until somebody takes it.",
         "no change: no query tells this hop from the next", "queued"),
    Step("worker", "It takes the message and starts a supervisor, which watches one child process.", "no change yet",
         "queued"),
    Step("API server", "The supervisor reports the start with its token; the API server lets it begin.",
         "task_instance: state running, start_date, hostname, pid", "running"),
    Step("worker", "The child parses the file, finds the task and runs your code. Every few seconds a heartbeat.",
         "task_instance: last_heartbeat_at", "running"),
    Step("API server", "What the task returns is stored; then the supervisor reports how it ended.",
         "xcom: inserted; task_instance: state success, end_date", "success"),
    Step("scheduler", "In its next pass it sees a finished upstream, and looks at the tasks below and at the run.",
         "task_instance of the tasks below; dag_run: state success", "success"),
)
"""The usual way with CeleryExecutor; with LocalExecutor there is no broker, and the worker is a child of the scheduler."""


class Journey(Widget):
    """The journey on the map, step by step: buttons or arrow keys. Without widgets: the whole of it as a table."""

    _esm = module(Path(__file__).parent / "journey.js")
    _css = Path(__file__).parents[1] / "lesson" / "lesson.css"
    html = traitlets.Unicode("").tag(sync=True)
    steps: traitlets.List[Any] = traitlets.List([]).tag(sync=True)
    at = traitlets.Int(0).tag(sync=True)

    def __init__(self) -> None:
        known = [{"component": s.component, "does": s.does, "row": s.row, "state": s.state or "there is none yet"}
                 for s in STEPS]
        super().__init__(html=architecture(3).map.svg(), steps=known)

    def __repr__(self) -> str:
        return "\n".join(f"{k:>2}. {s.component}: {s.does} [{s.row}] -> {s.state or 'no task instance yet'}"
                         for k, s in enumerate(STEPS, 1))

    def twin(self) -> str:
        """The map, and every step as a row."""
        rows = [{"step": k, "who acts": s.component, "what": s.does, "row in the database": s.row,
                 "state then": s.state or "-"} for k, s in enumerate(STEPS, 1)]
        return static(f'<div class="dl-map">{framed(self.html)}</div>{chips(rows)._repr_html_()}')


def journey() -> Journey:
    """A task's journey, to step through.

    >>> print(journey())   # doctest: +ELLIPSIS
     1. Dag bundle: The file is saved; the bundle holds a new version. [dag_bundle: the version] -> no task instance yet
     ...
    """
    return Journey()


__all__ = ["STEPS", "Journey", "Step", "journey"]
