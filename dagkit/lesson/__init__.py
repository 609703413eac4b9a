"""The lesson kit: what every lesson is made of, besides its code cells.

A lesson has four doors, always in this order: **Gist**, **Map**, **Sandbox**, **Q&A**; a test of two
questions comes before and after. Its words live in ``dagkit/lesson/lessons``, one module per lesson; every
number in them is computed when the lesson is opened. Without widgets each cell shows the same as plain HTML,
answers folded.

>>> gist(3).text.splitlines()[0]
'The mini scheduler: the gist'
"""

from __future__ import annotations

from typing import Any

from .ask import AskedPlayer, Question
from .checks import Verdict, check
from .lessons import find, lesson
from .page import Folded, Page, Table

__all__ = [
    "AskedPlayer", "Folded", "Page", "Question", "Table", "Verdict", "after", "before", "check", "folded", "gist",
    "map", "predict", "questions", "table",
]


def gist(number: int) -> Page:
    """Door 1: why it exists, definition, half a minute, model, trade-off, cue; can be read aloud."""
    return lesson(number).gist_page()


def map(number: int) -> Page:  # noqa: A001  (the door's name)
    """Door 2: a diagram whose nodes and arrows can be chosen, and the same as text and as Mermaid."""
    return lesson(number).map_page()


def questions(number: int) -> Page:
    """Door 4: the ladder with folded answers, misconceptions, traps, a checklist, one thing to try."""
    return lesson(number).ladder_page()


def before(number: int) -> Page:
    """Two questions before the lesson. They come without answers, and come back at its end."""
    return lesson(number).test_page(answers=False)


def after(number: int) -> Page:
    """The same two questions after the lesson, now with answers, and with what you said before."""
    return lesson(number).test_page(answers=True)


def predict(question: str | Question, trace: Any = None) -> Page | AskedPlayer:
    """Commit to an answer first (or skip), then see what happens.

    question: the name of a lesson's question, or a ``Question``. trace: what to play after it; play is locked
    until then. Every answer has its own reply; the right one is computed, never stored.
    Raises DagkitError for an unknown name.

    >>> predict("publish_ends").text.splitlines()[0]
    'Predict: In which state does publish end?'
    """
    asked = find(question) if isinstance(question, str) else question
    return asked.page() if trace is None else AskedPlayer(trace, asked)


def folded(line: str, inside: Any) -> Folded:
    """Something behind a line that opens: for what a learner should first find alone.

    >>> folded("Show it", "42")
    Show it
    """
    return Folded(line, inside)


def table(rows: Any) -> Table:
    """A DataFrame (or a list of dictionaries) with every cell in full, where pandas would cut long sentences.

    >>> table([{"task": "a", "why": "it waits"}])
    task | why
    a | it waits
    """
    return Table(rows)
