"""Drills on a running Dag: the state at a tick, the limit that blocks, the final states under trigger rules."""

from __future__ import annotations

from typing import Any

from ..dag import Dag
from ..engine import simulate
from ..executors import CeleryExecutor, LocalExecutor, Worker
from ..scenario import Config, Scenario
from ..task import Task
from . import notation
from .dice import Dice
from .drills import Judged, Posed, Worked, kind
from .worlds import first, listed, random_dag, rows_of

PACE = ("What is admitted at tick t is queued at t and runs from t + 1; if it takes d ticks it is finished at "
        "t + 1 + d. In each tick: what is done ends, queued starts, dependencies are looked at, places are given out.")
STATE = "Answer with the name of a state."


# ---- state at a tick -----------------------------------------------------------------------------------------------


def _story(dice: Dice, level: int) -> Scenario:
    """A small Dag with a scarce pool, from level 2 a retry, on level 3 a failure and a clean-up that runs anyway."""
    dag = random_dag(dice, min(level, 2), longest=3)
    tasks = list(dag)
    scarce = dice.some([t.task_id for t in tasks], dice.between(2, 3))
    ends = [t for t in tasks if not any(t.task_id in other.upstream for other in tasks)]
    made, outcomes = [], {}
    retried = dice.one(tasks).task_id if level > 1 else ""
    broken = dice.one([t for t in tasks if t.task_id != retried]).task_id if level > 2 else ""
    for task in tasks:
        rule = "all_done" if level > 2 and task is ends[-1] and task.upstream else "all_success"
        retries: dict[str, Any] = {"retries": 1, "retry_delay": dice.between(1, 3)} if task.task_id == retried else {}
        made.append(Task(task.task_id, task.upstream, duration=task.duration, trigger_rule=rule,
                         pool="db" if task.task_id in scarce else "default_pool", **retries))
    if retried:
        outcomes[retried] = ["fail", "success"]
    if broken:
        outcomes[broken] = ["fail"]
    return Scenario(Dag("drill", made), pools={"db": 1}, outcomes=outcomes)


@kind("state", "State at a tick", 3)
def state(seed: int, level: int) -> Posed:
    """In which state is one task at the end of one tick?"""
    wanted = Dice("state", seed, level).one(("scheduled", "queued", "none", "up_for_retry", "upstream_failed")[:level + 2])

    def throw(dice: Dice) -> tuple[Scenario, str, int] | None:
        scenario = _story(dice, level)
        trace = simulate(scenario)
        found = [(task, tick) for tick in range(2, trace.last_tick) for task, state in trace.states_at(tick).items()
                 if state == wanted or (wanted == "queued" and state == "running")]
        return (scenario, *dice.one(found)) if found else None

    scenario, task, tick = first(throw, "state", seed, level)
    trace = simulate(scenario)
    right, why = trace.states_at(tick)[task], trace.explain(task, tick=tick).text

    def judge(given: Any) -> Judged:
        said = notation.state(given)
        if said == right:
            return Judged(True, f"At tick {tick} {task} is {right}: {why}")
        before = [(t, s) for t, s in trace.changes[trace.labels.index(task)] if t <= tick]
        was = [t for t, s in before[:-1] if s == said]
        when = next((t for t, s in trace.changes[trace.labels.index(task)] if t > tick and s == said), None)
        if was:
            return Judged(False, f"{task} was {said} from tick {was[-1]}, but it has moved on by tick {tick}.",
                          "Look at what happened to it since.")
        if when:
            return Judged(False, f"{task} becomes {said} only at tick {when}.",
                          f"What holds it until then? {_holds(trace, task, tick)}")
        return Judged(False, f"{task} is never {said} in this run.", _holds(trace, task, tick),
                      "scheduled-means-running" if (said, right) == ("running", "scheduled") else "")

    def worked() -> Worked:
        steps = [line for at, line in trace.log_lines if at <= tick]
        return Worked(f"{right}. {why}", [" ".join(line.split()) for line in steps], trace.gantt(tick=tick))

    notes = [f"Pool db has 1 slot; nothing else is scarce. {PACE}"]
    notes += [f"{t} fails {'its first try' if len(script) > 1 else 'for good'}." for t, script in scenario.outcomes.items()]
    columns = ["pool", *(["retries", "retry_delay"] if level > 1 else []), *(["trigger_rule"] if level > 2 else [])]
    return Posed(notes, rows_of(scenario.dag, *columns), f"In which state is {task} at the end of tick {tick}?", STATE,
                 judge, worked, right, scenario.dag)


