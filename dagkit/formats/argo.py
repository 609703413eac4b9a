"""Argo Workflows: the ``dag`` or ``steps`` of one template.

Definition: https://argo-workflows.readthedocs.io/en/latest/fields/ and, for the boolean ``depends``,
https://argo-workflows.readthedocs.io/en/latest/enhanced-depends-logic/
A ``depends`` becomes a trigger rule only where the two agree in every possible case (see ``argo_depends``).
"""

from __future__ import annotations

from typing import Any

from ..errors import choices, nearest, shown
from .argo_depends import Expression, default_expression, parse_depends, rules_for
from .draft import Draft, label, seconds
from .loaded import Loaded
from .safe import as_dict, as_list, parse_yaml
from .source import Source

NAME = "argo"
TITLE = "Argo workflow"
DEFINITION = "https://argo-workflows.readthedocs.io/en/latest/fields/"

_GRAPHS = ("dag", "steps", "containerSet")
_KINDS = ("Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow")


def matches(data: Any) -> bool:
    """A Kubernetes object of Argo's, with templates."""
    data = as_dict(data)
    return label(data.get("apiVersion")).startswith("argoproj.io/") or (
        data.get("kind") in _KINDS and "spec" in data
    )


def read(source: Source, data: Any = None, *, template: str | None = None, strict: bool = True) -> Loaded:
    """The Dag of a workflow's template.

    template: which one; by default the entrypoint. strict: False keeps a task whose ``depends`` has no exact
    trigger rule, with all_done, and reports it.

    Raises FormatError for a ``depends`` that no trigger rule says exactly, naming the case where they differ.
    """
    data = data if data is not None else next((d for d in parse_yaml(source) if matches(d)), None)
    spec = as_dict(as_dict(data).get("spec"))
    spec = as_dict(spec.get("workflowSpec")) or spec
    templates = {label(t.get("name")): t for t in map(as_dict, as_list(spec.get("templates")))}
    draft = Draft(NAME, source, _name(data))
    body = _template(draft, spec, templates, template)
    if as_dict(body.get("dag")):
        _read_dag(draft, as_dict(body["dag"]), templates, strict)
    elif as_dict(body.get("containerSet")):
        containers = as_dict(body["containerSet"]).get("containers")
        _read_dag(draft, {"tasks": containers}, {}, strict)
        draft.note("The containers of one pod were read as tasks; they share its resources.")
    else:
        _read_steps(draft, as_list(body.get("steps")), templates)
    _remarks(draft, spec, templates)
    limit = seconds(spec.get("parallelism", body.get("parallelism")))
    return draft.finish(**({"max_active_tasks": limit} if isinstance(limit, int) and limit else {}))


def _name(data: Any) -> str | None:
    meta = as_dict(as_dict(data).get("metadata"))
    return label(meta.get("name")) or label(meta.get("generateName")).rstrip("-") or None


def _template(
    draft: Draft, spec: dict[str, Any], templates: dict[str, Any], wanted: str | None
) -> dict[str, Any]:
    """The template asked for, else the entrypoint, else the first that has a dag or steps."""
    graphs = [name for name, body in templates.items() if any(body.get(key) for key in _GRAPHS)]
    elsewhere = label(as_dict(spec.get("workflowTemplateRef")).get("name"))
    if not graphs and elsewhere:
        raise draft.source.bad(
            "a workflow with its templates",
            f"a reference to the WorkflowTemplate '{shown(elsewhere)}'",
            "Load the file of that template.",
        )
    if not graphs:
        found = choices(templates) or "no templates"
        raise draft.source.bad(
            "a template with a dag or steps", found, "A workflow of one container is one task."
        )
    entry = wanted or label(spec.get("entrypoint"))
    if wanted and wanted not in graphs:
        raise draft.source.bad(
            "a template with a dag or steps",
            f"'{shown(wanted)}'",
            f"Known: {choices(graphs)}.{nearest(wanted, graphs)}",
        )
    chosen = entry if entry in graphs else graphs[0]
    others = [name for name in graphs if name != chosen]
    draft.note_all(
        others, "other template|templates with tasks of its|their own was|were left out (template= chooses)"
    )
    return as_dict(templates[chosen])


