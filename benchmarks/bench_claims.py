"""Row locks and hints on a real PostgreSQL, as ratios within one run. Needs the extra ``pg``; skipped without it.

Goals on 2 cores, with 5 ms of waiting inside each transaction: SKIP LOCKED with 4 schedulers at least 2.2 times one
of them and at least twice a plain FOR UPDATE; the 95th percentile of the way to start with hints at most a thirtieth
of polling every second. Correctness first: no double claim, nothing missing, and a control that did go wrong.
"""

from __future__ import annotations

import sys

from dagkit.claims import Load, Race, compare, problem, race, start

DESIGNS = ("polling, workers pushed", "hints", "hints, a fifth lost")


def met(what: str, found: float, goal: float) -> None:
    print(f"{what:<52} {found:6.1f} x   goal {goal:g} x   {'met' if found >= goal else 'MISSED'}", flush=True)


def locks(found: Race) -> None:
    assert found.proved, found.verdict
    assert not any(lap.doubles for lap in found.laps if lap.strategy != "unlocked"), found.verdict
    skip, against = found.ratios().items()
    met(*skip, 2.2)
    met(*against, 2.0)


def main() -> None:
    if problem():
        print(f"skipped: {problem()}")
        return
    with start() as server:
        print(f"PostgreSQL {server.version}")
        locks(race(server, ("unlocked", "for_update", "skip_locked"), (1, 4)))
        polling, hints, lossy = compare(server, DESIGNS, Load(runs=30))
        assert not any(each.twice or each.missing for each in (polling, hints, lossy))
        met("way to start, p95, polling against hints", polling.quantile(0.95) / hints.quantile(0.95), 30)
        print(f"queries per task: {hints.queries / hints.tasks:.1f} with hints, {polling.queries / polling.tasks:.1f} "
              "when polling")


if __name__ == "__main__":
    sys.exit(main())
