"""Three demos about parts that fail or meet: a lost worker, two schedulers at one row, hints against polling."""

from __future__ import annotations

from typing import Any

from ..claims import interleavings
from ..config import Config
from ..dag import Dag
from ..engine import simulate
from ..executors import CeleryExecutor, Worker
from ..faults import LoseWorker
from ..latency import CASES, play
from ..lesson.ask import Question
from ..task import Task
from .show import Demo, played, stepped, walked

DIES, TIMEOUT = 6, 20
"""The tick at which the worker dies; after how many ticks without a heartbeat Airflow believes it (by default "
  "300 s)."""


def orders(retries: int, *, lost: bool = True) -> Any:
    """The trace of a small Dag whose transform is on a worker that dies."""
    dag = Dag("orders", [Task("extract", duration=2), Task("audit", "extract", duration=2),
                         Task("transform", "extract", duration=6, retries=retries, retry_delay=2),
                         Task("publish", "transform")])
    config = Config(task_instance_heartbeat_timeout=TIMEOUT, task_instance_heartbeat_timeout_detection_interval=2)
    executor = CeleryExecutor(workers=[Worker(2, name="worker 1"), Worker(2, name="worker 2")])
    return simulate(dag, executor=executor, config=config, faults=[LoseWorker(DIES, task="transform")] if lost else [])


def lost_worker() -> Demo:
    """A worker dies in the middle of a task."""
    well, again, over = orders(1, lost=False), orders(1), orders(0)
    label = again.labels.index("transform")
    told = next(tick for tick, state in again.changes[label] if state == "up_for_retry")
    state = again.states_at(DIES + 3)["transform"]
    question = Question(
        f"At tick {DIES} the worker that runs transform loses its power. What does Airflow show for transform at tick "
        f"{DIES + 3}?", {
            "running": f"Nobody has told the scheduler. It learns from silence: no heartbeat for {TIMEOUT} "
                       "ticks here, 300 "
                       "seconds by default.",
            "failed": "That would need somebody who knows. The one who knew is dead.",
            "up_for_retry": f"It gets there, at tick {told}, when the heartbeat has been missing for long enough.",
        }, answer=lambda: state)
    return Demo(
        "lost_worker", "The lost worker", question, [
            played("All is well", "transform runs on a worker, audit beside it. Keep its colour in mind.",
                   "Point at transform. A moment later somebody pulls the plug of its machine.", well,
                   tick=DIES - 1, focus="transform"),
            played("The plug is pulled", "The worker is gone. What has changed in the picture of transform?",
                   "Nothing. The row in the database says running, and nobody contradicts it. Ask: how could "
                   "the scheduler "
                   "know?", again, tick=DIES, focus="transform"),
            played("Silence", "Ten ticks later. Is it slow, or is it dead?",
                   "From outside the two look alike. Read its reason. A short timeout would be quick, and "
                   "would kill slow "
                   "ones too.", again, tick=DIES + 10, minutes=1.5, focus="transform"),
            played("Believed dead", "The heartbeat was missing for too long. What happens to transform, and "
                                    "what had it "
                   "done already?",
                   "A try is used up, a new one starts. Half of the work may be there already: a task must bear "
                   "to be done "
                   "twice.", again, tick=told, minutes=1.5, focus="transform"),
            played("No retry left", "The same loss, with retries=0. How does the run end?",
                   "It fails, for a reason that is not in its log. That is the difference between a retry and "
                   "none.", over,
                   tick=over.last_tick, focus="transform"),
        ],
        opening="Read the question. Hands for A, B, C. Ask those who said failed: who would have written that "
        "down? Then "
        "press `1`.",
        closing="Back to the question, press `S`. To take home: Airflow learns of a death from silence. Between "
        "death and "
        "timeout the truth is not in the database.", lesson=8)


