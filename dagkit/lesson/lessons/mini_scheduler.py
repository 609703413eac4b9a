"""Lesson 3: the mini scheduler."""

from __future__ import annotations

from typing import Any

from ... import examples
from ...engine import simulate
from ..ask import Question
from ..book import Lesson
from ..chart import Chart
from ..maps import Edge, Node


def trace(**changes: Any) -> Any:
    return simulate(examples.orders(), **changes)


def facts() -> dict[str, Any]:
    usual, wide = trace(), trace(pools={"db": 2, "default": 8})
    first = [
        tick for tick, state in usual.changes[usual.labels.index("transform")] if state == "up_for_retry"
    ][0]
    again = [tick for tick, state in usual.changes[usual.labels.index("transform")] if state == "scheduled"][
        -1
    ]
    return {
        "end": usual.last_tick,
        "end_wide": wide.last_tick,
        "saved": usual.last_tick - wide.last_tick,
        "half": usual.last_tick // 2,
        "run_state": usual.run_state,
        "publish": usual.final_states["publish"],
        "retry_failed": first,
        "retry_again": again,
        "delay": again - first,
        "tries": usual.tries["transform"],
        "cleanup": usual.final_states["cleanup_tmp"],
        "quality": usual.final_states["quality_check"],
        "users_waits": usual.explain("extract_users", tick=1).text,
    }


GIST = (
    "Tasks depend on each other, share scarce resources, and fail. Somebody has to decide, again and again, "
    "what may run **now**. That is all a scheduler does.",
    "A loop over task states. Each pass (a **tick**) finishes what ended, starts what was handed over, "
    "looks whose dependencies are met, and admits what fits the limits.",
    "A task goes from `none` to `scheduled` when its trigger rule is met, to `queued` when pool and limits "
    "have room, to `running` when a worker picks it up, then to `success` or `failed`. A failure with tries "
    "left waits in `up_for_retry`. A failure without makes tasks below it `upstream_failed`, unless their "
    "rule says otherwise.",
    "One small state machine per task, and one loop that pushes each as far as it can go.",
    "Looking at everything in every pass is simple and always right, but its cost grows with tasks times "
    "passes. Real schedulers look only at what may have changed, and pay with code that is harder to read.",
    "“Walk me through one task from file to success.” Name each state, and who moves the task out of it.",
)

MAP = Chart(
    "one tick",
    (
        Node(
            "finish",
            "phase 1",
            "First of all, so that places and outcomes of what ended count in this very tick.",
        ),
        Node(
            "start",
            "phase 2",
            "What was queued in an earlier tick is picked up now. Handing over takes time, and that is why "
            "queued and running are two states.",
        ),
        Node(
            "pools and limits",
            "count places",
            "Protect what is scarce: a pool guards a database, max_active_tasks keeps one run from taking "
            "everything.",
        ),
        Node(
            "evaluate",
            "phase 3",
            "Asks each waiting task: is your trigger rule met, impossible, or still open? It goes upstream "
            "first, so a failure travels all the way down within one tick.",
        ),
        Node(
            "admit",
            "phase 4",
            "Walks over the scheduled tasks, the most important first, and lets in what fits. One that does "
            "not fit stops nobody behind it.",
        ),
        Node(
            "executor",
            "hands over",
            "The border between **decided** and **ran**. It keeps queued work until a worker takes it.",
        ),
        Node(
            "worker",
            "runs the code",
            "It does the work, outside the scheduler. It only reports how a try ended.",
        ),
    ),
    (
        Edge(
            "finish",
            "evaluate",
            "final states",
            "Trigger rules below may now be met, or have become impossible.",
            "Tasks below stay none, although all they need is there.",
        ),
        Edge(
            "finish",
            "pools and limits",
            "places given back",
            "A pool slot and a place in the run become free.",
            "A pool that leaks places fills up, and everything waits in scheduled.",
        ),
        Edge(
            "evaluate",
            "admit",
            "scheduled tasks",
            "They may run; now they only need room.",
            "Nothing is admitted any more, workers stand idle.",
        ),
        Edge(
            "pools and limits",
            "admit",
            "free places",
            "extract_users is held back at tick 1: {users_waits}",
            "Without limits a hundred tasks open a hundred connections, and the database falls over.",
        ),
        Edge(
            "admit",
            "executor",
            "queued tasks",
            "The place is taken from now on, although nothing runs yet.",
            "Queued tasks pile up. Look at executor and workers, not at the scheduler.",
        ),
        Edge(
            "executor",
            "start",
            "queued work",
            "In the next tick at the earliest it is picked up: admitted and started are two steps.",
            "An executor that is down keeps it: queued, although workers stand idle.",
        ),
        Edge(
            "start",
            "worker",
            "one try",
            "queued becomes running; the worker runs the code.",
            "The task stays queued: no worker is up, or none serves its queue.",
        ),
        Edge(
            "worker",
            "finish",
            "outcome of a try",
            "running becomes success, failed or up_for_retry.",
            "A lost worker reports nothing: the task stays running until its heartbeat times out.",
        ),
    ),
    places={
        "finish": (0, 0),
        "evaluate": (1, 0),
        "admit": (2, 0),
        "pools and limits": (1, 1),
        "worker": (0, 2),
        "start": (1, 2),
        "executor": (2, 2),
    },
    sides={
        ("finish", "pools and limits"): ("right", "left", 34),
        ("pools and limits", "admit"): ("right", "left", 34),
    },
    shades={},
)


