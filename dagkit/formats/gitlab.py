"""GitLab CI: jobs, stages, ``needs``, ``parallel`` and ``extends``.

Definition: https://docs.gitlab.com/ci/yaml/
A job without ``needs`` waits for every job of the earlier stages; one with ``needs`` waits for those alone.
"""

from __future__ import annotations

import re
from typing import Any

from ..errors import choices, nearest, shown
from .draft import Draft, label, seconds
from .loaded import Loaded
from .matrix import gitlab_matrix, values_of
from .safe import Reference, as_dict, as_list, parse_yaml
from .source import Source

NAME = "gitlab"
TITLE = "GitLab CI pipeline"
DEFINITION = "https://docs.gitlab.com/ci/yaml/"

_GLOBAL = (
    "stages",
    "include",
    "default",
    "variables",
    "workflow",
    "image",
    "services",
    "cache",
    "before_script",
    "after_script",
    "types",
    "spec",
)
_JOB_KEYS = ("script", "trigger", "extends", "run", "stage", "needs", "rules")
_DEFAULT_STAGES = ("build", "test", "deploy")
_COPY = re.compile(r"(?: \d+/\d+|: \[.*\])\Z", re.DOTALL)  # what GitLab adds to the name of a parallel copy
_INPUT = re.compile(r"\$\[\[\s*inputs\.([\w-]+)[^\]]*\]\]")
_REFERRED = ("needs", "stage", "type", "parallel", "retry", "when")  # the keys whose value is looked at
_MAX_REFERENCES = 10  # levels, as GitLab allows
_MAX_EXTENDS = 11  # levels, as GitLab allows

Job = dict[str, Any]


def matches(data: Any) -> bool:
    """Top-level objects that look like jobs, or ``stages`` or ``include`` with at least one of them."""
    data = as_dict(data)
    if "jobs" in data or "apiVersion" in data:
        return False
    return any(
        any(key in as_dict(job) for key in _JOB_KEYS) for name, job in data.items() if name not in _GLOBAL
    )


def read(source: Source, data: Any = None) -> Loaded:
    """The Dag of a pipeline. Raises FormatError for a need that is no job, when no include could hold it."""
    documents = [data] if data is not None and "$[[" not in source.text else parse_yaml(source)
    data = as_dict(next((d for d in documents if matches(d)), next(iter(documents), None)))
    draft = Draft(NAME, source)
    jobs = _jobs(draft, data)
    if not jobs:
        raise source.bad(
            "a pipeline with jobs", choices(data) or "no keys", "A job has a script, a trigger or extends."
        )
    stages = [
        ".pre",
        *(label(s) for s in as_list(data.get("stages", data.get("types"))) or _DEFAULT_STAGES),
        ".post",
    ]
    place = _places(draft, jobs, stages, _inputs(documents), bool(data.get("include")))
    instances = {name: _instances(draft, name, job) for name, job in jobs.items()}
    before = _before(jobs, place)
    for name, job in jobs.items():
        if job.get("needs") is None:
            upstream = [one for up in before[place[name]] for one in instances[up]]
        else:
            upstream = _upstream(draft, name, job, jobs, instances, bool(data.get("include")))
        for instance in instances[name]:
            draft.task(instance, upstream, **_parameters(job, as_dict(data.get("default"))))
    _remarks(draft, data, jobs)
    return draft.finish()


def _jobs(draft: Draft, data: dict[str, Any]) -> dict[str, Job]:
    """The jobs, with what they extend merged in; names that start with a dot are templates."""
    made: dict[str, Job] = {}
    unknown: dict[str, None] = {}
    for name, job in data.items():
        if label(name) in _GLOBAL or label(name).startswith(".") or not isinstance(job, dict):
            continue
        made[label(name)] = _extended(draft, data, label(name), unknown)
    draft.note_all(unknown, "template|templates to extend is|are not in this file; what they say is unknown")
    return made