def _holds(trace: Any, task: str, tick: int) -> str:
    """A pointer, not the answer: what it depends on."""
    above = trace.scenario.dag[task].upstream
    states = trace.states_at(tick)
    if unfinished := [u for u in above if states[u] not in ("success", "failed", "skipped", "upstream_failed")]:
        return f"At that tick {listed(unfinished)} is not finished yet."
    return f"What it waits for is finished: {listed(above)}. Is there a place for it?" if above else \
        "It waits for no task. Is there a place for it?"


# ---- which limit blocks --------------------------------------------------------------------------------------------

LIMITS = {
    "pool": ["pool db", "pool slots", "db"],
    "max_active_tasks": ["max active tasks per run"],
    "parallelism": ["core parallelism"],
    "max_active_tis_per_dag": ["max active tis", "its own cap"],
    "worker_slots": ["workers", "worker", "celery workers", "concurrency"],
    "max_active_runs": ["runs", "active runs"],
}
_ROOM = ("pool", "max_active_tasks", "parallelism", "max_active_tis_per_dag")
"""Asked of a task that is scheduled."""
_CODES = {"run_limit": "max_active_runs", "max_active_runs": "max_active_runs"}


def _limited(dice: Dice, level: int, tight: str) -> Scenario:
    """A few tasks side by side and several limits, of which one is tight; the higher the level, the closer."""
    near = {1: 6, 2: 3, 3: 1}[level]
    low = dice.between(1, 2)
    cap = {name: low if name == tight else low + dice.between(1, near + 1) for name in LIMITS}
    count = dice.between(4, 5)
    runs = dice.between(2, 3) if tight in ("max_active_tis_per_dag", "max_active_runs") else dice.between(1, 2)
    capped = dice.between(0, count - 1)
    tasks = [Task("abcdef"[k], duration=dice.between(2, 4), pool="db",
                  max_active_tis_per_dag=cap["max_active_tis_per_dag"] if k == capped else None) for k in range(count)]
    dag = Dag("drill", tasks, max_active_tasks=cap["max_active_tasks"], max_active_runs=cap["max_active_runs"])
    celery = CeleryExecutor(workers=[Worker(cap["worker_slots"])], handover=0)
    return Scenario(dag, pools={"db": cap["pool"] * runs}, runs=runs, config=Config(parallelism=cap["parallelism"] * runs),
                    executor=celery if level > 1 else LocalExecutor(handover=0))


@kind("limit", "Which limit blocks", 5)
def limit(seed: int, level: int) -> Posed:
    """A task waits. Which limit says no?"""
    right = Dice("limit", seed, level).one([*LIMITS][:4 + (level > 1) * 2])

    def throw(dice: Dice) -> tuple[Scenario, str, int] | None:
        scenario = _limited(dice, level, right)
        trace = simulate(scenario)
        tick = dice.between(1, 3)
        found = [label for label, state in trace.states_at(tick).items() if state in ("none", "scheduled", "queued")
                 and _limit_of(trace, label, tick) == right and not _others_full(trace, label, tick, right)]
        return (scenario, dice.one(found), tick) if found and not trace.stalled else None

    scenario, task, tick = first(throw, "limit", seed, level)
    trace = simulate(scenario)
    offered = {name: ways for name, ways in LIMITS.items() if level > 1 or name not in ("worker_slots", "max_active_runs")}

    def judge(given: Any) -> Judged:
        said = notation.one_of(given, offered)
        if said == right:
            return Judged(True, f"At tick {tick}: {trace.explain(task, tick=tick).text}")
        return Judged(False, _room(trace, task, tick, said), f"{task} is {trace.states_at(tick)[task]}. Count who holds "
                      "a place, limit by limit.", _slip(said, right, trace.states_at(tick)[task]))

    def worked() -> Worked:
        steps = [_room(trace, task, tick, name) for name in offered if name != right]
        return Worked(f"{right}. {trace.explain(task, tick=tick).text}", steps, trace.gantt(tick=tick))

    return Posed(_knobs(scenario, level), _moment(trace, tick), f"At the end of tick {tick}: which limit keeps {task} from "
                 "running?", "Answer with one of the names.", judge, worked, right, offered=tuple(offered))


