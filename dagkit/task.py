"""One task: what a learner declares about it, checked while it is declared."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from numbers import Real
from typing import TYPE_CHECKING, Any

from . import trigger_rules
from .checks import HUGE, MOST, UNPRINTABLE, plain
from .errors import DagkitError, choices, nearest, quoted, shown
from .waits import Wait

if TYPE_CHECKING:
    from .dag import Dag

WEIGHT_RULES = ("downstream", "upstream", "absolute")
open_dags: ContextVar[tuple[Dag, ...]] = ContextVar("open_dags", default=())
"""Dags whose ``with`` block is open, per thread; a Task made meanwhile joins the innermost."""


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

    Raises DagkitError naming the task, the rule and the value found.

    >>> Task("load", upstream="extract", duration=3)
    Task('load')
    >>> Task("load", duration=-1)
    Traceback (most recent call last):
    ...
    dagkit.errors.DagkitError: task 'load': duration must be a number >= 0, not -1. Give a number of ticks.
    """

    __slots__ = (
        "task_id", "upstream", "duration", "pool", "pool_slots", "retries", "retry_delay",
        "retry_exponential_backoff", "max_retry_delay", "execution_timeout", "trigger_rule", "priority_weight",
        "weight_rule", "queue", "executor", "max_active_tis_per_dag", "max_active_tis_per_dagrun",
        "depends_on_past", "wait_for_downstream", "ignore_first_depends_on_past", "branch", "short_circuit",
        "is_setup", "is_teardown", "on_failure_fail_dagrun", "empty", "returns", "expand", "task_group", "wait",
        "outlets", "latest_only", "_dag",
    )

    def __init__(
        self, task_id: str, upstream: Any = (), *, duration: Any = 1, pool: str = "default_pool", pool_slots: int = 1,
        retries: int = 0, retry_delay: float = 1, retry_exponential_backoff: Any = False, max_retry_delay: Any = None,
        execution_timeout: Any = None, trigger_rule: str = "all_success", priority_weight: int = 1,
        weight_rule: str = "downstream", queue: str = "default", executor: str | None = None,
        max_active_tis_per_dag: int | None = None, max_active_tis_per_dagrun: int | None = None,
        depends_on_past: bool = False, wait_for_downstream: bool = False, ignore_first_depends_on_past: bool = False,
        branch: Any = None, short_circuit: str | None = None, is_setup: bool = False, is_teardown: bool = False,
        on_failure_fail_dagrun: bool = False, empty: bool = False, returns: Any = None,
        expand: Mapping[str, Any] | None = None, task_group: str | None = None, wait: Any = None,
        outlets: Any = (), latest_only: bool = False,
    ):
        self.task_id = task_id
        self.upstream = upstream
        self.duration = duration
        self.pool = pool
        self.pool_slots = pool_slots
        self.retries = retries
        self.retry_delay = retry_delay
        self.retry_exponential_backoff = retry_exponential_backoff
        self.max_retry_delay = max_retry_delay
        self.execution_timeout = execution_timeout
        self.trigger_rule = trigger_rule
        self.priority_weight = priority_weight
        self.weight_rule = weight_rule
        self.queue = queue
        self.executor = executor
        self.max_active_tis_per_dag = max_active_tis_per_dag
        self.max_active_tis_per_dagrun = max_active_tis_per_dagrun
        self.depends_on_past = depends_on_past
        self.wait_for_downstream = wait_for_downstream
        self.ignore_first_depends_on_past = ignore_first_depends_on_past
        self.branch = branch
        self.short_circuit = short_circuit
        self.is_setup = is_setup
        self.is_teardown = is_teardown
        self.on_failure_fail_dagrun = on_failure_fail_dagrun
        self.empty = empty
        self.returns = returns
        self.expand = expand
        self.task_group = task_group
        self.wait = wait
        self.outlets = outlets
        self.latest_only = latest_only
        self._dag: Dag | None = None
        _check_task(self)
        block = open_dags.get()
        if block:
            block[-1]._add(self)

    def __repr__(self) -> str:
        return f"Task('{shown(self.task_id)}')"

    def __rshift__(self, other: Any) -> Any:
        """``a >> b`` or ``a >> [b, c]``: the right side waits for the left. Returns the right side."""
        for task in _as_tasks(other, self):
            task._wait_for(self)
        return other

    def __rrshift__(self, other: Any) -> Task:
        """``[a, b] >> c``."""
        for task in _as_tasks(other, self):
            self._wait_for(task)
        return self

    def __lshift__(self, other: Any) -> Any:
        """``b << a``: the left side waits for the right. Returns the right side."""
        for task in _as_tasks(other, self):
            self._wait_for(task)
        return other

    def __rlshift__(self, other: Any) -> Task:
        """``[b, c] << a``."""
        for task in _as_tasks(other, self):
            task._wait_for(self)
        return self

    def _wait_for(self, task: Task) -> None:
        if self._dag is not None and self._dag.closed:
            raise DagkitError(
                f"task '{shown(self.task_id)}': its Dag '{shown(self._dag.dag_id)}' is already built, so >> comes too "
                "late. Set dependencies inside the `with Dag(...)` block."
            )
        if task.task_id not in self.upstream:
            self.upstream = (*self.upstream, task.task_id)


