"""WfFormat, the JSON of the WfCommons project: workflows with recorded runtimes, versions 1.0 to 1.6.

Definition: https://github.com/wfcommons/WfFormat (schema and the list of changes between versions).
Up to 1.2 the tasks are ``workflow.jobs``, up to 1.4 one list with names as references; from 1.5 on the shape
(``specification``) and the recorded run (``execution``) are apart and refer to each other by id.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from ..errors import shown
from .draft import Draft, label, seconds
from .loaded import Loaded, Run, moment
from .safe import as_dict, as_list, parse_json
from .source import Source

NAME = "wfformat"
TITLE = "WfFormat (WfCommons JSON)"
DEFINITION = "https://github.com/wfcommons/WfFormat"


def matches(data: Any) -> bool:
    """A JSON object with a ``workflow`` that holds tasks."""
    flow = as_dict(as_dict(data).get("workflow"))
    return any(key in flow for key in ("specification", "tasks", "jobs"))


def read(source: Source, data: Any = None) -> Loaded:
    """The Dag of a WfFormat instance, its runtimes in seconds, and the recorded makespan."""
    data = parse_json(source) if data is None else data
    if not matches(data):
        raise source.bad(
            "a WfFormat object with workflow.specification.tasks (1.5) or workflow.tasks",
            _found(data),
            "See the WfFormat schema, or name the right format.",
        )
    flow = data["workflow"]
    tasks, ran, record = _parts(flow)
    tasks = [task for task in tasks if isinstance(task, dict) and (task.get("id") or task.get("name"))]
    draft = Draft(NAME, source, label(data.get("name")) or None)
    ids = _ids(tasks, split="specification" in flow)
    upstream = _upstream(draft, tasks, ids)
    runs = _runs(draft, tasks, ids, ran)
    for task_id in ids:
        draft.task(task_id, upstream[task_id], _lasted(draft, task_id, runs.get(task_id, {})))
    draft.note(
        "Files, machines, commands and memory were ignored; tasks, dependencies and runtimes were read."
    )
    took = seconds(_first(record, "makespanInSeconds", "makespan"))
    run = _run(runs)
    if run is None:
        known = "only the makespan of the whole run" if took else "and no makespan"
        draft.note(f"The file has no start times, {known}: when each task ran is unknown (run is None).")
    timed = any(spec["duration"] is not None for spec in draft.specs.values())
    return draft.finish(unit="s" if timed else None, run=run, recorded_makespan=took or None)


def _found(data: Any) -> str:
    return f"the keys {shown(sorted(map(str, data)))}" if isinstance(data, dict) else type(data).__name__


def _parts(flow: dict[str, Any]) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """The tasks, their recorded runs, and the record of the whole run, wherever this version keeps them."""
    if "specification" in flow:
        record = as_dict(flow.get("execution"))
        return as_list(as_dict(flow["specification"]).get("tasks")), as_list(record.get("tasks")), record
    tasks = as_list(flow.get("tasks", flow.get("jobs")))
    return tasks, tasks, flow


def _ids(tasks: list[dict[str, Any]], split: bool) -> dict[str, dict[str, Any]]:
    """Task by id. From 1.5 on the file's id; before, the name, with the id added where names repeat."""
    names = Counter(label(task.get("name")) for task in tasks)
    made: dict[str, dict[str, Any]] = {}
    for number, task in enumerate(tasks):
        name, own = label(task.get("name")), label(task.get("id"))
        task_id = own or name if split else name if names[name] == 1 else f"{name}_{own or number}"
        made[task_id if task_id not in made else f"{task_id}_{number}"] = task
    return made