TEST = (
    Question(
        "A task in the middle of a Dag failed for good. What does Airflow say about the run?",
        {
            "always failed": "That is the naive verdict. Airflow asks the leaves only.",
            "it depends on how the leaves ended": "The leaves decide. In `orders` the leaf cleanup_tmp "
            "ended in {cleanup}, so the run is a {run_state}.",
            "always success": "If a leaf failed, or could not run, the run failed.",
        },
        answer=lambda: _verdict_depends(),
    ),
    Question(
        "A task is scheduled, all its upstreams succeeded, and it does not start. What is the first thing "
        "to look at?",
        {
            "its upstream tasks": "They are done: that is what scheduled means. In none, look upstream.",
            "pools and limits": "Scheduled means: may run, no room yet. `explain` names the limit: "
            "{users_waits}",
            "the workers": "Workers come in after queued. This task was not handed to anybody yet.",
        },
        answer=lambda: _held_by(),
    ),
)


def _verdict_depends() -> str:
    """Two runs with the same failure in the middle: the one with a clean leaf succeeds, the other fails."""
    orders = examples.orders()
    bare = orders.replace(dag=orders.dag.replace("cleanup_tmp", trigger_rule="all_success"))
    states = {simulate(orders).run_state, simulate(bare).run_state}
    return "it depends on how the leaves ended" if len(states) > 1 else f"always {states.pop()}"


def _held_by() -> str:
    code = trace().explain("extract_users", tick=1).code
    return {
        "pool": "pools and limits",
        "max_active_tasks": "pools and limits",
        "trigger_rule": "its upstream tasks",
        "worker": "the workers",
    }[code]


