"""Lesson 11: your own Dag."""

from __future__ import annotations

from typing import Any

from ... import planning
from ...dag import Dag
from ...engine import simulate
from ...examples import orders
from ...executors import LocalExecutor
from ...scenario import Config
from ...task import Task
from ..ask import Question
from ..book import Lesson
from ..chart import Chart
from ..maps import Edge, Node
from ..page import Table


def chain_and_crowd() -> Dag:
    """One long chain beside many short tasks: the crowd needs slots, the chain decides."""
    chain = [Task("c1", duration=4), Task("c2", "c1", duration=4), Task("c3", "c2", duration=4)]
    return Dag("chain_and_crowd", [*chain, *(Task(f"s{k}", duration=2) for k in range(6))])


def facts() -> dict[str, Any]:
    dag = chain_and_crowd()
    knee = planning.saturation_slots(dag)
    return {
        "floor": planning.critical_path(dag).length,
        "knee": knee,
        "work": sum(task.duration for task in dag),
        "m1": planning.makespan(dag, 1),
        "widest": len(planning.waves(dag)[0]),
        "both": planning.makespan(planning.what_if(dag, c2=2), knee + 1),
    }


GIST = (
    "A rule learned on a toy is worth little until it says something about your own Dag.",
    "Load a file you already have (a workflow, a dbt project), and ask the same four questions: waves, "
    "path, slack, slots.",
    "The reader turns the file into tasks, arrows and durations, and says what it had to leave out. "
    "Planning then finds the longest chain and tries every number of slots. Where the curve meets the "
    "chain, slots stop to matter. The same Dag can be written as a file for a real Airflow, run there, and held "
    "against its simulation.",
    "An X-ray: it shows the bones of a run (order and durations), not its blood (pools, retries, other "
    "Dags).",
    "The model leaves out the time to start a task, limits shared with others and luck. What it gives is a "
    "floor: a real run that is far above it is waiting for something, and that is worth finding.",
    "“Where does the time go?” Give the floor, then what was measured, then the difference and who owns it.",
)

MAP = Chart(
    "from a file to a decision",
    (
        Node(
            "your file",
            "JSON, YAML, ...",
            "Order and durations are already written down somewhere. Nobody should type them again.",
        ),
        Node(
            "dk.load",
            "recognises it",
            "Looks at the content, not at the name, and runs no code from the file.",
        ),
        Node("report", "what was left out", "A reader that hides what it dropped cannot be trusted."),
        Node("Dag", "tasks, arrows, time", "The same object as in every lesson: all tools work on it."),
        Node("planning", "path, slack, slots", "The ideal: what the shape allows, with nothing in the way."),
        Node("recorded run", "what happened", "The truth. It is never below the floor."),
        Node("Dag file", "for Airflow 3", "Written by the kit: same tasks, rules, pools and retries. Each task sleeps its "
             "duration."),
        Node("a real Airflow", "runs it", "A simulation is a claim. Here it can be checked."),
        Node("decision", "slots or path", "Buy slots, shorten the path, or find out who makes the run wait."),
    ),
    (
        Edge(
            "your file",
            "dk.load",
            "a path or its text",
            "The format is recognised.",
            "One sentence: what was expected, what was found, what to do.",
        ),
        Edge(
            "dk.load",
            "report",
            "sentences",
            "You know what the numbers stand on.",
            "A missing duration would silently count as nothing.",
        ),
        Edge(
            "dk.load",
            "Dag",
            "tasks and durations",
            "It can be drawn, planned and simulated.",
            "A ring in the file is refused, and named.",
        ),
        Edge(
            "dk.load",
            "recorded run",
            "start and end of each task",
            "The ideal can be compared with what happened.",
            "Without it there is a floor, but nothing to hold against it.",
        ),
        Edge(
            "Dag",
            "planning",
            "shape and durations",
            "Waves, critical path, slack, makespan against slots.",
            "Durations of one bad night mislead: take typical ones.",
        ),
        Edge(
            "Dag",
            "Dag file",
            "dk.export_airflow",
            "One file, and the pools as JSON beside it.",
            "An id that Airflow would refuse is rewritten, and the report says so.",
        ),
        Edge(
            "Dag file",
            "a real Airflow",
            "a folder of Dag files",
            "It runs like any other Dag: on this machine, or on Celery or Kubernetes.",
            "Without its pools, tasks wait in scheduled for ever.",
        ),
        Edge(
            "a real Airflow",
            "recorded run",
            "the listing of task instances",
            "States, tries, and when each was scheduled, queued, started.",
            "Only the last try is in the listing.",
        ),
        Edge(
            "planning",
            "decision",
            "floor and saturation",
            "Says which of the two limits you.",
            "Money spent on slots that stand idle.",
        ),
        Edge(
            "recorded run",
            "decision",
            "distance from the floor",
            "Says how much there is to win at all.",
            "A plan nobody checked against a real run.",
        ),
    ),
    places={"your file": (0, 0), "dk.load": (1, 0), "Dag": (2, 0), "planning": (3, 0), "report": (0, 1), "Dag file": (2, 1),
            "recorded run": (1, 2), "a real Airflow": (2, 2), "decision": (3, 3)},
    sides={("dk.load", "report"): ("bottom", "right", 0), ("recorded run", "decision"): ("bottom", "left", 0)},
    shades={},
)

