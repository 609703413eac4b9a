"""Lesson 9: polling against hints. Its words; every number in them is computed."""

from __future__ import annotations

from typing import Any

from ...latency import CASES, FIGURES, play
from ...views.picture import Picture
from ..ask import Question
from ..book import Lesson
from ..chart import Chart
from ..maps import Edge, Node
from ..sequence import sequence
from .latency_demos import cure, model


def _largest_part() -> str:
    stages = model().stages("standard", 50_000)
    return max(stages, key=lambda stage: stage.mean).name


def _first(name: str) -> float:
    return play(CASES[name].faults).waits()[0] / 1000


def _twice_the_schedulers() -> str:
    before, after = (model().tuned(schedulers=n).p95("standard", 50_000) for n in (10, 20))
    return "half as long" if after < 0.6 * before else "hardly shorter" if after < 1.2 * before else "longer"


def facts() -> dict[str, Any]:
    m, fine = model(), play()
    standard, hinted = (m.p95(design, 50_000) for design in ("standard", "hinted"))
    errors = {f.what: f.asks(m) / f.published - 1 for f in FIGURES if not f.fitted}
    return {
        "standard": f"{standard:.1f}", "small": f"{m.p95('standard', 1_000):.1f}", "hinted": f"{hinted * 1000:.0f}",
        "notice": f"{m.stages('standard', 50_000)[0].mean:.1f}", "pass": f"{m.pass_seconds('standard', 50_000):.1f}",
        "ratio": f"{standard / hinted:.0f}", "hop": fine.waits()[1],
        "scan": f"{_first('hint not published'):.1f}", "timer": f"{_first('task hint lost'):.1f}",
        "broker": f"{play(CASES['broker down'].faults).ended / 1000:.1f}",
        "fine": f"{fine.ended / 1000:.1f}", "error": f"{100 * errors['p95 start at 300,000, both new']:.0f}",
        "ceiling": f"{round(m.ceiling('hinted'), -3):,.0f}", "ten": cure(schedulers=10), "twenty": cure(schedulers=20),
        "faster": cure(idle_sleep=0.1), "tries": play(CASES["lost while running"].faults).final["extract"][1],
    }


GIST = (
    "When a task ends, the next one could start at once. What it waits for is that somebody **notices**. With few "
    "tasks that is seconds. With fifty thousand running it was {standard} seconds for 95 of 100, on the standard path.",
    "**Polling**: look again and again whether something is to be done. A **hint**: a tiny message after a commit that "
    "says where to look. It carries no work and may get lost. The database stays the only truth.",
    "Commit, drop a hint, the next service wakes, reads the database, acts with a guarded write. Hint lost? A slow scan "
    "finds it. Hint twice? The guard lets one through. So hints buy speed, scans and guards keep it right.",
    "A doorbell. It does not hand over the parcel; it only makes you look. If it is broken you still look at the door "
    "now and then.",
    "Milliseconds instead of seconds, for more queries, more moving parts, and code in which every write must say what "
    "it expects. Exactly-once stays out of reach: tasks must be safe to repeat.",
    "“Put the task into the message, then the worker need not ask the database.” Say why not: that is a second record, "
    "and after a crash somebody has to find out which of the two is right.",
)

