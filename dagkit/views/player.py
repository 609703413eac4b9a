"""``dk.play(trace)``: the tick player as a widget; without widgets, a picture of the last tick and a table.

The browser gets the whole replay once and plays it alone; only ``tick``, ``row`` and ``predicted`` come back.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from ..errors import DagkitError, shown
from ..errors import choices as listed
from . import gantt
from . import replay as replays
from .picture import Picture, content_prefix, plain

HERE = Path(__file__).parent
SPEEDS = (1000, 500, 250, 100, 50)
"""Milliseconds a tick may take, as offered by the player."""
AIM = 20_000
"""Without an interval asked for, the slowest speed that ends within so many milliseconds is taken."""

_instances = itertools.count()


@dataclass(frozen=True)
class Prediction:
    """A question to be answered before play is unlocked.

    question: what to predict. choices: the answers offered; none means free text.
    answer: the right one, or a function of the trace that gives it; None: no judgement, only a reminder.
    because: one sentence of explanation, or a function of the trace that gives it.

    >>> Prediction("How does publish end?", ("success", "failed"), answer=lambda trace: "failed").choices
    ('success', 'failed')
    """

    question: str
    choices: Sequence[str] = ()
    answer: str | Callable[[Any], Any] | None = None
    because: str | Callable[[Any], Any] = ""

    def resolve(self, trace: Any) -> dict[str, Any]:
        """As the player wants it: every function called, every answer text.

        Raises DagkitError if the answer is not among the choices.
        """
        answer = self.answer(trace) if callable(self.answer) else self.answer
        because = self.because(trace) if callable(self.because) else self.because
        offered = [str(choice) for choice in self.choices]
        if answer is not None and offered and str(answer) not in offered:
            raise DagkitError(f"prediction: the answer '{shown(answer)}' is not among the choices "
                              f"{listed(offered)}. Add it to choices.")
        return {"question": shown(self.question, 400), "choices": [shown(choice, 200) for choice in offered],
                "answer": None if answer is None else shown(answer, 200), "because": shown(because, 400)}


class Player(anywidget.AnyWidget):
    """The widget behind ``dk.play``. Set ``tick`` or ``selected`` from Python, or read what was chosen."""

    _esm = HERE / "player.js"
    _css = HERE / "player.css"

    replay = traitlets.Dict().tag(sync=True)
    prediction = traitlets.Dict(None, allow_none=True).tag(sync=True)
    interval = traitlets.Int(500).tag(sync=True)
    tick = traitlets.Int(0).tag(sync=True)
    row = traitlets.Int(-1).tag(sync=True)
    predicted = traitlets.Unicode(None, allow_none=True).tag(sync=True)

    def __init__(
        self, trace: Any, *, prediction: Prediction | None = None, interval: int | None = None, tick: int = 0,
    ):
        self.trace = trace
        sent = replays.replay(trace, prefix=f"dk-play{next(_instances)}-")
        super().__init__(
            replay=sent,
            prediction=prediction and prediction.resolve(trace),
            interval=interval or default_interval(trace.last_tick),
            tick=max(0, min(tick, trace.last_tick)),
        )

    @property
    def selected(self) -> str | None:
        """The label of the chosen task; None while none was chosen."""
        return self.trace.labels[self.row] if self.row >= 0 else None

    @selected.setter
    def selected(self, label: str) -> None:
        labels = list(self.trace.labels)
        if label not in labels:
            raise DagkitError(f"player: no task is called '{shown(label)}'. Its tasks: {listed(labels)}.")
        self.row = labels.index(label)

    def __repr__(self) -> str:
        sent = self.replay
        return (f"Player({sent['title']}: {len(sent['tis'])} tasks, {sent['last_tick']} ticks, "
                f"{sent['verdict']['run_state']})")

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget; beside it, for whoever has no widgets, the picture of the last tick with a table."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        return {**data, "text/html": still(self.trace), "text/plain": repr(self)}, metadata


def default_interval(last_tick: int) -> int:
    """Milliseconds per tick: slow enough to read, quick enough to see the end.

    >>> default_interval(16), default_interval(60), default_interval(5000)
    (1000, 250, 50)
    """
    return next((ms for ms in SPEEDS if ms * last_tick <= AIM), SPEEDS[-1])


def play(
    trace: Any, predict: str | Prediction | None = None, choices: Sequence[str] = (), *,
    answer: Any = None, because: Any = "", interval: int | None = None, tick: int = 0,
) -> Player:
    """Play a trace tick by tick, in the notebook.

    predict: a question (or a whole ``Prediction``) that locks play until it is answered or skipped;
    choices, answer, because: see ``Prediction``.
    interval: milliseconds per tick at the start. tick: where to begin.

    Without a widget front end the same cell shows the picture of the last tick and a table.
    Raises DagkitError if ``interval`` is below 20 or an answer is not among the choices.
    """
    if interval is not None and (type(interval) is not int or interval < 20):
        raise DagkitError("play: interval must be a whole number of milliseconds >= 20, "
                          f"not {shown(repr(interval))}.")
    if predict is not None and not isinstance(predict, Prediction):
        predict = Prediction(predict, choices, answer, because)
    return Player(trace, prediction=predict, interval=interval, tick=tick)


def still(trace: Any) -> str:
    """The static twin of the player, as HTML: the Dags and the Gantt chart at the last tick, and a table."""
    labels = [plain(label, replays.LABEL) for label in trace.labels]
    end = trace.last_tick + 1
    rows = [(label, _segments(changes, end)) for label, changes in zip(labels, trace.changes, strict=True)]
    chart = gantt.svg(rows, prefix=content_prefix(rows, end), last_tick=end,
                      title=f"States until tick {trace.last_tick}")
    table = [{"task": label, "state": changes[-1][1], "since tick": changes[-1][0],
              "states": _history(changes)} for label, changes in zip(labels, trace.changes, strict=True)]
    verdict = replays.verdict(trace)
    words = (f"Airflow's verdict: {verdict['run_state']}. Did some task fail: "
             f"{'yes' if verdict['any_failed'] else 'no'}. {verdict['text']}")
    pictures = [Picture(drawing.svg, notes=[drawing.collapsed] if drawing.collapsed else ())
                for drawing in replays.final_drawings(trace)]
    pictures.append(Picture(chart, table, words, replays.notes(trace)))
    return "".join(picture.html() for picture in pictures)


def _segments(changes: Sequence[tuple[int, str]], end: int) -> list[tuple[float, float, str]]:
    ends = [tick for tick, _ in changes[1:]] + [end]
    return [(start, stop, state) for (start, state), stop in zip(changes, ends, strict=True)
            if stop > start and state != "none"]


def _history(changes: Sequence[tuple[int, str]]) -> str:
    steps = [f"{state} {tick}" for tick, state in changes[1:]]
    return ", ".join(steps if len(steps) <= 12 else [*steps[:6], "...", *steps[-5:]])
