"""What a learner may write for a number, some names, a state or several states. Everything sensible is understood.

Each function returns the value, or raises DagkitError with one sentence that says what was looked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

from .. import states
from ..errors import DagkitError, choices, nearest, quoted, shown

LONGEST = 2000
"""Longest answer looked at, in characters."""
_NUMBER = re.compile(r"^\D*?(-?\d+(?:[.,]\d+)?)\s*[A-Za-z ]*\.?$")
_GLUE = {"and", "then", "und", "or"}


def number(answer: Any) -> float:
    """A number: 7, 7.0, "7", "7 ticks", "= 7".

    >>> number("7 ticks"), number(7), number(" 2.5 minutes")
    (7, 7, 2.5)
    """
    if isinstance(answer, Real) and not isinstance(answer, bool):
        return _counted(answer)
    found = _NUMBER.match(_text(answer, "one number, alone or with its unit"))
    if not found:
        raise DagkitError(f"looked for: one number, alone or with its unit; found: {quoted(answer)}. Write it in digits.")
    return _counted(found[1].replace(",", "."))


def _counted(found: Any) -> float:
    """Whole numbers as whole ones. What is too large to count with is no answer to anything here."""
    try:
        exact = float(found)
    except OverflowError:
        exact = math.inf
    if not math.isfinite(exact):
        raise DagkitError(f"looked for: one number; found: {quoted(found)}. Write it in digits.")
    return int(exact) if exact.is_integer() else exact


def names(answer: Any, known: Sequence[str]) -> list[str]:
    """Names in the order written: ["a", "b"], {"a", "b"}, "a b", "a, b", "[a, b]", "a -> b", "a > b", "a and b".

    A name that is not known is refused. Twice the same counts once; a set is put in the order of ``known``.

    >>> names("[a, b]", "abc"), names({"b", "a"}, "abc"), names("a -> c", "abc"), names("none", "abc")
    (['a', 'b'], ['a', 'b'], ['a', 'c'], [])
    """
    if isinstance(answer, (set, frozenset)):
        found = sorted(map(str, answer), key=lambda name: (known.index(name) if name in known else -1, name))
    elif isinstance(answer, Iterable) and not isinstance(answer, (str, bytes)):
        found = [str(name) for name, _ in zip(answer, range(LONGEST), strict=False)]
    else:
        found = _words(_text(answer, "names of tasks, written like 'x, y'"), known)
    for name in found:
        if name not in known:
            raise DagkitError(f"there is no '{shown(name)}' here.{nearest(name, known)} Known: {choices(known, 20)}.")
    return list(dict.fromkeys(found))


def _words(text: str, known: Sequence[str]) -> list[str]:
    words = [word.strip("'\"`") for word in re.split(r"[\s,;>+→\[\](){}]+|->", text)]
    words = [word.rstrip("-") if word.rstrip("-") in known else word for word in words]
    found = [word for word in words if word and word != "-" and (word in known or word.lower() not in _GLUE)]
    return [] if [word.lower() for word in found] in (["none"], ["nothing"]) else found


def state(answer: Any) -> str:
    """The name of a state: "up for retry", "UP_FOR_RETRY", "up-for-retry".

    >>> state("Up for retry"), state("'none'")
    ('up_for_retry', 'none')
    """
    text = _text(answer, "the name of a state")
    name = re.sub(r"[\s-]+", "_", text.strip(" .'\"`")).lower()
    if name not in states.NAMES:
        raise DagkitError(f"'{shown(text)}' is no state.{nearest(name, states.NAMES)} "
                          f"Known: {choices(states.NAMES, 20)}.")
    return name


def state_of_each(answer: Any, tasks: Sequence[str]) -> dict[str, str]:
    """A state for each task: {"a": "failed"}, "a=failed, b=skipped", "a: failed; b: skipped", or states in order.

    >>> state_of_each("a failed, b: up for retry", "ab")
    {'a': 'failed', 'b': 'up_for_retry'}
    >>> state_of_each(["failed", "skipped"], "ab")
    {'a': 'failed', 'b': 'skipped'}
    """
    if isinstance(answer, Mapping):
        pairs = [(str(task), value) for task, value in answer.items()]
    elif isinstance(answer, (list, tuple)):
        pairs = list(zip(tasks, answer, strict=False))
    else:
        text = _text(answer, "a state for each task, written like 'x=STATE, y=STATE'").strip("{}[]() ")
        parts = [part.strip() for part in re.split(r"[,;\n]+", text) if part.strip()]
        pairs = [_pair(part, tasks, place) for place, part in enumerate(parts)]
    found = {}
    for task, value in pairs:
        if task not in tasks:
            raise DagkitError(f"no state of '{shown(task)}' is asked for.{nearest(task, tasks)} "
                              f"Asked: {choices(tasks, 20)}.")
        found[task] = state(value)
    return found


def _pair(part: str, tasks: Sequence[str], place: int) -> tuple[str, str]:
    """``a = failed``, ``a failed`` or only ``failed``, which goes by its place."""
    task, _, value = part.replace("=", " ").replace(":", " ").partition(" ")
    task = task.strip("'\"`")
    if task in tasks:
        return task, value
    if place < len(tasks) and re.sub(r"[\s-]+", "_", part.strip(" '\"`")).lower() in states.NAMES:
        return tasks[place], part
    return task, value or part


def one_of(answer: Any, known: Mapping[str, Sequence[str]]) -> str:
    """One of some words, each with other ways to say it: ``{"worker_slots": ["workers"]}``.

    >>> one_of("Worker slots", {"worker_slots": ["workers"], "pool": []}), one_of("the pool", {"pool": []})
    ('worker_slots', 'pool')
    """
    text = _text(answer, f"one of {choices(known, 20)}")
    said = _plain(text)
    ways = {_plain(way): word for word, others in known.items() for way in (word, *others)}
    if said in ways:
        return ways[said]
    inside = [way for way in ways if re.search(rf"(?<![a-z0-9]){re.escape(way)}(?![a-z0-9])", said)]
    longest = max(inside, key=len, default="")
    if longest and len({ways[way] for way in inside if way not in longest}) <= 1:
        return ways[longest]
    raise DagkitError(f"'{shown(text)}' is not one of the answers.{nearest(said, ways)} Known: {choices(known, 20)}.")


def _plain(text: str) -> str:
    return re.sub(r"[\s_\-'\"`.]+", " ", text).strip().lower()


def _text(answer: Any, wanted: str) -> str:
    if not isinstance(answer, str):
        raise DagkitError(f"looked for: {wanted}; found: {quoted(answer)}. Put it in quotes.")
    if len(answer) > LONGEST:
        raise DagkitError(f"looked for: {wanted}; found: a text of {len(answer):,} characters. Write less.")
    return answer
