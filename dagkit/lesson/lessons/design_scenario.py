"""Lesson 13: the design scenario. The steps its sandbox takes, and its words."""

from __future__ import annotations

from functools import cache
from typing import Any

from ...design import Design, Report, grade, playing, world
from ...design.counting import Readings, highest
from ...engine import simulate
from ...executors import CeleryExecutor, LocalExecutor, Worker
from ..ask import Question
from ..book import Lesson
from ..chart import Chart
from ..maps import Edge, Node

GPU_WORKERS = [Worker(1, ("gpu",), name=name) for name in world.GPUS]
TWO_HOSTS: dict[str, Any] = {"schedulers": ["host-a", "host-b"], "triggerers": ["host-a", "host-b"],
                             "processors": ["host-c"]}


# ---- what the sandbox shows ----------------------------------------------------------------------------------------


@cache
def naive() -> Report:
    """What Airflow does by itself, graded; played once."""
    return grade(Design())


def situation() -> list[dict[str, Any]]:
    """The 300 Dags as a table."""
    return [{"kind": kind.name, "Dags": kind.count, "tasks": " > ".join(part.task_id for part in kind.parts),
             "each task": "; ".join(f"{part.task_id} {part.seconds} s, {part.does}" for part in kind.parts),
             "missed runs": kind.count * kind.days} for kind in world.KINDS.values()]


def calls(slots: int) -> int:
    """The most calls in a minute, if ``call`` has a pool of so many slots: the SaaS Dags alone."""
    made = Design(pools={"saas": slots}, tasks={"call": {"pool": "saas"}}, max_active_runs=2)
    return highest(Readings(playing.play(made, ["saas"])).calls)[0]


def connections(**knobs: Any) -> int:
    """The most connections the heavy Dags alone open, with a pool of 20 and these knobs of ``bulk_read``."""
    made = Design(pools={"source": world.CONNECTIONS}, tasks={"bulk_read": {"pool": "source", **knobs}})
    return highest(Readings(playing.play(made, ["heavy"])).connections)[0]


def lost(executor: str) -> int:
    """Tasks that had to begin again because a scheduler machine was lost: heavy Dags alone, a second scheduler "
      "there."""
    local = executor == "LocalExecutor"
    made = Design(executors=LocalExecutor(parallelism=24) if local else CeleryExecutor(workers=[Worker(24)]),
                  parallelism=24, **TWO_HOSTS)
    return len(Readings(playing.play(made, ["heavy"])).twice)


def trainings(pool: bool) -> Any:
    """The trace of the trainings alone: two GPU workers, the right queue, with or without a pool of 2."""
    knobs: dict[str, Any] = {"queue": "gpu", **({"pool": "gpu"} if pool else {})}
    made = Design(pools={"gpu": 2} if pool else {}, tasks={"train": knobs},
                  executors=CeleryExecutor(workers=[Worker(16), *GPU_WORKERS]), **TWO_HOSTS)
    return simulate(playing.scenario(made, ["training"]).replace(faults=(), changes=()))


def trained(pool: bool) -> int:
    """How many of the six trainings end well."""
    states = trainings(pool).final_states
    return sum(state == "success" for label, state in states.items() if ".train" in label)


def facts() -> dict[str, Any]:
    first = naive()
    used = {v.name: v for v in first.verdicts}
    return {
        "dags": sum(kind.count for kind in world.KINDS.values()), "missed": f"{len(first.seen.missed):,}",
        "busy": round(sum(kind.count * kind.days * sum(p.seconds for p in kind.parts if p.task_id != world.GPU_TASK)
                          for kind in world.KINDS.values()) / world.CPU_SLOTS / 60),
        "connections": world.CONNECTIONS, "quota": world.CALLS_A_MINUTE, "slots": world.CPU_SLOTS,
        "naive_open": highest(first.seen.connections)[0], "naive_calls": highest(first.seen.calls)[0], "at_once": 32,
        "unsaid": connections(), "said": connections(pool_slots=4),
        "five": calls(5), "ten": calls(10), "lost_local": lost("LocalExecutor"), "lost_celery": lost("CeleryExecutor"),
        "trained_pool": trained(True), "trained_queue": trained(False), "runs": used["scheduler loop"].found,
        "naive_line": first.line, "drained": world.DRAINED // 60,
    }


# ---- the words -----------------------------------------------------------------------------------------------------

