"""*You are the scheduler*: at each tick you pick what to queue. The same game for people and for policy functions.

Small rules, those of the simulator without hand-over and without failures: a task may be queued when everything above
it succeeded and every limit has room; queued at tick t, it runs at once, and if it takes d ticks it is done at
t + d. In each tick first what is done ends, then you pick. ``Game.trace`` is the finished game as a real trace.

>>> game = Game.of(Dag("d", [Task("a", duration=2), Task("b"), Task("c", "b", duration=2)]), slots=1)
>>> game.queue("c")
✗ Not yet. c cannot be queued at tick 1: it waits for b.
>>> game.queue("b").ok, game.go().tick, game.ready
(True, 2, ['a', 'c'])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .. import planning
from ..checks import levels, seeds
from ..dag import Dag
from ..engine import simulate
from ..errors import DagkitError, choices, nearest, quoted, shown
from ..executors import LocalExecutor
from ..lesson.checks import Verdict
from ..scenario import Config, Pool, Scenario
from ..task import Task
from ..views.picture import brief
from .dice import Dice
from .worlds import first, listed, random_dag

AT_ONCE = LocalExecutor(handover=0)
Policy = Callable[["Game"], Iterable[str]]
"""Gets the game, gives the names of what to queue in this tick, most important first."""


@dataclass
class Game:
    """One run of one Dag, with you as its scheduler.

    scenario: what is played; limits are parallelism, max_active_tasks, pools and pool_slots. tick: now.
    started, ended: the tick of each task. refused: what was tried and could not be.
    """

    scenario: Scenario
    tick: int = 1
    started: dict[str, int] = field(default_factory=dict)
    ended: dict[str, int] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, given: Dag | Scenario, slots: int | None = None) -> Game:
        """A game on a Dag or a scenario. slots: tasks at once (parallelism).

        Raises DagkitError for what the game has no rules for: several Dags or runs, outcomes, other trigger rules,
        mapping, waits, faults.
        """
        scenario = given if isinstance(given, Scenario) else Scenario(given)
        if slots is not None:
            scenario = scenario.replace(config=Config(parallelism=slots))
        scenario = scenario.replace(executor=AT_ONCE)
        _check(scenario)
        return cls(scenario)

    # ---- what is so --------------------------------------------------------------------------------------------

    @property
    def dag(self) -> Dag:
        return self.scenario.dag

    @property
    def slots(self) -> int:
        """Tasks that may run at once, whatever pools say."""
        return min(self.scenario.config.parallelism, self.dag.max_active_tasks)

    @property
    def running(self) -> list[str]:
        return [task for task in self.started if task not in self.ended]

    @property
    def over(self) -> bool:
        return len(self.ended) == len(self.dag)

    @property
    def waiting(self) -> list[str]:
        """What has all its dependencies and is not queued yet, in Airflow's task order; there may be no place for it."""
        order = [self.dag.graph.ids[i] for i in self.dag.graph.order]
        return [task for task in order if task not in self.started
                and all(above in self.ended for above in self.dag[task].upstream)]

    @property
    def ready(self) -> list[str]:
        """What may be queued now, in declared order."""
        return [task for task in self.dag.tasks if not self.why_not(task)]

    @property
    def states(self) -> dict[str, str]:
        """``{task: state}``; a task that could start, but for limits or for you, is scheduled."""
        waiting = self.waiting

        def state(task: str) -> str:
            if task in self.ended:
                return "success"
            if task in self.started:
                return "running"
            return "scheduled" if task in waiting else "none"
        return {task: state(task) for task in self.dag.tasks}

    def why_not(self, task: str) -> str:
        """Why a task cannot be queued now, in one clause; "" if it can. Dependencies first, then limits."""
        if task not in self.dag:
            return f"there is no such task.{nearest(task, self.dag.tasks)} Known: {choices(self.dag.tasks, 20)}"
        if task in self.ended:
            return f"it is done since tick {self.ended[task]}"
        if task in self.started:
            return f"it runs since tick {self.started[task]}"
        if waits := [u for u in self.dag[task].upstream if u not in self.ended]:
            return f"it waits for {listed(waits)}"
        return self._limit(self.dag[task])

    def _limit(self, task: Task) -> str:
        running = self.running
        if len(running) >= self.scenario.config.parallelism:
            return f"all {self.scenario.config.parallelism} slots are taken by {listed(running)}"
        pool = self.scenario.pools.get(task.pool, Pool(0))
        used = sum(self.dag[t].pool_slots for t in running if self.dag[t].pool == task.pool)
        if pool.slots != -1 and used + task.pool_slots > pool.slots:
            return f"pool {shown(task.pool)} has {used} of {pool.slots} slots taken, and it needs {task.pool_slots}"
        if len(running) >= self.dag.max_active_tasks:
            return f"max_active_tasks is {self.dag.max_active_tasks}, and {listed(running)} run"
        return ""

    # ---- moves -------------------------------------------------------------------------------------------------

    def queue(self, *tasks: str) -> Verdict:
        """Queue tasks now, in this order. What cannot be is refused with its reason; the others are queued."""
        said = []
        for task in tasks:
            why = self.why_not(task) if isinstance(task, str) else "a task is named by its id"
            if why:
                said.append(f"{shown(task)} cannot be queued at tick {self.tick}: {why}.")
            else:
                self.started[task] = self.tick
        self.refused += said
        taken = [t for t in tasks if isinstance(t, str) and self.started.get(t) == self.tick]
        return Verdict(False, " ".join(said)) if said else Verdict(True, f"Tick {self.tick}: {listed(taken)} queued.")

    def go(self) -> Game:
        """On to the next tick: what is done then ends. Nothing runs and nothing was queued: that waits for ever."""
        if self.over:
            raise DagkitError(f"the game is over since tick {self.tick}. Look at its score, or start another.")
        if not self.running:
            raise DagkitError(f"tick {self.tick}: nothing runs, so waiting changes nothing. Queue one of: "
                              f"{choices(self.ready)}.")
        self.tick += 1
        for task in self.running:
            if self.started[task] + int(self.dag[task].duration) <= self.tick:
                self.ended[task] = self.tick
        return self

    def play(self, policy: Policy | str = "airflow") -> Game:
        """Let a policy play on to the end. Its picks are checked like yours; a refused one is noted and skipped.

        policy: a function that gets the game and returns names, most important first, or the name of one of POLICIES.
        A task that could start but finds no place is no illegal pick: it simply waits.
        Raises DagkitError if it picks nothing while nothing runs, or fails.
        """
        chosen = _policy(policy)
        while not self.over:
            try:
                picks = [pick for pick, _ in zip(chosen(self), range(10_000), strict=False)]
            except Exception as error:
                raise DagkitError(f"your policy failed at tick {self.tick}: {shown(repr(error), 200)}. It gets the game "
                                  "and must return names.") from error
            for pick in picks:
                if pick not in self.waiting or not self.why_not(pick):
                    self.queue(pick)
            if not self.running:
                raise DagkitError(f"your policy queued nothing at tick {self.tick}, and nothing runs: it would wait for "
                                  f"ever. Return at least one of: {choices(self.ready)}.")
            self.go()
        return self

    def again(self) -> Game:
        """Back to the first tick."""
        self.tick, self.started, self.ended, self.refused = 1, {}, {}, []
        return self

    # ---- the end -----------------------------------------------------------------------------------------------

    @cached_property
    def bound(self) -> float:
        """No schedule ends sooner: the critical path, all work by slots, and the work of each pool by its slots."""
        found = [planning.critical_path(self.dag).length, -(-sum(t.duration for t in self.dag) // self.slots)]
        for name, pool in self.scenario.pools.items():
            work = sum(t.duration * t.pool_slots for t in self.dag if t.pool == name)
            found += [-(-work // pool.slots)] if pool.slots > 0 else []
        return max(found)

    @cached_property
    def built_in(self) -> int:
        """How long the simulator takes with Airflow's own order: priority, then task order."""
        return int(simulate(self.scenario).last_tick) - 1

    @property
    def score(self) -> Score:
        """How the finished game compares. Raises DagkitError before the end."""
        if not self.over:
            left = [task for task in self.dag.tasks if task not in self.ended]
            raise DagkitError(f"the game is not over at tick {self.tick}: {choices(left)} left. Queue, and go on.")
        return Score(self.tick - 1, self.bound, self.built_in, tuple(self.refused))

    @property
    def trace(self) -> Any:
        """What was played so far, as a trace of the simulator: each task waits at a gate that you opened."""
        gates = {f"you, for {task}": 0 for task in self.dag.tasks}
        dag = self.dag
        for task in list(dag.tasks):
            dag = dag.replace(task, pool=f"you, for {task}", pool_slots=1)
        opened = [(tick, {"pools": {f"you, for {task}": 1}}) for task, tick in self.started.items()]
        return simulate(self.scenario.replace(dag=dag, pools=gates, changes=opened))

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        from .board import Board
        return Board(self)._repr_mimebundle_(**kwargs)

    def __repr__(self) -> str:
        lines = [f"Tick {self.tick}, {len(self.running)} of {self.slots} slots taken"]
        lines += [f"  {task}: {state}" for task, state in self.states.items()]
        return "\n".join([*lines, repr(self.score) if self.over else f"May be queued: {listed(self.ready)}"])


@dataclass(frozen=True)
class Score:
    """took: ticks. bound: no schedule takes fewer. built_in: what Airflow's order takes. refused: illegal picks."""

    took: int
    bound: float
    built_in: int
    refused: tuple[str, ...] = ()

    def __repr__(self) -> str:
        against = ("as long as" if self.took == self.built_in else f"{abs(self.took - self.built_in)} "
                   + ("less than" if self.took < self.built_in else "more than"))
        best = "No schedule is shorter." if self.took == self.bound else f"No schedule takes less than {brief(self.bound)}."
        illegal = f" {len(self.refused)} illegal picks were refused." if self.refused else ""
        return f"{self.took} ticks, {against} the built-in order ({self.built_in}). {best}{illegal}"


# ---- policies ------------------------------------------------------------------------------------------------------


def airflow(game: Game) -> list[str]:
    """Airflow's order: the highest priority total first, then task order. Whoever fits is let in."""
    from ..weights import priority_totals
    totals = priority_totals(game.dag)
    return sorted(game.waiting, key=lambda task: -totals[task])


def longest_path(game: Game) -> list[str]:
    """First whatever begins the longest chain of work still to be done."""
    rest: dict[str, float] = {}
    for task in reversed(list(game.dag)):
        below = [rest[other.task_id] for other in game.dag if task.task_id in other.upstream]
        rest[task.task_id] = task.duration + max(below, default=0)
    return sorted(game.waiting, key=lambda task: -rest[task])


def shortest_first(game: Game) -> list[str]:
    """First whatever is done soonest."""
    return sorted(game.waiting, key=lambda task: game.dag[task].duration)


def _policy(given: Policy | str) -> Policy:
    if callable(given):
        return given
    if not isinstance(given, str) or given not in POLICIES:
        raise DagkitError(f"there is no policy {quoted(given)}.{nearest(given, POLICIES)} Known: {choices(POLICIES)}, or "
                          "give a function.")
    return POLICIES[given]


def puzzle(seed: int = 0, level: int = 1) -> Game:
    """A game in which the built-in order is not the best there is. The same seed and level give the same one.

    >>> game = puzzle(3)
    >>> game.play("longest_path").score.took < game.score.built_in
    True
    """
    seed, level = seeds("puzzle", seed), levels("puzzle", level)

    def throw(dice: Dice) -> Scenario | None:
        dag = random_dag(dice, min(level + 1, 3), max_active_tasks=2 + level // 3)
        pools = {"db": 1} if level > 1 else {}
        if level > 1:
            for task in dice.some(list(dag.tasks), 3):
                dag = dag.replace(task, pool="db")
        scenario = Scenario(dag, pools=pools)
        game = Game.of(scenario).play("longest_path")
        return scenario if game.score.took < game.score.built_in else None

    return Game.of(first(throw, "game", seed, level))


POLICIES: dict[str, Policy] = {"airflow": airflow, "longest_path": longest_path, "shortest_first": shortest_first}


def _check(scenario: Scenario) -> None:
    dag = scenario.dag
    plain = [t for t in dag if t.trigger_rule != "all_success" or t.wait is not None or t.branch is not None]
    if scenario.outcomes or scenario.faults or scenario.changes or scenario.initial or scenario.durations:
        raise DagkitError("game: outcomes, durations, faults, changes and initial states are not part of it. Give a "
                          "scenario in which every task simply succeeds.")
    if scenario.runs[dag.dag_id].count != 1 or plain or any(getattr(t, "expand", None) for t in dag):
        what = f"task '{shown(plain[0].task_id)}' has a rule or a wait of its own" if plain else "it is one run, unmapped"
        raise DagkitError(f"game: {what}. The game has rules for plain tasks in one run only.")
    for task in dag:
        room = scenario.pools.get(task.pool, Pool(0)).slots
        if room != -1 and task.pool_slots > room:
            raise DagkitError(f"game: task '{shown(task.task_id)}' needs {task.pool_slots} slots of pool "
                              f"'{shown(task.pool)}', which has {room}; it could never run. Give it more.")
