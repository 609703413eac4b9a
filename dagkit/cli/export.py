"""``export``: the Dag, or its simulation, in another form."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .. import formats
from ..errors import DagkitError, choices, nearest, shown
from ..formats.airflow_export import export_airflow
from ..written import write
from . import common

NAME, HELP = "export", "as Mermaid, DOT, CSV, JSON, a share line, an Airflow Dag file, an HTML replay or a Chrome trace"
PLAYED = {"html": "to_html", "chrome-trace": "to_chrome_trace"}
ABOUT = f"""\
The Dag in another form: {', '.join(formats.WRITERS)} go to standard output or to --out.

airflow writes a Dag file for a real Airflow 3, with the pools it needs as JSON beside it; every task there sleeps as
long as it lasts. html and chrome-trace play the Dag first; the first opens in any browser, offline, the second in
https://ui.perfetto.dev. They take the options of `simulate`.

  python -m dagkit export flow.csv --to mermaid
  python -m dagkit export flow.csv --to airflow --out dags/flow.py --tick-seconds 5
  python -m dagkit export flow.csv --to html --out flow.html --pool db=1
"""


def options(parser: argparse.ArgumentParser) -> None:
    common.file_options(parser)
    parser.add_argument("--to", required=True, metavar="FORMAT",
                        help=f"{', '.join([*formats.WRITERS, 'airflow', *PLAYED])}")
    parser.add_argument("--out", type=Path, metavar="PATH", help="the file to write")
    parser.add_argument("--tick-seconds", type=float, default=1, help="airflow: seconds a tick lasts (default 1)")
    common.scenario_options(parser)


def run(options: argparse.Namespace) -> int:
    known = [*formats.WRITERS, "airflow", *PLAYED]
    if options.to not in known:
        raise DagkitError(f"export: format '{shown(options.to)}' is unknown.{nearest(options.to, known)} "
                          f"Known: {choices(known, 20)}.")
    _check_out(options)
    found = common.loaded(options)
    if options.to in formats.WRITERS:
        text = formats.dump(found, options.to)
        if options.out is None:
            sys.stdout.write(text if text.endswith("\n") else text + "\n")
        else:
            write("export", options.out, text)
    elif options.out is None:
        raise DagkitError(f"export: {options.to} is written to a file. Name it: --out PATH.")
    elif options.to == "airflow":
        scenario = common.simulated(options, found).scenario
        told = str(export_airflow(scenario, options.out, tick_seconds=options.tick_seconds))
        print("\n".join(shown(line, 1000) for line in told.split("\n")))
    else:
        getattr(common.simulated(options, found), PLAYED[options.to])(options.out)
    return 0


def _check_out(options: argparse.Namespace) -> None:
    """The file that is read is not the file that is written."""
    for given in filter(None, (options.file, options.dag)):
        try:
            same = options.out is not None and os.path.samefile(given, options.out)
        except (OSError, ValueError):                      # one of the two does not exist
            continue
        if same:
            raise DagkitError(f"export: --out '{shown(options.out, 200)}' is the file that is read, and would be lost. "
                              "Choose another path.")
