"""Argo's boolean ``depends``, and the trigger rule that says the same.

Argo waits until everything named in ``depends`` is finished and then evaluates it. A trigger rule is *exact*
for it if, in every combination of states the upstream tasks can end in, it runs the task exactly when
``depends`` is true, and if it never runs the task earlier. Both are simply tried out: all combinations
through ``dagkit.trigger_rules.evaluate``. An expression that no rule says exactly is refused with the first
combination that tells them apart.
"""

from __future__ import annotations

import re
from itertools import product
from math import prod
from typing import NamedTuple

from ..errors import shown
from ..trigger_rules import evaluate
from .source import Source

RESULTS = ("Succeeded", "Failed", "Errored", "Skipped", "Omitted", "Daemoned")
_PLAIN = frozenset({"Succeeded", "Skipped", "Daemoned"})  # what a bare task name asks for
_WORD = re.compile(r"\s*(?:(&&|\|\||!|\(|\))|([A-Za-z0-9_][\w-]*)(?:\.([A-Za-z]+))?)")
_STRENGTH = {"!": 3, "&&": 2, "||": 1}
_MOST = 4096  # combinations tried one by one
_ALL = 400_000  # combinations tried in one file
_JOINT = 30  # tasks up to which their fates are followed together
# The rules that wait for all upstreams, in the order in which they are tried.
_ORDER = (
    "all_success",
    "none_failed",
    "all_done",
    "all_done_min_one_success",
    "all_failed",
    "none_skipped",
    "all_skipped",
    "none_failed_min_one_success",
)


class Case(NamedTuple):
    """How an upstream task can end: the state the kit gives it, and the word Argo has for it."""

    state: str
    result: str


class Expression(NamedTuple):
    """A ``depends`` in postfix order: ("task", results), or an operator. names: its tasks, in order."""

    names: list[str]
    postfix: list[tuple[str, frozenset[str]]]
    every: bool  # only "and" of the tasks, each by its bare name

    def holds(self, results: dict[str, str]) -> bool:
        """Its truth for the result of every task."""
        stack: list[bool] = []
        for word, wanted in self.postfix:
            if word == "!":
                stack.append(not stack.pop())
            elif word in _STRENGTH:
                right, left = stack.pop(), stack.pop()
                stack.append(left and right if word == "&&" else left or right)
            else:
                stack.append(results[word] in wanted)
        return stack[-1] if stack else True


def default_expression(names: list[str]) -> Expression:
    """The meaning of ``dependencies: [a, b]``: both, each by its bare name.

    >>> default_expression(["a", "b"]).holds({"a": "Succeeded", "b": "Failed"})
    False
    """
    names = list(dict.fromkeys(names))
    postfix = [(name, _PLAIN) for name in names] + [("&&", frozenset[str]())] * (len(names) - 1)
    return Expression(names, postfix, True)


def parse_depends(source: Source, task: str, text: str) -> Expression:
    """A ``depends`` text as an Expression. Raises FormatError for what is not one, naming the task."""
    output: list[tuple[str, frozenset[str]]] = []
    waiting: list[str] = []
    operand = True  # whether a task, "!" or "(" must come next
    at, text = 0, text.rstrip()

    def wrong(found: str) -> Exception:
        return source.bad(
            "depends like 'a && (b.Failed || c)'", f"{found} in task '{shown(task)}'", "Mend it."
        )

    while at < len(text):
        found = _WORD.match(text, at)
        if found is None or (operand == (found[1] in ("&&", "||", ")"))):
            raise wrong(f"'{shown(text[at : at + 20].strip())}'")
        at = found.end()
        sign, name, result = found[1], found[2], found[3]
        if name:
            if result and result not in RESULTS:
                raise wrong(
                    f"the result '{shown(result)}', which depends on single items,"
                    if result in ("AnySucceeded", "AllFailed")
                    else f"the unknown result '{shown(result)}'"
                )
            output.append((name, frozenset({result}) if result else _PLAIN))
            operand = False
        elif sign == ")":
            while waiting and waiting[-1] != "(":
                output.append((waiting.pop(), frozenset()))
            if not waiting:
                raise wrong("a bracket that was never opened")
            waiting.pop()
        elif sign in ("&&", "||"):
            while waiting and _STRENGTH.get(waiting[-1], 0) >= _STRENGTH[sign]:
                output.append((waiting.pop(), frozenset()))
            waiting.append(sign)
            operand = True
        else:
            waiting.append(sign)
    if operand or "(" in waiting:
        raise wrong("an end too early")
    output += [(sign, frozenset()) for sign in reversed(waiting)]
    names = list(dict.fromkeys(word for word, _ in output if word not in _STRENGTH))
    every = all(wanted == _PLAIN for word, wanted in output if word not in _STRENGTH) and not any(
        word in ("||", "!") for word, _ in output
    )
    return Expression(names, output, every)


