"""All experiments in one run, on one database."""

from __future__ import annotations

import os
import platform
from dataclasses import replace

from .hints import DESIGNS, Load, Start, compare, unguarded
from .race import Progress, race, to_stderr
from .recorded import Recorded
from .server import start
from .takeover import POINTS, takeover

LOAD = Load(runs=30)


def measure(*, progress: Progress = to_stderr) -> Recorded:
    """Race, takeovers, polling against hints: about a minute and a half. Ctrl-C stops it and leaves nothing behind.

    Raises DagkitError if there is no database.
    """
    with start() as server:
        progress(f"PostgreSQL {server.version}: schedulers claim the same rows")
        laps = race(server, progress=progress)
        progress("One scheduler is struck in the middle of a claim")
        struck = [takeover(server, point, progress=progress) for point in POINTS]
        struck.append(takeover(server, "cut off after commit", guarded=False, progress=progress))
        progress("Polling against hints")
        starts = compare(server, [*DESIGNS.values(), unguarded("hints, worker cut off")], LOAD, progress=progress)
        return Recorded(laps, tuple(struck), tuple(map(_rounded, starts)), server.version, os.cpu_count() or 0,
                        platform.system())


def _rounded(each: Start) -> Start:
    """Times to a tenth of a millisecond."""
    return replace(each, latencies=tuple(round(t, 4) for t in each.latencies), seconds=round(each.seconds, 2))
