"""The words of the incident museum: for each case that is played, a prediction and a reply to every choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ... import bridge
from ... import museum as rooms
from ...errors import DagkitError, choices, shown
from ...latency import Flow, Story, play
from ...museum import replay, scenario, unplayable
from ..ask import AskedPlayer, Question
from ..chips import Chips, chips
from ..page import Page, fold, plain, rich

__all__ = ["EXHIBITS", "Exhibit", "ask", "contents", "left_out", "question", "replay", "scenario", "what_if", "why"]

Answer = Callable[[Any], Any]


@dataclass(frozen=True)
class Exhibit:
    """One case on show. ask: the question. replies: by choice. answer: computes the right choice from the trace.

    why: (task, time) pairs whose reasons tell the story; the time is that of the case, tick - 1.
    """

    ask: str
    replies: Mapping[str, str]
    answer: Answer
    why: tuple[tuple[str, int], ...]


def final(task: str) -> Answer:
    """The state in which a task ends."""
    return lambda trace: trace.final_states[task]


def starts(task: str, nth: int = 0) -> Answer:
    """The time at which a task runs for the n-th time, or "never"."""
    def found(trace: Any) -> Any:
        changes = trace.changes[trace.labels.index(task)]
        times = [tick - 1 for tick, state in changes if state == "running"]
        return times[nth] if nth < len(times) else "never"
    return found


def most(state: str) -> Answer:
    """The largest number of tasks that are in a state together."""
    return lambda trace: max(sum(s == state for s in trace.states_at(t).values()) for t in range(trace.last_tick + 1))


def at(task: str, time: int) -> Answer:
    """The state of a task at a time."""
    return lambda trace: trace.states_at(time + 1)[task]


def last_wait(trace: Any) -> int:
    """Ticks of the last stay in up_for_retry."""
    changes = trace.changes[0]
    return [after[0] - tick for (tick, state), after in zip(changes, changes[1:], strict=False)
            if state == "up_for_retry"][-1]


PLAIN = ("running", "finished")
"""Reasons nobody needs to look up."""

EXHIBITS = {
    "A02": Exhibit("In which state does `target` end?", {
        "skipped": "Its upstream `mid` is skipped. But `outer` is an upstream too, and it succeeded.",
        "success": "A branch skips only what is **directly** below it and was not chosen, nor lies below what was chosen. "
                   "`target` lies below `inner`. So its rule sees one success and one skip, and no failure.",
        "none": "All its upstreams are finished, so its rule is decided.",
    }, final("target"), (("target", 1), ("mid", 2), ("target", 2))),
    "A04": Exhibit("One upstream is skipped, one failed. In which state does `j`, rule one_success, end?", {
        "skipped": "That takes **all** upstreams skipped. Try the variant below.",
        "failed": "`failed` means: it ran, and its last try went wrong. `j` never ran.",
        "upstream_failed": "Once all upstreams are finished and none succeeded, the rule cannot hold any more. Not all "
                           "of them are skipped, so it is upstream_failed.",
    }, final("j"), (("j", 1),)),
    "A07": Exhibit("The gate says no. `cleanup` has rule all_done. In which state does it end?", {
        "success": "all_done would let it run after a failure or a skip. But nobody asks the rule here.",
        "skipped": "A short circuit writes skipped on **everything** below it, at once. The rule is never asked.",
        "none": "It was closed in the moment in which the gate finished.",
    }, final("cleanup"), (("cleanup", 1),)),
    "A09": Exhibit("`fast` fails at time 1, `slow` runs until 9. When does `alarm`, rule one_failed, start?", {
        "1": "One failure is enough. The rule does not wait for the rest.",
        "9": "That would be all_done, or all_failed. one_failed is decided by the first failure.",
        "never": "It would be skipped if nothing had failed. Try the first variant.",
    }, starts("alarm"), (("alarm", 0), ("alarm", 1))),
    "A12": Exhibit("One of three items fails at time 2, another runs until 10. What is `summary` at time 2?", {
        "none": "It would still wait if its rule were open. With all_success one failure settles it.",
        "upstream_failed": "Each mapped instance is an upstream of its own. The first failure makes all_success "
                           "impossible, and the state is set at once, while `work[2]` is still running.",
        "success": "all_success wants every instance, not most of them.",
    }, at("summary", 2), (("summary", 2), ("work[2]", 2))),
    "A14": Exhibit("`list` returns five items, the limit is four. Which task turns red?", {
        "work": "It never came to be: without a stored length nothing is expanded.",
        "list": "The length is checked when the **producer** hands over its value. So the producer fails, and what is "
                "mapped over it is upstream_failed.",
        "none of them, the list is cut": "Nothing is cut. Losing items without a word would be worse.",
    }, lambda trace: next((t for t, s in trace.final_states.items() if s == "failed"), "none of them, the list is cut"),
        (("list", 1), ("work", 1))),
    "A16": Exhibit("`big` has the highest priority and needs both slots. When does it start?", {
        "10": "At 10 `s1` gives one slot back. `big` needs two, and `s3` takes the one.",
        "15": "At 15 one slot is free again, never two at once yet.",
        "30": "Nobody saves up slots for it. Whoever fits is let in, whatever its priority. So it waits until all the "
              "small ones are through.",
    }, starts("big"), (("big", 1), ("big", 12), ("big", 20))),
    "A18": Exhibit("The pool has one slot. How many of the three waits can be deferred side by side?", {
        "1": "That would be so if deferred tasks kept their slot: the variant below.",
        "3": "A deferred task holds no slot. It gave it back when it was parked.",
        "0": "A task must have run to defer itself; each got its turn in the slot.",
    }, most("deferred"), (("t1", 0), ("t0", 50))),
    "A20": Exhibit("One slot, two Dags, default weights. How many tasks run before `main`?", {
        "0": "`main` is the most important to you. The weight does not know that: nothing comes after it.",
        "3": "Default weights add up what comes after a task **in its own Dag**: 4, 3, 2 in the chain. `main` has 1. It "
             "beats only the last of the chain, by its older date.",
        "4": "The last of the chain has weight 1 as well, and then the older date goes first.",
    }, lambda trace: sum(starts(t)(trace) < starts("single.main")(trace) for t in trace.labels),
        (("single.main", 1), ("chain.a4", 4))),
    "A22": Exhibit("max_active_tasks is 1, and there are two runs. How many tasks run at once?", {
        "1": "It was so in Airflow 2, where the limit counted for the whole Dag.",
        "2": "In Airflow 3 it counts per **run**. Two runs, one task each.",
        "6": "Within a run the limit does hold: one at a time.",
    }, most("running"), (("t1@0", 0),)),
    "A24": Exhibit("parallelism is 2, and two schedulers run. Five ready tasks: how many at once?", {
        "2": "That is what one scheduler may have under way.",
        "4": "The limit belongs to each scheduler **process**. Two of them may hold four.",
        "5": "Four places in all: the fifth waits in scheduled.",
    }, most("running"), (("t4", 0),)),
    "A26": Exhibit("max_active_tis_per_dag is 1, and the task of run 0 is deferred. What is that of run 1?", {
        "running": "It was so up to 3.1, which counted only queued and running.",
        "scheduled": "Since a repair in 3.x this limit counts deferred ones too, unlike max_active_tasks.",
        "deferred": "It would have to run first in order to defer itself.",
    }, at("t@1", 2), (("t@1", 2),)),
    "A28": Exhibit("Run 0's `T2` has just begun; `T2` needs its own past. What is run 2's `T2` at time 1?", {
        "none": "Its past is run **1**, not run 0. And run 1's `T2` is finished: skipped.",
        "running": "Run 1's `T2` was skipped because of its upstream, without waiting for the past. Skipped counts as "
                   "done well, so run 2 overtakes run 0.",
        "skipped": "Its own upstream `T1` succeeded, so there is nothing to skip.",
    }, at("T2@2", 1), (("T2@1", 1), ("T2@2", 1))),
    "A30": Exhibit("`new`, with depends_on_past, was added after run 0. In which state does it end in run 1?", {
        "success": "Only a **first** run is excused. There was a run before; it merely had no `new`.",
        "none": "The run before has no such task, so it never succeeded there, so this one never starts.",
        "skipped": "Nothing decides against it; it only waits, for ever.",
    }, final("new@1"), (("new@1", 12),)),
    "A32": Exhibit("The sensor's timeout is 590, a check comes every 30, retries are 2. How many tries does it use?", {
        "3": "A sensor's timeout is final. Retries are for tries that failed otherwise.",
        "1": "execution_timeout looks at one check only. `timeout` counts from the first check, is asked after each, and "
             "ends the task for good.",
        "20": "Those are checks, and they all belong to the same try.",
    }, lambda trace: trace.tries["wait"], (("wait", 100), ("wait", 601))),
    "A33": Exhibit("retry_delay is 60 with backoff, max_retry_delay 600, five retries. How long is the **last** wait?", {
        "60": "Without backoff it would be: the variant below.",
        "600": "The delay doubles each time, some is added on top, and the cap cuts it.",
        "1920": "60 times 2 to the 5th. The cap max_retry_delay is lower.",
    }, last_wait, (("t", 30), ("t", 400))),
    "A35": Exhibit("dagrun_timeout comes at 30, while `b` runs. In which state does `b` end?", {
        "failed": "The **run** is failed. Its unfinished tasks are not.",
        "skipped": "Every unfinished task becomes skipped, running or not. So no failure callback of a task is called.",
        "running": "Nothing of an ended run stays unfinished.",
    }, final("b"), (("b", 20), ("b", 30), ("c", 30))),
    "A36": Exhibit("No worker listens to queue `gpu`; the task has two retries. How many tries does it use?", {
        "3": "Retries are for tasks that ran. This one never did.",
        "1": "It is queued again twice, which is no new try, and then failed outright.",
        "0": "A try is counted when a task is scheduled, and it was.",
    }, lambda trace: trace.tries["t"], (("t", 10), ("t", 700), ("t", 2159))),
    "A38": Exhibit("The message of `etl` is handed out again after 24 hours (time 86400). What does `etl` do then?", {
        "fail": "Nothing went wrong in the task, and no timeout of Airflow has passed.",
        "run on": "The second start is refused: the task instance is running already. The warning of the trace names the "
                  "time. Raise visibility_timeout above the longest task; it is no limit of Airflow's.",
        "wait for a retry": "A retry follows a try that failed. This one is healthy.",
    }, lambda trace: "run on" if trace.states_at(86401)["etl"] == "running" else "fail", (("etl", 86400),)),
    "A40": Exhibit("The worker of site A takes one job at a time, and nobody serves site B. What is `b1` at time 15?", {
        "scheduled": "No limit of the scheduler holds it: it was handed over.",
        "queued": "Airflow hands it over without asking whether anybody listens. Until the check for stuck tasks comes, "
                  "it waits.",
        "running": "The worker of site A does not take it, free or not.",
    }, at("b1", 15), (("a2", 5), ("b1", 15))),
    "A42": Exhibit("LocalExecutor with parallelism 2, six ready tasks. How many are **queued** at time 50?", {
        "0": "The documented meaning of parallelism: the other four would wait in scheduled. See the variant.",
        "2": "Two are running. Queued is what was handed over beyond them.",
        "4": "This executor forgets what it handed out and reports two free places in every loop. So the surplus piles "
             "up in queued, although no worker is missing.",
    }, lambda trace: sum(s == "queued" for s in trace.states_at(51).values()), (("t2", 50),)),
    "A45": Exhibit("`y` leaves the Dag file while the run is under way; `z` now follows `x`. How does the run end?", {
        "failed": "`removed` is finished, and the verdict leaves it out.",
        "success": "The run follows the newest file: `y` becomes removed, `z` runs, and the only leaf is a success.",
        "running": "Nothing is left that could hold it open.",
    }, lambda trace: trace.run_state, (("y", 1), ("z", 1))),
    "A47": Exhibit("The file works for 40 seconds at its top level; a parse is cut off after 30. How many runs are made?", {
        "0": "The parse is killed before it has found the Dag. No Dag, no run; an older stored version would live on.",
        "1": "A run is made of a stored Dag, and nothing was stored.",
        "1, but late": "It is not late: every parse is cut off at the same place.",
    }, lambda trace: len(trace.run_states), ()),
    "A49": Exhibit("Five tasks of one second in a chain, and the loop comes round every 5 seconds. When does `c5` start?", {
        "4 s": "If somebody woke the scheduler each time. Here it only looks every 5 seconds.",
        "20 s": "Each task is noticed at the next loop. So the loop sets the pace, not the work.",
        "25 s": "The first needs no loop before it: it starts at 0.",
    }, lambda trace: f"{starts('c5')(trace) * trace.scenario.config.tick_seconds:g} s", (("c2", 0), ("c5", 3))),
    "A50": Exhibit("parallelism is 4, two executors, three ready tasks for each. How many run at once?", {
        "6": "Each executor may hold four, but the scheduler adds up what **all** of them hold.",
        "4": "One scheduler, one budget, whatever the number of executors.",
        "8": "Twice the limit would need two schedulers, not two executors.",
    }, most("running"), (("k1", 0), ("k2", 0))),
}


@cache
def trace_of(case_id: str) -> Any:
    return replay(case_id)


def _exhibit(case_id: str) -> Exhibit:
    scenario(case_id)                                      # refuses what is unknown or not played
    if case_id not in EXHIBITS:
        raise DagkitError(f"incident {shown(case_id)} has no words yet. With words: {choices(EXHIBITS, 40)}.")
    return EXHIBITS[case_id]


def question(case_id: str) -> Question:
    """The prediction of a case; its answer is computed by playing it."""
    case = _exhibit(case_id)
    return Question(case.ask, case.replies, answer=lambda: case.answer(trace_of(case_id)), name=f"incident-{case_id}")


def ask(case_id: str) -> AskedPlayer:
    """The prediction, then the replay: play is locked until it is answered or skipped.

    Raises DagkitError for a case that is unknown or not played.
    """
    return AskedPlayer(trace_of(case_id), question(case_id))


def why(case_id: str) -> Chips:
    """The reasons that tell the story, as ``trace.explain`` gives them, and who would tell you in a real Airflow."""
    trace = trace_of(case_id)
    rows = []
    for task, time in _exhibit(case_id).why:
        tick = min(time + 1, trace.last_tick)
        reason = trace.explain(task, tick)
        known = reason.code in PLAIN
        rows.append({"tick": tick, "task": task, "state": reason.state, "why": reason.text,
                     "code": "" if known else reason.code,
                     "a real Airflow tells it": "" if known else bridge.of(reason.code).ask[0]})
    return chips(rows)


def what_if(case_id: str) -> Page:
    """What stands behind a case, and its variants: what the kit says to each, or why it does not play it."""
    case = rooms.case(case_id)
    rows = [("What stands behind it", case.reason)]
    for k, change in enumerate(case.changes):
        missing = unplayable(case_id, k)
        said = _by_hints(case_id, k) if missing == rooms.LOST_HINT else "" if missing else _parted(case_id, k)
        rows.append((f"What if: {change}", said or f"Not played here: {missing}. On record then: {_on_record(case, k)}."))
    return Page("".join(fold(rich(line), f"<p>{rich(said)}</p>") for line, said in rows),
                "\n".join(f"{line}: {said}" for line, said in rows))


def hinted(case_id: str, change: int, lost: bool = True) -> Story:
    """A case about hints, played hop by hop: lesson 9's database, broker, schedulers and workers. lost: as the variant
    has it; or as if all had arrived."""
    told, loop = rooms.variant(case_id, change), rooms.variant(case_id)["scheduling"]["loop_at"]
    scan = 1000 * (loop[1] - loop[0])
    flow = Flow({task["id"]: tuple(task.get("up", ())) for task in told["tasks"]}, length=1000 * told["tasks"][0]["dur"],
                scan=scan, first=(scan, scan))
    return play(lose=[f"done {task}" for task in told["scheduling"]["lost_hint_after"] if lost], flow=flow)


def _by_hints(case_id: str, change: int) -> str:
    after, before = hinted(case_id, change), hinted(case_id, change, lost=False)
    late, soon = next((a, b) for a, b in zip(after.starts, before.starts, strict=True) if a.at > b.at + 500)
    return (f"Played with the hints of lesson 9, where each hop costs some milliseconds: `{late.task}` starts after "
            f"{late.at / 1000:.1f} s, when the scheduler looks without being told; with its hint it starts after "
            f"{soon.at / 1000:.1f} s. All is done after {after.ended / 1000:.1f} s instead of {before.ended / 1000:.1f} s. "
            f"On record: "
            f"{_on_record(rooms.case(case_id), change)}.")


def _on_record(case: rooms.Case, change: int) -> str:
    told = case.told["variants"][change]["expected"]
    return "; ".join(f"{name.replace('_', ' ')}: {_flat(value)}" for name, value in told.items())


def _flat(value: Any) -> str:
    return ", ".join(f"{k} {_flat(v)}" for k, v in value.items()) if isinstance(value, Mapping) else str(value)


def _parted(case_id: str, change: int) -> str:
    before, after = trace_of(case_id), replay(case_id, change)
    was, now = (trace.scenario.config.tick_seconds for trace in (before, after))
    if was != now:
        task, begins = before.labels[-1], starts(before.labels[-1])
        return (f"Tick for tick it is the same, but a tick is {now:g} s long instead of {was:g}. `{task}` starts after "
                f"{begins(after) * now:g} s instead of {begins(before) * was:g} s.")
    ends = [f"`{t}` ends {s} instead of {before.final_states[t]}" for t, s in after.final_states.items()
            if before.final_states.get(t, s) != s]
    if before.last_tick != after.last_tick:
        ends.append(f"the last change comes at tick {after.last_tick} instead of {before.last_tick}")
    text = str(before.diff(after))
    parted = text[:1].upper() + text[1:]
    return f"{parted} In the end {', '.join(ends) or 'all is as before'}."


def contents() -> Chips:
    """The rooms and what is asked in them. A case's title may tell how it ends, so it is not shown here."""
    return chips([{"room": row["room"], "case": row["case"], "what you are asked": plain(EXHIBITS[row["case"]].ask),
                   "verified": row["verified"]} for row in rooms.contents() if row["played here"] == "yes"])


def left_out() -> Chips:
    """What is on record and played nowhere in the kit, with the reason: whole cases, then variants."""
    rows = [{"case": c.id, "what": c.title, "why not": unplayable(c.id), "asked in": ", ".join(c.links)}
            for c in rooms.cases().values() if unplayable(c.id)]
    rows += [{"case": c.id, "what": f"variant: {change}", "why not": unplayable(c.id, k), "asked in": ", ".join(c.links)}
             for c in rooms.cases().values() for k, change in enumerate(c.changes)
             if unplayable(c.id, k) not in ("", rooms.LOST_HINT) and not unplayable(c.id)]
    return chips(rows)