def _read_dag(draft: Draft, dag: dict[str, Any], templates: dict[str, Any], strict: bool) -> None:
    tasks = {label(task.get("name")): task for task in map(as_dict, as_list(dag.get("tasks")))}
    needs: dict[str, Expression] = {}
    for name, task in tasks.items():
        text = label(task.get("depends"))
        if text and task.get("dependencies"):
            raise draft.source.bad(
                "either depends or dependencies", f"both in task '{shown(name)}'", "Keep one."
            )
        needs[name] = (
            parse_depends(draft.source, name, text)
            if text
            else default_expression([label(up) for up in as_list(task.get("dependencies"))])
        )
        for up in needs[name].names:
            if up not in tasks:
                raise draft.source.bad(
                    "dependencies that are tasks of this template",
                    f"'{shown(up)}' in task '{shown(name)}'",
                    f"Known: {choices(tasks)}.{nearest(up, tasks)}",
                )
    skippable = {name for name, task in tasks.items() if task.get("when") is not None}
    rules, refused = rules_for(needs, skippable)
    for name, reason in refused.items():
        if strict:
            text = shown(label(tasks[name].get("depends")), 120)
            raise draft.source.bad(
                "a depends that a trigger rule says exactly",
                f"'{text}' in task '{shown(name)}': {reason}",
                "Load it with strict=False to see it with all_done.",
            )
        draft.note(
            f"Task '{shown(name)}': no trigger rule says its depends exactly ({reason}); it has all_done "
            f"here."
        )
    for name, task in tasks.items():
        draft.task(name, needs[name].names, trigger_rule=rules[name], **_retries(task, templates))
        _task_remarks(draft, name, task)
    if label(dag.get("target")):
        draft.note("The target of the dag was ignored: all its tasks are shown.")


def _read_steps(draft: Draft, groups: list[Any], templates: dict[str, Any]) -> None:
    """Steps: the groups one after the other, the steps of a group side by side."""
    before: list[str] = []
    optional = False
    for group in groups:
        steps = [as_dict(step) for step in as_list(group)]
        names = []
        for step in steps:
            name = label(step.get("name"))
            draft.task(
                name,
                before,
                trigger_rule="none_failed" if optional else "all_success",
                **_retries(step, templates),
            )
            _task_remarks(draft, name, step)
            names.append(name)
        before, optional = names or before, any(step.get("when") is not None for step in steps)


def _retries(task: dict[str, Any], templates: dict[str, Any]) -> dict[str, Any]:
    """A template's ``retryStrategy.limit`` as retries, if it is a plain number."""
    body = as_dict(templates.get(label(task.get("template"))))
    limit = seconds(as_dict(body.get("retryStrategy")).get("limit"))
    return {"retries": limit, "retry_delay": 0} if isinstance(limit, int) and limit else {}


def _task_remarks(draft: Draft, name: str, task: dict[str, Any]) -> None:
    if task.get("when") is not None:
        draft.note(
            f"Task '{shown(name)}' runs only when its condition holds, which is known at run time; it runs "
            f"here."
        )
    items = task.get("withItems")
    if isinstance(items, list):
        draft.note(
            f"Task '{shown(name)}' runs once for each of {len(items)} items; dk.expand shows them all."
        )
    elif any(task.get(key) is not None for key in ("withItems", "withParam", "withSequence")):
        draft.note(f"Task '{shown(name)}' runs several times, decided at run time; it is one task here.")
    if task.get("continueOn") is not None:
        draft.note(f"Task '{shown(name)}' may fail without stopping the rest (continueOn); ignored here.")


def _remarks(draft: Draft, spec: dict[str, Any], templates: dict[str, Any]) -> None:
    if spec.get("onExit") is not None or spec.get("hooks") is not None:
        draft.note("Exit handlers and hooks were ignored.")
    elsewhere = "templateRef" in str(templates)[:1_000_000]
    if elsewhere:
        draft.note("Some tasks use templates from other files; each is one task.")
