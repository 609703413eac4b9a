"""One question, whatever it comes from: a rung, a longer question or a drill. Views and the interview know only this."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import DagkitError, quoted, shown
from ..lesson.page import content, esc, fold, items, plain, rich, static
from . import notation, scenes, scenes_beyond, scenes_parts  # noqa: F401  (the last two fill SCENES)
from .content import Choice, Longer, Rung, misconceptions
from .drills import Drill, Judged, Worked
from .facts import fact, filled
from .scenes import Scene

MINUTES = {"recall": 1, "trace": 2, "explain": 2, "design": 4}
"""Time for a rung in an interview."""
ENOUGH = 2 / 3
"""Share of the rubric's points from which an open answer counts as right. Assumed."""


@dataclass(frozen=True)
class Item:
    """A question. id: what progress is kept under. offered: choices; none means write or say it.

    form: "choice", "text" or "open"; open answers are graded by the learner against ``rubric``.
    hints: each made when it is asked for. judge: the verdict on an answer. reveal: the answer at work.
    """

    id: str
    lesson: int
    form: str
    title: str
    ask: str
    question: str
    reveal: Callable[[], Worked]
    judge: Callable[[Any], Judged] | None = None
    offered: tuple[str, ...] = ()
    rubric: tuple[str, ...] = ()
    hints: tuple[Callable[[], str], ...] = ()
    minutes: float = 2
    words: str = ""

    def __repr__(self) -> str:
        return self.words or "\n".join([f"{self.title}: {plain(self.ask)}", *(f"  {n}. {plain(choice)}" for n, choice in
                                                                             enumerate(self.offered, 1))])

    def _repr_html_(self) -> str:
        offered = "".join(f"<li>{rich(choice)}</li>" for choice in self.offered)
        return static(f'<section class="dl-q"><p class="dl-note">{esc(self.title)}</p>{self.question}'
                      f'{f"<ol>{offered}</ol>" if offered and self.form == "choice" else ""}</section>')

    def hint(self, step: int) -> str:
        """A hint as HTML; 1, 2, then 3, which is the answer at work. Raises DagkitError beyond them."""
        if type(step) is not int or not 1 <= step <= len(self.hints):
            raise DagkitError(f"hint {quoted(step)}: this question has hints 1 to {len(self.hints)}. Begin with hint 1.")
        return self.hints[step - 1]()

    def answer(self, given: Any) -> Judged:
        """The verdict; an open question has none but yours, see ``grade``."""
        if self.judge is None:
            return Judged(None, "Grade yourself: reveal the answer, then tick the points you had.")
        return self.judge(given)

    def grade(self, points: Iterable[int]) -> Judged:
        """Your own verdict on an open answer: the numbers of the rubric's points you had, from 1."""
        had = sorted({point for point in points if type(point) is int and 1 <= point <= len(self.rubric)})
        missing = [point for n, point in enumerate(self.rubric, 1) if n not in had]
        share = len(had) / len(self.rubric) if self.rubric else 0
        text = f"{len(had)} of {len(self.rubric)} points."
        return Judged(share >= ENOUGH, f"{text} Missing: {'; '.join(missing)}." if missing else text)

    def twin(self) -> str:
        """The question with everything folded in, as HTML that needs neither script nor kernel."""
        hints = "".join(fold(f"Hint {step}", make()) for step, make in enumerate(self.hints, 1))
        choices = "".join(self._folded_choice(choice) for choice in self.offered) if self.form == "choice" else ""
        rubric = f"<p><b>Did you have</b></p>{items(self.rubric)}" if self.rubric else ""
        answer = fold("Answer", self.reveal().html() + rubric)
        return (f'<section class="dl-q"><p class="dl-note">{esc(self.title)}</p>{self.question}{choices}{hints}{answer}'
                "</section>")

    def _folded_choice(self, choice: str) -> str:
        verdict = self.answer(choice)
        mark, look = ("✓ Yes.", "dl-right") if verdict.ok else ("✗ Not so.", "dl-wrong")
        return fold(rich(choice), f'<p class="{look}"><b>{mark}</b> {rich(verdict.text)}</p>')


# ---- from a rung ---------------------------------------------------------------------------------------------------


def of_rung(rung: Rung, lesson: int, title: str) -> Item:
    """A rung of a ladder as a question."""
    ask = filled(rung.ask)
    hints: tuple[Callable[[], str], ...] = (
        *(lambda text=text: f"<p>{rich(filled(text))}</p>" for text in rung.hints),
        lambda: scene_html(scenes.find(rung.worked)))
    choices = {filled(choice.say): choice for choice in rung.choices}
    return Item(f"{lesson}/{rung.id}", lesson, "choice" if choices else "open",
                f"Lesson {lesson}, {title} · {rung.rung}", ask,
                _bold(ask), lambda: _reveal_rung(rung, choices),
                (lambda given: _judge_choice(rung, choices, given)) if choices else None, tuple(choices),
                tuple(map(filled, rung.rubric)), hints, MINUTES[rung.rung])


def _bold(ask: str) -> str:
    return f'<p class="dl-ask"><b>{rich(ask)}</b></p>'


def right_choice(rung: Rung, choices: Sequence[str]) -> str:
    """The right one of the choices as they are shown: the fact, or the one that is marked."""
    if rung.answer:
        return str(fact(rung.answer))
    return choices[next(n for n, choice in enumerate(rung.choices) if choice.right)]


