"""Questions: commit to an answer, then see. The right one is computed, every wrong one has its own reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import DagkitError, choices, shown
from ..views.player import Player, Prediction, still
from .page import Page, content, esc, fold, plain, rich, static


@dataclass(frozen=True)
class Question:
    """One question with the reply to each choice.

    text: the question. replies: reply by choice, in the order shown. For the right choice the reply says what
    in the situation makes it right, for the others what they overlook. answer: computes the right choice.
    reveal: computes what is shown afterwards (something with ``html()`` or ``_repr_html_``, or a text). name:
    how answers are kept.

    Raises DagkitError when asked, if the computed answer is not among the choices.

    >>> Question("1 + 1?", {"2": "Two.", "11": "That glues them."}, answer=lambda: 1 + 1).right
    '2'
    """

    text: str
    replies: Mapping[str, str]
    answer: Callable[[], Any]
    reveal: Callable[[], Any] | None = None
    name: str = field(default="question", compare=False)

    @property
    def right(self) -> str:
        """The right choice, computed now."""
        found = str(self.answer())
        if found not in self.replies:
            raise DagkitError(f"question '{shown(self.text)}': the answer is '{shown(found)}', which is not "
                              f"among its choices {choices(self.replies)}. Add it.")
        return found

    def html(self, *, answers: bool = True, lead: str = "Predict", before: str = "") -> str:
        """The question as HTML: each choice is a line that opens its reply."""
        right = self.right
        lines = "".join(self._choice(choice, choice == right, answers) for choice in self.replies)
        shown_after = fold("Skip, and show what happens", content(self.reveal()), ' class="dl-reveal"') \
            if answers and self.reveal else ""
        return (f'<section class="dl-q" data-name="{esc(self.name)}" data-answers="{int(answers)}" '
                f'data-before="{esc(before)}"><p class="dl-ask"><b>{esc(lead)}:</b> {rich(self.text)}</p>'
                f'<div class="dl-choices">{lines}</div>{shown_after}</section>')

    def _choice(self, choice: str, right: bool, answers: bool) -> str:
        if not answers:
            return f'<p class="dl-choice" data-value="{esc(choice)}">○ {rich(choice)}</p>'
        mark, word = ("✓", "Yes.") if right else ("✗", "Not so.")
        look = "dl-right" if right else "dl-wrong"
        reply = f'<p class="{look}"><b>{mark} {word}</b> {rich(self.replies[choice])}</p>'
        return fold(rich(choice), reply,
                    f' class="dl-choice" data-value="{esc(choice)}" data-right="{int(right)}"')

    def words(self, lead: str = "Predict") -> str:
        """For a terminal: the question and its choices, not the answer."""
        offered = [f"  - {plain(choice)}" for choice in self.replies]
        return "\n".join([f"{lead}: {plain(self.text)}", *offered])

    def page(self) -> Page:
        return Page(self.html(), self.words())

    def for_player(self) -> Prediction:
        """As the player asks it, before it lets anyone press play."""
        right = self.right
        return Prediction(plain(self.text), [plain(choice) for choice in self.replies], answer=plain(right),
                          because=plain(self.replies[right]))


class AskedPlayer(Player):
    """A player with a question in front. Without widgets the last tick stays folded until it is opened."""

    def __init__(self, trace: Any, question: Question, **options: Any):
        super().__init__(trace, prediction=question.for_player(), **options)
        self.question = question

    def twin(self) -> str:
        return static(self.question.html() + fold("Show how it ended", still(self.trace), ' class="dl-reveal"'))
