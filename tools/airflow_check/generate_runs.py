"""Random Dags for dagrun_final_states.json: a pure function of the random generator it is given."""

from __future__ import annotations

from random import Random
from typing import Any

Specs = dict[str, dict[str, Any]]

RULES = (
    "all_success", "all_failed", "all_done", "all_done_min_one_success", "one_success", "one_failed",
    "one_done", "none_failed", "none_skipped", "always", "none_failed_min_one_success", "all_skipped",
)  # fmt: skip
KINDS = {"plain": 28, "durations": 17, "branch": 19, "teardown": 18, "fail_fast": 10, "deadlock": 8}


def final_states(rng: Random, number: int) -> dict[str, Any]:
    """One case without its answer, ready to be recorded. `number` makes its id."""
    kind = rng.choices(list(KINDS), weights=list(KINDS.values()))[0]
    case: dict[str, Any] = {"id": f"f{number:04d}", "kind": kind, "tasks": {}}
    case["tasks"] = _teardown_tasks(rng) if kind == "teardown" else _tasks(rng, kind)
    if kind == "branch":
        _add_branches(rng, case["tasks"])
    if kind == "fail_fast":
        case["fail_fast"] = True
        if rng.random() < 0.3:
            _add_teardown(rng, case["tasks"])
    if kind == "deadlock":
        _add_deadlock(rng, case)
    if kind in ("durations", "fail_fast") or rng.random() < 0.2:
        _add_durations(rng, case["tasks"])
    return case


def _tasks(rng: Random, kind: str) -> Specs:
    """A random Dag listed in topological order; ids sort in the same order."""
    count = (
        rng.randint(2, 5) if kind == "deadlock" else rng.choice((1, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 12, 14))
    )
    names = [f"t{i:02d}" for i in range(count)]
    dense = rng.choice((0.2, 0.35, 0.6))
    specs: Specs = {}
    for i, name in enumerate(names):
        upstream = [other for other in names[:i] if rng.random() < dense][-5:]
        if i and not upstream and rng.random() < 0.7:
            upstream = [rng.choice(names[:i])]
        rule = "all_success" if kind == "fail_fast" or not upstream else _rule(rng)
        specs[name] = _spec(rng, upstream, rule, kind)
    return specs


def _rule(rng: Random) -> str:
    return "all_success" if rng.random() < 0.4 else rng.choice(RULES)


def _spec(rng: Random, upstream: list[str], rule: str, kind: str = "plain") -> dict[str, Any]:
    retries = rng.choice((0, 0, 0, 1, 1, 2, 4))
    return {"upstream": upstream, "trigger_rule": rule, "retries": retries, "outcomes": _outcomes(rng, kind)}


def _outcomes(rng: Random, kind: str) -> list[str]:
    """What each attempt does: mostly success, sometimes a failure that a retry may or may not mend."""
    unlucky = 0.2 if kind in ("branch", "fail_fast") else 0.4
    if rng.random() > unlucky:
        return ["success"]
    first = rng.choices(("fail", "skip", "fail_hard"), weights=(6, 3, 1))[0]
    if first != "fail":
        return [first]
    return ["fail"] * rng.randint(1, 3) + rng.choice(
        ([], [], ["success"], ["success"], ["skip"], ["fail_hard"])
    )


def _add_durations(rng: Random, specs: Specs) -> None:
    for spec in specs.values():
        if rng.random() < 0.6:
            spec["duration"] = rng.randint(1, 6)


def _children(specs: Specs, task: str) -> list[str]:
    return [name for name, spec in specs.items() if task in spec["upstream"]]


def _add_branches(rng: Random, specs: Specs) -> None:
    """Turn one to three tasks with children into branches or hard short circuits."""
    parents = [name for name in specs if _children(specs, name)]
    for name in rng.sample(parents, min(len(parents), rng.randint(1, 3))):
        children = _children(specs, name)
        if rng.random() < 0.3:
            specs[name]["short_circuit"] = True
        else:
            specs[name]["branch_follow"] = sorted(rng.sample(children, rng.randint(0, len(children))))


def _teardown_tasks(rng: Random) -> Specs:
    """One or two setups with work between them and a teardown, and often something after it."""
    specs: Specs = {}
    if rng.random() < 0.3:
        specs["pre"] = _spec(rng, [], "all_success")
    setups = [f"s{i}" for i in range(rng.choice((1, 1, 2, 3)))]
    for i, name in enumerate(setups):
        before = [setups[i - 1]] if i and rng.random() < 0.3 else [name for name in specs if name == "pre"]
        specs[name] = _spec(rng, before, "all_success") | {"setup": True}
    works = _work(rng, specs, setups)
    last = [name for name in works if not _children(specs, name)]
    owned = setups if rng.random() < 0.7 else setups[:1]
    _teardown(rng, specs, "td", owned + (last if rng.random() < 0.85 else last[:1]))
    if rng.random() < 0.3:
        _teardown(rng, specs, "te", [setups[-1], rng.choice(works)])
    if rng.random() < 0.6:
        specs["after_work"] = _spec(rng, [rng.choice(works)], _rule(rng))
        if specs["after_work"]["upstream"][0] in setups:
            specs["after_work"]["trigger_rule"] = "all_success"
    if rng.random() < 0.5:
        specs["after_td"] = _spec(rng, ["td"], _rule(rng))
    if rng.random() < 0.15:
        specs[rng.choice(works)]["short_circuit"] = True
    return specs


def _work(rng: Random, specs: Specs, setups: list[str]) -> list[str]:
    """Work below the setups. Airflow insists on all_success for a task directly below a setup."""
    works: list[str] = []
    for i in range(rng.randint(1, 6)):
        if not works or rng.random() < 0.3:
            specs[f"w{i}"] = _spec(rng, rng.sample(setups, rng.randint(1, len(setups))), "all_success")
        else:
            specs[f"w{i}"] = _spec(
                rng, sorted(rng.sample(works, rng.randint(1, min(2, len(works))))), _rule(rng)
            )
        works.append(f"w{i}")
    return works


def _teardown(rng: Random, specs: Specs, name: str, upstream: list[str]) -> None:
    rule = "all_done_setup_success"
    specs[name] = _spec(rng, list(dict.fromkeys(upstream)), rule) | {"teardown": True}
    if rng.random() < 0.4:
        specs[name]["on_failure_fail_dagrun"] = True


def _add_teardown(rng: Random, specs: Specs) -> None:
    """Give a fail_fast Dag a teardown, which fail_fast leaves alone."""
    first = next(iter(specs))
    specs[first]["setup"] = True
    leaves = [name for name in specs if name != first and not _children(specs, name)]
    _teardown(rng, specs, "td", [first, *leaves])


def _add_deadlock(rng: Random, case: dict[str, Any]) -> None:
    """Force some tasks into `removed` before the first tick and ask for what can then never come."""
    names = list(case["tasks"])
    case["initial"] = dict.fromkeys(sorted(rng.sample(names[:-1], rng.randint(1, len(names) - 1))), "removed")
    for name in names[1:]:
        spec = case["tasks"][name]
        if name not in case["initial"] and rng.random() < 0.6:
            spec["upstream"] = spec["upstream"] or [names[0]]
            spec["trigger_rule"] = rng.choice(
                ("all_skipped", "all_skipped", "all_done", "none_skipped", "one_done")
            )
    mark = rng.choice(("depends_on_past", "max_active_tis_per_dag", None, None, None))
    if mark:
        case["tasks"][names[-1]][mark] = True if mark == "depends_on_past" else 16
