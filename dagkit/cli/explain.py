"""``explain``: why a task is where it is."""

from __future__ import annotations

import argparse

from . import common

NAME, HELP = "explain", "why a task waits, failed or was left out, and what would change it"
ABOUT = """\
Why one task is where it is at a tick of the simulation, who holds it up, and what would help.

Without --tick: all its reasons from beginning to end, as intervals of ticks.

  python -m dagkit explain flow.csv load --pool db=1
  python -m dagkit explain flow.csv load --tick 3
"""


def options(parser: argparse.ArgumentParser) -> None:
    common.file_options(parser)
    parser.add_argument("task", metavar="TASK", help="a task, or task[i]; with several runs task@run")
    common.scenario_options(parser)
    parser.add_argument("--tick", type=int, help="the tick to explain")


def run(options: argparse.Namespace) -> int:
    found = common.loaded(options)
    trace = common.simulated(options, found)
    if options.tick is None:
        print(common.table(trace.why(options.task), most=10_000))
    else:
        reason = trace.explain(options.task, options.tick)
        print(reason)
        if reason.remedy:
            print(f"what would help: {reason.remedy}")
    return 0
