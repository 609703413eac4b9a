"""Writing a file or to a terminal, or saying in one sentence why that cannot be done."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from .errors import DagkitError, shown


def write(who: str, path: Any, text: str) -> Path:
    """Write a file, UTF-8 with LF line ends. A path where none can be written is refused."""
    try:
        target = Path(path)
        target.write_text(text, encoding="utf-8", newline="\n")
    except (OSError, TypeError, ValueError) as error:
        why = getattr(error, "strerror", None) or "that is no path"
        raise DagkitError(f"{who}: cannot write '{shown(path, 200)}': {why}. Choose another path.") from error
    return target


def complain(sentence: str) -> None:
    """A line on standard error. If that cannot be written either, the exit status must say it."""
    try:
        print(sentence, file=sys.stderr, flush=True)
    except OSError:
        forget(sys.stderr)


def unusable(problem: OSError) -> str:
    """What the system said about a file or, if it names none, about standard output, which is then forgotten.

    >>> unusable(PermissionError(13, "Permission denied", "x.csv"))
    "cannot use 'x.csv': Permission denied. Check the path, or choose another."
    """
    why = problem.strerror or shown(problem, 200)
    if problem.filename is not None:
        return f"cannot use '{shown(problem.filename, 200)}': {why}. Check the path, or choose another."
    forget(sys.stdout)
    return f"the output cannot be written: {why}. Send it elsewhere."


def forget(stream: Any) -> None:
    """Nobody can read this stream any more: what is still buffered must not be written when Python ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):
        pass
