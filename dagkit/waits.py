"""What a task does instead of only running: a sensor that checks, a wait handed to the triggerer, a person's answer.

A description only; ``engine/waiting.py`` plays it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .checks import flag, listed, plain, plain_fields, whole
from .errors import DagkitError, FormatError, choices, nearest, quoted, shown
from .keywords import checked

MODES = ("poke", "reschedule")


def _ticks(who: str, name: str, value: Any, low: int, none: bool = False) -> None:
    whole(who, name, value, low, none=none, unit=" of ticks")


@checked
@dataclass(frozen=True)
class Sensor:
    """Checks a condition every poke_interval until it is true, or until timeout.

    true_after: ticks after its first check at which the condition becomes true (None: never).
    mode: "poke" keeps its worker slot between checks; "reschedule" gives it back and sleeps (up_for_reschedule).
    timeout: ticks since the first check after which it fails for good, tries left or not. soft_fail: skipped instead.
    errors_at: ticks after the first check at which a check goes wrong instead (the next check from then on). Such an
    error is an ordinary failure and uses a retry. In mode reschedule the clock of ``timeout`` runs on; in mode poke
    each try has its own.
    Each check takes one tick of a worker in reschedule mode.
    """

    true_after: int | None = None
    mode: str = "poke"
    poke_interval: int = 60
    timeout: int = 604_800
    soft_fail: bool = False
    errors_at: Sequence[int] = ()

    def __post_init__(self) -> None:
        plain_fields(self)
        if not isinstance(self.mode, str) or self.mode not in MODES:
            raise DagkitError(f"Sensor: mode must be one of {choices(MODES)}, not '{shown(self.mode)}'."
                              f"{nearest(self.mode, MODES)}")
        _ticks("Sensor", "true_after", self.true_after, 0, none=True)
        _ticks("Sensor", "poke_interval", self.poke_interval, 1)
        _ticks("Sensor", "timeout", self.timeout, 0)
        flag("Sensor", "soft_fail", self.soft_fail)
        given = tuple(map(plain, listed("Sensor", "errors_at", self.errors_at, "Write errors_at=[300].")))
        for tick in given:
            _ticks("Sensor", "errors_at: each tick", tick, 0)
        object.__setattr__(self, "errors_at", given)


@checked
@dataclass(frozen=True)
class Deferral:
    """Runs for ``before`` ticks, is parked with the triggerer for ``wait`` ticks, then runs for ``after`` ticks.

    wait: None means the event never comes. timeout: ticks it may stay deferred (trigger_timeout), or None.
    """

    before: int = 1
    wait: int | None = 1
    after: int = 1
    timeout: int | None = None

    def __post_init__(self) -> None:
        plain_fields(self)
        _ticks("Deferral", "before", self.before, 1)
        _ticks("Deferral", "wait", self.wait, 0, none=True)
        _ticks("Deferral", "after", self.after, 1)
        _ticks("Deferral", "timeout", self.timeout, 1, none=True)


@checked
@dataclass(frozen=True)
class HumanInput:
    """Asks a person after ``before`` ticks and waits in awaiting_input; then runs for ``after`` ticks.

    answered_after: ticks until somebody answers (None: nobody does). timeout: ticks until the defaults are applied,
    or, with no defaults, the task fails.
    """

    before: int = 1
    answered_after: int | None = None
    after: int = 1
    timeout: int | None = None
    defaults: bool = False

    def __post_init__(self) -> None:
        plain_fields(self)
        _ticks("HumanInput", "before", self.before, 1)
        _ticks("HumanInput", "answered_after", self.answered_after, 0, none=True)
        _ticks("HumanInput", "after", self.after, 1)
        _ticks("HumanInput", "timeout", self.timeout, 1, none=True)
        flag("HumanInput", "defaults", self.defaults)


Wait = Sensor | Deferral | HumanInput
KINDS: dict[str, type[Any]] = {"sensor": Sensor, "deferral": Deferral, "human_input": HumanInput}


def wait_to_json(wait: Any) -> Any:
    kind = next(name for name, cls in KINDS.items() if isinstance(wait, cls))
    return {"kind": kind, **dataclasses.asdict(wait)}


def wait_from_json(data: Any) -> Any:
    if not isinstance(data, Mapping) or not isinstance(data.get("kind"), str) or data["kind"] not in KINDS:
        raise FormatError(f"wait: expected one of {choices(KINDS)}, not {quoted(data)}. Save the file anew.")
    return KINDS[data["kind"]](**{k: v for k, v in data.items() if k != "kind"})
