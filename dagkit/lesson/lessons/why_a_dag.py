"""Lesson 1: why a Dag."""

from __future__ import annotations

from typing import Any

from ... import examples, planning
from ...views import plan
from ..ask import Question
from ..book import Lesson
from ..maps import Edge, Map, Node


def day() -> Any:
    return examples.file_fanout()


def six() -> Any:
    return planning.expand(day(), "process", 6)


def facts() -> dict[str, Any]:
    wide, odd = six(), examples.graham_anomaly()
    span = {f"m{slots}": planning.makespan(wide, slots) for slots in range(1, 9)}
    floor = planning.critical_path(day()).length
    alone = planning.critical_path(planning.what_if(day(), process=1)).length
    return {
        **span,
        "floor": floor,
        "work": sum(task.duration for task in day()),
        "files": 6,
        "saved_alone": day()["process"].duration - 1,
        "alone": alone,
        "hoped": floor - (day()["process"].duration - 1),
        "both": planning.critical_path(planning.what_if(day(), process=1, load_dim=2)).length,
        "ties": len(planning.tied_critical_paths(day())),
        "knee": planning.saturation_slots(wide),
        "half_m4": span["m4"] * 4 / 6,
        "odd3": planning.makespan(odd, 3),
        "odd4": planning.makespan(odd, 4),
    }


GIST = (
    "Work has an order: B needs what A made. Written as a graph, the order can be checked, planned and "
    "drawn before anything runs.",
    "A directed graph without a ring. A node is a task, an arrow says “needs what it made”.",
    "An arrow is a promise of order. No ring, because tasks on a ring each wait for another and none can "
    "start. So there is an order, and more than that: **waves** of tasks that may run side by side. The "
    "longest chain, the **critical path**, is a floor under the running time, however many workers you buy.",
    "A recipe. Some steps wait for others, some can go on at once, and the slowest chain decides when "
    "dinner is ready.",
    "The shape is fixed before the run: that buys planning, backfill and a grid of runs. The price: only "
    "the width of a mapped task is decided while it runs, everything else is not.",
    "“Would more workers help?” Ask first: is it the slots that limit us, or the path?",
)

MAP = Map(
    "from tasks to a finishing time",
    (
        Node("Dag file", "tasks, arrows", "Says what needs what. It says nothing about when."),
        Node(
            "parse",
            "Kahn",
            "Finds an order, or the ring that makes one impossible. Better refused here than stuck at night.",
        ),
        Node(
            "waves",
            "side by side",
            "Groups of tasks with no arrow between them: what could run together if there were slots for "
            "all.",
        ),
        Node(
            "critical path", "the floor", "The longest chain by duration. No number of slots finishes sooner."
        ),
        Node("slots", "how many at once", "The other limit: workers, pool slots, whatever is scarce."),
        Node(
            "greedy schedule",
            "who runs when",
            "At each moment start what is ready while slots are free. Simple, and never worse than twice "
            "the best.",
        ),
        Node(
            "makespan", "when all is done", "The number people ask for. Either slots or the path decide it."
        ),
    ),
    (
        Edge(
            "Dag file",
            "parse",
            "declared tasks and upstreams",
            "A graph, checked.",
            "An import error: the Dag is not there at all. The message names the ring.",
        ),
        Edge(
            "parse",
            "waves",
            "an order",
            "Each task lands one wave after its latest upstream.",
            "Without an order nothing can be started safely.",
        ),
        Edge(
            "parse",
            "critical path",
            "an order, durations",
            "One walk along the order finds the longest chain.",
            "Wrong durations give a wrong floor: measure, do not guess.",
        ),
        Edge(
            "waves",
            "greedy schedule",
            "what may run together",
            "More can be under way at once than one thinks, because waves overlap in time.",
            "Counting one wave at a time misses load_dim, which runs beside process.",
        ),
        Edge(
            "slots",
            "greedy schedule",
            "a number",
            "Ready tasks wait while all slots are taken.",
            "Too few: ready tasks queue. Too many: they stand idle.",
        ),
        Edge(
            "critical path",
            "makespan",
            "a lower bound",
            "At {knee} slots the makespan meets it.",
            "Ignore it, and you buy slots that do nothing.",
        ),
        Edge(
            "greedy schedule",
            "makespan",
            "the last end",
            "{m1} on one slot, {floor} at best.",
            "A greedy choice can be unlucky: once in a while one slot more makes it slower.",
        ),
    ),
)

TEST = (
    Question(
        "Why may a Dag have no ring?",
        {
            "it would run for ever": "It would not run at all: nobody on the ring can be the first.",
            "none of its tasks could ever start": "Each waits for the one before it, and the one before the "
            "first is the last. So it is refused when the file is "
            "parsed.",
            "it could not be drawn": "Drawing a ring is easy. Starting it is not.",
        },
        answer=lambda: _ring_starts(),
    ),
    Question(
        "A nightly run takes exactly as long as its critical path. You buy twice as many workers. What "
        "happens?",
        {
            "it takes half as long": "Only if slots had limited it. Here the longest chain does.",
            "it gets a little faster": "Not by a second: the chain does not get shorter.",
            "nothing": "At the floor only a shorter path helps. More slots stand idle.",
        },
        answer=lambda: _double_at_the_floor(),
    ),
)


def _ring_starts() -> str:
    """How many tasks of a ring wait for nobody? That many could start."""
    ring = {"a": {"b"}, "b": {"a"}}
    first = [task for task, needs in ring.items() if not needs]
    return "it would run for ever" if first else "none of its tasks could ever start"


def _double_at_the_floor() -> str:
    knee = planning.saturation_slots(six())
    now, then = planning.makespan(six(), knee), planning.makespan(six(), 2 * knee)
    return (
        "nothing"
        if now == then
        else "it takes half as long"
        if 2 * then <= now
        else "it gets a little faster"
    )


