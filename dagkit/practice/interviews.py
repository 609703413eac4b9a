"""``dk.practice.interview(seed=3)``: a timed mix from all ladders and drills, and a report of what to review.

>>> talk = interview(seed=3, minutes=10, clock=lambda: 0.0)
>>> talk.asked.form in ("choice", "text", "open"), talk.left
(True, 600.0)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

from ..checks import levels, number, seeds, whole
from ..checks import plain as plain_number
from ..errors import DagkitError, choices, quoted
from ..lesson.page import Table, rich, static
from ..lesson.page import items as bullets
from .content import RUNGS, chapter, lessons
from .dice import Dice
from .drills import KINDS, Judged, drill, kinds, sheet
from .items import Item, about, of_drill, of_longer, of_rung
from .kept import SURE, Progress, progress

COURSE = ("recall", "drill", "trace", "longer", "explain", "drill", "design", "trace")
"""The order in which an interview asks, again and again: something easy, something to work out, something to tell."""


@dataclass(frozen=True)
class Answered:
    """One question of an interview: the verdict (None: skipped), how sure, and the seconds it took."""

    item: Item
    verdict: Judged | None
    sure: str
    seconds: float

    @property
    def right(self) -> bool:
        return self.verdict is not None and self.verdict.ok is True

    @property
    def word(self) -> str:
        return "skipped" if self.verdict is None else "right" if self.right else "wrong"


class Interview:
    """A timed mix of questions. ``asked`` is the current one; answer, grade or skip it; ``report()`` at the end.

    seed: which mix. minutes: time for all. lessons: only these (None: all). level: of the drills.
    clock: seconds from any zero; the time runs from ``start()``, or from the first answer.
    """

    def __init__(self, seed: int, minutes: float, only: Sequence[int] | None, level: int,
                 clock: Callable[[], float], progress: Progress | None):
        self.seed, self.minutes, self._clock, self._progress = seed, minutes, clock, progress
        self.items = mix(seed, minutes, lessons() if only is None else only, level)
        self.answered: list[Answered] = []
        self._began: float | None = None
        self._last = 0.0

    def start(self) -> Interview:
        """Let the time run; a second call changes nothing."""
        if self._began is None:
            self._began = self._last = self._clock()
        return self

    @property
    def left(self) -> float:
        """Seconds left; 0 when the time is up."""
        gone = 0.0 if self._began is None else self._clock() - self._began
        return max(0.0, self.minutes * 60.0 - gone)

    @property
    def over(self) -> bool:
        return len(self.answered) == len(self.items) or self.left == 0

    @property
    def asked(self) -> Item:
        """The current question. Raises DagkitError when the interview is over."""
        if self.over:
            raise DagkitError("the interview is over. Look at its report(), or begin another with another seed.")
        return self.items[len(self.answered)]

    def answer(self, given: Any, sure: str = "") -> Judged:
        """Answer the current question; one that cannot be read is asked again. Open ones: see ``grade``."""
        self.start()
        try:
            verdict = self.asked.answer(given)
        except DagkitError as error:
            if self.over:
                raise
            return Judged(None, str(error))
        if verdict.ok is not None:
            self._keep(verdict, sure)
        return verdict

    def grade(self, points: Iterable[int], sure: str = "") -> Judged:
        """Your own verdict on the current, open question: the points of its rubric you had."""
        self.start()
        if self.asked.form != "open":
            raise DagkitError("this question is judged by its answer. Use answer(...).")
        verdict = self.asked.grade(points)
        self._keep(verdict, sure)
        return verdict

    def skip(self) -> None:
        """Leave the current question; it goes onto the list of what to review."""
        self.start()
        self._keep(None, "")

    def _keep(self, verdict: Judged | None, sure: str) -> None:
        item, now = self.asked, self._clock()
        self.answered.append(Answered(item, verdict, sure if sure in SURE else "", now - self._last))
        self._last = now
        if self._progress is not None:
            self._progress.note(item.id, item.lesson, self.answered[-1].right, self.answered[-1].sure,
                                "" if verdict is None else verdict.misconception)

    def report(self) -> Report:
        """What went well, and what to review, most urgent first."""
        return Report(tuple(self.answered), tuple(self.items[len(self.answered):]))

    def __repr__(self) -> str:
        state = "over" if self.over else f"question {len(self.answered) + 1}"
        return f"Interview {self.seed}: {len(self.items)} questions in {self.minutes:g} minutes, {state}"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return self.cards()._repr_mimebundle_(**kwargs)

    def cards(self) -> Any:
        """The interview as a widget."""
        from .cards import Cards
        return Cards(self.items, f"Interview {self.seed}", talk=self, words=repr(self))


@dataclass(frozen=True)
class Report:
    """What an interview showed. answered: in order. left: questions not reached."""

    answered: tuple[Answered, ...]
    left: tuple[Item, ...]

    @property
    def right(self) -> int:
        return sum(one.right for one in self.answered)

    @property
    def review(self) -> list[int]:
        """Lessons to open again: those with something wrong or skipped, worst first, then by number."""
        wrong = [one.item.lesson for one in self.answered if not one.right]
        sure = [one.item.lesson for one in self.answered if not one.right and one.sure == "certain"]
        return sorted(set(wrong), key=lambda lesson: (-wrong.count(lesson) - sure.count(lesson), lesson))

    @property
    def misconceptions(self) -> list[str]:
        """What was believed and is not so, once each."""
        slips = [one.verdict.misconception for one in self.answered if one.verdict is not None and not one.right]
        return list(dict.fromkeys(filter(None, map(about, slips))))

    @property
    def remarks(self) -> list[str]:
        """Sentences: the score, overconfidence, lucky guesses, slow answers, what was not reached."""
        said = [f"{self.right} of {len(self.answered)} right."]
        if wrong := sum(not one.right and one.sure == "certain" for one in self.answered):
            said.append(f"Certain and wrong: {wrong}. Begin with these.")
        if lucky := sum(one.right and one.sure == "a guess" for one in self.answered):
            said.append(f"Right by a guess: {lucky}. Read their reasons once more.")
        if slow := [one.item.title for one in self.answered if one.seconds > 60 * one.item.minutes]:
            said.append(f"Longer than planned: {choices(slow, 4)}.")
        if self.left:
            said.append(f"Not reached: {len(self.left)}.")
        return said

    def rows(self) -> list[dict[str, Any]]:
        return [{"question": one.item.title, "verdict": one.word, "sure": one.sure, "seconds": round(one.seconds)}
                for one in self.answered]

    def _open(self) -> list[str]:
        return [f"lesson {n}, {chapter(n).title}: dk.practice.ladder({n})" for n in self.review]

    def __repr__(self) -> str:
        again = [f"Review {line}" for line in self._open()] or ["Nothing to review."]
        return "\n".join([*self.remarks, *again, *self.misconceptions])

    def html(self) -> str:
        again = bullets(self._open()) if self.review else "<p>Nothing to review.</p>"
        wrong = f"<h4>Not so</h4>{bullets(self.misconceptions)}" if self.misconceptions else ""
        table = Table(self.rows())._repr_html_() if self.answered else ""
        return f"<p>{rich(' '.join(self.remarks))}</p><h4>Review</h4>{again}{wrong}<h4>Question by question</h4>{table}"

    def _repr_html_(self) -> str:
        return static(self.html())


# ---- which questions -----------------------------------------------------------------------------------------------


def mix(seed: int, minutes: float, only: Sequence[int], level: int) -> list[Item]:
    """Questions that fill so many minutes: in the order of COURSE, each from a lesson asked least so far."""
    dice = Dice("interview", seed, minutes, *only, level)
    pool = {what: _all(what, only) for what in (*RUNGS, "longer")}
    pool["drill"] = [partial(_drilled, name, seed, level) for name in kinds() if KINDS[name].lesson in only]
    found: list[Item] = []
    used: dict[int, int] = {}
    turn, refused = 0, 0
    while refused < len(COURSE):
        what = COURSE[turn % len(COURSE)]
        item = _next(dice, pool[what], used)
        turn += 1
        if item is None or sum(one.minutes for one in found) + item.minutes > minutes:
            refused += 1
            continue
        refused = 0
        used[item.lesson] = used.get(item.lesson, 0) + 1
        found.append(item)
    return found


def _all(what: str, only: Sequence[int]) -> list[Callable[[], Item]]:
    """Makers of all rungs of a kind, or of all longer questions."""
    made: list[Callable[[], Item]] = []
    for n in only:
        here = chapter(n)
        if what == "longer":
            made += [partial(of_longer, asked, here.lesson, here.title) for asked in here.longer]
        made += [partial(of_rung, rung, here.lesson, here.title) for rung in here.rungs if rung.rung == what]
    return made


def _drilled(name: str, seed: int, level: int) -> Item:
    return of_drill(drill(name, seed, level))


def _next(dice: Dice, makers: list[Callable[[], Item]], used: dict[int, int]) -> Item | None:
    """One of three thrown at random: the one whose lesson was asked least."""
    if not makers:
        return None
    thrown = [makers[dice.between(0, len(makers) - 1)] for _ in range(3)]
    best = min(thrown, key=lambda make: used.get(make().lesson, 0))
    makers.remove(best)
    return best()


def interview(seed: int = 0, minutes: float = 20, lessons: Sequence[int] | None = None, level: int = 1,
              clock: Callable[[], float] = time.monotonic, keep: bool = True) -> Interview:
    """A mock interview: the same seed gives the same questions.

    minutes: 5 to 240. lessons: only questions from these. clock: for tests. keep: note answers in your progress.
    Raises DagkitError for anything else.
    """
    seed, level = seeds("interview", seed), levels("interview", level)
    minutes = number("interview", "minutes", minutes, 5, 240)
    if lessons is not None and (not isinstance(lessons, (list, tuple, set, range)) or not lessons):
        raise DagkitError(f"interview: lessons must be a list of lesson numbers, not {quoted(lessons)}. "
                          "Write lessons=[5, 6].")
    only = None if lessons is None else sorted(lessons)
    for lesson in only or ():
        chapter(lesson)
    return Interview(seed, minutes, only, level, clock, progress() if keep else None)


def item(name: str) -> Item:
    """A question by the id it is kept under in progress: ``3/publish-ends`` or ``drill/makespan/7/1``.

    >>> item("drill/slack/3/1").lesson
    1
    """
    first, *rest = name.split("/") if isinstance(name, str) and len(name) < 200 else [""]
    if first == "drill" and len(rest) == 3 and rest[1].isdecimal() and rest[2].isdecimal():
        return of_drill(drill(rest[0], int(rest[1]), int(rest[2])))
    if first.isdecimal() and int(first) in lessons() and len(rest) == 1:
        here = chapter(int(first))
        for rung in here.rungs:
            if rung.id == rest[0]:
                return of_rung(rung, here.lesson, here.title)
        for asked in here.longer:
            if asked.id == rest[0]:
                return of_longer(asked, here.lesson, here.title)
    raise DagkitError(f"there is no question {quoted(name)}. Ids look like 3/publish-ends or drill/makespan/7/1.")


def review(kept: Progress | None = None, today: date | None = None, most: int = 10) -> Any:
    """What is due again by today, as cards; see ``intervals.next_review`` for the intervals.

    kept: your progress; None: from its usual place. today: for tests. most: questions at once.
    Raises DagkitError unless most is a whole number.
    """
    from .cards import Cards
    most = plain_number(most)
    whole("review", "most", most, 0)
    kept = progress() if kept is None else kept
    found = []
    for name in kept.due(today or date.today()):
        try:
            found.append(item(name))
        except DagkitError:                                # a question that this version no longer has
            continue
    words = f"Due again: {len(found)} questions." if found else "Nothing is due again."
    return Cards(found[:most], "Due again", kept, words=words)


def training(seed: int = 0, count: int = 10, level: int = 1) -> Any:
    """Drills as cards: all kinds in turn, the same for everybody who takes the seed; see ``sheet``."""
    from .cards import Cards
    dealt = sheet(seed, count, level)
    return Cards([of_drill(one) for one in dealt], f"Drills {seed} · level {level}",
                 words="\n".join(f"{one.title} (seed {one.seed})" for one in dealt))


__all__ = ["Answered", "Interview", "Report", "interview", "item", "mix", "review", "training"]
