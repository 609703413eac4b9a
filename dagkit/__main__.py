"""``python -m dagkit doctor``: the kit from the command line."""

from __future__ import annotations

import argparse
import sys

from dagkit.doctor import doctor


def run_doctor(options: argparse.Namespace) -> int:
    report = doctor()
    print(report)
    return 0 if report.ok else 1


def parser() -> argparse.ArgumentParser:
    """One sub-parser per command; each names the function that runs it and returns the exit code."""
    what = "DAG scheduling, understood by running it."
    top = argparse.ArgumentParser(prog="python -m dagkit", description=what)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    about = "what is installed, what is missing, how to mend it"
    commands.add_parser("doctor", help=about, description=about).set_defaults(run=run_doctor)
    return top


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
