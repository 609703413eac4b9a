"""What was answered so far: one JSON file that is yours to look at, to move and to delete.

Where: the environment variable ``DAGKIT_PROGRESS``, otherwise ``dagkit-progress.json`` in your home directory;
``DAGKIT_PROGRESS=off`` keeps nothing. Written as a whole or not at all. Several notebooks may write at once: each
answer is an entry of its own, and entries are joined under a lock. A file that cannot be read, or that a newer kit
wrote, is moved aside under another name, and you are told.
"""

from __future__ import annotations

import json
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import IO, Any

from ..errors import DagkitError, shown
from .intervals import next_review

FORMAT, VERSION = "dagkit-progress", 1
MOMENT = "%Y-%m-%dT%H:%M:%S.%fZ"
NAME = "dagkit-progress.json"
VARIABLE = "DAGKIT_PROGRESS"
FIELDS = {"key": str, "item": str, "lesson": int, "at": str, "right": bool, "sure": str, "slip": str}
SURE = ("", "a guess", "fairly sure", "certain")


def now() -> str:
    """The moment, as it is written: in UTC."""
    return datetime.now(UTC).strftime(MOMENT)


def usual_place() -> Path | None:
    """Where progress is kept, or None if the learner wants none kept."""
    named = os.environ.get(VARIABLE, "")
    if named.lower() == "off":
        return None
    return Path(named) if named else Path.home() / NAME


