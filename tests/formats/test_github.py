"""GitHub Actions: needs, matrices, conditions."""

from __future__ import annotations

from pathlib import Path

import pytest

from dagkit.errors import CycleError, FormatError
from dagkit.formats import load
from dagkit.formats.matrix import github_matrix

from .support import remark

WORKFLOW = """
name: Release
on: [push]
jobs:
  lint:
    runs-on: ubuntu-latest
    steps: [{run: "true"}]
  test:
    needs: lint
    strategy:
      max-parallel: 2
      matrix:
        python: [3.10, "3.12"]
        os: [linux, mac]
        exclude:
          - {python: 3.10, os: mac}
        include:
          - {os: mac, extra: slow}
          - {python: "3.14", os: linux}
  call:
    needs: [lint]
    uses: ./.github/workflows/other.yml
  report:
    needs: [test, call]
    if: ${{ always() }}
    steps: []
  notify:
    needs: report
    if: failure()
    continue-on-error: true
    steps: []
"""


def test_a_workflow_with_everything() -> None:
    loaded = load(WORKFLOW)
    tests = ["test (3.10, linux)", "test (3.12, linux)", "test (3.12, mac, slow)", "test (3.14, linux)"]
    assert (loaded.format, loaded.dag.dag_id, loaded.unit) == ("github", "Release", None)
    assert list(loaded.dag.tasks) == ["lint", *tests, "call", "report", "notify"]
    assert loaded.dag["report"].upstream == (*tests, "call")
    assert all(loaded.dag[test].upstream == ("lint",) for test in tests)
    assert loaded.dag["report"].trigger_rule == "all_done"
    assert remark(loaded, "1 job has a condition (if)").endswith("notify.")
    assert remark(loaded, "1 job calls another workflow").endswith("call.")
    assert remark(loaded, "1 job may fail without failing the run").endswith("notify.")
    assert remark(loaded, "1 job limits how many").endswith("test.")


# The cases of GitHub's own documentation of include and exclude, with other values.
@pytest.mark.parametrize(
    ("matrix", "combinations"),
    [
        ({"a": [1, 2]}, [{"a": 1}, {"a": 2}]),
        ({"include": [{"a": 1}, {"a": 2}]}, [{"a": 1}, {"a": 2}]),
        (
            {
                "f": ["x", "y"],
                "n": ["p", "q"],
                "include": [
                    {"c": "green"},
                    {"c": "pink", "n": "q"},
                    {"f": "x", "s": "circle"},
                    {"f": "z"},
                    {"f": "z", "n": "q"},
                ],
            },
            [
                {"f": "x", "n": "p", "c": "green", "s": "circle"},
                {"f": "x", "n": "q", "c": "pink", "s": "circle"},
                {"f": "y", "n": "p", "c": "green"},
                {"f": "y", "n": "q", "c": "pink"},
                {"f": "z"},
                {"f": "z", "n": "q"},
            ],
        ),
        ({"a": [1, 2], "b": [1, 2], "exclude": [{"a": 1}]}, [{"a": 2, "b": 1}, {"a": 2, "b": 2}]),
        ({"a": [1], "exclude": [{"a": 1}], "include": [{"a": 1}]}, [{"a": 1}]),
    ],
)
def test_matrix_combinations(matrix: dict, combinations: list) -> None:
    assert github_matrix(matrix) == combinations


@pytest.mark.parametrize(
    "matrix", ["${{ fromJSON(needs.x.outputs.m) }}", "{a: '${{ fromJSON(x) }}'}", "{include: '${{ x }}'}"]
)
def test_a_matrix_of_the_run_is_one_task(matrix: str) -> None:
    loaded = load(f"on: push\njobs:\n  t:\n    runs-on: x\n    strategy:\n      matrix: {matrix}\n")
    assert list(loaded.dag.tasks) == ["t"]
    assert remark(loaded, "Job 't': its matrix is decided at run time")


def test_words_that_yaml_1_1_takes_for_something_else() -> None:
    loaded = load(
        "on: push\njobs:\n  no: {runs-on: x}\n  1.0: {runs-on: x, needs: no}\n  off: {needs: [1.0]}\n"
    )
    assert loaded.dag.edges == [("no", "1.0"), ("1.0", "off")]


def test_anchors_and_merges() -> None:
    loaded = load("on: push\njobs:\n  a: &job {runs-on: x}\n  b:\n    <<: *job\n    needs: a\n")
    assert loaded.dag.edges == [("a", "b")]


def test_refusals() -> None:
    with pytest.raises(
        FormatError,
        match="expected needs that are jobs of this workflow, found 'lnt' in job 'a'. "
        "Known: lint, a. Did you mean 'lint'",
    ):
        load("on: push\njobs:\n  lint: {runs-on: x}\n  a: {needs: lnt}\n")
    with pytest.raises(
        FormatError, match="expected a workflow with 'jobs', found name, runs. An action has steps"
    ):
        load("name: x\nruns: {using: composite}\n", format="github")
    with pytest.raises(CycleError, match="cycle: a -> b -> a"):
        load("on: push\njobs:\n  a: {needs: b, runs-on: x}\n  b: {needs: a}\n")


def test_samples(samples_dir: Path) -> None:
    folder = samples_dir / "github"
    if not folder.is_dir():
        pytest.skip("no GitHub workflows among the samples")
    assert load(folder / "flask-publish.yaml").dag.edges == [
        ("build", "create-release"),
        ("build", "publish-pypi"),
    ]
    assert load(folder / "starter-npm-publish.yml").dag.edges == [("build", "publish-npm")]


def test_a_key_that_stands_twice_is_refused_as_github_does() -> None:
    with pytest.raises(FormatError, match="every key once in its mapping, as GitHub does, found 'a' again on line 5"):
        load("on: push\njobs:\n  a: {runs-on: x}\n  b: {runs-on: x}\n  a: {runs-on: y}\n")
