"""``dk.play(trace)``: the tick player as a widget; without widgets, a picture of the last tick and a table.
``dk.play(trace, beside=other)`` plays two futures on one clock.

The browser gets the whole replay once and plays it alone; only ``tick``, ``row`` and ``predicted`` come back.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import traitlets

from ..checks import HUGE
from ..checks import plain as plain_number
from ..errors import DagkitError, quoted, shown
from ..errors import choices as listed
from ..keywords import checked
from ..trace import Trace
from ..widget import Widget, module
from . import gantt
from . import replay as replays
from .drawing import Drawing
from .picture import LEGIBLE, Picture, _size_of, content_prefix, counted, esc, plain

HERE = Path(__file__).parent
ESM = module(HERE / "player.js")
SPEEDS = (1000, 500, 250, 100, 50)
"""Milliseconds a tick may take, as offered by the player."""
AIM = 20_000
"""Without an interval asked for, the slowest speed that ends within so many milliseconds is taken."""

_instances = itertools.count()


@checked
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


class Player(Widget):
    """The widget behind ``dk.play``. Set ``tick`` or ``selected`` from Python, or read what was chosen."""

    _esm = ESM
    _css = HERE / "player.css"

    replay = traitlets.Dict().tag(sync=True)
    beside = traitlets.Dict(None, allow_none=True).tag(sync=True)
    prediction = traitlets.Dict(None, allow_none=True).tag(sync=True)
    interval = traitlets.Int(500).tag(sync=True)
    tick = traitlets.Int(0).tag(sync=True)
    row = traitlets.Int(-1).tag(sync=True)
    predicted = traitlets.Unicode(None, allow_none=True).tag(sync=True)

    def __init__(self, trace: Any, *, beside: Any = None, **options: Any):
        self.trace, self.other = trace, beside
        super().__init__(**state(trace, beside, prefix=f"dk-play{next(_instances)}-", **options))

    @property
    def _labels(self) -> list[str]:
        """The label of each row: the tasks of the first trace, then those only in the second."""
        if self.beside is None:
            return list(self.trace.labels)
        return [self.trace.labels[left] if left >= 0 else self.other.labels[right]
                for left, right in self.beside["pairs"]]

    @property
    def selected(self) -> str | None:
        """The label of the chosen task; None while none was chosen."""
        return self._labels[self.row] if self.row >= 0 else None

    @selected.setter
    def selected(self, label: str) -> None:
        labels = self._labels
        if label not in labels:
            raise DagkitError(f"player: no task is called '{shown(label)}'. Its tasks: {listed(labels)}.")
        self.row = labels.index(label)

    def __repr__(self) -> str:
        def told(sent: dict[str, Any]) -> str:
            how = "asks first" if self.prediction else sent["verdict"]["run_state"]
            return f"{counted(len(sent['tis']), 'task')}, {counted(sent['last_tick'], 'tick')}, {how}"
        second = f"; beside it, {self.beside['titles'][1]}: {told(self.beside['replay'])}" if self.beside else ""
        return f"Player({self.replay['title']}: {told(self.replay)}{second})"

    def twin(self) -> str:
        """The picture of the last tick, with a table."""
        return still(self.trace, self.other, self.beside["titles"] if self.beside else None, self.prediction)


def state(
    trace: Any, beside: Any = None, *, titles: Sequence[str] | None = None, prediction: Prediction | None = None,
    interval: int | None = None, tick: int = 0, prefix: str = "dk-",
) -> dict[str, Any]:
    """Where a player begins: the values of its traits, for one trace or for two side by side.

    Raises DagkitError if ``beside`` is no Trace, ``titles`` are not two texts, or a number will not do.
    """
    interval, tick = plain_number(interval), plain_number(tick)
    if interval is not None and (type(interval) is not int or not 20 <= interval < HUGE):
        raise DagkitError("play: interval must be a whole number of milliseconds >= 20, "
                          f"not {quoted(interval)}. Leave it out for one that fits.")
    if type(tick) is not int:
        raise DagkitError(f"play: tick must be a whole number, not {quoted(tick)}. Give the tick to begin at.")
    second = None
    if beside is not None or titles is not None:
        _check_two(beside, titles)
        second = replays.beside(trace, beside, titles, prefix=f"{prefix}b-")
    end = trace.last_tick if beside is None else max(trace.last_tick, beside.last_tick)
    return {"replay": replays.replay(trace, prefix=prefix), "beside": second,
            "prediction": prediction and prediction.resolve(trace),
            "interval": interval or default_interval(end), "tick": max(0, min(tick, end))}


def _check_two(beside: Any, titles: Any) -> None:
    if not isinstance(beside, Trace):
        raise DagkitError(f"play: beside must be a second Trace, not {type(beside).__name__}. "
                          "Pass trace.fork(...) or another simulate(...).")
    if titles is not None and (isinstance(titles, str) or len(titles) != 2):
        raise DagkitError(f"play: titles must name both futures, the first and the second, not {shown(repr(titles))}. "
                          'Pass two texts, for example titles=("one slot", "two slots").')


def default_interval(last_tick: int) -> int:
    """Milliseconds per tick: slow enough to read, quick enough to see the end.

    >>> default_interval(16), default_interval(60), default_interval(5000)
    (1000, 250, 50)
    """
    return next((ms for ms in SPEEDS if ms * last_tick <= AIM), SPEEDS[-1])


def play(
    trace: Any, predict: str | Prediction | None = None, choices: Sequence[str] = (), *,
    answer: Any = None, because: Any = "", interval: int | None = None, tick: int = 0,
    beside: Any = None, titles: Sequence[str] | None = None,
) -> Player:
    """Play a trace tick by tick, in the notebook; or two traces side by side, on one clock.

    predict: a question (or a whole ``Prediction``) that locks play until it is answered or skipped;
    choices, answer, because: see ``Prediction``.
    interval: milliseconds per tick at the start. tick: where to begin.
    beside: a second trace, for example ``trace.fork(3, pools={"db": 2})``. The sentence of ``trace.diff`` says where
    and why they part; that tick is marked. titles: what the two are called, instead of what was changed.

    Without a widget front end the same cell shows the picture of the last tick and a table.
    Raises DagkitError if ``trace`` or ``beside`` is no Trace, ``interval`` is below 20, ``tick`` no whole number, an
    answer is not among the choices or ``titles`` are not two.
    """
    if not isinstance(trace, Trace):
        raise DagkitError(f"play needs a Trace, not {shown(type(trace).__name__)}. Write dk.play(dk.simulate(dag)).")
    if predict is not None and not isinstance(predict, Prediction):
        predict = Prediction(predict, choices, answer, because)
    return Player(trace, beside=beside, titles=titles, prediction=predict, interval=interval, tick=tick)


def still(
    trace: Any, beside: Any = None, titles: Sequence[str] | None = None, prediction: dict[str, Any] | None = None,
) -> str:
    """The static twin of the player, as HTML: the Dags and the Gantt chart at the last tick, and a table.

    Two traces stand side by side (where there is room) below the sentence that says where and why they part.
    A (resolved) prediction comes first; whatever answers it is folded below it, for the reader to open.
    """
    if prediction:
        return _asked(prediction, still(trace, beside, titles))
    if beside is None:
        return _still(trace, replays.final_drawings(trace), trace.last_tick)
    end = max(trace.last_tick, beside.last_tick)
    titles = replays.named(trace, beside, titles)
    halves = ""
    for lane, one in enumerate((trace, beside)):
        drawings = replays.final_drawings(one, lane)
        room = max([420.0, *(_size_of(drawing.svg)[0] * LEGIBLE for drawing in drawings)])
        halves += (f'<div style="flex:1 1 min(100%,{room:.0f}px);min-width:0"><p><b>{replays.ORDER[lane]}: '
                   f"{esc(titles[lane])}</b></p>{_still(one, drawings, end, lane)}</div>")
    return (f"<p>{esc(replays.parting(trace, beside)['text'])}</p>"
            f'<div style="display:flex;flex-wrap:wrap;gap:8px 24px">{halves}</div>')


def _asked(prediction: dict[str, Any], answered: str) -> str:
    offered = "".join(f"<li>{esc(choice)}</li>" for choice in prediction["choices"])
    answer = f"<p><b>{esc(prediction['answer'])}</b></p>" if prediction["answer"] else ""
    return (f"<p><b>Predict first:</b> {esc(prediction['question'])}</p>{f'<ul>{offered}</ul>' if offered else ''}"
            f"<details><summary>Answer</summary>{answer}<p>{esc(prediction['because'])}</p>{answered}</details>")


def _still(trace: Any, drawings: Sequence[Drawing], end: int, lane: int = 0) -> str:
    labels = [plain(label, replays.LABEL) for label in trace.labels]
    rows = [(label, _segments(changes, end + 1)) for label, changes in zip(labels, trace.changes, strict=True)]
    chart = gantt.svg(rows, prefix=content_prefix(rows, end + 1, *([lane] if lane else [])), last_tick=end + 1,
                      title=f"States until tick {end}")
    table = [{"task": label, "state": changes[-1][1], "since tick": changes[-1][0],
              "states": _history(changes)} for label, changes in zip(labels, trace.changes, strict=True)]
    verdict = replays.verdict(trace)
    words = (f"Airflow's verdict: {verdict['run_state']}. Did some task fail: "
             f"{'yes' if verdict['any_failed'] else 'no'}. {verdict['text']}")
    pictures = [Picture(drawing.svg, notes=[drawing.collapsed] if drawing.collapsed else ())
                for drawing in drawings]
    pictures.append(Picture(chart, table, words, replays.notes(trace)))
    return "".join(picture.html() for picture in pictures)


def _segments(changes: Sequence[tuple[int, str]], end: int) -> list[tuple[float, float, str]]:
    ends = [tick for tick, _ in changes[1:]] + [end]
    return [(start, stop, state) for (start, state), stop in zip(changes, ends, strict=True)
            if stop > start and state != "none"]


def _history(changes: Sequence[tuple[int, str]]) -> str:
    steps = [f"{state} {tick}" for tick, state in changes[1:]]
    return ", ".join(steps if len(steps) <= 12 else [*steps[:6], "...", *steps[-5:]])