MAP = Chart(
    "three hops from a commit to a running task",
    (
        Node("caller", "starts a run", "Asks the API for a run. When its call returns, the run is committed: from then on "
             "nothing that happens to a message can lose it."),
        Node("database", "the only truth", "One run, its task instances, who owns what. Whoever wakes up reads here, and "
             "every write says what it expects to find."),
        Node("hints", "disposable", "A broker that may lose, double and delay. It only makes others look sooner than they "
             "would have looked anyway."),
        Node("scheduler", "owns runs", "Takes runs that nobody owns, asks Airflow's own dependency functions what is "
             "ready, and sets it to queued, if it is still as it read it. No Dag is rewritten for it."),
        Node("API server", "holds requests open", "Keeps one open request per worker and answers when there is work. "
             "Workers never speak to the database."),
        Node("worker", "warm parent", "Its heartbeat says who it is, its queues, how many slots are free, and whether it "
             "is draining. It has imported everything already: a task is a fork, not a start."),
    ),
    (
        Edge("caller", "database", "one commit", "The run and its three rows exist.",
             "The call fails, and the caller knows."),
        Edge("caller", "hints", "“a run waits”", "After the commit, never before.",
             "A scan finds the run: in the sandbox after {scan} s instead of at once."),
        Edge("hints", "scheduler", "wake up", "It reads the database. What the hint said is forgotten.",
             "It wakes by itself and scans. Twice? Both try to own the run, one insert wins."),
        Edge("scheduler", "database", "own it; queue it", "Insert if absent; update only what is still as it was read.",
             "Zero rows changed: somebody else did it. Without the guard a scheduler that was gone for a while would queue "
             "a task a second time."),
        Edge("scheduler", "hints", "“a task waits”", "After the commit again.",
             "A worker's own timer asks: {timer} s here."),
        Edge("hints", "API server", "wake up", "It answers an open request of a worker with a free slot.",
             "The requests time out and are made again."),
        Edge("API server", "database", "take a row", "Locks a queued row that nobody has, skipping locked ones, and writes "
             "the worker on it.", "The row stays queued for the next who asks."),
        Edge("API server", "worker", "workload and token", "The worker forks a process for it.",
             "It never starts: its assignment gets stale and is cleared, another takes it."),
        Edge("worker", "API server", "“may I run?”", "Queued to running, guarded: one winner. Later heartbeats, and the "
             "end.", "Cut off and back too late: refused, before a line of the task has run."),
    ),
    places={"caller": (0, 0.7), "database": (1.5, 1.6), "hints": (1.5, 0), "scheduler": (3, 0.7), "API server": (1.5, 2.8),
            "worker": (3, 3.4)},
    sides={("scheduler", "database"): ("bottom", "right", 0), ("caller", "database"): ("bottom", "left", 0),
           ("caller", "hints"): ("top", "left", 0), ("hints", "scheduler"): ("right", "top", 0),
           ("scheduler", "hints"): ("left", "bottom", 60), ("hints", "API server"): ("left", "left", 70),
           ("API server", "database"): ("top", "bottom", 0), ("API server", "worker"): ("right", "top", 0),
           ("worker", "API server"): ("left", "bottom", 60)},
    shades={},
)

TEST = (
    Question("A commit is made, and then the hint about it gets lost. What does the system lose?", {
        "the task": "The row is committed. Nobody needs the hint to know about it.",
        "time": "A scan comes along and finds the row. That is all a hint was for: to be quicker than the scan.",
        "nothing at all, hints are sent again": "Nobody even notices that it was lost. What helps is somebody who looks "
                                                "without being told.",
    }, answer=lambda: _what_a_lost_hint_costs()),
    Question("50,000 tasks are running, then 100,000. On the standard path, how much longer does a new task wait?", {
        "twice as long": "So it would be if only the passes got longer. But there are also more runs to go round.",
        "about 3.4 times as long": "Passes get longer **and** there are more of them until your run has its turn. Both "
                                   "together: more than in proportion.",
        "no longer: its limits have room": "It does not wait for room. It waits to be noticed.",
    }, answer=lambda: _twice_the_tasks()),
)


def _what_a_lost_hint_costs() -> str:
    lost, fine = play(lose=("run",)), play()
    return "the task" if lost.missing else "time" if lost.ended > fine.ended else "nothing at all, hints are sent again"


def _twice_the_tasks() -> str:
    ratio = model().p95("standard", 100_000) / model().p95("standard", 50_000)
    return "twice as long" if 1.8 < ratio < 2.2 else f"about {ratio:.1f} times as long"


