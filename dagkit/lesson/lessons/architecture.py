"""Lesson 7: the architecture, and how to tell which part is broken. Its words."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

from ... import museum
from ...architecture import architecture, growth
from ...architecture.breaking import broke, why
from ..ask import Question
from ..book import Lesson
from . import architecture_demos as demo


@cache
def _edits() -> dict[str, str]:
    return {row["folder"]: row["an edit is seen after at most"] for row in demo.edits()}


def _most(key: str) -> str:
    """The unfinished state in which most tasks wait, compared with the healthy twin."""
    case = broke(key)
    more = Counter(case.trace.states_at(case.at).values())
    more.subtract(Counter(case.calm.states_at(case.at).values()))
    return max(("scheduled", "queued", "running", "deferred"), key=lambda state: more[state])


def _failed(key: str) -> int:
    """Task instances that have failed in any way at the look."""
    return sum("fail" in state for state in broke(key).trace.states_at(broke(key).at).values())


def _importer() -> str:
    return next(c.name for c in architecture(3).components if c.job.startswith("For each file: import"))


def _seen_new() -> int:
    return round(demo.processed(saved=("dag_07.py", 100), new=True).seen_at or 0)


def _starts(trace: Any, label: str) -> int:
    return int([tick for tick, state in trace.changes[trace.labels.index(label)] if state == "running"][-1])


def facts() -> dict[str, Any]:
    short, long = demo.api_gone(10), demo.api_gone(60)
    lost, again = demo.lost(), demo.redeliveries(demo.long_task())
    month = growth()
    return {
        "short_end": short.last_tick, "long_end": long.last_tick, "calm_end": demo.outage().last_tick,
        "calm_edit": _edits()["twenty files of 2 s"], "slow_edit": _edits()["and two of 45 s"],
        "more_processes": _edits()["the two, with 4 parsing_processes"],
        "eager_edit": _edits()["min_file_process_interval 5"],
        "new_seen": _seen_new(), "changed_seen": round(demo.processed(saved=("dag_07.py", 100)).seen_at or 0),
        "poke_slots": int(max(n for _, n in demo.held("poke"))),
        "rows_day": f"{month.rows_per_day:,}", "rows_month": f"{month.rows:,}",
        "wrong_rows": f"{month.dags * month.tasks:,}",
        "lost_start": _starts(lost, "load"), "redelivered": ", ".join(str(tick - 1) for tick, _ in again),
        "late": _late(), "queued_code": getattr(why("broker down"), "code", ""),
        "import_end": museum.replay("A47", 0).last_tick - 1,
    }


def _late() -> int:
    """Task instances that a slow database keeps from being done at the look."""
    case = broke("database slow")
    done = [sum(state == "success" for state in trace.states_at(case.at).values()) for trace in (case.calm, case.trace)]
    return done[0] - done[1]


GIST = (
    "A task waits, and somebody must say where to look. An architecture is the answer to one question: which part acts "
    "on a task in this state, and what does it need from the others?",
    "**Dag processor** reads files. **Scheduler** decides. **Executor** hands over, with Celery through a **broker**. "
    "**Worker** runs. **Triggerer** waits. **API server** is the door for people and tasks. The **metadata DB** is "
    "where they all meet: nobody keeps a truth of their own.",
    "A file becomes a serialized Dag. A run is made of it. A row goes from none over scheduled to queued; a worker "
    "takes it and reports through the Execution API. Each hop is another part, and each part leaves its own mark when "
    "it breaks: invisible edits, a pile of scheduled, a pile of queued, silence in running, sleep in deferred.",
    "A relay in which the baton is a row. Find the row, read its state, and you know whose turn it is.",
    "More parts mean more to run and more hops to wait for. They buy that author code never runs in the scheduler, "
    "that task code never sees the database, and that any part can be run twice.",
    "“A hundred tasks have been queued for ten minutes. Where do you look?” Walk the way from file to success aloud, "
    "and stop at the part whose turn it is.",
)

TEST = (
    Question("Which part of Airflow 3 imports your Dag files to find out which Dags there are?", {
        "scheduler": "It did long ago, and an endless import could stop it. Now it reads serialized Dags from the "
                     "database.",
        "Dag processor": "In a child process for each file. Workers import the file again, but only to run one task.",
        "API server": "It reads serialized Dags from the database, too.",
    }, answer=_importer),
    Question("The API server is gone for good while a task runs. What is the task's state two minutes later?", {
        "failed": "Who should write that? The scheduler finds the silence only after five minutes.",
        "running": "Nobody can report, and the scheduler waits 300 seconds for a heartbeat. The process itself is "
                   "long dead.",
        "success": "It may have done its work. But nobody could say so.",
    }, answer=lambda: demo.outage(demo.faults.ApiServerDown(4)).states_at(124)["extract"]),
)

ASKS = {
    "broker_pile": Question(
        "The broker delivers nothing. In which state do tasks pile up?", {
            "scheduled": "Before that word the scheduler is still deciding. It decides as ever.",
            "queued": "The row says queued first, then the message is sent. So it waits there, beside idle workers.",
            "running": "Nothing new gets to a worker. What runs ends well.",
        }, answer=lambda: _most("broker down")),
    "slow_database": Question(
        "The database is slow: a pass takes six ticks instead of one. How many tasks fail because of that?", {
            "0": "Nothing fails, nothing is refused, no log has an error. {late} task instances are simply not done yet.",
            "1": "There is no timeout that would hit anybody here.",
            "most of them": "Slow is not broken. That is what makes it hard to find.",
        }, answer=lambda: _failed("database slow")),
    "api_short": Question(
        "extract runs from tick 2 to 8. From tick 4 on the API server is away for ten seconds. What becomes of extract?", {
            "it fails and is retried": "Three failed heartbeats, at least five seconds apart, take fifteen seconds.",
            "nothing: it reports late": "The supervisor tries again, and the server is back before it gives up. The "
                                        "run ends at "
                                        "tick {short_end} instead of {calm_end}.",
            "it is stopped at once": "One failed call is a warning in the log, no more.",
        }, answer=lambda: "nothing: it reports late" if demo.api_gone(10).tries["extract"] == 1
        else "it fails and is retried"),
    "slow_files": Question(
        "Twenty files of 2 s; an edit is seen after {calm_edit} at most. Now two files of 45 s join them. And the "
        "same edit?", {
            "{calm_edit}": "Both processes can be busy with the slow ones. Then nobody parses yours.",
            "{more_processes}": "With four parsing_processes it would be.",
            "{slow_edit}": "Two processes, two slow files: for a while both are taken, and all others wait.",
        }, answer=lambda: _edits()["and two of 45 s"]),
    "new_file": Question(
        "A file that was never there before is saved at second 100. When is its Dag stored?", {
            "{changed_seen}": "So it is with a **changed** file: it comes next. A new one must first be found.",
            "130": "min_file_process_interval is about files that are known.",
            "{new_seen}": "The bundle is listed again every refresh_interval, 300 seconds by default. Then it is "
                          "parsed at once.",
        }, answer=_seen_new),
    "hundred_sensors": Question(
        "A hundred sensors wait a minute. How many worker slots are held half-way, if they are deferred?", {
            "100": "So many a poking sensor holds: {poke_slots} of them, all the time.",
            "1": "The triggerer is no worker: it has no slots to hold.",
            "0": "All of them are triggers in one loop. Each needs a worker for a moment before and after.",
        }, answer=lambda: round([n for t, n in demo.held("deferral") if t <= 30][-1])),
    "rows": Question(
        "200 Dags with 30 tasks each run every hour. How many rows does task_instance get in 30 days?", {
            "{wrong_rows}": "That is what one run of each Dag adds.",
            "{rows_day}": "That is what a single day adds.",
            "{rows_month}": "A row for every task of every run, whether it did anything or not.",
        }, answer=lambda: f"{growth().rows:,}"),
    "lost_message": Question(
        "At tick 8 the broker loses the message of load. A tick is a second. When does load run?", {
            "9": "Only the message knew. The row says queued, as if all were well.",
            "{lost_start}": "Queued for more than 600 seconds, looked for every 120: found at 720, queued again, run "
                            "a tick later.",
            "never": "The row is the truth, and the scheduler compares: what is queued too long is queued again, "
                     "twice at most.",
        }, answer=lambda: _starts(demo.lost(), "load")),
    "redelivered": Question(
        "A task runs 50 hours; Redis hands unacknowledged messages out again after 24. How many tries does the task use?", {
            "3": "A second start is refused, because the task instance is running already.",
            "1": "It happens {redelivered} hours after the start, and changes no state. But the workers are "
                 "disturbed: raise "
                 "visibility_timeout above your longest task.",
            "0": "A task that was started has used a try.",
        }, answer=lambda: demo.long_task().tries["train"]),
}

LADDER = (
    ("L1", "Name the parts a task meets from its file to success.",
     "Bundle, Dag processor, metadata DB, scheduler, executor, broker (Celery), worker, API server, and the scheduler "
     "again."),
    ("L2", "What does the Dag processor do in Airflow 3, and what does the scheduler no longer do?",
     "It imports each file in a child process and stores serialized Dags. The scheduler reads those; author code "
     "never runs "
     "inside it, so an endless import cannot stop scheduling."),
    ("L3", "Why may task code no longer see the metadata database?",
     "It asks the API server with a short-lived token for one task instance. So one task cannot read every secret or hold "
     "every connection, workers may stand anywhere, and other languages can follow."),
    ("L4", "Tasks are queued and workers idle. Name three parts that could be to blame, and how to tell them apart.",
     "Broker (nothing is delivered), a wrong queue name (nobody listens), the API server (nobody can start). Look at the "
     "broker's counters, at the workers' queues, at the health page. `{queued_code}` is what the kit says for the first."),
    ("L5", "Everything is slow, and nothing is red. What now?",
     "The database: how long is a pass, how long its query? Rows grow by {rows_day} a day in a middling deployment, and "
     "nobody removes them unless you do (`airflow db clean`)."),
    ("L6", "The API server is away for ten seconds, then for a minute. What is lost?",
     "Ten seconds: nothing, reports come late. A minute: supervisors give up after three heartbeats, and the scheduler "
     "finds the silence after 300 seconds; then the retry rule decides. The run of the lesson ended at tick "
     "{short_end} and "
     "at tick {long_end}, instead of {calm_end}."),
    ("L7", "An edit takes minutes to show. Where does the time go, and which knob would you not turn first?",
     "Two slow files can hold both processes: {slow_edit} instead of {calm_edit}. First move work out of the module level. "
     "min_file_process_interval 5 shows edits after {eager_edit} and parses all the time."),
)

LESSON = Lesson(
    7, "Architecture", facts, GIST, architecture(3).map, TEST, ASKS, LADDER,
    misconceptions=(
        ("The scheduler host needs many cores for all those tasks.",
         "It runs none of them. It reads and writes rows: it is as fast as its database."),
        ("The executor is a server.", "It is a setting, and code inside the scheduler."),
        ("Workers write their state into the database.", "They did in 2.x. In 3 they report to the API server."),
        ("A lost message is a lost task.", "The row is still there. Reconciliation finds it after ten minutes."),
        ("If the pages are slow, the tasks are slow.", "Pages read; tasks report a few lines. Often only the reads "
                                                       "suffer."),
    ),
    traps=(
        ("“Tasks are queued, so restart the scheduler.”",
         "Queued means it has done its part. Look behind it: broker, queue names, workers."),
        ("“Deferred for hours: raise the sensor's timeout.”",
         "First look whether a triggerer is alive. Without one no event is ever seen."),
        ("“More schedulers, then it is faster.”",
         "They meet in the same database. If that is slow, it gets slower."),
    ),
    checklist=(
        "walk one task from file to success and name the acting part at each step",
        "say for each part what one sees when it is down, and what to check first",
        "explain what a short and a long outage of the API server cost",
        "say how long an edit takes to show, and what slow files do to the others",
        "find one fault among ten suspects with three looks, and two faults with four",
    ),
    try_this="Draw your own deployment from memory: every part, every arrow, and beside each arrow its protocol. Then "
             "ask for "
    "each part: what would people say first if it were down? Which page or command would you open?",
)
