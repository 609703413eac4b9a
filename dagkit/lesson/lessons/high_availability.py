"""Lesson 8: high availability. What its demonstrations show, and its words.

Numbers about orders of steps are computed from the model; numbers per second come from the recorded measurement.
"""

from __future__ import annotations

from typing import Any

from ... import claims
from ...claims import AGAIN, STRATEGIES, interleavings, recorded
from ..ask import Question
from ..book import Lesson
from ..chart import Chart
from ..maps import Edge, Node
from ..page import breaks, esc, static

MANY = 4
"""The largest number of schedulers in the recorded race."""
PLAIN = ("skip_locked", "for_update", "airflow")
"""Strategies of the chart."""
BARS = (".dl-bars{margin:0 0 14px}.dl-bar{display:grid;grid-template-columns:12em 1.5em minmax(4em,24em) 4em;gap:8px;"
        "align-items:center;margin:2px 0}.dl-bar i{height:14px;border-radius:3px;background:var(--dl-accent)}"
        ".dl-bar span+span{text-align:right}.dl-bar b{font-weight:650;font-variant-numeric:tabular-nums}")


# ---- the demonstrations -------------------------------------------------------------------------------------------


def orders(*, row_locks: bool = True) -> list[dict[str, Any]]:
    """Every strategy: in how many orders of steps two schedulers start a task twice."""
    return [interleavings(name, row_locks=row_locks).row() for name in STRATEGIES]


class Recorded:
    """A recorded table with the line that says so."""

    def __init__(self, rows: list[dict[str, Any]], picture: str = ""):
        self.rows, self.picture = rows, picture

    def __repr__(self) -> str:
        lines = [" | ".join(map(str, row.values())) for row in self.rows]
        return "\n".join([" | ".join(self.rows[0]), *lines, recorded().label])

    def _repr_html_(self) -> str:
        return static(f'{self.picture}{_table(self.rows)}<p class="dl-note">{esc(recorded().label)}</p>')


def _table(rows: list[dict[str, Any]]) -> str:
    head = "".join(f"<th>{breaks(name)}</th>" for name in rows[0])
    body = "".join(f"<tr>{''.join(map(_cell, row.values()))}</tr>" for row in rows)
    return f'<div class="dl-scroll dl-table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(value: Any) -> str:
    look = ' class="dk-num"' if isinstance(value, int) else ""
    return f"<td{look}>{breaks(value)}</td>"


def race() -> Recorded:
    """The recorded race: every strategy with 1, 2 and 4 schedulers."""
    return Recorded(recorded().race.table(), bars())


def struck() -> Recorded:
    """The recorded takeovers: one scheduler killed, or cut off."""
    return Recorded([each.row() for each in recorded().takeovers])


def bars() -> str:
    """Claims per second as bars, a group for each strategy."""
    laps = [lap for name in PLAIN for lap in recorded().race.laps if lap.strategy == name]
    most = max(lap.rate for lap in laps)
    lines = []
    for lap in laps:
        name = STRATEGIES[lap.strategy].label if lap.schedulers == 1 else ""
        wide = f"{100 * lap.rate / most:.1f}%"
        lines.append(f'<div class="dl-bar"><span>{esc(name)}</span><span>{lap.schedulers}</span>'
                     f'<i style="width:{wide}"></i><b>{lap.rate:,.0f}</b></div>')
    return (f"<style>{BARS}</style><p><b>Rows claimed per second, with 1, 2 and 4 schedulers</b></p>"
            f'<div class="dl-bars">{"".join(lines)}</div>')


def measure(now: bool) -> None:
    """Measure here and now, if asked to: the race, with progress; otherwise say how. Takes about fifteen seconds.

    Raises DagkitError if there is no PostgreSQL to be had.
    """
    if not now:
        print(f"Not measured now. Set MEASURE = True and run the cell again, or in a terminal: {AGAIN}")
        return
    with claims.start() as server:
        print(f"PostgreSQL {server.version}")
        print(claims.race(server, progress=lambda line: print(line, flush=True)).verdict)


