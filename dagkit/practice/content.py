"""The question ladders as data: one YAML file per lesson below ``questions/``, checked when it is read.

In every text ``{name}`` stands for a fact, computed by ``facts.py``; ``worked`` and ``refute`` name a scene of
``scenes.py``, which shows a trace. No file holds a number that the simulator could tell.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ..checks import plain as plain_number
from ..errors import DagkitError, FormatError, choices, nearest, quoted, shown

HERE = Path(__file__).parent / "questions"
RUNGS = ("recall", "trace", "explain", "design")
"""What a rung asks for, rising: to know it, to follow it in a trace, to say why, to build with it."""


@dataclass(frozen=True)
class Choice:
    """One answer to choose. right: it is the one (unless ``Rung.answer`` computes it). slip: the misconception
    behind a wrong one. refute: a scene that shows it wrong."""

    say: str
    reply: str
    right: bool = False
    slip: str = ""
    refute: str = ""


@dataclass(frozen=True)
class Rung:
    """One question. With ``choices`` it is judged; without, ``key`` is the answer and ``rubric`` what to tick.

    answer: the fact that is the right choice. hints: two, rising. worked: the scene that is the third. look: a word;
    of a scene that refutes a choice, the lines with it are quoted.
    """

    id: str
    rung: str
    ask: str
    hints: tuple[str, ...]
    worked: str
    key: str = ""
    answer: str = ""
    look: str = ""
    rubric: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True)
class FollowUp:
    ask: str
    key: str


@dataclass(frozen=True)
class Longer:
    """An interview question: an answer for 30 seconds, for 2 minutes and for a whiteboard; what may come next.

    weak, strong: two answers as candidates give them. rubric: points to tick. minutes: time to answer in.
    """

    id: str
    ask: str
    short: str
    long: str
    board: tuple[str, ...]
    follow_ups: tuple[FollowUp, ...]
    weak: str
    strong: str
    rubric: tuple[str, ...]
    minutes: int = 3


@dataclass(frozen=True)
class Misconception:
    """said: as people say it. so: what is so. refute: a scene that shows it."""

    id: str
    said: str
    so: str
    refute: str = ""


@dataclass(frozen=True)
class FailureMode:
    """sign: what you see. cause: what usually stands behind it. first: what to look at first."""

    sign: str
    cause: str
    first: str


@dataclass(frozen=True)
class Trap:
    """trap: what the interviewer says or offers. way: how to step around it."""

    trap: str
    way: str


@dataclass(frozen=True)
class Chapter:
    """All questions that belong to one lesson."""

    lesson: int
    title: str
    rungs: tuple[Rung, ...]
    longer: tuple[Longer, ...]
    failure_modes: tuple[FailureMode, ...]
    misconceptions: tuple[Misconception, ...]
    traps: tuple[Trap, ...]
    pitfalls: tuple[str, ...]
    checklist: tuple[str, ...]


def lessons() -> list[int]:
    """The lessons that have a ladder."""
    return sorted(int(path.stem) for path in HERE.glob("*.yaml"))


def chapter(lesson: int) -> Chapter:
    """The questions of a lesson. Raises DagkitError if it has none, FormatError if its file is not sound.

    >>> chapter(1).rungs[0].rung
    'recall'
    """
    known = plain_number(lesson)
    if type(known) is not int or known not in lessons():
        raise DagkitError(f"there is no ladder for lesson {quoted(lesson)}. Known: {choices(lessons(), 20)}.")
    return _chapter(known)


@cache
def _chapter(lesson: int) -> Chapter:
    name = f"{lesson:02}.yaml"
    found = read((HERE / name).read_text(encoding="utf-8"), name)
    if found.lesson != lesson:
        raise FormatError(f"{name}: lesson is {found.lesson}; it must be the number in the file's name.")
    return found


def read(text: str, name: str = "content") -> Chapter:
    """A chapter from YAML. Raises FormatError that names the place, the rule and what to do."""
    try:
        data = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise FormatError(f"{name}: not YAML: {shown(error, 300)}. Mend it there.") from error
    found: Chapter = _built(Chapter, data, name)
    for rung in found.rungs:
        _check_rung(rung, f"{name}: rung '{shown(rung.id)}'")
    ids = [*(rung.id for rung in found.rungs), *(asked.id for asked in found.longer)]
    if twice := [one for one in ids if ids.count(one) > 1]:
        raise FormatError(f"{name}: two questions are called '{shown(twice[0])}'. Rename one.")
    return found


def _check_rung(rung: Rung, where: str) -> None:
    if rung.rung not in RUNGS:
        raise FormatError(f"{where}: rung must be one of {choices(RUNGS)}, not {quoted(rung.rung)}.")
    if len(rung.hints) != 2:
        raise FormatError(f"{where}: it has {len(rung.hints)} hints; write two, the third is the worked scene.")
    if not rung.choices:
        if not rung.key or not rung.rubric:
            raise FormatError(f"{where}: without choices it needs a key and a rubric. Add them.")
        return
    right = sum(choice.right for choice in rung.choices)
    if bool(rung.answer) == bool(right) or right > 1:
        raise FormatError(f"{where}: give it either an answer (a fact) or one choice that is right.")
    if len(rung.choices) < 3 or len({choice.reply for choice in rung.choices}) < len(rung.choices):
        raise FormatError(f"{where}: it needs at least three choices, each with a reply of its own.")
    if not rung.answer and (bare := [c.say for c in rung.choices if not c.right and not c.slip]):
        raise FormatError(f"{where}: the wrong choice '{shown(bare[0])}' names no misconception. Give it a slip.")


def _built(cls: Any, data: Any, where: str) -> Any:
    """A dataclass from a mapping: every field of its type, none unknown, none missing."""
    if not isinstance(data, Mapping):
        raise FormatError(f"{where}: {cls.__name__} must be a mapping, not {quoted(data)}.")
    fields = {field.name: field for field in dataclasses.fields(cls)}
    kinds = typing.get_type_hints(cls)
    for name in data:
        if name not in fields:
            raise FormatError(f"{where}: '{shown(name)}' is no part of {cls.__name__}.{nearest(name, fields)} "
                              f"Known: {choices(fields, 12)}.")
    missing = [name for name, field in fields.items() if name not in data and field.default is dataclasses.MISSING]
    if missing:
        raise FormatError(f"{where}: {cls.__name__} lacks {choices(missing)}. Add it.")
    return cls(**{name: _value(kinds[name], value, f"{where}: {_called(data, name)}") for name, value in data.items()})


def _called(data: Mapping[str, Any], name: str) -> str:
    return f"'{shown(data['id'])}' {name}" if "id" in data else name


def _value(kind: Any, value: Any, where: str) -> Any:
    if typing.get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise FormatError(f"{where} must be a list, not {quoted(value)}.")
        return tuple(_value(typing.get_args(kind)[0], part, f"{where} {place}") for place, part in enumerate(value, 1))
    if dataclasses.is_dataclass(kind):
        return _built(kind, value, where)
    if type(value) is not kind or value == "":
        raise FormatError(f"{where} must be {kind.__name__}, not {quoted(value)}. Put text in quotes.")
    return value


@cache
def misconceptions() -> dict[str, tuple[int, Misconception]]:
    """Every misconception by its id, with the lesson it belongs to."""
    return {found.id: (lesson, found) for lesson in lessons() for found in chapter(lesson).misconceptions}
