"""Why a task instance is where it is: recomputed from the trace, so it can never drift from what happened.

A reason is the *first* check that fails, in the order in which Airflow makes them, against the usage at the end of
the tick.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import delivered, faulted, trigger_rules
from .engine.limits import Need
from .engine.loss import NO_SCHEDULER
from .errors import choices, nearest, shown
from .faults import LoseWorker
from .states import (
    AWAITING_INPUT,
    DEFERRED,
    FAILED,
    FINISHED,
    NAMES,
    NONE,
    QUEUED,
    REMOVED,
    RUNNING,
    SCHEDULED,
    SKIPPED,
    SUCCESS,
    UP_FOR_RESCHEDULE,
    UP_FOR_RETRY,
    UPSTREAM_FAILED,
)
from .usage import Usage, needs

if TYPE_CHECKING:
    from .bridge import Bridge
    from .engine.core import Run
    from .trace import Trace

MANY = 5   # names in a sentence
MOST_BLOCKERS = 100


@dataclass(frozen=True)
class Reason:
    """Why a task instance is in its state. Printing it gives the sentence.

    code: stable name of the failing check. blockers: labels of what stands in the way. unblocks_at: the tick of its
    next state change in this trace, or None. known_ahead: True where that tick is fixed beforehand (a delay, a
    timeout). remedy: the knob that would help, or "".
    """

    label: str
    state: str
    code: str
    text: str
    blockers: tuple[str, ...] = ()
    remedy: str = ""
    unblocks_at: int | None = field(default=None, compare=False)
    known_ahead: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return f"{shown(self.label)} is {self.state}: {self.text}"

    @property
    def bridge(self) -> Bridge:
        """The same reason in a real Airflow: what it shows, which command, metric and setting belong to it."""
        from .bridge import of
        return of(self.code)


class Situation(Usage):
    """The task instances at the end of one tick, ready to be asked why."""

    def reason(self, ti: int) -> Reason:
        """Why one TI is where it is. At most MOST_BLOCKERS blockers are named."""
        state = self.codes[ti]
        code, text, blockers, remedy = self.why(ti, state)
        return Reason(self.trace._label(ti, self.tick), NAMES[state], code, text,
                      tuple(self.trace._label(b, self.tick) for b in blockers[:MOST_BLOCKERS]), remedy)

    def why(self, ti: int, state: int) -> tuple[str, str, Sequence[int], str]:
        """(code, text, blockers, remedy): what is broken comes first, if anything is."""
        told = self._why(ti, state)
        return faulted.why(self, ti, state, told) if self.trace.scenario.faults else told

    def _why(self, ti: int, state: int) -> tuple[str, str, Sequence[int], str]:
        run = self.trace._run_of[ti]
        if state in FINISHED:
            return self._finished(ti, state, run)
        if state == SCHEDULED:
            return self._scheduled(ti, run)
        if state == QUEUED:
            return delivered.why(self, ti)
        if state == RUNNING:
            return self._running(ti)
        if state == UP_FOR_RETRY:
            return self._retry(ti, run)
        if state == NONE:
            return self._none(ti, run)
        if state == UP_FOR_RESCHEDULE and (why := self._paused(run)):
            return why
        return self._parked(ti, state)

    def _paused(self, run: Run) -> tuple[str, str, Sequence[int], str] | None:
        """Why nothing of a run's Dag is scheduled at this tick, or None."""
        why = ""
        for tick, dag_id, because in self.trace._pauses:
            if dag_id == run.plan.dag.dag_id and tick <= self.tick:
                why = because
        if why == NO_SCHEDULER:
            return "no_scheduler", f"{why}.", (), "start a scheduler"
        return ("paused", f"its Dag is paused ({why}).", (), "unpause the Dag") if why else None

    # ---- none -------------------------------------------------------------------------------------------------

    def _none(self, ti: int, run: Run) -> tuple[str, str, Sequence[int], str]:
        if run.due > self.tick:
            return "run_not_due", f"its run has not begun; it falls due at tick {run.due}.", (), ""
        if paused := self._paused(run):
            return paused
        run_state = run.state_at(self.tick)
        if run_state == "queued":
            cap = run.plan.dag.max_active_runs
            ahead = [r for r in self.trace._runs if r.plan.number == run.plan.number
                     and r.state_at(self.tick) == "running"]
            if len(ahead) < cap:
                return "next_pass", "its run is queued; the scheduler starts it in its next pass.", (), ""
            return ("max_active_runs", f"its run is queued: {len(ahead)} of max_active_runs {cap} are running "
                    f"({choices(r.label for r in ahead)}).", (), "raise max_active_runs")
        if run_state != "running":
            return "run_ended", f"its run has ended ({run_state}), so nobody looks at it any more.", (), "clear the task"
        return self._dependencies(ti, run)

    def _dependencies(self, ti: int, run: Run) -> tuple[str, str, Sequence[int], str]:
        from .engine.mapping import relevant
        plan, task = run.plan, self.trace._task_of[ti]
        view: Any = _View(self.trace)
        rule = plan.rule[task]
        above = [u for t in plan.up[task] for u in relevant(view, ti, run, t)]
        open_above = [u for u in above if self.codes[u] not in FINISHED]
        if open_above and rule != "always":
            return ("trigger_rule", f"trigger rule {rule} waits for {self._names(open_above)}.", open_above, "")
        for kind, tasks, words in (("setup", plan.indirect_setups, "its setup"),
                                   ("teardown_scope", plan.scope, "the work between its setup and itself:")):
            still = [u for t in tasks.get(task, ()) for u in relevant(view, ti, run, t)
                     if self.codes[u] not in FINISHED or (kind == "setup" and self.codes[u] == REMOVED)]
            if still:
                return kind, f"it waits for {words} {self._names(still)}.", still, ""
        if task in plan.past and run.number:
            return self._past(ti, run, task)
        decided = trigger_rules.verdict(rule, [self.codes[u] for u in above])
        if decided == trigger_rules.WAIT:
            gone = [u for u in above if self.codes[u] == REMOVED]
            return ("trigger_rule", f"trigger rule {rule} can never hold, because {self._names(gone)} "
                    "was removed from the Dag.", gone, "clear or mark the task")
        return "next_pass", "its dependencies are met; the scheduler looks at it in its next pass.", (), ""

    def _past(self, ti: int, run: Run, task: int) -> tuple[str, str, Sequence[int], str]:
        before = next((r for r in self.trace._runs if r.plan.number == run.plan.number
                       and r.number == run.number - 1), None)
        spec = run.plan.tasks[task]
        same = before.plan.index.get(spec.task_id) if before else None
        if before is None or same is None:
            return ("previous_run", "the run before it has no such task, and depends_on_past never lets it pass.", (),
                    "set ignore_first_depends_on_past, or mark the earlier one success")
        wanted = [same, *(before.plan.down[same] if spec.wait_for_downstream else ())]
        still = [i for t in wanted for i in before.tis(t) if self.codes[i] not in (SUCCESS, SKIPPED)]
        knob = "wait_for_downstream" if spec.wait_for_downstream else "depends_on_past"
        if not still:
            return "next_pass", "its dependencies are met; the scheduler looks at it in its next pass.", (), ""
        states = choices(f"{self._names([i])} ({NAMES[self.codes[i]]})" for i in still[:MANY])
        return ("previous_run", f"{knob}: the previous run must first have {states} succeeded or skipped.", still,
                "mend the previous run")

    # ---- scheduled --------------------------------------------------------------------------------------------

    def _scheduled(self, ti: int, run: Run) -> tuple[str, str, Sequence[int], str]:
        run_state = run.state_at(self.tick)
        if run_state in ("success", "failed"):
            return "run_ended", f"its run has ended ({run_state}), so it is not queued any more.", (), "clear the task"
        if paused := self._paused(run):
            return paused
        key = id(run), run.plan.cls[self.trace._task_of[ti]]
        if key not in self._known:
            self._known[key] = self._limits(ti)
        return self._known[key]

    def _limits(self, ti: int) -> tuple[str, str, Sequence[int], str]:
        for need in needs(self.trace, ti):
            used = self.used(need.limit)
            if used + need.places > need.cap:
                return self.full(need, used)
        if self.trace._now.config.pacing == "airflow":
            return ("not_examined", "it would fit, but rows ahead of it fill the selection window, so the scheduler did "
                    "not look at it in this pass.", (), "raise max_tis_per_query, or mend what the rows ahead wait for")
        return "not_examined", "it would fit, but the scheduler has not looked at it in this pass.", (), ""

    def full(self, need: Need, used: int) -> tuple[str, str, Sequence[int], str]:
        """What a limit says that has no place left for one more."""
        limit, cap = need.limit, int(need.cap)
        holders = sorted(self.holders.get(limit, ()))
        if limit.kind == "pool":
            pool = shown(limit.name)
            if limit.name not in self.trace._now.pools:
                known = self.trace._now.pools
                return ("unknown_pool", f"pool '{pool}' does not exist, so it never starts.{nearest(limit.name, known)}",
                        (), f"create pool '{pool}'")
            if need.places > cap:
                return ("pool_too_small", f"it asks for {need.places} slots of pool '{pool}', which has only {cap}; "
                        "it never starts.", (), f"give pool '{pool}' at least {need.places} slots, or lower pool_slots")
            free = f", and it needs {need.places}" if need.places > 1 else ""
            by = f" used by {self._names(holders)}" if holders else " used"
            full = "is full" if used >= cap else "has too little room"
            return ("pool", f"pool '{pool}' {full} ({used} of {cap}{by}{free}).", holders,
                    f"give pool '{pool}' more slots")
        what = {"parallelism": "parallelism is used up", "executor": f"{limit.name} is full",
                "max_active_tasks": f"max_active_tasks of Dag '{shown(limit.name)}' is reached",
                "max_active_tis_per_dag": f"max_active_tis_per_dag of '{shown(limit.name)}' is reached",
                "max_active_tis_per_dagrun": f"max_active_tis_per_dagrun of '{shown(limit.name)}' is reached",
                }[limit.kind]
        knob = "parallelism of the executor" if limit.kind == "executor" else limit.kind
        return limit.kind, f"{what} ({used} of {cap} used by {self._names(holders)}).", holders, f"raise {knob}"

    # ---- queued, running, parked ------------------------------------------------------------------------------

    def _running(self, ti: int) -> tuple[str, str, Sequence[int], str]:
        following = next(((t, e) for t, _, e in self.trace._changes_of(ti) if t > self.tick), None)
        if following and self.trace._causes.get(following[1]) == "heartbeat_timeout":
            lost = [f.tick for f in self.trace.scenario.faults if isinstance(f, LoseWorker) and f.tick <= self.tick]
            if lost:
                return ("lost_worker", f"its worker has been silent since tick {max(lost)}; the scheduler finds out at "
                        f"tick {following[0]} (task_instance_heartbeat_timeout).", (),
                        "lower task_instance_heartbeat_timeout")
        return "running", f"a worker executes it{f' until tick {following[0]}' if following else ''}.", (), ""

    def _parked(self, ti: int, state: int) -> tuple[str, str, Sequence[int], str]:
        at = self._next(ti)
        until = f" until tick {at}" if at else ", and nothing in this trace ends the wait"
        if state == DEFERRED:
            config = self.trace._now.config
            room = config.triggerers * config.triggerer_capacity
            deferred = [i for i in sorted(self.active) if self.codes[i] == DEFERRED]
            if not config.triggerers:
                return "triggerer", "no triggerer runs, so nothing watches for its event.", (), "start a triggerer"
            if len(deferred) > room:
                return ("triggerer", f"{len(deferred)} waits are deferred, and the triggerer runs {room} at once.", (),
                        "raise [triggerer] capacity or start another triggerer")
            return "trigger", f"parked with the triggerer{until}.", (), ""
        if state == AWAITING_INPUT:
            return "input", f"it waits for a person's answer{until}.", (), "answer it"
        if state == UP_FOR_RESCHEDULE:
            return "reschedule", f"a sensor, asleep until its next check{f' at tick {at}' if at else ''}.", (), ""
        return "restarting", "it was cleared while running; its worker is being stopped.", (), ""

    # ---- the rest ---------------------------------------------------------------------------------------------

    def _retry(self, ti: int, run: Run) -> tuple[str, str, Sequence[int], str]:
        if why := self._paused(run):
            return why
        at = self._next(ti)
        tries = before = 0                                 # before: those made when it was last cleared
        for tick, new, event in self.trace._changes_of(ti):
            if tick <= self.tick:
                tries += new == RUNNING
                before = tries if new == NONE and self.trace._causes.get(event) == "cleared" else before
        allowed = before + run.plan.tasks[self.trace._task_of[ti]].retries + 1
        until = f"the next one may start at tick {at}" if at else "its delay never ends in this trace"
        return "retry_delay", f"try {tries} of {allowed} failed; {until} (retry_delay).", (), "lower retry_delay"

    def _finished(self, ti: int, state: int, run: Run) -> tuple[str, str, Sequence[int], str]:
        from .engine.mapping import relevant
        changes = [(t, e) for t, new, e in self.trace._changes_of(ti) if t <= self.tick and new == state]
        cause = self.trace._causes.get(changes[-1][1]) if changes else None
        if cause == "trigger_rule" and ti not in self.trace._gone:
            plan, task = run.plan, self.trace._task_of[ti]
            view: Any = _View(self.trace)
            if other := self._not_the_rule(ti, state, run, changes[-1][0]):
                return other
            wanted = {UPSTREAM_FAILED: (FAILED, UPSTREAM_FAILED), SKIPPED: (SKIPPED, SUCCESS, FAILED, UPSTREAM_FAILED)}
            above = [u for t in (*plan.up[task], *plan.indirect_setups.get(task, ())) for u in relevant(view, ti, run, t)]
            codes = self.trace._codes_at(changes[-1][0])
            guilty = [u for u in above if int(codes[u]) in wanted.get(state, ())] or above
            if state == SKIPPED and plan.rule[task] in _SKIPS_WITH_SKIPPED:
                guilty = [u for u in guilty if int(codes[u]) == SKIPPED] or guilty
            named = choices(f"{self._names([u])} is {NAMES[int(codes[u])]}" for u in guilty[:MANY])
            return "trigger_rule", f"its trigger rule {plan.rule[task]} cannot hold: {named}.", guilty, "mend it and clear"
        text = _CAUSES.get(cause or "", "finished" if state != REMOVED else "its task is no longer in the Dag")
        return cause or "finished", f"{text}.", (), ""

    def _not_the_rule(self, ti: int, state: int, run: Run, tick: int) -> tuple[str, str, Sequence[int], str] | None:
        """A verdict that its trigger rule alone would not give: a setup above it, or what it is mapped over."""
        from .engine.mapping import relevant, sources
        plan, task, codes = run.plan, self.trace._task_of[ti], self.trace._codes_at(tick)
        view: Any = _View(self.trace)
        if trigger_rules.verdict(plan.rule[task], [int(codes[u]) for t in plan.up[task]
                                                   for u in relevant(view, ti, run, t)]) == NAMES[state]:
            return None
        left_out = [u for t in plan.skipped_by.get(task, ()) for u in run.tis(t) if int(codes[u]) == SUCCESS]
        if state == SKIPPED and left_out:
            kind = "branch" if plan.tasks[self.trace._task_of[left_out[0]]].branch is not None else "short_circuit"
            return kind, f"{_CAUSES[kind]} ({self._names(left_out)}).", left_out, ""
        setups = [u for t in plan.indirect_setups.get(task, ()) for u in relevant(view, ti, run, t)
                  if int(codes[u]) in (FAILED, UPSTREAM_FAILED, SKIPPED)]
        if setups:
            return "setup", f"its setup {self._names(setups)} did not succeed, so it has nothing to work in.", setups, ""
        if task in plan.mapped:
            over = [run.ti[plan.index[s]] for s in sources(plan, task).values() if isinstance(s, str)]
            bad = [u for u in over if int(codes[u]) != SUCCESS]
            what = f"{self._names(bad)} is {NAMES[int(codes[bad[0]])]}" if bad else "the list is empty"
            return "mapping_source", f"it is mapped over {self._names(over) or 'a list'}, and {what}.", bad, ""
        return None

    def _next(self, ti: int) -> int | None:
        return next((t for t, _, _ in self.trace._changes_of(ti) if t > self.tick), None)

    def _names(self, tis: Sequence[int]) -> str:
        """The labels of the first few, and how many there are."""
        named = ", ".join(shown(self.trace._label(ti, self.tick)) for ti in tis[:MANY])
        return named if len(tis) <= MANY else f"{named}, ... ({len(tis)} in all)"


