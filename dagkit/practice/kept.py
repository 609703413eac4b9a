"""What was answered so far: one JSON file that is yours to look at, to move and to delete.

Where: the environment variable ``DAGKIT_PROGRESS``, otherwise ``dagkit-progress.json`` in your home directory;
``DAGKIT_PROGRESS=off`` keeps nothing. Written as a whole or not at all. Several notebooks may write at once: each
answer is an entry of its own, and entries are joined under a lock. Reading changes nothing. A progress file that is
damaged, or that a newer kit wrote, is moved aside under another name before a new one is written, and you are told.
A folder, a device or somebody else's file is never touched; then answers are kept in memory, and you are told.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from ..errors import DagkitError, quoted, shown
from .intervals import next_review
from .progress_file import (
    FIELDS,
    LAST_LESSON,
    MOMENT,
    NAME,
    Busy,
    Entries,
    NotOurs,
    in_order,
    is_moment,
    locked,
    look,
    real,
    set_aside,
    write_whole,
)

VARIABLE = "DAGKIT_PROGRESS"
SURE = ("", "a guess", "fairly sure", "certain")
WAIT = 5.0
"""Seconds to wait for another program that writes the same file."""
_WILL_BE = "With your next answer it is set aside under another name."
_IN_USE = "Answers are kept in memory, and written as soon as it is free."


def now() -> str:
    """The moment, as it is written: in UTC."""
    return datetime.now(UTC).strftime(MOMENT)


def usual_place() -> Path | None:
    """Where progress is kept, or None if the learner wants none kept."""
    named = os.environ.get(VARIABLE, "")
    if named.lower() == "off" or named == os.devnull:
        return None
    return Path(named) if named else Path.home() / NAME


def _place(path: Any) -> Path:
    if not isinstance(path, (str, Path)) or not str(path):
        raise DagkitError(f"progress: path must be the name of a file, not {quoted(path)}. Put it in quotes.")
    try:
        return Path(path).expanduser()
    except RuntimeError as error:                          # "~" where no home is known
        raise DagkitError(f"progress: '{shown(path, 200)}' begins with a home directory that is not known. "
                          "Write the whole path.") from error


class Progress:
    """The answers in one file. ``said`` holds what happened to the file that you should know.

    path: the file; None keeps nothing beyond this object. clock: gives the moment as text, see ``now``.
    Raises DagkitError if path is no name of a file.
    """

    def __init__(self, path: Path | str | None, clock: Callable[[], str] = now):
        self.path = None if path is None or str(path) == os.devnull else _place(path)
        self._clock, self._wait = clock, WAIT
        self.said: list[str] = []
        self._own: Entries = {}

    @property
    def entries(self) -> list[dict[str, Any]]:
        """Every answer, oldest first; those of other notebooks too."""
        return in_order({**self._read(), **self._own})

    def note(self, item: str, lesson: int, right: bool, sure: str = "", slip: str = "") -> dict[str, Any]:
        """Keep one answer: the question's id, its lesson, right or not, how sure, and the misconception it showed.

        Raises DagkitError, and keeps nothing, for a value that is not of its kind. A ``sure`` that is none is left out.
        """
        entry = {"key": uuid.uuid4().hex, "item": item, "lesson": lesson, "at": self._clock(), "right": right,
                 "sure": sure if sure in SURE else "", "slip": slip}
        for name, kind in FIELDS.items():
            if type(entry[name]) is not kind:
                wanted = {str: "text", int: "a whole number", bool: "True or False"}[kind]
                raise DagkitError(f"note: {name} must be {wanted}, not {quoted(entry[name])}. Pass it like that.")
        if not 0 <= lesson <= LAST_LESSON:
            raise DagkitError(f"note: lesson must be 0 to {LAST_LESSON}, not {quoted(lesson)}. "
                              "0 is for what belongs to none.")
        if not is_moment(entry["at"]):
            raise DagkitError(f"note: the clock must give a moment such as 2026-03-01T10:00:00.000000Z, "
                              f"not {quoted(entry['at'])}. Leave the clock out.")
        self._own[str(entry["key"])] = entry
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
        """Move the file; from now on this object writes there. An existing file there is joined, not replaced.

        Raises DagkitError, and changes nothing, if ``to`` is a folder, a device or somebody else's file.
        """
        source, goal = self.path, _place(to)
        self._ours(goal)
        here = self._ours(source) if source is not None else {}
        self.path = goal
        self._own.update(here)
        self._save()
        if self._own:                                      # could not be written: the old file stays
            self.path = source
        elif source is not None and source.exists() and source.resolve() != goal.resolve():
            self._leave(source, here)
        return self

    def _leave(self, source: Path, moved: Entries) -> None:
        """Remove the old file, unless it holds what was not moved."""
        try:
            with locked(source, self._wait):
                found = look(source)
                if not found.trouble and set(found.entries) <= set(moved):
                    real(source).unlink(missing_ok=True)
                    return
        except (Busy, OSError):
            pass
        self._say(f"{shown(source, 200)} stays where it is: it holds what was not moved, or is in use.")

    def delete(self) -> None:
        """Forget everything, and remove the file. Raises DagkitError if it is not ours, or the system keeps it."""
        if self.path is not None and self.path.exists():
            self._ours(self.path)
            try:
                with locked(self.path, self._wait):
                    real(self.path).unlink(missing_ok=True)
            except (Busy, OSError) as error:
                why = shown(getattr(error, "strerror", None) or error)
                raise DagkitError(f"progress: {shown(self.path, 200)} cannot be removed: {why}. Delete it by "
                                  "hand.") from error
        self._own.clear()

    @staticmethod
    def _ours(path: Path) -> Entries:
        """The answers at a place. Raises DagkitError for what is not ours."""
        try:
            return look(path).entries
        except NotOurs as error:
            raise DagkitError(f"progress: {shown(path, 200)} {error}. Name a file of its own.") from error

    def _say(self, sentence: str) -> None:
        if sentence not in self.said:
            self.said.append(sentence)

    def _only_memory(self, why: str) -> None:
        """Nothing is kept at this place any more."""
        self._say(f"{shown(self.path, 200)} {why}. Answers are kept until this notebook closes; name a file in "
                  f"{VARIABLE}, or off.")
        self.path = None

    def _read(self) -> Entries:
        """The answers in the file; it is not changed."""
        if self.path is None:
            return {}
        try:
            found = look(self.path)
        except NotOurs as error:
            self._only_memory(f"{error}; it was left as it is")
            return {}
        if found.trouble:
            self._say(f"{shown(self.path, 200)} {found.trouble}. {_WILL_BE}")
        return found.entries

    def _save(self) -> None:
        try:
            if self.path is not None and look(self.path):
                real(self.path).parent.mkdir(parents=True, exist_ok=True)
                with locked(self.path, self._wait):
                    self._join(self.path)
                self._own.clear()
                self._wait = WAIT
                self.said[:] = [said for said in self.said if not said.endswith((_WILL_BE, _IN_USE))]
        except NotOurs as error:
            self._only_memory(f"{error}; it was left as it is")
        except Busy:
            self._wait = 0.0                               # said once, waited for once; each answer tries again
            self._say(f"{shown(self.path, 200)} is in use by another program for {WAIT:g} s. {_IN_USE}")
        except OSError as error:
            self._only_memory(f"could not be written: {error.strerror}")

    def _join(self, path: Path) -> None:
        """Write what is there and what is new, under the lock; what cannot all be read is kept under another name."""
        found = look(path)
        if found.trouble:
            aside = set_aside(path)
            self._say(f"{shown(path, 200)} {found.trouble}. It was set aside as {aside.name}, and a new file begins.")
        write_whole(path, {**found.entries, **self._own})


def progress() -> Progress:
    """Your progress so far, from its usual place.

    Where no home directory is known, it is kept in memory, and says so.

    >>> Progress(None)                                     # what it is with DAGKIT_PROGRESS=off
    Progress: 0 answers, kept nowhere.
    """
    try:
        return Progress(usual_place())
    except (RuntimeError, DagkitError):
        made = Progress(None)
        made._say("No home directory is known here. Answers are kept until this notebook closes; name a file in "
                  f"{VARIABLE}, or off.")
        return made
