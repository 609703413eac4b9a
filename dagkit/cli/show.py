"""``show``: what is in the file."""

from __future__ import annotations

import argparse

from .. import planning
from ..errors import choices, shown
from ..views.plans import tasks
from . import common

NAME, HELP = "show", "what is in a file: tasks, waves, the critical path, what the reader left out"
ABOUT = """\
What is in the file, and what could not be read from it.

Waves: tasks of one wave may run side by side, each waits only for earlier waves.
Critical path: the longest chain by duration; no number of workers finishes sooner.
Slack: how much later a task may end without making the whole run longer. No slack: on a critical path.

  python -m dagkit show target/                a dbt project with its last run
  python -m dagkit show dags/orders.py         an Airflow Dag file; nothing in it is executed
"""


def options(parser: argparse.ArgumentParser) -> None:
    common.file_options(parser)
    parser.add_argument("--tasks", action="store_true", help="a row for every task: wave, duration, slack")


def run(options: argparse.Namespace) -> int:
    found = common.loaded(options)
    dag = common.widened(options, found)
    path = planning.critical_path(dag)
    waves = planning.waves(dag)
    facts = {"Dag": dag.dag_id, "format": found.format, "tasks": len(dag), "dependencies": len(dag.edges),
             "unit of time": found.unit or "none: numbers count as they are", "waves": len(waves),
             "widest wave": max(map(len, waves), default=0), "critical path": f"{path.length:g}"}
    print(common.listed(facts))
    print("  " + " > ".join(map(shown, path.path[:12])) + (" > ..." if len(path.path) > 12 else ""))
    if len(waves) <= 20:
        for number, wave in enumerate(waves, 1):
            print(f"wave {number:<3} {choices(wave)}")
    if options.tasks:
        print()
        print(common.table(tasks(dag), most=10_000))
    for warning in dag.warnings[:common.REMARKS]:
        print(f"warning: {warning}")
    common.remarks(options, found)
    return 0