ASKS = {
    "floor": Question(
        "With as many workers as you like: how many minutes does `file_fanout` take at least?",
        {
            "4": "load_dim alone takes that long, but join and report still have to come after it.",
            "{floor}": "The longest chain of tasks that wait for each other. Nothing you buy makes a chain "
            "shorter.",
            "{work}": "That is all the work, one task after the other. Some tasks do not wait for each "
            "other.",
        },
        answer=lambda: planning.critical_path(day()).length,
        reveal=lambda: day().draw(),
    ),
    "faster_process": Question(
        "You make process faster: 1 minute instead of 3. How long is the critical path now?",
        {
            "{hoped}": "{saved_alone} minutes saved on one path. But there is another path as long as the "
            "first.",
            "6": "As if half of the saving arrived. It is all or nothing: another path is as long, or it is "
            "not.",
            "{alone}": "Nothing gained. The path through load_dim was just as long, and nobody touched it.",
        },
        answer=lambda: planning.critical_path(planning.what_if(day(), process=1)).length,
        reveal=lambda: planning.what_if(day(), process=1).draw(),
    ),
    "two_more_slots": Question(
        "6 files arrived, you have 4 slots, and it takes {m4} minutes. You are offered 2 slots more. What "
        "is the new time?",
        {
            "{half_m4:.1f}": "That would be so if all the work could be cut into equal slices.",
            "{floor}": "That is the floor. Are you there yet?",
            "8": "It feels as if two more slots must buy something. Count who holds a slot while process "
            "runs.",
            "{m6}": "Not a minute gained. There are {files} pieces of process, but load_dim holds a slot "
            "too, so one piece still waits for a second round.",
        },
        answer=lambda: planning.makespan(six(), 6),
        reveal=lambda: plan(six(), 6),
    ),
    "one_more_slot": Question(
        "Another Dag, whose tasks start greedily by name. It takes {odd3} on 3 slots. And on 4?",
        {
            "less": "One expects that. It is not a law for greedy schedules.",
            "the same": "A fair guess if the path were the limit. It is not.",
            "more": "{odd4}. With a slot more, a task that should have waited starts early and keeps a slot "
            "from the long one. This is Graham's anomaly.",
        },
        answer=lambda: _compared(),
        reveal=lambda: plan(examples.graham_anomaly(), 4),
    ),
}


def _compared() -> str:
    odd = examples.graham_anomaly()
    three, four = planning.makespan(odd, 3), planning.makespan(odd, 4)
    return "less" if four < three else "more" if four > three else "the same"


LADDER = (
    (
        "L1",
        "Why acyclic?",
        "A ring waits on itself: no task on it can be the first. It is found when the file is parsed, by "
        "taking tasks whose upstreams are all taken (Kahn) or by a depth-first walk that meets a task it is "
        "still inside of. The error names the ring.",
    ),
    (
        "L2",
        "What does a topological order buy?",
        "An order in which every task comes after what it needs; waves that may run side by side; and, in "
        "one walk along it, the longest chain.",
    ),
    (
        "L3",
        "Why is the critical path a floor?",
        "Its tasks wait for each other, so their durations add up, whoever runs them. Here: {floor} minutes.",
    ),
    (
        "L4",
        "process got faster and the run did not. Why?",
        "{ties} paths tie at {floor}. The other one did not change: still {alone}. Only both together give "
        "{both}.",
    ),
    (
        "L5",
        "Why does this run stop getting faster at {knee} slots?",
        "At the widest moment {knee} tasks are under way: {files} pieces of process and load_dim. With a "
        "slot for each, nothing waits any more and the path decides.",
    ),
    (
        "L6",
        "How bad can greedy be?",
        "On W slots at most (2 - 1/W) times the best schedule (Graham). And it can be odd: a slot more can "
        "make it slower, {odd3} to {odd4} in the example.",
    ),
    (
        "L7",
        "What does max_map_length guard?",
        "The scheduler and its database: a task that returns a list of a million would become a million "
        "rows. Above the limit Airflow fails the task that returned the list, and the mapped task becomes "
        "upstream_failed.",
    ),
)

LESSON = Lesson(
    1,
    "Why a Dag",
    facts,
    GIST,
    MAP,
    TEST,
    ASKS,
    LADDER,
    misconceptions=(
        (
            "More workers always speed up a run.",
            "Until the path is the limit. From {knee} slots on they do nothing here, and from 4 to 6 they "
            "did nothing either: {m4}, {m5}, {m6}.",
        ),
        (
            "The critical path is the path with the most tasks.",
            "It is the longest by duration. list_files, process, join, report has more tasks than load_dim, "
            "join, report, and both take {floor}.",
        ),
        (
            "Waves run one after the other.",
            "Waves show what may run together. In time they overlap: load_dim is in the first wave and "
            "still runs beside process in the second.",
        ),
        (
            "One can read the saturation off 1, 2, 4, 8.",
            "That reads 8. The number in between that was never tried is {knee}.",
        ),
    ),
    traps=(
        (
            "“We doubled the workers and nothing happened. Is the scheduler broken?”",
            "Ask for the critical path first. If the run takes that long already, workers were never the "
            "limit.",
        ),
        (
            "“Which task would you speed up?”",
            "Not the longest one: one that is on every longest path, or one on each.",
        ),
    ),
    checklist=(
        "say why a ring cannot start, and who refuses it",
        "find waves by hand",
        "find the critical path, and its ties",
        "explain why the saturation point is {knee}",
        "decide: more slots or a shorter path?",
    ),
    try_this="Take a recipe or a morning at home. Write down 6 steps, what each needs, and how long it "
    "takes. Find the longest chain. How many hands are too many?",
)
