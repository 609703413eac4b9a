"""Drills on shape and duration: next wave, critical path, slack, makespan, saturation."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from .. import planning
from ..dag import Dag
from ..engine import simulate
from ..views.picture import brief
from . import notation
from .dice import Dice
from .drills import Judged, Posed, Worked, kind
from .worlds import first, listed, random_dag, rows_of

NUMBER = "Answer with one number."
SLOTS = ("Each task needs one slot. Whenever a slot is free, the first ready task **by name** takes it; "
         "nothing is kept waiting on purpose.")


def _number(right: float, wrong: Any, yes: str) -> Any:
    """A judge of numbers: ``wrong(given)`` says what in the situation makes it wrong."""
    def judge(given: Any) -> Judged:
        value = notation.number(given)
        return Judged(True, yes) if value == right else wrong(value)
    return judge


# ---- next wave -----------------------------------------------------------------------------------------------------


@kind("next_wave", "Next wave", 1)
def next_wave(seed: int, level: int) -> Posed:
    """Some tasks are done: which may start now?"""
    def throw(dice: Dice) -> tuple[Dag, list[str], list[str]] | None:
        dag = random_dag(dice, level)
        done: list[str] = []
        for task in dag:
            if set(task.upstream) <= set(done) and dice.often(.6):
                done.append(task.task_id)
        ready = [t.task_id for t in dag if t.task_id not in done and set(t.upstream) <= set(done)]
        blocked = len(dag) - len(done) - len(ready)
        return (dag, done, ready) if done and len(ready) >= min(level, 2) and blocked >= level else None

    dag, done, ready = first(throw, "next_wave", seed, level)
    trace = simulate(dag, initial=dict.fromkeys(done, "success"))
    assert ready == [t for t, state in trace.states_at(1).items() if state == "queued"]

    def why(task: str) -> str:
        return str(trace.explain(task, tick=1).text)

    def judge(given: Any) -> Judged:
        said = notation.names(given, list(dag.tasks))
        if wrong := [t for t in said if t in done]:
            return Judged(False, f"{wrong[0]} is done already; it does not start again.", misconception="done-again")
        if early := [t for t in said if t not in ready]:
            return Judged(False, f"{early[0]} cannot start: {why(early[0])}", "Every arrow into it must come from a "
                          "task that is done.", "any-upstream-will-do")
        if missing := [t for t in ready if t not in said]:
            above = f"all it waits for ({listed(dag[missing[0]].upstream)}) is done" if dag[missing[0]].upstream else \
                "it waits for nothing"
            return Judged(False, f"{listed(missing)} can start too: {missing[0]}, because {above}.",
                          misconception="only-the-next-in-line")
        return Judged(True, f"{listed(ready)}: everything above is done, and they need not wait for each other.")

    def worked() -> Worked:
        steps = [f"{t} may start: " + (f"{listed(dag[t].upstream)} done" if dag[t].upstream else "it waits for nothing")
                 if t in ready else f"{t} must wait: {why(t)}" for t in dag.tasks if t not in done]
        return Worked(listed(ready), steps, dag.draw(states=trace.states_at(1), critical=False))

    return Posed([f"Done: {listed(done)}. Nothing else has started."], rows_of(dag), "Which tasks may start now?",
                 "Answer with names in any order, written like `x, y`.", judge, worked, ", ".join(ready), dag)


# ---- critical path -------------------------------------------------------------------------------------------------


@kind("critical_path", "Critical path", 1)
def critical_path(seed: int, level: int) -> Posed:
    """The longest chain by duration. Any of several equally long ones will do."""
    def throw(dice: Dice) -> Dag | None:
        dag = random_dag(dice, level)
        path = planning.critical_path(dag).path
        longest_by_count = max(map(len, _chains(dag)))
        return dag if len(path) >= 3 and (level == 1 or len(path) < longest_by_count or dice.often(.3)) else None

    dag = first(throw, "critical_path", seed, level)
    length, tied = planning.critical_path(dag).length, planning.tied_critical_paths(dag)

    def judge(given: Any) -> Judged:
        said = notation.names(given, list(dag.tasks))
        if not said:
            return Judged(None, "At least one task makes a path. Write it from the first task to the last.")
        for one, two in pairwise(said):
            if one not in dag[two].upstream:
                return Judged(False, f"No arrow leads from {one} to {two}: {two} waits for {listed(dag[two].upstream)}.",
                              "A path follows arrows.", "path-without-arrows")
        takes = sum(dag[t].duration for t in said)
        if said in tied:
            more = "" if len(tied) == 1 else f" {len(tied)} paths are that long; to end sooner, all must shrink."
            return Judged(True, f"{' > '.join(said)} takes {takes}, and no chain takes longer.{more}")
        longer = max(sum(dag[t].duration for t in chain) for chain in _chains(dag) if said[-1] == chain[-1])
        hint = f"Even to {said[-1]} there is one of {longer}." if longer > takes else "Which chain ends later?"
        few = "most-tasks-is-longest" if len(said) > min(map(len, tied)) else ""
        return Judged(False, f"{' > '.join(said)} takes {takes}; there is a chain that takes {length}.", hint, few)

    def worked() -> Worked:
        steps, ends = [], dict[str, float]()
        for task in dag:
            start = max((ends[u] for u in task.upstream), default=0)
            ends[task.task_id] = start + task.duration
            steps.append(f"{task.task_id} ends at {brief(start)} + {task.duration} = {brief(ends[task.task_id])} "
                         "at the earliest")
        steps.append("The last end is the length. Walk back from there, each time to the upstream that ends last.")
        return Worked(" > ".join(tied[0]) + f", {brief(length)} in all", steps, dag.draw())

    return Posed(["Slots are plenty."], rows_of(dag), "Which chain of tasks is the critical path?",
                 "Answer with names in order, written like `x > y > z`.", judge, worked, " > ".join(tied[0]), dag)


def _chains(dag: Dag) -> list[list[str]]:
    """Every chain from a first task, to any task."""
    chains: dict[str, list[list[str]]] = {}
    for task in dag:
        chains[task.task_id] = [[*chain, task.task_id] for u in task.upstream for chain in chains[u]] or [[task.task_id]]
    return [chain for found in chains.values() for chain in found]


# ---- slack ---------------------------------------------------------------------------------------------------------


@kind("slack", "Slack", 1)
def slack(seed: int, level: int) -> Posed:
    """How much longer may one task take without the whole ending later?"""
    def throw(dice: Dice) -> tuple[Dag, str] | None:
        dag = random_dag(dice, level)
        spare = planning.slack(dag)
        loose = [t for t in dag.tasks if spare[t]]
        if not loose or len({*spare.values()}) < level + 1:
            return None
        return dag, dice.one(list(dag.tasks)) if dice.often(.2) else dice.one(loose)

    dag, task = first(throw, "slack", seed, level)
    right, length = planning.slack(dag)[task], planning.critical_path(dag).length

    def longer_by(more: float) -> float:
        found = planning.what_if(dag, **{task: dag[task].duration + more})
        return planning.critical_path(found).length

    ends = {row.task_id: row.end for row in planning.schedule(dag, len(dag)).rows}     # as early as can be
    below = [ends[t.task_id] - t.duration for t in dag if task in t.upstream]
    to_next = min(below, default=length) - ends[task]

    def wrong(given: float) -> Judged:
        if given < 0:
            return Judged(False, "Slack is never negative: at worst there is none.")
        if given > right:
            return Judged(False, f"If {task} took {brief(given)} more, the whole would end at {brief(longer_by(given))}, "
                          f"not at {brief(length)}.", f"What comes after {task}, and when must that begin?",
                          "slack-of-the-task-alone")
        slip = "no-task-may-be-late" if not given else "slack-ends-at-the-next" if given == to_next else ""
        return Judged(False, f"{task} may take more than that: with {brief(given + 1)} more the whole still ends at "
                      f"{brief(longer_by(given + 1))}.", "Which other chain is it waited for by?", slip)

    def worked() -> Worked:
        through = max(sum(dag[t].duration for t in up) + sum(dag[t].duration for t in down[1:])
                      for up in _chains(dag) if up[-1] == task for down in _downward(dag, task))
        return Worked(brief(right), [f"The longest chain of all takes {brief(length)}.",
                                     f"The longest chain through {task} takes {brief(through)}.",
                                     f"{brief(length)} - {brief(through)} = {brief(right)}: so much longer may {task} "
                                     "take."],
                      dag.draw())

    yes = f"With {brief(right)} more for {task} all still ends at {brief(length)}; with {brief(right + 1)} more, later."
    return Posed(["Slots are plenty."], rows_of(dag),
                 f"How much longer may {task} take, without the whole ending later? (Its slack.)", NUMBER,
                 _number(right, wrong, yes), worked, brief(right), dag)


def _downward(dag: Dag, task: str) -> list[list[str]]:
    """Every chain that begins with a task."""
    found = [[task]]
    for below in dag:
        if task in below.upstream:
            found += [[task, *chain] for chain in _downward(dag, below.task_id)]
    return found


# ---- makespan ------------------------------------------------------------------------------------------------------


@kind("makespan", "Makespan with W slots", 1)
def makespan(seed: int, level: int) -> Posed:
    """When is all done on so many slots?"""
    def throw(dice: Dice) -> tuple[Dag, int] | None:
        dag, slots = random_dag(dice, level), 2 if level < 3 else dice.between(2, 3)
        takes, path = planning.makespan(dag, slots), planning.critical_path(dag).length
        work = sum(t.duration for t in dag)
        hard = takes > planning.lower_bound(dag, slots) if level == 3 else takes > path
        return (dag, slots) if hard and takes < work else None

    dag, slots = first(throw, "makespan", seed, level)
    plan, path = planning.schedule(dag, slots), planning.critical_path(dag).length
    work, right = sum(t.duration for t in dag), planning.makespan(dag, slots)
    waits = [(row, max((r.end for r in plan.rows if r.task_id in dag[row.task_id].upstream), default=0))
             for row in plan.rows]
    best = planning.makespan(dag, slots, first="critical_path")
    late = next((row, ready) for row, ready in waits if row.start > ready)

    def wrong(given: float) -> Judged:
        row, ready = late
        busy = listed(sorted(r.task_id for r in plan.rows if r.start <= ready < r.end))
        hint = f"At {brief(ready)} {row.task_id} is ready, but {busy} hold the slots; it starts at {brief(row.start)}."
        if given == path:
            return Judged(False, f"{brief(path)} is the critical path. On {slots} slots some task must wait for a slot.",
                          hint, "enough-slots-always")
        if given == work:
            return Judged(False, f"{brief(work)} is all the work, one after the other. {slots} slots work side by side.",
                          hint, "one-after-the-other")
        if given == -(-work // slots):
            return Judged(False, f"{brief(work)} of work on {slots} slots is {brief(given)} each, if none were idle. "
                          "Here one is.", hint, "work-divides-evenly")
        if given == best < right:
            return Judged(False, f"{brief(given)} is what another order takes, the longest way to the end first. Here "
                          "the first ready task by name goes.", hint, "best-order-is-taken")
        if given < planning.lower_bound(dag, slots):
            return Judged(False, f"Nothing can be done by {brief(given)}: the longest chain takes {brief(path)}, and "
                          f"{brief(work)} of work on {slots} slots at least {brief(-(-work // slots))}.", hint)
        return Judged(False, f"Not {brief(given)}. Play it instant by instant: first what ends, then what starts.", hint)

    def worked() -> Worked:
        steps = [f"{brief(row.start)}: {row.task_id} starts in slot {row.slot + 1}, until {brief(row.end)}"
                 + (f" (ready since {brief(ready)}, no slot was free)" if row.start > ready else "")
                 for row, ready in waits]
        from ..views import plan as picture
        return Worked(brief(right), steps, picture(dag, slots))

    yes = f"The last task ends at {brief(right)}; the critical path alone would take {brief(path)}."
    return Posed([f"{slots} slots. {SLOTS}"], rows_of(dag), f"When is everything done on {slots} slots?", NUMBER,
                 _number(right, wrong, yes), worked, brief(right), dag)


# ---- saturation ----------------------------------------------------------------------------------------------------


@kind("saturation", "Saturation", 1)
def saturation(seed: int, level: int) -> Posed:
    """The fewest slots with which the whole takes no longer than its critical path."""
    def throw(dice: Dice) -> Dag | None:
        dag = random_dag(dice, level)
        knee, widest = planning.saturation_slots(dag), max(map(len, planning.waves(dag)))
        return dag if knee >= min(level + 1, 3) and (level < 3 or knee != widest) else None

    dag = first(throw, "saturation", seed, level)
    right, path = planning.saturation_slots(dag), planning.critical_path(dag).length
    widest, work = max(map(len, planning.waves(dag))), sum(t.duration for t in dag)

    def wrong(given: float) -> Judged:
        if given < 1 or given != int(given):
            return Judged(False, "Slots are counted: 1, 2, 3 ...")
        takes = planning.makespan(dag, int(given))
        if takes > path:
            divided = given == -(-work // path)
            more = f" {brief(work)} of work by a path of {brief(path)} is only a floor." if divided else ""
            return Judged(False, f"On {int(given)} slots it takes {brief(takes)}; the critical path is {brief(path)}."
                          + more, "Some task still waits for a slot. Play it.",
                          "work-over-path-is-saturation" if divided else "fewer-is-enough")
        cause = "widest-wave-is-saturation" if given == widest else "a-slot-for-every-task" if given == len(dag) else ""
        wide = f" The widest wave holds {widest} tasks, but they need not all be under way at once."
        return Judged(False, f"{int(given)} slots do reach {brief(path)}, but so do fewer."
                      + (wide if given == widest else ""), "Try every number from 1.", cause)

    def worked() -> Worked:
        steps = [f"{n} slot{'s' * (n > 1)}: {brief(planning.makespan(dag, n))}" for n in range(1, right + 2)]
        steps.append(f"The critical path is {brief(path)}; {right} is the fewest slots that reach it.")
        from ..views import plan as picture
        return Worked(str(right), steps, picture(dag, right))

    yes = f"On {right} slots it takes {brief(path)}, the critical path; on {right - 1} it takes " \
          f"{brief(planning.makespan(dag, right - 1))}."
    return Posed([SLOTS], rows_of(dag), "How many slots are the fewest with which the whole takes no longer than its "
                 "critical path?", NUMBER, _number(right, wrong, yes), worked, str(right), dag)
