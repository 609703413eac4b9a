"""depends_on_past and wait_for_downstream: what the previous run must have finished first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..states import SKIPPED, SUCCESS

if TYPE_CHECKING:
    from .core import Run, Sim

GOOD = frozenset({SUCCESS, SKIPPED})


def past_allows(sim: Sim, ti: int, run: Run) -> bool:
    """Whether the previous run's same task (and what follows it, with wait_for_downstream) is done well.

    A first run passes. A previous run without this task blocks for ever, unless ignore_first_depends_on_past.
    Source: PrevDagrunDep of Airflow 3.3.2.
    """
    task_no = sim.task_of[ti]
    if task_no not in run.plan.past:
        return True
    before = sim.previous_run.get(run)
    if before is None:
        return True
    task = run.plan.tasks[task_no]
    same = before.plan.index.get(task.task_id)
    if same is None:
        return task.ignore_first_depends_on_past
    needed = [same, *(before.plan.down[same] if task.wait_for_downstream else ())]
    return all(sim.state[i] in GOOD for t in needed for i in before.tis(t))
