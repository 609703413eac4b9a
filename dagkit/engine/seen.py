"""When an edit of a Dag takes effect: at once, unless the Dag processor is down or slow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..faults import DagProcessorDown, SlowDagProcessor
from ..scenario import Scenario

EDITS = frozenset({"dag", "tasks"})
"""Changes of Dag files. What else is changed together with one waits with it."""


def seen(scenario: Scenario) -> list[tuple[int, tuple[int, Mapping[str, Any]]]]:
    """The changes on the way as (tick from which it holds, (tick, change)); one that is never seen is left out.

    Whenever a file is parsed all edits made so far are in it, so an earlier edit is never seen after a later one.
    """
    faults = [f for f in scenario.faults if isinstance(f, (DagProcessorDown, SlowDagProcessor))]
    if not faults:
        return [(change[0], change) for change in scenario.changes]
    found: list[tuple[int, tuple[int, Mapping[str, Any]]]] = []
    next_edit: int | None = None
    for tick, change in reversed(scenario.changes):
        at: int | None = tick
        if EDITS & set(change):
            known = [t for t in (_parsed(faults, tick), next_edit) if t is not None]
            at = next_edit = min(known, default=None)
        if at is not None:
            found.append((at, (tick, change)))
    found.reverse()
    return sorted(found, key=lambda entry: entry[0])


def _parsed(faults: list[Any], tick: int) -> int | None:
    """The tick at which a file saved at ``tick`` has been parsed, or None: each fault may put it off once more."""
    for _ in faults:
        for fault in faults:
            at = fault.seen(tick)
            if at is None:
                return None
            tick = at if isinstance(fault, DagProcessorDown) else tick
    return tick + max((f.delay for f in faults if isinstance(f, SlowDagProcessor) and f.holds(tick)), default=0)


def unseen(scenario: Scenario, tick: int) -> list[tuple[int, int | None, Mapping[str, Any]]]:
    """The edits made by ``tick`` that do not hold yet: (tick, tick from which it will hold or None, change)."""
    holds_from = {id(entry[1]): at for at, entry in seen(scenario)}
    return [(at, holds_from.get(id(change)), change) for at, change in scenario.changes if EDITS & set(change)
            and at <= tick and holds_from.get(id(change), tick + 1) > tick]


def late(scenario: Scenario) -> list[tuple[int, int | None]]:
    """Edits that do not hold at once: (tick, tick from which it holds or None)."""
    return [(tick, at) for change in scenario.changes
            for tick, at, seen_change in unseen(scenario, change[0]) if seen_change is change[1] and tick == change[0]]
