"""What the task instances (TIs) of a trace are called, and the order in which they are shown.

A label is the shortest text that says which one is meant: ``load``, ``load[2]``, ``daily.load``, ``load@3``. In a long
trace a table of all labels costs more than an answer about one of them, so it is made only where labels may clash.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, zip_longest

from .engine.core import Run
from .engine.plan import Plan
from .engine.script import readings
from .errors import DagkitError, choices, nearest, quoted, shown

_INSTANCE = re.compile(r"(.*)\[(0|[1-9][0-9]{0,8})\]\Z", re.DOTALL)


class Named:
    """The part of a Trace that knows names."""

    _plans: list[Plan]
    _runs: list[Run]
    _task_of: Sequence[int]
    _run_of: list[Run]
    _map_index: dict[int, int]
    _born: dict[int, int]
    _joined: dict[int, int]
    _gone: dict[int, str]

    @cached_property
    def _order(self) -> list[int]:
        """TIs in display order: Dag as given, task order, map index, run."""
        index = self._map_index
        if index or self._gone:
            return sorted(range(len(self._task_of)), key=lambda ti: (
                self._run_of[ti].plan.number, self._task_of[ti], index.get(ti, -1), self._run_of[ti].number))
        rows: Iterator[tuple[int | None, ...]] = chain.from_iterable(
            zip_longest(*(run.ti for run in self._runs if run.plan.number == plan.number)) for plan in self._plans)
        return [ti for row in rows for ti in row if ti is not None]

    @cached_property
    def _several_runs(self) -> set[int]:
        count = Counter(run.plan.number for run in self._runs)
        return {number for number, runs in count.items() if runs > 1}

    @cached_property
    def _plain(self) -> bool:
        """Whether no two labels can be the same: one Dag, nothing removed, no id that looks like a mapped instance."""
        return len(self._plans) == 1 and not self._gone and not (
            self._map_index and any(task_id.endswith("]") for task_id in self._plans[0].ids))

    def _task_id(self, ti: int) -> str:
        return self._gone.get(ti) or self._run_of[ti].plan.ids[self._task_of[ti]]

    @cached_property
    def _full_labels(self) -> list[str]:
        """The label of every TI. A second one of the same label says so: a removed TI, or an id that looks like one."""
        found = [self._plain_label(ti, self._map_index.get(ti)) for ti in range(len(self._task_of))]
        if len(set(found)) == len(found):
            return found
        count: Counter[str] = Counter()
        taken: set[str] = set()
        for ti in sorted(self._order, key=self._gone.__contains__):
            label = found[ti]
            count[label] += 1
            n = count[label]
            if n > 1:
                found[ti] += " (removed)" if ti in self._gone and n == 2 else f" #{n}"
            while found[ti] in taken:                      # there may be a task of just that name
                n += 1
                found[ti] = f"{label} #{n}"
            taken.add(found[ti])
        return found

    def _plain_label(self, ti: int, index: int | None) -> str:
        run = self._run_of[ti]
        text = self._task_id(ti) if index is None else f"{self._task_id(ti)}[{index}]"
        if len(self._plans) > 1:
            text = f"{run.plan.dag.dag_id}.{text}"
        return f"{text}@{run.number}" if run.plan.number in self._several_runs else text

    def _label(self, ti: int, tick: int | None = None) -> str:
        """Its label; of a mapped TI at a tick before it was expanded, that of the task."""
        index = self._map_index.get(ti)
        if index is not None and tick is not None and tick < self._born[ti]:
            return self._plain_label(ti, None)
        return self._plain_label(ti, index) if self._plain else self._full_labels[ti]

    @cached_property
    def labels(self) -> list[str]:
        """The label of every task instance, in display order."""
        return [self._label(ti) for ti in self._order]

    @cached_property
    def _by_label(self) -> dict[str, int]:
        return dict(zip(self.labels, self._order, strict=True))

    def _labelled(self, label: str) -> int | None:
        """The TI that has exactly this label, if there is one."""
        if not self._plain or "labels" in self.__dict__:     # whoever has read all labels will ask for many
            return self._by_label.get(label)
        for run in self._runs:
            end = f"@{run.number}" if self._several_runs else ""
            if label.endswith(end) and (ti := self._named_in(run, label.removesuffix(end))) is not None:
                return ti
        return None

    def _named_in(self, run: Run, text: str) -> int | None:
        """The TI of a run that is called ``load`` or ``load[2]``, where no id looks like the latter."""
        instance = _INSTANCE.match(text) if text not in run.plan.index else None
        name, index = (instance[1], int(instance[2])) if instance else (text, None)
        task = run.plan.index.get(name)
        tis = () if task is None else run.tis(task)
        ti = tis[index or 0] if (index or 0) < len(tis) else None
        return ti if ti is not None and self._map_index.get(ti) == index else None

    def task_of(self, label: str) -> tuple[str, str, int, int]:
        """(dag_id, task_id, map_index, run) of a label; map_index is -1 for tasks that are not mapped."""
        ti = self._ti(label)
        run = self._run_of[ti]
        return run.plan.dag.dag_id, self._task_id(ti), self._map_index.get(ti, -1), run.number

    def _ti(self, task: str, run: int | None = None, dag_id: str | None = None, tick: int | None = None) -> int:
        """The TI a label means. ``run`` and ``dag_id`` are needed only where several would fit.

        Before a mapped task expands, its bare id means the one TI that there is at that ``tick``.
        """
        if not isinstance(task, str):
            raise DagkitError(f"a task is named by its id (text), not by {quoted(task)}. "
                              "Put its label in quotes.")
        if run is None and dag_id is None and (ti := self._labelled(task)) is not None:
            return ti
        found = []
        for plan, t, index, run_no, _ in readings(task, self._plans):
            if dag_id in (None, plan.dag.dag_id):
                for r in self._runs:
                    own = r.plan.index.get(plan.ids[t])    # a run that ended keeps the Dag it ran
                    if own is not None and r.plan.number == plan.number and {run, run_no} <= {None, r.number}:
                        found += [ti for ti in r.tis(own) if index in (None, self._map_index.get(ti))]
        there = [ti for ti in found if tick is None or self._exists(ti, tick)]
        if len(there) == 1 or len(found) == 1:
            return (there or found)[0]
        if not found:
            others = (label for label in self.labels if label != task)     # it may be there in another run
            raise DagkitError(f"no task instance '{shown(task)}'"
                              + (f" in run {run}" if run is not None else "")
                              + (f" of Dag '{shown(dag_id)}'" if dag_id is not None else "")
                              + f".{nearest(task, others)} Known: {choices(self.labels)}.")
        raise DagkitError(f"'{shown(task)}' means {len(found)} task instances; name one of "
                          f"{choices(self._label(ti) for ti in found)}, or pass run= or dag_id=.")

    def _exists(self, ti: int, tick: int) -> bool:
        """Whether there is such a TI at a tick: its run has begun, its task has joined the Dag, it was expanded."""
        run = self._run_of[ti]
        if (run.triggered and run.due > tick) or self._joined.get(ti, 0) > tick:
            return False
        return self._map_index.get(ti, 0) == 0 or self._born[ti] <= tick
