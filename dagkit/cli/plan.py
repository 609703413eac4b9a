"""``plan``: what limits the Dag, slots or path, and what would help."""

from __future__ import annotations

import argparse

from .. import planning
from ..dag import Dag
from ..errors import choices
from ..formats.loaded import UNITS, Loaded
from ..recorded import Actual, against_ideal
from ..views.actual import SHORT, sentences
from ..views.plans import answer, curve
from . import common

NAME, HELP = "plan", "what limits it: path or slots; what more slots or a faster task would buy"
ABOUT = """\
What limits this Dag, and what would change that. Only shape, durations and equal slots: no pools, no failures.

The makespan is when everything is done on so many slots, starting ready tasks by name. It falls with more slots
until it meets the critical path; that number is the saturation point, and beyond it only a shorter path helps.
For a file with a recorded run, the run is held against this ideal.

  python -m dagkit plan target/ --slots 4          a dbt project on 4 threads
  python -m dagkit plan flow.json --slots 3 --moves   what each change would buy
  python -m dagkit plan dags/daily.py --returns list_files=6   six files to be mapped over
  python -m dagkit plan run.json --dag dags/orders.py   a real Airflow run against its ideal
"""


def options(parser: argparse.ArgumentParser) -> None:
    common.file_options(parser)
    parser.add_argument("--slots", type=int, help="how many slots there are")
    parser.add_argument("--moves", action="store_true", help="try faster tasks, a task in parts, more slots")


def run(options: argparse.Namespace) -> int:
    found = common.loaded(options)
    dag = common.widened(options, found)
    print(answer(dag, options.slots))
    if len(dag):
        print()
        print(common.table(curve(dag, options.slots)))
    if options.moves:
        print()
        print(common.table(planning.moves(dag, options.slots or 1)))
    if found.run is not None and any(row.start is not None and row.end is not None for row in found.run.rows):
        held = against_ideal(found, options.slots)
        print("\n" + "\n".join([*sentences(held), *_two_lengths(found, held)]))
    ignored = [] if options.quiet else _not_counted(dag, options.slots)
    if ignored:
        print(f"\nnot counted here, but by `simulate`: {'; '.join(ignored)}")
    common.remarks(options, found)
    return 0


def _not_counted(dag: Dag, slots: int | None) -> list[str]:
    """The limits of this Dag that would hold its tasks back, and that a plan on equal slots knows nothing of."""
    pools = dict.fromkeys(task.pool for task in dag if task.pool != "default_pool")
    found = [f"pools {choices(pools)} (--pool NAME=SLOTS)"] if pools else []
    for name, usual in (("pool_slots", 1), ("max_active_tis_per_dag", None), ("max_active_tis_per_dagrun", None)):
        tasks = [task.task_id for task in dag if getattr(task, name) != usual]
        found += [f"{name} of {choices(tasks)}"] if tasks else []
    most = min(len(dag), slots or len(dag))
    return [*found, f"max_active_tasks={dag.max_active_tasks}"] if dag.max_active_tasks < most else found


def _two_lengths(found: Loaded, held: Actual) -> list[str]:
    """Why the critical path above and the floor below differ, if they do: a file may tell durations of its own."""
    own = planning.critical_path(found.dag).length * UNITS.get(found.unit or "s", 1)
    if abs(own - held.floor) < SHORT:
        return []
    return [f"The critical path is {own:.4g} s by the durations in the file and {held.floor:.4g} s here, "
            "where a task lasts from its recorded start to its end."]
