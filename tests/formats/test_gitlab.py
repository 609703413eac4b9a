"""GitLab CI: stages, needs, parallel, extends."""

from __future__ import annotations

from pathlib import Path

import pytest

from dagkit.errors import FormatError
from dagkit.formats import draft, load

from .support import remark


def edges(text: str) -> list[tuple[str, str]]:
    return load(text).dag.edges


def test_stages_alone() -> None:
    loaded = load("""
stages: [one, two, three]
a: {stage: one, script: x}
b: {stage: one, script: x}
c: {stage: three, script: x}
first: {stage: .pre, script: x}
last: {stage: .post, script: x}
""")
    assert loaded.format == "gitlab"
    assert loaded.dag.edges == [("first", "a"), ("first", "b"), ("a", "c"), ("b", "c"), ("c", "last")]


def test_default_stages_and_default_stage() -> None:
    assert edges("b: {stage: build, script: x}\nt: {script: x}\nd: {stage: deploy, script: x}\n") == [
        ("b", "t"),
        ("t", "d"),
    ]


def test_a_stage_whose_jobs_wait_for_nothing_hides_no_earlier_one() -> None:
    """c waits for all of build and test; since t starts at once, b is not implied by it."""
    assert edges(
        "b: {stage: build, script: x}\nt: {script: x, needs: []}\nc: {stage: deploy, script: x}\n"
    ) == [("b", "c"), ("t", "c")]


def test_needs_of_every_form() -> None:
    loaded = load("""
a: {stage: build, script: x}
b: {stage: build, script: x, needs: []}
c:
  script: x
  needs:
    - a
    - job: b
      artifacts: false
    - job: ghost
      optional: true
    - pipeline: $PARENT
    - {project: group/other, job: build, ref: main}
""")
    assert loaded.dag.edges == [("a", "c"), ("b", "c")]
    assert remark(loaded, "Needs from other pipelines or projects were ignored")
    assert remark(loaded, "Job 'c' needs 'ghost' only if it exists")


def test_parallel_copies_and_matrices() -> None:
    loaded = load("""
shards: {stage: build, script: x, parallel: 2}
cloud:
  stage: build
  script: x
  parallel:
    matrix:
      - {PROVIDER: aws, STACK: [app, data]}
      - {PROVIDER: [ovh], STACK: app}
after: {script: x, needs: [shards]}
picky:
  script: x
  needs:
    - job: cloud
      parallel: {matrix: [{PROVIDER: aws, STACK: data}]}
named: {script: x, needs: ["cloud: [ovh, app]"]}
""")
    assert [t for t in loaded.dag.tasks if t[0] in "sc"] == [
        "shards 1/2",
        "shards 2/2",
        "cloud: [aws, app]",
        "cloud: [aws, data]",
        "cloud: [ovh, app]",
    ]
    assert loaded.dag["after"].upstream == ("shards 1/2", "shards 2/2")
    assert loaded.dag["picky"].upstream == ("cloud: [aws, data]",)
    assert loaded.dag["named"].upstream == ("cloud: [ovh, app]",)


def test_extends_and_references() -> None:
    loaded = load("""
stages: [one, two]
.base: {stage: two, script: x, retry: 2}
.mixin: {needs: [a]}
a: {stage: one, script: x}
b: {extends: .base}
c: {extends: [.base, .mixin], retry: {max: 1, when: runner_system_failure}}
d: {extends: .base, needs: [!reference [.mixin, needs], b]}
e: {extends: .base, needs: !reference [.mixin, needs]}
""")
    assert loaded.dag["b"].upstream == ("a",) and loaded.dag["b"].retries == 2
    assert loaded.dag["c"].upstream == ("a",) and loaded.dag["c"].retries == 1
    assert loaded.dag["d"].upstream == ("a", "b")
    assert loaded.dag["e"].upstream == ("a",)


def test_what_is_not_in_the_file_is_told() -> None:
    loaded = load("""
include: [{local: other.yml}]
stages: [plan, apply]
plan: {extends: .from-include}
apply: {extends: .from-include, dependencies: [plan], when: manual}
odd: {extends: .from-include}
x: {stage: apply, script: x, needs: [elsewhere], rules: [{if: $A}], allow_failure: true}
""")
    assert ("plan", "apply") in loaded.dag.edges
    assert remark(loaded, "1 template to extend is not in this file").endswith(".from-include.")
    assert remark(
        loaded, "2 jobs take their stage from a template elsewhere; the stage of that name was used"
    )
    assert remark(loaded, "1 job takes its stage from a template elsewhere; no order was assumed").endswith(
        "odd."
    )
    assert remark(loaded, "Job 'x' needs 'elsewhere', which may be in an included file")
    assert remark(loaded, "Included files were not read")
    assert remark(loaded, "1 job waits for a person (when: manual)")
    assert remark(loaded, "1 job has rules that are only known at run time; it will run here")
    assert remark(loaded, "1 job may fail without failing the pipeline")
    assert remark(loaded, "1 job lists dependencies")