class Progress:
    """The answers in one file. ``said`` holds what happened to the file that you should know.

    path: the file; None keeps nothing beyond this object. clock: gives the moment as text, see ``now``.
    """

    def __init__(self, path: Path | str | None, clock: Callable[[], str] = now):
        self.path, self._clock = Path(path) if path is not None else None, clock
        self.said: list[str] = []
        self._own: dict[str, dict[str, Any]] = {}

    @property
    def entries(self) -> list[dict[str, Any]]:
        """Every answer, oldest first; those of other notebooks too."""
        kept = self._read() if self.path else {}
        return _in_order({**kept, **self._own})

    def note(self, item: str, lesson: int, right: bool, sure: str = "", slip: str = "") -> dict[str, Any]:
        """Keep one answer: the question's id, its lesson, right or not, how sure, and the misconception it showed."""
        key = uuid.uuid4().hex
        entry = {"key": key, "item": item, "lesson": lesson, "at": self._clock(), "right": right,
                 "sure": sure if sure in SURE else "", "slip": slip}
        self._own[key] = entry
        self._save()
        return entry

    def due(self, today: date) -> list[str]:
        """The questions to be asked again by a day, longest overdue first; see ``intervals.next_review``."""
        when = {item: next_review(answers) for item, answers in self._answers().items()}
        found = [(day, item) for item, day in when.items() if day is not None and day <= today]
        return [item for _, item in sorted(found)]

    def _answers(self) -> dict[str, list[tuple[date, bool]]]:
        found: dict[str, list[tuple[date, bool]]] = {}
        for entry in self.entries:
            found.setdefault(entry["item"], []).append((date.fromisoformat(entry["at"][:10]), entry["right"]))
        return found

    def by_lesson(self) -> list[dict[str, Any]]:
        """A row per lesson: questions answered, right at the last try, certain but wrong."""
        last: dict[str, dict[str, Any]] = {entry["item"]: entry for entry in self.entries}
        rows = []
        for lesson in sorted({entry["lesson"] for entry in last.values()}):
            mine = [entry for entry in last.values() if entry["lesson"] == lesson]
            rows.append({"lesson": lesson, "answered": len(mine), "right": sum(e["right"] for e in mine),
                         "certain but wrong": sum(e["sure"] == "certain" and not e["right"] for e in mine)})
        return rows

    def __repr__(self) -> str:
        where = f"kept in {self.path}" if self.path else "kept nowhere"
        rows = [f"lesson {row['lesson']}: {row['right']} of {row['answered']} right" for row in self.by_lesson()]
        return "\n".join([f"Progress: {len(self.entries)} answers, {where}.", *rows, *self.said])

    # ---- the file ----------------------------------------------------------------------------------------------

    def move(self, to: Path | str) -> Progress:
        """Move the file; from now on this object writes there. An existing file there is joined, not replaced."""
        source, self.path = self.path, Path(to)
        if source is not None and source.exists():
            self._own.update({entry["key"]: entry for entry in Progress(source).entries})
        self._save()
        if self.path is None:                              # could not be written: the old file stays
            self.path = source
        elif source is not None and source.resolve() != self.path.resolve():
            source.unlink(missing_ok=True)
        return self

    def delete(self) -> None:
        """Forget everything, and remove the file. Raises DagkitError if the system does not let it go."""
        self._own.clear()
        if self.path is None or not self.path.exists():
            return
        try:
            with self._locked():
                self.path.unlink(missing_ok=True)
        except OSError as error:
            raise DagkitError(f"progress: {shown(self.path, 200)} cannot be removed: {error.strerror}. Delete it by "
                              "hand.") from error

    def _save(self) -> None:
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._locked():
                joined = _in_order({**self._read(), **self._own})
                text = json.dumps({"format": FORMAT, "version": VERSION, "answers": joined}, indent=1) + "\n"
                if self.path is not None:                  # unless a file that cannot be read is in the way
                    _write_whole(self.path, text)
                    self._own.clear()
        except OSError as error:
            self.said.append(f"Progress could not be written to {shown(self.path, 200)}: {error.strerror}. It is kept "
                             f"until this notebook closes; name another place with {VARIABLE}.")
            self.path = None

    def _read(self) -> dict[str, dict[str, Any]]:
        assert self.path is not None
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            self._set_aside(f"cannot be read ({shown(error, 80)})")
            return {}
        try:
            return parsed(text)
        except DagkitError as error:
            self._set_aside(str(error))
            return {}

    def _set_aside(self, why: str) -> None:
        """Keep a file we cannot read under another name, never over an earlier one."""
        assert self.path is not None
        number = 1
        while (aside := self.path.with_name(f"{self.path.stem}.aside-{number}{self.path.suffix}")).exists():
            number += 1
        try:
            os.replace(self.path, aside)
        except OSError as error:
            self.said.append(f"{shown(self.path, 200)} {why}, and cannot be moved aside: {error.strerror}. "
                             "This session is kept in memory only.")
            self.path = None
            return
        self.said.append(f"{shown(self.path, 200)} {why}. It was set aside as {aside.name}, and a new file begins.")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer at a time, over all notebooks. The system lets go of the lock when a process dies."""
        assert self.path is not None
        with open(self.path.with_name(self.path.name + ".lock"), "a+b") as handle:
            _lock(handle)
            yield


def _lock(handle: IO[bytes]) -> None:
    """Wait for the lock on an open file; closing the file gives it back."""
    try:
        import fcntl
    except ImportError:                                    # Windows
        import msvcrt
        handle.seek(0)
        msvcrt.locking(handle.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(handle, fcntl.LOCK_EX)


def _write_whole(path: Path, text: str) -> None:
    """Replace a file at once: a crash leaves the old one or the new one, never half of it."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def parsed(text: str) -> dict[str, dict[str, Any]]:
    """The answers in a progress file, by key. Raises DagkitError, a clause, if it is none of ours or newer."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DagkitError("is not JSON") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise DagkitError("is no progress file of this kit")
    if found.get("version") != VERSION:
        raise DagkitError(f"was written by another version of the kit (format {shown(found.get('version'), 20)}, "
                          f"this one reads {VERSION})")
    answers = found.get("answers")
    if not isinstance(answers, list) or not all(map(_sound, answers)):
        raise DagkitError("is damaged: an answer in it is not as this kit writes them")
    return {entry["key"]: entry for entry in answers}


def _sound(entry: Any) -> bool:
    if not isinstance(entry, dict) or set(entry) != set(FIELDS):
        return False
    if not all(type(entry[name]) is kind for name, kind in FIELDS.items()):
        return False
    try:
        return bool(datetime.strptime(entry["at"], MOMENT))
    except ValueError:
        return False


def _in_order(entries: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(entries.values(), key=lambda entry: (entry["at"], entry["key"]))


def progress() -> Progress:
    """Your progress so far, from its usual place.

    >>> Progress(None)                                     # what it is with DAGKIT_PROGRESS=off
    Progress: 0 answers, kept nowhere.
    """
    return Progress(usual_place())