TEST = (
    Question(
        "A Dag has 100 tasks in its widest wave. How many slots does it take to reach the floor?",
        {
            "100": "Only if all of them must be under way at once. Tasks with slack can wait for a slot.",
            "it cannot be told from that": "It takes durations too: tasks with slack can wait without "
            "making the run longer. In a small example {knee} slots do for a "
            "wave of {widest}.",
            "1": "Then one task at a time would be as fast as all at once.",
        },
        answer=lambda: _told_by_width(),
    ),
    Question(
        "A real run took twice as long as its critical path. What follows?",
        {
            "the durations are wrong": "They may be right. A run can also wait: for slots, pools, other "
            "runs.",
            "something made tasks wait": "The path is a floor. Whatever lies above it is waiting, and "
            "`explain` or the recorded times say where.",
            "more slots will halve it": "Only if slots are what it waited for. First look where the time "
            "went.",
        },
        answer=lambda: _above_the_floor(),
    ),
)


def _told_by_width() -> str:
    dag = chain_and_crowd()
    width, knee = max(map(len, planning.waves(dag))), planning.saturation_slots(dag)
    return "100" if width == knee else "1" if knee == 1 else "it cannot be told from that"


def _above_the_floor() -> str:
    """With exact durations and too few slots a schedule is above the floor, and every gap is waiting."""
    dag = chain_and_crowd()
    return (
        "something made tasks wait"
        if planning.makespan(dag, 1) > planning.critical_path(dag).length
        else "the durations are wrong"
    )


ASKS = {
    "crowd": Question(
        "A chain of three tasks of 4 minutes, and beside it six tasks of 2 minutes. How many slots reach "
        "the floor?",
        {
            "7": "One for each that could run at once. But the short ones are in no hurry.",
            "{knee}": "One slot for the chain, and the rest do the short ones one after the other. They "
            "have slack, so they may wait.",
            "1": "On one slot it takes {m1}, all the work. The chain alone takes {floor}.",
        },
        answer=lambda: planning.saturation_slots(chain_and_crowd()),
        reveal=lambda: _plan(),
    ),
    "move": Question(
        "The same Dag on two slots takes {floor} minutes, the floor. Its chain is c1, c2, c3. One move only: which one "
        "finishes sooner?",
        {
            "a third slot": "The path limits, and a slot does not shorten a path.",
            "c2 twice as fast": "The floor falls, and now the two slots limit: all the work still has to fit on them.",
            "cut c2 in two": "The same: a shorter path, but no less work, and only two slots.",
            "none of them": "Path and slots limit at the same point. c2 twice as fast *and* a third slot: {both}.",
        },
        answer=lambda: _best_move(),
        reveal=lambda: Table(_moves().drop(columns="critical_path")),
    ),
    "real": Question(
        "`orders` is about to run on a real Airflow. What must come out exactly as simulated?",
        {
            "every start time": "A real process needs time to start, and the scheduler looks about once a second. Even "
            "between two settings of the simulator start times differ.",
            "final states, tries and the run's state": "They follow from the rules, and the rules are Airflow's. Nothing "
            "here hangs on which of two tasks is quicker.",
            "nothing, a model is only a model": "A model of the rules can be right about what follows from the rules.",
        },
        answer=lambda: _what_holds(),
    ),
}