def test_always_runs_whatever_came_before() -> None:
    dag = load("a: {stage: build, script: x}\nb: {script: x, when: always}\n").dag
    assert dag["b"].trigger_rule == "all_done"


def test_a_header_document_and_json() -> None:
    assert edges("spec: {inputs: {}}\n---\na: {stage: build, script: x}\nb: {script: x}\n") == [("a", "b")]
    assert edges('{"a": {"stage": "build", "script": "x"}, "b": {"script": "x"}}') == [("a", "b")]


def test_refusals() -> None:
    with pytest.raises(
        FormatError, match="expected needs that are jobs of this pipeline, found 'ab' in job 'b'"
    ):
        load("abc: {stage: build, script: x}\nb: {script: x, needs: [ab]}\n")
    with pytest.raises(
        FormatError,
        match="expected stages that are listed, found stage 'tst' of job 'a'. "
        "Known: build, test, deploy. Did you mean 'test'",
    ):
        load("a: {stage: tst, script: x}\n")
    with pytest.raises(FormatError, match="expected extends at most 11 deep, found more from job 'a'"):
        load(".x: {extends: .y}\n.y: {extends: .x}\na: {extends: .x, script: x}\n")
    with pytest.raises(FormatError, match="expected a pipeline with jobs, found stages. A job has a script"):
        load("stages: [a]\n", format="gitlab")


def test_the_sample(samples_dir: Path) -> None:
    file = samples_dir / "gitlab" / "terraform_template.gitlab-ci.yml"
    if not file.exists():
        pytest.skip("no GitLab pipeline among the samples")
    assert edges(str(file)) == [("init", "validate"), ("validate", "build"), ("build", "deploy")]


def test_stages_that_only_an_included_file_or_an_input_names() -> None:
    included = load("include: other.yml\nbuild:\n  stage: compile\n  script: x\ntest:\n  stage: test\n  script: y\n")
    assert included.dag.edges == []
    assert remark(included, "1 job takes its stage").endswith("no order was assumed: build.")
    text = ("spec:\n  inputs:\n    place:\n      default: deploy\n---\nmake:\n  stage: build\n  script: x\n"
            "ship:\n  stage: $[[ inputs.place ]]\n  script: y\n")
    assert load(text).dag.edges == [("make", "ship")]


def test_nested_needs_and_retries_for_all_jobs() -> None:
    loaded = load("default:\n  retry: 2\na: {script: x}\nb:\n  script: y\n  needs: [[a]]\n  retry: 0\n")
    assert loaded.dag.edges == [("a", "b")] and [task.retries for task in loaded.dag] == [2, 0]


def test_a_key_that_stands_twice_is_told_and_merge_keys_are_none() -> None:
    text = "a: {stage: build, script: x}\nb: {stage: test, script: x}\nb: {stage: build, script: y}\n"
    assert remark(load(text), "1 key stands twice in one mapping, the last counts: b (line 3)")
    merged = ".t: &t {script: y}\n.u: &u {script: z}\nb:\n  <<: *t\n  <<: *u\n  script: w\n"
    assert not [said for said in load(merged).report if "twice" in said]


@pytest.mark.parametrize("reference", ["[.x, needs]", "[[a], b]", "[gone, needs]", "[.y, 1]"])
def test_a_reference_that_leads_nowhere_is_told(reference: str) -> None:
    text = (f"a: {{stage: build, script: x}}\nb: {{stage: test, script: x, needs: !reference {reference}}}\n"
            ".x: {needs: !reference [.y, needs]}\n.y: {needs: !reference [.x, needs]}\n")
    loaded = load(text)
    assert loaded.dag.edges == [("a", "b")] and remark(loaded, "A !reference for 'needs' leads nowhere in this file")


def test_references_that_multiply_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten levels of a hundred references each would be 10**20 names."""
    monkeypatch.setattr(draft, "MAX_EDGES", 5000)
    many = "".join(f".r{i}: {{needs: [{', '.join([f'!reference [.r{i + 1}, needs]'] * 100)}]}}\n" for i in range(9))
    with pytest.raises(FormatError, match="expected at most 200000 tasks and 5000 dependencies"):
        load(f"a: {{script: x}}\n{many}.r9: {{needs: [a]}}\nb: {{script: x, needs: !reference [.r0, needs]}}\n")


def test_a_matrix_that_is_too_large_is_told() -> None:
    axes = f"{{A: [{','.join(map(str, range(200)))}], B: [1, 2, 3, 4, 5, 6]}}"
    loaded = load(f"b: {{stage: test, script: x, parallel: {{matrix: [{axes}]}}}}\n")
    assert len(loaded.dag) == 1 and remark(loaded, "Job 'b': its parallel copies could not be told")
