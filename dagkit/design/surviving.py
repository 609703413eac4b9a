"""Requirements on a bad day: the lost machine, the GPUs, the file that hangs, and the month that was missed."""

from __future__ import annotations

from ..errors import shown
from . import world
from .counting import Readings, first_above
from .declared import Design
from .playing import longest_gap, survivors
from .verdict import Result, fail, requirement
from .world import clock

TRAININGS = world.KINDS["training"].count


@requirement("a scheduler machine is lost", "another scheduler goes on; nothing is lost, nothing is done twice")
def loss(design: Design, seen: Readings) -> Result:
    """Who is left, what had to begin again, and what never woke."""
    if not survivors(design):
        n = sum(seen.left.values())
        return fail(f"no scheduler was left on another machine; {n:,} task instances stood still.", world.LOST, n,
                    "How many schedulers are there, and on which machines?")
    if seen.twice:
        return fail(f"{len(seen.twice)} running tasks were lost with it and begun again.", seen.twice[0][0],
                    len(seen.twice),
                    "Where do tasks run that die with the scheduler? Which executor lets another scheduler adopt them?")
    parked = sum(n for (_, state), n in seen.left.items() if state == "deferred")
    if parked:
        return fail(f"{parked} deferred tasks never woke: the only triggerer ran on it.", world.LOST, parked,
                    "What else runs on the machine of the first scheduler?")
    return Result(True, "another took over; nothing was lost, nothing done twice.")


@requirement("GPU machines", "every training runs on a GPU machine, one at a time on each",
             "Which queue do the GPU workers listen to, and which one does train name?")
def gpu_places(design: Design, seen: Readings) -> Result:
    """By the worker that took each training. A pod asks for its GPU itself, and gets a node that has one."""
    executor = design.executors.by_name[design.executor_of(world.GPU_TASK)]
    staff = executor.staff(design.config)
    if staff is None:
        return fail("trainings are sent to the scheduler's machine, where there is no GPU.", first_above(seen.trainings, 0),
                    TRAININGS)
    wrong = [] if executor.own_image else [(tick, staff[worker].name or "a worker without a name") for tick, _, worker in
                                           seen.picked(world.GPU_TASK) if staff[worker].name not in world.GPUS]
    if wrong:
        return fail(f"{len(wrong)} trainings went elsewhere, the first to {shown(wrong[0][1])}.", wrong[0][0], len(wrong))
    shared, tick = seen.shared_gpu(pods=executor.own_image)
    if shared > 1:
        return fail(f"{shared} trainings at once on one GPU.", tick, shared - 1,
                    "How many tasks may a worker on a GPU machine run at once, and which limit spans both machines?")
    if seen.trained < TRAININGS:
        return _not_trained(seen)
    return Result(True, f"all {TRAININGS} trainings ran there.")


def _not_trained(seen: Readings) -> Result:
    failed = [tick for tick, task_id in seen.failed if task_id == world.GPU_TASK]
    never = TRAININGS - seen.trained
    if not failed:
        return fail(f"{never} of {TRAININGS} trainings never ran.", None, never,
                    "Is there a worker that listens to the queue of train, and a pool with a place for it?")
    return fail(f"{len(failed)} of {TRAININGS} trainings failed without ever having run: stuck in queued.", min(failed),
                never, "What waits in queued for over 600 s is queued again twice, then failed. In which state should a "
                "training wait for its GPU, and which limit keeps it there?")


@requirement("GPU waits", f"no GPU is idle for more than {world.IDLE_GPU} s while a training is ready",
             "Does a training stand behind other tasks: in a pool, in the order of priorities, for parallelism?")
def gpu_waits(design: Design, seen: Readings) -> Result:
    """Ready: scheduled or queued. So what ``prepare`` waits for does not count here."""
    times = [(start, (end - start) * world.TICK_SECONDS) for start, end in seen.idle_gpu]
    longest = max((time for _, time in times), default=0)
    over = [start for start, time in times if time > world.IDLE_GPU]
    if over:
        return fail(f"a GPU was idle for {longest:,} s while a training was ready.", over[0], longest - world.IDLE_GPU)
    if seen.trained < TRAININGS:
        return fail(f"{TRAININGS - seen.trained} trainings never ended.", None, TRAININGS - seen.trained)
    return Result(True, f"at most {longest} s." if longest else "no GPU was ever kept waiting.")


@requirement("the bad file", f"the file that hangs delays an edit of any other by {world.FILE_TIMEOUT} s at most",
             "Who gives up on the file, and when? How many files are parsed at once?")
def files(design: Design, seen: Readings) -> Result:
    """By the model of the Dag processor, with the file and without it."""
    if set(design.processors) == {design.schedulers[0]}:
        return fail("the only Dag processor was lost with the scheduler's machine: no edit is seen any more.", world.LOST,
                    float("inf"), "Where does the Dag processor run? It needs no scheduler.")
    settings = design.parsing_processes, design.dag_file_processor_timeout
    gap = longest_gap(*settings, True)
    delay = gap - longest_gap(*settings, False)
    return Result(delay <= world.FILE_TIMEOUT,
                  f"an edit waits {gap:.0f} s at most, {delay:.0f} s of it for the file that hangs.", None,
                  max(0.0, delay - world.FILE_TIMEOUT))


TOTAL = sum(kind.count * kind.days for kind in world.KINDS.values())


@requirement("backlog", f"the {TOTAL:,} missed runs succeed within {world.DRAINED // 60} hours",
             "What is full all the time: the source, the API, or parallelism, of which a lost scheduler takes its share?")
def backlog(design: Design, seen: Readings) -> Result:
    """From the tick at which everything is unpaused to the end of the last missed run."""
    done = [tick for tick, state in seen.missed if tick is not None and state == "success"]
    limit = world.UNPAUSED + world.DRAINED * 60 // world.TICK_SECONDS
    total = len(seen.missed)
    if len(done) < total:
        stuck = ", ".join(f"{n:,} x {task_id} {state}" for (task_id, state), n in seen.left.most_common(2))
        if seen.failed:
            stuck = f"{len(seen.failed):,} tasks failed, the first {seen.failed[0][1]} at {clock(seen.failed[0][0])}"
        return fail(f"{total - len(done):,} runs never get there: {stuck}.", limit, total - len(done),
                    "Ask the record: report.trace.warnings, and report.trace.explain of one that stands still.")
    minutes = (max(done, default=world.UNPAUSED) - world.UNPAUSED) * world.TICK_SECONDS / 60
    return Result(minutes <= world.DRAINED, f"done after {minutes:.0f} of {world.DRAINED} minutes.", limit,
                  max(0.0, minutes - world.DRAINED))