def _limit_of(trace: Any, label: str, tick: int) -> str:
    code = trace.explain(label, tick=tick).code
    return _CODES.get(code, code)


def _knobs(scenario: Scenario, level: int) -> list[str]:
    dag = scenario.dag
    capped = next(t for t in dag if t.max_active_tis_per_dag is not None)
    said = (f"Pool db has {scenario.pools['db'].slots} slots, one for each task. parallelism "
            f"{scenario.config.parallelism}, max_active_tasks {dag.max_active_tasks}, "
            f"max_active_tis_per_dag of {capped.task_id} {capped.max_active_tis_per_dag}")
    if level > 1:
        said += (f", max_active_runs {dag.max_active_runs}, worker slots "
                 f"{sum(w.concurrency for w in scenario.executor.default.staff(scenario.config) or ())} (Celery)")
    runs = scenario.runs[dag.dag_id].count
    return [said + f". {runs} run{'s are' if runs > 1 else ' is'} due at tick 1; `a@1` is task a of run 1." if runs > 1
            else said + ". One run is due at tick 1.", "The tasks wait for no other task. The hand-over takes no time."]


def _moment(trace: Any, tick: int) -> list[dict[str, Any]]:
    return [{"task": label, "state": state, "since tick": [t for t, _ in changes if t <= tick][-1]}
            for (label, state), changes in zip(trace.states_at(tick).items(), trace.changes, strict=True)]


def _room(trace: Any, task: str, tick: int, name: str) -> str:
    """What the trace says about a limit that is not the one: how many of its places are taken."""
    used, cap, what = _use(trace, task, tick, name)
    if cap is None:
        return f"{name}: {task} has none."
    state = trace.states_at(tick)[task]
    if name == "worker_slots" and state != "queued":
        return f"worker_slots: {used} of {cap} {what}. And {task} is {state}: no worker has been offered it yet."
    before = f" But {task} is {state}: it does not get as far as that." if used >= cap else ""
    return f"{name}: {used} of {cap} {what}.{before}"


def _use(trace: Any, task: str, tick: int, name: str) -> tuple[int, int | None, str]:
    """Places taken and places there are at a limit, as far as it concerns a task; counted from the states."""
    scenario, states = trace.scenario, trace.states_at(tick)
    _, task_id, _, run = trace.task_of(task)
    busy = [label for label, state in states.items() if state in ("queued", "running")]
    if name == "max_active_runs":
        return len({trace.task_of(label)[3] for label in busy}), scenario.dag.max_active_runs, "runs are under way"
    if name == "worker_slots":
        slots = sum(worker.concurrency for worker in scenario.executor.default.staff(scenario.config) or ())
        return sum(states[label] == "running" for label in busy), slots, "are taken"
    if name == "max_active_tis_per_dag":
        return (sum(trace.task_of(label)[1] == task_id for label in busy), scenario.dag[task_id].max_active_tis_per_dag,
                "are under way")
    if name == "max_active_tasks":
        used = sum(trace.task_of(label)[3] == run for label in busy)
        return used, scenario.dag.max_active_tasks, f"places of run {run} are taken"
    return len(busy), scenario.pools["db"].slots if name == "pool" else scenario.config.parallelism, "are taken"


def _others_full(trace: Any, task: str, tick: int, right: str) -> bool:
    """Whether a second limit says no as well, so that there would be two answers."""
    if trace.states_at(tick)[task] != "scheduled":
        return False
    uses = [_use(trace, task, tick, name) for name in _ROOM if name != right]
    return any(cap is not None and used >= cap for used, cap, _ in uses)


def _slip(said: str, right: str, state: str) -> str:
    if said == "worker_slots" and state == "scheduled":
        return "workers-hold-scheduled"
    if said == "max_active_tasks" and right != "max_active_tasks":
        return "max-active-tasks-per-dag"
    return ""