def _extended(draft: Draft, data: dict[str, Any], name: str, unknown: dict[str, None]) -> Job:
    """A job over its templates, the last named on top."""
    layers: list[Job] = []
    todo = [(name, 0)]
    while todo:
        current, depth = todo.pop()
        if depth > _MAX_EXTENDS:
            raise draft.source.bad(
                f"extends at most {_MAX_EXTENDS} deep",
                f"more from job '{shown(name)}'",
                "Break the ring of templates.",
            )
        job = data.get(current)
        if not isinstance(job, dict):
            unknown[current] = None
            layers.append({"?": True})
            continue
        layers.append(job)
        todo += [(label(parent), depth + 1) for parent in as_list(job.get("extends"))]
        if len(layers) > 500:
            raise draft.source.bad(
                "a job of at most 500 templates", f"more for '{shown(name)}'", "Merge some."
            )
    merged: Job = {}
    for layer in reversed(layers):
        merged.update(layer)
    return {key: _referred(draft, data, key, value) if key in _REFERRED else value for key, value in merged.items()}


def _referred(draft: Draft, data: dict[str, Any], key: str, value: Any, depth: int = 0) -> Any:
    """A value with ``!reference [job, key]`` put in place; lists inside lists become one."""
    draft.spend()
    if isinstance(value, Reference):
        found: Any = data
        for step in value:
            found = as_dict(found).get(step) if isinstance(step, str) else None
        if found is None or depth == _MAX_REFERENCES:
            draft.note(
                f"A !reference for '{key}' leads nowhere in this file ({shown(', '.join(map(str, value)))}), "
                f"leads back to itself or more than {_MAX_REFERENCES} deep; it was left out."
            )
            return None
        return _referred(draft, data, key, found, depth + 1)
    if isinstance(value, list) and any(isinstance(item, Reference) for item in value):
        return [
            one
            for item in value
            for one in (as_list(_referred(draft, data, key, item, depth)) if isinstance(item, Reference) else [item])
        ]
    return value


def _inputs(documents: list[Any]) -> dict[str, str]:
    """Defaults of the inputs that a template declares: ``spec: inputs: stage: default: test``."""
    declared = as_dict(as_dict(next((as_dict(d)["spec"] for d in documents if "spec" in as_dict(d)), None)).get("inputs"))
    return {label(name): label(as_dict(one).get("default")) for name, one in declared.items()}


def _places(
    draft: Draft, jobs: dict[str, Job], stages: list[str], inputs: dict[str, str], include: bool
) -> dict[str, int | None]:
    """The number of each job's stage; None where only an unknown template, input or included file could tell."""
    places: dict[str, int | None] = {}
    guessed: list[str] = []
    unknown: list[str] = []
    for name, job in jobs.items():
        stage = label(job.get("stage", job.get("type")))
        if not stage and job.get("?"):
            stage = name if name in stages else ""
            (guessed if stage else unknown).append(name)
            places[name] = stages.index(stage) if stage else None
            continue
        stage = _INPUT.sub(lambda found: inputs.get(found[1], ""), stage or "test") or "?"
        if stage not in stages and (include or stage == "?"):
            unknown.append(name)
            places[name] = None
            continue
        if stage not in stages:
            raise draft.source.bad(
                "stages that are listed",
                f"stage '{shown(stage)}' of job '{shown(name)}'",
                f"Known: {choices(stages[1:-1])}.{nearest(stage, stages)}",
            )
        places[name] = stages.index(stage)
    draft.note_all(
        guessed,
        "job|jobs takes|take its|their stage from a template elsewhere; the stage of that name was used",
    )
    draft.note_all(
        unknown, "job|jobs takes|take its|their stage from a template elsewhere; no order was assumed"
    )
    return places


def _instances(draft: Draft, name: str, job: Job) -> list[str]:
    """The job's name, or one for each of its parallel copies, as GitLab shows them."""
    parallel = job.get("parallel")
    if isinstance(parallel, dict):
        made = gitlab_matrix(as_list(parallel.get("matrix")))
        if made is not None:
            named = dict.fromkeys(f"{name}: [{', '.join(values_of(one))}]" for one in made)
            return list(named) or [name]
    count = seconds(parallel)
    if isinstance(count, int) and 1 < count <= 1000:
        return [f"{name} {number}/{count}" for number in range(1, count + 1)]
    if parallel is not None and count != 1:
        draft.note(f"Job '{shown(name)}': its parallel copies could not be told, so it is one task.")
    return [name]


