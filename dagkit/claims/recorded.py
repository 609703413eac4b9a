"""What was measured once, so that a lesson can show it where no database is installed.

``python -m dagkit.claims --record`` measures again and writes ``recorded.json`` next to this file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .hints import Start
from .race import Lap, Race
from .takeover import Takeover

FILE = Path(__file__).parent / "recorded.json"
AGAIN = "python -m dagkit.claims"
"""The command that measures again."""


@dataclass(frozen=True)
class Recorded:
    """race: each strategy with 1, 2 and 4 schedulers. takeovers: one scheduler struck. starts: polling against hints.
    server, cores, system: what it was measured on."""

    race: Race
    takeovers: tuple[Takeover, ...]
    starts: tuple[Start, ...]
    server: str
    cores: int
    system: str

    @property
    def label(self) -> str:
        """The line under every recorded result."""
        return (f"Recorded with PostgreSQL {self.server} on {self.cores} cores ({self.system}), not measured just now. "
                f"To measure here: {AGAIN}")

    def start(self, design: str) -> Start:
        """The recorded start latencies of one design, by its name."""
        return next(each for each in self.starts if each.design == design)

    def to_json(self) -> str:
        """As the file holds it, a line for each result."""
        def lines(rows: Any) -> str:
            return "[\n" + ",\n".join("  " + json.dumps(vars(row)) for row in rows) + "\n ]"
        return (f'{{"server": {json.dumps(self.server)}, "cores": {self.cores}, "system": {json.dumps(self.system)},\n'
                f' "race": {lines(self.race.laps)},\n "takeovers": {lines(self.takeovers)},\n'
                f' "starts": {lines(self.starts)}}}\n')


def from_json(text: str) -> Recorded:
    """What ``to_json`` wrote."""
    found = json.loads(text)
    laps = tuple(Lap(**{**lap, "share": tuple(lap["share"])}) for lap in found["race"])
    starts = tuple(Start(**{**each, "latencies": tuple(each["latencies"])}) for each in found["starts"])
    return Recorded(Race(laps), tuple(Takeover(**each) for each in found["takeovers"]), starts,
                    found["server"], found["cores"], found["system"])


@cache
def recorded() -> Recorded:
    """The recorded results that come with the kit.

    >>> recorded().race.proved
    True
    """
    return from_json(FILE.read_text(encoding="utf-8"))