World = dict[str, Case]
"""How every task seen so far ended."""


def rules_for(needs: dict[str, Expression], skippable: set[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The trigger rule of every task, and for those without an exact one the reason.

    skippable: tasks with a ``when``, which may be skipped. Tasks in or behind a ring get all_success; the Dag
    refuses them anyway.

    In a small Dag only what can happen together counts: every task that runs succeeds or fails, and what
    follows is played out. In a larger one every upstream is taken by itself, which can only make the test
    stricter.

    >>> rules_for({"a": default_expression([]), "b": default_expression(["a"])}, set())
    ({'a': 'all_success', 'b': 'all_success'}, {})
    """
    rules = dict.fromkeys(needs, "all_success")
    refused: dict[str, str] = {}
    worlds: list[World] | None = [{}] if len(needs) <= _JOINT else None
    ends: dict[str, set[Case]] = {}
    left = _ALL
    for name in _in_order(needs):
        expression, cases = _cases(needs[name], worlds, ends, left)
        left -= len(cases or ())
        rule, reason = _exact_rule(expression, cases)
        rules[name] = rule or "all_done"
        if rule is None:
            refused[name] = reason
        fates = [_fates(expression, rules[name], case, name in skippable) for case in cases or ()]
        ends[name] = {fate for found in fates for fate in found}
        if worlds is not None:
            worlds = [
                {**world, name: fate}
                for world in worlds
                for fate in _fates(expression, rules[name], world, name in skippable)
            ]
            worlds = worlds if len(worlds) <= _MOST else None
    return rules, refused


def _in_order(needs: dict[str, Expression]) -> list[str]:
    """Tasks after everything they name; tasks in or behind a ring are left out."""
    below: dict[str, list[str]] = {name: [] for name in needs}
    waiting = {name: len(expression.names) for name, expression in needs.items()}
    for name, expression in needs.items():
        for up in expression.names:
            below[up].append(name)
    order = [name for name, count in waiting.items() if not count]
    for name in order:
        for down in below[name]:
            waiting[down] -= 1
            if not waiting[down]:
                order.append(down)
    return order


def _cases(
    expression: Expression, worlds: list[World] | None, ends: dict[str, set[Case]], left: int
) -> tuple[Expression, list[World] | None]:
    """The combinations of ends to try, with the expression to try them on; None if they are too many."""
    names = expression.names
    if worlds is not None:
        seen = {tuple(world[up] for up in names) for world in worlds}
        return expression, [dict(zip(names, case, strict=True)) for case in sorted(seen)]
    choices = [sorted(ends[up]) for up in names]
    if expression.every and len(names) > 4:
        # Rules and a plain "and" only ask which ends there are, so four upstreams show every difference.
        expression = default_expression(names[:4])
        choices = [sorted({end for found in choices for end in found})] * 4
    if prod(map(len, choices)) > min(_MOST, left):
        return expression, None
    return expression, [dict(zip(expression.names, case, strict=True)) for case in product(*choices)]


def _fates(expression: Expression, rule: str, world: World, may_skip: bool) -> list[Case]:
    """How a task can end after its upstreams ended so."""
    if expression.holds({up: world[up].result for up in expression.names}):
        ran = [Case("success", "Succeeded"), Case("failed", "Failed")]
        return [*ran, Case("skipped", "Skipped")] if may_skip else ran
    verdict = evaluate(rule, [world[up].state for up in expression.names])
    return [Case(verdict if verdict == "upstream_failed" else "skipped", "Omitted")]


def _exact_rule(expression: Expression, cases: list[World] | None) -> tuple[str | None, str]:
    """The first rule that agrees in every case, or None with the first case that contradicts all_success."""
    if not expression.names:
        return "all_success", ""
    if cases is None:
        return None, "it has too many cases to compare"
    exact = next((rule for rule in _ORDER if not _odd_case(rule, expression, cases)), None)
    return exact, "" if exact else f"none agrees in every case; {_odd_case(_ORDER[0], expression, cases)}"


def _odd_case(rule: str, expression: Expression, cases: list[World]) -> str:
    """A sentence on the first case in which rule and expression differ, or nothing."""
    for world in cases:
        holds = expression.holds({up: case.result for up, case in world.items()})
        if holds != (evaluate(rule, [case.state for case in world.values()]) == "run"):
            ends = ", ".join(f"{shown(up)} {case.result}" for up, case in world.items())
            other = f"{rule} would {'not ' if holds else ''}run the task"
            return f"with {ends} it is {str(holds).lower()}, but {other}"
    return ""