def _upstream(
    draft: Draft, name: str, job: Job, jobs: dict[str, Job], instances: dict[str, list[str]], include: bool
) -> list[str]:
    """The jobs named by ``needs``."""
    found: list[str] = []
    for need in _flat(job["needs"]):
        entry = need if isinstance(need, dict) else {"job": need}
        target = label(entry.get("job"))
        if "pipeline" in entry or "project" in entry or not target:
            draft.note("Needs from other pipelines or projects were ignored: they only fetch artifacts.")
        elif target in jobs:
            found += _chosen(entry, target, jobs[target], instances[target])
        elif label(entry.get("optional")).lower() == "true":
            draft.note(f"Job '{shown(name)}' needs '{shown(target)}' only if it exists; it does not.")
        elif target in instances.get(re.sub(_COPY, "", target), ()):
            found.append(target)
        elif include:
            draft.note(
                f"Job '{shown(name)}' needs '{shown(target)}', which may be in an included file; ignored."
            )
        else:
            raise draft.source.bad(
                "needs that are jobs of this pipeline",
                f"'{shown(target)}' in job '{shown(name)}'",
                f"Known: {choices(jobs)}.{nearest(target, jobs)}",
            )
    return found


def _flat(needs: Any) -> list[Any]:
    """Lists inside the list become one: that is what anchors leave behind."""
    return [one for need in as_list(needs) for one in (need if isinstance(need, list) else [need])]


def _chosen(entry: Job, target: str, job: Job, instances: list[str]) -> list[str]:
    """All copies of a needed job, or those a ``parallel:matrix`` picks."""
    picked = gitlab_matrix(as_list(as_dict(entry.get("parallel")).get("matrix"))) or []
    wanted = {f"{target}: [{', '.join(values_of(one))}]" for one in picked}
    chosen = [one for one in instances if one in wanted]
    return chosen or instances


def _before(jobs: dict[str, Job], place: dict[str, int | None]) -> dict[int | None, list[str]]:
    """For each stage the jobs of earlier ones, as few as say the same.

    Back to a stage where some job itself waits for everything before it: what it waits for need not be repeated.
    """
    stages: dict[int, list[str]] = {}
    for name, stage in place.items():
        if stage is not None:
            stages.setdefault(stage, []).append(name)
    made: dict[int | None, list[str]] = {None: []}
    found: list[str] = []
    for stage in sorted(stages):
        made[stage] = found
        whole = any(jobs[name].get("needs") is None for name in stages[stage])
        found = stages[stage] if whole else found + stages[stage]
    return made


def _parameters(job: Job, default: Job) -> dict[str, Any]:
    """What has an exact counterpart: ``when: always``, and retries, which ``default`` may set for all jobs."""
    retry = job.get("retry", None if job.get("inherit") else default.get("retry"))
    count = seconds(retry.get("max") if isinstance(retry, dict) else retry)
    made: dict[str, Any] = {"retries": count, "retry_delay": 0} if isinstance(count, int) and count else {}
    if label(job.get("when")) == "always":
        made["trigger_rule"] = "all_done"
    return made


def _remarks(draft: Draft, data: dict[str, Any], jobs: dict[str, Job]) -> None:
    def having(key: str) -> list[str]:
        return [name for name, job in jobs.items() if job.get(key) is not None]

    if data.get("include"):
        draft.note("Included files were not read; their jobs are missing here.")
    conditions = [n for n in jobs if any(jobs[n].get(key) is not None for key in ("rules", "only", "except"))]
    draft.note_all(
        conditions, "job|jobs has|have rules that are only known at run time; it|they will run here"
    )
    for word, meaning in (
        ("manual", "waits|wait for a person"),
        ("on_failure", "runs|run only after a failure"),
        ("delayed", "starts|start after a delay"),
    ):
        draft.note_all(
            [n for n in jobs if label(jobs[n].get("when")) == word],
            f"job|jobs {meaning} (when: {word}); ignored here",
        )
    draft.note_all(having("trigger"), "job|jobs starts|start another pipeline, which is not in this file")
    draft.note_all(
        having("allow_failure"), "job|jobs may fail without failing the pipeline; here a failure counts"
    )
    draft.note_all(
        having("resource_group"), "job|jobs shares|share a resource group (one at a time); ignored"
    )
    draft.note_all(
        having("dependencies"), "job|jobs lists|list dependencies, which only fetch artifacts; ignored"
    )
