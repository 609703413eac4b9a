"""What a scenario scripts for single TIs: outcomes, durations, states before the first tick, by label."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import DagkitError, choices, nearest, shown

if TYPE_CHECKING:
    from ..scenario import Runs
    from .core import Sim
    from .plan import Plan

_RUN = re.compile(r"(.*)@(\d+)\Z", re.DOTALL)
_INDEX = re.compile(r"(.*)\[(\d+)\]\Z", re.DOTALL)


def readings(label: str, plans: list[Plan]) -> Iterator[tuple[Plan, int, int | None, int | None, int]]:
    """Every (plan, task, map index, run, specificity) that a label can mean. A plain task id wins over a reading."""
    found = False
    for text, run in _with_and_without(_RUN, label):
        for bare, index in _with_and_without(_INDEX, text):
            for dag_named in (0, 1):
                for plan in plans:
                    prefix = plan.dag.dag_id + "." if dag_named else ""
                    name = bare[len(prefix):]
                    if bare.startswith(prefix) and name in plan.index and (
                            index is None or plan.index[name] in plan.mapped):   # only mapped tasks have instances
                        found = True
                        rank = 4 * (index is not None) + 2 * (run is not None) + dag_named
                        yield plan, plan.index[name], index, run, rank
                if found:
                    return
    if not found:
        ids = [i for plan in plans for i in plan.ids]
        raise DagkitError(f"label '{shown(label)}' matches no task.{nearest(label, ids)} Known: {choices(ids)}.")


def known(label: str, plans: list[Plan]) -> bool:
    """Whether a label names a task of these Dags."""
    try:
        return any(True for _ in readings(label, plans))
    except DagkitError:
        return False


def _with_and_without(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, int | None]]:
    yield text, None
    match = pattern.match(text)
    if match:
        yield match[1], int(match[2])


def _check_run(what: str, label: str, run: int, dag_id: str, count: int) -> None:
    if run >= count:
        has = f"runs 0 to {count - 1}" if count > 1 else "run 0 only" if count else "no run"
        raise DagkitError(f"{what}['{shown(label)}']: Dag '{shown(dag_id)}' has {has}, so there is no run {run}. "
                          "Runs count from 0.")


class ByLabel:
    """Values by label, most specific first: an index counts more than a run, a run more than a Dag."""

    def __init__(self, what: str, values: Mapping[str, Any], plans: list[Plan], runs: Mapping[str, Runs]):
        self.entries: dict[tuple[int, int], list[tuple[int, int | None, int | None, Any]]] = {}
        for label, value in values.items():
            for plan, task, index, run, rank in readings(label, plans):
                if run is not None and not plan.dag.assets:     # asset events make runs that nobody can count before
                    _check_run(what, label, run, plan.dag.dag_id, len(runs[plan.dag.dag_id].due()))
                self.entries.setdefault((plan.number, task), []).append((rank, index, run, value))
        for entries in self.entries.values():
            entries.sort(key=lambda e: -e[0])

    def tasks(self, plan: Plan) -> set[int]:
        return {task for number, task in self.entries if number == plan.number}

    def get(self, sim: Sim, ti: int) -> Any:
        """The value for a TI, or None."""
        run, index = sim.run_of[ti], sim.map_index.get(ti)
        for _, want_index, want_run, value in self.entries.get((run.plan.number, sim.task_of[ti]), ()):
            if want_index in (None, index) and want_run in (None, run.number):
                return value
        return None


class Script:
    """Outcomes and durations of one scenario."""

    def __init__(self, outcomes: Mapping[str, Any], durations: Mapping[str, Any], plans: list[Plan],
                 runs: Mapping[str, Runs]):
        self.outcomes = ByLabel("outcomes", outcomes, plans, runs)
        self.durations = ByLabel("durations", durations, plans, runs)
        self.first_try: dict[int, int] = {}     # tries before this script took over (after a clear)

    def outcome(self, sim: Sim, ti: int) -> tuple[str, int | None]:
        """(word, length of the returned list) of the running try. Missing entries mean success."""
        script = self.outcomes.get(sim, ti)
        index = sim.tries[ti] - 1 - self.first_try.get(ti, 0)
        entry = script[index] if script is not None and 0 <= index < len(script) else "success"
        word, _, length = entry.partition(":")
        returns = sim.run_of[ti].plan.tasks[sim.task_of[ti]].returns
        return word, int(length) if length else returns

    def duration(self, sim: Sim, ti: int) -> int:
        found = self.durations.get(sim, ti)
        return sim.run_of[ti].plan.duration[sim.task_of[ti]] if found is None else found
