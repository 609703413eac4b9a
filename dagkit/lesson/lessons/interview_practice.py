"""Lesson 12: interview practice. What its sandbox predicts, and its words."""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache
from typing import Any

from ... import examples
from ...engine import simulate
from ...practice import Game, drill, interview, next_review, puzzle
from ...practice.facts import fact
from ...practice.intervals import INTERVALS
from ..ask import Question
from ..book import Lesson
from ..chart import Chart
from ..maps import Edge, Node
from .limits_and_pools import stalled

# ---- what the sandbox shows ----------------------------------------------------------------------------------------

DAY = date(2026, 3, 2)
SEED = 3
"""The game, the drill and the interview of this lesson."""


@cache
def scores() -> dict[str, int]:
    """How long the game of this lesson takes under each policy that comes with the kit."""
    return {name: puzzle(SEED).play(name).score.took for name in ("airflow", "longest_path", "shortest_first")}


def longest_first(game: Game) -> list[str]:
    """A policy to start from: what takes longest goes first."""
    return sorted(game.waiting, key=lambda task: -game.dag[task].duration)


def reviews(right: list[bool]) -> list[dict[str, str]]:
    """When a question comes back, if it is answered on each day it is due: right or wrong, one after the other."""
    answers: list[tuple[date, bool]] = []
    rows, day = [], DAY
    for ok in right:
        answers.append((day, ok))
        due = next_review(answers)
        assert due is not None
        rows.append({"answered on": day.isoformat(), "answer": "right" if ok else "wrong",
        "comes back on": due.isoformat(),
                     "days": str((due - day).days)})
        day = due
    return rows


def facts() -> dict[str, Any]:
    told = ("knee", "orders_run", "publish", "cleanup", "short_workers", "short_pods", "pod_start", "two_runs",
            "queued_timeout", "heartbeat_timeout", "quick_hidden", "quick_wide", "two", "one", "floor")
    orders = simulate(examples.orders())
    one = drill("limit", SEED)
    return {**{name: fact(name) for name in told}, **scores(),
            **{f"said_{name}": _told(one.answer(name)) for name in one.posed.offered}, "bound": puzzle(SEED).bound,
            "over": max(scores().values()) + puzzle(SEED).bound,
            "first": INTERVALS[0], "third": (_comes_back([True, True]) or DAY).isoformat(),
            "once": (DAY + timedelta(days=INTERVALS[1])).isoformat(), "last": INTERVALS[-1],
            "users_why": orders.explain("extract_users", tick=1).text,
            "questions": len(interview(SEED, 20, keep=False).items),
            "pool_state": stalled("pool of 1")["state"],
            "worker_state": stalled("1 worker slot")["state"]}


def _told(verdict: Any) -> str:
    return f"{verdict.text} {verdict.hint}".strip()


def _comes_back(right: list[bool]) -> date | None:
    day = DAY
    answers = []
    for ok in right:
        answers.append((day, ok))
        day = next_review(answers) or day
    return day


def which_limit() -> str:
    """The answer to the drill of this lesson."""
    return drill("limit", SEED).posed.right


# ---- the words -----------------------------------------------------------------------------------------------------

GIST = (
    "Knowing is not the same as being able to say it, in order, to somebody who interrupts. An interview tests "
    "that, and so does a night on call.",
    "Practice here has four forms: **ladders** that rise from recall to design, **drills** made from a seed, a "
    "**game** in which you schedule, and a timed **mock interview** with a report of what to review.",
    "Commit to an answer first, and say how sure you are. Then compare. What you were certain of and had wrong is "
    "worth most. What was right comes back later each time, what was wrong comes back tomorrow.",
    "One walk, from file to success. Every question about Airflow sits on a step of it: who acts there, what it "
    "writes down, what you see if it does not.",
    "A short answer leaves out exceptions, a long one loses the listener. Give the short one first, then offer the "
    "exception you would mention next.",
    "“Walk one task from file to success, then tell the two stalls apart.” If you can do that in two minutes, the "
    "rest is follow-ups.",
)

