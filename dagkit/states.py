"""The states of a task instance (TI) and of a Dag run, as Airflow 3.3 names them.

A TI is one task in one run. It carries one of 14 states (13 and *none*). Everything a
view or a rule needs to know about a state is a column of the table below.
"""

from __future__ import annotations

from typing import NamedTuple

from .errors import DagkitError, choices, nearest, shown

AIRFLOW_VERSION = "3.3.2"
"""The release whose recorded behaviour the engine follows."""


class State(NamedTuple):
    """One state: what it means, what usually holds a TI in it, and how it looks.

    ``glyph`` and ``letter`` carry the state where colour cannot; ``border`` is a CSS border style.
    """

    name: str
    meaning: str
    when_stuck: str
    fill: str
    ink: str
    glyph: str
    letter: str
    border: str = "solid"


# Fill colours start from the Okabe-Ito set, moved apart until every two differ for every kind of colour vision;
# ink on fill has a contrast of at least 4.5:1 (both tested in tests/test_views_static.py).
TABLE: tuple[State, ...] = (
    State("none", "its dependencies are not met yet", "an upstream task is still busy, or the run has not started",
          "#f2f2f2", "#111111", "○", "N", "dotted"),
    State("scheduled", "it may run; it waits for a place", "a pool slot, a concurrency limit, a slow scheduler",
          "#c0c486", "#111111", "◔", "S"),
    State("queued", "handed to the executor", "workers down or full, a queue nobody serves, pods pending",
          "#8e8f9f", "#111111", "◑", "Q"),
    State("running", "a worker executes it", "a long task, or a lost worker until its heartbeat times out",
          "#50a9f6", "#111111", "►", "R"),
    State("success", "finished well", "", "#009b59", "#111111", "✓", "✓"),
    State("failed", "finished badly, no try left", "", "#b52420", "#ffffff", "✗", "F"),
    State("up_for_retry", "failed, and waits out its retry_delay", "nothing: the delay is intended",
          "#f3df35", "#111111", "↻", "Y", "dashed"),
    State("up_for_reschedule", "a sensor asleep between two checks", "its condition is not true yet",
          "#baecb1", "#111111", "z", "Z", "dashed"),
    State("upstream_failed", "a failure upstream made its rule impossible", "", "#eb9a00", "#111111", "⇣", "U"),
    State("skipped", "left out by a branch, a short circuit or a rule", "", "#f1aad1", "#111111", "»", "K"),
    State("deferred", "parked with the triggerer, holds no worker", "the triggerer is down, or the event never comes",
          "#6f51bb", "#ffffff", "◇", "D", "dashed"),
    State("removed", "its task left the Dag during the run", "", "#4f4253", "#ffffff", "⌫", "X", "dotted"),
    State("restarting", "cleared while it was running", "its worker has not stopped yet",
          "#0e4f88", "#ffffff", "⟲", "T"),
    State("awaiting_input", "waits for a person", "nobody has answered", "#ffffff", "#111111", "?", "?", "dashed"),
)

NAMES: tuple[str, ...] = tuple(state.name for state in TABLE)
CODE: dict[str, int] = {name: code for code, name in enumerate(NAMES)}
(NONE, SCHEDULED, QUEUED, RUNNING, SUCCESS, FAILED, UP_FOR_RETRY, UP_FOR_RESCHEDULE,
 UPSTREAM_FAILED, SKIPPED, DEFERRED, REMOVED, RESTARTING, AWAITING_INPUT) = range(len(TABLE))

FINISHED = frozenset({SUCCESS, FAILED, SKIPPED, UPSTREAM_FAILED, REMOVED})
SCHEDULABLE = frozenset({NONE, UP_FOR_RETRY, UP_FOR_RESCHEDULE})
EXECUTION = frozenset({QUEUED, RUNNING})
"""States that occupy a pool slot, max_active_tasks and parallelism (Airflow's EXECUTION_STATES)."""
ACTIVE = frozenset({QUEUED, RUNNING, DEFERRED, AWAITING_INPUT})
"""States that count for max_active_tis_per_dag and max_active_tis_per_dagrun (ACTIVE_STATES)."""

RUN_STATES: tuple[str, ...] = ("queued", "running", "success", "failed")

LEGAL: dict[str, frozenset[str]] = {
    old: frozenset(new.split())
    for old, new in {
        "none": "scheduled skipped upstream_failed removed success",
        "scheduled": "queued skipped removed none",
        "queued": "running scheduled failed none skipped removed",
        "running": "success failed up_for_retry up_for_reschedule deferred awaiting_input skipped restarting none "
                   "removed",
        "up_for_retry": "scheduled skipped upstream_failed none removed",
        "up_for_reschedule": "scheduled none skipped removed",
        "deferred": "scheduled none skipped removed",
        "awaiting_input": "scheduled none skipped removed",
        "upstream_failed": "skipped none removed",
        "restarting": "up_for_retry none skipped removed",
        "success": "none removed",
        "failed": "none removed",
        "skipped": "none removed",
        "removed": "none",
    }.items()
}
"""From each state, the states a TI may enter next (recorded from Airflow 3.3.2).

``none`` from a finished state is a *clear*; ``none`` from queued or running is an orphan reset.
"""


def code(name: str) -> int:
    """The number the engine uses for a state name.

    >>> code("success") == SUCCESS
    True
    >>> code("sucess")
    Traceback (most recent call last):
    ...
    dagkit.errors.DagkitError: state 'sucess' is not a task-instance state. Did you mean 'success'? Known: none, ...
    """
    try:
        return CODE[name]
    except (KeyError, TypeError):
        raise DagkitError(
            f"state '{shown(name)}' is not a task-instance state.{nearest(name, NAMES)} Known: {choices(NAMES, 14)}."
        ) from None


def is_legal(old: str, new: str) -> bool:
    """Whether Airflow ever moves a TI from ``old`` to ``new`` in one step.

    >>> is_legal("queued", "running"), is_legal("none", "running")
    (True, False)
    """
    code(new)
    return new in LEGAL[NAMES[code(old)]]
