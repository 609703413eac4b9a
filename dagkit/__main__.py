"""``python -m dagkit``: the kit from the command line. Commands live in ``dagkit/cli``."""

from __future__ import annotations

import argparse
import sys

from dagkit.loading import is_over

NAME, HELP = "doctor", "what is installed, what is missing, how to mend it"
ABOUT = "What is installed, what is missing, how to mend it."


def options(parser: argparse.ArgumentParser) -> None:
    """The doctor needs none."""


def run(options: argparse.Namespace) -> int:
    from dagkit.doctor import doctor
    report = doctor()
    print(report, flush=True)
    return 0 if report.ok else 1


def _doctor() -> int:
    """The doctor alone, without what the other commands need."""
    from dagkit.written import complain, forget, unusable
    try:
        return run(argparse.Namespace())
    except BrokenPipeError:
        forget(sys.stdout)
        return 141
    except OSError as problem:
        complain(f"dagkit: {NAME}: {unusable(problem)}")
        return 2


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status. The doctor is called first: it must work where libraries are missing."""
    try:
        is_over()
        if (sys.argv[1:] if arguments is None else arguments) == [NAME]:
            return _doctor()
        from dagkit import cli
        return cli.main(arguments, sys.modules[__name__])
    except KeyboardInterrupt:                               # imports take long enough for a Ctrl-C
        return 130


if __name__ == "__main__":
    sys.exit(main())
