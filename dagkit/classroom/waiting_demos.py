"""Three demos about waiting: the stall, the flood, and sensors that eat the slots. Every number in them is computed."""

from __future__ import annotations

from ..engine import simulate
from ..lesson.ask import Question
from ..lesson.lessons.limits_and_pools import FILES, at_once, flood, held, sensors, starts, stuck, too_big
from .show import Demo, played


def stall() -> Demo:
    """Four tasks could run, one does: who says no, and where would one see it?"""
    pool, slot, wide, big = (simulate(stuck("pool of 1")), simulate(stuck("1 worker slot")),
                             simulate(stuck("parallelism 1, 4 worker slots")), simulate(too_big()))
    state = slot.states_at(3)["t2"]
    question = Question(
        "Four tasks are ready. There is one worker slot, and room in every pool. One task runs. In which state are the "
        "other three?", {
            "none": "That is the state of a task whose rule has not been met. These four wait for nobody.",
            "scheduled": "It would be, if a limit of the scheduler said no. Here no limit does.",
            "queued": "The scheduler has let them through. What is short comes after it: a worker.",
        }, answer=lambda: state)
    return Demo(
        "stall", "The stall: scheduled or queued?", question, [
            played("A worker is short", "One runs, three are queued. Read the panel of t2: what does it wait for?",
                   "`t2` is chosen: read its sentence aloud. Queued means: the scheduler is done with it. So "
                   "look at the "
                   "workers, their queue, their broker. Turning a pool up does nothing here.", slot,
                   tick=3, minutes=1.5, focus="t2"),
            played("A pool is full", "The same four tasks, the same picture of one that runs. Which letter has "
                                     "changed?",
                   "Now they are scheduled. The same room for complaint, another part to blame: the pool says "
                   "no, and no "
                   "number of workers helps. Read `t2` again.", pool, tick=3, minutes=1.5, focus="t2"),
            played("The exception", "Four worker slots are free, and the pool has room. Still only one runs. "
                                    "Who says no?",
                   "parallelism is asked by the scheduler, before the hand-over. So it shows as scheduled "
                   "although nothing "
                   "that people usually look at is full. Read `t3`.", wide, tick=3, minutes=1.5, focus="t3"),
            played("For ever", "Nothing failed, nothing is red. When will whole_table start?",
                   "Never: it asks for 3 slots of a pool that has 2. No error and no alert. That is why one "
                   "asks for the "
                   "reason and not for the colour.", big, tick=big.last_tick, focus="whole_table"),
        ],
        opening="Read the question. Hands for A, B, C; click an answer once per hand. Do not tell yet. Let two "
        "people who "
        "disagree say why. Then press `1`.",
        closing="Back to the question, press `S`. One sentence to take home: scheduled, look at limits; queued, "
        "look at "
        "workers; and know the exceptions.", lesson=5)


DAYS = 7
"""Missed days of the flood: few enough for all rows of the chart to be in sight at once."""


