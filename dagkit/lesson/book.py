"""Lesson: the parts every lesson has, and how each becomes a page."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..errors import DagkitError, choices
from .ask import Question
from .maps import Map
from .page import Page, esc, filled, fold, items, plain, rich

GIST = ("Why it exists", "Definition", "In half a minute", "Mental model", "The trade-off", "Interview cue")
LATER = "Keep an answer to each. The same two questions come back at the end, with replies."
SAID: dict[str, str] = {}
"""What was answered before a lesson, by question; kept as long as the kernel lives."""


@dataclass(frozen=True)
class Lesson:
    """One lesson. In every text ``{name}`` stands for a fact, computed by ``facts``.

    gist: six texts, see GIST. test: the two questions asked before and after. asks: the questions of the
    sandbox. ladder: (rung, question, answer), rising. misconceptions: (what people say, what is so). traps:
    interviewer traps, likewise. checklist: what one can now do. try_this: one thing to do without the kit.
    """

    number: int
    title: str
    facts: Callable[[], Mapping[str, Any]]
    gist: Sequence[str]
    map: Map
    test: Sequence[Question]
    asks: Mapping[str, Question]
    ladder: Sequence[tuple[str, str, str]]
    misconceptions: Sequence[tuple[str, str]]
    traps: Sequence[tuple[str, str]]
    checklist: Sequence[str]
    try_this: str

    @cached_property
    def known(self) -> Mapping[str, Any]:
        return self.facts()

    def say(self, text: str) -> str:
        return filled(text, self.known)

    def question(self, name: str) -> Question:
        return self._filled(self.asks[name], name)

    def _filled(self, question: Question, name: str) -> Question:
        replies = {self.say(choice): self.say(reply) for choice, reply in question.replies.items()}
        if len(replies) < len(question.replies):
            raise DagkitError(f"question '{name}': two of its choices read the same: {choices(replies)}. "
                              "Change one.")
        return dataclasses.replace(question, text=self.say(question.text), replies=replies, name=name)

    def gist_page(self) -> Page:
        told = [(head, self.say(text)) for head, text in zip(GIST, self.gist, strict=True)]
        rows = "".join(f"<dt>{head}</dt><dd>{rich(text)}</dd>" for head, text in told)
        aloud = " ".join(f"{head}. {plain(text)}" for head, text in told)
        html = f'<section class="dl-gist" data-speak="{esc(aloud)}"><dl>{rows}</dl></section>'
        words = "\n".join([f"{self.title}: the gist", *(f"{head}: {plain(text)}" for head, text in told)])
        return Page(html, words)

    def map_page(self) -> Page:
        return Page(self.map.html(self.known), self.map.text(self.known))

    def test_page(self, *, answers: bool) -> Page:
        asked = [self._filled(q, f"test-{self.number}-{k}") for k, q in enumerate(self.test, 1)]
        note = "" if answers else f'<p class="dl-note">{LATER}</p>'
        html = note + "".join(q.html(answers=answers, lead=f"Question {k}", before=SAID.get(q.name, ""))
                              for k, q in enumerate(asked, 1))
        page = Page(html, "\n".join(q.words(f"Question {k}") for k, q in enumerate(asked, 1)))
        if not answers:
            page.observe(_remember, "answers")
        return page

    def _folded(self, line: str, inside: str) -> str:
        return fold(rich(self.say(line)), f"<p>{rich(self.say(inside))}</p>")

    def ladder_page(self) -> Page:
        rungs = "".join(fold(f'<span class="dl-rung">{esc(rung)}</span> {rich(self.say(ask))}',
                             f"<p>{rich(self.say(key))}</p>") for rung, ask, key in self.ladder)
        wrong = "".join(self._folded(f"“{said}”", so) for said, so in self.misconceptions)
        traps = "".join(self._folded(trap, way) for trap, way in self.traps)
        html = (f'<section class="dl-ladder"><h4>The ladder: answer aloud, then open</h4>{rungs}'
                f"<h4>Heard often, and wrong</h4>{wrong}<h4>Interviewer traps</h4>{traps}"
                f"<h4>Checklist: can you…</h4>{items(self.say(text) for text in self.checklist)}"
                f"<h4>Try this</h4><p>{rich(self.say(self.try_this))}</p></section>")
        words = [f"{rung} {plain(self.say(ask))}" for rung, ask, _ in self.ladder]
        return Page(html, "\n".join([f"{self.title}: questions", *words]))


def _remember(change: Any) -> None:
    SAID.update({name: given["choice"] for name, given in change["new"].items() if "choice" in given})
