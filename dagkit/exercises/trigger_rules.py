"""Exercise 4: two rules written out, and rules chosen for what should become of a night."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

from .. import trigger_rules
from ..dag import Dag
from ..engine import simulate
from ..errors import DagkitError, choices, expect, quoted, shown
from ..lesson.truth import ASKED, MOST
from ..scenario import Scenario
from ..task import Task as Declared
from .trial import NotYet, Task, call, keyed

TO_CHOOSE = ("join", "alarm", "tidy")
NIGHTS: dict[str, tuple[Any, list[str], dict[str, str]]] = {
    "the full way": ("full", [], {"join": "success", "alarm": "skipped", "tidy": "success"}),
    "the quick way": ("quick", [], {"join": "success", "alarm": "skipped", "tidy": "success"}),
    "the full way fails": ("full", ["full"], {"join": "upstream_failed", "alarm": "success", "tidy": "success"}),
    "no way was followed": ((), [], {"join": "skipped", "alarm": "skipped", "tidy": "success"}),
    "publishing fails": ("quick", ["publish"], {"join": "success", "alarm": "success", "tidy": "success"}),
}
"""Each night: the way that is followed, what fails, and what should become of the tasks whose rule is to be chosen."""


def night(rules: Any, which: str = "the full way") -> Scenario:
    """The Dag of the exercise with these rules, on one of its nights.

    rules: ``{"join": rule, "alarm": rule, "tidy": rule}``; what is not named has all_success. which: the night.
    Raises DagkitError for an unknown night or rule.

    >>> simulate(night({}, "the full way")).final_states["join"]
    'skipped'
    """
    expect("night", rules, Mapping, "a dictionary of rules, such as {'join': 'all_done'}")
    if not isinstance(which, str) or which not in NIGHTS:
        raise DagkitError(f"night '{shown(which)}' is unknown. Known: {choices(NIGHTS)}.")
    way, fails, _ = NIGHTS[which]
    rule = {name: rules.get(name, "all_success") for name in TO_CHOOSE}
    dag = Dag("night", [
        Declared("choose", branch=way), Declared("full", "choose", duration=3), Declared("quick", "choose"),
        Declared("join", ["full", "quick"], trigger_rule=rule["join"]), Declared("publish", "join"),
        Declared("alarm", ["join", "publish"], trigger_rule=rule["alarm"]),
        Declared("tidy", ["join", "publish"], trigger_rule=rule["tidy"]),
    ])
    return Scenario(dag, outcomes={task: ["fail"] for task in fails})


def mixes() -> list[list[str]]:
    """No upstream, and every list of up to three states."""
    return [list(mix) for count in range(MOST + 1) for mix in product(ASKED, repeat=count)]


def rule(name: str) -> Callable[[Any], None]:
    def judge(answer: Any) -> None:
        for above in mixes():
            found, right = call(answer, above, name=name), trigger_rules.evaluate(name, above)
            if found != right:
                raise NotYet(f"{name}({above}) should be {right!r}; yours is {quoted(found)}.",
                             _hint(above, right) + f" Its card: dk.lesson.truth.card({name!r}).")
    return judge


def _hint(above: list[str], right: str) -> str:
    if not above:
        return "A task without upstreams is held by nobody."
    if "running" in above and right != "wait":
        return "It need not wait for the rest: nothing that can still happen would change the verdict."
    if right == "wait":
        return "What is still running could change the verdict."
    return "Go through the states one by one: what does the rule say of each?"


def chosen(rules: Any) -> None:
    """Rules that give the wanted states on every night; which ones, is free."""
    keyed("rules", rules, TO_CHOOSE, every=True)
    for which, (_, _, wanted) in NIGHTS.items():
        trace = simulate(night(rules, which))
        final = trace.final_states
        for task, right in wanted.items():
            if final[task] != right:
                raise NotYet(f"When “{which}”, {task} ends {final[task]}; it should end {right}.",
                             f"{shown(rules[task])}: look at its card, then play the night: "
                             f"dk.play(dk.simulate(dk.exercises.night(rules, {which!r}))).")
        begins, ends = (_ticks(trace, "tidy")[0], max(_ticks(trace, task)[-1] for task in ("join", "publish")))
        if begins < ends:
            raise NotYet(f"When “{which}”, tidy leaves none at tick {begins}, and others are at work until tick {ends}.",
                         "Who tidies up waits until everybody is done.")


def _ticks(trace: Any, task: str) -> list[int]:
    """When a task changed its state."""
    return [tick for tick, state in trace.changes[trace.labels.index(task)] if tick]


TASKS = (
    Task("4.1", ("all_success",), rule("all_success"), "all_success, on every mix of up to three upstreams."),
    Task("4.2", ("one_failed",), rule("one_failed"), "one_failed, on every mix of up to three upstreams."),
    Task("4.3", ("rules",), chosen, "On all five nights everybody ends as wanted."),
)
