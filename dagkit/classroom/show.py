"""A demo: one question for the room, and prepared situations, each on a key of its own.

One script (stage.js) runs it in a notebook and in the file that is handed out. It holds no rule: it sets up the player,
the two schedulers or the walk that the kit has anyway, with what Python computed for each situation.
"""

from __future__ import annotations

import html as _html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import traitlets

from ..checks import whole
from ..claims import interleavings, stepping
from ..errors import DagkitError
from ..lesson import hop_walk as walks
from ..lesson import page as pages
from ..lesson.ask import Question
from ..lesson.page import Folded, Page, esc, fold, plain, rich, static
from ..views import html_export, player
from ..widget import SHARED, Widget
from ..written import write
from .hand_out import HandOut

HERE = Path(__file__).parent
PIECES = {"player": player.HERE / "player.js", "steps": stepping.HERE / "steps.js", "walk": walks.HERE / "hop_walk.js"}
"""What a situation can be shown with, and the module that draws it."""
LONGEST = 10
"""A demo takes fewer minutes than this."""


@dataclass(frozen=True)
class Situation:
    """One prepared situation. title: a few words for its key. watch: what the room should look at; it is handed out too.

    say: what the presenter says, once the room has looked. minutes: how long to stay. kind: a name of PIECES.
    state: where that piece begins. still: the same as HTML without a script.
    """

    title: str
    watch: str
    say: str
    minutes: float
    kind: str
    state: Mapping[str, Any] = field(repr=False)
    still: str = field(repr=False)


def played(title: str, watch: str, say: str, trace: Any, *, tick: int, minutes: float = 1,
           focus: str | None = None) -> Situation:
    """A trace in the player, at a tick. focus: the task whose reason is shown."""
    row = trace.labels.index(focus) if focus else -1
    state = {**player.state(trace, tick=tick, prefix="dk-room-"), "predicted": None, "row": row}
    return Situation(title, watch, say, minutes, "player", state, player.still(trace))


def stepped(title: str, watch: str, say: str, strategy: str, order: str = "", *, row_locks: bool = True,
            minutes: float = 1) -> Situation:
    """Two schedulers after some steps; order: who moved, like "ABB"."""
    plays = interleavings(strategy, row_locks=row_locks)
    state = {"strategy": strategy, "row_locks": row_locks, "order": order}
    return Situation(title, watch, say, minutes, "steps", state, stepping.still(plays))


def walked(title: str, watch: str, say: str, case: str, *, fallback: bool = True, guards: bool = True,
           minutes: float = 1) -> Situation:
    """A Dag run, hop by hop, with one fault."""
    walk = walks.hop_walk(case, fallback=fallback, guards=guards)
    state = {name: getattr(walk, name) for name in ("cases", "case", "fallback", "guards", "shown", "step")}
    return Situation(title, watch, say, minutes, "walk", state, walk.twin())


@cache
def script() -> str:
    """stage.js with the modules it shows; each becomes a function that gives what it would have exported."""
    wrapped = [f"const {name} = (() => {{\n{_module(path)}}})();" for name, path in PIECES.items()]
    return "\n".join([SHARED, *wrapped, (HERE / "stage.js").read_text(encoding="utf-8")])


def _module(path: Path) -> str:
    before, _, after = path.read_text(encoding="utf-8").partition(html_export.EXPORT)
    return f"{before}return {{{after}"


@cache
def look() -> str:
    """Every style sheet that a demo needs."""
    parts = [player.HERE / "player.css", walks.HERE / "hop_walk.css", HERE / "stage.css"]
    return "\n".join([pages.css(), stepping.css(), *(path.read_text(encoding="utf-8") for path in parts)])