ASKS = {
    "publish_ends": Question(
        "In which state does publish end?",
        {
            "success": "It would, had quality_check succeeded.",
            "failed": "failed means: it ran, and its last try went wrong. publish never ran.",
            "upstream_failed": "quality_check failed, so the rule all_success of publish cannot be met any "
            "more. The scheduler gives it this state at once; no worker ever saw it.",
            "none": "none means: still open. The scheduler closes what has become impossible.",
            "skipped": "Skipped is left out on purpose, by a branch for example. A failure is no purpose.",
        },
        answer=lambda: trace().final_states["publish"],
    ),
    "run_verdict": Question(
        "quality_check failed and publish never ran. What does Airflow call this run?",
        {
            "failed": "That is what one would like. But Airflow looks only at the leaves, the tasks nothing "
            "waits for.",
            "success": "cleanup_tmp is the only leaf, its rule is all_done, it ran and succeeded. Leaves "
            "decide, so the run is a success although the data were bad.",
            "running": "Every task is finished, so the run is too.",
        },
        answer=lambda: trace().run_state,
        reveal=lambda: trace().gantt(),
    ),
    "wider_pool": Question(
        "Pool `db` gets 2 slots instead of 1. `orders` ended at tick {end}. When does it end now?",
        {
            "{end}": "Then the pool would not have been what held it back. Who waited at tick 1, and for "
            "what?",
            "{end_wide}": "Both extracts run side by side and transform can start {saved} ticks sooner. "
            "After that nothing ever waited for `db`, so that is all there is to gain.",
            "{half}": "Half the time would need the whole run to wait for the pool. Only the two extracts "
            "did.",
        },
        answer=lambda: trace(pools={"db": 2, "default": 8}).last_tick,
        reveal=lambda: trace(pools={"db": 2, "default": 8}).gantt(),
    ),
}

LADDER = (
    (
        "L1",
        "What moves a task from none to scheduled?",
        "Its trigger rule is met. For all_success: every upstream succeeded. Limits play no part yet.",
    ),
    (
        "L2",
        "What moves it from scheduled to queued?",
        "Room: a pool slot, max_active_tasks, parallelism and, if set, caps on the task. The most important "
        "goes first; who does not fit stops nobody behind.",
    ),
    (
        "L3",
        "Why did transform wait from tick {retry_failed} to {retry_again}?",
        "Its first try failed and it had tries left, so it waited out retry_delay ({delay} ticks) in "
        "up_for_retry. Then it was scheduled again: try {tries}.",
    ),
    (
        "L4",
        "Why did publish never run, and cleanup_tmp did?",
        "Same upstream failure, two rules. publish has all_success, which quality_check made impossible: "
        "{publish}. cleanup_tmp has all_done: its only upstream publish is finished, and upstream_failed "
        "counts as finished. So it ran: {cleanup}.",
    ),
    (
        "L5",
        "Why is the run a {run_state}, and how do you make it honest?",
        "The verdict looks at leaves. cleanup_tmp is the only one and succeeded. Cure: a watcher, one more "
        "leaf after all tasks with rule one_failed that always fails. It runs only when something failed, "
        "and then it is a failed leaf.",
    ),
    (
        "L6",
        "What does the loop cost, and what do real schedulers do?",
        "The page-long loop visits every task in every tick. The engine keeps a calendar of what is due and "
        "looks only at tasks whose upstreams changed; the changes it makes are the same, line for line.",
    ),
)

LESSON = Lesson(
    3,
    "The mini scheduler",
    facts,
    GIST,
    MAP,
    TEST,
    ASKS,
    LADDER,
    misconceptions=(
        (
            "A green run had no failures.",
            "This one had two tasks that did not do their work, and is a {run_state}.",
        ),
        ("upstream_failed means the task crashed.", "It never ran. Its trigger rule had become impossible."),
        (
            "A failed task is tried again at once.",
            "It waits out retry_delay first, and holds no pool slot meanwhile.",
        ),
        (
            "Priority decides who runs.",
            "It only decides who is asked first. Pools and limits decide who gets in.",
        ),
    ),
    traps=(
        (
            "“Just put trigger_rule=all_done on the last task.”",
            "That is how this run came to be called a {run_state}. Say what it does to the verdict, then "
            "offer the watcher.",
        ),
        (
            "“It has been queued for an hour, so the pool is full.”",
            "A full pool holds tasks in scheduled. Queued means the place is taken already: look at "
            "executor and workers.",
        ),
    ),
    checklist=(
        "name each change of state of `orders` and its reason",
        "say why publish never ran and cleanup_tmp did",
        "say why Airflow calls the run a success, and cure it",
        "predict what a wider pool buys before running it",
    ),
    try_this="Take a Dag of yours with a clean-up task at the end. Which tasks are its leaves? Let a middle "
    "task fail on paper and write down the run's state. Then build it here and compare.",
)
