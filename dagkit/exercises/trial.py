"""How a learner's answer is tried: in bounded time, on copies, and every mishap becomes a sentence."""

from __future__ import annotations

import copy
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from ..errors import DagkitError, nearest, quoted, shown
from ..lesson.page import esc
from . import apart

PACKAGE = str(Path(__file__).resolve().parents[1])
MOST_STEPS = 1_000_000
"""Steps (parts of lines) one call of a learner's function may run: far above any sound answer to these small questions."""


class NotYet(DagkitError):
    """An answer that is missing or not right. text: what was found. hint: where to look next, or "".

    Notebooks show the two sentences and no traceback.
    """

    def __init__(self, text: str, hint: str = "", number: str = ""):
        self.text, self.hint, self.number = text, hint, number
        super().__init__(" ".join(filter(None, [f"{number} not yet:" if number else "", text,
                                                f"Hint: {hint}" if hint else ""])))

    def _render_traceback_(self) -> list[str]:
        return [f"✗ {self.number} not yet. {self.text}", *([f"  Hint: {self.hint}"] if self.hint else [])]


@dataclass(frozen=True)
class Passed:
    """A task that is done: the same words for every right answer, so that two runs can be compared."""

    number: str
    text: str

    def __repr__(self) -> str:
        return f"✓ {self.number} done. {self.text}"

    def _repr_html_(self) -> str:
        return (f'<p style="border-left:4px solid #009b59;padding:2px 0 2px 10px;margin:4px 0">'
                f"<b>✓ {esc(self.number)} done.</b> {esc(self.text)}</p>")


Judge = Callable[..., None]


@dataclass(frozen=True)
class Task:
    """One task. needs: the names a learner has to define. judge_by: gets their values, raises NotYet. done: the praise."""

    number: str
    needs: tuple[str, ...]
    judge_by: Judge
    done: str

    def judge(self, found: Mapping[str, Any]) -> Passed:
        values = [found.get(name) for name in self.needs]
        for name, value in zip(self.needs, values, strict=True):
            if value is None or value is ...:
                raise NotYet(f"There is no {name} yet.", f"Write it where task {self.number} says YOUR CODE HERE, run "
                             "that cell, then this one.", self.number)
        verdict = apart.run(lambda: self._verdict(values))
        if verdict:
            raise NotYet(*verdict, self.number)
        return Passed(self.number, self.done)

    def _verdict(self, values: list[Any]) -> apart.Verdict:
        try:
            self.judge_by(*values)
        except NotYet as error:
            return error.text, error.hint
        except (Exception, SystemExit) as error:  # an answer may be anything at all
            return (f"This answer cannot be judged: {shown(error, 300) or type(error).__name__}",
                    "Read the task once more: what kind of thing does it ask for?")
        return None


def call(function: Any, *given: Any, name: str = "your function", refuses: type[Exception] | None = None) -> Any:
    """What a learner's function returns for copies of ``given``; or its error, if that is of the kind it ``refuses`` with.

    Raises NotYet when it is no function, returns nothing, fails, or does not come to an end.

    >>> call(lambda x: x + 1, 1)
    2
    >>> call(lambda x: 1 // x, 0, name="half")
    Traceback (most recent call last):
    ...
    dagkit.exercises.trial.NotYet: half(0) ended in ZeroDivisionError: ...
    """
    if not callable(function):
        raise NotYet(f"{name} must be a function, not {quoted(function)}.", f"Begin with: def {name}(...):")
    asked = f"{name}({', '.join(map(_written, given))})"
    try:
        answer = bounded(function, *copy.deepcopy(given))
    except NotYet:
        raise
    except (Exception, SystemExit) as error:
        if refuses and isinstance(error, refuses):
            return error
        said = shown(error, 200)
        raise NotYet(f"{asked} ended in {type(error).__name__}{': ' * bool(said)}{said}{where(error)}.",
                     f"YOUR CODE HERE is still in {name}: that part first." if unwritten(function) else
                     "Try it in a cell of your own with just this input.") from None
    if answer is None or answer is ...:
        raise NotYet(f"{asked} gives back nothing.", "Write its body, and end it with return.")
    return answer


def unwritten(function: Any) -> bool:
    """Whether the place for the learner's own lines can still be read in a function."""
    try:
        return "YOUR CODE HERE" in inspect.getsource(function)
    except (OSError, TypeError):                            # made in a way that leaves no source
        return False


def _written(value: Any) -> str:
    return shown(value.__name__) if callable(value) and hasattr(value, "__name__") else quoted(value)


def bounded(function: Callable[..., Any], *given: Any) -> Any:
    """Call a function, and give up after MOST_STEPS steps. A clock would judge slow machines more harshly.

    Steps, not lines: ``while True: pass`` never comes to a second line. The kit's own code is counted by lines.
    """
    left, before = MOST_STEPS, sys.gettrace()

    def count(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            apart.give_up(apart.ENDLESS)                    # does not come back: an error might be caught in there
            raise NotYet(*apart.ENDLESS)
        if event == "call":
            frame.f_trace_opcodes = not frame.f_code.co_filename.startswith(PACKAGE)
        return count

    sys.settrace(count)
    try:
        found = function(*given)
        return list(found) if isinstance(found, Iterator) else found      # a generator runs only now
    finally:
        sys.settrace(before)


def where(error: BaseException) -> str:
    """The learner's own line that failed, as " in line 3: return 1 / x"; or nothing."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(PACKAGE)]
    if not own:
        return ""
    return f" in line {own[-1].lineno}" + (f": {shown(own[-1].line, 80)}" if own[-1].line else "")


def keyed(name: str, found: Any, keys: Sequence[str], *, every: bool = False) -> None:
    """Raises NotYet unless an answer is a dictionary with these keys and no others. every: none may be missing.

    >>> keyed("settings", {"dbb": 4}, ("db", "weight"))
    Traceback (most recent call last):
    ...
    dagkit.exercises.trial.NotYet: settings has a key 'dbb', which is unknown. Did you mean 'db'? Known: db, weight.
    """
    if not isinstance(found, dict):
        raise NotYet(f"{name} must be a dictionary with {'each' if every else 'some'} of {', '.join(keys)}, "
                     f"not {quoted(found)}.", f"Begin with: {name} = {{{keys[0]!r}: ...}}.")
    for key in found:
        if key not in keys:
            raise NotYet(f"{name} has a key {quoted(key)}, which is unknown.{nearest(key, keys)} Known: {', '.join(keys)}.")
    if missing := [key for key in keys if every and key not in found]:
        raise NotYet(f"{name} has no {' and no '.join(missing)}.", f"It needs a value for each of {', '.join(keys)}.")


def same(found: Any, right: Any, asked: str, hint: str = "") -> None:
    """Raises NotYet, naming both, if an answer differs."""
    if found != right:
        raise NotYet(f"{asked}: you say {quoted(found)}, it is {quoted(right)}.", hint)
