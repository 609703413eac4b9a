"""Matrices of the two CI formats: which combinations a job runs as."""

from __future__ import annotations

from itertools import product
from typing import Any

from .safe import as_dict, as_list

Combination = dict[str, Any]
MAX_COMBINATIONS = 1000
"""More than GitHub (256) and GitLab (200) allow."""


def github_matrix(matrix: dict[str, Any]) -> list[Combination] | None:
    """The combinations of a GitHub ``strategy.matrix``; None if an expression decides them at run time.

    ``exclude`` removes what it matches in part. Then each ``include`` is added to every combination whose
    original values it does not change, and becomes one of its own if there is none.
    https://docs.github.com/en/actions/how-tos/write-workflows/choose-what-workflows-do/run-job-variations

    >>> github_matrix({"os": ["a", "b"], "exclude": [{"os": "b"}], "include": [{"x": "1"}, {"os": "c"}]})
    [{'os': 'a', 'x': '1'}, {'os': 'c'}]
    """
    axes = {key: as_list(value) for key, value in matrix.items() if key not in ("include", "exclude")}
    lists = [*axes.values(), as_list(matrix.get("include")), as_list(matrix.get("exclude"))]
    if any(isinstance(item, str) and "${{" in item for items in lists for item in items) or too_many(axes):
        return None
    excluded = [as_dict(entry) for entry in as_list(matrix.get("exclude"))]
    original = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())] if axes else []
    original = [one for one in original if not any(_fits(entry, one) for entry in excluded)]
    made = [dict(one) for one in original]
    for entry in map(as_dict, as_list(matrix.get("include"))):
        hosts = [i for i, one in enumerate(original) if all(one.get(k, v) == v for k, v in entry.items())]
        for i in hosts:
            made[i].update(entry)
        if not hosts:
            made.append(dict(entry))
    return made


def _fits(part: Combination, whole: Combination) -> bool:
    return bool(part) and all(key in whole and whole[key] == value for key, value in part.items())


def gitlab_matrix(entries: list[Any]) -> list[Combination] | None:
    """The combinations of GitLab's ``parallel:matrix``: for each entry the product of its lists. None: too many.

    https://docs.gitlab.com/ci/yaml/#parallelmatrix

    >>> gitlab_matrix([{"P": "aws", "S": ["one", "two"]}, {"P": ["ovh"], "S": "one"}])
    [{'P': 'aws', 'S': 'one'}, {'P': 'aws', 'S': 'two'}, {'P': 'ovh', 'S': 'one'}]
    """
    made: list[Combination] = []
    for axes in ({key: as_list(value) for key, value in as_dict(entry).items()} for entry in entries):
        if too_many(axes):
            return None
        made += [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
        if len(made) > MAX_COMBINATIONS:
            return None
    return made


def too_many(axes: dict[str, list[Any]]) -> bool:
    """Whether the product of the axes goes beyond every bound of the services."""
    size = 1
    for values in axes.values():
        size *= len(values)
        if size > MAX_COMBINATIONS:
            return True
    return False


def values_of(combination: Combination) -> list[str]:
    """The values as both services print them in a job's name, with the inner values of lists and objects.

    >>> values_of({"os": "linux", "node": {"version": "20", "env": ["a"]}})
    ['linux', '20', 'a']
    """
    found: list[str] = []
    stack = list(combination.values())[::-1]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            stack += list(value.values())[::-1]
        elif isinstance(value, list):
            stack += value[::-1]
        else:
            found.append("" if value is None else str(value))
    return found
