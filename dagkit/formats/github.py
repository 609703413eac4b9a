"""GitHub Actions workflows: jobs, ``needs``, and a task for every combination of a matrix.

Definition: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax
A job that needs a job with a matrix waits for all its combinations. Steps inside a job are not shown.
"""

from __future__ import annotations

from typing import Any

from ..errors import choices, nearest, shown
from .draft import Draft, label
from .loaded import Loaded
from .matrix import github_matrix, values_of
from .safe import as_dict, as_list, parse_yaml
from .source import Source

NAME = "github"
TITLE = "GitHub Actions workflow"
DEFINITION = "https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax"

_JOB_KEYS = ("runs-on", "steps", "uses", "needs", "strategy")
_ALWAYS = ("always()", "!cancelled()")


def matches(data: Any) -> bool:
    """An object with ``on`` and jobs, or with jobs that all name a runner or another workflow."""
    jobs = as_dict(as_dict(data).get("jobs"))
    if "on" in as_dict(data):
        return any(key in as_dict(job) for job in jobs.values() for key in _JOB_KEYS)
    return bool(jobs) and all("runs-on" in as_dict(job) or "uses" in as_dict(job) for job in jobs.values())


def read(source: Source, data: Any = None) -> Loaded:
    """The Dag of a workflow. Raises FormatError for a need that is no job of it."""
    data = data if data is not None else next(iter(parse_yaml(source)), None)
    jobs = as_dict(as_dict(data).get("jobs"))
    if not jobs:
        found = choices(as_dict(data)) or "no keys"
        raise source.bad(
            "a workflow with 'jobs'", found, "An action has steps only; load the workflow that uses it."
        )
    for key, line in source.repeated.items():
        raise source.bad(
            "every key once in its mapping, as GitHub does",
            f"'{shown(key)}' again on line {line}",
            "Remove or rename one of the two.",
        )
    draft = Draft(NAME, source, label(as_dict(data).get("name")) or None)
    jobs = {label(name): as_dict(job) for name, job in jobs.items()}
    instances = {name: _instances(draft, name, job) for name, job in jobs.items()}
    for name, job in jobs.items():
        needs = [label(need) for need in as_list(job.get("needs"))]
        for need in needs:
            if need not in jobs:
                raise source.bad(
                    "needs that are jobs of this workflow",
                    f"'{shown(need)}' in job '{shown(name)}'",
                    f"Known: {choices(jobs)}.{nearest(need, jobs)}",
                )
        upstream = [one for need in needs for one in instances[need]]
        for instance in instances[name]:
            draft.task(instance, upstream, **_rule(draft, job))
    _remarks(draft, jobs)
    return draft.finish()


def _instances(draft: Draft, name: str, job: dict[str, Any]) -> list[str]:
    """The job's name, or one for each combination of its matrix, as GitHub shows them."""
    matrix = as_dict(job.get("strategy")).get("matrix")
    if not matrix:
        return [name]
    made = github_matrix(matrix) if isinstance(matrix, dict) else None
    if made is None:
        draft.note(f"Job '{shown(name)}': its matrix is decided at run time, so it is one task here.")
        return [name]
    named = dict.fromkeys(f"{name} ({', '.join(values_of(one))})" for one in made)
    return list(named) or [name]


def _rule(draft: Draft, job: dict[str, Any]) -> dict[str, Any]:
    """``if: always()`` runs whatever its needs did; any other condition is only known at run time."""
    condition = label(job.get("if")).strip().removeprefix("${{").removesuffix("}}").replace(" ", "")
    if condition in _ALWAYS:
        return {"trigger_rule": "all_done"}
    return {}


def _remarks(draft: Draft, jobs: dict[str, dict[str, Any]]) -> None:
    def having(key: str) -> list[str]:
        return [name for name, job in jobs.items() if job.get(key) is not None]

    conditions = [name for name in having("if") if not _rule(draft, jobs[name])]
    draft.note_all(
        conditions, "job|jobs has|have a condition (if) that is only known at run time; it|they will run here"
    )
    draft.note_all(having("uses"), "job|jobs calls|call another workflow, whose jobs are not in this file")
    draft.note_all(
        having("continue-on-error"), "job|jobs may fail without failing the run; here a failure counts"
    )
    limited = [name for name in jobs if as_dict(jobs[name].get("strategy")).get("max-parallel") is not None]
    draft.note_all(limited, "job|jobs limits|limit how many combinations run at once (max-parallel); ignored")
    if any(job.get("concurrency") is not None for job in jobs.values()):
        draft.note("Concurrency groups were ignored.")
    draft.note("Steps, runners and events were ignored: a job is a task.")