def _judge_choice(rung: Rung, choices: dict[str, Choice], given: Any) -> Judged:
    """A choice by its text, or else its number (from 1)."""
    said = _chosen(list(choices), given)
    choice, right = choices[said], right_choice(rung, list(choices))
    if said == right:
        return Judged(True, filled(choice.reply))
    seen = f"Played: {scenes.find(choice.refute).point(rung.look)}" if choice.refute else ""
    return Judged(False, filled(choice.reply), seen, choice.slip, choice.refute)


def _chosen(choices: list[str], given: Any) -> str:
    said = (given if isinstance(given, str) else shown(given, 200))[:notation.LONGEST].strip().lower()
    if said and not isinstance(given, bool):
        plainly = {plain(choice).strip().lower(): choice for choice in choices}
        plainly.update({choice.lower(): choice for choice in choices})
        if said in plainly:
            return plainly[said]
    try:
        number = notation.number(given)
    except DagkitError:
        number = 0
    if 1 <= number <= len(choices) and number == int(number):
        return choices[int(number) - 1]
    raise DagkitError(f"{quoted(given)} is none of the choices. Answer with its text, or its number from 1 to "
                      f"{len(choices)}.")


def _reveal_rung(rung: Rung, choices: dict[str, Choice]) -> Worked:
    played = scenes.find(rung.worked)
    if not choices:
        return Worked(filled(rung.key), (), Shown(played), repr(played))
    right = right_choice(rung, list(choices))
    return Worked(right, (filled(choices[right].reply),), Shown(played), repr(played))


@dataclass(frozen=True)
class Shown:
    """A scene that shows itself in a page."""

    scene: Scene

    def html(self) -> str:
        return scene_html(self.scene)


def scene_html(played: Scene, bars: int = 24) -> str:
    """A scene as HTML: its lines, and its trace as bars unless that is long."""
    lines = "\n".join(esc(line) for line in played.lines)
    few = played.trace is not None and len(played.trace.labels) <= bars
    return f"<p>{rich(played.title)}</p><pre>{lines}</pre>{content(played.picture) if few else ''}"


# ---- from a longer question ----------------------------------------------------------------------------------------


def of_longer(asked: Longer, lesson: int, title: str) -> Item:
    """A longer question as a question: answered aloud, then compared."""
    ask = filled(asked.ask)
    hints = (lambda: f"<p>A whiteboard would begin with: {rich(filled(asked.board[0]))}</p>",
             lambda: f"<p>{rich(filled(asked.short))}</p>", lambda: board_html(asked))
    return Item(f"{lesson}/{asked.id}", lesson, "open", f"Lesson {lesson}, {title} · {asked.minutes} minutes", ask,
                _bold(ask), lambda: Worked("", (), Told(asked), repr(Told(asked))), None, (),
                tuple(map(filled, asked.rubric)), hints, asked.minutes)


def board_html(asked: Longer) -> str:
    """The whiteboard of a longer question."""
    return "<pre>" + "\n".join(esc(filled(line)) for line in asked.board) + "</pre>"


@dataclass(frozen=True)
class Told:
    """The answers to a longer question."""

    asked: Longer

    @property
    def parts(self) -> list[tuple[str, str]]:
        asked = self.asked
        return [("In 30 seconds", filled(asked.short)), ("In 2 minutes", filled(asked.long)),
                *[(f"Next: {filled(f.ask)}", filled(f.key)) for f in asked.follow_ups],
                ("A weak answer", filled(asked.weak)), ("A strong answer", filled(asked.strong))]

    def html(self) -> str:
        parts = [f"<dt>{rich(head)}</dt><dd>{rich(text)}</dd>" for head, text in self.parts]
        board = f"<dt>On the whiteboard</dt><dd>{board_html(self.asked)}</dd>"
        return f"<dl>{parts[0]}{parts[1]}{board}{''.join(parts[2:])}</dl>"

    def __repr__(self) -> str:
        told = [f"{head}: {plain(text)}" for head, text in self.parts]
        board = ["On the whiteboard:", *(f"  {filled(line)}" for line in self.asked.board)]
        return "\n".join([*told[:2], *board, *told[2:]])


# ---- from a drill --------------------------------------------------------------------------------------------------


def of_drill(one: Drill) -> Item:
    """A drill as a question."""
    hints = (lambda: f"<p>{rich(one.posed.write)}</p>", lambda: _first_step(one), lambda: one.reveal().html())
    return Item(f"drill/{one.kind}/{one.seed}/{one.level}", one.lesson, "choice" if one.posed.offered else "text",
                f"Lesson {one.lesson} · drill: {one.title}", one.posed.question, one.question_html(), one.reveal,
                one.answer, tuple(one.posed.offered), (), hints, 2.0 + one.level, repr(one))  # type: ignore[arg-type]


def _first_step(one: Drill) -> str:
    """The first step of the worked answer that does not give it away."""
    step = next((step for step in one.reveal().steps if one.posed.right not in step), one.posed.write)
    return f"<p>{rich(step)}</p>"


def about(slip: str) -> str:
    """What is so, for the misconception behind an answer; "" if there is none of that name."""
    found = misconceptions().get(slip)
    return "" if found is None else f"“{filled(found[1].said)}” {filled(found[1].so)}"


def safe(given: Any) -> str:
    """An answer as it is shown back."""
    return shown(given, 200)
