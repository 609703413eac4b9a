"""Two futures side by side: where two traces part, and what made the difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import DagkitError, choices, quoted, shown
from .explain import Reason, reason, situation
from .usage import needs

if TYPE_CHECKING:
    from .trace import Trace


@dataclass(frozen=True)
class Difference:
    """The first tick at which two traces part. Printing it gives the sentence.

    tick: None if they are equal. label, left, right: the first task instance that differs and its two states.
    left_reason, right_reason: why it is there in each. because: the limit or rule that made the difference.
    """

    tick: int | None
    label: str = ""
    left: str = ""
    right: str = ""
    left_reason: Reason | None = None
    right_reason: Reason | None = None
    because: str = ""

    def __bool__(self) -> bool:
        return self.tick is not None

    def __str__(self) -> str:
        if self.tick is None:
            return "the two traces are the same."
        if not self.label:
            return self.because
        return (f"they part at tick {self.tick}: {shown(self.label)} is {self.left} in the first and {self.right} in "
                f"the second. {self.because}")


def diff(first: Trace, second: Trace) -> Difference:
    """The first tick at which the states of two traces differ. Raises DagkitError for what is no trace."""
    from .trace import Trace
    for trace in (first, second):
        if not isinstance(trace, Trace):
            raise DagkitError(f"diff: needs another trace, not {quoted(trace)}. Write trace.diff(dk.simulate(dag)).")
    moves = _moves(first), _moves(second)
    for tick in sorted({0, *moves[0], *moves[1]}):
        if not tick or moves[0].get(tick) != moves[1].get(tick):
            left, right = first.states_at(tick), second.states_at(tick)
            if left != right:
                return _difference(first, second, tick, left, right)
    return Difference(None)


def _moves(trace: Trace) -> dict[int, dict[str, int]]:
    """For each tick, the labels that changed and the state each ended the tick in."""
    moves: dict[int, dict[str, int]] = {}
    for tick, ti, new in zip(trace._event_tick.tolist(), trace._event_ti, trace._event_new, strict=True):
        moves.setdefault(tick, {})[trace._label(ti, tick)] = new
    return moves


def _difference(first: Trace, second: Trace, tick: int, left: dict[str, str], right: dict[str, str]) -> Difference:
    ours = [[plan.dag.dag_id for plan in trace._plans] for trace in (first, second)]
    if ours[0] != ours[1]:
        return Difference(tick, because=f"These are different Dags ({choices(ours[0])} and {choices(ours[1])}), "
                          "so there is no common past.")
    label = next(name for name in (*left, *right) if left.get(name) != right.get(name))
    reasons = [reason(trace, trace._ti(label), tick) if label in states and label in trace._by_label else None
               for trace, states in ((first, left), (second, right))]
    held = next(((r.code, r.text) for r in reasons if r is not None and r.code not in ("running", "finished", "worker")),
                None)
    held = (_cleared(first, label, tick) or _cleared(second, label, tick)
            or _other_cap(first, second, label, tick) or _other_cap(second, first, label, tick) or held)
    because = f"What made the difference: {held[0]} ({held[1].rstrip('.')})." if held else \
        "What made the difference: how the try ended or how long it took."
    return Difference(tick, label, left.get(label, "absent"), right.get(label, "absent"), reasons[0], reasons[1], because)


def _cleared(trace: Trace, label: str, tick: int) -> tuple[str, str] | None:
    """Whether the task instance was cleared by hand in this tick."""
    if label not in trace._by_label:
        return None
    hit = any(t == tick and trace._causes.get(e) == "cleared" for t, _, e in trace._changes_of(trace._ti(label)))
    return ("cleared", f"{shown(label)} was cleared at tick {tick}") if hit else None


def _other_cap(here: Trace, there: Trace, label: str, tick: int) -> tuple[str, str] | None:
    """Of the limits that hold a scheduled TI back here, one whose cap is another there: several may be full at once."""
    now, beside = situation(here, tick), situation(there, tick)
    if here.states_at(tick).get(label) != "scheduled" or label not in beside.trace._by_label:
        return None
    caps = {need.limit: need.cap for need in needs(beside.trace, beside.trace._ti(label))}
    for need in needs(now.trace, now.trace._ti(label)):
        used = now.used(need.limit)
        if used + need.places > need.cap != caps.get(need.limit, need.cap):
            return now.full(need, used)[:2]
    return None
