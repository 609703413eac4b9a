"""Lesson 6: executors. Its words; what is played stands in ``executor_demos``."""

from __future__ import annotations

from functools import cache
from typing import Any

from ... import breakeven, choice
from ...executors import KubernetesExecutor
from ..ask import Question
from ..book import Lesson
from ..chart import Chart
from ..maps import Edge, Node
from . import executor_demos as demo

_COLUMNS = ("executor", "tasks run in", "strong", "weak", "when", "shown under")
KINDS = [dict(zip(_COLUMNS, row, strict=True)) for row in (
    ("Local", "child processes beside the scheduler", "simple, quick, no broker", "one machine for everything",
     "small, development, CI", "One Dag, three executors"),
    ("Celery", "standing workers, fed by a broker (Redis, RabbitMQ)",
     "starts quickly, takes floods of small tasks, the fleet can grow and shrink",
     "a broker to run, noisy neighbours, one set of packages", "short tasks, all alike", "A thousand short ones; "
                                                                                         "Reserved"),
    ("Kubernetes", "a pod per task", "isolation, image and resources per task, down to nothing when idle",
     "a pod start and an image pull per task; a cluster to run", "tasks that differ, strict isolation",
     "A thousand short ones; The idle night"),
    ("Edge", "workers at remote sites that ask for work over HTTPS", "near the data, behind firewalls",
     "newer, more parts, waits for the next question", "hybrid, several sites", "Sites"),
    ("Batch, ECS", "a cloud service", "somebody else's capacity", "one cloud, slow starts, a minute paid at least",
     "you are there already", "A thousand short ones; The idle night"),
    ("several at once", "whatever executor= names, per task or Dag", "short ones to Celery, heavy ones to pods",
     "more to configure and to run", "loads that differ", "Several at once"),
    ("CeleryKubernetes (2.x)", "one of two, by queue", "what several at once does now",
     "both to run, no third; gone in Airflow 3", "history", "Several at once"),
    ("a pull executor (Astro)", "workers that hold a request open at the API server", "no broker on the way",
     "one vendor", "there", "Sites: asking without pause; lesson 9"),
)]
"""Every kind of executor, and where in the lesson it is shown at work."""


@cache
def facts() -> dict[str, Any]:
    chain, short, night = (demo.compared(name).rows for name in ("chain", "short", "night"))
    cures = {how: demo.cured(how)["takes, s"] for how in demo.CURES}
    mixes = {how: demo.mixing(how)["quick: the slowest, s"] for how in demo.MIXES}
    warm, assumed, cold = (breakeven.even(breakeven.PLAUSIBLE[name])
                           for name in ("warm cluster", "as assumed", "new node each"))
    homes = {where: demo.home(where) for where in demo.HOMES}
    seen = demo.connections()[1]
    one, four = demo.giants()[1]["one Dag, s"], demo.giants()[1]["four Dags, s"]
    return {
        "slots": demo.SLOTS, "chain_local": chain["Local"]["makespan"], "chain_pods": chain["Kubernetes"]["makespan"],
        "chain_work": chain["Local"]["worker_seconds_used"], "nodes": KubernetesExecutor().nodes,
        **{f"short_{name.lower()}": row["makespan"] for name, row in short.items()},
        "short_paid": round(short["Kubernetes"]["worker_seconds_paid"] / short["Kubernetes"]["worker_seconds_used"], 1),
        "cure_loop": cures["16 pods per loop"], "cure_group": cures["50 pieces to a task"],
        "cure_celery": cures["Celery for the short ones"],
        "even_warm": warm, "even": assumed, "even_cold": cold,
        **{f"night_{k}": round(row["worker_seconds_paid"]) for k, row in enumerate(night.values())},
        "night_used": round(night["Kubernetes"]["worker_seconds_used"]),
        "mix_celery": mixes["all on Celery"], "mix_both": mixes["quick on Celery, heavy in pods"],
        "failed": homes["one worker, torch 1"]["failed"], "flaky": homes["another worker beside it, torch 2"]["failed"],
        "lucky": homes["the same, 3 retries"]["tries"], "seen": seen["connections, no pool"],
        "pooled": seen["connections, pool of 20"], "giant": one, "split": four,
        "last_one": demo.last_short(1), "last_two": demo.last_short(2), "blind": len(choice.blind_spots()),
        "remote": len(choice.remote_answers()),
        "poll_5": demo.polling(5)["mean wait, s"],
    }