def two_schedulers() -> Demo:
    """Two schedulers read one row; moved by hand, step by step."""
    bare, skip = interleavings("unlocked"), interleavings("skip_locked")
    share = bare.doubles / bare.orders
    question = Question(
        "Two schedulers want to queue the same task. Each reads the row, then writes it, then hands it over. No "
        "locks. In "
        "how many of all possible orders does the task run twice?", {
            "in none: a database is safe": "Each statement is. What lies between two statements is not.",
            "in a few, one in ten perhaps": "It is rare in time, because each step is quick. Counted by order "
                                            "it is not.",
            "in most of them": f"In {bare.doubles} of {bare.orders}. Both read “scheduled” before one has "
                               "written, and that "
                               "is enough.",
        }, answer=lambda: "in most of them" if share > .5 else "in a few, one in ten perhaps" if share else
        "in none: a database is safe")
    locked = "A"                                          # one step before the answer
    return Demo(
        "two_schedulers", "Two schedulers, one row", question, [
            stepped("No locks", "← moves A, → moves B. Can you make a task run twice?",
                    "Let the room call out left or right. It rarely takes more than five calls.", "unlocked", minutes=2),
            stepped("Twice", "Both have handed the row over. Where did it go wrong?",
                    "Press Backspace step by step, back to the moment at which both had read “scheduled”. There "
                    "it was lost.",
                    "unlocked", bare.example),
            stepped("A lock that waits", "A has locked the row. What can B do?",
                    "Collect guesses, then press →. SELECT FOR UPDATE: B stands still until A commits. Safe, and "
                    "slow: two schedulers are as fast as one.",
                    "for_update", locked, minutes=1.5),
            stepped("SKIP LOCKED", "A has locked the row. What does B do now?",
                    f"Guesses again, then →. It takes the other row. All {skip.orders} orders are safe and nobody "
                    "waits. This is what Airflow's schedulers rest on.", "skip_locked", locked, minutes=1.5),
        ],
        opening="Read the question. Hands for A, B, C. Most rooms say B. Then press `1` and let them try.",
        closing="Back to the question, press `S`. To take home: reading and writing belong under one lock, and "
        "skipping what "
        "is locked lets schedulers work side by side.", lesson=8)


def hints() -> Demo:
    """A run by hints, and what becomes of it when they are lost, doubled or gone."""
    fine, down, alone = play(), play(CASES["broker down"].faults), play(CASES["task hint lost"].faults, fallback=False)
    right = "it succeeds, later" if down.run == "success" and not down.doubled else "something is lost"
    question = Question(
        "Schedulers and workers are woken by hints from a broker. The broker is down for the whole run. What "
        "becomes of the "
        "run?", {
            "it never starts": "The run and its tasks are rows in the database. The hint only said where to look.",
            "it succeeds, later": f"{down.ended / 1000:.1f} s in place of {fine.ended / 1000:.1f} s. Everybody "
                                  "still looks "
                                  "now and then without being told.",
            "some tasks run twice": "Slowness doubles nothing. Writes that find a changed row change nothing.",
        }, answer=lambda: right)
    return Demo(
        "hints", "Hints against polling", question, [
            walked("All hints arrive", "→ goes on. Watch the gap between a commit and who reacts to it.",
                   f"Go through it quickly. Every hop wakes the next: {fine.ended} ms in all.", "nothing", minutes=1.5),
            walked("A hint is lost", "The row says queued, and no worker hears of it. Who finds it, and when?",
                   "Go on until the worker asks by itself. The slow way is the safety net of the quick one.",
                   "task hint lost", minutes=1.5),
            walked("No broker", "Not one hint arrives. Press End: how did it end?",
                   "Slow, whole, nothing twice. Polling is what hints degrade to.", "broker down"),
            walked("A hint comes twice", "Both schedulers wake up and want the run. Find the write that changes "
                                         "no row.",
                   "A hint is no order. Both read the database, one insert wins.", "hint comes twice"),
            walked("Hints alone", "The same lost hint, and nobody looks without being told. Press End.",
                   f"{len(alone.missing)} of three tasks never succeed. A system that trusts its messages alone "
                   "loses what "
                   "they lose.", "task hint lost", fallback=False),
        ],
        opening="Read the question. Hands for A, B, C. Ask somebody who said A where the run is written down. "
        "Then press `1`.",
        closing="Back to the question, press `S`. To take home: commit first, then hint; look now and then all "
        "the same; "
        "guard each write.", lesson=9)


BUILD = {"lost_worker": lost_worker, "two_schedulers": two_schedulers, "hints": hints}
