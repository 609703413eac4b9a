"""Trigger rules: what the states of the upstream tasks allow a task to do.

A rule is a row of ``RULES``, which says

- which upstream outcomes decide at once, and what they decide (first match wins), and
- what is decided when every upstream is done and none of them decided earlier.

The verdict is ``"run"``, ``"wait"``, or the state the scheduler sets on the task. Most rules decide *early*:
they do not wait for the rest. Recorded from Airflow 3.3.2 (``ti_deps/deps/trigger_rule_dep.py``).

>>> evaluate("one_failed", ["failed", "running"])
'run'
>>> evaluate("all_success", ["skipped", "running"])
'skipped'
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .checks import listed
from .errors import DagkitError, choices, nearest, shown
from .states import CODE, FAILED, FINISHED, NAMES, SKIPPED, SUCCESS, UPSTREAM_FAILED, code

RUN, WAIT = "run", "wait"
_FAIL = ("failed", "upstream_failed")


class Rule(NamedTuple):
    """One trigger rule.

    early: pairs (upstream states, verdict): the first pair of which any upstream has a state decides at once.
    done: pairs (test on the counts, verdict), tried in turn once every upstream is done; the last always holds.
    meaning: one sentence for a learner.
    """

    early: tuple[tuple[tuple[str, ...], str], ...]
    done: tuple[tuple[str, str], ...]
    meaning: str


# Tests named in `done`. n is the number of upstreams, c maps a finished state's name to its count.
_TESTS = {
    "otherwise": lambda c, n: True,
    "all skipped": lambda c, n: c["skipped"] == n,
    "no success": lambda c, n: not c["success"],
    "any removed": lambda c, n: c["removed"] > 0,
}
_SUCCEED = (("otherwise", RUN),)

RULES: dict[str, Rule] = {
    "all_success": Rule(((_FAIL, "upstream_failed"), (("skipped",), "skipped")), _SUCCEED,
                        "runs when every upstream succeeded"),
    "all_failed": Rule(((("success", "skipped"), "skipped"),), _SUCCEED,
                       "runs when every upstream failed"),
    "all_done": Rule((), _SUCCEED, "runs when every upstream is done, whatever came of it"),
    "one_success": Rule(((("success",), RUN),), (("all skipped", "skipped"), ("otherwise", "upstream_failed")),
                        "runs at the first success"),
    "one_failed": Rule(((_FAIL, RUN),), (("otherwise", "skipped"),), "runs at the first failure"),
    "one_done": Rule(((("success", "failed"), RUN),), (("otherwise", "skipped"),),
                     "runs as soon as one upstream succeeded or failed"),
    "none_failed": Rule(((_FAIL, "upstream_failed"),), _SUCCEED, "runs when all are done and none failed"),
    "none_failed_min_one_success": Rule(
        ((_FAIL, "upstream_failed"),),
        (("all skipped", "skipped"), ("no success", "upstream_failed"), ("otherwise", RUN)),
        "runs when all are done, none failed and at least one succeeded"),
    "none_skipped": Rule(((("skipped",), "skipped"),), _SUCCEED, "runs when all are done and none was skipped"),
    "all_skipped": Rule(((("success", *_FAIL), "skipped"),), (("any removed", WAIT), ("otherwise", RUN)),
                        "runs when every upstream was skipped"),
    "all_done_min_one_success": Rule(((("skipped",), "skipped"),),
                                     (("no success", "upstream_failed"), ("otherwise", RUN)),
                                     "runs when all are done, none was skipped and at least one succeeded"),
    "all_done_setup_success": Rule((), _SUCCEED, "a teardown's rule: runs when all are done and a setup succeeded"),
    "always": Rule((), _SUCCEED, "runs at once, whatever its upstreams do"),
}


def check(rule: object, who: str = "trigger_rule") -> Rule:
    """The table row of a rule, or a DagkitError that names it and the nearest known one."""
    row = RULES.get(rule) if isinstance(rule, str) else None
    if row is None:
        raise DagkitError(f"{who}: trigger_rule '{shown(rule)}' is unknown.{nearest(rule, RULES)} "
                          f"Known: {choices(RULES, 13)}.")
    return row


def evaluate(
    rule: str, upstream_states: Iterable[str], *, setups: Sequence[str] = (), indirect_setups: Sequence[str] = (),
    scope: Sequence[str] = (),
) -> str:
    """The verdict of ``rule``: ``"run"``, ``"wait"`` or the state to set.

    upstream_states: states of the direct upstreams, without the direct setups.
    setups: states of the direct upstreams that are setups.
    indirect_setups: states of setups further up that this task works under.
    scope: for a teardown, states of the tasks between its setups and itself.

    Raises DagkitError for an unknown rule or state.

    >>> evaluate("all_done", ["failed"], indirect_setups=["skipped"])
    'skipped'
    """
    check(rule)
    own = _codes("upstream_states", upstream_states)
    first = _codes("setups", setups)
    return verdict(rule, own + first, first, _codes("indirect_setups", indirect_setups), _codes("scope", scope))


def _codes(name: str, given: Iterable[str]) -> list[int]:
    return [code(state) for state in listed("evaluate", name, given, f"Write {name}=['success', 'failed'].")]


def verdict(rule: str, upstream: Sequence[int], setups: Sequence[int] = (), indirect_setups: Sequence[int] = (),
            scope: Sequence[int] = ()) -> str:
    """``evaluate`` on state numbers; ``upstream`` holds all direct upstreams, setups included."""
    if rule == "always":
        return RUN
    own = _direct(rule, upstream, setups)
    if own is not RUN and own is not WAIT and rule == "all_done_setup_success":
        return own
    if indirect_setups:
        if any(s in (FAILED, UPSTREAM_FAILED) for s in indirect_setups):
            return "upstream_failed"
        if any(s == SKIPPED for s in indirect_setups):
            return "skipped"
        if own is RUN and any(s != SUCCESS for s in indirect_setups):
            return WAIT
    if own is RUN and any(s not in FINISHED for s in scope):
        return WAIT
    return own


def _direct(rule: str, upstream: Sequence[int], setups: Sequence[int]) -> str:
    """What the rule says of the direct upstreams alone."""
    row = RULES[rule]
    n = len(upstream)
    counts = {NAMES[s]: 0 for s in FINISHED}
    for s in upstream:
        if s in FINISHED:
            counts[NAMES[s]] += 1
    if not n:
        return RUN
    for states, decided in row.early:
        if any(counts[s] for s in states):
            return decided
    if sum(counts.values()) < n:
        return WAIT
    if rule == "all_done_setup_success" and setups:
        return _setup_verdict(setups)
    return next(decided for test, decided in row.done if _TESTS[test](counts, n))


def _setup_verdict(setups: Sequence[int]) -> str:
    """A teardown tidies up after setups that ran: none ran means there is nothing to tidy."""
    if all(s == SKIPPED for s in setups):
        return "skipped"
    return RUN if SUCCESS in setups else "upstream_failed"


# ---- the same table, precompiled for the engine: what one finished upstream does to the countdown of a task ----

EARLY: dict[str, frozenset[int]] = {
    name: frozenset(CODE[s] for states, _ in row.early for s in states) for name, row in RULES.items()
}
"""For each rule, the upstream outcomes (state numbers) that decide it at once."""

RUNS_AT_ZERO: dict[str, bool] = {name: row.done == _SUCCEED for name, row in RULES.items()}
"""For each rule, whether "all done and none decided early" already means run."""