# ---- what is told about them --------------------------------------------------------------------------------------


def speed_up(name: str) -> float:
    """How many times as fast as one scheduler four of them are."""
    found = recorded().race
    return found.lap(name, MANY).rate / found.lap(name, 1).rate


def told_speed(name: str) -> str:
    """The same in words, as the questions offer it."""
    times = speed_up(name)
    if times <= 0.6:
        return "about half as fast"
    return "about as fast as one" if times < 1.6 else "several times as fast"


def outcome(name: str, order: str) -> str:
    """What the model says about the last step of an order."""
    return interleavings(name).told(order)[-1][1]


def facts() -> dict[str, Any]:
    found = recorded()
    control, skip = found.race.lap("unlocked", MANY), found.race.lap("skip_locked", MANY)
    before, after, cut, bare = found.takeovers
    unlocked = interleavings("unlocked")
    return {
        "orders": unlocked.orders, "doubles": unlocked.doubles,
        "safe": len(STRATEGIES) - sum(row["so"] != "never twice" for row in orders()),
        "safe_bare": sum(row["so"] == "never twice" for row in orders(row_locks=False)),
        "bare_airflow": interleavings("airflow", row_locks=False).doubles,
        "bare_orders": interleavings("airflow", row_locks=False).orders,
        "control": control.doubles, "rows": control.rows, "many": MANY,
        "skip_times": f"{speed_up('skip_locked'):.1f}", "wait_times": f"{speed_up('for_update'):.1f}",
        "airflow_times": f"{speed_up('airflow'):.1f}", "refused": found.race.lap("airflow", MANY).refused,
        "share": ", ".join(map(str, skip.share)), "waits": found.race.lap("for_update", MANY).waits,
        "held": after.held, "threshold": f"{after.threshold:g}", "after": f"{after.seconds:.1f}",
        "before": f"{before.seconds:.2f}", "cut_refused": cut.refused, "bare_twice": bare.twice,
    }


GIST = (
    "One scheduler is one thing that can die. While it is gone nothing new starts. So you run two or three, and then "
    "you need an answer to one question: who takes which row?",
    "**High availability** here means: several schedulers do the same work on the same database, none of them is the "
    "leader, and each can die at any moment without a task being lost or started twice.",
    "There is no election and no partition. Schedulers meet in row locks. Runs are shared out with SKIP LOCKED: each "
    "takes what the others have not. Turning scheduled into queued is done by one at a time: an advisory lock, then "
    "the pools with NOWAIT; who comes second skips its turn. The dead are noticed by their silence.",
    "A table of slips and a few clerks. A clerk lays a hand on a slip before writing on it. Who finds a hand there "
    "takes the next slip. A hand that goes cold is lifted after a while.",
    "More schedulers buy survival, and some speed where rows are shared out. They do not make a slow database fast: "
    "all of them wait for it.",
    "“How do two schedulers not start the same task twice?” Say **row locks in the metadata database**, then say which "
    "step is one at a time, and what happens when one dies in the middle.",
)

