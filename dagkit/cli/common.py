"""What the commands share: reading the file, the options of a simulation, plain tables."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import formats, planning
from ..dag import Dag
from ..engine import simulate
from ..errors import DagkitError, choices, shown
from ..formats.loaded import Loaded
from ..scenario import Config
from ..trace import Trace
from ..views.table import cell, rows_of

MOST = 100_000
"""Most task instances that are played for a terminal: a matter of seconds."""
REMARKS = 8
"""Most sentences of a report that are printed."""


def file_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a file, a dbt target folder, or - for standard input")
    parser.add_argument("--format", help=f"if the content should not decide: {', '.join(formats.READERS)}")
    parser.add_argument("--dag", metavar="FILE", help="for a listing of task instances: the Dag they belong to")
    parser.add_argument("--returns", action="append", default=[], metavar="TASK=N",
                        help="how many values a task returns, for those mapped over it; may be repeated")
    parser.add_argument("--quiet", action="store_true", help="leave out what the reader remarked")


def loaded(options: argparse.Namespace) -> Loaded:
    """The file named on the command line."""
    more = {"dag": Path(options.dag)} if options.dag else {}
    given: Any = Path(options.file)
    if options.file == "-":
        if sys.stdin is None:
            raise DagkitError(f"{options.command}: standard input is closed. Send something in, or name a file.")
        given = sys.stdin.buffer.read().decode("utf-8", "replace") + "\n"
    found = formats.load(given, options.format, **more)
    for name, count in _pairs("--returns", options.returns):
        found.dag = found.dag.replace(name, returns=_whole("--returns", name, count, "values"))
        found.report[:] = [said for said in found.report if not said.startswith(f"The length of what '{shown(name)}' ")]
    return found


def widened(options: argparse.Namespace, found: Loaded) -> Dag:
    """The Dag for planning: with --returns each mapped task as often as it is mapped, otherwise once, which is said."""
    mapped = [name for wave in planning.waves(found.dag) for name in wave if found.dag[name].expand is not None]
    if mapped and not options.returns:
        found.report.insert(0, f"A mapped task counts once here: {choices(mapped)}. Say how many with --returns TASK=N, "
                               "TASK being what it is mapped over, or use simulate.")
    if found.dag.groups:
        found.report.insert(0, f"A mapped task group counts once here: {choices(found.dag.groups)}. Use simulate.")
    dag = found.dag
    for name in mapped if options.returns else ():
        over = [source if isinstance(source, int) else dag[source].returns for source in (dag[name].expand or {}).values()]
        if None in over:
            found.report.insert(0, f"Mapped task '{shown(name)}' counts once: --returns does not say how many.")
            continue
        dag = planning.expand(dag, name, math.prod(number for number in over if number is not None))
        if len(dag) > MOST:
            raise DagkitError(f"{options.command}: {len(dag):,} tasks once they are mapped are more than {MOST:,}. "
                              "Give smaller --returns.")
    return dag


def remarks(options: argparse.Namespace, found: Loaded) -> None:
    """What the reader could not keep, below everything else."""
    if options.quiet or not found.report:
        return
    print("\nremarks of the reader")
    for sentence in found.report[:REMARKS]:
        print(f"  {shown(sentence, 400)}")
    if len(found.report) > REMARKS:
        print(f"  ... and {len(found.report) - REMARKS} more")


def scenario_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--unit", help="length of a tick: ms, s, min, h, d or a number of the file's own unit")
    parser.add_argument("--pool", action="append", default=[], metavar="NAME=SLOTS", help="a pool; may be repeated")
    parser.add_argument("--outcome", action="append", default=[], metavar="TASK=fail,success",
                        help="what each try comes to: success, fail, fail_hard, skip; may be repeated")
    parser.add_argument("--runs", type=int, default=1, help="how many runs, all due at once (default 1)")
    parser.add_argument("--parallelism", type=int, default=32, help="task instances at once in all (default 32)")
    parser.add_argument("--pacing", default="lesson", help="lesson (default) or airflow")


def simulated(options: argparse.Namespace, found: Loaded) -> Trace:
    """The simulation the options ask for; pools and outcomes overrule what came with the file."""
    pools = {name: _whole("--pool", name, slots, "slots") for name, slots in _pairs("--pool", options.pool)}
    if options.runs * len(found.dag) > MOST:
        raise DagkitError(f"{options.command}: {options.runs:,} runs of {len(found.dag):,} tasks are more than {MOST:,} "
                          "task instances. Give fewer --runs, or use dk.simulate.")
    outcomes = {name: script.split(",") for name, script in _pairs("--outcome", options.outcome)}
    config = Config(parallelism=options.parallelism, pacing=options.pacing)
    return simulate(found.scenario(_unit(options.unit), pools={**found.pools, **pools}, runs=options.runs, config=config,
                                   outcomes={**found.outcomes, **outcomes}))


def _pairs(option: str, given: Iterable[str]) -> Iterable[tuple[str, str]]:
    for text in given:
        name, equals, value = text.rpartition("=")
        if not equals or not name or not value:
            raise DagkitError(f"{option} must be NAME=VALUE, not '{shown(text)}'. Write {option} load=2.")
        yield name, value


def _whole(option: str, name: str, text: str, of: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise DagkitError(f"{option} {shown(name)} must be a whole number of {of}, not '{shown(text)}'. "
                          f"Write {option} {shown(name)}=2.") from None


def _unit(text: str | None) -> Any:
    for number in (int, float):
        try:
            return None if text is None else number(text)
        except ValueError:
            pass
    return text


def table(found: Any, most: int = 60) -> str:
    """Rows as aligned text; numbers to the right, every cell escaped and cut.

    >>> print(table([{"task": "a", "ends": 2}, {"task": "load", "ends": 10}]))
    task  ends
    a        2
    load    10
    """
    columns, rows = rows_of(found)
    cells = [list(map(cell, row)) for row in rows[:most]]
    numeric = [all(isinstance(row[i], (int, float)) or row[i] is None for row in rows[:most]) for i in range(len(columns))]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)] if columns else []
    lines = [_line(columns, widths, numeric), *(_line(row, widths, numeric) for row in cells)]
    rest = [f"... and {len(rows) - most:,} more rows"] if len(rows) > most else []
    return "\n".join([*lines, *rest])


def _line(row: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    made = [text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(row, widths, numeric, strict=True)]
    return "  ".join(made).rstrip()


def listed(rows: Mapping[str, Any]) -> str:
    """Names and values, one a line."""
    width = max(map(len, rows), default=0)
    return "\n".join(f"{name:<{width}}  {cell(value)}" for name, value in rows.items())