MAP = Chart(
    "where interview questions sit",
    (
        Node("parse", "file to Dag", "Why acyclic, why serialized, why outside of the scheduler; what a bad file "
             "costs. Ladders 1 and 7."),
        Node("run", "interval or asset", "Data interval against logical date, catchup against backfill, assets, "
             "deadlines. Ladder 12."),
        Node("rule", "none to scheduled", "Trigger rules, branches, clean-ups; why publish ended {publish} and the "
             "clean-up {cleanup}. Ladders 3 and 4."),
        Node("limits", "scheduled to queued", "Pools, max_active_tasks, parallelism, the window: “scheduled for an "
             "hour, why?” Ladders 2 and 5."),
        Node("hand-over", "queued to running", "Executors, queues, workers, pods, lost messages: “queued for an "
             "hour, why?” Ladders 2 and 6."),
        Node("report", "running to done", "Execution API, heartbeats, retries, idempotence, XCom. Ladders 7 and 12."),
        Node("locks", "several schedulers", "Nothing twice, without a leader; what the database bears. Ladders 8, 9 "
             "and 10."),
        Node("plan", "before it runs", "Waves, critical path, slots, the knee at {knee}. Ladders 1 and 11."),
        Node("design", "all of it", "“300 Dags, one database, two GPUs: your move.” Ladder 13."),
    ),
    (
        Edge("parse", "run", "a serialized Dag", "Follow-up: **and if the file changes in mid-run?**",
             "An answer that has the scheduler import your file is out of date since 3.0."),
        Edge("run", "rule", "rows, all of them none", "Follow-up: **which day is this run for?**",
             "An answer that names no timetable is half of one: with an interval the run comes after it, with a plain "
             "cron string in 3 there is none."),
        Edge("rule", "limits", "scheduled", "Follow-up: **who decides that it may not run yet?** {users_why}",
             "Without the rule named, a green run looks like a good one: orders ended {orders_run} although a task "
             "failed."),
        Edge("limits", "hand-over", "queued", "Follow-up: **scheduled or queued, which is it?** A full pool shows "
             "in {pool_state}, full workers in {worker_state}.",
             "Debugging the scheduler for a queue that piles up is the classic wrong turn."),
        Edge("hand-over", "report", "running", "Follow-up: **the worker dies now. Who notices, and when?** After "
             "{heartbeat_timeout} s of silence.",
             "“The task is lost” misses the retry; “exactly once” misses the second start."),
        Edge("report", "rule", "downstream is looked at", "Follow-up: **and if the database is slow?** Then all of "
             "this is, without one error.",
             "A walk that ends at success forgets what was waiting for it."),
        Edge("locks", "limits", "one at a time", "Follow-up: **two schedulers, limit {one}: how many at once?** "
             "{two}.",
             "“One of them leads” is the answer they hope you will not give."),
        Edge("plan", "run", "durations", "Follow-up: **more slots, or a shorter path?**",
             "“More workers” at the floor of {floor} buys nothing."),
        Edge("design", "locks", "a bad day", "Follow-up: **one scheduler machine is gone. What breaks?**",
             "A design without numbers cannot be graded."),
    ),
    places={"parse": (0, 0), "run": (1, 0), "rule": (2, 0), "limits": (2, 1), "hand-over": (2, 2), "report": (1, 1),
            "locks": (3.1, 1), "plan": (0, 1), "design": (3.1, 2)},
    sides={("locks", "limits"): ("left", "right", 20), ("report", "rule"): ("right", "left", 30),
           ("hand-over", "report"): ("left", "bottom", 34), ("plan", "run"): ("top", "bottom", 30),
           ("design", "locks"): ("top", "bottom", 20)},
    shades={},
)

TEST = (
    Question("A task has been queued for an hour. Where do you look first?", {
        "pools and limits": "They hold tasks back in {pool_state}, before the hand-over.",
        "workers and queue names": "It was handed over. Whoever should pick it up is down, full, or listens "
        "elsewhere.",
        "the Dag processor": "It is done with this Dag long since.",
    }, answer=lambda: {"queued": "workers and queue names", "scheduled": "pools and limits"}[
        stalled("1 worker slot")["state"]]),
    Question("In `orders` a check fails for good, and a clean-up runs. What does Airflow call the run?", {
        "failed": "A task failed, but no leaf did.",
        "success": "Only leaves count, and the leaf is the clean-up.",
        "skipped": "A run is never skipped.",
    }, answer=lambda: fact("orders_run")),
)