def _case(name: str) -> Any:
    """The story of a fault as a picture, when it is asked for."""
    return lambda: Picture(sequence(play(CASES[name].faults), name), None, play(CASES[name].faults).verdict())


ASKS = {
    "largest_part": Question(
        "50,000 tasks are running. Your task's upstream has just ended. Where does it spend most of its {standard} "
        "seconds?", {
            "a pass notices": "{notice} s on average. A pass takes {pass} s, looks at 20 runs, and there are more runs "
                              "than ten schedulers look at in one pass.",
            "broker hop": "Fractions of a second. Tuning it is popular because it is easy.",
            "process start": "A second and a half, with few tasks or many.",
            "its turn for the limits": "It costs a pass or two when somebody else holds the lock. Not the largest.",
        }, answer=_largest_part),
    "more_schedulers": Question(
        "Ten schedulers, {standard} s. You start ten more. How long now?", {
            "half as long": "Each round is halved, that is so. But only one may turn scheduled into queued at a time.",
            "hardly shorter": "{twenty} instead of {ten}: what is won in rounds is lost waiting for the one lock. Some"
                              "where past ten there is nothing left to win.",
            "longer": "Not yet. With forty it would be: then nearly everybody waits for the lock.",
        }, answer=_twice_the_schedulers),
    "not_published": Question(
        "The caller commits a run and dies before it drops the hint. When does the first task start?", {
            "never": "The run is in the database, and a scheduler scans for runs that nobody owns.",
            "after {scan} s": "The next scan finds it: within a second. Nothing was repaired, nothing had to be known.",
            "after {broker} s": "That is how long the whole run takes when **no** hint arrives.",
        }, answer=lambda: f"after {_first('hint not published'):.1f} s", reveal=_case("hint not published")),
    "comes_twice": Question(
        "The hint arrives twice, and two schedulers wake at the same moment. What happens?", {
            "extract runs twice": "It would without guards. See below.",
            "one owns the run, the other changes no row": "Insert if absent: one insert wins. The loser is told “0 rows” "
                                                          "and lets go. It needs no lock and no talk between the two.",
            "they wait for each other": "Nobody waits. Both write, and the database decides.",
        }, answer=lambda: _twice(), reveal=_case("hint comes twice")),
    "cut_off": Question(
        "Worker 1 takes `extract` and is cut off. Five seconds later worker 2 takes it and runs it. Then worker 1 is "
        "back and starts the process it had prepared. What happens?", {
            "extract runs twice at once": "So it would if moving to running were not guarded. Look at the row: whose is "
                                          "it?",
            "its start is refused": "The row says running, and another worker. The guarded move changes zero rows, and the "
                                    "process ends before it has run a line.",
            "worker 2's task is stopped": "Who runs is left alone. The latecomer is turned away.",
        }, answer=lambda: _cut_off(), reveal=_case("worker cut off")),
    "lost_running": Question(
        "A worker dies while `extract` runs. How often does `extract` run in all?", {
            "once": "Nobody knows how far it got, and its heartbeats have ended.",
            "{tries} times": "After the heartbeat timeout the retry rules apply. What the first try did outside is done "
                             "again: no hint and no lock changes that.",
            "never to its end": "It would be so if no try were left, or if nobody looked at heartbeats.",
        }, answer=lambda: f"{play(CASES['lost while running'].faults).final['extract'][1]} times",
        reveal=_case("lost while running")),
    "no_fallback": Question(
        "The fallback scans are switched off, and one hint gets lost. What becomes of the run?", {
            "it starts later": "Who should find it? Nobody looks without being told any more.",
            "it never starts": "The row is there, committed and correct, and no one ever looks. That is why hints alone "
                               "are not enough.",
            "it runs twice": "That takes a missing guard, not a missing scan.",
        }, answer=lambda: "it never starts" if play(lose=("run",), fallback=False).missing else "it starts later"),
}


def _twice() -> str:
    story = play(CASES["hint comes twice"].faults)
    return "extract runs twice" if story.doubled else "one owns the run, the other changes no row" \
        if story.count("refused") == 1 else "they wait for each other"