GIST = (
    "Every limit of the other lessons is easy alone. A deployment has all of them at once, and they share the "
    "same bad "
    "day. Here you decide, and the day is played.",
    "A **design** is what you declare: pools, weights, limits, executors, machines, what is stored, what is watched. "
    "A **grade** is what becomes of it: {dags} Dags, {missed} missed runs, a lost machine, twelve requirements, "
    "each read "
    "from the record.",
    "Protect what is shared with pools, sized by arithmetic: connections by what a task opens, a quota by how "
    "often a slot "
    "is used in a minute. Let weights say who is asked first. Put nothing that must survive on one machine "
    "only. Then "
    "check that what is left still drains the backlog.",
    "A house with pipes. First find the pipes that must not burst, then see who needs water at once, then which "
    "tap may "
    "break, and only then how long the bath takes.",
    "Every protection costs time. Pools as wide as the source bears, and no wider; few runs at once, but not "
    "one; two "
    "machines of everything, of which one must be enough.",
    "“Design it for 300 Dags.” Ask for the numbers first, name what is shared, then what breaks, then what you "
    "watch.",
)

MAP = Chart(
    "one deployment, and what can break in it",
    (
        Node("Dag files", "300, one hangs", "The Dag processor imports them, file after file. One of them calls "
                                            "an API on "
             "import."),
        Node("runs", "a month is missed", "max_active_runs holds back whole runs. Each running run "
             "has to be looked at, pass after pass."),
        Node("schedulers", "on machines", "Two of them need no leader. parallelism counts for each."),
        Node("pools", "what is shared", "The only limit that knows tasks of several Dags. Weights decide who is "
                                        "asked "
             "first."),
        Node("workers", "64 places", "Fleet, pods or processes. Where a task runs decides what dies with what."),
        Node("source", "20 connections", "A task may open more than one. Airflow cannot know."),
        Node("SaaS API", "100 calls a minute", "A rate, not a number of places."),
        Node("GPUs", "2 machines", "Six trainings of twenty minutes."),
        Node("triggerer", "deferred tasks", "Wakes what waits for the provider."),
    ),
    (
        Edge("Dag files", "runs", "what is parsed", "On a machine of its own it survives a scheduler.",
             "Lost with the scheduler's machine, no edit is seen any more."),
        Edge("runs", "schedulers", "running runs", "20 of them are looked at in a pass.",
             "Without a brake: {runs}"),
        Edge("schedulers", "pools", "scheduled tasks", "The most important is asked first.",
             "Without weights a critical run stands behind a month of others."),
        Edge("pools", "workers", "queued tasks", "They hold their slots from here on.",
             "Queued for over 600 s: queued again twice, then failed."),
        Edge("workers", "source", "connections", "Counted from who runs.",
             "Without a pool {naive_open} are open at once, where {connections} are borne."),
        Edge("workers", "SaaS API", "calls", "Counted over each minute.", "Without a pool {naive_calls} in one "
                                                                          "minute."),
        Edge("workers", "GPUs", "a queue", "Only workers on these machines listen to it.",
             "Waiting in queued, {trained_queue} of 6 trainings get there."),
        Edge("workers", "triggerer", "deferred", "No place is held meanwhile.",
             "The only triggerer on the lost machine: nothing wakes."),
    ),
    places={"Dag files": (0, 0), "runs": (1, 0), "schedulers": (2, 0), "pools": (2, 1), "workers": (1, 1),
            "triggerer": (0, 1), "source": (0, 2), "SaaS API": (1, 2), "GPUs": (2, 2)},
    sides={("workers", "source"): ("bottom", "top", 30), ("workers", "GPUs"): ("bottom", "top", 30)},
    shades={},
)

TEST = (
    Question("A quota of 100 calls a minute. A task makes 10 calls and runs for 30 seconds. How many slots "
             "should its pool "
             "have?", {
                 "10": "That would be right if each slot were used once in a minute. It is used twice.",
                 "5": "In a minute one slot serves two such tasks, 20 calls.",
                 "100": "That many tasks at once would make a thousand calls within half a minute.",
             }, answer=lambda: max(n for n in (5, 10) if calls(n) <= world.CALLS_A_MINUTE)),
    Question("Two schedulers on two machines, tasks run beside them (LocalExecutor). One machine is lost. What "
             "becomes of the "
             "tasks that ran on it?", {
                 "the other scheduler adopts them": "It can adopt what a worker or a pod goes on running. These "
                                                    "processes are "
                                                    "gone.",
                 "they begin again": "The processes died with their machine; the other scheduler resets them "
                                     "after 30 seconds.",
                 "they are lost for good": "Their rows are still there, and another scheduler finds them.",
             }, answer=lambda: "they begin again" if lost("LocalExecutor") else "the other scheduler adopts them"),
)