MAP = Chart(
    "two schedulers, one database",
    (
        Node("scheduler A", "no leader", "Does everything: creates runs, examines them, queues tasks. It is bound by the "
             "database, not by its own processor."),
        Node("scheduler B", "the same, elsewhere", "Exactly like A. If A is gone, B does all of it; nobody has to "
             "switch over."),
        Node("dag_run", "rows, shared out", "Runs to start and runs to examine are divided by SKIP LOCKED. Two schedulers "
             "work on **different** runs at the same time."),
        Node("advisory lock", "one at a time", "A lock on no row at all: the right to turn scheduled into queued. It is "
             "tried, never waited for."),
        Node("slot_pool", "counters", "Pools are limits across all Dags, so they must be counted by one scheduler at a "
             "time. NOWAIT: rather an error than a queue."),
        Node("task_instance", "the rows to claim", "The truth about who is queued. A task is only handed over after this "
             "row was committed."),
        Node("job", "heartbeats", "A row for each component with the time of its last sign of life. Silence of 30 seconds "
             "counts as death (`scheduler_health_check_threshold`)."),
        Node("executor", "inside a scheduler", "Gets what was committed as queued. From here on a double would be a real "
             "double: the task runs twice."),
    ),
    (
        Edge("scheduler A", "dag_run", "SELECT ... FOR UPDATE SKIP LOCKED", "A takes the runs that nobody holds.",
             "Without the lock both would examine the same run and do everything twice."),
        Edge("scheduler B", "dag_run", "SELECT ... FOR UPDATE SKIP LOCKED", "B skips what A holds and takes the next ones.",
             "With a plain FOR UPDATE it would stand and wait: {many} schedulers then do {wait_times} times one's work."),
        Edge("scheduler A", "advisory lock", "pg_try_advisory_xact_lock", "A got it: the critical section is A's until its "
             "transaction ends.", "If A dies here its connection breaks, and the database lifts the lock at once."),
        Edge("scheduler B", "advisory lock", "the same, refused", "B is told no and carries on with its other work. In the "
             "next loop it tries again.", "If it waited instead, all of its other work would stand still too."),
        Edge("advisory lock", "slot_pool", "FOR UPDATE NOWAIT", "Free slots are counted, and nobody else counts now.",
             "Two who count at the same time would both hand out the last slot."),
        Edge("slot_pool", "task_instance", "FOR UPDATE SKIP LOCKED", "Rows that fit become queued. Then COMMIT.",
             "Where row locks are missing, {bare_airflow} of {bare_orders} orders of steps start a task twice."),
        Edge("task_instance", "executor", "after COMMIT", "Only what is committed is handed over.",
             "Death between the two: the row says queued and nobody has it. It waits for an heir."),
        Edge("scheduler A", "job", "UPDATE, every 5 s", "A says: I am alive.", "A network that hides A looks exactly like "
             "A's death. That is why what A does later must be refused."),
        Edge("job", "scheduler B", "who is silent?", "B takes over the rows of the dead, each of them locked with SKIP "
             "LOCKED, so one heir wins.", "Too short a threshold: the living are robbed. Too long: their tasks wait."),
    ),
    places={"scheduler A": (0, 0.5), "scheduler B": (2, 0.5), "dag_run": (1, 0), "advisory lock": (1, 1),
            "slot_pool": (1, 2), "task_instance": (1, 3), "executor": (1, 4), "job": (1, 5)},
    sides={("scheduler A", "job"): ("bottom", "left", 150), ("job", "scheduler B"): ("right", "bottom", 150)},
    shades={},
)


TEST = (
    Question("Two schedulers run. Which of them turns scheduled into queued?", {
        "the leader they have elected": "There is no leader and no election. That is why none has to be replaced.",
        "both at the same time, on different rows": "So it is for runs. But pools are counted over all Dags, and two who "
                                                    "count at the same time count wrong.",
        "whoever gets a lock; the other skips its turn": "The lock is tried, not waited for. Next time it may be the "
                                                         "other one.",
    }, answer=lambda: {"skips its turn": "whoever gets a lock; the other skips its turn"}.get(
        interleavings("airflow").told("AB")[-1][2].sides[1].over, "both at the same time, on different rows")),
    Question("A and B both read row 1 as scheduled. A sets it to queued and commits. Now B sends `UPDATE ... WHERE id = 1 "
             "AND state = 'scheduled'`. What happens?", {
        "B gets an error": "Nothing is wrong with it. It is an UPDATE like any other.",
        "B changes 0 rows": "The condition is looked at when the row is written, not when it was read. B knows now that "
                            "somebody was quicker.",
        "the row is queued a second time": "It would be without the last condition.",
    }, answer=lambda: "B changes 0 rows" if "0 rows" in outcome("guarded", "ABAAB") else "the row is queued a second time"),
)


def _share_of_doubles() -> str:
    plays = interleavings("unlocked")
    share = plays.doubles / plays.orders
    return "in most of them" if share > 0.6 else "in about half" if share > 0.3 else "in one or two"


