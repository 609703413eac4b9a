"""Parameters of a class that is declared field by field: each one's default, and what it must be.

``declared`` reads the table from the class body. An object then stores only what it was given; everything else is
read from the class, so that a hundred thousand tasks cost what they say and not what they could have said.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar, dataclass_transform

from .checks import HUGE, MOST, is_number, plain
from .errors import DagkitError, choices, nearest, quoted, shown
from .trigger_rules import check as check_rule

T = TypeVar("T")
Take = Callable[[str, str, Any], Any]
"""(task_id, name, value) -> the value to keep. Raises DagkitError where it will not do."""
Kind = tuple[str, Callable[[Any], bool]]
"""What a value must be, in words and as a test."""

WEIGHT_RULES = ("downstream", "upstream", "absolute")
SPECIAL = frozenset({"execution_timeout", "depends_on_past", "wait_for_downstream", "branch", "short_circuit", "is_setup",
                     "is_teardown", "empty", "expand", "task_group", "wait", "outlets", "latest_only"})
"""Parameters that ask for more than a run of some length once all upstreams are done."""
REQUIRED: Any = inspect.Parameter.empty


class Parameter(NamedTuple):
    """The default of a parameter, and what takes any other value."""

    default: Any
    take: Take
    kw_only: bool


def parameter(take: Take, *, default: Any = REQUIRED, kw_only: bool = True) -> Any:
    """A field of a ``declared`` class."""
    return Parameter(default, take, kw_only)


def must_be(kind: Kind, hint: str = "Write one of the two.") -> Take:
    """Takes values of one kind; numpy's numbers become Python's.

    >>> must_be(whole(1), "Leave it out for no limit.")("load", "retries", 0)
    Traceback (most recent call last):
    ...
    dagkit.errors.DagkitError: task 'load': retries must be a whole number >= 1, not 0. Leave it out for no limit.
    """
    words, ok = kind

    def take(task_id: str, name: str, value: Any) -> Any:
        found = value if type(value) is int else plain(value)
        if not ok(found):
            raise DagkitError(f"task '{shown(task_id)}': {name} must be {words}, not {quoted(value)}. {hint}")
        return found
    return take


def whole(low: int, *, none: bool = False) -> Kind:
    return (f"a whole number >= {low}" + (" or None" if none else ""),
            lambda v: (none and v is None) or (type(v) is int and low <= v < HUGE))


def number(low: float, *, none: bool = False, strict: bool = False) -> Kind:
    return (f"a number {'>' if strict else '>='} {low}" + (" or None" if none else ""),
            lambda v: (type(v) is int and low < v < HUGE)         # nearly always
            or (none and v is None) or (is_number(v) and (v > low if strict else v >= low)))


def one_of(*names: str) -> Kind:
    return ("one of " + ", ".join(map(repr, (*names, None))),
            lambda v: v is None or (isinstance(v, str) and v in names))


TEXT: Kind = ("text", lambda v: type(v) is str and v != "")
TEXT_OR_NONE: Kind = ("text or None", lambda v: v is None or (type(v) is str and v != ""))
FLAG: Kind = ("True or False", lambda v: type(v) is bool)


def trigger_rule_of(task_id: str, name: str, value: Any) -> Any:
    check_rule(value, f"task '{shown(task_id)}'")
    return plain(value)


def weight_rule_of(task_id: str, name: str, value: Any) -> Any:
    if not isinstance(value, str) or value not in WEIGHT_RULES:
        raise DagkitError(f"task '{shown(task_id)}': weight_rule '{shown(value)}' is unknown."
                          f"{nearest(value, WEIGHT_RULES)} Known: {choices(WEIGHT_RULES)}.")
    return plain(value)


def kind_of(value: object) -> str:
    return "None" if value is None else type(value).__name__


def length_of(value: Any, what: str) -> int:
    """How many items are mapped over: a list, or how long it is."""
    length = len(value) if isinstance(value, (list, tuple)) else plain(value)
    if type(length) is not int or length < 0:
        raise DagkitError(f"{what} must be a list or its length (a whole number >= 0), not {quoted(value)}. "
                          "Give the number of items.")
    if length > MOST:
        raise DagkitError(f"{what} must be no longer than {MOST}, not {quoted(length)}. Map over a shorter list.")
    return length


def returns_of(task_id: str, name: str, value: Any) -> Any:
    return length_of(value, f"task '{shown(task_id)}': returns")


WAITS_FOR = frozenset((
    "after", "comes_after", "dependencies", "dependency", "depends", "depends_on", "deps", "follows", "inputs", "needs",
    "parent", "parents", "predecessors", "previous", "requires", "run_after", "upstream_list", "upstream_task",
    "upstream_task_ids", "upstream_tasks", "upstreams", "wait_for", "waits_for"))
COMES_BEFORE = frozenset((
    "before", "children", "comes_before", "downstream", "downstream_list", "downstream_task_ids", "downstream_tasks",
    "downstreams", "followed_by", "next", "outputs", "successors", "then", "triggers"))
"""What an order between tasks is called elsewhere."""


def meant(name: object, known: Sequence[str]) -> str:
    """What an unknown parameter of a task may have meant: a word of another tool, a typing error, or "".

    >>> meant("needs", ["upstream"])
    ' A task names what it waits for: write upstream=[...].'
    >>> meant("retris", ["retries", "queue"])
    " Did you mean 'retries'?"
    """
    if name in WAITS_FOR:
        return " A task names what it waits for: write upstream=[...]."
    if name in COMES_BEFORE:
        return " A task names what it waits for, not what follows: write upstream=[...] at the other one, or first >> then."
    return nearest(name, known, most=3)


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter,))
def declared(cls: type[T]) -> type[T]:
    """Class decorator: defaults become class attributes, and ``takes`` the table of all parameters.

    Type checkers read the fields as the parameters of ``__init__``; so do ``help`` and Shift-Tab, by __signature__.
    """
    fields = {name: value for name, value in vars(cls).items() if isinstance(value, Parameter)}
    shape = []
    for name, field in fields.items():
        if field.default is REQUIRED:
            delattr(cls, name)
        else:
            setattr(cls, name, field.default)
        kind = inspect.Parameter.KEYWORD_ONLY if field.kw_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
        shape.append(inspect.Parameter(name, kind, default=field.default, annotation=cls.__annotations__[name]))
    cls.takes, cls.__signature__ = fields, inspect.Signature(shape)  # type: ignore[attr-defined]
    return cls