def _flood() -> Demo:
    bare, pool, runs = (simulate(flood(days=DAYS)), simulate(flood(days=DAYS, source=2)),
                        simulate(flood(days=DAYS, max_active_runs=2)))
    late, on = starts(bare, "report.build") or 0, DAYS + 1
    due = on + 1
    most = at_once(bare, "extract")
    question = Question(
        f"A daily Dag was paused for seven days. It is switched on at tick {on}, with catchup. Six tasks may run at "
        f"once. A report of another Dag is due at tick {due}. When does it start?", {
            f"at tick {due}, on time": "It would have to find a free place. All six are taken one tick before it asks.",
            f"at tick {late}": f"{most} days extract at once and hold every place. When they end, more of the daily Dag "
                               "is asked before the report is.",
            f"at tick {bare.last_tick}, when all days are done": "Places come free one by one. It needs one, not all.",
        }, answer=lambda: f"at tick {late}" if due < late < bare.last_tick else "neither")
    return Demo(
        "flood", "The flood: seven missed days at once", question, [
            played("Before", "Seven days are due, and nothing runs: the Dag is paused. What happens at the next tick?",
                   "This is Monday after a long holiday. Ask the room: who has switched on a Dag like this one? "
                   "Then press → once.", bare, tick=on - 1),
            played("Nothing set", f"{most} extracts run against one source. Find the report: where is it?",
                   f"`report.build` is chosen, the last line of the chart. It is due, it is small, and it waits until "
                   f"tick {late}. Then ask: who else suffers? The source, which sees all of them at once.",
                   bare, tick=on + 2, minutes=1.5, focus="report.build"),
            played("A pool of 2", "Only two extracts at a time. Is the report on time now?",
                   "A pool guards what the extracts share. While two days extract, others already load.",
                   pool, tick=on + 2, minutes=1.5, focus="report.build"),
            played("max_active_runs 2", "Two days at a time, from beginning to end. Which cure is sooner done?",
                   f"Also on time, but all done only at tick {runs.last_tick}, with the pool at {pool.last_tick}: a new "
                   "day may begin only when an old one is over altogether.", runs, tick=on + 2, minutes=1.5,
                   focus="report.build"),
        ],
        opening="Read the question twice, it has many numbers. Hands for A, B, C. Ask somebody who said A what "
        f"the report would need at tick {due}. Then press `1`.",
        closing="Back to the question, press `S`. To take home: brake a catchup before you switch it on. A pool for "
        "what is shared, max_active_runs for what a whole run holds.", lesson=5)


def _sensors() -> Demo:
    poke, again, defer = (simulate(sensors(how)) for how in ("poke", "reschedule", "defer"))
    first = starts(poke, "work_1") or 0
    prices = {how: held(trace, *FILES) for how, trace in (("poke", poke), ("reschedule", again), ("defer", defer))}
    question = Question(
        "Four places. Four sensors wait for files that come after 20 ticks; they poke every 5. Six short tasks "
        "have work to "
        "do. When does the first of them start?", {
            "at tick 2": "There would have to be a free place. Four sensors hold all four.",
            "at tick 7, between two pokes": "A poking sensor sleeps between its checks, and keeps its place asleep.",
            f"at tick {first}": "A sensor that pokes runs all the time. All places are taken by waiting.",
        }, answer=lambda: f"at tick {first}")
    return Demo(
        "sensors", "Sensors eat the slots", question, [
            played("The first tick", "Four tasks run. How many of them do any work?",
                   "All is green and busy. A dashboard would be proud. Ask: what do these four do? They "
                   "sleep.", poke, tick=3, focus="file_1"),
            played("Still waiting", "Fifteen ticks later. What has been done?",
                   f"Nothing. Read why `work_1` waits. It starts at tick {first}, when the files are there.", poke,
                   tick=18, minutes=1.5, focus="work_1"),
            played("Reschedule", "The sensors give their place back between two checks. Where are they now?",
                   f"The work is done at once. The price: each check is a start of its own. The sensors held "
                   "places for "
                   f"{prices['reschedule']} ticks, poking it was {prices['poke']}.", again, tick=4, minutes=1.5,
                   focus="file_1"),
            played("Deferred", "The wait has gone to another part of Airflow. Which one holds it?",
                   f"The triggerer: thousands of waits in one process. {prices['defer']} ticks of places here. "
                   "It needs "
                   "a triggerer that runs, and an operator that can defer.", defer, tick=6, minutes=1.5, focus="file_1"),
        ],
        opening="Read the question. Hands for A, B, C. If many say B, ask what a sleeping process gives back. "
        "Then press `1`.",
        closing="Back to the question, press `S`. To take home: waiting in a place is work to the scheduler. Count the "
        "sensors that poke in your own deployment.", lesson=5)


BUILD = {"stall": stall, "flood": _flood, "sensors": _sensors}
