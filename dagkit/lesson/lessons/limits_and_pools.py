"""Lesson 5: limits and pools. The scenarios of its demonstrations, and its words."""

from __future__ import annotations

from functools import cache
from typing import Any

from ...dag import Dag
from ...engine import simulate
from ...executors import CeleryExecutor, LocalExecutor, Worker
from ...faults import LoseScheduler
from ...scenario import Config, Runs, Scenario
from ...task import Task
from ...waits import Deferral, Sensor
from ..ask import Question
from ..book import Lesson
from ..chart import Chart
from ..maps import Edge, Node
from ..tuning import ended, running, task_of

AT_ONCE = LocalExecutor(handover=0)
"""Hand-over takes no time in this lesson, so that every wait seen is a limit's."""


# ---- the demonstrations: each a scenario whose knobs are its arguments --------------------------------------------


def flood(*, source: int = 16, max_active_runs: int = 16, catchup: bool = True, parallelism: int = 6,
          days: int = 9) -> Scenario:
    """A Dag paused for nine ticks has a run due in each. At tick 10 it is unpaused, at tick 11 a report is due."""
    daily = Dag("daily", [Task("extract", duration=3, pool="source"), Task("load", "extract")],
                max_active_runs=max_active_runs)
    report = Dag("report", [Task("build", duration=2)])
    return Scenario([daily, report], pools={"source": source}, config=Config(parallelism=parallelism), executor=AT_ONCE,
                    runs={"daily": Runs(days, every=1, unpaused_at=days + 1, catchup=catchup),
                          "report": Runs(1, start=days + 2)})


def too_big(*, slots: int = 2, pool_slots: int = 3) -> Scenario:
    """One task that asks for more slots than its pool has, beside one that fits."""
    dag = Dag("copy", [Task("whole_table", pool="source", pool_slots=pool_slots), Task("one_row", pool="source")])
    return Scenario(dag, pools={"source": slots}, executor=AT_ONCE)


def starved(*, small: int = 4, own_pool: bool = False) -> Scenario:
    """A big important task that needs both slots of a pool, and small ones that come and go."""
    many = [Task(f"small_{k}", pool="source", duration=4 if k % 2 else 6) for k in range(1, small + 1)]
    big = Task("big", pool="big_only" if own_pool else "source", pool_slots=2, priority_weight=10, duration=2)
    first = Task("first", pool="source", priority_weight=99, duration=3)
    return Scenario(Dag("export", [first, big, *many]), pools={"source": 2, "big_only": 2}, executor=AT_ONCE)


def window(*, max_tis_per_query: int = 4, pacing: str = "airflow", runs: int = 8) -> Scenario:
    """Eight runs whose important task must not overlap itself, and two quick tasks that nothing holds."""
    important = Dag("important", [Task("one_at_a_time", priority_weight=10, max_active_tis_per_dag=1)])
    other = Dag("other", [Task("quick_1"), Task("quick_2")])
    return Scenario([important, other], runs={"important": runs, "other": 1}, executor=AT_ONCE,
                    config=Config(pacing=pacing, max_tis_per_query=max_tis_per_query))


WAITS = {
    "poke": Sensor(true_after=20, poke_interval=5),
    "reschedule": Sensor(true_after=20, poke_interval=5, mode="reschedule"),
    "defer": Deferral(before=1, wait=20, after=1),
}


def sensors(how: str = "poke", *, parallelism: int = 4) -> Scenario:
    """Four tasks wait for a file each, which comes after twenty ticks; six others have work to do. Four places."""
    wait = [Task(f"file_{k}", wait=WAITS[how]) for k in range(1, 5)]
    work = [Task(f"work_{k}", duration=2) for k in range(1, 7)]
    return Scenario(Dag("files", wait + work), config=Config(parallelism=parallelism), executor=AT_ONCE)


def giant() -> Scenario:
    """Two domains in one Dag: the orders are quick, the ledger is slow, and a run ends only when both are done."""
    dag = Dag("everything", [
        Task("orders", duration=2), Task("orders_report", "orders"), Task("ledger", duration=9),
        Task("ledger_report", "ledger")], max_active_runs=1)
    return Scenario(dag, runs=Runs(3, every=4), executor=AT_ONCE)


