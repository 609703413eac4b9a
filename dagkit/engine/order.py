"""Who comes first: the order of every walk over task instances (TIs), and of the scheduled ones when places are handed out.

Both orders are kept as whole numbers with the TI itself in the low bits, so that a heap of plain numbers is enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .core import Run, Sim

TI_BITS = 40
MASK = (1 << TI_BITS) - 1
"""The low bits of a rank or ready key hold the TI's number."""
FIELD = 24
"""Bits for a task number, a map index, a run number."""
INDEX_BIT = TI_BITS + 4 * FIELD
TURN_BIT = INDEX_BIT + FIELD
"""Above a rank of four fields (see ``rank_of``): the map index, then the turn of the run, then the weight."""
TURN_BITS = 80


def fix(sim: Sim) -> None:
    """Fix the order of every walk and the turns of the runs.

    Where no TI can appear on the way, a TI's number is its rank, and runs take turns as 0, 1, 2...: short numbers are
    quick to compare. Else both leave room for what may come between.
    """
    if sim.grows:
        sim.rank = [rank_of(sim, ti) for ti in range(len(sim.state))]
        sim.weight_bit = TURN_BIT + TURN_BITS
        for run in sim.runs:
            run.turn = turn_of(run)
    else:
        sim.rank = range(len(sim.state))
        turns = {logical: turn for turn, logical in enumerate(sorted({run.logical for run in sim.runs}))}
        sim.weight_bit = TI_BITS + len(turns).bit_length()
        for run in sim.runs:
            run.turn = turns[run.logical] << TI_BITS


def rank_of(sim: Sim, ti: int) -> int:
    """The order of every walk: Dag as given, task order, map index, run."""
    run = sim.run_of[ti]
    index = sim.map_index.get(ti, -1) + 1
    return ((((run.plan.number << FIELD | sim.task_of[ti]) << FIELD | index) << FIELD | run.number) << TI_BITS) | ti


def turn_of(run: Run) -> int:
    """A run's place in time, where others may come between."""
    logical, number = run.logical
    return (logical << FIELD | number) << TURN_BIT


def ready_key(sim: Sim, ti: int, run: Run, task: int) -> int:
    """The order in which the scheduled are asked: weight (heaviest first), logical date, map index, then rank.

    Source: the ORDER BY of _executable_task_instances_to_queued, jobs/scheduler_job_runner.py, Airflow 3.3.2.
    """
    key = run.turn + sim.rank[ti] - (run.plan.weight[task] << sim.weight_bit)
    return key + (sim.map_index.get(ti, -1) + 1 << INDEX_BIT) if sim.map_index else key
