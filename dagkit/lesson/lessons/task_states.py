"""Lesson 2: the states of a task instance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ... import states
from ...dag import Dag
from ...engine import simulate
from ...executors import CeleryExecutor, LocalExecutor, Worker
from ...faults import LoseScheduler
from ...scenario import Config, Scenario
from ...task import Task
from ...waits import Deferral, HumanInput, Sensor
from ..ask import Question
from ..book import Lesson
from ..chart import Chart
from ..doctored import Doctored, doctor
from ..maps import Edge, Node

# ---- the situations of this lesson; the notebook writes the same ones out, a test compares them


def day(*, old: bool = True) -> Dag:
    """A dozen short tasks that between them visit every state. ``old`` is the one that leaves the file on the way."""
    with Dag("day", max_active_tasks=7) as dag:
        start = Task("start")
        if old:
            start >> Task("old", duration=9)
        flaky = Task("flaky", retries=1, retry_delay=2)
        long = Task("long", duration=6)
        sensor = Task("sensor", wait=Sensor(true_after=3, mode="reschedule", poke_interval=3))
        query = Task("query", wait=Deferral(wait=3))
        approve = Task("approve", wait=HumanInput(answered_after=4))
        choose, left, right = Task("choose", branch="left"), Task("left"), Task("right")
        broken, report = Task("broken"), Task("report")
        start >> [flaky, long, sensor, query, approve, choose, broken]
        choose >> [left, right]
        broken >> report
    return dag


def tour() -> Scenario:
    """One run that visits all states: two fail, one is cleared while it runs, one leaves the Dag file."""
    return Scenario(day(), outcomes={"flaky": ["fail", "success"], "broken": ["fail"]},
                    changes=[(5, {"clear": "long"}), (7, {"dag": day(old=False)})])


def puzzle(seed: int) -> Doctored:
    """The log of the tour, doctored."""
    return doctor(simulate(tour()), seed)


def shared_slot(wait: Any) -> Any:
    """A pool with one slot, a task that waits for a file in it, and one that only wants to load."""
    dag = Dag("shared", [Task("wait_for_file", pool="db", wait=wait, priority_weight=2), Task("load", pool="db")])
    return simulate(dag, pools={"db": 1})


WAYS: dict[str, Any] = {
    "sensor, mode poke": Sensor(true_after=8, poke_interval=2),
    "sensor, mode reschedule": Sensor(true_after=8, poke_interval=4, mode="reschedule"),
    "deferred": Deferral(wait=8),
}
"""Three ways to wait for the same file."""


def four(**scenario: Any) -> Any:
    """Four tasks of two ticks that want to run at once, from pool db."""
    dag = Dag("four", [Task(f"t{k}", duration=2, pool="db") for k in range(4)])
    return simulate(dag, **{"pools": {"db": 4}, "executor": CeleryExecutor(workers=[Worker(4)]), **scenario})


def crowded() -> Any:
    """A small selection window, filled by tasks that a pool of one slot holds back."""
    dag = Dag("crowded", [*(Task(f"big{k}", duration=4, pool="db", priority_weight=9) for k in range(3)),
                          Task("small")])
    return simulate(dag, pools={"db": 1}, config=Config(pacing="airflow", max_tis_per_query=2))


BLAME: dict[str, Any] = {
    "pool": lambda: four(pools={"db": 2}),
    "workers": lambda: four(executor=CeleryExecutor(workers=[Worker(2)])),
    "scheduler dead": lambda: four(pools={"db": 2}, faults=[LoseScheduler(2)]),
    "low parallelism": lambda: four(config=Config(parallelism=2)),
    "forgetful": lambda: four(executor=LocalExecutor(parallelism=2, remember_dispatched=False)),
}
"""The same four tasks, held back by five different things."""


def state_of_last(name: str, tick: int = 3) -> str:
    found: str = BLAME[name]().states_at(tick)["t3"]
    return found


def starts(trace: Any, task: str) -> int:
    """The tick at which a task starts to run."""
    return int(next(tick for tick, state in trace.changes[trace.labels.index(task)] if state == "running"))


def seen(trace: Any) -> dict[str, str]:
    """For every change of state a trace shows, where it is first seen: ``{"old_new": "tick 5, query"}``."""
    found: dict[str, str] = {}
    for tick, task, old, new in trace.events[["tick", "task_id", "old", "new"]].itertuples(index=False):
        found.setdefault(f"{old}_{new}", f"tick {tick}, {task}")
    return found


def facts() -> Mapping[str, Any]:
    trace, dead, crowd = simulate(tour()), BLAME["scheduler dead"](), crowded()
    load = {name: starts(shared_slot(wait), "load") for name, wait in WAYS.items()}
    return {
        **seen(trace),
        "states": len(states.NAMES),
        "finished": len(states.FINISHED),
        "finished_names": ", ".join(states.NAMES[code] for code in sorted(states.FINISHED)),
        "schedulable": ", ".join(states.NAMES[code] for code in sorted(states.SCHEDULABLE)),
        "end": trace.last_tick,
        "tasks": len(trace.labels),
        "long_tries": trace.tries["long"],
        "long_retries": trace.scenario.dag["long"].retries,
        "skipped_tries": trace.tries["right"],
        "lost_tries": trace.tries["report"],
        "pool_why": BLAME["pool"]().explain("t3", tick=3).text,
        "worker_why": BLAME["workers"]().explain("t3", tick=3).text,
        "dead_tick": dead.last_tick,
        "crowd_state": crowd.states_at(1)["small"],
        "crowd_why": crowd.explain("small", tick=1).text,
        "load_poke": load["sensor, mode poke"],
        "load_reschedule": load["sensor, mode reschedule"],
        "load_deferred": load["deferred"],
        "cleared": trace.states_at(5)["long"],
    }


GIST = (
    "“It does not run” is no diagnosis. The state of a task says where it is held, and so whom to ask.",
    "A **task instance** is one task in one run. It is always in exactly one of {states} states, and only the "
    "scheduler, a worker, the triggerer or a person moves it on.",
    "The happy path has five: none, scheduled, queued, running, success. {finished} of the {states} are final: "
    "{finished_names}. The others are ways to wait: for a delay, a sensor's next look, an event, a person. "
    "A waiting state is no fault; a waiting state that nobody will end is one.",
    "A parcel with a tracking number: packed, handed over, on the road, delivered, or returned. Where it lies tells "
    "you which desk to call.",
    "Many states make a wait readable and let it give back its worker. The price: more ways to be stuck, and every "
    "part of the system must agree on who may move what.",
    "“It has been scheduled for an hour. And if it were queued?” Name limits first, then workers, then the "
    "exceptions.",
)

MAP = Chart(
    "the life of a task instance",
    (
        Node("1 Dag stored", "by the processor", "The Dag processor reads the file and stores a serialized "
             "version. The scheduler never runs your file: it reads this version."),
        Node("2 run created", "interval or asset", "A run gathers one task instance per task. All of them "
             "begin in **none**."),
        Node("3 rule checked", "none", "Again and again: are the upstreams done, and what does the trigger rule make "
             "of them? A task that is in none for long has an upstream to be looked at, or a run that has not "
             "started."),
        Node("4 scheduled", "may run", "Dependencies are met. Now it needs room. First seen in the sandbox at "
             "{none_scheduled}."),
        Node("X upstream_failed", "final, never ran", "A failure above made the rule impossible. First seen at "
             "{none_upstream_failed}. Its try number is {lost_tries}: no worker was involved, so it has no log."),
        Node("skipped", "final, left out", "A branch, a short circuit or a rule left it out. First seen at "
             "{none_skipped}. Try number {skipped_tries}."),
        Node("5 pool, limits?", "is there room?", "Pool slots, max_active_tasks, parallelism, caps of the task. "
             "`explain` names the first that is full: {pool_why}"),
        Node("6 queued", "with the executor", "The place is taken and the executor has it. Now a worker must start "
             "it: {worker_why}"),
        Node("7 outcome", "running, then told", "The worker runs the code and reports through the Execution API how "
             "it ended. It does not touch the database."),
        Node("8 success", "final", "Downstream tasks are looked at again, in this or the next pass."),
        Node("D deferred", "parked, no worker", "A wait handed to the triggerer. It holds no worker, and no pool slot "
             "unless the pool says include_deferred."),
        Node("R up_for_retry", "waits out a delay", "It failed and has tries left. It holds nothing meanwhile."),
        Node("F failed", "final", "No try left, or the failure was of a kind that is not tried again."),
    ),
    (
        Edge("1 Dag stored", "2 run created", "stored version", "Time or an asset event makes a run of what is stored.",
             "The file does not import: the old version goes on, or there is none, and the list of import errors "
             "grows."),
        Edge("2 run created", "3 rule checked", "running run", "The scheduler looks at the run's task instances.",
             "Too many runs at once: max_active_runs holds the *run*, its tasks stay none."),
        Edge("3 rule checked", "4 scheduled", "rule met", "none → scheduled, first at {none_scheduled}.",
             "An upstream that never ends: everything below stays none."),
        Edge("3 rule checked", "X upstream_failed", "impossible", "none → upstream_failed, first at "
             "{none_upstream_failed}.", "Mend the upstream and clear; this task has nothing to mend."),
        Edge("3 rule checked", "skipped", "left out", "none → skipped, first at {none_skipped}.",
             "A join with all_success below is skipped too: lesson 4."),
        Edge("4 scheduled", "5 pool, limits?", "in order", "Every pass asks, most important first.",
             "A dead scheduler asks nobody: scheduled, although there is room."),
        Edge("5 pool, limits?", "4 scheduled", "no", "It stays scheduled: {pool_why}",
             "A pool of 0 slots, or pool_slots larger than the pool: it says no for ever."),
        Edge("5 pool, limits?", "6 queued", "yes", "scheduled → queued, first at {scheduled_queued}.",
             "Queued but lost: found after task_queued_timeout and queued again, a few times."),
        Edge("6 queued", "7 outcome", "a worker starts it", "queued → running, first at {queued_running}.",
             "Workers down or full, a queue nobody serves, pods pending: it stays queued."),
        Edge("7 outcome", "8 success", "ended well", "running → success, first at {running_success}.",
             "A worker that dies says nothing: running, until its heartbeat times out."),
        Edge("7 outcome", "D deferred", "defers", "running → deferred, first at {running_deferred}. The worker is free "
             "again.", "No triggerer runs: the event comes and nobody sees it."),
        Edge("D deferred", "4 scheduled", "event", "deferred → scheduled, first at {deferred_scheduled}: the same try, "
             "and it competes for a place again.", "Busy pools make it late after the event."),
        Edge("7 outcome", "R up_for_retry", "failed, tries left", "running → up_for_retry, first at "
             "{running_up_for_retry}.", "retries=0: the same failure is final."),
        Edge("R up_for_retry", "3 rule checked", "after the delay", "up_for_retry → scheduled, first at "
             "{up_for_retry_scheduled}, as a new try. The rule is asked again.",
             "A branch may have skipped it meanwhile."),
        Edge("7 outcome", "F failed", "failed, none left", "running → failed, first at {running_failed}.",
             "Tasks below become upstream_failed, unless their rule forgives."),
    ),
    places={
        "1 Dag stored": (0, 0), "2 run created": (1, 0), "3 rule checked": (2, 0), "X upstream_failed": (3, 0),
        "skipped": (3, 1), "4 scheduled": (2, 1), "5 pool, limits?": (2, 2), "6 queued": (2, 3), "7 outcome": (2, 4),
        "8 success": (2, 5), "D deferred": (3, 2.5), "R up_for_retry": (1, 3), "F failed": (3, 4),
    },
    sides={
        ("3 rule checked", "skipped"): ("right", "left", 30),
        ("5 pool, limits?", "4 scheduled"): ("left", "left", 50),
        ("7 outcome", "D deferred"): ("right", "bottom", 50),
        ("D deferred", "4 scheduled"): ("left", "right", 34),
        ("7 outcome", "R up_for_retry"): ("left", "bottom", 50),
        ("R up_for_retry", "3 rule checked"): ("top", "left", 60),
    },
    shades={
        "4 scheduled": "scheduled", "X upstream_failed": "upstream_failed", "skipped": "skipped", "6 queued": "queued",
        "7 outcome": "running", "8 success": "success", "D deferred": "deferred", "R up_for_retry": "up_for_retry",
        "F failed": "failed", "3 rule checked": "none",
    },
)

TEST = (
    Question(
        "A task has been queued for an hour. What do you look at first?",
        {
            "its upstream tasks": "They were done before it was scheduled. In none, look there.",
            "the pool": "Its slot is taken already: that was settled on the way from scheduled to queued.",
            "executor and workers": "It was handed over, and nobody has started it: {worker_why}",
        },
        answer=lambda: {"worker_slots": "executor and workers", "pool": "the pool", "trigger_rule": "its upstream tasks"}[
            BLAME["workers"]().explain("t3", tick=3).code],
    ),
    Question(
        "Somebody clears a task while it runs. It has retries=0. What happens?",
        {
            "nothing, it runs on": "Its worker is told to stop: the task is {cleared}.",
            "it fails for good": "A cleared task is always tried again, whatever its retries.",
            "it is stopped and tried again": "It passes through {cleared} and ran {long_tries} times, with "
            "retries={long_retries}.",
        },
        answer=lambda: _cleared(),
    ),
)


def _cleared() -> str:
    trace = simulate(tour())
    if trace.states_at(5)["long"] == "running":
        return "nothing, it runs on"
    return "it is stopped and tried again" if trace.tries["long"] > 1 else "it fails for good"


def _slot_seen(way: str) -> str:
    trace = shared_slot(WAYS[way])
    done = trace.changes[trace.labels.index("wait_for_file")][-1][0]
    return "while the other still waits" if starts(trace, "load") < done else "when the other has finished"


ASKS = {
    "cleared": Question(
        "long has retries=0. At tick 5, while it runs, somebody clears it. In which state is it at the end of tick 5?",
        {
            "none": "A *finished* task that is cleared goes back to none. This one has a worker that must be stopped "
            "first.",
            "restarting": "Cleared while running: its worker is being stopped. Then it is tried again, whatever its "
            "retries.",
            "failed": "Clearing is no failure, and retries do not matter to it.",
            "running": "It may still run for a moment, but its state says already that it must stop.",
        },
        answer=lambda: simulate(tour()).states_at(5)["long"],
    ),
    "asleep": Question(
        "Pool db has one slot. wait_for_file is a sensor in it with mode reschedule, and comes first. load wants the "
        "same slot. When does load run?",
        {
            "while the other still waits": "Asleep in up_for_reschedule it counts against no limit at all. It takes a "
            "slot only for the tick in which it looks.",
            "when the other has finished": "That is what mode poke does: the sensor is *running* all the time.",
            "never": "The slot is free whenever the sensor sleeps, and in the end anyway.",
        },
        answer=lambda: _slot_seen("sensor, mode reschedule"),
        reveal=lambda: shared_slot(WAYS["sensor, mode reschedule"]).gantt(),
    ),
    "few_slots": Question(
        "Four tasks want to run. Pool db has 2 slots, there are workers enough. Two run; in which state are the "
        "other two?",
        {
            "none": "Nothing above them is open, so their rule is met.",
            "scheduled": "They may run and have no room: {pool_why}",
            "queued": "queued means the place is taken. Here there is none to take.",
        },
        answer=lambda: state_of_last("pool"),
    ),
    "few_workers": Question(
        "Now the pool is wide and only two Celery worker slots exist. Two run; in which state are the other two?",
        {
            "scheduled": "No limit of the scheduler is reached, so it hands all four over.",
            "queued": "Handed over, and waiting for a worker: {worker_why}",
            "up_for_reschedule": "That is a sensor between two looks.",
        },
        answer=lambda: state_of_last("workers"),
    ),
    "low_parallelism": Question(
        "Four worker slots stand ready, the pool is wide, and parallelism is 2. In which state are the other two?",
        {
            "queued": "It would be, if workers were short. Here two of four stand idle.",
            "scheduled": "The scheduler itself stops at parallelism. More workers would not help at all.",
            "none": "No upstream is open, so their rule is met.",
        },
        answer=lambda: state_of_last("low parallelism"),
    ),
    "no_scheduler": Question(
        "Pool db has 2 slots. At tick 2, with two tasks at work, the only scheduler dies. Long after these two have "
        "finished, in which state are the other two?",
        {
            "running": "Somebody would have to admit them, and that is the scheduler.",
            "scheduled": "The pool is empty, the workers idle, and nobody is left to say “you may”. Rows in the "
            "database do not move by themselves.",
            "failed": "Nobody is left to find out either.",
        },
        answer=lambda: BLAME["scheduler dead"]().final_states["t3"],
    ),
}

LADDER = (
    ("L1", "Name the happy path, and who moves the task at each step.",
     "none → scheduled and scheduled → queued: the scheduler. queued → running: a worker. running → success: the "
     "worker's report through the Execution API."),
    ("L2", "Scheduled for an hour. Queued for an hour. Whom do you ask?",
     "Scheduled: pool, max_active_tasks, parallelism, caps of the task; and whether a scheduler is alive. Queued: "
     "executor, workers, the name of the queue, pods."),
    ("L3", "When is the folk rule “scheduled = limits, queued = workers” wrong?",
     "A dead or slow scheduler leaves tasks scheduled with room to spare. Celery with parallelism below its worker "
     "slots waits in scheduled, and more workers change nothing. Refused tasks can fill the query window, so that one "
     "that would fit waits a pass: {crowd_why}"),
    ("L4", "Which waits hold a worker?",
     "A sensor in mode poke does: it is running. up_for_reschedule, deferred, awaiting_input and up_for_retry hold "
     "none. In the sandbox load started at tick {load_poke}, {load_reschedule} and {load_deferred} beside a poke, a "
     "reschedule and a deferral."),
    ("L5", "From which states may a pass schedule a task, and from which state only may it be queued?",
     "It schedules from {schedulable}. Only scheduled can be queued: a task never goes from none to queued, nor from "
     "a retry straight to a worker."),
    ("L6", "What do upstream_failed, skipped and removed have in common?",
     "Final, and no worker did it. upstream_failed counts as a failure for the run and for tasks below, skipped does "
     "not. removed means that the task left the Dag during the run; the verdict leaves it out."),
)

LESSON = Lesson(
    2, "Task-instance states", facts, GIST, MAP, TEST, ASKS, LADDER,
    misconceptions=(
        ("Queued means it waits in a pool.", "The pool decides before. Queued has its slot."),
        ("A deferred task is stuck.", "It waits where waiting is cheap. Stuck is one whose event nobody will see."),
        ("Clearing uses up a retry.", "A cleared task gets all its retries anew."),
        ("upstream_failed: look at its log.", "It never ran, so there is none. Go up to the first failed one."),
    ),
    traps=(
        ("“Scheduled for an hour? Add workers.”", "Workers come in after queued. {pool_why}"),
        ("“The pool has room and it is still scheduled: a bug.”", "First: is a scheduler alive? Is parallelism used "
         "up? Did the window show it at all? In the sandbox a dead scheduler left two tasks scheduled for good."),
    ),
    checklist=(
        "draw the life of a task instance from memory: twelve boxes, the ways back",
        "say for each state what usually holds a task in it",
        "tell a limit from a missing worker, and name three exceptions",
        "spot a change of state that Airflow would never write",
    ),
    try_this="Open a grid of a run that is under way and pick a task that is not green. Say aloud: its state, who must "
    "act next, and what you would look at if nothing changed for ten minutes.",
)
