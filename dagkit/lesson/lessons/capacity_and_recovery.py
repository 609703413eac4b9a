"""Lesson 10: capacity and recovery. What its demonstrations are, and its words."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

from ...capacity import FINDINGS, ORDER, TABLE, Facts, decide, failover, hibernate, judge, scale, trial
from ...capacity.failover import PROMISED, RUN
from ...capacity.scaling import BOOT, CALM, Play
from ..ask import Question
from ..book import Lesson
from ..capacity_pictures import put_to_sleep, regions, scaled
from ..chart import Chart
from ..maps import Edge, Node

BURST, TRIGGER, MISSING = "a burst that is due", "a trigger that will fire", "a missing metric"


def actions(**facts: Any) -> list[dict[str, str]]:
    """What facts justify, as rows. A fact that could not be read is None."""
    return [action._asdict() for action in decide(Facts(**facts))]


def table() -> list[dict[str, str]]:
    """The fact-to-action table."""
    return [row._asdict() for row in TABLE]


@cache
def played(policy: str, situation: str, missing_as: str = "hold") -> Play:
    """A situation under a policy; played once."""
    return scale(policy, situation, missing_as=missing_as)


def orders() -> list[dict[str, Any]]:
    """Every order of the five steps, by what goes wrong."""
    kinds: dict[str, int] = {}
    for order in itertools.permutations(ORDER):
        found = hibernate(order=order)
        wrong = [name for name, bad in (("a worker comes back", found.returned), ("work is left open", found.open),
                                        ("a task ends unreported", found.unreported)) if bad]
        kinds[" and ".join(wrong) or "nothing"] = kinds.get(" and ".join(wrong) or "nothing", 0) + 1
    return [{"what goes wrong": name, "orders": count} for name, count in sorted(kinds.items(), key=lambda kv: -kv[1])]


def lost() -> list[dict[str, str]]:
    """What an ordered stop takes, even in the right order."""
    return [{"task instance": name, "was": was, "is": now} for name, was, now in hibernate().lost]


def looks() -> list[dict[str, Any]]:
    """300 findings, judged in three ways."""
    how = {0: "acts at once, and reads what is missing as if it were there", 1: "acts at once on full evidence",
           2: "looks again before it acts"}
    return [{"the repair": how[n], "right": t.rightly, "wrong": t.wrongly, "left for later": t.left}
            for n in how for t in [trial(n)]]


LOGS = 240
"""How far the copy of the logs is behind, in seconds: it takes minutes where the database takes seconds."""


def lags() -> list[dict[str, Any]]:
    """The same failure with the copy further and further behind."""
    return [{"database is behind": f"{lag} s", "last commit there": f"{f.copied_to} s", "done twice": f.twice or "nothing",
             "logs are behind": f"{LOGS} s",
             "recovery point": f"{f.recovery_point} s", "within what was published": f.verified}
            for lag in (0, 2, 10, 120, 600, 900) for f in [failover(db_lag=lag, log_lag=LOGS)]]


def facts() -> dict[str, Any]:
    queue, planned, cpu = (played(policy, BURST) for policy in ("queue", "planned", "cpu"))
    zero, hold = (played("queue", MISSING, reading) for reading in ("zero", "hold"))
    found = failover()
    clean = sum(hibernate(order=order).clean for order in itertools.permutations(ORDER))
    return {
        "queue_wait": max(queue.waits), "cpu_wait": max(cpu.waits), "planned_wait": max(planned.waits),
        "price": planned.cost - queue.cost, "boot": BOOT, "calm": CALM, "never": played("queue", TRIGGER).never,
        "zero_lost": zero.lost, "hold_lost": hold.lost, "clean": clean, "orders": 120, "lost": len(hibernate().lost),
        "once_wrong": trial(1).wrongly, "twice_wrong": trial(2).wrongly, "fails": found.fails_at, "copied": found.copied_to,
        "ended": RUN[1].ended, "rpo": found.recovery_point // 60, "rto": found.recovery_time // 60,
        "rpo_bound": PROMISED["recovery point"] // 60, "rto_bound": PROMISED["recovery time"] // 60,
    }


GIST = (
    "A worker takes minutes to start. Whoever waits until demand can be seen comes those minutes late; whoever keeps "
    "everything running pays for nights. And what is taken away at the wrong moment takes work with it.",
    "**Planned work** is what the database knows before anybody needs a slot: runs that are due, triggers that wait, "
    "tasks whose upstreams are about to end. **Recovery** is to go on from what was committed, and from nothing else.",
    "Facts justify actions: an unfinished run keeps scheduling up, a run that is due starts services, trigger rows keep a "
    "triggerer. A missing metric justifies nothing. Repairs look twice. Stops go in order and lose work. After a failover "
    "the last copied commit decides.",
    "A kitchen that knows the reservations, instead of one that counts who stands in the door. And a cook who looks again "
    "before he throws something away.",
    "Early capacity costs worker minutes ({price} here), late capacity costs waiting ({queue_wait} minutes here). Cautious "
    "repairs leave some broken things for later; quick ones break sound ones.",
    "“Scale on CPU.” Ask what the CPU knows of a run that is due in two minutes, of a deferred task, and what the "
    "controller does when the metric is not there.",
)

MAP = Chart(
    "who knows what, and who may act",
    (
        Node("database", "planned work", "Knows runs, due dates, trigger rows, states. The only place where tomorrow's "
             "demand can be read today."),
        Node("metrics", "demand that is there", "CPU, queue depth. True, late, and sometimes not there at all."),
        Node("controller", "one per cluster", "Reads facts for hundreds of deployments and decides. What it cannot read it "
             "does not act on."),
        Node("workers", "minutes to start", "Node, image, import. Taken away, they may finish what ends within their "
                                            "grace."),
        Node("triggerer", "holds the waits", "No queue shows that it is needed: what waits there takes no slot."),
        Node("pods", "may be stuck", "Orphans, pods that never end, workers that take nothing. Each has a twin that is "
             "merely slow."),
        Node("second region", "a copy, behind", "Seconds for the database, minutes for logs. A person decides to "
                                                "promote it."),
    ),
    (
        Edge("database", "controller", "facts", "Runs that are due, unfinished runs, trigger rows.",
             "A missing fact is not zero: nothing is taken away."),
        Edge("metrics", "controller", "measurements", "How busy it is now.",
             "Read as zero: {zero_lost} tasks lost. Read as missing: {hold_lost}."),
        Edge("controller", "workers", "more, or fewer", "New ones start in {boot} minutes; fewer only after {calm} calm "
             "minutes.", "Too late: the burst waits {queue_wait} minutes. Too early: some minutes are paid for nothing."),
        Edge("controller", "triggerer", "keep one", "One for each 1,000 trigger rows.",
             "Stopped because nothing is queued: {never} tasks never come back from their wait."),
        Edge("controller", "pods", "look, look again, repair", "Restart, remove, delete by force.",
             "At the first look alone {once_wrong} sound ones were hit, with a second look {twice_wrong}."),
        Edge("database", "second region", "copied commits", "The last one that arrived decides what is true there.",
             "What ended after it ended for nobody, and runs again."),
    ),
    places={"metrics": (0, 0), "database": (0, 1.4), "controller": (1.5, 0.7), "workers": (3, 0), "triggerer": (3, 1),
            "pods": (3, 2), "second region": (0, 2.6)},
    sides={("database", "controller"): ("right", "left", 60), ("metrics", "controller"): ("right", "left", 60),
           ("controller", "workers"): ("right", "left", 60), ("controller", "triggerer"): ("right", "left", 60),
           ("controller", "pods"): ("right", "left", 60)},
    shades={},
)

TEST = (
    Question("A controller scales workers on queue depth. 48 tasks fall due at half past, and a worker takes 3 minutes to "
             "start. When do the last of them start?", {
                 "at once": "The queue is empty until half past. Only then is there anything to see.",
                 "3 minutes late": "It sees them when they are there, and then workers have to start. The database had "
                                   "known of them for hours.",
                 "15 minutes late": "The formula asks for all workers in one step, so it takes one start.",
             }, answer=lambda: _minutes_late()),
    Question("Region 1 fails. A task had ended five seconds before; the copy of the database is ten seconds behind. What "
             "becomes of it in region 2?", {
                 "it counts as done": "The commit that says so has not arrived. Region 2 cannot know of it.",
                 "it runs again": "In the copy it is still running, and its process is gone. The retry rules apply, so "
                                  "what it did outside is done twice.",
                 "it is lost": "It has a row, and the row says running.",
             }, answer=lambda: _in_region_2()),
)


def _minutes_late() -> str:
    late = max(played("queue", BURST).waits)
    return "at once" if late == 0 else f"{late} minutes late"


def _in_region_2() -> str:
    found = {task.name: task for task in failover().tasks}["transform"]
    return "it runs again" if found.again else "it counts as done" if found.was == "success" else "it is lost"


ASKS = {
    "missing_fact": Question(
        "There are no unfinished runs that the controller knows of: the query timed out. What may it do with the "
        "scheduler?", {
            "may stop": "No run was found, but nobody looked either.",
            "leave as it is": "A fact that could not be read justifies nothing. Least of all taking something away.",
            "keep": "That needs an unfinished run, and it has not seen one. The difference shows when it is already "
                    "stopped.",
        }, answer=lambda: decide(Facts(unfinished_runs=None))[0].action),
    "burst": Question(
        "Nobody changes a thing, but now the controller also reads which runs are due. How long does the longest of the 48 "
        "tasks wait?", {
            "{queue_wait} minutes": "That was queue depth, which sees the burst when it is there.",
            "{cpu_wait} minutes": "That was CPU: full workers look the same whether one task waits or fifty.",
            "{planned_wait} minutes": "The workers start before the burst. It costs {price} worker minutes more.",
        }, answer=lambda: f"{max(played('planned', BURST).waits)} minutes",
        reveal=lambda: scaled(played("planned", BURST), "planned")),
    "trigger": Question(
        "Four tasks have run. Sixteen are deferred: a trigger will wake them at minute 40. Nothing is queued, nothing "
        "runs. Everything scales on queue depth. How many of the sixteen ever run?", {
            "16": "Somebody has to watch their event. Who is left to do it?",
            "0": "With nothing queued everything was stopped, the triggerer too. What it held never wakes, and no queue "
                 "shows that it is missing.",
            "8": "It is all or nothing: one triggerer holds them all.",
        }, answer=lambda: 16 - played("queue", TRIGGER).never, reveal=lambda: scaled(played("queue", TRIGGER), "queue")),
    "missing": Question(
        "28 tasks are running when the metric fails for ten minutes. It is read as 0. How many tasks are lost?", {
            "0": "Not one would be, if missing were read as missing.",
            "{zero_lost}": "After {calm} minutes of zeros the workers are taken away. What cannot end within the grace is "
                           "lost and starts anew.",
            "28": "Some end within the grace of ten minutes.",
        }, answer=lambda: played("queue", MISSING, "zero").lost,
        reveal=lambda: scaled(played("queue", MISSING, "zero"), "queue, missing read as 0")),
    "ordered_stop": Question(
        "An idle test deployment goes to sleep, in the right order. What is lost?", {
            "nothing": "An order is not a promise. Look at the table: who was running, waiting, deferred?",
            "everything unfinished": "Running tasks are failed and the others skipped: {lost} task instances. That is why "
                                     "it is for what is idle and not in production.",
            "only what was running": "What had not begun is not kept for later either: its run is over.",
        }, answer=lambda: _what_is_lost(), reveal=lambda: put_to_sleep(hibernate())),
    "workers_first": Question(
        "Somebody removes the workers first, “they cost most”. One task was running. What happens?", {
            "it is failed": "By whom? So far nobody has decided that it should end.",
            "it wants to run again, and a worker comes back": "The scheduler is awake. It misses the heartbeat, takes it "
                                                              "for a loss and retries: demand, so capacity is started.",
            "nothing, it was lost anyway": "It was, and now it is on its way back.",
        }, answer=lambda: _workers_first(),
        reveal=lambda: put_to_sleep(hibernate(order=("remove workers", *(s for s in ORDER if s != "remove workers"))))),
    "second_look": Question(
        "At the second look one of the readings about a stuck pod fails: nobody can say whether it still has a task. The "
        "first look was clear. Repair it?", {
            "yes, the first look was clear": "Pods that are merely slow look the same at the first look.",
            "no": "Partial evidence stops a repair. A stuck pod costs money; a pod deleted by mistake costs work.",
            "yes, but gently": "There is no gentle way to delete by force.",
        }, answer=lambda: _second_look()),
    "failover_lag": Question(
        "Region 1 fails at second {fails}. `transform` had ended at {ended}; the last copied commit is of {copied}. What "
        "is done twice?", {
            "nothing": "It would be, with a copy two seconds behind.",
            "transform": "In the copy it is running. Its process is gone, so it is retried, from the start.",
            "everything": "extract had ended long before: that commit has arrived.",
        }, answer=lambda: ", ".join(failover().twice) or "nothing", reveal=lambda: regions(failover())),
}


def _what_is_lost() -> str:
    found = hibernate()
    return "nothing" if not found.lost else "only what was running" if \
        all(was == "running" for _, was, _ in found.lost) else "everything unfinished"


def _workers_first() -> str:
    found = hibernate(order=("remove workers", *(s for s in ORDER if s != "remove workers")))
    return "it wants to run again, and a worker comes back" if found.returned else "it is failed"


def _second_look() -> str:
    sure = dict.fromkeys(FINDINGS["stuck pod"].needs, True)
    done, _ = judge("stuck pod", sure, {**sure, "no active task instance": None})
    return "no" if done == "leave it" else "yes, the first look was clear"


LADDER = (
    ("L1", "Why does scaling on CPU come late?", "It measures demand that is already there, and only as long as workers "
     "are busy: a full worker looks the same whether one task waits or fifty. Here the last of the burst waits {cpu_wait} "
     "minutes, with queue depth {queue_wait}."),
    ("L2", "What does the database know that no metric shows?", "Runs that are due, runs that are unfinished, tasks that "
     "wait for a trigger. All of it before a single task is queued."),
    ("L3", "A required metric is missing. What is allowed?", "Scaling up, perhaps. Never down: missing is not zero. Read "
     "as zero it cost {zero_lost} running tasks here."),
    ("L4", "Which of the five steps of hibernation must come in which order, and why?", "No new runs before the old ones "
     "are ended, else one is left over. End the runs before workers or services go: a scheduler that is awake would retry, "
     "and tasks without an API server end unreported. {clean} of {orders} orders are clean."),
    ("L5", "Why look twice before a repair?", "Each finding has an innocent twin: a pod that is merely slow, a worker that "
     "is about to take its first task. The second look cut wrong repairs from {once_wrong} to {twice_wrong} of 300."),
    ("L6", "Define recovery point and recovery time, with numbers.", "Point: how much of the past may be missing, {rpo} "
     "minutes here, since logs lag minutes while the database lags seconds. Time: from the failure until work goes on, "
     "{rto} minutes, most of it a person deciding and services starting. Published: under {rpo_bound} minutes and under "
     "{rto_bound}."),
    ("L7", "“85 % fewer Dag failures.” What do you ask?", "Of which failures? Triggerer scaling and repairs together, and "
     "only classes that can be repaired from outside. A bug in a task stays a bug in a task."),
)

LESSON = Lesson(
    10, "Capacity and recovery", facts, GIST, MAP, TEST, ASKS, LADDER,
    misconceptions=(
        ("Autoscaling means capacity is there when it is needed.", "It is there a start-up later than it was noticed. Who "
         "reads planned work notices earlier."),
        ("Nothing is queued, so nothing is needed.", "Deferred tasks are in no queue. Without a triggerer {never} of them "
         "never woke."),
        ("Hibernation is a pause.", "It is an ordered stop. Everything unfinished is failed or skipped."),
        ("After a failover it goes on where it was.", "Where the last **copied commit** was. What ended later runs again."),
        ("Replication makes tasks safe.", "It makes states safe. Whether doing something twice is safe is up to the task."),
    ),
    traps=(
        ("“We set the missing metric to 0 so that the formula works.”", "Then a broken exporter takes your workers away."),
        ("“The repair bot fixed 200 pods last night.”", "Ask how many of them were broken, and how it knows."),
        ("“Our recovery point is ten seconds.”", "Of the database. Ask for the logs, and for everything a run needs."),
    ),
    checklist=(
        "name five facts, the action each may justify, and which of them are in production",
        "say for CPU, queue depth and planned work when a burst gets its workers",
        "show how a deployment at rest loses its deferred tasks",
        "put a deployment to sleep in order, and say what that costs",
        "compute recovery point and recovery time, and name the tasks that run twice",
    ),
    try_this="Take your busiest hour. When does its first run fall due, and when are the workers for it there? Then take "
    "a task of yours that writes something. Run it twice by hand. Is the result the same?",
)
