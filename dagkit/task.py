"""One task: what a learner declares about it, checked while it is declared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar

from .checks import MOST, UNPRINTABLE, is_number, plain
from .errors import DagkitError, quoted, shown
from .parameters import (
    FLAG,
    SPECIAL,
    TEXT,
    TEXT_OR_NONE,
    Parameter,
    declared,
    kind_of,
    length_of,
    meant,
    must_be,
    number,
    one_of,
    parameter,
    returns_of,
    trigger_rule_of,
    weight_rule_of,
    whole,
)
from .waits import Wait

if TYPE_CHECKING:
    from .dag import Dag

open_dags: ContextVar[tuple[Dag, ...]] = ContextVar("open_dags", default=())
"""Dags whose ``with`` block is open, per thread; a Task made meanwhile joins the innermost."""
TICKS = "Give a number of ticks."
NO_LIMIT = "Leave it out for no limit."
NOTHING: tuple[str, ...] = ()
put = object.__setattr__
"""Sets an attribute past ``Task.__setattr__``, which is there for everybody else."""


def upstream_ids(task_id: str, given: Any, what: str = "upstream", kind: str = "task") -> tuple[str, ...]:
    if given.__class__ is list or given.__class__ is tuple:      # nearly always; large Dags do it a million times
        for u in given:
            if u.__class__ is not str:
                break
        else:
            return tuple(given)
    elif isinstance(given, (str, Task)):
        given = (given,)
    elif not isinstance(given, Iterable):
        named = "names of assets" if what in ("outlets", "assets") else "task ids"
        raise DagkitError(f"{kind} '{shown(task_id)}': {what} must be {named}, not {kind_of(given)}. "
                          f"Write {what}=['a', 'b'].")
    elif isinstance(given, (set, frozenset)):              # an order that is the same on every machine
        given = sorted(given, key=lambda u: u.task_id if isinstance(u, Task) else str(u))
    ids = tuple([u.task_id if isinstance(u, Task) else plain(u) for u in given])
    for u in ids:
        if type(u) is not str:
            raise DagkitError(f"{kind} '{shown(task_id)}': {what} {quoted(u)} must be text (str), not {kind_of(u)}. "
                              "Put it in quotes.")
    return ids


def mapped_over(who: str, what: str, given: Mapping[str, Any]) -> dict[str, str | int]:
    """argument -> the id of the task whose list is mapped over, or the length of a literal list.

    >>> mapped_over("task 'm'", ": expand", {"path": Task("list_files"), "day": ["mon", "tue"]})
    {'path': 'list_files', 'day': 2}
    """
    for name in given:
        if not isinstance(name, str):
            raise DagkitError(f"{who}{what}: the argument name {quoted(name)} must be text. Put it in quotes.")
    over = {plain(name): plain(source) if isinstance(source, str) else source.task_id if isinstance(source, Task)
            else length_of(source, f"{who}{what}[{quoted(name)}]") for name, source in given.items()}
    width = math.prod(source for source in over.values() if isinstance(source, int))
    if width > MOST:
        raise DagkitError(f"{who} would expand to {quoted(width)} instances; the kit plays at most {MOST} of one "
                          "task. Map over a shorter list.")
    return over


def _names(task_id: str, name: str, value: Any) -> Any:
    return value if value is None else upstream_ids(task_id, value, name)


def _expand(task_id: str, name: str, value: Any) -> Any:
    who = f"task '{shown(task_id)}'"
    if not isinstance(value, Mapping) or not value:
        raise DagkitError(f"{who}: expand must map argument names to an upstream id, a list or a length, "
                          f"not {quoted(value)}. Write expand={{'path': 'list_files'}}.")
    return mapped_over(who, ": expand", value)


@declared
class Task:
    """One unit of work and what it waits for. Parameters are named as Airflow names them.

    task_id: any non-empty text, unique in its Dag.
    upstream: a task_id, a Task, or several: what must be decided first.
    duration: in ticks for the simulator (whole, >= 1), in any one unit for planning (>= 0).
    pool, pool_slots: the pool it takes slots from while queued and running, and how many.
    retries, retry_delay: tries after the first, and ticks between them (>= 0).
    retry_exponential_backoff: False or 0, True (meaning 2.0), or a multiplier; max_retry_delay caps it.
    execution_timeout: ticks after which a running try is failed.
    trigger_rule: when its upstream states let it run, see ``dagkit.trigger_rules``.
    priority_weight, weight_rule: who goes first when places are scarce ("downstream", "upstream", "absolute").
    queue, executor: which workers may take it, and which executor hands it over.
    max_active_tis_per_dag, max_active_tis_per_dagrun: instances of this task at once, over all runs or in one.
    depends_on_past, wait_for_downstream, ignore_first_depends_on_past: what the previous run must have finished.
    branch: this task is a branch; the direct downstream ids it follows (the others are skipped).
    short_circuit: "hard" skips every task after this one, "soft" only the direct downstream.
    is_setup, is_teardown, on_failure_fail_dagrun: setup and teardown, see Airflow's documentation of them.
    empty: an EmptyOperator: the scheduler itself marks it success, it never takes a place.
    returns: the length of the list this task returns, for tasks mapped over it.
    expand: mapped over what upstreams return: ``{"path": "list_files"}``; a number or list is a literal.
    task_group: the mapped task group it belongs to (``Dag(groups=...)``).
    wait: a Sensor, Deferral or HumanInput: what it does instead of only running.
    outlets: names of the assets it updates when it succeeds (``Dag(assets=...)`` waits for them).
    latest_only: skips what directly follows it in every run but the latest (LatestOnlyOperator).

    A parameter set later is checked as if it had been declared so; once its Dag is built nothing of a task changes.
    What a subclass sets in its body (``class Query(Task): pool = "db"``) is given to each of its tasks.

    Raises DagkitError naming the task, the rule and the value found.

    >>> Task("load", upstream="extract", duration=3)
    Task('load')
    >>> Task("load", duration=-1)
    Traceback (most recent call last):
    ...
    dagkit.errors.DagkitError: task 'load': duration must be a number >= 0, not -1. Give a number of ticks.
    """

    task_id: str = parameter(must_be(TEXT), kw_only=False)
    upstream: Any = parameter(_names, default=(), kw_only=False)
    duration: Any = parameter(must_be(number(0), TICKS), default=1)
    pool: str = parameter(must_be(TEXT, "Name a pool of the scenario, such as 'default_pool'."), default="default_pool")
    pool_slots: int = parameter(must_be(whole(1), "Give the number of slots it holds while it runs."), default=1)
    retries: int = parameter(must_be(whole(0), "Give the number of tries after the first."), default=0)
    retry_delay: float = parameter(must_be(number(0), TICKS), default=1)
    retry_exponential_backoff: Any = parameter(must_be(
        ("True, False or a multiplier >= 0", lambda v: type(v) is bool or (is_number(v) and v >= 0)),
        "Write True for a delay that doubles."), default=False)
    max_retry_delay: Any = parameter(must_be(number(0, none=True), TICKS), default=None)
    execution_timeout: Any = parameter(must_be(number(0, none=True, strict=True), TICKS), default=None)
    trigger_rule: str = parameter(trigger_rule_of, default="all_success")
    priority_weight: int = parameter(must_be(
        ("a whole number", lambda v: type(v) is int and abs(v) < UNPRINTABLE), "Round it."), default=1)
    weight_rule: str = parameter(weight_rule_of, default="downstream")
    queue: str = parameter(must_be(TEXT, "Name the queue that workers listen to."), default="default")
    executor: str | None = parameter(must_be(TEXT_OR_NONE, "Name an executor of the scenario."), default=None)
    max_active_tis_per_dag: int | None = parameter(must_be(whole(1, none=True), NO_LIMIT), default=None)
    max_active_tis_per_dagrun: int | None = parameter(must_be(whole(1, none=True), NO_LIMIT), default=None)
    depends_on_past: bool = parameter(must_be(FLAG), default=False)
    wait_for_downstream: bool = parameter(must_be(FLAG), default=False)
    ignore_first_depends_on_past: bool = parameter(must_be(FLAG), default=False)
    branch: Any = parameter(_names, default=None)
    short_circuit: str | None = parameter(must_be(
        one_of("hard", "soft"), "Leave it out for a task that skips nothing."), default=None)
    is_setup: bool = parameter(must_be(FLAG), default=False)
    is_teardown: bool = parameter(must_be(FLAG), default=False)
    on_failure_fail_dagrun: bool = parameter(must_be(FLAG), default=False)
    empty: bool = parameter(must_be(FLAG), default=False)
    returns: Any = parameter(returns_of, default=None)
    expand: Any = parameter(_expand, default=None)
    task_group: str | None = parameter(must_be(TEXT_OR_NONE, "Name one of Dag(groups=...)."), default=None)
    wait: Any = parameter(must_be(
        ("a dk.Sensor, dk.Deferral, dk.HumanInput or None", lambda v: v is None or isinstance(v, Wait)),
        "Write wait=dk.Sensor(true_after=3)."), default=None)
    outlets: Any = parameter(_names, default=())
    latest_only: bool = parameter(must_be(FLAG), default=False)

    takes: ClassVar[Mapping[str, Parameter]]
    _dag: ClassVar[Dag | None] = None                     # the Dag it was built in, set in the task when it is
    _of_class: ClassVar[Mapping[str, Any]] = {}           # what the body of a subclass gives to each of its tasks
    _special: ClassVar[bool] = False                      # True in a task that was given any of SPECIAL

    def __init_subclass__(cls) -> None:
        cls._of_class = {name: value for name in PARAMETERS if name != "task_id"
                         and (value := getattr(cls, name)) is not Task.takes[name].default}
        if "upstream" in cls._of_class or "task_id" in vars(cls):
            raise DagkitError(f"class {cls.__name__}: it cannot set task_id or upstream. Give them to each task.")

    if not TYPE_CHECKING:                                 # type checkers read the fields above
        def __init__(self, task_id=None, *unnamed, upstream=NOTHING, **given):
            if type(task_id) is not str and type(task_id := plain(task_id)) is not str:
                raise DagkitError(f"task id {quoted(task_id)}: an id must be text (str), not {kind_of(task_id)}. "
                                  "Put it in quotes.")
            if not task_id:
                raise DagkitError("task id '': an id must not be empty. Give the task a name.")
            if unnamed:                                   # Task("b", "a")
                if len(unnamed) > 1 or upstream is not NOTHING:
                    raise _too_many(task_id, unnamed, upstream)
                upstream = unnamed[0]
            if self._of_class:
                given = {**self._of_class, **given}
            put(self, "task_id", task_id)                 # only what is given is kept in a task; see ``declared``
            put(self, "upstream", upstream if upstream is NOTHING else upstream_ids(task_id, upstream))
            if given:
                _take(self, given)
            if block := open_dags.get():
                block[-1]._add(self)

    def __setattr__(self, name: str, value: Any) -> None:
        """Of a task whose Dag is built nothing changes: plans, traces and files already count on what it says."""
        self._must_be_free(name)
        if name not in PARAMETERS:
            raise AttributeError(str(unknown(self.task_id, name)))
        if name == "task_id":
            raise DagkitError(f"task '{shown(self.task_id)}': an id cannot be changed, because other tasks name it. "
                              "Declare a task with the new id.")
        put(self, "__dict__", vars(rebuilt(self, {name: value})))         # if refused, nothing changed

    def __delattr__(self, name: str) -> None:
        self._must_be_free(name)
        raise DagkitError(f"task '{shown(self.task_id)}': {shown(name)} cannot be deleted. Set it to another value.")

    def _must_be_free(self, name: str) -> None:
        if self._dag is not None:
            raise DagkitError(f"task '{shown(self.task_id)}': its Dag '{shown(self._dag.dag_id)}' is already built, so "
                              f"{shown(name)} is fixed. For a changed copy write dag.replace('{shown(self.task_id)}', "
                              f"{shown(name)}=...).")

    def __reduce__(self) -> Any:
        """A copy (by pickle or copy) belongs to no Dag, and may be changed."""
        return detached, (self.task_id, kept_by(self), type(self))

    def __repr__(self) -> str:
        return f"Task('{shown(self.task_id)}')"

    def __rshift__(self, other: Any) -> Any:
        """``a >> b`` or ``a >> [b, c]``: the right side waits for the left. Returns the right side."""
        for task in _as_tasks(other, self):
            task._wait_for(self)
        return other

    def __rrshift__(self, other: Any) -> Task:
        """``[a, b] >> c``."""
        self << other
        return self

    def __lshift__(self, other: Any) -> Any:
        """``b << a``: the left side waits for the right. Returns the right side."""
        for task in _as_tasks(other, self):
            self._wait_for(task)
        return other

    def __rlshift__(self, other: Any) -> Task:
        """``[b, c] << a``."""
        self >> other
        return self

    def _wait_for(self, task: Task) -> None:
        if self._dag is not None:
            raise DagkitError(f"task '{shown(self.task_id)}': its Dag '{shown(self._dag.dag_id)}' is already built, so >> "
                              "comes too late. Set dependencies inside the `with Dag(...)` block.")
        if task._dag is not None:
            raise DagkitError(f"task '{shown(task.task_id)}': its Dag '{shown(task._dag.dag_id)}' is already built, so >> "
                              f"cannot add '{shown(self.task_id)}' to it. Build another: Dag('new', [*dag, "
                              f"Task('{shown(self.task_id)}', upstream='{shown(task.task_id)}')]).")
        if task.task_id not in self.upstream:
            put(self, "upstream", (*self.upstream, task.task_id))


PARAMETERS: tuple[str, ...] = tuple(Task.takes)


def _as_tasks(other: Any, task: Task) -> Sequence[Task]:
    found = [other] if isinstance(other, Task) else list(other) if isinstance(other, (list, tuple)) else []
    if not found or not all(isinstance(t, Task) for t in found):
        raise DagkitError(f"task '{shown(task.task_id)}': >> joins Tasks or lists of Tasks, not {quoted(other)}. "
                          "Write `a >> [b, c] >> d`.")
    return found


def _too_many(task_id: str, unnamed: tuple[Any, ...], upstream: Any) -> DagkitError:
    if len(unnamed) > 1:
        return DagkitError(f"task '{shown(task_id)}': after the id and what it waits for every value needs its name, and "
                           f"{quoted(unnamed[1])} has none. Write duration={quoted(unnamed[1])}, or put several upstreams "
                           "in a list.")
    return DagkitError(f"task '{shown(task_id)}': upstream is given twice, as {quoted(unnamed[0])} and as "
                       f"{quoted(upstream)}. Write upstream=['a', 'b'] for both.")


def _take(task: Task, given: Mapping[str, Any]) -> None:
    """Check and keep the keywords given."""
    for name, value in given.items():
        known = Task.takes.get(name)
        if known is None:
            raise unknown(task.task_id, name)
        if value is not known.default or name in task._of_class:
            put(task, name, known.take(task.task_id, name, value))
    if not SPECIAL.isdisjoint(given):
        put(task, "_special", True)
        _settle(task)


def _settle(task: Task) -> None:
    """What one parameter says about another."""
    who = f"task '{shown(task.task_id)}'"
    if task.is_teardown:
        if task.is_setup:
            raise DagkitError(f"{who}: a task cannot be both setup and teardown. Keep one of the two.")
        if task.trigger_rule not in ("all_success", "all_done_setup_success"):
            raise DagkitError(f"{who}: a teardown's trigger_rule must be all_done_setup_success, "
                              f"not {task.trigger_rule}. Leave it out.")
        put(task, "trigger_rule", "all_done_setup_success")
    sources = dict.fromkeys(over for over in (task.expand or {}).values() if isinstance(over, str))
    put(task, "upstream", (*task.upstream, *(s for s in sources if s not in task.upstream)))


def unknown(task_id: object, name: object) -> DagkitError:
    """The refusal of a parameter that no task has."""
    return DagkitError(f"task '{shown(task_id)}': parameter '{shown(name)}' is unknown.{meant(name, PARAMETERS[1:])} "
                       "help(dk.Task) lists all.")


def detached(task_id: str, spec: Mapping[str, Any], kind: type[Task] = Task) -> Task:
    """A Task that does not join the Dag whose ``with`` block happens to be open. kind: Task or a subclass."""
    held = open_dags.set(())
    try:
        task = kind.__new__(kind)
        Task.__init__(task, task_id, **spec)              # a subclass may ask for other things when it is declared
        return task
    finally:
        open_dags.reset(held)


def rebuilt(task: Task, changes: Mapping[str, Any], task_id: str | None = None) -> Task:
    """A copy of a task, of the same class, in which some parameters differ. It belongs to no Dag.

    One that is no teardown any more loses the trigger rule which that brought.
    """
    if "task_id" in changes:
        raise unknown(task.task_id, "task_id")
    kept = {**kept_by(task), **changes}
    if task.is_teardown and not kept["is_teardown"] and "trigger_rule" not in changes:
        del kept["trigger_rule"]
    return detached(task.task_id if task_id is None else task_id, kept, type(task))


def kept_by(task: Task) -> dict[str, Any]:
    """What a task was given, apart from its id."""
    return {name: value for name, value in vars(task).items() if name not in ("task_id", "_dag", "_special")}


def spec_of(task: Task) -> dict[str, Any]:
    """The parameters of a task that differ from their defaults.

    >>> spec_of(Task("b", upstream="a", retries=2))
    {'upstream': ('a',), 'retries': 2}
    """
    given = vars(task)
    return {name: given[name] for name, (default, *_) in Task.takes.items() if name in given and name != "task_id"
            and (given[name] != default or type(given[name]) is not type(default))}