def split() -> Scenario:
    """The same by domain: the report waits for the asset that ``orders`` updates, no longer for the ledger."""
    orders = Dag("orders", [Task("orders", duration=2, outlets=["orders"])], max_active_runs=1)
    report = Dag("orders_report", [Task("orders_report")], assets=["orders"])
    ledger = Dag("ledger", [Task("ledger", duration=9), Task("ledger_report", "ledger")], max_active_runs=1)
    return Scenario([orders, report, ledger], executor=AT_ONCE,
                    runs={"orders": Runs(3, every=4), "orders_report": 0, "ledger": Runs(3, every=4)})


def per_run(*, runs: int = 2, max_active_tasks: int = 1) -> Scenario:
    """Three tasks side by side, in several runs at once."""
    return Scenario(Dag("copy", [Task("a", duration=3), Task("b", duration=3), Task("c", duration=3)],
                        max_active_tasks=max_active_tasks), runs=runs, executor=AT_ONCE)


def schedulers(number: int = 1, *, parallelism: int = 2) -> Scenario:
    """Six tasks side by side, and one or more schedulers."""
    return Scenario(Dag("six", [Task(f"t{k}", duration=3) for k in range(1, 7)]), executor=AT_ONCE,
                    config=Config(parallelism=parallelism, schedulers=number))


def stuck(why: str) -> Scenario:
    """Four tasks that could run, and one thing that is short: see ``STUCK``."""
    tasks = [Task(f"t{k}", duration=6, pool="source") for k in range(1, 5)]
    cases: dict[str, dict[str, Any]] = {
        "pool of 1": {"pools": {"source": 1}},
        "1 worker slot": {"executor": CeleryExecutor(workers=[Worker(1)], handover=0)},
        "parallelism 1, 4 worker slots": {"executor": CeleryExecutor(workers=[Worker(4)], handover=0),
                                          "config": Config(parallelism=1)},
        "LocalExecutor as recorded, parallelism 1": {"executor": LocalExecutor(handover=0, remember_dispatched=False),
                                                     "config": Config(parallelism=1)},
        "the scheduler died at tick 3": {"faults": [LoseScheduler(3)], "pools": {"source": 1}},
    }
    usual: dict[str, Any] = {"pools": {"source": 9}, "executor": AT_ONCE}
    return Scenario(Dag("stuck", tasks), **{**usual, **cases[why]})


STUCK = ("pool of 1", "1 worker slot", "parallelism 1, 4 worker slots", "LocalExecutor as recorded, parallelism 1",
         "the scheduler died at tick 3")


# ---- what is told about them ---------------------------------------------------------------------------------------


def starts(trace: Any, label: str) -> int | None:
    """The tick at which a task first runs, or None."""
    return next((tick for tick, state in trace.changes[trace.labels.index(label)] if state == "running"), None)


def at_once(trace: Any, *tasks: str) -> int:
    """The most TIs of these tasks (none named: of all) that run in one tick."""
    return max(sum(not tasks or task_of(label) in tasks for label in labels) for labels in running(trace))


def held(trace: Any, *tasks: str) -> int:
    """Ticks of places with workers that these tasks took."""
    return sum(task_of(label) in tasks for labels in running(trace) for label in labels)


FILES = tuple(f"file_{k}" for k in range(1, 5))
WORK = tuple(f"work_{k}" for k in range(1, 7))
SETTINGS: dict[str, dict[str, Any]] = {
    "nothing set": {}, "pool source of 2": {"source": 2}, "max_active_runs 2": {"max_active_runs": 2},
    "both": {"source": 2, "max_active_runs": 2}, "catchup off": {"catchup": False},
}


@cache
def played(name: str, *arguments: Any) -> Any:
    """The trace of a demonstration by its name; computed once."""
    return simulate(globals()[name](*arguments))