def _upstream(
    draft: Draft, tasks: list[dict[str, Any]], ids: dict[str, dict[str, Any]]
) -> dict[str, list[str]]:
    """Parents as listed, and those known only from another task's children."""
    of = {id(task): task_id for task_id, task in ids.items()}
    alias: dict[str, str] = {}
    for key in ("id", "name"):
        for task in tasks:
            alias.setdefault(label(task.get(key)), of[id(task)])
    lost: dict[str, None] = {}

    def known(names: Any) -> list[str]:
        found = [label(name) for name in as_list(names)]
        lost.update(dict.fromkeys(name for name in found if name not in alias))
        return [alias[name] for name in found if name in alias]

    parents = {task_id: dict.fromkeys(known(task.get("parents"))) for task_id, task in ids.items()}
    listed = any("parents" in task for task in tasks)
    one_sided = 0
    for task_id, task in ids.items():
        for child in known(task.get("children")):
            one_sided += task_id not in parents[child]
            parents[child].setdefault(task_id)
    if listed and one_sided:
        is_are = "dependency is" if one_sided == 1 else "dependencies are"
        draft.note(f"{one_sided} {is_are} listed only as children, not as parents; kept.")
    draft.note_all(lost, "parent or child name|names was|were ignored, because no task is called so")
    if not any(parents.values()):
        parents = _from_files(draft, ids)
    return {task_id: list(ups) for task_id, ups in parents.items()}


def _from_files(draft: Draft, ids: dict[str, dict[str, Any]]) -> dict[str, dict[str, None]]:
    """Where no dependency is declared at all: who writes a file comes before who reads it."""
    reads: dict[str, list[str]] = {}
    writer: dict[str, str] = {}
    for task_id, task in ids.items():
        linked = {
            way: [f for f in as_list(task.get("files")) if str(as_dict(f).get("link")).lower() == way]
            for way in ("input", "output")
        }
        reads[task_id] = [_file(f) for f in as_list(task.get("inputFiles")) + linked["input"]]
        for entry in as_list(task.get("outputFiles")) + linked["output"]:
            writer.setdefault(_file(entry), task_id)
    made = {
        task_id: dict.fromkeys(writer[f] for f in files if f in writer and writer[f] != task_id)
        for task_id, files in reads.items()
    }
    if any(made.values()):
        draft.note(
            "No parents or children are listed; dependencies were taken from the files written and read."
        )
    return made


def _file(entry: Any) -> str:
    return label(_first(entry, "id", "name") if isinstance(entry, dict) else entry)


def _runs(
    draft: Draft, tasks: list[dict[str, Any]], ids: dict[str, dict[str, Any]], ran: list[Any]
) -> dict[str, dict[str, Any]]:
    """The record of each task that has one."""
    if ran is tasks or not ran:
        return dict(ids)
    of = {id(task): task_id for task_id, task in ids.items()}
    made: dict[str, dict[str, Any]] = {}
    unknown = []
    for entry in ran:
        if not isinstance(entry, dict):
            continue
        task_id = of.get(id(entry)) or label(entry.get("id")) or label(entry.get("name"))
        if task_id in ids:
            made[task_id] = entry
        else:
            unknown.append(task_id)
    draft.note_all(unknown, "recorded run|runs was|were ignored, because no task is called so")
    return made


def _lasted(draft: Draft, task_id: str, entry: dict[str, Any]) -> float | None:
    raw = _first(entry, "runtimeInSeconds", "runtime")
    value = seconds(raw)
    if raw is not None and value is None:
        draft.note(f"The runtime of task '{shown(task_id)}', {shown(repr(raw))}, is no number >= 0; ignored.")
    return value


def _run(runs: dict[str, dict[str, Any]]) -> Run | None:
    rows = []
    for task_id, entry in runs.items():
        start, lasted = moment(entry.get("executedAt")), seconds(_first(entry, "runtimeInSeconds", "runtime"))
        if start is not None:
            rows.append(
                {"task": task_id, "start": start, "end": None if lasted is None else _after(start, lasted)}
            )
    return Run.from_times(rows)


def _after(start: datetime, lasted: float) -> datetime | None:
    try:
        return start + timedelta(seconds=lasted)
    except OverflowError:
        return None


def _first(entry: dict[str, Any], *keys: str) -> Any:
    """The value of the first key that is there."""
    return next((entry[key] for key in keys if entry.get(key) is not None), None)
