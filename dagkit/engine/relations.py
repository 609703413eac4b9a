"""Relations between tasks that follow from the shape of the Dag alone: computed once, in the plan."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .plan import Plan


def reach(neighbours: Sequence[Sequence[int]], start: int) -> set[int]:
    """All tasks reached from ``start`` (itself left out), walking up or down."""
    seen: set[int] = set()
    stack = list(neighbours[start])
    while stack:
        t = stack.pop()
        if t not in seen:
            seen.add(t)
            stack.extend(neighbours[t])
    return seen


def skips(plan: Plan) -> dict[int, tuple[int, ...]]:
    """For each branch and short circuit, the tasks it writes ``skipped`` on when it succeeds.

    A branch: the direct downstream tasks that it does not follow and that no followed task leads to.
    A short circuit: everything after it ("hard"), or only the direct downstream ("soft"); never a teardown.
    Source: SkipMixin and ShortCircuitOperator of Airflow 3.3.2.
    """
    found = {}
    for t, task in plan.special.items():
        if task.branch is not None:
            followed = {plan.index[name] for name in task.branch}
            kept = followed.union(*(reach(plan.down, f) for f in followed))
            found[t] = tuple(d for d in plan.down[t] if d not in kept)
        elif task.latest_only:
            found[t] = tuple(plan.down[t])
        elif task.short_circuit is not None:
            below = reach(plan.down, t) if task.short_circuit == "hard" else plan.down[t]
            found[t] = tuple(sorted(d for d in below if not plan.tasks[d].is_teardown))
    return found


def setups(plan: Plan) -> tuple[dict[int, tuple[int, ...]], dict[int, tuple[int, ...]]]:
    """(relevant indirect setups of each task, scope of each teardown).

    A setup further up is *relevant* to a task while it is not torn down before that task: it has no teardown at
    all, or a teardown of it lies downstream of the task. The scope of a teardown are the tasks between its setups
    and itself. Only tasks that have any appear. Source: get_upstreams_only_setups of Airflow 3.3.2.
    """
    setup = {t for t, task in plan.special.items() if task.is_setup}
    teardowns = [t for t, task in plan.special.items() if task.is_teardown]
    if not setup and not teardowns:
        return {}, {}
    torn_down_by: dict[int, list[int]] = {s: [] for s in setup}
    for td in teardowns:
        for s in plan.up[td]:
            if s in setup:
                torn_down_by[s].append(td)
    above_setups = {t: reach(plan.up, t) & setup for t in range(plan.n)} if setup else {}
    below = {s: reach(plan.down, s) for s in setup}
    above = {td: reach(plan.up, td) for td in teardowns}
    indirect = {}
    for t in range(plan.n):
        if plan.tasks[t].is_teardown:
            continue
        relevant = sorted(s for s in above_setups.get(t, ()) if s not in plan.up[t]
                          and (not torn_down_by[s] or any(t in above[td] for td in torn_down_by[s])))
        if relevant:
            indirect[t] = tuple(relevant)
    scope = {}
    for td in teardowns:
        own = [s for s in plan.up[td] if s in setup]
        inside = sorted({t for s in own for t in below[s] & above[td]} - set(own))
        if inside:
            scope[td] = tuple(inside)
    return indirect, scope


def effective_leaves(plan: Plan) -> Sequence[int]:
    """The tasks whose states decide the run: nothing follows them but ignorable teardowns.

    A teardown is ignorable unless on_failure_fail_dagrun. A Dag of teardowns only keeps its plain leaves.
    Source: DagRun.update_state of Airflow 3.3.2.
    """
    ignorable = {t for t, task in plan.special.items() if task.is_teardown and not task.on_failure_fail_dagrun}
    plain = array("I", [t for t, below in enumerate(plan.down) if not below])
    if not ignorable:
        return plain
    leaves = [t for t, below in enumerate(plan.down) if t not in ignorable and ignorable.issuperset(below)]
    return array("I", leaves) or plain
