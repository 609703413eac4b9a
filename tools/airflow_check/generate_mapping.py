"""Random Dags for mapping.json: mapped tasks, mapped groups, mapping over mapped tasks, clearing."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from airflow_check.generate_runs import RULES

Specs = dict[str, dict[str, Any]]
FAST = ("all_success", "all_success", "all_done", "none_failed", "one_success", "one_failed", "none_skipped")


def mapping(rng: Random, number: int) -> dict[str, Any]:
    """One case without its answer; the families take turns so that each is there."""
    family = FAMILIES[number % len(FAMILIES)]
    case: dict[str, Any] = {"name": f"m{number:04d}_{family.__name__.strip('_')}", "dag": {}, "script": {}}
    family(rng, case)
    return case


def _outcome(rng: Random) -> list[str]:
    kinds = (["fail"], ["skip"], ["fail_hard"], ["fail", "success"], ["fail", "fail", "success"])
    return list(rng.choices(kinds, weights=(4, 4, 1, 3, 1))[0])


def _producer(rng: Random, case: dict[str, Any], name: str = "p", longest: int = 5) -> int:
    """Adds a producer and its script; returns the length it will push (0 if it pushes nothing)."""
    retries = rng.choice((0, 0, 1, 2))
    case["dag"][name] = {"upstream": [], "retries": retries}
    length = rng.randint(1, longest)
    chance = rng.random()
    if chance < 0.7:
        case["script"][name] = [f"success:{length}"]
        return length
    if chance < 0.8:
        case["script"][name] = ["success:0"]
    elif chance < 0.9:
        case["script"][name] = rng.choice((["fail"], ["skip"], ["success"], ["fail_hard"]))
    else:
        case["script"][name] = ["fail", f"success:{length}"]
        return length if retries else 0
    return 0


def _mapped(
    rng: Random, case: dict[str, Any], name: str, upstream: list[str], expand: dict[str, str]
) -> None:
    spec = {
        "upstream": upstream,
        "expand": expand,
        "trigger_rule": rng.choice(FAST),
        "retries": rng.choice((0, 0, 1)),
    }
    case["dag"][name] = spec


def _instances(rng: Random, case: dict[str, Any], name: str, length: int) -> None:
    """Gives some of the instances an outcome of their own, or all of them one."""
    if rng.random() < 0.1:
        case["script"][name] = _outcome(rng)
    for index in range(length):
        if rng.random() < 0.3:
            case["script"][f"{name}[{index}]"] = _outcome(rng)


def _readers(rng: Random, case: dict[str, Any], source: str) -> None:
    """Downstream tasks that count the instances under different rules."""
    for rule in rng.sample(RULES, rng.randint(2, 5)):
        case["dag"][f"d_{rule}"] = {"upstream": [source], "trigger_rule": rule}


def _pushed(rng: Random, case: dict[str, Any]) -> None:
    length = _producer(rng, case)
    upstream = ["p"]
    if rng.random() < 0.4:
        case["dag"]["q"] = {"upstream": [], "retries": 0}
        case["script"]["q"] = rng.choice((["success"], ["fail"], ["skip"]))
        upstream = ["p", "q"]
    _mapped(rng, case, "m", upstream, {"x": "p"})
    _instances(rng, case, "m", length)
    _readers(rng, case, "m")


def _literal(rng: Random, case: dict[str, Any]) -> None:
    length = rng.choice((0, 1, 2, 4, 7, 12))
    upstream: list[str] = []
    if rng.random() < 0.5:
        case["dag"]["q"] = {"upstream": [], "retries": 0}
        case["script"]["q"] = rng.choice((["success"], ["fail"], ["skip"]))
        upstream = ["q"]
    _mapped(rng, case, "m", upstream, {"x": f"literal list of {length}"})
    _instances(rng, case, "m", length)
    _readers(rng, case, "m")


def _product(rng: Random, case: dict[str, Any]) -> None:
    rows = _producer(rng, case, "p", 3)
    if rng.random() < 0.4:
        columns = rng.choice((0, 1, 2, 3))
        _mapped(rng, case, "m", ["p"], {"x": "p", "y": f"literal list of {columns}"})
    else:
        columns = _producer(rng, case, "q", 4)
        _mapped(rng, case, "m", ["p", "q"], {"x": "p", "y": "q"})
    _instances(rng, case, "m", rows * columns)
    _readers(rng, case, "m")


def _chained(rng: Random, case: dict[str, Any]) -> None:
    length = _producer(rng, case)
    _mapped(rng, case, "m1", ["p"], {"x": "p"})
    _instances(rng, case, "m1", length)
    _mapped(rng, case, "m2", ["m1"], {"x": "m1"})
    _instances(rng, case, "m2", length)
    _readers(rng, case, "m2")


def _side_by_side(rng: Random, case: dict[str, Any]) -> None:
    """Two mapped tasks, the second below the first but mapped over the producer."""
    length = _producer(rng, case)
    _mapped(rng, case, "m1", ["p"], {"x": "p"})
    _instances(rng, case, "m1", length)
    _mapped(rng, case, "m2", ["m1", "p"], {"x": "p"})
    _instances(rng, case, "m2", length)
    _readers(rng, case, "m2")


def _grouped(rng: Random, case: dict[str, Any]) -> None:
    length = _producer(rng, case)
    members = ["g.a", "g.b", "g.c"][: rng.randint(1, 3)]
    case["dag"]["g"] = {"group": members, "expand": {"x": "p"}}
    for i, name in enumerate(members):
        upstream = ["p"] if not i else [members[i - 1]] if rng.random() < 0.7 else members[:i]
        rule = "all_success" if not i else rng.choice(FAST)
        case["dag"][name] = {"upstream": upstream, "trigger_rule": rule, "retries": rng.choice((0, 0, 1))}
        _instances(rng, case, name, length)
    _readers(rng, case, members[-1])


def _rerun(rng: Random, case: dict[str, Any]) -> None:
    """Run to the end, clear everything, run again with another length."""
    case["dag"]["p"] = {"upstream": [], "retries": 0}
    case["script"]["p"] = [f"success:{rng.randint(1, 4)}"]
    _mapped(rng, case, "m", ["p"], {"x": "p"})
    case["dag"]["m"]["trigger_rule"] = "all_success"
    if rng.random() < 0.3:
        case["script"]["m[0]"] = rng.choice((["fail"], ["skip"]))
    _readers(rng, case, "m")
    again = rng.choice((["success:0"], ["success:1"], ["success:2"], ["success:3"], ["success:5"], ["fail"]))
    case["rerun"] = {"clear": list(case["dag"]), "script": {"p": again}}


def _too_long(rng: Random, case: dict[str, Any]) -> None:
    case["dag"]["p"] = {"upstream": [], "retries": rng.choice((0, 1))}
    case["script"]["p"] = [f"success:{rng.choice((1025, 2000))}"] + rng.choice(([], ["success:3"]))
    _mapped(rng, case, "m", ["p"], {"x": "p"})
    _readers(rng, case, "m")


FAMILIES: tuple[Callable[[Random, dict[str, Any]], None], ...] = (
    _pushed, _literal, _product, _chained, _grouped, _rerun, _pushed, _side_by_side, _grouped, _rerun,
    _chained, _too_long,
)  # fmt: skip
