"""The six ways to claim rows, as data: what each sends to the database between BEGIN and COMMIT.

Only the last one is Airflow's own way from scheduled to queued (``SchedulerJobRunner
._critical_section_enqueue_task_instances``): an advisory lock that is tried, not waited for, then the rows of
the pools with NOWAIT; whoever does not get both skips its turn. The others are what people build themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..errors import DagkitError, choices, nearest, shown

Lock = Literal["", "wait", "nowait", "skip"]
SELECT = "SELECT id FROM ti WHERE state = 'scheduled' ORDER BY id LIMIT %s"
UPDATE = "UPDATE ti SET state = 'queued', scheduler = %s WHERE id = ANY(%s)"
CLAUSE: dict[Lock, str] = {"": "", "wait": " FOR UPDATE", "nowait": " FOR UPDATE NOWAIT", "skip": " FOR UPDATE SKIP LOCKED"}
TURN = "SELECT pg_try_advisory_xact_lock(hashtext(current_schema()))"
POOL = "SELECT slots FROM slot_pool FOR UPDATE NOWAIT"


@dataclass(frozen=True)
class Strategy:
    """One way to claim. ``lock``: what the SELECT does about rows that others hold. ``guard``: the UPDATE changes
    only rows that are still scheduled. ``turn``: the advisory lock and the pools come first, as in Airflow.

    >>> STRATEGIES["guarded"].update.endswith("AND state = 'scheduled' RETURNING id")
    True
    """

    name: str
    label: str
    lock: Lock = ""
    guard: bool = False
    turn: bool = False

    @property
    def select(self) -> str:
        """The SQL that picks rows."""
        return SELECT + CLAUSE[self.lock]

    @property
    def update(self) -> str:
        """The SQL that takes them. What it returns is what the scheduler may hand over."""
        return UPDATE + (" AND state = 'scheduled'" if self.guard else "") + " RETURNING id"

    @property
    def statements(self) -> list[str]:
        """All SQL of one transaction, in order."""
        return [*([TURN, POOL] if self.turn else ()), self.select, self.update]


STRATEGIES = {each.name: each for each in (
    Strategy("unlocked", "no lock, no guard"),
    Strategy("guarded", "guarded UPDATE", guard=True),
    Strategy("for_update", "FOR UPDATE", "wait"),
    Strategy("nowait", "FOR UPDATE NOWAIT", "nowait"),
    Strategy("skip_locked", "SKIP LOCKED + guard", "skip", guard=True),
    Strategy("airflow", "Airflow: one at a time", "skip", turn=True),
)}


def strategy(name: str) -> Strategy:
    """A strategy by its name. Raises DagkitError with the nearest known one.

    >>> strategy("nowait").label
    'FOR UPDATE NOWAIT'
    """
    if name not in STRATEGIES:
        raise DagkitError(f"claims: strategy '{shown(name)}' is unknown.{nearest(name, STRATEGIES)} "
                          f"Known: {choices(STRATEGIES)}.")
    return STRATEGIES[name]