ASKS = {
    "who_wins": Question(
        "Before you play: Airflow's own order takes {airflow} ticks for this game, and no schedule takes fewer than "
        "{bound}. A policy that starts the longest remaining chain first takes …?", {
            "{airflow}": "That is Airflow's order: it adds up weights, and looks at no duration.",
            "{longest_path}": "It knows durations, which Airflow's order does not. The chain that decides goes "
            "first.",
            "{over}": "Nothing in it wastes that much: something always runs.",
        }, answer=lambda: scores()["longest_path"]),
    "comes_back": Question(
        "A question was right on 2 March and, when it came back, right again. When does it come back next?", {
            "2026-03-06": "One day later is for what was wrong.",
            "{once}": "That is when it came back after the first right answer.",
            "{third}": "The steps grow: what sits needs to be asked less.",
        }, answer=lambda: (_comes_back([True, True]) or DAY).isoformat()),
    "which_limit": Question(
        "Look at the drill above once more. Which limit is it?", {
            "pool": "{said_pool}", "max_active_tasks": "{said_max_active_tasks}", "parallelism": "{said_parallelism}",
            "max_active_tis_per_dag": "{said_max_active_tis_per_dag}",
        }, answer=lambda: which_limit()),
}

LADDER = (
    ("L1", "Why must it be acyclic?",
     "On a ring each task waits for another one of it, so none can be first. It is found when the file is parsed, "
     "and the error names the ring."),
    ("L2", "What does a topological order buy?",
     "An order, and waves that may run side by side. One walk along it gives the longest chain, the floor for any "
     "number of slots: in the fan-out {floor}, reached with {knee}."),
    ("L3", "What is the Dag processor's job in Airflow 3?",
     "To import each file of a bundle in a child process and store a serialized Dag with a version. The scheduler "
     "reads that and imports no author's code."),
    ("L4", "A task stalls in scheduled, another in queued. What is different?",
     "Scheduled: the scheduler says no; limits, or the window (tick {quick_hidden} instead of {quick_wide}), or it "
     "is dead. Queued: handed over; executor, workers, queue name, or a lost message, found after {queued_timeout} "
     "s at the earliest."),
    ("L5", "What does a pool protect?",
     "Something outside of Airflow that tasks of several Dags share: connections, calls, licences. max_active_tasks "
     "cannot: it counts per run, {two_runs} at once with two runs at limit 1."),
    ("L6", "Several schedulers: why is nothing scheduled twice?",
     "Row locks. Runs are shared out, skipping what another holds; the step to queued is taken by one at a time, "
     "who counts places under a lock. No leader, but a database that sets the pace."),
    ("L7", "Celery or Kubernetes?",
     "Many short tasks that are alike: Celery. An image, resources or isolation for each: Kubernetes, at a start "
     "per task. Played with a start of {pod_start} s: 160 tasks of 5 s take {short_workers} s on workers and "
     "{short_pods} s on pods."),
)

LESSON = Lesson(
    12, "Interview practice", facts, GIST, MAP, TEST, ASKS, LADDER,
    misconceptions=(
        ("I know it, I need not say it.", "Say it aloud once. What does not come out in order is not there yet."),
        ("A long answer shows more.", "Half a minute first. Then name what you left out, and let them choose."),
        ("I was right, so I know it.", "Right by a guess comes back sooner than you think. Say how sure you are."),
        ("They want product names.", "They want who decides what, when, and what it looks like when it fails."),
    ),
    traps=(
        ("“It is queued, so let us look at the scheduler.”", "Say why you look at the workers instead."),
        ("“Pods for every task, then we are safe.”", "Ask how long the tasks are, and compare that with a start."),
        ("“It is green, so all is well.”", "Ask which tasks are leaves."),
        ("“Just raise the priority.”", "It is asked first. Who gives it a place?"),
    ),
    checklist=(
        "name each transition of `orders`, with its reason",
        "say why publish never ran and the clean-up did",
        "explain the saturation point of the fan-out, {knee}",
        "choose executors for a mixed load, with numbers",
        "give any of the longer questions in 30 seconds, in 2 minutes, and on a whiteboard",
        "do ten drills of level 2 in a row",
    ),
    try_this="Find somebody. Ten minutes each: one asks from a ladder and interrupts with “and if the database is "
        "slow?”, the other answers. Then change places. Write down the one question at which you both went silent.",
)
