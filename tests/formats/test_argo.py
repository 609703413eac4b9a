"""Argo: dependencies, boolean depends, steps."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from dagkit import trigger_rules
from dagkit.errors import CycleError, FormatError
from dagkit.formats import Loaded, load
from dagkit.formats.argo_depends import default_expression, parse_depends, rules_for
from dagkit.formats.source import Source

from .support import remark


def workflow(tasks: str, more: str = "") -> str:
    lines = "".join(f"          - {line}\n" for line in tasks.strip().splitlines())
    return (
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {generateName: demo-}\nspec:\n"
        f"  entrypoint: main\n{more}  templates:\n    - name: main\n      dag:\n        tasks:\n{lines}"
        "    - {name: pod, retryStrategy: {limit: '2'}}\n"
    )


def dag_of(tasks: str, **options: object) -> Loaded:
    return load(workflow(tasks), **options)


def test_dependencies() -> None:
    loaded = load(
        workflow(
            "{name: a}\n{name: b, template: pod, dependencies: [a]}\n{name: c, dependencies: [a, b]}",
            "  parallelism: 3\n",
        )
    )
    assert (loaded.format, loaded.dag.dag_id) == ("argo", "demo")
    assert loaded.dag.edges == [("a", "b"), ("a", "c"), ("b", "c")]
    assert loaded.dag["b"].retries == 2 and loaded.dag.max_active_tasks == 3
    assert {t.trigger_rule for t in loaded.dag} == {"all_success"}


@pytest.mark.parametrize(
    ("depends", "rule"),
    [
        ("a && b", "all_success"),
        ("a.Succeeded && b", "all_success"),
        ("(a.Succeeded || a.Failed) && (b.Succeeded || b.Failed)", "all_done"),
        ("(a.Succeeded || a.Failed || a.Errored) && (b || b.Failed)", "all_done"),
        ("a || b", "all_done_min_one_success"),
        ("a.Failed && b.Failed", "all_failed"),
        ("!a && !b", "all_failed"),
        ("!(a || b)", "all_failed"),
        ("!!a && b", "all_success"),
    ],
)
def test_a_depends_with_an_exact_rule(depends: str, rule: str) -> None:
    loaded = dag_of(f"{{name: a}}\n{{name: b}}\n{{name: c, depends: '{depends}'}}")
    assert loaded.dag["c"].trigger_rule == rule
    assert loaded.dag["c"].upstream == ("a", "b")


@pytest.mark.parametrize(
    ("depends", "reason"),
    [
        (
            "a.Failed || b.Failed",
            "with a Failed, b Failed it is true, but all_success would not run the task",
        ),
        ("a.Failed && b", "with a Failed, b Succeeded it is true"),
        ("a && !b", "with a Succeeded, b Failed it is true"),
    ],
)
def test_a_depends_that_no_rule_says_is_refused_with_the_case(depends: str, reason: str) -> None:
    tasks = f"{{name: a}}\n{{name: b}}\n{{name: c, depends: '{depends}'}}"
    with pytest.raises(FormatError) as caught:
        dag_of(tasks)
    assert f"found '{depends}' in task 'c': none agrees in every case; {reason}" in str(caught.value)
    assert "strict=False" in str(caught.value)
    loaded = dag_of(tasks, strict=False)
    assert loaded.dag["c"].trigger_rule == "all_done"
    assert remark(loaded, "Task 'c': no trigger rule says its depends exactly")


def test_a_skippable_upstream_changes_the_rule() -> None:
    """A bare name accepts Skipped, and only a task with ``when`` can be skipped."""
    assert dag_of("{name: a, when: x}\n{name: b, depends: a}").dag["b"].trigger_rule == "none_failed"
    assert (
        dag_of("{name: a, when: x}\n{name: b, depends: a.Succeeded}").dag["b"].trigger_rule == "all_success"
    )
    assert remark(dag_of("{name: a, when: x}\n{name: b}"), "Task 'a' runs only when its condition holds")


def test_what_cannot_happen_together_does_not_count() -> None:
    """c runs only after a succeeded, so "a and c whatever came of it" is "all done, one success"."""
    tasks = "{name: a}\n{name: c, depends: a}\n{name: d, depends: 'a && (c.Succeeded || c.Failed)'}"
    assert dag_of(tasks).dag["d"].trigger_rule == "all_done_min_one_success"


def test_a_mapped_depends_agrees_with_its_rule_in_every_outcome() -> None:
    """The sentence of the module, tried on a wide Dag where upstreams are taken one by one."""
    names = [f"t{i}" for i in range(40)]
    needs = {name: default_expression([]) for name in names}
    needs["all"] = default_expression(names)
    needs["some"] = parse_depends(Source("x", ""), "some", "t0 || t1 || t2")
    needs["many"] = parse_depends(Source("x", ""), "many", " || ".join(names))
    rules, refused = rules_for(needs, set())
    assert rules["all"] == "all_success" and rules["some"] == "all_done_min_one_success"
    assert "too many cases" in refused["many"] and set(refused) == {"many"}
    for states in product(("success", "failed"), repeat=3):
        verdict = trigger_rules.evaluate(rules["some"], states)
        assert (verdict == "run") == ("success" in states)


@pytest.mark.parametrize(
    ("depends", "found"),
    [
        ("a &&", "an end too early"),
        ("(a", "an end too early"),
        ("a)", "a bracket that was never opened"),
        ("a b", "'b'"),
        ("&& a", "'&& a'"),
        ("a.Won", "the unknown result 'Won'"),
        ("a || | b", "'\\| b'"),
        ("a.AnySucceeded", "the result 'AnySucceeded', which depends on single items"),
        ("()", r"'\)'"),
    ],
)
def test_a_depends_that_is_none(depends: str, found: str) -> None:
    with pytest.raises(FormatError, match=f"expected depends like .* found {found}.* in task 'b'"):
        dag_of(f"{{name: a}}\n{{name: b, depends: '{depends}'}}")


def test_a_deep_depends_is_no_recursion() -> None:
    depends = "(" * 20_000 + "a" + ")" * 20_000
    assert dag_of(f"{{name: a}}\n{{name: b, depends: '{depends}'}}").dag.edges == [("a", "b")]


def test_steps_are_groups_in_a_row() -> None:
    loaded = load("""