def _cut_off() -> str:
    story = play(CASES["worker cut off"].faults)
    return "extract runs twice at once" if story.doubled else "its start is refused" if story.count("refused") else \
        "worker 2's task is stopped"


LADDER = (
    ("L1", "Name the waits between “upstream ended” and “running” on the standard path. Which of them come after queued?",
     "A pass notices; its turn for the shared limits; the update; the broker hop; a worker's slot and process start. The "
     "last two come after the row says queued, so no query on the database tells them apart."),
    ("L2", "Why does a hint carry no work?",
     "A message with the task in it is a second record. After a crash the two may differ, and somebody must find out which "
     "is right. A hint can be wrong, late, doubled or lost, and nothing follows."),
    ("L3", "What does each guard expect, in words?",
     "Ownership: nobody owns the run, or its owner is stale. Queueing: the row is still as I read it, and the run is still "
     "mine. Starting: queued, and assigned to me. Ending: running, and mine."),
    ("L4", "The broker is down for an hour. What do users see?",
     "The same runs, slower: {broker} s instead of {fine} s in the sandbox. Polling is what hints degrade to. Watch the "
     "start latency, not only whether runs succeed."),
    ("L5", "Why is the standard path worse than in proportion, and the hinted one flat until it bends?",
     "Passes grow with the tasks that run, and the rounds grow with the runs: a square. Hints only share the database with "
     "heartbeats: times go as 1 / (1 - load), which is flat for long. Near full load it bends sharply."),
    ("L6", "A vendor publishes 228 ms at 100,000 tasks. What do you ask?",
     "Which tasks: resident sleepers or short ones? Slots and processes started before? Which limits were raised? p95 of "
     "what, from when to when? Was one test behind all figures? And what happens at my size."),
    ("L7", "Fitted or predicted: why does the plot tell them apart?",
     "A model with one free number meets one figure always. Only what it was not solved with can contradict it. Here: "
     "{error} % off at 300,000, and it says the hinted path ends at {ceiling}, although 500,000 were reached. So one of "
     "its assumptions is wrong."),
)

LESSON = Lesson(
    9, "Polling against hints", facts, GIST, MAP, TEST, ASKS, LADDER,
    misconceptions=(
        ("Tasks start slowly because the broker is slow.",
         "Look where the time goes: {notice} s on average pass before anybody has noticed that the task may run."),
        ("Poll faster, then it is fast.",
         "Almost without pauses it takes {faster} instead of {ten}: the passes themselves are long, and each is work "
         "for the database."),
        ("With hints you can do without scans.", "Then a single lost hint stops a run for ever."),
        ("Guards make it exactly-once.", "They give one winner per try. A worker that dies in the middle has done half of "
         "something; the retry does it again."),
        ("A hundred times quicker: so my runs are a hundred times quicker.",
         "Starts are. A task of ten minutes takes ten minutes."),
    ),
    traps=(
        ("“We send the task through the queue, so we need no database lookup.”",
         "Ask what happens when the queue delivers it twice, or after the task was cleared."),
        ("“Our scheduler is slow, let us double the schedulers.”",
         "Which part of the way gets shorter? Rounds do. The lock and the database do not."),
        ("“It was tested with 300,000 tasks.”", "Of which kind? Sleepers hold slots and send heartbeats; they do not start "
         "and end all the time."),
    ),
    checklist=(
        "name the five waits of the standard path, and say which two no query can tell apart",
        "walk one run through the three hops and say after which commit each hint is dropped",
        "say for each of nine faults what saves the run, and how long that takes",
        "show what breaks without the scans, and what breaks without the guards",
        "tell fitted from predicted, and name an assumption that changes a conclusion",
    ),
    try_this="Take a system of yours that sends messages about work. Drop one on purpose. Who finds the work, and when? "
    "Then send one twice. Who refuses the second?",
)
