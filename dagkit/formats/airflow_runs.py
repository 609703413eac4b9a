"""Listings of task instances: ``airflow tasks states-for-dag-run -o json`` and the REST API's task instances.

Definition: https://airflow.apache.org/docs/apache-airflow/stable/stable-rest-api-ref.html (taskInstances),
and https://airflow.apache.org/docs/apache-airflow/stable/cli-and-env-variables-ref.html
A listing knows times and states but no dependencies; give it the Dag to get both.
"""

from __future__ import annotations

from typing import Any

from ..dag import Dag
from ..errors import choices, shown
from .airflow_params import task_parameters
from .draft import Draft, label, seconds
from .loaded import Loaded, Run, moment
from .safe import as_dict, as_list, parse_json, parse_yaml
from .source import Source

NAME = "airflow-run"
TITLE = "Airflow task instances (REST or command line listing)"
DEFINITION = "https://airflow.apache.org/docs/apache-airflow/stable/stable-rest-api-ref.html"

_RAN = ("success", "failed")


def matches(data: Any) -> bool:
    """``task_instances``, or a list of objects with ``task_id`` and ``state``."""
    rows = _rows(data)
    return bool(rows) and all("task_id" in as_dict(row) and "state" in as_dict(row) for row in rows[:5])


def _parsed(source: Source) -> Any:
    return parse_json(source) if source.text.lstrip()[:1] in "[{" else next(iter(parse_yaml(source)), None)


def _rows(data: Any) -> list[Any]:
    return data if isinstance(data, list) else as_list(as_dict(data).get("task_instances"))


def read(source: Source, data: Any = None, *, dag: Any = None, run_id: str | None = None) -> Loaded:
    """One recorded run: its tasks with the durations they had, in seconds.

    dag: the Dag (or what ``load`` gave back for it) whose dependencies to use. run_id: which run, if the
    listing holds several; the first by default.
    """
    data = _parsed(source) if data is None else data
    if not matches(data):
        raise source.bad(
            "a listing of task instances", type(data).__name__, "Each row needs task_id and state."
        )
    rows = [as_dict(row) for row in _rows(data)]
    draft = Draft(NAME, source)
    rows = _one_run(draft, rows, run_id)
    draft.dag_id = label(rows[0].get("dag_id")) or draft.dag_id
    total = as_dict(data).get("total_entries")
    if type(total) is int and total > len(_rows(data)):
        draft.note(
            f"The listing holds {len(_rows(data))} of {total} task instances; ask for the rest with limit=."
        )
    latest = _latest_tries(draft, rows)
    for name, row in latest.items():
        state = label(row.get("state"))
        draft.task(name, (), _lasted(row) if state in _RAN else None, **_parameters(draft, name, row))
    about = as_dict(as_dict(data).get("dag_run"))
    run = Run.from_times(
        [_times(name, row) for name, row in latest.items()],
        moment(about.get("start_date")),
        label(about.get("state")) or None,
    )
    never = [name for name, row in latest.items() if label(row.get("state")) not in _RAN]
    draft.note_all(
        never, "task instance|instances was|were not run to an end, so its|their duration is unknown"
    )
    if dag is None:
        draft.note(
            "A listing has no dependencies: the tasks stand side by side. Give the Dag: load(path, dag=...)."
        )
    loaded = draft.finish(unit="s", run=run, recorded_makespan=run.makespan if run else None)
    return loaded if dag is None else loaded.with_dag(_shape(dag))


def _one_run(draft: Draft, rows: list[dict[str, Any]], run_id: str | None) -> list[dict[str, Any]]:
    """The rows of one run of one Dag; the report names the others."""

    def key(row: dict[str, Any]) -> tuple[str, str]:
        run = next(
            (row[k] for k in ("dag_run_id", "run_id", "logical_date", "execution_date") if row.get(k)), ""
        )
        return label(row.get("dag_id")), label(run)

    runs = list(dict.fromkeys(key(row) for row in rows))
    chosen = runs[0] if run_id is None else next((run for run in runs if run[1] == run_id), None)
    if chosen is None:
        raise draft.source.bad(
            "a run of this listing", f"run_id '{shown(run_id)}'", f"Known: {choices(r for _, r in runs)}."
        )
    draft.note_all(
        [f"{dag} {run}" for dag, run in runs if (dag, run) != chosen],
        "other run|runs was|were left out (run_id= chooses)",
    )
    return [row for row in rows if key(row) == chosen]


def _latest_tries(draft: Draft, rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Row by label ``task`` or ``task[i]``; of several tries the last one."""
    made: dict[str, dict[str, Any]] = {}
    for row in rows:
        index = seconds(row.get("map_index"))
        name = label(row.get("task_id"))
        name = name if index is None else f"{name}[{index}]"
        if name in made:
            draft.note("Of several tries of a task only the last one counts.")
            if (seconds(row.get("try_number")) or 0) < (seconds(made[name].get("try_number")) or 0):
                continue
        made[name] = row
    return made


def _lasted(row: dict[str, Any]) -> float | None:
    """The ``duration`` of a row, or else the time between its start and end."""
    given, start, end = (
        seconds(row.get("duration")),
        moment(row.get("start_date")),
        moment(row.get("end_date")),
    )
    if given is not None or start is None or end is None:
        return given
    return max(0.0, (end - start).total_seconds())


def _times(name: str, row: dict[str, Any]) -> dict[str, Any]:
    tries = seconds(row.get("try_number"))
    return {
        "task": name,
        "start": moment(row.get("start_date")),
        "end": moment(row.get("end_date")),
        "queued": moment(row.get("queued_when", row.get("queued_dttm"))),
        "scheduled": moment(row.get("scheduled_when", row.get("scheduled_dttm"))),
        "state": label(row.get("state")) or "none",
        "try_number": tries if isinstance(tries, int) else None,
    }


def _parameters(draft: Draft, name: str, row: dict[str, Any]) -> dict[str, Any]:
    return task_parameters(
        draft,
        name,
        {key: row.get(key) for key in ("pool", "pool_slots", "queue", "priority_weight", "executor")},
    )


def _shape(dag: Any) -> Dag | Loaded:
    """The Dag named by the option ``dag``: itself, something loaded, or a file to load."""
    if isinstance(dag, (Dag, Loaded)):
        return dag
    from . import load

    return load(dag)
