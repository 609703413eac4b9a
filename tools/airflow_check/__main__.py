"""python -m airflow_check verify | record (tools/ on PYTHONPATH, the Python of Airflow's environment)."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from airflow_check import __doc__ as about
from airflow_check import files

DATA = Path(__file__).resolve().parents[2] / "tests" / "data"
DIFFERENT = 3  # exit status of verify; a crash is 1, a wrong option 2


class Progress:
    """Shows how far a list of cases has come, and stops between two cases when asked to (Ctrl-C).

    Airflow's task runner takes a KeyboardInterrupt for a failure of the task, so none may be raised there.
    """

    def __init__(self) -> None:
        self.stop = False
        for asked_to_stop in (signal.SIGINT, signal.SIGTERM):
            signal.signal(asked_to_stop, self._asked)

    def _asked(self, _number: int, _frame: Any) -> None:
        self.stop = True
        print("\nstopping after this case ...", file=sys.stderr)

    def watch(self, title: str, cases: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
        """Pass the cases on, with a line about them each second (every ten in a log file)."""
        pause = 1 if sys.stderr.isatty() else 10
        shown = started = time.monotonic()
        for done, case in enumerate(cases):
            if self.stop:
                raise KeyboardInterrupt
            if time.monotonic() - shown > pause:
                shown = time.monotonic()
                self._show(f"{title}: {done} of {len(cases)}")
            yield case
        self._show(f"{title}: {len(cases)} in {time.monotonic() - started:.0f} s", last=True)

    def _show(self, text: str, last: bool = False) -> None:
        live = sys.stderr.isatty()
        end = "" if live and not last else "\n"
        print(("\r\033[K" if live else "") + text, end=end, file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    options = _parse(arguments)
    progress = Progress()
    try:
        return verify(options, progress) if options.command == "verify" else record(options, progress)
    except KeyboardInterrupt:
        print("stopped; files finished so far are complete", file=sys.stderr)
        return 130


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="airflow_check", description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("verify", "ask again what is recorded"), ("record", "ask fresh questions")):
        command = commands.add_parser(name, help=text)
        command.add_argument("--given", type=Path, default=DATA, help="directory with the recorded files")
        command.add_argument("--out", type=Path, help="where to write the answers")
        command.add_argument(
            "--only", action="append", choices=files.FILES, help="one file only; may be repeated"
        )
        command.add_argument("--seed", type=int, default=1, help="seed of the fresh questions (default 1)")
        command.add_argument("--count", type=int, help="cases per file (default: the file's own number)")
    options = parser.parse_args(arguments)
    if options.command == "record" and options.out is None:
        parser.error("record needs --out DIRECTORY")
    return options


def verify(options: argparse.Namespace, progress: Progress) -> int:
    """Ask the installed Airflow every recorded question again; DIFFERENT if an answer changed."""
    changed = 0
    for name, asked, given in _answered(options, progress, fresh=False):
        found = list(files.differences(name, given, asked))
        found += [
            (name, key, given[key], asked[key]) for key in _notes(name) if given.get(key) != asked.get(key)
        ]
        cases = len({title for title, *_ in found})
        print(f"{name}: {files.size(name, given)} cases, {cases} different")
        for title, field, before, after in found:
            print(f"  {title} {field}\n    recorded {before}\n    now      {after}")
        changed += len(found)
        if options.out:
            files.write(options.out, name, asked)
    return DIFFERENT if changed else 0


def _notes(name: str) -> tuple[str, ...]:
    """Facts at the top of a file that are observed too."""
    extra = {"trigger_rules": ("rules", "ti_states", "finished_states"), "retry_delay": ("override_check",)}
    return extra.get(name, ("overflow_example",) if name == "priority_weights" else ())


def record(options: argparse.Namespace, progress: Progress) -> int:
    """Ask fresh questions and write the answered files."""
    for name, asked, _ in _answered(options, progress, fresh=True):
        path = files.write(options.out, name, asked)
        source = f"Airflow {asked['airflow_version']}, seed {options.seed}"
        print(f"{path}: {files.size(name, asked)} cases from {source}")
    return 0


def _answered(options: argparse.Namespace, progress: Progress, fresh: bool) -> Iterator[tuple[str, Any, Any]]:
    from airflow_check.home import open_home

    print("starting Airflow ...", file=sys.stderr)
    with open_home() as session:
        from airflow_check.record import answer

        for name in options.only or files.FILES:
            given = files.read(options.given, name)
            new = files.new_payload(name, given, options.seed, options.count) if fresh else None
            asked = files.questions(name, given) if new is None else new
            seed = options.seed if fresh or options.out else None  # classes only for files that are kept
            yield name, answer(name, asked, session, progress.watch, seed), given


if __name__ == "__main__":
    sys.exit(main())