# ---- final states under rules --------------------------------------------------------------------------------------

RULES = {1: ("all_success", "one_success", "all_done", "none_failed"),
         2: ("all_success", "one_success", "all_done", "none_failed", "one_failed", "all_failed",
             "none_failed_min_one_success"),
         3: ("all_success", "one_success", "all_done", "none_failed", "one_failed", "all_failed", "none_skipped",
             "none_failed_min_one_success", "all_done_min_one_success", "all_skipped")}
TOLD = {"success": "succeeds", "fail": "fails", "skip": "skips itself"}


@kind("final_states", "Final states under rules", 4)
def final_states(seed: int, level: int) -> Posed:
    """How do the tasks below some failures and skips end?"""
    def throw(dice: Dice) -> Scenario | None:
        tops = list("abc"[:2 + (level > 1)])
        outcomes = {name: [dice.one(list(TOLD))] for name in tops}
        asked = [Task("j", dice.some(tops, dice.between(2, len(tops))), trigger_rule=dice.one(RULES[level]))]
        if level > 1:
            asked.append(Task("k", ["j", dice.one(tops)], trigger_rule=dice.one(RULES[level])))
        if level > 2:
            asked.append(Task("m", ["k", dice.one(["j", "a"])], trigger_rule=dice.one(RULES[level])))
        scenario = Scenario(Dag("drill", [*map(Task, tops), *asked]), outcomes=outcomes)
        final = simulate(scenario).final_states
        dull = all(task.trigger_rule == "all_success" for task in asked) or len({*map(tuple, outcomes.values())}) == 1
        return None if dull or (level > 1 and len({final[t.task_id] for t in asked}) == 1) else scenario

    scenario = first(throw, "final_states", seed, level)
    trace = simulate(scenario)
    asked = [task.task_id for task in scenario.dag if task.upstream]
    right = {task: trace.final_states[task] for task in asked}

    def judge(given: Any) -> Judged:
        said = {asked[0]: notation.state(given)} if _alone(given, asked) else notation.state_of_each(given, asked)
        for task in asked:
            if task in said and said[task] != right[task]:
                return Judged(False, f"{task} does not end {said[task]}. {_rule(scenario.dag, trace, task)}",
                              f"What does {scenario.dag[task].trigger_rule} ask for?",
                              "failed-and-upstream-failed-alike" if {said[task], right[task]} ==
                              {"failed", "upstream_failed"} else "skipped-is-failed" if {said[task], right[task]} ==
                              {"skipped", "upstream_failed"} else "")
        if left := [task for task in asked if task not in said]:
            return Judged(None, f"So far so good. {listed(left)} is still to be answered.")
        return Judged(True, " ".join(f"{task}: {trace.explain(task).text}" for task in asked))

    def worked() -> Worked:
        steps = [f"{_rule(scenario.dag, trace, task)} So it ends {right[task]}: {trace.explain(task).text}"
                 for task in asked]
        return Worked(_written(right), steps, scenario.dag.draw(states=trace.final_states, critical=False))

    told = listed([f"{t} {TOLD[script[0]]}" for t, script in scenario.outcomes.items()])
    rows = [{"task": t.task_id, "after": ", ".join(t.upstream), "trigger_rule": t.trigger_rule if t.upstream else ""}
            for t in scenario.dag]
    return Posed([f"{told}. Whatever else runs, succeeds. No retries."], rows,
                 f"How {'does' if len(asked) == 1 else 'do'} {listed(asked)} end?",
                 "Answer with a state for each, written like `x=STATE, y=STATE`.", judge, worked,
                 _written(right), scenario.dag)


def _alone(given: Any, asked: list[str]) -> bool:
    return len(asked) == 1 and isinstance(given, str) and not any(mark in given for mark in "=:,") \
        and given.split()[0] not in asked


def _rule(dag: Dag, trace: Any, task: str) -> str:
    above = listed([f"{u} is {trace.final_states[u]}" for u in dag[task].upstream])
    return f"{task} has {dag[task].trigger_rule}; {above}."


def _written(found: dict[str, str]) -> str:
    return ", ".join(f"{task}={name}" for task, name in found.items())
