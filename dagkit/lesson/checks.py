"""``dk.check(name, answer)``: a verdict on what a learner found, with a hint, never a traceback.

A check computes what is right from the simulator or from planning; nothing here holds an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import examples, planning
from ..dag import Dag
from ..engine import simulate
from ..errors import DagkitError, choices, nearest, shown
from ..scenario import Scenario
from ..task import Task, spec_of
from .page import esc, static


@dataclass(frozen=True)
class Verdict:
    """ok: True, False, or None while nothing was answered. text: why. hint: where to look next, or ""."""

    ok: bool | None
    text: str
    hint: str = ""

    def __bool__(self) -> bool:
        return self.ok is True

    @property
    def lead(self) -> str:
        return {True: "✓ Right.", False: "✗ Not yet.", None: "… Not answered yet."}[self.ok]

    def __repr__(self) -> str:
        return " ".join(filter(None, [self.lead, self.text, self.hint and f"Hint: {self.hint}"]))

    def _repr_html_(self) -> str:
        look = {True: " dl-good", False: " dl-bad", None: ""}[self.ok]
        hint = f"<br><i>Hint:</i> {esc(self.hint)}" if self.hint else ""
        return static(f'<p class="dl-verdict{look}"><b>{self.lead}</b> {esc(self.text)}{hint}</p>')


Judge = Callable[[Any], Verdict]
CHECKS: dict[str, Judge] = {}


def register(name: str) -> Callable[[Judge], Judge]:
    """Make a function the check called ``name``. It gets the answer and returns a Verdict."""
    def keep(judge: Judge) -> Judge:
        CHECKS[name] = judge
        return judge
    return keep


def check(name: str, answer: Any) -> Verdict:
    """Judge an answer. ``None`` or ``...`` counts as not answered yet.

    Raises DagkitError only if there is no check of that name.

    >>> check("saturation", None)
    … Not answered yet. Put your answer in place of None and run the cell again.
    """
    if name not in CHECKS:
        raise DagkitError(f"check '{shown(name)}' is unknown.{nearest(name, CHECKS)} "
                          f"Known: {choices(CHECKS, 40)}.")
    if answer is None or answer is ...:
        return Verdict(None, "Put your answer in place of None and run the cell again.")
    try:
        return CHECKS[name](answer)
    except Exception as error:  # a learner's answer may be anything at all
        return Verdict(False, f"This answer cannot be judged: {shown(error, 300)}",
                       "Look at the question once more: what kind of thing does it ask for?")


def _whole(answer: Any) -> int:
    if type(answer) is not int or answer < 1:
        raise DagkitError(f"it must be a whole number of slots >= 1, not {shown(repr(answer))}. "
                          "Count how many may run at once.")
    return answer


@register("saturation")
def saturation(answer: Any) -> Verdict:
    """The fewest slots at which the fan-out over 6 files is as fast as it can get."""
    return knee((planning.expand(examples.file_fanout(), "process", 6), answer))


@register("knee")
def knee(answer: Any) -> Verdict:
    """``(dag, slots)``: the fewest slots whose greedy makespan is the critical path."""
    dag, slots = answer
    takes, floor = planning.makespan(dag, _whole(slots)), planning.critical_path(dag).length
    if takes > floor:
        return Verdict(False, f"On {slots} slots it takes {takes:g}; the critical path is {floor:g}.",
                       "Something still waits for a slot. How many tasks can be under way at once?")
    if slots > 1 and planning.saturation_slots(dag) < slots:
        return Verdict(False, f"{slots} slots do reach the floor of {floor:g}, but so do fewer.",
                       "Try every number below it, not only powers of two.")
    return Verdict(True, f"On {slots} slots it takes {takes:g}, the length of the critical path, and on "
                   "fewer it takes longer. From here on only a shorter path helps.")


@register("shorter_path")
def shorter_path(answer: Any) -> Verdict:
    """The Dag of lesson 1 with other durations: as short as cutting both tied paths makes it, for no more."""
    day, goal = examples.file_fanout(), planning.what_if(examples.file_fanout(), process=1, load_dim=2)
    if not isinstance(answer, Dag) or answer.edges != day.edges:
        return Verdict(False, "Only durations may change: same tasks, same arrows.", "Use dk.what_if(day, "
                                                                                     "task=minutes).")
    cut = sum(day[t].duration - task.duration for t, task in answer.tasks.items())
    allowed = sum(day[t].duration - task.duration for t, task in goal.tasks.items())
    got, wanted = planning.critical_path(answer).length, planning.critical_path(goal).length
    if got > wanted:
        return Verdict(False, f"The critical path is still {got:g}; it should be at most {wanted:g}.",
                       "Which paths are as long as the longest? Print dk.tied_critical_paths(your_dag).")
    if cut > allowed:
        return Verdict(False, f"Short enough, but you cut {cut:g} minutes of work; {allowed:g} are enough.",
                       "Cut nothing that is not on a longest path.")
    return Verdict(True, f"Critical path {got:g} for {cut:g} minutes cut: every tied path became shorter.")


def _orders(answer: Any) -> Scenario:
    if not isinstance(answer, Scenario):
        raise DagkitError("it must be a Scenario, for example dk.examples.orders().replace(...). Change one thing in it.")
    return answer


def _but_for_limits(task: Task) -> dict[str, Any]:
    """What a task is, without what limits it."""
    limits = ("pool", "pool_slots", "priority_weight", "weight_rule")
    return {"task_id": task.task_id, **{k: v for k, v in spec_of(task).items() if k not in limits}}


@register("quicker_orders")
def quicker_orders(answer: Any) -> Verdict:
    """``orders`` with other limits only: it must end sooner."""
    usual, scenario = examples.orders(), _orders(answer)
    before, after = simulate(usual), simulate(scenario)
    same = [*map(_but_for_limits, usual.dag)] == [*map(_but_for_limits, scenario.dag)]
    if not same or scenario.outcomes != usual.outcomes or scenario.durations:
        return Verdict(False, "Only limits may change: not the tasks, not what happens to them.",
                       "Pools are limits: .replace(pools={...}).")
    if after.last_tick >= before.last_tick:
        return Verdict(False, f"It ends at tick {after.last_tick}, as before or later.",
                       "Who waits in scheduled, and for what? Ask trace.why(...) of both extracts.")
    return Verdict(True, f"It ends at tick {after.last_tick} instead of {before.last_tick}, because one "
                   "limit let two tasks run side by side.")


@register("honest_run")
def honest_run(answer: Any) -> Verdict:
    """``orders`` with a watcher: the run fails when a task failed, and the clean-up still runs."""
    trace = simulate(_orders(answer))
    final = trace.final_states
    if final.get("quality_check") != "failed":
        return Verdict(False, "quality_check must still fail: bad data stay bad data.", "Keep outcomes of "
                                                                                        "orders.")
    if final.get("cleanup_tmp") != "success":
        return Verdict(False, f"cleanup_tmp ended {final.get('cleanup_tmp', 'nowhere')}; it must still run.",
                       "Leave its trigger rule alone and add a task beside it.")
    if trace.run_state != "failed":
        return Verdict(False, f"Airflow still calls the run a {trace.run_state}.",
                       "The verdict looks at leaves only. Which leaf of yours ends in failed?")
    return Verdict(True, "The clean-up ran, and the run is called failed. That is what you want to be woken "
                         "for.")


@register("illegal_transitions")
def illegal_transitions(answer: Any) -> Verdict:
    """``(seed, lines)``: the numbers of the lines that Airflow would never write in the log of that seed."""
    from .lessons.task_states import puzzle

    seed, lines = answer
    if lines is None or lines is ...:
        return Verdict(None, "Put the numbers of the false lines in place of None, for example [3, 14].")
    log, said = puzzle(seed), set(lines)
    if unknown := [line for line in said if line not in range(1, len(log.lines) + 1)]:
        raise DagkitError(f"the log has lines 1 to {len(log.lines)}, not {shown(repr(unknown[0]))}. Choose among those.")
    false = set(log.illegal)
    if wrong := sorted(said - false):
        tick, task, old, new = log.lines[wrong[0] - 1]
        return Verdict(False, f"Line {wrong[0]} is sound: Airflow does move a task from {old} to {new}.",
                       "Rare is not illegal. Who could have moved it?")
    if missing := len(false - said):
        return Verdict(False, f"{len(said)} found, {missing} still hidden.",
                       "Follow one task at a time: does any step jump over a state it must pass?")
    return Verdict(True, "All found: " + "; ".join(
        f"line {k}, {log.lines[k - 1][2]} to {log.lines[k - 1][3]}" for k in sorted(false)) + ".")


@register("branch_join")
def branch_join(answer: Any) -> Verdict:
    """A trigger rule for the join after a branch, tried on four days."""
    from .lessons.trigger_rules import DAYS, joined

    for told, wanted in DAYS.items():
        state = joined(answer, told)
        if (state == "success") != wanted:
            return Verdict(False, f"With {answer}, {told}: the join ends {state}, and it should "
                           f"{'run' if wanted else 'not run'}.", "Look at the cards: what does the rule say when one "
                           "is skipped, when one failed, when all are skipped?")
    return Verdict(True, f"{answer} joins when a way succeeded, forgives the ways not taken, minds failures, and "
                   "stays out when nothing was followed.")