def flooded(setting: str) -> dict[str, Any]:
    """One row of the flood's table."""
    trace = simulate(flood(**SETTINGS[setting]))
    return {"setting": setting, "extracts at once": at_once(trace, "extract"),
            "report starts at": starts(trace, "report.build"),
            "days caught up": sum(label.startswith("daily.load") for label in trace.labels),
            "all done at": ended(trace, "load")}


def waiting(how: str) -> dict[str, Any]:
    """One row of the sensors' table."""
    trace = simulate(sensors(how))
    return {"waiting": how, "work starts at": min(starts(trace, label) or 0 for label in WORK),
            "work done at": ended(trace, *WORK), "files done at": ended(trace, *FILES),
            "worker ticks spent on waiting": held(trace, *FILES)}


def stalled(why: str) -> dict[str, str]:
    """One row of the folk rule's table: the last task at tick 8, when the first has ended."""
    reason = simulate(stuck(why)).explain("t4", tick=8)
    return {"what is short": why, "state": reason.state, "reason": reason.code, "why": reason.text}


def reports(trace: Any) -> list[int]:
    """Ticks at which the report on orders is ready, run by run."""
    return [changes[-1][0] for label, changes in zip(trace.labels, trace.changes, strict=True)
            if task_of(label) == "orders_report"]


def facts() -> dict[str, Any]:
    usual, pool, runs = (flooded(name) for name in ("nothing set", "pool source of 2", "max_active_runs 2"))
    big = played("starved")
    slow, quick = played("giant"), played("split")
    return {
        "days": usual["days caught up"], "flood_at_once": usual["extracts at once"],
        "flood_report": usual["report starts at"], "flood_end": usual["all done at"],
        "pool_report": pool["report starts at"], "pool_end": pool["all done at"], "runs_end": runs["all done at"],
        "due": 11,
        "too_big": played("too_big").explain("whole_table").text,
        "big_starts": starts(big, "big"), "big_own": starts(simulate(starved(own_pool=True)), "big"),
        "quick_hidden": starts(played("window"), "other.quick_1"),
        "quick_wide": starts(simulate(window(max_tis_per_query=16)), "other.quick_1"),
        "poke": waiting("poke")["work starts at"], "reschedule": waiting("reschedule")["work starts at"],
        "defer": waiting("defer")["work starts at"], "poke_held": waiting("poke")["worker ticks spent on waiting"],
        "reschedule_held": waiting("reschedule")["worker ticks spent on waiting"],
        "defer_held": waiting("defer")["worker ticks spent on waiting"],
        "two_runs": at_once(played("per_run")), "one": at_once(played("schedulers", 1)),
        "two": at_once(played("schedulers", 2)), "giant_second": reports(slow)[1], "split_second": reports(quick)[1],
        "giant_reports": reports(slow), "split_reports": reports(quick),
    }


GIST = (
    "Everything scarce is shared: worker slots, a database that bears so many connections, an interface with a "
    "quota. Without limits the first flood takes it all, and what matters waits behind what does not.",
    "A **limit** is a number of places and a rule that says what counts. Before a task goes from `scheduled` to `queued`, "
    "the scheduler asks each limit in turn. The first that says no is the reason.",
    "Parallelism caps a scheduler, max_active_runs the runs of a Dag, max_active_tasks one run, "
    "max_active_tis_per_dag one task. A **pool** caps whatever names it, across all Dags: use it for what tasks "
    "share outside of Airflow. Priority only says who is asked first.",
    "A row of gates, each with a counter. A task needs a place at **all** of them in the same pass, and nobody "
    "keeps one free for it.",
    "Tight limits protect and make wait; wide ones hurry and hurt. Letting in whoever fits keeps places busy, but "
    "a task that needs many places at once may wait very long.",
    "“It has been scheduled for an hour. Why?” Name the limits in order, say who counts what, and how you would "
    "find out which one it is.",
)