GIST = (
    "The scheduler decides **what** may run. Something must then bring it to a machine and start it. How that is done "
    "settles how soon a task starts, what it shares with others, and what you pay for.",
    "An **executor** is a strategy inside the scheduler, chosen by a setting. It takes queued tasks and hands them to "
    "where "
    "they run. It is no process of its own.",
    "Local: processes beside the scheduler. Celery: standing workers behind a broker. Kubernetes: a pod for each task. "
    "Edge: workers at other sites that ask for work. Batch: a cloud service. One setting may name several, and a task "
    "picks with executor=.",
    "Taxi rank or rented car. A standing worker is a taxi: it waits, engine running, and you share the seat. A pod is a "
    "car that is delivered for each trip: exactly the one you asked for, after a while.",
    "Standing workers start at once and cost money while idle. Started ones cost a start for each task and nothing in "
    "between. And: what is shared is quick, what is apart is safe.",
    "“Celery or Kubernetes?” Do not name a winner. Ask how long the tasks are, how alike, how far apart they must be "
    "kept, "
    "and who runs the broker or the cluster.",
)

MAP = Chart(
    "from decided to ran",
    (
        Node("scheduler", "decides", "It only says what may run now. Everything to the right of it is about bringing it "
             "there."),
        Node("executor", "a setting inside it", "The border between “decided” and “ran”. On its left a task is "
             "scheduled, on its right queued or running."),
        Node("processes", "Local", "No network, no broker. One machine carries scheduler and tasks."),
        Node("broker", "Redis, RabbitMQ", "Keeps messages until a worker takes them. {slots} standing slots do a "
             "thousand five-second tasks in {short_celery} s."),
        Node("worker", "Celery, standing", "Starts a process in about a second. All its tasks share machine and "
                                           "packages."),
        Node("cluster", "Kubernetes", "Finds a node for each pod. By default one pod is created per loop of the "
                                      "scheduler."),
        Node("pod", "one per task", "Its own image, memory and packages. The same thousand tasks take "
                                    "{short_kubernetes} s."),
        Node("API server", "HTTPS", "Edge workers ask it for work, so nobody has to reach them."),
        Node("site", "Edge, it asks", "Near the data, behind a firewall. A task waits for the next question."),
        Node("service", "Batch, ECS", "The cloud provides capacity, and takes its time to do so."),
        Node("container", "one per task", "Paid for a minute at least, on Fargate."),
    ),
    (
        Edge("scheduler", "executor", "queued tasks, by priority", "Its slots are taken from here on.",
             "With no free slot nothing more is queued: tasks wait in scheduled."),
        Edge("executor", "processes", "a forked process", "Runs at once.", "The machine is full: everything waits for "
                                                                           "it."),
        Edge("executor", "broker", "a message with ids, no data", "Lies in a queue that bears a name.",
             "Broker away: queued piles up, workers are idle."),
        Edge("broker", "worker", "a message, taken by a worker of that queue", "A process starts.",
             "A queue nobody listens to: the task waits until it is given up."),
        Edge("executor", "cluster", "a request to create a pod", "So many per loop of the scheduler.",
             "Batch size 1 and short tasks: most slots hold pods that are not there yet."),
        Edge("cluster", "pod", "placed, image pulled, started", "Pending until then; the task stays queued.",
             "No room or a bad image: pending for ever, until task_queued_timeout."),
        Edge("executor", "API server", "a row per job", "Waits for somebody to ask.", "API server away: sites get "
                                                                                      "nothing."),
        Edge("site", "API server", "asks for work every 5 s", "Takes what it has room for.",
             "Long pauses: every task waits half of one. Here {poll_5} s in the mean."),
        Edge("executor", "service", "a job is submitted", "Provisioned, then started.", "Short tasks wait longer than "
                                                                                        "they run."),
        Edge("service", "container", "a machine, an image, a start", "Half within 30 s, as assumed.",
             "No capacity in the region: queued."),
    ),
    places={"scheduler": (0, 2), "executor": (1, 2), "processes": (2, 0), "broker": (2, 1), "worker": (3, 1),
            "cluster": (2, 2), "pod": (3, 2), "API server": (2, 3), "site": (3, 3), "service": (2, 4), "container": (3, 4)},
    sides={("executor", name): ("right", "left", 30) for name in ("processes", "broker", "API server", "service")},
    shades={},
)


TEST = (
    Question("Thousands of tasks of five seconds, all alike, on more than one machine. Which executor?", {
        "Kubernetes": "Every one of them would wait for a pod that lives longer in starting than in working.",
        "Celery": "Its workers stand ready: a process starts in about a second.",
        "Edge": "That is for work that must run elsewhere.",
    }, answer=lambda: choice.recommend(
        {"one_machine": False, "isolation": False, "short": True, "mixed": False}).executor),
    Question("A task needs version 2 of a package, the Celery worker that takes it has version 1. What happens?", {
        "it waits for a worker that has version 2": "Nobody compares packages. Queues know names only.",
        "it fails when it imports the package": "The worker takes it like any other. Give each version its own queue and "
                                                "workers, or an image per task.",
        "Airflow refuses the Dag": "Airflow does not know what is installed on a worker.",
    }, answer=lambda: _conflict()),
)


