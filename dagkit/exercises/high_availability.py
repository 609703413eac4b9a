"""Exercise 8: an order of steps in which a row is taken twice, and SQL for which there is none."""

from __future__ import annotations

import re
from typing import Any

from ..claims.model import Interleavings, Moment
from ..claims.strategies import CLAUSE, STRATEGIES, Strategy
from ..errors import expect, quoted
from .trial import NotYet, Task

NAMED = {clause.strip(): lock for lock, clause in CLAUSE.items()}


def plays(strategy: Strategy) -> Interleavings:
    """Every order of two schedulers' steps under a strategy of one's own."""
    found = Interleavings("unlocked", batch=2)
    found.strategy = strategy
    return found


def told(order: str) -> list[str]:
    """What happens in an order of steps such as "AABB", when nobody locks or guards anything.

    Raises DagkitError for an order that cannot happen.

    >>> told("A")
    ['A reads rows 1, 2 as scheduled']
    """
    expect("told", order, str, "who moves, in letters, such as 'AABB'")
    return [f"{who} {what}" for who, what, _ in plays(STRATEGIES["unlocked"]).told(order)]


def twice(order: Any) -> None:
    """An order that leads to a row being handed over twice."""
    if not isinstance(order, str) or not order or set(order) - {"A", "B"}:
        raise NotYet(f"order must be letters A and B, such as 'AABB', not {quoted(order)}.")
    if len(order) > 20:
        raise NotYet("Each scheduler has four steps: read, update, commit, hand over. Waiting adds one or two.")
    steps = plays(STRATEGIES["unlocked"]).told(order)
    if not steps[-1][2].double:
        last = "; ".join(f"{who} {what}" for who, what, _ in steps[-2:])
        raise NotYet(f"After {quoted(order)} no row was handed over twice. Last: {last}.",
                     "When must B read, so that it still sees what A is about to take? See dk.exercises.told(order).")


def clean(sql: Any, name: str, first: str) -> str:
    """SQL in one line and in capitals. Raises NotYet for what is none."""
    if not isinstance(sql, str):
        raise NotYet(f"{name} must be SQL in quotes, not {quoted(sql)}.")
    line = re.sub(r"\s+", " ", sql.strip().rstrip(";")).upper()
    if not line.startswith(first) or ";" in line or "--" in line or "/*" in line:
        raise NotYet(f"{name} must be one {first} without comments; it begins with {quoted(line[:20])}.")
    return line


def guarded(update: Any) -> bool:
    """Whether an UPDATE takes only rows that are still scheduled. Raises NotYet for one that could not do the job."""
    line = clean(update, "update", "UPDATE TI SET")
    head, _, where = line.partition(" WHERE ")
    where, _, returning = where.partition(" RETURNING ")
    if "STATE = 'QUEUED'" not in head.replace("STATE='QUEUED'", "STATE = 'QUEUED'"):
        raise NotYet("update does not set the state to queued.")
    if "ID = ANY(" not in where.replace("ID=ANY(", "ID = ANY(").replace("ANY (", "ANY("):
        raise NotYet("update changes rows that were never picked.", "Keep the part WHERE id = ANY(%s).")
    if not returning.startswith("ID"):
        raise NotYet("After this update nobody knows which rows it has changed.",
                     "RETURNING id says which rows to hand over.")
    if " OR " in where:
        raise NotYet("update joins its conditions with OR, so one of them is enough.", "Both must hold.")
    return bool(re.search(r"\bSTATE\s*=\s*'SCHEDULED'", where))


def lock_of(select: Any) -> Any:
    """The lock clause of a SELECT, as the model knows it. Raises NotYet for others."""
    line = clean(select, "select", "SELECT ID FROM TI WHERE")
    if not re.search(r"\bSTATE\s*=\s*'SCHEDULED'", line):
        raise NotYet("select picks rows that are not scheduled at all.", "Keep the part state = 'scheduled'.")
    clause = re.search(r"\bFOR .*$", line)
    words = clause.group() if clause else ""
    if words not in NAMED:
        raise NotYet(f"The lock clause {quoted(words)} is none of those lesson 8 compares.",
                     "It begins with FOR UPDATE, and comes last.")
    return NAMED[words]


def never_twice(update: Any) -> None:
    """With a SELECT that locks nothing, the guard alone must do."""
    found = plays(Strategy("mine", "yours", guard=guarded(update)))
    if found.can_double:
        raise NotYet(f"In {found.doubles} of {found.orders} orders a row is still taken twice, for example "
                     f"{found.example}.",
                     "The second scheduler waits, and then looks at the WHERE again. What should it find there?")


def never_waits(select: Any, update: Any) -> None:
    """Both schedulers work at the same time: no double, no wait, no error, no empty hand while rows are left."""
    found = plays(Strategy("mine", "yours", lock_of(select), guard=guarded(update)))
    found.rows, found.batch = 4, 2
    if found.can_double:
        raise NotYet(f"In {found.doubles} of {found.orders} orders a row is taken twice, for example {found.example}.",
                     "Does the update still have its guard?")
    moments = list(found.moments)
    if any(_has(moment, "waits") for moment in moments):
        raise NotYet("No row is taken twice. But there are orders in which one scheduler waits for the other.",
                     "Two schedulers that wait for each other are no faster than one. Is there a clause that passes by?")
    if any(_has(moment, "gets an error") for moment in moments):
        raise NotYet("No row is taken twice. But there are orders in which one scheduler gets an error and comes away "
                     "empty.",
                     "Locked rows are no mistake. Is there a clause that passes by?")


def _has(moment: Moment, how: str) -> bool:
    return any(side.over == how or (how == "waits" and side.waits is not None) for side in moment.sides)


TASKS = (
    Task("8.1", ("order",), twice, "That is how a task starts twice."),
    Task("8.2", ("update",), never_twice, "In no order is a row taken twice."),
    Task("8.3", ("select", "update"), never_waits, "Both schedulers work, nobody waits, and no row is taken twice."),
)