ASKS = {
    "naive_source": Question(
        "Nothing is declared. One LocalExecutor, so {at_once} tasks at once. How many connections does the "
        "source see at most?",
        {
            "{connections}": "Nobody told Airflow what the source bears.",
            "{at_once}": "If each task opened one. `bulk_read` opens four.",
            "{naive_open}": "Among the {at_once} are some that read in parallel, with four connections each.",
        }, answer=lambda: highest(naive().seen.connections)[0]),
    "unsaid": Question(
        "Now `bulk_read` has a pool `source` of {connections} slots, and says nothing of its four connections. "
        "How many does "
        "the source see from the heavy Dags alone?", {
            "{connections}": "The pool counts slots. One slot was asked for, four connections are opened.",
            "{unsaid}": "Each of the {connections} slots stands for four connections. pool_slots=4 makes it {said}.",
            "4": "That is what one of them opens.",
        }, answer=lambda: connections()),
    "quota": Question(
        "`call` makes 10 calls and runs for 30 seconds; {quota} calls a minute are allowed. With a pool of 10, "
        "how many calls "
        "does the API see in a minute?", {
            "{quota}": "Ten tasks at once make 100 calls, and half a minute later the next ten make as many.",
            "{ten}": "Each slot is used twice in a minute. So 5 slots it is.",
            "50": "That would be five calls a slot.",
        }, answer=lambda: calls(10)),
    "gpu": Question(
        "Six trainings of 20 minutes, two GPU workers with one slot each, the right queue, no pool for them. "
        "How many of the six "
        "end well?", {
            "6": "They would, one pair after the other, if they waited in scheduled. They wait in **queued**.",
            "{trained_queue}": "The last pair waits over half an hour in queued. After 600 s a task counts as "
                               "stuck: queued "
                               "again twice, then failed.",
            "2": "The second pair still gets there: it is queued again, and its turn comes.",
        }, answer=lambda: trained(False), reveal=lambda: trainings(False).gantt()),
}

LADDER = (
    ("L1", "Name what is shared in this deployment, and the limit for each.",
     "Source: a pool, with pool_slots for who opens more. API: a pool sized by rate. GPUs: a queue, and a pool. "
     "CPU places: "
     "parallelism and worker slots. The scheduler's own time: max_active_runs."),
    ("L2", "Why is a pool for a quota not simply as large as the quota?",
     "A pool counts who runs at once, a quota counts starts in a minute. Slots = calls a minute, divided by "
     "calls of a task, "
     "times its minutes: {quota} / 10 x 0.5 = 5."),
    ("L3", "Six trainings, two GPUs, the right queue. Why do only {trained_queue} end well, and what cures it?",
     "Those behind wait in queued, and after 600 s count as stuck. A pool of 2, or an executor with parallelism "
     "2, keeps them in "
     "scheduled."),
    ("L4", "Which of your decisions only matter when a machine is lost?",
     "Where schedulers, triggerers and Dag processors run; that tasks do not run beside a scheduler "
     "({lost_local} began "
     "again, {lost_celery} with workers); and that the parallelism of the survivors drains the backlog alone."),
    ("L5", "Weights or pools of their own for the critical Dags?",
     "A weight lets them be asked first for places shared with all: nothing lies idle, but a place must come "
     "free. A pool of "
     "their own is there at once, and idle in between. Both pass here."),
    ("L6", "What do you watch, and which number moves first on this day?",
     "tasks.starving and open slots at the unpausing, the loop's duration with thousands of running runs, "
     "scheduler_heartbeat and orphaned tasks at the loss, the database all the time. Not the scheduler's CPU."),
    ("L7", "What would you ask before you design anything?",
     "What is shared and what it bears, who waits for what until when, what may be lost, what a rerun would "
     "break, and which "
     "part grows next year."),
)

LESSON = Lesson(
    13, "The design scenario", facts, GIST, MAP, TEST, ASKS, LADDER,
    misconceptions=(
        ("A quota of 100 needs 100 slots.", "It needs as many slots as use it up in a minute: here 5."),
        ("The second scheduler makes everything safe.", "Not the tasks beside the first, nor the triggerer on "
                                                        "its machine."),
        ("A queue for the GPUs is enough.", "It says where, not in which state they wait: {trained_queue} of 6 "
                                            "got there."),
        ("More runs at once drain the month sooner.", "Only until places, source and API are full. Then they "
                                                      "cost the scheduler."),
        ("There is one right design.", "At least four quite different ones pass. Each pays for something else."),
    ),
    traps=(
        ("“How many workers do you need?”", "Ask for the work first: seconds of places over the hours there "
                                            "are. Here {busy} "
                                           "minutes of all {slots} places, and there are {drained} hours."),
        ("“Just put all on Kubernetes.”", "It can pass, with pods created in batches. By default a scheduler "
                                          "creates one in a "
                                          "loop, and a start takes seconds that critical runs do not have."),
    ),
    checklist=("size a pool for connections and one for a rate", "say which part dies with which machine",
               "let the important come first without emptying a place", "read where a design broke, and turn "
                                                                        "that knob only"),
    try_this="Take a deployment you know. Write down what is shared, what it bears, and who finds out when it "
             "is too much.",
)