def _conflict() -> str:
    return "it fails when it imports the package" if demo.home("one worker, torch 1")["failed"] else \
        "it waits for a worker that has version 2"


ASKS = {
    "chain_pods": Question(
        "Three tasks of 5 s after each other take {chain_local} s on Local and on Celery. How long in pods, on {nodes} "
        "nodes that have never seen the image?", {
            "{chain_local} s": "That would be true if pods started as quickly as processes.",
            "about 30 s": "Three pod starts of five seconds would make that. Something else happens on a new node.",
            "{chain_pods} s": "Each task waits for its own pod, and the first pod on each node for the image as well.",
        }, answer=lambda: f"{demo.compared('chain').rows['Kubernetes']['makespan']} s"),
    "short_pods": Question(
        "A thousand tasks of 5 s, {slots} slots. Celery is done after {short_celery} s. Pods, with Airflow's default "
        "settings?", {
            "about twice as long": "That is what pod starts alone would cost. Look at how many pods are **created**.",
            "more than five times as long": "One pod is created per loop of the scheduler, so about one task starts each "
                                            "second, however many slots there are: {short_kubernetes} s.",
            "not longer: there are as many slots": "A slot is taken as soon as the pod is asked for, long before it "
                                                   "works.",
        }, answer=lambda: _slower()),
    "even": Question(
        "With a pod start of 5 s (half of them) to 15 s (95 of 100): from which task length on do pods cost less than a "
        "tenth of the time?", {
            "10 s": "The start is then as long as the work.",
            "{even} s": "And from {even_warm} s on a warm cluster, from {even_cold} s if each pod gets a new node. The "
                        "answer depends on **your** pod starts: measure them.",
            "1 h": "At one hour a start of some seconds is nothing.",
        }, answer=lambda: f"{breakeven.even(breakeven.PLAUSIBLE['as assumed'])} s"),
    "night": Question(
        "Eight tasks of two minutes at every full hour, nothing in between. Who pays for the fewest worker-seconds?", {
            "Celery, 16 slots": "It stands all night: {night_0} paid, {night_used} used.",
            "Celery, autoscale (16, 2)": "Better, {night_1}; but two processes always stand.",
            "Kubernetes": "Nothing runs in between: {night_2} paid for {night_used} used. Here pods win.",
            "Batch": "{night_3}: its containers take longer to come than pods.",
        }, answer=lambda: min(demo.compared("night").rows.items(), key=lambda row: row[1]["worker_seconds_paid"])[0]),
    "mixed": Question(
        "Forty heavy tasks take all {slots} Celery slots. Every minute a five-second task comes that people wait for. "
        "How long does the slowest of them wait?", {
            "5 s": "A worker does not stop a task for a shorter one.",
            "{mix_celery} s": "It waits for a heavy one to end. Queues of their own, or executor= for the heavy ones: "
                              "{mix_both} s.",
            "60 s": "The next one comes then, and waits as well.",
        }, answer=lambda: f"{demo.mixing('all on Celery')['quick: the slowest, s']} s"),
    "packages": Question(
        "One worker has torch 1. A second worker with torch 2 is added to the **same** queue. Four tasks need the one "
        "version, four the other. What now?", {
            "each task finds its worker": "A worker takes what comes next. It does not know what a task will import.",
            "some fail, on some days": "{flaky} of 8 fail: it depends on who is free. With three retries all get "
                                       "through, in {lucky} tries: luck, and the errors stay.",
            "all fail": "Those that happen to meet the right worker run.",
        }, answer=lambda: {True: "some fail, on some days"}.get(
            0 < demo.home("another worker beside it, torch 2")["failed"] < 8, "all fail")),
    "database": Question(
        "Sixty queries, a database that bears 20 connections, Celery with four workers of 16 slots. How many does it "
        "see?", {
            "20": "Who would have told Airflow?",
            "16": "max_active_tasks was raised, and each worker has as many of its own.",
            "{seen}": "As many as there are slots, or tasks. A bigger fleet makes it worse. A pool of 20 makes it "
                      "{pooled}, on every executor.",
        }, answer=lambda: demo.connections()[1]["connections, no pool"]),
    "giant": Question(
        "128 tasks of a minute in one Dag take {giant} s on Local with 64 slots. Which executor is quicker?", {
            "Celery, with 64 slots": "It takes {giant} s too. Look for the limit that says no.",
            "Kubernetes": "It takes even longer: the pods have to start.",
            "none of them": "max_active_tasks holds one run to 16. Cut by domain, four Dags take {split} s.",
        }, answer=lambda: _quickest_giant()),
    "reserved": Question(
        "Two workers, one slot each, one task of a minute and five of 5 s. With prefetch 1 the short ones are done at "
        "tick {last_one}. With prefetch 2?", {
            "{last_one}": "It would be, if workers took only what they can start.",
            "{last_two}": "The busy worker has reserved a short one, and keeps it although the other is idle.",
            "sooner": "Reserving saves milliseconds between tasks, and costs a minute here.",
        }, answer=lambda: demo.last_short(2)),
    "blind": Question(
        "Work at a remote site that also needs strict isolation. Where does the chart lead?", {
            "Edge": "It asks for the location last, and stops asking as soon as one answer is yes.",
            "Kubernetes": "Isolation comes first in the chart, so the question for the site is never put. Of {remote} "
                          "sets of "
                          "answers with remote work, {blind} never reach Edge.",
            "several at once": "Only if you say so yourself, at the end.",
        }, answer=lambda: choice.recommend(
            {"one_machine": False, "isolation": True, "remote": True, "mixed": False}).executor),
}


