"""The progress file itself: what is in it, whether it is ours, and how it is replaced by one writer at a time."""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from ..errors import DagkitError, shown

Entries = dict[str, dict[str, Any]]
FORMAT, VERSION = "dagkit-progress", 1
NAME = "dagkit-progress.json"
MOMENT = "%Y-%m-%dT%H:%M:%S.%fZ"
FIELDS = {"key": str, "item": str, "lesson": int, "at": str, "right": bool, "sure": str, "slip": str}
LAST_LESSON, YEARS = 999, range(1970, 3000)
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
_MARKER = re.compile(rb'\s*\{[^\[]*"format"\s*:\s*"dagkit-progress"')
_PART = ".dagkit-part"
_BOM = b"\xef\xbb\xbf"


class NotOurs(DagkitError):
    """What is at a place is not for us to touch: a clause such as "is a folder"."""


class Busy(DagkitError):
    """Another process holds the lock."""


@dataclass(frozen=True)
class Found:
    """The sound answers of a file, by key. trouble: why the file is set aside before it is replaced, or ""."""

    entries: Entries
    trouble: str = ""


def look(path: Path) -> Found:
    """What is at a place; nothing there is changed. Raises NotOurs for a folder, a device, or somebody else's file.

    A file is ours if it begins as one of ours does, or has the usual name, however damaged it is.
    """
    try:
        mode = os.stat(path).st_mode
        data = path.read_bytes().removeprefix(_BOM) if stat.S_ISREG(mode) else b""
    except (FileNotFoundError, NotADirectoryError):
        return Found({})
    except (OSError, ValueError) as error:
        raise NotOurs(f"cannot be read ({shown(getattr(error, 'strerror', None) or error, 80)})") from error
    if not stat.S_ISREG(mode):
        raise NotOurs("is a folder" if stat.S_ISDIR(mode) else "is a device or a pipe, not a file")
    try:
        entries, bad = parsed(data.decode("utf-8"))
    except UnicodeDecodeError:
        why = "cannot be read as text"
    except DagkitError as error:
        why = str(error)
    else:
        return Found(entries, f"is damaged: {bad} of its answers {'is' if bad == 1 else 'are'} not as this kit writes "
                              f"them (left out; {len(entries)} kept)" if bad else "")
    if path.name != NAME and not _MARKER.match(data):
        raise NotOurs(why)
    return Found({}, why)


def parsed(text: str) -> tuple[Entries, int]:
    """The answers in a progress file, by key, and how many were left out since they are not sound.

    Raises DagkitError, a clause, if the text is no progress file or was written by a newer kit.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DagkitError("is not JSON") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise DagkitError("is no progress file of this kit")
    version, answers = found.get("version"), found.get("answers")
    if type(version) is not int or version != VERSION:
        raise DagkitError(f"was written by another version of the kit (format {shown(version, 20)}, "
                          f"this one reads {VERSION})")
    if not isinstance(answers, list):
        raise DagkitError("is damaged: it has no list of answers")
    good = [entry for entry in answers if sound(entry)]
    return {entry["key"]: entry for entry in good}, len(answers) - len(good)


def sound(entry: Any) -> bool:
    """Whether an entry is as this kit writes them."""
    return (isinstance(entry, dict) and set(entry) == set(FIELDS)
            and all(type(entry[name]) is kind for name, kind in FIELDS.items())
            and 0 <= entry["lesson"] <= LAST_LESSON and is_moment(entry["at"]))


def is_moment(text: Any) -> bool:
    """Whether text is a moment as ``now`` writes it.

    >>> is_moment("2026-03-01T10:00:00.000000Z"), is_moment("2026-3-1T10:0:0.0Z")
    (True, False)
    """
    if not isinstance(text, str) or not _MOMENT.fullmatch(text):
        return False
    try:
        return datetime.strptime(text, MOMENT).year in YEARS
    except ValueError:
        return False


def in_order(entries: Entries) -> list[dict[str, Any]]:
    return sorted(entries.values(), key=lambda entry: (entry["at"], entry["key"]))


def real(path: Path) -> Path:
    """The file itself, where a link to it was named: it is what is written, locked, set aside and removed."""
    return Path(os.path.realpath(path))


def write_whole(path: Path, entries: Entries) -> None:
    """Replace a file at once: a crash leaves the old one or the new one, never half of it. Call it under the lock."""
    text = json.dumps({"format": FORMAT, "version": VERSION, "answers": in_order(entries)}, indent=1) + "\n"
    path = real(path)
    _sweep(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=_PART)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        if path.exists():
            os.chmod(name, stat.S_IMODE(path.stat().st_mode))
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _sweep(path: Path) -> None:
    """Remove what writers left that were killed in the middle: whoever has the lock is the only one now."""
    for left in path.parent.iterdir():
        if left.name.startswith(f".{path.name}.") and left.name.endswith(_PART):
            left.unlink(missing_ok=True)


def set_aside(path: Path) -> Path:
    """Keep a file under another name, never over an earlier one. Call it under the lock."""
    path, number = real(path), 1
    while (aside := path.with_name(f"{path.stem}.aside-{number}{path.suffix}")).exists():
        number += 1
    os.replace(path, aside)
    return aside


@contextmanager
def locked(path: Path, wait: float) -> Iterator[None]:
    """One writer at a time, over all notebooks. Raises Busy after so many seconds.

    The system lets go of the lock when a process dies.
    """
    path = real(path)
    with open(path.with_name(path.name + ".lock"), "a+b") as handle:
        end = time.monotonic() + wait
        while not _got(handle):
            if time.monotonic() >= end:
                raise Busy("is held by another program")
            time.sleep(0.02)
        yield


def _got(handle: IO[bytes]) -> bool:
    """Whether the lock on an open file could be had; closing the file gives it back."""
    try:
        import fcntl
    except ImportError:                                    # Windows
        import msvcrt
        handle.seek(0)
        try:
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
