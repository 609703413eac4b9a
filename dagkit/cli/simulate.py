"""``simulate``: what becomes of every task, tick by tick."""

from __future__ import annotations

import argparse

from ..errors import shown
from . import common

NAME, HELP = "simulate", "play it, tick by tick, with pools, failures and retries"
ABOUT = """\
Plays the Dag as Airflow's scheduler would: finish, start what is queued, look at dependencies, queue what limits allow.

A task is none until its dependencies are met, scheduled while it waits for a place (limits, pools), queued while it
waits for a worker. Durations become whole ticks, at least 1; --unit says how long a tick is.

  python -m dagkit simulate flow.csv --pool db=1 --outcome load=fail,success
  python -m dagkit simulate flow.csv --tick 5      where every task is at tick 5, and why
"""


def options(parser: argparse.ArgumentParser) -> None:
    common.file_options(parser)
    common.scenario_options(parser)
    parser.add_argument("--tick", type=int, help="instead of the log: every task at this tick, with its reason")
    parser.add_argument("--final", action="store_true", help="instead of the log: final states and tries")


def run(options: argparse.Namespace) -> int:
    found = common.loaded(options)
    trace = common.simulated(options, found)
    if not trace.run_states:
        print("Nothing is played: there is no run. Give --runs 1 or more.")
        return 0
    if options.tick is not None:
        print(common.table(trace.table(options.tick).reset_index(), most=10_000))
    elif options.final:
        tries = trace.tries
        print(common.table([{"task": label, "state": state, "tries": tries.get(label)}
                            for label, state in trace.final_states.items()], most=10_000))
    else:
        print(trace.log())
    ends = ", ".join(f"{shown(run)}: {state}" for run, state in trace.run_states.items())
    print(f"\n{ends}; last tick {trace.last_tick}")
    for warning in trace.warnings[:common.REMARKS]:
        print(f"warning: {shown(warning, 400)}")
    absent = sorted({task.pool for task in found.dag} - {"default_pool", *trace.scenario.pools})
    if absent:
        added = " ".join(f"--pool {shown(name)}=1" for name in absent[:common.REMARKS])
        print(f"To give these tasks their pools, add {added} with as many slots as there are.")
    common.remarks(options, found)
    return 0
