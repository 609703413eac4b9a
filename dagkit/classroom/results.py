"""Answers as CSV: written by each learner, joined by the teacher. Such files are untrusted; a spreadsheet may open them.

One line per answer: ``who`` (a name or anything else, may be empty), ``key`` (of this answer, so that a file handed in
twice counts once), ``item``, ``lesson``, ``right``, ``sure``, ``slip`` (the misconception it showed, if any).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..errors import DagkitError, FormatError, quoted, shown
from .view import ClassView

COLUMNS = ("who", "key", "item", "lesson", "right", "sure", "slip")
FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "'")
"""A cell that begins so may be run by a spreadsheet; wide ones too. The last is our own mark, so that it can be
taken off again."""
LARGEST = 5_000_000
"""Bytes of one file: thousands of times what a learner can answer."""
WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def defused(cell: object) -> str:
    """Text that no spreadsheet takes for a formula: an apostrophe in front where it could be one.

    >>> defused("=1+1"), defused("Ann"), armed(defused("'=x"))
    ("'=1+1", 'Ann', "'=x")
    """
    text = str(cell)
    return f"'{text}" if text.lstrip(" \n").startswith(FORMULA) else text


def armed(cell: str) -> str:
    """The text as it was before ``defused``."""
    return cell[1:] if cell.startswith("'") and defused(cell[1:]) == cell else cell


def save(path: str | Path, who: str = "", kept: Any = None, seed: int | None = None, count: int = 10,
         level: int = 1) -> Path:
    """Write one's own answers as CSV, to be handed in. Gives the path.

    who: a name, or whatever the class has agreed on; may stay empty. kept: a ``dk.practice.Progress``; None: one's own
    from its usual place. seed, count, level: only the drills of that ``training``; seed None: all answers.
    Raises DagkitError if there is nothing to write or the file cannot be written.
    """
    from ..practice import progress, sheet
    entries = (progress() if kept is None else kept).entries
    if seed is not None:
        wanted = {f"drill/{one.kind}/{one.seed}/{one.level}" for one in sheet(seed, count, level)}
        entries = [entry for entry in entries if entry["item"] in wanted]
    if not entries:
        raise DagkitError(f"save: there are no answers{f' to the drills of seed {seed}' if seed is not None else ''} yet. "
                          "Answer some first, or pass the Progress they are in.")
    target = Path(path)
    try:
        target.write_text(text_of({**entry, "who": who} for entry in entries), encoding="utf-8", newline="")
    except OSError as error:
        raise DagkitError(f"save: cannot write '{shown(path, 200)}': {error.strerror}. Choose another path.") from error
    return target


def text_of(answers: Iterable[Mapping[str, Any]]) -> str:
    """Answers as CSV text."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for answer in answers:
        cells = {**answer, "right": "yes" if answer["right"] else "no"}
        writer.writerow([defused(_writable(str(cells[name]))) for name in COLUMNS])
    return out.getvalue()


def _writable(text: str) -> str:
    """A lone surrogate cannot be written as UTF-8; it is written out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def read(*paths: str | Path) -> ClassView:
    """The files of a class, joined; a folder stands for every .csv in it. The same answer twice counts once.

    Raises FormatError for a file that is not as ``save`` writes it, DagkitError for one that cannot be read or if there
    is none. Nothing of a broken file is counted: mend it or leave it out.
    """
    files = [file for path in paths for file in _files(Path(path))]
    if not files:
        raise DagkitError("read: no file was named, or the folder has no .csv in it. Name the files that were handed in.")
    answers: dict[str, dict[str, Any]] = {}
    for file in files:
        for answer in parsed(_text(file), file.name):
            answers.setdefault(answer["key"], answer)
    return ClassView(list(answers.values()), len(files))


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("*.csv")) if path.is_dir() else [path]


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise FormatError(f"{shown(path.name)}: it has more than {LARGEST:,} bytes, no class file has. Leave it out.")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DagkitError(f"{shown(path.name)}: cannot be read: {error.strerror}. Check the path.") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{shown(path.name)}: it is not UTF-8 text. Save it as 'CSV UTF-8', or ask for it "
                          "again.") from error


def parsed(text: str, name: str) -> list[dict[str, Any]]:
    """The answers in one file's text. Commas, or the semicolons that some spreadsheets put in their place.

    name: of the file, for messages and for answers without a name. Raises FormatError.
    """
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=";" if ";" in first and "," not in first else ",",
                        strict=True)
    try:
        rows = list(reader)
    except csv.Error as error:
        raise FormatError(f"{shown(name)}: line {reader.line_num} is no CSV ({shown(error)}). Ask for the file "
                          "again.") from error
    if not rows or tuple(rows[0]) != COLUMNS:
        found = quoted(",".join(rows[0])) if rows else "nothing"
        raise FormatError(f"{shown(name)}: its first line must be {','.join(COLUMNS)}, not {found}. Use the file that "
                          "dk.classroom.save wrote.")
    return [_answer(row, name, number) for number, row in enumerate(rows[1:], 2) if any(row)]


def _answer(row: list[str], name: str, number: int) -> dict[str, Any]:
    where = f"{shown(name)}: row {number}"
    if len(row) != len(COLUMNS):
        raise FormatError(f"{where} has {len(row)} cells, not {len(COLUMNS)}. Mend it, or ask for the file again.")
    found: dict[str, Any] = dict(zip(COLUMNS, map(armed, row), strict=True))
    if found["right"].lower() not in WORDS:
        raise FormatError(f"{where}: right must be yes or no, not {quoted(found['right'])}. Mend it, or ask for the file "
                          "again.")
    if not (found["lesson"].isascii() and found["lesson"].isdecimal() and len(found["lesson"]) < 4):
        raise FormatError(f"{where}: lesson must be a number, not {quoted(found['lesson'])}. Mend it, or ask for the file "
                          "again.")
    if not found["key"] or not found["item"]:
        raise FormatError(f"{where}: key and item must not be empty. Mend it, or ask for the file again.")
    return {**found, "lesson": int(found["lesson"]), "right": WORDS[found["right"].lower()],
            "who": found["who"] or f"({name})"}


__all__ = ["COLUMNS", "defused", "parsed", "read", "save", "text_of"]