MAP = Chart(
    "from scheduled to running",
    (
        Node("runs", "max_active_runs", "Holds back whole **runs**: their tasks stay none. It is the brake for catchup and "
             "backfills."),
        Node("window", "max_tis_per_query", "A pass reads only so many rows, the most important first. What it does not "
             "read it cannot queue."),
        Node("pool", "shared by all Dags", "Guards what lies outside of Airflow: a database, a quota. Counts queued and "
             "running tasks, each with its pool_slots."),
        Node("run", "max_active_tasks", "Keeps one **run** from taking every worker. In Airflow 2 it counted per Dag."),
        Node("task", "its own caps", "max_active_tis_per_dag and max_active_tis_per_dagrun, for what must not overlap "
             "itself, over all runs or within one. They count deferred tasks too."),
        Node("scheduler", "parallelism", "What one scheduler process may have handed over. Two schedulers have it twice."),
        Node("workers", "slots per queue", "They come in only after queued. A queue nobody listens to is no error: the "
             "task waits."),
    ),
    (
        Edge("runs", "window", "tasks of running runs", "Their rules are met: none becomes scheduled.",
             "{days} missed days start at once, and with them {flood_at_once} extracts."),
        Edge("window", "pool", "rows in order of priority", "The most important is asked first. Who does not fit stops "
             "nobody behind.", "Rows that cannot be queued fill the window: quick tasks start at tick {quick_hidden}, not "
             "{quick_wide}."),
        Edge("window", "run", "the same rows", "Every gate is asked, in this order; the first that says no is the reason.",
             "A run at its limit is left out of the query, and so are its sisters once it was refused."),
        Edge("window", "task", "the same rows", "Only tasks that have a cap of their own are asked here.",
             "Eight refused rows of one capped task can hide everything behind them."),
        Edge("pool", "scheduler", "a slot or more", "Taken until the task ends or is deferred.", "{too_big}"),
        Edge("run", "scheduler", "a place in its run", "Queued and running tasks of the run are counted.",
             "One wide run takes all workers, and every other run waits."),
        Edge("task", "scheduler", "a place of its own", "Counted over all runs, or in one.",
             "A task that writes one file runs twice at once."),
        Edge("scheduler", "workers", "queued tasks", "From here on its places are taken, although nothing runs yet.",
             "With more parallelism than worker slots the surplus waits in queued and holds pool slots all the while."),
    ),
    places={"runs": (0, 0), "window": (0, 1), "pool": (1, 0), "run": (1, 1), "task": (1, 2), "scheduler": (2, 1),
            "workers": (2, 2)},
    sides={("window", "pool"): ("right", "left", 34), ("window", "task"): ("right", "left", 34),
           ("pool", "scheduler"): ("right", "left", 34), ("task", "scheduler"): ("right", "left", 34)},
    shades={},
)


TEST = (
    Question("max_active_tasks is 1. Two runs of the Dag are under way. How many of its tasks can run at once?", {
        "1": "It was so in Airflow 2, where it counted for the Dag.",
        "2": "It counts per run: one task in each.",
        "as many as there are workers": "Within a run it does hold: never two at once.",
    }, answer=lambda: at_once(played("per_run"))),
    Question("A task with the highest priority needs two pool slots. One is free. What does the scheduler do?", {
        "keeps the free slot for it": "It saves up for nobody. A lower task that fits gets the slot.",
        "gives the slot to a less important task that fits": "Priority says who is asked first. Who does not fit stops "
                                                             "nobody behind, and so the big one may wait very long.",
        "stops a running task": "Nothing that runs is ever stopped for another.",
    }, answer=lambda: _who_gets_the_slot()),
)


def _who_gets_the_slot() -> str:
    trace = played("starved")
    small = min(starts(trace, label) or 0 for label in trace.labels if label.startswith("small"))
    before = small < (starts(trace, "big") or 0)
    return "gives the slot to a less important task that fits" if before else "keeps the free slot for it"