def _after_death() -> str:
    before, after = recorded().takeovers[:2]
    if after.seconds < after.threshold:
        return "at once, when its connection breaks"
    return "after the health threshold" if not after.lost else "never"


ASKS = {
    "unlocked": Question(
        "Neither locks anything. Each reads a row, writes it, commits, hands it over. There are {orders} orders in which "
        "these steps can happen. In how many does a task start twice?", {
            "in one or two": "You would have to be unlucky, one thinks. But it is enough that B reads before A commits.",
            "in about half": "More. Only orders in which one reads **after** the other's commit are good.",
            "in most of them": "{doubles} of {orders}. All that is needed is that B reads before A's commit. Under load "
                               "that is the normal case.",
        }, answer=_share_of_doubles),
    "guard": Question(
        "Now with a guard: `... AND state = 'scheduled'` in the UPDATE. Both have read row 1, A has written it and not "
        "yet committed. B sends its UPDATE. What happens?", {
            "B changes 0 rows at once": "It cannot know yet: A might still take it all back.",
            "B waits for A, then changes 0 rows": "The row is A's until the end of its transaction. After A's commit the "
                                                  "condition is looked at again, and it does not hold any more.",
            "B queues it as well": "The condition saves it, but only because it is looked at again after the wait.",
        }, answer=lambda: "B waits for A, then changes 0 rows" if "waits" in outcome("guarded", "ABAB")
        and "0 rows" in outcome("guarded", "ABABAB") else "B changes 0 rows at once"),
    "wait_or_skip": Question(
        "{many} scheduler processes on a real PostgreSQL, each taking its rows with a plain FOR UPDATE. Against **one** "
        "scheduler, they are together...", {
            "about half as fast": "They do stand in each other's way, but one of them always works.",
            "about as fast as one": "All of them ask for the same first rows, and wait for the one that has them. A queue "
                                    "of clerks at one desk: {wait_times} times one.",
            "several times as fast": "So it is with SKIP LOCKED: {skip_times} times. There each takes rows that nobody "
                                     "holds.",
        }, answer=lambda: told_speed("for_update")),
    "airflow_speed": Question(
        "And Airflow's own way from scheduled to queued, with {many} schedulers?", {
            "about half as fast": "A refused scheduler goes on with other work. That costs a question, no more.",
            "about as fast as one": "Only one is in the critical section at a time: {airflow_times} times one. {refused} "
                                    "turns were skipped. This step is not what several schedulers make faster.",
            "several times as fast": "It would be if each took rows of its own. But pools have to be counted by one at "
                                     "a time.",
        }, answer=lambda: told_speed("airflow")),
    "scheduler_killed": Question(
        "A scheduler has committed {held} rows as queued. Before it hands them over it is killed (SIGKILL). When do they "
        "start?", {
            "at once, when its connection breaks": "That is so for what was **not** committed. These rows are.",
            "after the health threshold": "Nobody can tell a dead scheduler from a slow one, except by waiting. In Airflow "
                                          "that is 30 seconds; here {threshold}, and it took {after}.",
            "never": "They carry the name of who took them. Who finds that one silent may take them over.",
        }, answer=_after_death),
    "scheduler_cut_off": Question(
        "Not dead, only cut off: its rows have been taken over and run. Now it comes back and hands over what it had. "
        "With a guard on that, what happens?", {
            "its rows start a second time": "Without the guard, yes: {bare_twice} of them did.",
            "it is refused": "`... AND scheduler = me` does not hold any more. {cut_refused} hand-overs changed 0 rows.",
            "the other one is stopped": "Nobody stops what runs. The one who comes late is refused.",
        }, answer=lambda: "it is refused" if recorded().takeovers[2].refused and not recorded().takeovers[2].twice
        else "its rows start a second time"),
    "no_locks": Question(
        "On MariaDB, on MySQL before 8 and on SQLite Airflow leaves the row locks out, without a word. How many of the "
        "six ways are still safe?", {
            "all {safe} that were": "Four of them owe their safety to locks alone.",
            "{safe_bare}": "Those with a guard in the UPDATE. It needs no lock: whoever writes second sees 0 rows.",
            "none": "A guard is looked at when a row is written, whatever was locked or not.",
        }, answer=lambda: facts()["safe_bare"]),
}

