"""What a simulation remembers while it runs: a few columns per task instance (TI), and the record of what happened.

A TI is a number. Those that are there from the start are numbered in the order of every walk: Dag, task, run. Mapped
instances, and runs made by asset events, are appended when they appear.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from heapq import heapify, heappush
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..executors import Worker
from ..scenario import Scenario
from ..states import FINISHED, NONE, SUCCESS
from .calendar import Calendar
from .limits import Head, Limits
from .plan import Plan
from .script import Script
from .waiting import Waits
from .workers import Floor

if TYPE_CHECKING:
    from .outages import Holding

CODE_BYTE = [bytes((code,)) for code in range(256)]


class Run:
    """One run of one Dag.

    ti: TI by task number. instances: for expanded mapped tasks, their TIs by map index. left: unfinished TIs.
    due, started, ended: ticks. triggered: made by an asset event.
    logical: its place in time, which breaks ties of priority; turn: the same as a part of a ready key.
    heads: see limits.
    """

    __slots__ = ("plan", "number", "ti", "instances", "left", "state", "due", "started", "ended", "logical", "turn",
                 "heads", "cause", "triggered", "deadline", "history")

    def __init__(self, plan: Plan, number: int, ti: Sequence[int], due: int, logical: int):
        self.plan, self.number, self.ti, self.due, self.logical = plan, number, ti, due, (logical, number)
        self.turn = 0
        self.instances: dict[int, list[int]] = {}
        self.left = plan.n
        self.state = "queued"
        self.started: int | None = None
        self.ended: int | None = None
        self.heads: dict[int, Head] = {}
        self.cause: str | None = None
        self.deadline: int | None = None               # the tick at which dagrun_timeout fails it
        self.history: list[tuple[int, str]] = []       # its states: (tick, state), queued at first
        self.triggered = False

    @property
    def label(self) -> str:
        return f"{self.plan.dag.dag_id}@{self.number}"

    def enter(self, state: str, tick: int) -> None:
        self.state = state
        self.history.append((tick, state))

    def state_at(self, tick: int) -> str:
        """queued, running, success or failed at the end of a tick. A cleared run is queued again."""
        return next((state for since, state in reversed(self.history) if since <= tick), "queued")

    def tis_of(self, tasks: Iterable[int]) -> Iterable[int]:
        """The TIs of some tasks."""
        return chain.from_iterable(map(self.tis, tasks)) if self.instances else map(self.ti.__getitem__, tasks)

    def tis(self, task: int) -> Sequence[int]:
        """The TIs of a task: one, or all its mapped instances."""
        return self.instances.get(task) or (self.ti[task],)


class Sim:
    """Columns by TI: state, tries, pending (the countdown of its trigger rule), task_of, run_of, rank (its place in
    every walk; the low bits hold the TI's number), map_index (only mapped ones).
    """

    # So many attributes are quicker to reach in slots than in a dictionary.
    __slots__ = ("given", "scenario", "grows", "plans", "cascade", "now", "state", "tries", "pending",
                 "task_of", "run_of", "rank", "weight_bit", "map_index", "born", "runs", "calendar", "limits",
                 "looks", "unseen", "fresh", "returned", "revised", "expanded", "ended_runs", "contested",
                 "stirred", "waiting_runs", "active", "watched", "gone", "joined", "previous_run", "next_run",
                 "script", "initial", "window_cut", "stop_at", "not_before", "ends", "starts", "overran",
                 "waits", "same_handover", "floors", "picks", "misfits", "schedulers", "lost_messages",
                 "tracks_queued", "queued_at", "queued_by", "requeues", "let_pass", "silent", "outages",
                 "gates", "cut", "staffs", "notes", "paused", "pauses", "assets", "made", "latest",
                 "overdriven", "failures", "max_tries", "tick_no", "tick_end", "event_ti", "event_new",
                 "causes")

    def __init__(self, scenario: Scenario, plans: list[Plan]):
        self.given = self.scenario = scenario            # as given, and as changed on the way
        self.grows = (any(plan.mapped or plan.dag.assets for plan in plans)     # TIs may appear on the way
                      or any({"dag", "tasks"} & set(change) for _, change in scenario.changes))
        self.plans = plans
        self.cascade = scenario.config.pacing == "lesson"
        self.now = 0
        self.state = bytearray()
        self.tries = array("i")
        self.pending: list[int] = []
        self.task_of = array("I")
        self.run_of: list[Run] = []
        self.rank: Sequence[int] = range(0)
        self.weight_bit = 0
        self.map_index: dict[int, int] = {}
        self.born: dict[int, int] = {}                 # mapped TIs: the tick they appeared
        self.runs: list[Run] = []
        self.calendar = Calendar()
        self.limits = Limits()
        self.looks: list[int] = []                     # heap of ranks: TIs whose situation changed
        self.unseen: set[int] = set()                  # airflow pacing: TIs whose state was set in this pass
        self.fresh: list[int] = []                     # mapped instances that appeared in this phase
        self.returned: dict[int, int] = {}             # producers: the length of the list they returned
        self.revised: set[tuple[int, Run]] = set()     # mapped tasks whose width was checked again after a clear
        self.expanded: dict[Run, None] = {}            # airflow pacing: runs in which this pass expanded a mapped task
        self.ended_runs: list[Run] = []                # runs without unfinished TIs, verdict pending
        self.contested = any(plan.contested for plan in plans)
        self.stirred = True                            # a queued run may be able to start
        self.waiting_runs: list[deque[Run]] = []       # per Dag: queued runs, oldest first
        self.active: list[int] = []                    # per Dag: running runs
        self.watched: list[Run] = []                   # runs in which a deadlock is possible
        self.gone: dict[int, str] = {}                 # TIs whose task left the Dag: its id
        self.joined: dict[int, int] = {}               # TIs whose task joined the Dag on the way: the tick
        self.previous_run: dict[Run, Run] = {}
        self.next_run: dict[Run, Run] = {}
        self.script: Script
        self.initial: bytes = b""
        self.window_cut: int | None = None             # airflow pacing: the first tick at which rows stayed hidden
        self.stop_at: int | None = None
        self.not_before: dict[int, int] = {}           # a waiting retry: the tick it may be scheduled
        self.ends: dict[int, int] = {}                 # TIs once stopped before their time: when they really end
        self.starts: dict[int, int] = {}               # TIs once taken from the queue: when they are really picked up
        self.overran: set[int] = set()                 # TIs whose running try ends by execution_timeout
        self.waits = Waits(scenario.config.triggerers * scenario.config.triggerer_capacity)
        executors = scenario.executor.by_name.values()
        times = {executor.handover if executor.steady else None for executor in executors}
        self.same_handover = times.pop() if len(times) == 1 else None   # ticks, where all executors take as long
        self.floors: dict[str, Floor] = {}             # by executor, where it has workers
        self.picks: list[tuple[int, int, int, int]] = []   # (TI, tick, executor, worker) whenever a worker takes a TI
        self.misfits: set[int] = set()                 # TIs on a worker that lacks what they need
        self.schedulers = scenario.config.schedulers
        self.lost_messages: set[int] = set()           # TIs whose next hand-over gets lost
        self.tracks_queued = bool(scenario.faults)
        self.queued_at: dict[int, int] = {}
        self.queued_by: dict[int, int] = {}
        self.requeues: dict[int, int] = {}             # how often a TI was found stuck in queued
        self.let_pass: set[int] = set()                # latest_only TIs that skipped nothing
        self.silent: dict[int, int] = {}               # running TIs without heartbeat: the tick it is found
        self.outages: Holding | None = None            # faults that hold for a while
        self.gates: list[Any] = []                     # those of them that keep the scheduler from passing
        self.cut: set[str] = set()                     # executors whose work reaches no worker now
        self.staffs: dict[str, list[Worker]] = {}      # the workers of each executor as they should be
        self.notes: list[tuple[int, int, str]] = []    # (tick, TI, what befell it) where the states do not tell
        self.paused: set[str] = set()                  # Dags that are paused
        self.pauses: list[tuple[int, str, str]] = []   # (tick, dag_id, why; "" for unpaused)
        self.assets = {p.number: set(p.dag.assets) for p in plans if p.dag.assets}   # not yet updated
        self.made = [0] * len(plans)                   # per Dag: runs made, those from asset events included
        self.latest: dict[int, Run] = {}               # per Dag: its newest run
        self.overdriven: set[str] = set()              # Dags whose asset-triggered runs were cut off
        self.failures = [0] * len(plans)               # failed runs in a row
        self.max_tries: dict[int, int] = {}            # cleared TIs: the last try they have
        self.tick_no = array("q")
        self.tick_end = array("q")
        self.event_ti = array("I")
        self.event_new = bytearray()
        self.causes: dict[int, str] = {}               # by event number, where the states do not tell

    def record(self, ti: int, new: int, cause: str | None = None) -> None:
        """Every change of state goes through here (or through record_all)."""
        if cause is not None:
            self.causes[len(self.event_new)] = cause
        self.state[ti] = new
        self.event_ti.append(ti)
        self.event_new.append(new)

    def record_all(self, tis: list[int], new: int) -> None:
        """The same change for many TIs whose state column is already set."""
        self.event_ti.extend(tis)
        self.event_new += CODE_BYTE[new] * len(tis)

    def in_order(self, tis: list[int]) -> list[int]:
        """TIs in the order of every walk."""
        if len(tis) < 2:
            return tis
        return sorted(tis) if type(self.rank) is range else sorted(tis, key=self.rank.__getitem__)

    def look_at_all(self, tis: Iterable[int]) -> None:
        """Evaluate these TIs in the evaluate phase."""
        ranks = list(map(self.rank.__getitem__, tis))
        if len(ranks) > len(self.looks):
            self.looks += ranks
            heapify(self.looks)
        else:
            for rank in ranks:
                heappush(self.looks, rank)

    def look_at(self, ti: int) -> None:
        """Evaluate this TI in the evaluate phase."""
        heappush(self.looks, self.rank[ti])

    def settle(self, ti: int, new: int, cause: str | None = None) -> None:
        """A TI is finished: record it, and count it down for the tasks after it."""
        if cause is not None:
            self.causes[len(self.event_new)] = cause
        self.state[ti] = new                              # as ``record`` does, without the call
        self.event_ti.append(ti)
        self.event_new.append(new)
        run = self.run_of[ti]
        plan, tis, task = run.plan, run.ti, self.task_of[ti]
        run.left -= 1
        if not run.left:
            self.ended_runs.append(run)
        if task in plan.outlets and new == SUCCESS:
            from .runs import asset_event
            asset_event(self, plan.tasks[task].outlets)
        if plan.special_down:
            from .mapping import after
            after(self, run, task, ti, new)
            return
        pending, step, looks, rank = self.pending, plan.step[new], self.looks, self.rank
        for d in plan.down[task]:
            di = tis[d]
            left = pending[di] = pending[di] - step[d]
            if left <= 0:
                heappush(looks, rank[di])

    def unsettle(self, ti: int) -> None:
        """A finished TI becomes unfinished again (cleared, or overwritten by a branch): take back its countdown."""
        from .mapping import below
        run, old = self.run_of[ti], self.state[ti]
        assert old in FINISHED
        run.left += 1
        step = run.plan.step[old]
        for d, di in below(self, run, self.task_of[ti], ti):
            self.pending[di] += step[d]

    def logical_date(self, run: Run) -> str:
        """The run's logical date as Airflow prints it: 2026-01-01 plus its due tick."""
        seconds = (run.due - 1) * self.scenario.config.tick_seconds
        try:
            return str(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds))
        except OverflowError:                          # beyond the year 9999
            return f"2026-01-01 + {seconds} s"

    def started_at(self, ti: int) -> int:
        """A number that tells one try (and one hand-over) of a TI from another."""
        return self.queued_at.get(ti, 0)

    def name(self, ti: int) -> str:
        """task or task[i], for messages."""
        index = self.map_index.get(ti)
        return self.run_of[ti].plan.ids[self.task_of[ti]] + ("" if index is None else f"[{index}]")

    def add_runs(self, plan: Plan, due: Sequence[tuple[int, int]], first: int = 0) -> list[Run]:
        """Runs of one Dag, as (tick due, tick of the logical date), numbered from ``first``, with all their TIs."""
        start, count = len(self.state), len(due)
        size = count * plan.n
        made = [Run(plan, first + i, range(start + i, start + size, count) if plan.n else (), tick, logical)
                for i, (tick, logical) in enumerate(due)]
        self.runs += made
        self.state.extend(bytes((NONE,)) * size)
        self.tries.extend([0] * size)
        self.pending += [left for left in plan.countdown for _ in due]
        self.task_of.extend([task for task in range(plan.n) for _ in due])
        self.run_of += made * plan.n
        return made