ASKS = {
    "flood_report": Question(
        "Then all {days} missed days start at once; six tasks may run at a time. The report is due at tick {due}. "
        "When does it start?", {
            "{due}": "All six places are taken by extracts when it asks.",
            "{flood_report}": "It has to wait until the first days are through, and then it is just one among many.",
            "{flood_end}": "It need not wait for all of them. Places come free one by one.",
        }, answer=lambda: flooded("nothing set")["report starts at"], reveal=lambda: simulate(flood()).gantt()),
    "flood_cure": Question(
        "A pool of 2 for the source, or max_active_runs 2. Both leave the report on time. Which one catches up sooner?", {
            "the pool": "While two days extract, others already load. max_active_runs holds the **next** day until a "
                        "whole run is over: {runs_end} against {pool_end}.",
            "max_active_runs": "It lets a new day begin only when an old one is over altogether, loads included.",
            "they are equal": "They would be, if a day were nothing but its extract.",
        }, answer=lambda: _sooner()),
    "too_many_slots": Question(
        "`whole_table` asks for 3 slots of a pool that has 2. What happens?", {
            "Airflow refuses the Dag": "It does not compare the two. Pools are rows in a database and may change any time.",
            "the task fails": "Nothing fails. That is the trouble: there is no error to be alerted by.",
            "it waits for ever": "{too_big} Nothing else stops, so it is easily overlooked.",
        }, answer=lambda: {True: "it waits for ever"}.get(played("too_big").stalled, "the task fails")),
    "big_starts": Question(
        "`big` has the highest priority among those that wait, and needs both slots. In which order do they run?", {
            "big next, the small ones after it": "It is asked first, every time. But two slots are never free together.",
            "all small ones first, big last": "Each time a slot comes free a small task fits and takes it. `big` starts at "
                                              "tick {big_starts}, when there is no small one left.",
            "big in the middle": "It would need a moment in which nobody small is waiting.",
        }, answer=lambda: _order_of_big(), reveal=lambda: played("starved").gantt()),
    "hidden": Question(
        "Nothing holds `quick_1`: every limit has room. The scheduler reads 4 rows per pass. When does it start?", {
            "{quick_wide}": "With a window of 16 it would. Here the four rows are all of `one_at_a_time`.",
            "{quick_hidden}": "Each pass reads four rows of the more important task, queues one and skips three. It looks "
                              "no further, because it did queue something.",
            "never": "It comes into view when fewer than four of the others are left.",
        }, answer=lambda: starts(played("window"), "other.quick_1"), reveal=lambda: played("window").gantt()),
    "sensors": Question(
        "Four sensors poke until tick 22, and there are four places. When does the first piece of work start?", {
            "{reschedule}": "It would if a sensor gave its place back between two checks. A poking one keeps it.",
            "{poke}": "A poking sensor **runs** all the time, even while it sleeps. All places are taken by waiting.",
            "12": "Nothing comes free half-way: the files all come at the same time.",
        }, answer=lambda: waiting("poke")["work starts at"], reveal=lambda: played("sensors", "poke").gantt()),
    "split": Question(
        "Orders and ledger are one Dag, one run at a time, a run due every 4 ticks. When is the **second** report on "
        "orders ready?", {
            "{split_second}": "It would be, were it not for the ledger. A run is over only when all its tasks are.",
            "{giant_second}": "The second run may begin only when the first is over, and that takes as long as the ledger.",
            "4": "That is when the **first** report is ready.",
        }, answer=lambda: reports(played("giant"))[1], reveal=lambda: played("giant").gantt()),
    "two_schedulers": Question(
        "parallelism is 2. A second scheduler is started. How many tasks run at once?", {
            "{one}": "The limit belongs to a process, not to the deployment.",
            "{two}": "Each scheduler may have two handed over. To protect a database use a pool: it is shared by all.",
            "6": "Each of them still has its own limit.",
        }, answer=lambda: at_once(played("schedulers", 2))),
    "folk_rule": Question(
        "Celery, four worker slots, parallelism 1, four ready tasks. Three wait. In which state?", {
            "queued": "Workers are free, so nothing piles up there.",
            "scheduled": "parallelism is asked before the hand-over. So the wait shows in scheduled, although pools and "
                         "caps have room.",
            "none": "Their dependencies are met.",
        }, answer=lambda: stalled("parallelism 1, 4 worker slots")["state"]),
}