apiVersion: argoproj.io/v1alpha1
kind: CronWorkflow
metadata: {name: nightly}
spec:
  workflowSpec:
    entrypoint: main
    onExit: bye
    templates:
      - name: main
        steps:
          - - {name: a, template: pod}
          - - {name: b, template: pod, withItems: [1, 2]}
            - {name: c, template: pod, when: x, continueOn: {failed: true}}
          - - {name: d, templateRef: {name: other, template: x}, withParam: '{{x}}'}
      - {name: pod}
""")
    assert loaded.dag.edges == [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    assert loaded.dag["d"].trigger_rule == "none_failed"
    for start in (
        "Task 'b' runs once for each of 2 items",
        "Task 'd' runs several times",
        "Exit handlers",
        "Task 'c' may fail without stopping the rest",
        "Some tasks use templates from other files",
    ):
        assert remark(loaded, start)


def test_one_of_several_templates() -> None:
    text = workflow("{name: a}") + "    - name: second\n      dag: {tasks: [{name: z}]}\n"
    assert remark(load(text), "1 other template with tasks of its own was left out").endswith("second.")
    assert list(load(text, template="second").dag.tasks) == ["z"]
    with pytest.raises(FormatError, match="found 'scond'. Known: main, second. Did you mean 'second'"):
        load(text, template="scond")


def test_refusals() -> None:
    with pytest.raises(FormatError, match="found 'x' in task 'a'. Known: a."):
        dag_of("{name: a, depends: x}")
    with pytest.raises(FormatError, match="expected either depends or dependencies, found both in task 'b'"):
        dag_of("{name: a}\n{name: b, depends: a, dependencies: [a]}")
    with pytest.raises(FormatError, match="expected a template with a dag or steps, found one"):
        load("apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec: {templates: [{name: one}]}\n")
    with pytest.raises(CycleError, match="cycle: a -> b -> a"):
        dag_of("{name: a, depends: b}\n{name: b, depends: a}")


def test_samples(samples_dir: Path) -> None:
    folder = samples_dir / "argo"
    if not folder.is_dir():
        pytest.skip("no Argo workflows among the samples")
    assert load(folder / "dag-diamond.yaml").dag.edges == [("A", "B"), ("A", "C"), ("B", "D"), ("C", "D")]
    dag = load(folder / "dag-enhanced-depends.yaml").dag
    # The names of its tasks say what becomes of them when C fails, as it does there.
    states = {"A": "success", "B": "success", "C": "failed"}
    for task in list(dag)[3:]:
        verdict = trigger_rules.evaluate(task.trigger_rule, [states[up] for up in task.upstream])
        assert (verdict == "run") == task.task_id.startswith("should-execute"), task
        states[task.task_id] = "success" if verdict == "run" else verdict


def test_the_containers_of_a_set_are_tasks() -> None:
    loaded = load("apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec:\n  entrypoint: m\n  templates:\n  - name: m\n"
                  "    containerSet:\n      containers:\n      - {name: a}\n      - {name: b, dependencies: [a]}\n")
    assert loaded.dag.edges == [("a", "b")] and remark(loaded, "The containers of one pod")


def test_a_workflow_whose_templates_are_elsewhere() -> None:
    with pytest.raises(FormatError, match="found a reference to the WorkflowTemplate 'other'. Load the file of that"):
        load("apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec:\n  workflowTemplateRef: {name: other}\n")
