"""Small situations that are played to show an answer: a trace, or a plan, and the lines of it that matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from .. import examples, planning
from ..dag import Dag
from ..engine import simulate
from ..errors import CycleError, DagkitError, choices, nearest, shown
from ..executors import LocalExecutor
from ..scenario import Config
from ..task import Task


@dataclass(frozen=True)
class Scene:
    """What is played, what is seen, and (mostly) the trace behind it."""

    title: str
    lines: tuple[str, ...]
    trace: Any = None

    def __repr__(self) -> str:
        return "\n".join([self.title, *(f"  {line}" for line in self.lines)])

    def point(self, look: str = "") -> str:
        """What it shows, in a line: what it says of ``look``, else its reasons, else all lines if they are few."""
        if look and (found := [line for line in self.lines if look in line]):
            return "; ".join(line.rstrip(".") for line in found[-4:]) + "."
        reasons = [line for line in self.lines if line.startswith("tick ") and " is " in line]
        return " ".join(reasons) or "; ".join(self.lines if len(self.lines) < 10 else self.lines[-2:])

    @property
    def picture(self) -> Any:
        """The trace as bars; None for a plan."""
        return None if self.trace is None else self.trace.gantt()


SCENES: dict[str, Callable[[], Scene]] = {}
AT_ONCE = LocalExecutor(handover=0)


def scene(make: Callable[[], Scene]) -> Callable[[], Scene]:
    """Make a function the scene of its name; it is played once."""
    SCENES[make.__name__] = cache(make)
    return SCENES[make.__name__]


def find(name: str) -> Scene:
    """A scene by its name. Raises DagkitError with the nearest known name."""
    if name not in SCENES:
        raise DagkitError(f"there is no scene '{shown(name)}'.{nearest(name, SCENES)} Known: {choices(SCENES, 60)}.")
    return SCENES[name]()


def told(title: str, trace: Any, *asked: tuple[str, int], log: int = 0, more: tuple[str, ...] = ()) -> Scene:
    """A scene from a trace: reasons of some tasks at some ticks, the first lines of its log, and how it ended."""
    said = [f"tick {tick}: {trace.explain(task, tick=tick)}" for task, tick in asked]
    lines = [" ".join(line.split()) for _, line in trace.log_lines]
    shown_lines = lines if len(lines) <= log else [*lines[:log], f"... ({len(lines)} lines in all)"]
    return Scene(title, (*said, *(shown_lines if log else ()), *more), trace)


def demo(name: str, *arguments: Any, **knobs: Any) -> Any:
    """A demonstration of lesson 5, played."""
    from ..lesson.lessons import limits_and_pools
    return simulate(getattr(limits_and_pools, name)(*arguments, **knobs))


# ---- shape ---------------------------------------------------------------------------------------------------------


@scene
def ring() -> Scene:
    """Three tasks that wait for each other."""
    try:
        Dag("ring", [Task("a", "c"), Task("b", "a"), Task("c", "b")])
    except CycleError as error:
        return Scene("a waits for c, b for a, c for b: refused before anything runs.", (str(error),))
    raise AssertionError("a ring was accepted")


def six_files() -> Dag:
    return planning.expand(examples.file_fanout(), "process", 6)


@scene
def fanout() -> Scene:
    """Makespan by slots of the fan-out over six files."""
    lines = [f"slots {n}: {planning.makespan(six_files(), n)}" for n in range(1, 9)]
    path = planning.critical_path(six_files())
    return Scene("list_files, six times process, load_dim, join, report.", (
        *lines, f"critical path {path.length}: {' > '.join(path.path)}"))


@scene
def ties() -> Scene:
    """Shortening one of two tied paths."""
    day = examples.file_fanout()
    tried: tuple[dict[str, int], ...] = ({}, {"process": 1}, {"process": 1, "load_dim": 2})
    lines = [", ".join(f"{task} takes {n}" for task, n in change.items()) or "as it is" for change in tried]
    lines = [f"{line}: {planning.critical_path(planning.what_if(day, **change)).length}"
             for line, change in zip(lines, tried, strict=True)]
    both = [" > ".join(path) for path in planning.tied_critical_paths(day)]
    return Scene(f"Two paths are equally long: {both[0]} and {both[1]}.", tuple(lines))


@scene
def graham() -> Scene:
    """More slots that make a schedule longer."""
    dag = examples.graham_anomaly()
    return Scene("Nine tasks, greedy by name.", tuple(
        f"slots {n}: {planning.makespan(dag, n)}" for n in range(2, 6)))


@scene
def too_long() -> Scene:
    """A list longer than max_map_length."""
    dag = Dag("files", [Task("list_files", returns=6), Task("process", "list_files", expand={"path": "list_files"}),
                        Task("join", "process")])
    trace = simulate(dag, config=Config(max_map_length=4))
    return told("list_files returns six files, max_map_length is 4.", trace, ("list_files", trace.last_tick),
                ("process", trace.last_tick), ("join", trace.last_tick))


# ---- states and the loop -------------------------------------------------------------------------------------------


@scene
def orders() -> Scene:
    """The standing example."""
    return told("orders, as lesson 3 plays it.", simulate(examples.orders()), ("extract_users", 1), log=40)


@scene
def orders_wide() -> Scene:
    """orders with two slots in pool db."""
    usual, wide = simulate(examples.orders()), simulate(examples.orders(), pools={"db": 2, "default": 8})
    return told("orders with two slots in pool db.", wide, log=8, more=(
        f"ends at tick {wide.last_tick} instead of {usual.last_tick}",))


@scene
def orders_watched() -> Scene:
    """orders with a watcher."""
    scenario = examples.orders()
    dag = Dag("orders", [*scenario.dag, Task("watcher", list(scenario.dag.tasks), trigger_rule="one_failed")],
              max_active_tasks=2)
    trace = simulate(scenario.replace(dag=dag, outcomes={**scenario.outcomes, "watcher": ["fail"]}))
    return told("orders with a watcher below every task, rule one_failed, that fails.", trace,
                ("watcher", trace.last_tick), more=(f"run: {trace.run_state}",))


def stuck(title: str, why: str) -> Scene:
    return told(title, demo("stuck", why), ("t4", 8))


@scene
def stall_pool() -> Scene:
    """Scheduled, because of a pool."""
    return stuck("Four tasks, a pool of one slot.", "pool of 1")


@scene
def stall_workers() -> Scene:
    """Queued, because of workers."""
    return stuck("Four tasks, Celery with one worker slot.", "1 worker slot")


@scene
def stall_parallelism() -> Scene:
    """Scheduled, although it looks like workers."""
    return stuck("Four tasks, Celery with four worker slots, parallelism 1.", "parallelism 1, 4 worker slots")


@scene
def stall_scheduler() -> Scene:
    """Scheduled, because nobody schedules."""
    return stuck("Four tasks, and the scheduler dies at tick 3.", "the scheduler died at tick 3")


@scene
def cleared() -> Scene:
    """A task that is cleared while it runs."""
    trace = simulate(Dag("d", [Task("load", duration=6)]), executor=AT_ONCE).fork(3, clear=["load"])
    return told("load runs from tick 1; at tick 3 somebody clears it.", trace, log=12)


# ---- rules ---------------------------------------------------------------------------------------------------------


def branch(rule: str) -> Any:
    """A branch that follows only the left way, and a join with a rule."""
    return simulate(Dag("branch", [Task("choose", branch=["left"]), Task("left", "choose"), Task("right", "choose"),
                                   Task("join", ["left", "right"], trigger_rule=rule)]), executor=AT_ONCE)


@scene
def join_default() -> Scene:
    """The default rule after a branch."""
    trace = branch("all_success")
    return told("A branch follows left only; join has all_success.", trace, ("join", trace.last_tick))


@scene
def join_right() -> Scene:
    """The rule made for joins."""
    trace = branch("none_failed_min_one_success")
    return told("The same with none_failed_min_one_success.", trace, ("join", trace.last_tick), log=12)


@scene
def short_circuit() -> Scene:
    """What all_done does not survive."""
    trace = simulate(Dag("d", [Task("fresh", short_circuit="hard"), Task("load", "fresh"),
                               Task("clean", "load", trigger_rule="all_done")]), executor=AT_ONCE)
    return told("A short circuit, then load, then clean with all_done.", trace, ("clean", trace.last_tick))


@scene
def producer_failed() -> Scene:
    """A mapped task whose list never came."""
    dag = Dag("d", [Task("list", returns=3), Task("each", "list", expand={"x": "list"}, trigger_rule="all_done")])
    trace = simulate(dag, outcomes={"list": ["fail"]}, executor=AT_ONCE)
    return told("each is mapped over list, with all_done; list fails.", trace, ("each", trace.last_tick))


@scene
def early() -> Scene:
    """A rule that does not wait."""
    trace = simulate(Dag("d", [Task("quick"), Task("slow", duration=9), Task("alarm", ["quick", "slow"],
                                                                             trigger_rule="one_failed")]),
                     outcomes={"quick": ["fail"]}, executor=AT_ONCE)
    return told("quick fails at once, slow takes 9 ticks; alarm has one_failed.", trace, log=12)


@scene
def teardown() -> Scene:
    """The formal clean-up."""
    trace = simulate(Dag("d", [Task("open", is_setup=True), Task("use", "open"), Task("close", ["use", "open"],
                                                                                     is_teardown=True)]),
                     outcomes={"use": ["fail"]}, executor=AT_ONCE)
    return told("open is a setup, close its teardown; use fails.", trace, ("close", trace.last_tick),
                more=(f"run: {trace.run_state}",))


# ---- limits --------------------------------------------------------------------------------------------------------


@scene
def flood() -> Scene:
    """Nine missed days at once."""
    return told("Nine missed days come back at tick 10, six places; report is due at tick 11.", demo("flood"),
                ("report.build", 11))


@scene
def flood_pool() -> Scene:
    """The same with a pool."""
    trace = demo("flood", source=2)
    return told("The same with a pool of 2 around the source.", trace, ("daily.extract@5", 11),
                more=(f"report is done at tick {trace.run(dag_id='report').ended}",))


@scene
def too_big() -> Scene:
    """More slots than the pool has."""
    return told("whole_table asks for 3 slots of a pool of 2.", demo("too_big"), ("whole_table", 2))


@scene
def starved() -> Scene:
    """Big and important, and always too big."""
    return told("big needs both slots of a pool; small tasks come and go.", demo("starved"), ("big", 5), ("big", 8))


@scene
def hidden() -> Scene:
    """Rows that are read and refused."""
    return told("Four rows are read in a pass; eight runs of a task that must not overlap itself.", demo("window"),
                ("other.quick_1", 3))


@scene
def sensors() -> Scene:
    """Three ways to wait."""
    from ..lesson.lessons.limits_and_pools import WAITS, waiting
    rows = [waiting(how) for how in WAITS]
    return Scene("Four waits of twenty ticks, six pieces of work, four places.", tuple(
        f"{row['waiting']}: work starts at tick {row['work starts at']}, "
        f"{row['worker ticks spent on waiting']} worker ticks spent on waiting" for row in rows))


@scene
def per_run() -> Scene:
    """max_active_tasks counts per run."""
    from ..lesson.lessons.limits_and_pools import at_once
    return Scene("max_active_tasks 1, three tasks side by side.", tuple(
        f"runs: {runs}, tasks at once: {at_once(demo('per_run', runs=runs))}" for runs in (1, 2, 3)), demo("per_run"))


@scene
def two_schedulers() -> Scene:
    """parallelism counts per scheduler."""
    from ..lesson.lessons.limits_and_pools import at_once
    return Scene("parallelism 2, six tasks side by side.", tuple(
        f"schedulers: {n}, tasks at once: {at_once(demo('schedulers', n))}" for n in (1, 2, 3)), demo("schedulers", 2))