class _View:
    """What ``mapping.relevant`` needs to know of a finished simulation."""

    def __init__(self, trace: Trace):
        self.task_of, self.map_index = trace._task_of, trace._map_index


_SKIPS_WITH_SKIPPED = {"all_success", "none_skipped", "all_done_min_one_success", "one_success", "one_done",
                       "none_failed_min_one_success", "all_done_setup_success"}
_CAUSES = {
    "branch": "a branch did not follow it", "short_circuit": "a short circuit above it skipped everything after it",
    "own_skip": "it skipped itself", "fail_fast": "fail_fast stopped the run after a failure",
    "dagrun_timeout": "the run took longer than dagrun_timeout", "execution_timeout": "it ran into execution_timeout",
    "max_map_length": "it returned a list longer than max_map_length", "cleared": "it was cleared",
    "sensor_timeout": "its condition did not come true within the sensor's timeout (retries are not used)",
    "wait_timeout": "its wait took longer than its timeout", "removed": "its task is no longer in the Dag",
    "stuck_in_queued": "no worker picked it up, and it was queued again as often as num_stuck_in_queued_retries allows",
    "heartbeat_timeout": "its worker stopped sending heartbeats", "orphaned": "its scheduler died",
    "poke_error": "one of its checks went wrong (an ordinary error, so retries are used)",
    "import_error": "its worker could not import what it needs",
    "no_list": "a task is mapped over it, and it returned no list", "mapping_shrank": "the list is shorter now",
}
