"""More scenes: a part that is not there, hints that are lost, a metric that is missing, two loads side by side."""

from __future__ import annotations

from ..capacity import scale
from ..dag import Dag
from ..engine import simulate
from ..faults import DagProcessorDown
from ..latency import CASES, Model, play
from ..scenario import Scenario
from ..task import Task
from .scenes import AT_ONCE, Scene, scene, told


@scene
def no_dag_processor() -> Scene:
    """Nobody reads Dag files: what was read before runs on."""
    dag = Dag("d", [Task("load", duration=3), Task("publish", "load")])
    trace = simulate(Scenario(dag, faults=[DagProcessorDown(1)], executor=AT_ONCE,
                              changes=[(2, {"dag": dag.replace("publish", duration=9)})]))
    return told("The Dag processor is down from tick 1 on; at tick 2 somebody edits the file.", trace, log=12, more=(
        f"{', '.join(f'{task} {state}' for task, state in trace.final_states.items())}: by scheduler and worker alone",
        *trace.warnings))


@scene
def hint_lost() -> Scene:
    """A hint that never arrives."""
    story, calm = play(lose=("task",)), play()
    return Scene("The hint that extract waits is lost; rows and scans are as always.", (
        *(f"{step.at} ms: {step.who} -> {step.to}: {step.what}" for step in story.steps[4:9]),
        f"{story.run} after {story.ended:,} ms instead of {calm.ended:,}: {len(story.starts)} tasks, each started once"))


@scene
def lost_while_running() -> Scene:
    """A worker that dies in the middle of a task: guards do not help there."""
    story = play(CASES["lost while running"].faults)
    return Scene("A worker dies in the middle of a task; every write is guarded.", (
        *(f"{step.at} ms: {step.who} -> {step.to}: {step.what}" for step in story.steps
          if " start " in f" {step.what} " or "lost" in step.what),
        f"{story.run}: {len(story.starts)} starts for 3 tasks"))


@scene
def same_load() -> Scene:
    """The same load on both paths, by the model of lesson 9."""
    model = Model()
    rows = [(n, model.p95("standard", n), model.p95("hinted", n)) for n in (50_000, 100_000)]
    return Scene("p95 of a task start by the model of lesson 9, both paths at the same load.", tuple(
        f"{n:,} tasks: standard {standard:.1f} s, hints {hinted * 1000:.0f} ms, {standard / hinted:,.0f} times"
        for n, standard, hinted in rows))


@scene
def missing_metric() -> Scene:
    """Ten minutes without the metric that workers are scaled by."""
    ways = {"hold": "taken for unknown", "zero": "taken for zero"}
    found = {way: scale("queue", "a missing metric", missing_as=way) for way in ways}
    return Scene("The queue's length cannot be read from minute 35 to 44; tasks are running.", tuple(
        f"{said}: {min(found[way].slots[35:45])} slots at least, {found[way].lost} running tasks lost, "
        f"longest wait {max(found[way].waits)} minutes" for way, said in ways.items()))