class BuiltTask(Task):
    """A task whose Dag is built: plans, traces and files already count on what it says."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        where = f"its Dag '{shown(self._dag.dag_id)}'" if self._dag is not None else "its Dag"
        raise DagkitError(f"task '{shown(self.task_id)}': {where} is already built, so {shown(name)} is fixed. For a "
                          f"changed copy write dag.replace('{shown(self.task_id)}', {shown(name)}=...).")

    def __reduce__(self) -> Any:
        return _rebuilt, (self.task_id, spec_of(self))


def _rebuilt(task_id: str, spec: Mapping[str, Any]) -> Task:
    """A copy (by pickle or copy) belongs to no Dag, and may be changed."""
    return detached(task_id, spec)


def _as_tasks(other: Any, task: Task) -> Sequence[Task]:
    found = [other] if isinstance(other, Task) else list(other) if isinstance(other, (list, tuple)) else []
    if not found or not all(isinstance(t, Task) for t in found):
        raise DagkitError(
            f"task '{shown(task.task_id)}': >> joins Tasks or lists of Tasks, not {quoted(other)}. "
            "Write `a >> [b, c] >> d`."
        )
    return found


def _whole(low: int, *, none: bool = False) -> Any:
    kind = f"a whole number >= {low}" + (" or None" if none else "")
    return kind, lambda v: (none and v is None) or (type(v) is int and low <= v < HUGE)


def is_number(value: object) -> bool:
    """A finite int or float, and not a bool (which Python counts as 0 or 1)."""
    return (type(value) is int and abs(value) < UNPRINTABLE) or (type(value) is float and math.isfinite(value)) or (
        hasattr(value, "dtype") and isinstance(value, Real) and math.isfinite(value)   # numpy's scalars, not its arrays
    )


def _number(low: float, *, none: bool = False, strict: bool = False) -> Any:
    kind = f"a number {'>' if strict else '>='} {low}" + (" or None" if none else "")
    return kind, lambda v: (none and v is None) or (is_number(v) and (v > low if strict else v >= low))


def _one_of(*names: str) -> Any:
    kind = "one of " + ", ".join(map(repr, (*names, None)))
    return kind, lambda v: v is None or (isinstance(v, str) and v in names)


_TEXT = ("text", lambda v: type(v) is str and v != "")
_TEXT_OR_NONE = ("text or None", lambda v: v is None or (type(v) is str and v != ""))
_FLAG = ("True or False", lambda v: type(v) is bool)

# What each parameter may be; only values that differ from the default are looked at.
_RULES: dict[str, tuple[Any, Any]] = {
    "duration": (1, _number(0)),
    "pool": ("default_pool", _TEXT),
    "pool_slots": (1, _whole(1)),
    "retries": (0, _whole(0)),
    "retry_delay": (1, _number(0)),
    "retry_exponential_backoff": (False, ("True, False or a multiplier >= 0",
                                          lambda v: type(v) is bool or (is_number(v) and v >= 0))),
    "max_retry_delay": (None, _number(0, none=True)),
    "execution_timeout": (None, _number(0, none=True, strict=True)),
    "priority_weight": (1, ("a whole number", lambda v: type(v) is int and abs(v) < UNPRINTABLE)),
    "queue": ("default", _TEXT),
    "executor": (None, _TEXT_OR_NONE),
    "max_active_tis_per_dag": (None, _whole(1, none=True)),
    "max_active_tis_per_dagrun": (None, _whole(1, none=True)),
    "depends_on_past": (False, _FLAG),
    "wait_for_downstream": (False, _FLAG),
    "ignore_first_depends_on_past": (False, _FLAG),
    "short_circuit": (None, _one_of("hard", "soft")),
    "is_setup": (False, _FLAG),
    "is_teardown": (False, _FLAG),
    "on_failure_fail_dagrun": (False, _FLAG),
    "empty": (False, _FLAG),
    "task_group": (None, _TEXT_OR_NONE),
    "latest_only": (False, _FLAG),
    "wait": (None, ("a dk.Sensor, dk.Deferral, dk.HumanInput or None", lambda v: v is None or isinstance(v, Wait))),
}
_HINTS = dict.fromkeys(("duration", "retry_delay", "max_retry_delay", "execution_timeout"), "Give a number of ticks.") | {
    "pool": "Name a pool of the scenario, such as 'default_pool'.",
    "pool_slots": "Give the number of slots it holds while it runs.",
    "retries": "Give the number of tries after the first.",
    "retry_exponential_backoff": "Write True for a delay that doubles.",
    "priority_weight": "Round it.",
    "queue": "Name the queue that workers listen to.",
    "executor": "Name an executor of the scenario.",
    "max_active_tis_per_dag": "Leave it out for no limit.",
    "max_active_tis_per_dagrun": "Leave it out for no limit.",
    "short_circuit": "Leave it out for a task that skips nothing.",
    "task_group": "Name one of Dag(groups=...).",
    "wait": "Write wait=dk.Sensor(true_after=3).",
}
_checked = operator.attrgetter(*_RULES)
_CHECKED_DEFAULTS = tuple(default for default, _ in _RULES.values())
PARAMETERS: tuple[str, ...] = tuple(name for name in Task.__slots__ if name != "_dag")


def _check_task(task: Task) -> None:
    if type(task.task_id) is not str:
        raise DagkitError(f"task id {quoted(task.task_id)}: an id must be text (str), not {kind_of(task.task_id)}. "
                          "Put it in quotes.")
    if not task.task_id:
        raise DagkitError("task id '': an id must not be empty. Give the task a name.")
    task.upstream = upstream_ids(task.task_id, task.upstream)
    if not all(map(operator.is_, _checked(task), _CHECKED_DEFAULTS)):
        for name, (default, (kind, ok)) in _RULES.items():
            value = getattr(task, name)
            if value is not default and not ok(value):
                raise DagkitError(f"task '{shown(task.task_id)}': {name} must be {kind}, not {quoted(value)}. "
                                  f"{_HINTS.get(name, 'Write one of the two.')}")
            if hasattr(value, "dtype"):
                setattr(task, name, plain(value))
    if type(task.trigger_rule) is not str or task.trigger_rule != "all_success":
        trigger_rules.check(task.trigger_rule, f"task '{shown(task.task_id)}'")
    if not isinstance(task.weight_rule, str) or task.weight_rule not in WEIGHT_RULES:
        raise DagkitError(f"task '{shown(task.task_id)}': weight_rule '{shown(task.weight_rule)}' is unknown."
                          f"{nearest(task.weight_rule, WEIGHT_RULES)} Known: {choices(WEIGHT_RULES)}.")
    if task.outlets.__class__ is not tuple or task.outlets:
        task.outlets = upstream_ids(task.task_id, task.outlets, "outlets")
    if task.branch is not None:
        task.branch = upstream_ids(task.task_id, task.branch, "branch")
    if task.is_teardown or task.returns is not None or task.expand is not None:
        _check_rare(task)


def _check_rare(task: Task) -> None:
    who = f"task '{shown(task.task_id)}'"
    if task.is_teardown:
        if task.is_setup:
            raise DagkitError(f"{who}: a task cannot be both setup and teardown. Keep one of the two.")
        if task.trigger_rule not in ("all_success", "all_done_setup_success"):
            raise DagkitError(f"{who}: a teardown's trigger_rule must be all_done_setup_success, "
                              f"not {task.trigger_rule}. Leave it out.")
        task.trigger_rule = "all_done_setup_success"
    if task.returns is not None:
        task.returns = _length(task.returns, f"{who}: returns")
    if task.expand is not None:
        if not isinstance(task.expand, Mapping) or not task.expand:
            raise DagkitError(f"{who}: expand must map argument names to an upstream id, a list or a length, "
                              f"not {quoted(task.expand)}. Write expand={{'path': 'list_files'}}.")
        task.expand = mapped_over(who, ": expand", task.expand)
        sources = [over for over in task.expand.values() if isinstance(over, str)]
        task.upstream = (*task.upstream, *(s for s in dict.fromkeys(sources) if s not in task.upstream))


def _length(value: Any, what: str) -> int:
    length = len(value) if isinstance(value, (list, tuple)) else value
    if type(length) is not int or length < 0:
        raise DagkitError(f"{what} must be a list or its length (a whole number >= 0), not {quoted(value)}. "
                          "Give the number of items.")
    if length > MOST:
        raise DagkitError(f"{what} must be no longer than {MOST}, not {quoted(length)}. Map over a shorter list.")
    return length


def mapped_over(who: str, what: str, given: Mapping[str, Any]) -> dict[str, str | int]:
    """argument -> the id of the task whose list is mapped over, or the length of a literal list.

    >>> mapped_over("task 'm'", ": expand", {"path": Task("list_files"), "day": ["mon", "tue"]})
    {'path': 'list_files', 'day': 2}
    """
    for name in given:
        if not isinstance(name, str):
            raise DagkitError(f"{who}{what}: the argument name {quoted(name)} must be text. Put it in quotes.")
    over = {name: source if isinstance(source, str) else source.task_id if isinstance(source, Task)
            else _length(source, f"{who}{what}[{quoted(name)}]") for name, source in given.items()}
    width = math.prod(source for source in over.values() if isinstance(source, int))
    if width > MOST:
        raise DagkitError(f"{who} would expand to {quoted(width)} instances; the kit plays at most {MOST} of one "
                          "task. Map over a shorter list.")
    return over


def upstream_ids(task_id: str, given: Any, what: str = "upstream", kind: str = "task") -> tuple[str, ...]:
    if given.__class__ is tuple and not given:
        return given
    if isinstance(given, (str, Task)):
        given = (given,)
    elif not isinstance(given, Iterable):
        named = "names of assets" if what in ("outlets", "assets") else "task ids"
        raise DagkitError(f"{kind} '{shown(task_id)}': {what} must be {named}, not {kind_of(given)}. "
                          f"Write {what}=['a', 'b'].")
    elif isinstance(given, (set, frozenset)):              # an order that is the same on every machine
        given = sorted(given, key=lambda u: u.task_id if isinstance(u, Task) else str(u))
    ids = tuple(u if type(u) is str else u.task_id if isinstance(u, Task) else u for u in given)
    for u in ids:
        if type(u) is not str:
            raise DagkitError(f"{kind} '{shown(task_id)}': {what} {quoted(u)} must be text (str), not {kind_of(u)}. "
                              "Put it in quotes.")
    return ids


def kind_of(value: object) -> str:
    return "None" if value is None else type(value).__name__


def detached(task_id: str, spec: Mapping[str, Any]) -> Task:
    """A Task that does not join the Dag whose ``with`` block happens to be open."""
    held = open_dags.set(())
    try:
        return Task(task_id, **spec)
    finally:
        open_dags.reset(held)


def spec_of(task: Task) -> dict[str, Any]:
    """The parameters of a task that differ from their defaults.

    >>> spec_of(Task("b", upstream="a", retries=2))
    {'upstream': ('a',), 'retries': 2}
    """
    return {name: getattr(task, name) for name in PARAMETERS[1:]
            if getattr(task, name) != _DEFAULTS[name] or type(getattr(task, name)) is not type(_DEFAULTS[name])}


_DEFAULTS: dict[str, Any] = dict(zip(PARAMETERS, (getattr(Task("_"), name) for name in PARAMETERS), strict=True))
