"""``dk.practice.ladder(3)``: the questions of one lesson, rising; answer first, then see.

With widgets it is a card with hidden answers. Without: ``ladder.ask(n)``, ``ladder.hint(n, 1)``,
``ladder.answer(n, ...)``, ``ladder.grade(n, [1, 3])``, ``ladder.reveal(n)``; questions count from 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from ..errors import DagkitError, quoted
from ..lesson.page import Page, content, fold, items, plain, rich
from ..views.picture import UNSEEN
from .content import chapter
from .drills import Judged, Worked
from .facts import filled
from .items import Item, Shown, of_longer, of_rung
from .kept import SURE, Progress
from .kept import progress as usual_progress


class Ladder:
    """The questions of a lesson. lesson: its number. progress: where answers are kept; None: the usual place."""

    def __init__(self, lesson: int, progress: Progress | None = None):
        self.chapter = chapter(lesson)
        self._progress = progress

    @property
    def progress(self) -> Progress:
        if self._progress is None:
            self._progress = usual_progress()
        return self._progress

    @cached_property
    def items(self) -> list[Item]:
        """Rungs first, then the longer questions."""
        here = self.chapter
        return [*(of_rung(rung, here.lesson, here.title) for rung in here.rungs),
                *(of_longer(asked, here.lesson, here.title) for asked in here.longer)]

    def __len__(self) -> int:
        return len(self.items)

    def ask(self, n: int) -> Item:
        """Question n, without its answer. Raises DagkitError if there is none of that number.

        >>> print(repr(ladder(3).ask(1)).splitlines()[0])
        Lesson 3, The mini scheduler · recall: In orders, quality_check fails for good. In which state does publish end?
        """
        if type(n) is not int or not 1 <= n <= len(self.items):
            raise DagkitError(f"ladder {self.chapter.lesson}: there is no question {quoted(n)}. It has 1 to "
                              f"{len(self.items)}.")
        return self.items[n - 1]

    def hint(self, n: int, step: int = 1) -> Page:
        """One of three hints; the last is the answer at work."""
        html = self.ask(n).hint(step)
        return Page(html, plain_of(html))

    def answer(self, n: int, given: Any, sure: str = "") -> Judged:
        """The verdict on an answer, kept in your progress. sure: "a guess", "fairly sure" or "certain".

        given: a choice by its text or number. Open questions have no verdict but yours: see ``grade``.
        """
        asked = self.ask(n)
        try:
            verdict = asked.answer(given)
        except DagkitError as error:
            return Judged(None, str(error))
        if verdict.ok is not None:
            self._keep(asked, verdict, sure)
        return verdict

    def grade(self, n: int, points: Iterable[int], sure: str = "") -> Judged:
        """Your own verdict on an open answer, kept in your progress. points: numbers of the rubric's points you had."""
        asked = self.ask(n)
        if not asked.rubric:
            raise DagkitError(f"question {n} is judged by its choices. Use answer({n}, ...).")
        verdict = asked.grade(points)
        self._keep(asked, verdict, sure)
        return verdict

    def _keep(self, asked: Item, verdict: Judged, sure: str) -> None:
        self.progress.note(asked.id, asked.lesson, verdict.ok is True, sure if sure in SURE else "", verdict.misconception)

    def reveal(self, n: int) -> Worked:
        """The answer to question n, at work; for an open one with the points to tick.

        >>> print(repr(ladder(3).reveal(1)).splitlines()[0])
        Answer: upstream_failed
        """
        asked = self.ask(n)
        found = asked.reveal()
        if not asked.rubric:
            return found
        ticks = "\n".join(["Did you have", *(f"  {k}. {plain(point)}" for k, point in enumerate(asked.rubric, 1))])
        return Worked(found.answer, found.steps, _Both(found.picture, items(asked.rubric)),
                      f"{found.words}\n{ticks}".strip())

    def __repr__(self) -> str:
        lines = [f"  {n}. {plain(item.ask)}" for n, item in enumerate(self.items, 1)]
        return "\n".join([f"Ladder of lesson {self.chapter.lesson}, {self.chapter.title}:", *lines])

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return self.cards()._repr_mimebundle_(**kwargs)

    def cards(self) -> Any:
        """The ladder as a widget."""
        from .cards import Cards
        here = self.chapter
        return Cards(self.items, f"Lesson {here.lesson} · {here.title}", self._progress, words=repr(self))


class _Both:
    """Two pieces of a page, one below the other."""

    def __init__(self, first: Any, html: str):
        self.first, self.more = first, html

    def html(self) -> str:
        return f"{content(self.first) if self.first is not None else ''}<p><b>Did you have</b></p>{self.more}"


def plain_of(html: str) -> str:
    """The text of a hint, for a terminal.

    >>> plain_of(f"<p>a &lt; b</p>{UNSEEN}<svg></svg>")
    'a < b'
    """
    import html as markup
    import re
    text = re.sub(r"<(svg|style|table)\b.*?</\1>", "", html.replace(UNSEEN, ""), flags=re.DOTALL)
    text = re.sub(r"</(p|pre|li|dt|dd|h4)>|<br>", "\n", text)
    return markup.unescape(re.sub(r"<[^>]+>", "", text)).strip()


def ladder(lesson: int) -> Ladder:
    """The questions of a lesson, 1 to 13.

    >>> len(ladder(3)) >= 5
    True
    """
    return Ladder(lesson)


def sheet_of(lesson: int) -> Page:
    """What else an interview on a lesson may touch: failure modes, misconceptions, traps, pitfalls, a checklist."""
    here = chapter(lesson)
    failing = "".join(f"<dt>{rich(filled(f.sign))}</dt><dd>{rich(filled(f.cause))}. First: {rich(filled(f.first))}.</dd>"
                      for f in here.failure_modes)
    wrong = "".join(fold(f"“{rich(filled(m.said))}”", f"<p>{rich(filled(m.so))}</p>"
                         + (fold("Play it", Shown(_scene(m.refute)).html()) if m.refute else ""))
                    for m in here.misconceptions)
    traps = "".join(fold(rich(filled(t.trap)), f"<p>{rich(filled(t.way))}</p>") for t in here.traps)
    html = (f"<section><h4>When it fails</h4><dl>{failing}</dl><h4>Heard often, and wrong</h4>{wrong}"
            f"<h4>Interviewer traps</h4>{traps}<h4>Pitfalls</h4>{items(map(filled, here.pitfalls))}"
            f"<h4>Checklist: can you…</h4>{items(map(filled, here.checklist))}</section>")
    words = [f"“{plain(filled(m.said))}” {plain(filled(m.so))}" for m in here.misconceptions]
    return Page(html, "\n".join([f"{here.title}: around the ladder", *words]))


def _scene(name: str) -> Any:
    from .scenes import find
    return find(name)
