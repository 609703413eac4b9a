"""The record of one simulation: every state change, and from it every view, table and answer.

A Trace is read-only and deterministic. It stores five bytes a transition; everything else is derived when asked for.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import explain as _explain
from .checks import plain
from .engine.core import Run, Sim
from .engine.limits import LimitName
from .engine.plan import Plan
from .engine.seen import seen
from .errors import DagkitError, choices, quoted, shown
from .faults import Fault
from .meters import Meter, meters
from .named import Named
from .remarks import warnings
from .scenario import Scenario
from .states import AIRFLOW_VERSION, CODE, FAILED, FINISHED, NAMES, NONE, UPSTREAM_FAILED

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

LOG_ID = 60


class Trace(Named):
    """What happened, tick by tick. Made by ``simulate``.

    scenario: what was simulated. last_tick: the tick of the last change. airflow_version: whose rules it follows.

    >>> from dagkit.engine import simulate
    >>> from dagkit.examples import orders
    >>> trace = simulate(orders())
    >>> trace.final_states["publish"], trace.run_state, trace.any_failed
    ('upstream_failed', 'success', True)
    """

    airflow_version = AIRFLOW_VERSION

    def __init__(self, scenario: Scenario, plans: list[Plan], runs: list[Run], columns: dict[str, Any]):
        self.scenario = scenario
        self._plans, self._runs = plans, runs
        self._initial: bytes = columns["initial"]
        self._task_of: Sequence[int] = columns["task_of"]
        self._run_of: list[Run] = columns["run_of"]
        self._map_index: dict[int, int] = columns["map_index"]
        self._born: dict[int, int] = columns["born"]
        self._tick_no: array[int] = columns["tick_no"]
        self._tick_end: array[int] = columns["tick_end"]
        self._event_ti: array[int] = columns["event_ti"]
        self._event_new: bytearray = columns["event_new"]
        self._causes: dict[int, str] = columns["causes"]
        self._final_tries: array[int] = columns["tries"]
        self._gone: dict[int, str] = columns.get("gone", {})      # removed TIs: the task id they had
        self._joined: dict[int, int] = columns.get("joined", {})  # TIs of tasks added on the way: the tick
        self._pauses: list[tuple[int, str, str]] = columns.get("pauses", [])
        self._notes: list[tuple[int, int, str]] = columns.get("notes", [])   # (tick, TI, what befell it)
        self._picks: list[tuple[int, int, int, int]] = columns.get("picks", [])   # (TI, tick, executor, worker)
        self._capped: list[tuple[LimitName, int]] = columns.get("capped", [])   # limits that refused, and since when
        self._overdriven: list[str] = columns.get("overdriven", [])
        self._window_cut: int | None = columns.get("window_cut")
        self._now: Scenario = columns["now"]                      # the scenario after its last change
        self._stopped_early: bool = columns.get("stopped_early", False)
        self._by_ti: tuple[np.ndarray, np.ndarray] | None = None   # see ``_index_events``
        self._whole: Trace = self                                 # of a past as ``_until`` makes it: what came of it

    @classmethod
    def of(cls, sim: Sim) -> Trace:
        """The trace of a simulation that has been played."""
        initial = sim.initial or bytes((NONE,)) * len(sim.state)
        initial += bytes((NONE,)) * (len(sim.state) - len(initial))
        for run in sim.runs:
            run.heads = {}
        columns = {name: getattr(sim, name) for name in (
            "task_of", "run_of", "map_index", "born", "tick_no", "tick_end", "event_ti", "event_new", "causes", "tries",
            "gone", "joined", "pauses", "notes", "picks")}
        return cls(sim.given, sim.plans, sim.runs, {
            "initial": initial, "now": sim.scenario, "capped": sim.limits.refusals(), "window_cut": sim.window_cut,
            "overdriven": sorted(sim.overdriven),
            **columns})

    def __repr__(self) -> str:
        dags = choices(plan.dag.dag_id for plan in self._plans)
        said = f", stalled: see .warnings ({len(self.warnings)})" if self.stalled else ""
        return (f"Trace({dags}: {len(self._task_of)} task instances, {len(self._event_new)} changes, "
                f"last tick {self.last_tick}{said})")

    # ---- the record -------------------------------------------------------------------------------------------

    @property
    def last_tick(self) -> int:
        """The tick of the last state change, 0 if nothing ever changed."""
        k = bisect_left(self._tick_end, len(self._event_new))
        return self._tick_no[k] if self._event_new else 0

    @cached_property
    def _end(self) -> int:
        """The tick at which the simulation stopped; later than the last change where something waits for ever."""
        return max(self.last_tick, self._tick_no[-1] if self._tick_no and self.stalled else 0)

    @cached_property
    def _event_tick(self) -> np.ndarray:
        import numpy as np
        ends = np.frombuffer(self._tick_end, dtype=np.int64)
        return np.repeat(np.frombuffer(self._tick_no, dtype=np.int64), np.diff(ends, prepend=0))

    @cached_property
    def _event_old(self) -> bytes:
        """The state before each event."""
        state, olds = bytearray(self._initial), bytearray()
        for ti, new in zip(self._event_ti, self._event_new, strict=True):
            olds.append(state[ti])
            state[ti] = new
        return bytes(olds)

    def _events_until(self, tick: int) -> int:
        """How many events have happened when tick ``tick`` is over."""
        k = bisect_right(self._tick_no, tick)
        return self._tick_end[k - 1] if k else 0

    def _codes_at(self, tick: int) -> np.ndarray:
        """State number of every TI at the end of a tick."""
        import numpy as np
        k = self._events_until(tick)
        codes = np.frombuffer(self._initial, dtype=np.uint8).copy()
        codes[np.frombuffer(self._event_ti, dtype=np.uint32)[:k]] = np.frombuffer(self._event_new, dtype=np.uint8)[:k]
        return codes

    def _changes_of(self, ti: int) -> list[tuple[int, int, int]]:
        """(tick, new state, event number) of one TI, in order."""
        import numpy as np
        if self._by_ti is not None:
            events, ends = self._by_ti
            hits = events[ends[ti]:ends[ti + 1]].tolist()
        else:                                             # one look at all events costs less than an index of them
            hits = np.flatnonzero(np.frombuffer(self._event_ti, dtype=np.uint32) == ti).tolist()
        return [(self._tick_no[bisect_right(self._tick_end, e)], self._event_new[e], e) for e in hits]

    def _index_events(self) -> None:
        """For whoever is about to ask for the changes of many TIs: the event numbers of each TI, side by side."""
        import numpy as np
        if self._by_ti is None:
            column = np.frombuffer(self._event_ti, dtype=np.uint32)
            count = np.bincount(column, minlength=len(self._task_of))
            self._by_ti = np.argsort(column, kind="stable"), np.concatenate(([0], np.cumsum(count)))

    def _events_of(self, tis: Iterable[int]) -> list[tuple[int, int, int]]:
        """(tick, TI, new state) of every change of some TIs, in the order in which it happened."""
        import numpy as np
        wanted = np.zeros(len(self._task_of), dtype=bool)
        wanted[list(tis)] = True
        column = np.frombuffer(self._event_ti, dtype=np.uint32)
        hits = np.flatnonzero(wanted[column])
        return list(zip(self._event_tick[hits].tolist(), column[hits].tolist(),
                        np.frombuffer(self._event_new, dtype=np.uint8)[hits].tolist(), strict=True))

    def _check_tick(self, tick: int | None) -> int:
        if tick is None:
            return self._end
        tick = plain(tick)
        if type(tick) is not int or tick < 0:
            raise DagkitError(f"tick must be a whole number >= 0, not {quoted(tick)}. "
                              f"This trace ends at tick {self.last_tick}.")
        return tick

    def log(self) -> str:
        """Every change of state, one line each, in the order in which it happened.

        >>> from dagkit import examples, simulate
        >>> print(simulate(examples.orders()).log().splitlines()[0])
        tick  1  extract_orders             none -> scheduled
        """
        return "\n".join(line for _, line in self.log_lines)

    @cached_property
    def log_lines(self) -> list[tuple[int, str]]:
        """(tick, line) pairs of ``log``."""
        several = len(self._runs) > 1
        names = {}
        where = {}
        for ti in range(len(self._task_of)):
            run = self._run_of[ti]
            index = self._map_index.get(ti)
            text = self._task_id(ti)
            names[ti] = f"{shown(text if index is None else f'{text}[{index}]', LOG_ID):<15}"
            where[ti] = f"{shown(run.label, LOG_ID):<15}  " if several else ""
        lines = [(int(tick), f"tick {tick:>2}  {where[ti]}{names[ti]} {NAMES[old]:>15} -> {NAMES[new]}")
                 for tick, ti, old, new in zip(self._event_tick, self._event_ti, self._event_old, self._event_new,
                                               strict=True)]
        broken = [(f.tick, f"tick {f.tick:>2}  FAULT: {f}") for f in self.faults if f.tick <= self._end]
        return sorted([*broken, *lines], key=lambda line: line[0]) if broken else lines

    @property
    def faults(self) -> list[Fault]:
        """What broke on the way, in order of time; each has .tick, .component and says itself in words.

        >>> from dagkit import examples, faults, simulate
        >>> print(*simulate(examples.orders(), faults=[faults.SlowDatabase(3, until=9)]).faults)
        the metadata database is slow (a pass takes 5 ticks) from tick 3 until tick 9
        """
        return sorted(self.scenario.faults, key=lambda fault: fault.tick)

    @property
    def events(self) -> pd.DataFrame:
        """Every change as a table: tick, dag_id, run, task_id, map_index, try_number, old, new, cause."""
        import pandas as pd
        tis, run_of, causes = self._event_ti, self._run_of, self._causes
        tries, tried = [0] * len(self._task_of), []
        for ti, old, new in zip(tis, self._event_old, self._event_new, strict=True):
            tries[ti] += (old, new) in _COUNTS
            tried.append(tries[ti])
        return pd.DataFrame({
            "tick": self._event_tick, "dag_id": [run_of[ti].plan.dag.dag_id for ti in tis],
            "run": [run_of[ti].number for ti in tis], "task_id": [self._task_id(ti) for ti in tis],
            "map_index": [self._map_index.get(ti, -1) for ti in tis], "try_number": tried,
            "old": [NAMES[old] for old in self._event_old], "new": [NAMES[new] for new in self._event_new],
            "cause": [causes.get(n) for n in range(len(tis))]})

    @cached_property
    def changes(self) -> list[list[tuple[int, str]]]:
        """For every label, its states over time: ``[(tick, state), ...]``, beginning with (0, initial state)."""
        found: list[list[tuple[int, str]]] = [[(0, NAMES[s])] for s in self._initial]
        for tick, ti, new in zip(self._event_tick.tolist(), self._event_ti, self._event_new, strict=True):
            found[ti].append((tick, NAMES[new]))
        return [found[ti] for ti in self._order]

    def states_at(self, tick: int) -> dict[str, str]:
        """``{label: state}`` at the end of a tick; ``states_at(0)`` is the initial state."""
        codes = self._codes_at(self._check_tick(tick))
        return {self._label(ti, tick): NAMES[codes[ti]] for ti in self._order if self._exists(ti, tick)}

    @property
    def final_states(self) -> dict[str, str]:
        """``{label: state}`` at the end."""
        return self.states_at(self.last_tick)

    @property
    def tries(self) -> dict[str, int]:
        """``{label: tries}``: how often each was scheduled; skipped and upstream_failed ones stay at 0."""
        return {self._label(ti): self._final_tries[ti] for ti in self._order}

    def table(self, tick: int | None = None) -> pd.DataFrame:
        """Every task instance at the end of a tick: state, try, and why it is where it is."""
        tick = self._check_tick(tick)
        return self._told(tick, self._order)

    def _told(self, tick: int, tis: Iterable[int]) -> pd.DataFrame:
        import pandas as pd
        tis = [ti for ti in tis if self._exists(ti, tick)]
        rows = zip([self._label(ti, tick) for ti in tis], _explain.brief(self, tis, tick), strict=True)
        return pd.DataFrame([(label, *told) for label, told in rows],
                            columns=["task", "state", "reason", "why"]).set_index("task")

    # ---- verdicts ---------------------------------------------------------------------------------------------

    def run(self, run: int | None = None, dag_id: str | None = None) -> Run:
        """The record of one run: .state, .due, .started, .ended (ticks), .cause."""
        found = [r for r in self._runs if run in (None, r.number) and dag_id in (None, r.plan.dag.dag_id)]
        if len(found) == 1:
            return found[0]
        names = choices(r.label for r in (found or self._runs))
        raise DagkitError(f"{'several runs fit' if found else 'no such run'}; name one with run= and dag_id=: {names}.")

    @property
    def run_state(self) -> str:
        """Airflow's verdict on the only run: it looks at the effective leaves. See ``run_states`` for several."""
        return self.run().state

    @property
    def run_states(self) -> dict[str, str]:
        """``{dag_id@run: state}``."""
        return {r.label: r.state for r in self._runs}

    @property
    def any_failed(self) -> bool:
        """The naive verdict: did any task instance end failed or upstream_failed?"""
        final = self._codes_at(self.last_tick)
        return bool(((final == FAILED) | (final == UPSTREAM_FAILED)).any())

    @cached_property
    def stalled(self) -> bool:
        """Nothing is left on the calendar, and task instances are unfinished."""
        return not self._stopped_early and not FINISHED.issuperset(self._codes_at(self.last_tick).tolist())

    @cached_property
    def warnings(self) -> list[str]:
        """What real Airflow accepts without a word although it goes wrong, and what a reader might not expect."""
        return warnings(self)

    # ---- reasons ----------------------------------------------------------------------------------------------

    def explain(self, task: str, tick: int | None = None, *, run: int | None = None,
                dag_id: str | None = None) -> _explain.Reason:
        """Why a task instance is where it is at the end of a tick (default: the last), and what would change it.

        >>> from dagkit import examples, simulate
        >>> print(simulate(examples.orders()).explain("extract_users", tick=1))
        extract_users is scheduled: pool 'db' is full (1 of 1 used by extract_orders).
        """
        tick = self._check_tick(tick)
        ti = self._ti(task, run, dag_id, tick)
        if not self._exists(ti, tick):
            begins = max(self._joined.get(ti, 0), self._born.get(ti, 0), self._run_of[ti].due)
            raise DagkitError(f"'{shown(self._label(ti))}' does not exist at tick {tick}; it appears at tick {begins}. "
                              "Ask for a later tick.")
        return _explain.explain(self, ti, tick)

    def why(self, task: str, *, run: int | None = None, dag_id: str | None = None) -> pd.DataFrame:
        """The reasons of one task instance over time, as intervals of ticks (both ends included)."""
        import pandas as pd
        ti = self._ti(task, run, dag_id)
        rows = [(start, end, r.state, r.code, r.text) for start, end, r in _explain.timelines(self, [ti])[ti]]
        return pd.DataFrame(rows, columns=["from", "to", "state", "reason", "why"])

    def waiting(self, tick: int | None = None) -> pd.DataFrame:
        """Every unfinished task instance at the end of a tick, with its reason."""
        tick = self._check_tick(tick)
        codes = self._codes_at(tick).tolist()
        return self._told(tick, [ti for ti in self._order if codes[ti] not in FINISHED])

    @cached_property
    def reasons(self) -> dict[str, list[tuple[int, int, _explain.Reason]]]:
        """For every label its reasons over time, as (from tick, to tick, Reason)."""
        lines = _explain.timelines(self, self._order)
        return {label: lines[ti] for label, ti in self._by_label.items()}

    @cached_property
    def meters(self) -> list[Meter]:
        """How full each pool and cap is over time, for those that some task instance uses."""
        return meters(self)

    # ---- other forms ------------------------------------------------------------------------------------------

    def diff(self, other: Trace) -> Any:
        """The first tick at which two traces part, and what made the difference."""
        from .compare import diff
        return diff(self, other)

    def fork(self, tick: int, **changes: Any) -> Trace:
        """The same scenario, changed from tick ``tick`` on: another future with the same past.

        changes: pools={"db": 2}, outcomes={...}, durations={...}, config=Config(...), tasks={"publish":
        {"trigger_rule": "all_done"}} (edits of single tasks), dag=Dag(...) (a new definition), clear=["transform"].

        >>> from dagkit import examples, simulate
        >>> trace = simulate(examples.orders())
        >>> print(trace.diff(trace.fork(1, pools={"db": 2})))   # doctest: +ELLIPSIS
        they part at tick 1: extract_users is scheduled in the first and queued in the second. ...
        """
        from .engine import simulate
        tick = plain(tick)
        if type(tick) is not int or tick < 1:
            raise DagkitError(f"fork: tick must be a whole number >= 1, not {quoted(tick)}. "
                              "Name the first tick that is to differ.")
        if not changes:
            raise DagkitError("fork: name at least one change. For example pools={'db': 2} or clear=['transform'].")
        return simulate(self.scenario.replace(changes=(*self.scenario.changes, (tick, changes))))

    def to_json(self) -> str:
        """The whole trace as text; ``Trace.from_json`` brings it back."""
        from .serial import trace_to_json
        return trace_to_json(self)

    @classmethod
    def from_json(cls, text: str) -> Trace:
        """A trace from what ``to_json`` wrote. Raises FormatError for anything else."""
        from .serial import trace_from_json
        return trace_from_json(text)

    def to_html(self, path: str | Path, **options: Any) -> Path:
        """One file with the player in it, which works offline in any browser; options are those of ``dk.play``."""
        from .views.html_export import to_html
        return to_html(self, path, **options)

    def to_chrome_trace(self, path: str | Path) -> Path:
        """A file for https://ui.perfetto.dev or chrome://tracing: one process per pool, one thread per slot."""
        from .chrome_trace import to_chrome_trace
        return to_chrome_trace(self, path)

    def gantt(self, **options: Any) -> Any:
        """A picture: one row per task instance, its states as segments."""
        from .views import trace_gantt
        return trace_gantt(self, **options)

    def _until(self, tick: int) -> Trace:
        """The trace in which no change later than ``tick`` was made: it has the same past, under the old rules."""
        changes = seen(self.scenario)
        if all(t <= tick for t, _ in changes):
            return self
        from .engine import simulate
        known: dict[int, Trace] = self.__dict__.setdefault("_versions", {})
        made = tuple(sorted((change for t, change in changes if t <= tick), key=lambda change: change[0]))
        if len(made) not in known:
            known[len(made)] = simulate(self.scenario.replace(changes=made))
            known[len(made)]._whole = self
        return known[len(made)]

    def _same(self, other: Trace, ti: int) -> int | None:
        """The TI of this trace that is another trace's ``ti``, or None if there is none here."""
        run, index = other._run_of[ti], other._map_index.get(ti)
        for mine in self._runs:
            if mine.plan.number == run.plan.number and mine.number == run.number:
                task = mine.plan.index.get(other._task_id(ti))
                tis = () if task is None else mine.tis(task)
                return next((i for i in tis if index in (None, 0) or self._map_index.get(i) == index), None)
        return None

    def _columns(self) -> Iterator[Sequence[Any]]:
        yield from (self._initial, self._tick_no, self._tick_end, self._event_ti, self._event_new,
                    sorted(self._causes.items()))

    def __eq__(self, other: object) -> bool:
        """Two traces are equal when the same task instances made the same changes at the same ticks."""
        return isinstance(other, Trace) and self.labels == other.labels and all(
            a == b for a, b in zip(self._columns(), other._columns(), strict=True))

    __hash__ = None  # type: ignore[assignment]


_COUNTS = frozenset({(NONE, CODE["scheduled"]), (CODE["up_for_retry"], CODE["scheduled"]), (NONE, CODE["success"])})
"""(old, new) with which try_number grows: not after a sensor's sleep, a deferral or a requeue; the last is an
EmptyOperator."""