def _best_move() -> str:
    table = _moves()
    found = table[table["sooner"] > 0]["move"].tolist()
    names = {"3 slots": "a third slot", "c2 2 x as fast": "c2 twice as fast", "c2 in 2 parts": "cut c2 in two"}
    return names[found[0]] if found else "none of them"


def _moves() -> Any:
    return planning.moves(chain_and_crowd(), 2, slots_to=[3], faster={"c2": 2}, parts={"c2": 2})


def _what_holds() -> str:
    """Three settings that real deployments lie between: what is the same in all of them?"""
    settings: list[dict[str, Any]] = [{}, {"executor": LocalExecutor(handover=0)}, {"config": Config(pacing="airflow")}]
    traces = [simulate(orders().replace(**setting)) for setting in settings]
    ends = [(trace.final_states, trace.tries, trace.run_state) for trace in traces]
    if any(end != ends[0] for end in ends):
        return "nothing, a model is only a model"
    same_times = all(trace.changes == traces[0].changes for trace in traces)
    return "every start time" if same_times else "final states, tries and the run's state"


def _plan() -> Any:
    from ...views import plan

    return plan(chain_and_crowd(), planning.saturation_slots(chain_and_crowd()))


LADDER = (
    (
        "L1",
        "What does slack tell you about a task?",
        "How much later it may end without making the whole run longer. No slack: it is on a longest path.",
    ),
    (
        "L2",
        "Where do more slots stop helping?",
        "At the saturation point: the fewest slots whose makespan is the critical path. It depends on "
        "durations, not only on the width of the widest wave.",
    ),
    (
        "L3",
        "The run is at the floor and still too slow. What now?",
        "Shorten the path: a faster task on it, a task split into parts that run side by side, an arrow "
        "that was never needed. If paths tie, all of them.",
    ),
    (
        "L4",
        "The run is far above the floor. What now?",
        "Find the waiting: a pool, a cap, other runs, start-up time of workers. The recorded times of "
        "queued and scheduled tell which.",
    ),
    (
        "L5",
        "How would you check a simulation against a real Airflow?",
        "Run the same Dag there, tasks that sleep and fail as scripted, and compare what the rules decide: final states, "
        "tries, the run's state. Start times are compared by eye: processes need time to start.",
    ),
    (
        "L6",
        "One machine is not enough. What changes in the Dag?",
        "Nothing but names: the executor is a setting, queue= and executor= choose among workers. Every worker needs the "
        "same Dag file and libraries, and the pools must exist in that deployment.",
    ),
    (
        "L7",
        "What does this model leave out?",
        "The time to start tasks, limits shared with other Dags, retries, durations that change. Simulate "
        "for the first three, measure for the last.",
    ),
)

LESSON = Lesson(
    11,
    "Your own Dag",
    facts,
    GIST,
    MAP,
    TEST,
    ASKS,
    LADDER,
    misconceptions=(
        (
            "The widest wave says how many slots we need.",
            "In the example the widest wave has {widest} tasks and {knee} slots are enough.",
        ),
        ("The slowest task is the one to speed up.", "Only if it has no slack."),
        (
            "Average durations are good enough.",
            "For a floor, yes. For a promise, no: the slow night is the one people remember.",
        ),
    ),
    traps=(
        (
            "“Can you guarantee it finishes by six?”",
            "A floor is no guarantee. Give floor, typical and slow night, and say what would have to wait.",
        ),
        (
            "“Just raise parallelism.”",
            "Past the saturation point it does nothing for this Dag, and may hurt its neighbours.",
        ),
    ),
    checklist=(
        "load a file of yours and read the report",
        "name its critical path and two tasks with slack",
        "name its saturation point",
        "tell from a recorded run who owns the time above the floor",
        "say what you would change first, and what that buys",
    ),
    try_this="Pick a Dag you know. On paper: draw the waves, guess durations, mark the path, guess the "
    "number of slots where it stops getting faster. Then load it here and compare.",
)