def _sooner() -> str:
    pool, runs = flooded("pool source of 2")["all done at"], flooded("max_active_runs 2")["all done at"]
    return "the pool" if pool < runs else "max_active_runs" if runs < pool else "they are equal"


def _order_of_big() -> str:
    trace = played("starved")
    big, small = starts(trace, "big"), [starts(trace, la) for la in trace.labels if la.startswith("small")]
    later = sum((tick or 0) > (big or 0) for tick in small)
    return {0: "all small ones first, big last", len(small): "big next, the small ones after it"}.get(
        later, "big in the middle")


LADDER = (
    ("L1", "What does a pool protect that max_active_tasks does not?",
     "Something that tasks of **several** Dags share outside of Airflow. max_active_tasks knows one run only."),
    ("L2", "Who counts what? Deferred, queued, running.",
     "Pools and max_active_tasks count queued and running; a pool counts deferred ones only with include_deferred. "
     "max_active_tis_per_dag and _per_dagrun count deferred ones always. A sensor in up_for_reschedule counts nowhere."),
    ("L3", "A Dag comes back after {days} days with catchup on. What do you set before you unpause it?",
     "A pool around the source, so that it never sees more than it bears (without: {flood_at_once} at once), and "
     "max_active_runs if a whole run holds something. Or catchup off, if only the newest day matters."),
    ("L4", "Why did `big` wait until tick {big_starts}, with the highest priority of all that waited?",
     "It needs two slots in the same pass. No slot is ever kept free, so the small ones take each as it comes. In a "
     "pool of its own it starts at tick {big_own}. Or ask for less."),
    ("L5", "Every limit has room, the task is scheduled and does not start. What is left?",
     "The window: rows that are read but refused use up max_tis_per_query. In the example the quick task starts at "
     "tick {quick_hidden} instead of {quick_wide}. And a scheduler that is dead or slow."),
    ("L6", "Sensors hold all workers. Name two cures and their price.",
     "Reschedule gives the place back between checks, at a start for each check ({reschedule_held} worker ticks here, "
     "{poke_held} when poking). Deferral hands the wait to the triggerer ({defer_held}); it needs one that runs, and an "
     "operator that can defer."),
    ("L7", "Your parallelism is 64, your workers have 32 slots. What do you see under load, and what is wrong with it?",
     "Up to 32 tasks wait in queued. They hold pool slots and places in their runs while they wait, and their order is "
     "settled: a more important task that comes later waits behind them."),
)

LESSON = Lesson(
    5, "Limits and pools", facts, GIST, MAP, TEST, ASKS, LADDER,
    misconceptions=(
        ("max_active_tasks is per Dag.", "It was. In Airflow 3 it is per run: two runs, {two_runs} tasks at limit 1."),
        ("Priority gets a task through.", "It is asked first. Pools and limits say whether it gets in."),
        ("parallelism is a limit of the deployment.",
         "Of one scheduler process. With two of them {two} ran at limit {one}."),
        ("A pool slot is taken when the task starts.", "When it is **queued**. A queue that piles up holds pools shut."),
        ("Scheduled means limits, queued means workers.", "Mostly. You have just seen where not."),
    ),
    traps=(
        ("“Raise parallelism, then it goes faster.”",
         "Only if that is the limit that says no. Ask for the reason first, then turn that knob."),
        ("“We protect the database with max_active_tasks.”",
         "Not against a second run, nor a second Dag. Pools are for that."),
        ("“Give the important one a high weight.”",
         "Then look whether it **fits**. A task that needs many slots starves with any weight."),
    ),
    checklist=(
        "name the limits between scheduled and running in order, and what each counts",
        "brake a catchup flood in two ways, and say which catches up sooner",
        "say why a big task starves and a small one hides, and cure both",
        "explain three cases in which “scheduled = limits, queued = workers” is wrong",
        "turn the right knob of the panel without trying them all",
    ),
    try_this="Take the busiest database your Dags read. How many connections does it bear? Write down which tasks open "
    "how many. Is there a pool that knows that number? Then ask what happens on the day after a long pause.",
)
