"""Cards: questions one at a time, as a widget. The answers stay in Python until one was committed to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import traitlets

from ..errors import DagkitError
from ..lesson.page import css, esc, fold, rich, static
from ..widget import Widget, module
from . import scenes
from .content import misconceptions
from .drills import Judged
from .items import Item, about, scene_html
from .kept import SURE, Progress
from .kept import progress as usual_progress

HERE = Path(__file__).parent
HINTS = 3


class Cards(Widget):
    """Questions to page through. Without widgets all of them stand there, answers folded.

    deck: what the browser knows of each question (never the answer). replies: by number, what Python said so far.
    talk: an Interview, which sets the order and the time.
    """

    _esm = module(HERE / "cards.js")
    _css = css() + "\n" + (HERE / "cards.css").read_text(encoding="utf-8")
    title = traitlets.Unicode("").tag(sync=True)
    deck: Any = traitlets.List([]).tag(sync=True)
    replies = traitlets.Dict({}).tag(sync=True)
    at = traitlets.Int(0).tag(sync=True)
    seconds = traitlets.Float(0).tag(sync=True)
    report = traitlets.Unicode("").tag(sync=True)

    def __init__(self, items: Sequence[Item], title: str, progress: Progress | None = None, *, talk: Any = None,
                 words: str = ""):
        self.items, self.talk, self._progress, self.words = list(items), talk, progress, words
        super().__init__(title=title, deck=[sent(item) for item in self.items],
                         seconds=60.0 * talk.minutes if talk else 0.0)
        self.on_msg(lambda _, said, __: self.hear(said))

    # ---- what the browser says ---------------------------------------------------------------------------------

    def hear(self, said: Any) -> None:
        """One message: start, hint, answer, skip, reveal, grade or stop, for question ``at``. Others are ignored."""
        if not isinstance(said, dict):
            return
        at, act = said.get("at"), said.get("do")
        if act == "start" and self.talk is not None:
            self.talk.start()
        elif act == "stop" and self.talk is not None:
            self.report = self.talk.report().html()
        elif type(at) is int and 0 <= at < len(self.items) and act in ("hint", "answer", "skip", "grade"):
            getattr(self, f"_{act}")(at, said)
            if self.talk is not None and self.talk.over:
                self.report = self.talk.report().html()

    def _reply(self, at: int, **news: Any) -> None:
        old = self.replies.get(str(at), {"stage": "asked", "hints": [], "said": "", "ok": None})
        self.replies = {**self.replies, str(at): {**old, **news}}

    def _stage(self, at: int) -> str:
        return str(self.replies.get(str(at), {}).get("stage", "asked"))

    def _hint(self, at: int, said: dict[str, Any]) -> None:
        hints = self.replies.get(str(at), {}).get("hints", [])
        if self.talk is None and len(hints) < len(self.items[at].hints):
            self._reply(at, hints=[*hints, self.items[at].hint(len(hints) + 1)])

    def _answer(self, at: int, said: dict[str, Any]) -> None:
        item, sure = self.items[at], _sure(said)
        if self._stage(at) in ("told", "graded") or not self._its_turn(at):
            return
        if item.form == "open":
            self._reply(at, stage="grade", said=self._revealed(item), sure=sure)
            return
        try:
            verdict = item.answer(str(said.get("given", ""))[:4000])
        except DagkitError as error:
            verdict = Judged(None, str(error))
        if verdict.ok is None:
            self._reply(at, said=_verdict(verdict), ok=None)
            return
        first = self._stage(at) == "asked"
        if first:
            self._keep(at, verdict, sure)
        again = item.form == "text" and not verdict.ok and self.talk is None
        told = _verdict(verdict) + ("" if again else self._after(item, verdict, sure))
        self._reply(at, stage="again" if again else "told", said=told, ok=verdict.ok)

    def _skip(self, at: int, said: dict[str, Any]) -> None:
        if not self._its_turn(at) or self._stage(at) in ("told", "graded"):
            return
        item = self.items[at]
        if self._stage(at) == "asked":
            self._keep(at, None, "")
        if item.form == "open" and self.talk is None:
            self._reply(at, stage="grade", said=self._revealed(item))
        else:
            self._reply(at, stage="told", ok=False if self.talk else None,
                        said="<p>Skipped.</p>" + ("" if self.talk else self._revealed(item)))

    def _grade(self, at: int, said: dict[str, Any]) -> None:
        points = said.get("points")
        if self._stage(at) != "grade" or not isinstance(points, list):
            return
        verdict = self.items[at].grade(points)
        self._keep(at, verdict, str(self.replies[str(at)].get("sure", "")))
        self._reply(at, stage="graded", ok=verdict.ok, verdict=_verdict(verdict))

    def _its_turn(self, at: int) -> bool:
        return self.talk is None or (not self.talk.over and at == len(self.talk.answered))

    # ---- what is kept and told ---------------------------------------------------------------------------------

    def _keep(self, at: int, verdict: Judged | None, sure: str) -> None:
        """In an interview by the interview; else in the learner's progress."""
        if self.talk is not None:
            self.talk._keep(verdict, sure)
            return
        if self._progress is None:
            self._progress = usual_progress()
        item = self.items[at]
        self._progress.note(item.id, item.lesson, verdict is not None and verdict.ok is True, sure,
                            "" if verdict is None else verdict.misconception)

    def _revealed(self, item: Item) -> str:
        return item.reveal().html()

    def _after(self, item: Item, verdict: Judged, sure: str) -> str:
        """Behind the verdict: what is so, played; what the certainty says; the answer at work."""
        if self.talk is not None:
            return ""
        so = f"<p>{rich(about(verdict.misconception))}</p>" if verdict.misconception else ""
        known = misconceptions().get(verdict.misconception)
        if played := verdict.scene or (known[1].refute if known else ""):
            so += fold("See it played", scene_html(scenes.find(played)))
        notes = {("certain", False): "You were certain. That is the best kind of mistake to find here.",
                 ("a guess", True): "Right by a guess: read the reason once more, then it is knowledge."}
        note = notes.get((sure, bool(verdict.ok)), "")
        return so + (f'<p class="dl-note">{note}</p>' if note else "") + fold("The answer at work", self._revealed(item))

    # ---- without widgets ---------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return self.words or self.title

    def twin(self) -> str:
        """All questions, everything folded."""
        head = f"<h4>{esc(self.title)}</h4>"
        return static(head + ("".join(item.twin() for item in self.items) or f"<p>{esc(self.words)}</p>"))


def sent(item: Item) -> dict[str, Any]:
    """What the browser gets of a question: nothing that tells its answer."""
    return {"title": item.title, "question": item.question, "form": item.form,
            "choices": [{"value": choice, "html": rich(choice)} for choice in item.offered],
            "rubric": [rich(point) for point in item.rubric], "hints": len(item.hints), "minutes": item.minutes}


def _sure(said: dict[str, Any]) -> str:
    sure = said.get("sure")
    return sure if isinstance(sure, str) and sure in SURE else ""


def _verdict(verdict: Judged) -> str:
    look = {True: "dl-right", False: "dl-wrong", None: "dl-note"}[verdict.ok]
    hint = f"<br>{rich(verdict.hint)}" if verdict.hint else ""
    return f'<p class="{look}"><b>{verdict.lead}</b> {rich(verdict.text)}{hint}</p>'