LADDER = (
    ("L1", "Why does Airflow need no leader among its schedulers?",
     "All of them read the truth from one database, and who may take a row is settled there, row by row. A leader would "
     "be one more thing that can die."),
    ("L2", "What does SKIP LOCKED do, and what does NOWAIT do?",
     "SKIP LOCKED leaves out rows that somebody holds and takes the next ones. NOWAIT gives an error instead of waiting, "
     "which is right when there is no next one: there is only one row for each pool."),
    ("L3", "Which step of the scheduler is one at a time, and why?",
     "Scheduled to queued, the critical section: pools and other limits are counted over all Dags. Whoever does not get "
     "the lock skips its turn. Examining runs goes side by side."),
    ("L4", "{many} schedulers, SKIP LOCKED against FOR UPDATE: what did you see?",
     "{skip_times} times one scheduler against {wait_times}. With FOR UPDATE {waits} statements stood and waited; with "
     "SKIP LOCKED the shares were {share} of {rows}."),
    ("L5", "A scheduler dies between COMMIT and hand-over. And between UPDATE and COMMIT?",
     "Before COMMIT the database takes everything back when the connection breaks: after {before} s somebody else had the "
     "rows. After COMMIT the rows are queued in a dead one's name, until somebody sees that it has been silent for longer "
     "than the threshold."),
    ("L6", "A scheduler was cut off, not dead. What must be true so that nothing starts twice?",
     "Whatever it writes when it comes back must carry a condition that no longer holds: a guard, or a fencing token that "
     "grows with each owner. A lease alone is not enough; its clock may be wrong."),
    ("L7", "Two schedulers became three, and nothing got faster. What do you look at?",
     "The database: its processor, connections, lock waits, slow statements, the size of task_instance. Then "
     "critical_section_busy, and whether a limit says no. A fourth scheduler would only ask the same database more often."),
)

LESSON = Lesson(
    8, "High availability", facts, GIST, MAP, TEST, ASKS, LADDER,
    misconceptions=(
        ("The second scheduler is a stand-by.", "Both work all the time. There is nothing to switch over."),
        ("Twice the schedulers, twice the tasks queued.", "The critical section is one at a time: {airflow_times} times, "
         "with {many} of them. They share out the runs, and they survive."),
        ("A transaction alone prevents doubles.", "It did not: {doubles} of {orders} orders, each with proper "
         "transactions. It takes a lock or a guard."),
        ("Locks make it safe, a guard is only style.",
         "The other way round: with no row locks at all, the guard was what held."),
        ("Any database will do.",
         "PostgreSQL or MySQL 8. On MariaDB and older MySQL Airflow takes no row locks and says nothing."),
    ),
    traps=(
        ("“We will use a distributed lock in Redis.”",
         "Then there are two truths, and a lock whose holder may be paused for longer than the lock lives. The lock "
         "belongs where the rows are."),
        ("“If a scheduler dies, its transaction is rolled back, so nothing can happen.”",
         "True before COMMIT. The gap after it is the one to talk about."),
        ("“Set the health threshold to two seconds, then failover is quick.”",
         "Then a slow minute of the database looks like a death, and the living are robbed of their rows."),
    ),
    checklist=(
        "walk two schedulers into a double start, step by step, and say which step made it inevitable",
        "name the three kinds of lock, and what the one that comes second does in each",
        "say which part of Airflow's work goes side by side and which one at a time",
        "tell what becomes of a row when its scheduler dies before COMMIT, after COMMIT, or only seems to",
        "say on which databases you would not run a second scheduler, and why",
    ),
    try_this="Take two terminals and any PostgreSQL. `BEGIN; SELECT ... FOR UPDATE` a row in the first. In the second try "
    "the same plainly, with NOWAIT, with SKIP LOCKED. Then close the first terminal without COMMIT, and watch.",
)
