"""The kit in a terminal: ``python -m dagkit show|plan|simulate|explain|export FILE``, and ``drill KIND``.

A command is a module with NAME, HELP (one line), ABOUT (what it teaches), ``options(parser)`` and ``run(options)``, which
prints and returns the exit status. To add one, put it into COMMANDS.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NoReturn

from ..errors import DagkitError, choices, nearest, shown
from ..written import complain, forget, unusable
from . import drill, explain, export, plan, show, simulate

COMMANDS: tuple[ModuleType, ...] = (show, plan, simulate, explain, export, drill)
ABOUT = """\
DAG scheduling, understood by running it.

Give any command a file you already have: an Airflow Dag file (read, not run) or serialized Dag, a dbt target folder,
a GitHub, GitLab or Argo workflow, WfFormat, DOT, CSV, a list of arrows, or - for standard input:

  printf 'extract -> load\\nload -> report\\n' | python -m dagkit show -
"""
WRONG, BROKEN_PIPE, INTERRUPTED = 2, 141, 130


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, like every other refusal of the kit."""

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG, f"{self.prog}: {shown(message, 300)}; --help shows what is possible\n")


def parser(*more: ModuleType) -> Parser:
    """One sub-parser per command; each knows the function that runs it."""
    plain = argparse.RawDescriptionHelpFormatter
    top = Parser(prog="python -m dagkit", description=ABOUT, formatter_class=plain)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for module in (*COMMANDS, *more):
        one = commands.add_parser(module.NAME, help=module.HELP, description=module.ABOUT, formatter_class=plain)
        module.options(one)
        one.set_defaults(run=module.run)
    return top


def main(arguments: Sequence[str] | None, *more: ModuleType) -> int:
    """Run one command. Refusals are one sentence on stderr and status 2; a closed pipe and Ctrl-C end without a word."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    command = given[0] if given else ""
    _open_streams()
    try:
        top, names = parser(*more), [module.NAME for module in (*COMMANDS, *more)]
        if command and not command.startswith("-") and command not in names:
            top.error(f"there is no command '{shown(command)}'.{nearest(command, names)} Known: {choices(names, 20)}")
        options = top.parse_args(given)
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        forget(sys.stdout)
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except DagkitError as problem:
        complain(f"dagkit: {problem}")
    except OSError as problem:
        complain(f"dagkit: {command}: {unusable(problem)}")
    return WRONG


def _open_streams() -> None:
    """A stream that was closed by whoever started us is None in Python; what would go there goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        _print_anything(getattr(sys, name))


def _print_anything(stream: Any) -> None:
    """Characters the terminal's encoding lacks are written as escapes."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")


__all__ = ["COMMANDS", "main", "parser"]