class Demo(Widget):
    """A demo to be shown. ``now``: the situation on show, 0 is the question. ``size``: how large everything is drawn.

    question: asked before anything is shown. opening, closing: the presenter's first and last words.
    minutes: for question, closing and all situations together.
    """

    _esm = script()
    _css = look()
    title = traitlets.Unicode("").tag(sync=True)
    ask = traitlets.Dict({}).tag(sync=True)
    situations: Any = traitlets.List([]).tag(sync=True)
    shared = traitlets.Dict({}).tag(sync=True)
    now = traitlets.Int(0).tag(sync=True)
    size = traitlets.Float(1.35).tag(sync=True)

    def __init__(self, name: str, title: str, question: Question, staged: Sequence[Situation], *, opening: str,
                 closing: str, lesson: int, asking: float = 2):
        self.name, self.question, self.staged = name, question, list(staged)
        self.opening, self.closing, self.lesson, self.asking = opening, closing, lesson, asking
        right = question.right
        super().__init__(
            title=title, shared={"book": stepping.book()} if staged[0].kind == "steps" else {},
            ask={"text": plain(question.text), "choices": [{"say": plain(say), "right": say == right, "reply": plain(reply)}
                                                           for say, reply in question.replies.items()]},
            situations=[{"title": one.title, "watch": plain(one.watch), "kind": one.kind, "state": dict(one.state)}
                        for one in staged])

    @property
    def minutes(self) -> float:
        """How long the whole takes: the question, every situation, and a minute to close."""
        return self.asking + sum(one.minutes for one in self.staged) + 1

    def stage(self, number: int) -> Page:
        """Go to a prepared situation, as its key does; 0 is the question. Gives it as it stands without widgets.

        Raises DagkitError for a number that has none.
        """
        whole("demo", "stage", number, 0)
        if number > len(self.staged):
            raise DagkitError(f"demo '{self.name}': stage must be 0 (the question) to {len(self.staged)}, not {number}. "
                              "Begin with stage 0.")
        self.now = number
        if not number:
            return self.question.page()
        one = self.staged[number - 1]
        return Page(f"<p><b>{number} · {rich(one.title)}.</b> {rich(one.watch)}</p>{one.still}",
                    f"{number}. {one.title}: {plain(one.watch)}")

    def script(self) -> Folded:
        """What the presenter says and does, minute by minute; folded, so that the room does not read along."""
        lines, clock = [("0", "The question", self.opening, self.asking)], 0.0
        lines += [(str(n), one.title, one.say, one.minutes) for n, one in enumerate(self.staged, 1)]
        lines += [("", "Close", self.closing, 1)]
        rows = ""
        for key, title, say, minutes in lines:
            rows += (f"<tr><td>{int(clock)}:{round(clock % 1 * 60):02}</td><td>{f'<kbd>{key}</kbd>' if key else ''}</td>"
                     f"<td><b>{rich(title)}</b></td><td>{rich(say)}</td></tr>")
            clock += minutes
        head = "<tr><th>minute</th><th>key</th><th></th><th>what to say and do</th></tr>"
        right = self.question.right
        answer = f"<p><b>The answer:</b> {rich(right)}. {rich(self.question.replies[right])}</p>"
        table = f'<div class="dl-scroll dl-table"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>{answer}'
        return Folded(f"Script for the presenter: {clock:g} minutes (it tells the answer)", _Html(table))

    def __repr__(self) -> str:
        keys = [f"{n}. {one.title}: {plain(one.watch)}" for n, one in enumerate(self.staged, 1)]
        return "\n".join([self.title, self.question.words("Predict"), *keys])

    def twin(self) -> str:
        """The whole demo where nothing runs: the question, then each situation behind a line that opens."""
        opened = "".join(fold(f"<b>{n}</b> · {rich(one.title)}", f"<p>{rich(one.watch)}</p>{one.still}")
                         for n, one in enumerate(self.staged, 1))
        return static(f"{self.question.html(lead='Question')}{opened}")

    def hand_out(self) -> HandOut:
        """A button that writes ``name``.html beside the notebook. Until it is pressed nothing is written."""
        return HandOut(self)

    def to_html(self, path: str | Path) -> Path:
        """Write the demo as one file to hand out: it works offline, without Python. Gives its path.

        Raises DagkitError if it cannot be written.
        """
        return write("to_html", path, self.handout())

    def handout(self) -> str:
        """The file to hand out, as text."""
        state = {name: getattr(self, name) for name in ("title", "ask", "situations", "shared", "now")}
        text = script().replace(html_export.EXPORT, "const player_ = {")
        boot = html_export.BOOT.replace("player.render", "player_.render")
        return html_export.PAGE.format(
            title=_html.escape(self.title), css=look(), still=f"<h1>{esc(self.title)}</h1>{self.twin()}",
            state=html_export.script_json({**state, "now": 0, "size": 1.0}), esm=text + boot)


class _Html:
    """HTML that shows itself."""

    def __init__(self, html: str):
        self._html = html

    def html(self) -> str:
        return self._html