def _slower() -> str:
    rows = demo.compared("short").rows
    ratio = rows["Kubernetes"]["makespan"] / rows["Celery"]["makespan"]
    return "more than five times as long" if ratio > 5 else "about twice as long"


def _quickest_giant() -> str:
    rows = {row["executor"]: row["one Dag, s"] for row in demo.giants()}
    return "none of them" if min(rows.values()) == rows["Local, 64"] else "Celery, with 64 slots"


LADDER = (
    ("L1", "What is an executor, and what is it not?",
     "A strategy inside the scheduler that hands queued tasks to where they run. Not a process, not a worker, not a "
     "queue."),
    ("L2", "A task has been queued for ten minutes. Whom do you ask?",
     "The executor's side: broker and workers, pods and nodes, the site. Pools and limits have let it through already."),
    ("L3", "Celery or Kubernetes?",
     "How long are the tasks, how alike, how isolated? As assumed here pods cost more than a tenth of the time below "
     "{even} s "
     "a task; with idle hours in between they cost far less money."),
    ("L4", "A thousand five-second tasks crawl through Kubernetes. Three cures.",
     "Create more pods per loop: {cure_loop} s. Put fifty pieces into one task: {cure_group} s. Send the short ones to "
     "Celery: {cure_celery} s. (It was {short_kubernetes} s.)"),
    ("L5", "Half of the runs of one task fail with an import error. Why half?",
     "Two kinds of workers listen to one queue. Give each kind its own queue, or the task its own image; "
     "@task.virtualenv "
     "and container operators do it from within."),
    ("L6", "What replaced the CeleryKubernetesExecutor?",
     "Several executors at once: a list in the setting, executor= at the task or Dag. What went by queue name now goes "
     "by "
     "executor name; queues are for workers again."),
    ("L7", "Your fleet is idle most of the night. What do you change first?",
     "Measure what is paid and what is used ({night_0} against {night_used} here). Then autoscale, with a floor for "
     "what must "
     "start at once, or pods for what can wait for a start."),
)

LESSON = Lesson(
    6, "Executors", facts, GIST, MAP, TEST, ASKS, LADDER,
    misconceptions=(
        ("The executor is a process I can restart.", "It lives in the scheduler. What you restart are workers."),
        ("Kubernetes is faster: it scales.", "It scales **out**. Each task still waits for its pod: {short_kubernetes} "
         "s against {short_celery} s for short ones."),
        ("More workers protect the others.", "They only add slots. {seen} connections instead of 20, in the example."),
        ("A Dag on a bigger executor runs faster.", "Not when max_active_tasks says no: {giant} s on Local and on "
                                                    "Celery."),
        ("A task on a queue nobody serves is an error.", "It is queued, taken back after task_queued_timeout, queued "
         "again, and at last failed. Nobody is told why."),
    ),
    traps=(
        ("“We use Kubernetes, so dependencies cannot conflict.”",
         "Only if tasks have different images. One image for all is one set of packages again."),
        ("“Set prefetch higher, Celery gets faster.”",
         "For very many very short tasks, a little. Then one long task holds short ones back."),
        ("“The numbers say pods take 5 s.”",
         "Whose numbers? Ask what was measured: with or without the image pull, on a warm cluster or a new node."),
    ),
    checklist=(
        "say what an executor is, and on which side of it a task is stuck",
        "estimate from task length and pod start whether pods lose",
        "name three cures for short tasks in pods, and what each costs",
        "tell from an import error that comes and goes what is wrong",
        "walk the decision chart, and say where it leads astray",
    ),
    try_this="Take the task your team runs most often. How long does it run, how long is it queued before? Write the two "
    "numbers beside each other. Which executor would make the second one smaller, and what would it cost while nothing "
    "runs?",
)
