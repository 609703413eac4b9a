"""What the model is held against, and which conclusions stand when the assumed numbers are others."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..checks import plain, seeds
from ..errors import DagkitError, expect, quoted
from .model import FITTED, Model
from .parameters import ASSUMED, PARAMETERS


@dataclass(frozen=True)
class Figure:
    """One published figure. fitted: the model was solved with it. at_least: what was reached, not where it ends."""

    what: str
    published: float
    unit: str
    asks: Callable[[Model], float]
    fitted: bool = False
    at_least: bool = False


FIGURES = (
    Figure("p95 start at 50,000, standard scheduler and Celery", 23.582, "s", lambda m: m.p95("standard", 50_000), True),
    Figure("p95 start at 100,000, both new", 0.228, "s", lambda m: m.p95("hinted", 100_000), True),
    Figure("p95 start at 300,000, both new", 0.294, "s", lambda m: m.p95("hinted", 300_000)),
    Figure("resident tasks, standard scheduler, new executor", 200_000, "tasks", lambda m: m.ceiling("executor"),
           at_least=True),
    Figure("resident tasks, both new", 500_000, "tasks", lambda m: m.ceiling("hinted"), at_least=True),
    Figure("task processes per worker, new to old", 1.7, "times", lambda m: m.per_worker()),
)


def predictions(model: Model | None = None) -> list[dict[str, Any]]:
    """Published and modelled figures side by side, with the error in percent, whatever it is.

    A figure the model was solved with says ``fitted``: its error of 0 means nothing. A sustained number is what a
    test reached, so a higher ceiling does not contradict it; a lower one does.

    >>> [row["use"] for row in predictions()][:3]
    ['fitted', 'fitted', 'predicted']
    """
    model = _model(model)
    rows = []
    for figure in FIGURES:
        found = figure.asks(model)
        rows.append({"figure": figure.what, "published": said(figure.published, figure.unit),
                     "model": said(found, figure.unit), "error %": _error(found, figure.published),
                     "use": "fitted" if figure.fitted else "predicted", "note": _note(figure, found)})
    return rows


def _model(given: Model | None) -> Model:
    model = Model() if given is None else given
    expect("latency", model, Model, "dk.latency.Model(...)")
    return model


def _error(found: float, published: float) -> int | str:
    return "infinite" if math.isinf(found) else round(100 * (found / published - 1))


def _note(figure: Figure, found: float) -> str:
    if figure.fitted:
        return "solved for: proves nothing"
    if figure.at_least:
        return "reached in a test; the model says where it would end" if found >= figure.published \
            else "contradicted: it was reached in a test"
    return ""


def said(value: float, unit: str) -> str:
    """A figure with its unit.

    >>> said(0.228, "s"), said(200_000, "tasks"), said(1.7, "times")
    ('0.228 s', '200,000', '1.70 x')
    """
    if math.isinf(value):
        return "cannot keep up"
    return {"s": f"{value:.3f} s", "tasks": f"{round(value, -3):,.0f}"}.get(unit, f"{value:.2f} x")


# ---- conclusions ---------------------------------------------------------------------------------------------------


def slope(model: Model, design: str, low: float, high: float) -> float:
    """How fast p95 grows from ``low`` to ``high`` resident tasks: 1 is in proportion, 2 is with the square."""
    return math.log(model.p95(design, high) / model.p95(design, low)) / math.log(high / low)


CONCLUSIONS: dict[str, tuple[str, Callable[[Model], bool]]] = {
    "superlinear": ("the standard path grows more than in proportion from 25,000 to 50,000",
                    lambda m: slope(m, "standard", 25_000, 50_000) > 1),
    "flat": ("ten times the tasks, from 10,000 to 100,000, cost the hinted path less than half as much again",
             lambda m: m.p95("hinted", 100_000) < 1.5 * m.p95("hinted", 10_000)),
    "knee": ("and then it bends: up to its ceiling it grows more than in proportion",
             lambda m: slope(m, "hinted", 0.9 * m.ceiling("hinted"), m.ceiling("hinted")) > 1),
    "hundredfold": ("at 50,000 the hinted path is 50 to 200 times quicker",
                    lambda m: 50 <= m.p95("standard", 50_000) / m.p95("hinted", 50_000) <= 200),
}


def conclusions(model: Model | None = None) -> dict[str, bool]:
    """Which conclusions hold in a model.

    >>> conclusions()
    {'superlinear': True, 'flat': True, 'knee': True, 'hundredfold': True}
    """
    model = _model(model)
    return {name: holds(model) for name, (_, holds) in CONCLUSIONS.items()}


@dataclass(frozen=True)
class Survey:
    """Many models with other assumed numbers. tried: how many. unfit: in how many no calibration exists.

    holds: share of models in which each conclusion holds. ranges: 5th and 95th percentile of each predicted figure.
    """

    tried: int
    unfit: int
    holds: dict[str, float]
    ranges: dict[str, tuple[float, float]]


MOST = 2_000
"""Most models of one survey: about a minute."""


def survey(count: int = 200, seed: int = 0) -> Survey:
    """Draw every assumed number from its range, each ratio as likely, solve anew, and ask again.

    Raises DagkitError unless count is a whole number from 1 to MOST.
    """
    count, seed = plain(count), seeds("survey", seed)
    if type(count) is not int or not 1 <= count <= MOST:
        raise DagkitError(f"latency: a survey tries a whole number of models from 1 to {MOST:,}, not {quoted(count)}. "
                          "Two hundred will do.")
    return _survey(count, seed)


@cache
def _survey(count: int, seed: int) -> Survey:
    dice, models = random.Random(seed), []
    for _ in range(count):
        try:
            drawn = Model(**{name: _draw(dice, name) for name in ASSUMED})
            models.append((drawn, drawn.row_cost, drawn.work))
        except DagkitError:                              # its fixed parts alone take longer than what was measured
            continue
    kept = [model for model, *_ in models]
    found = {figure.what: sorted(figure.asks(model) for model in kept) for figure in FIGURES if not figure.fitted}
    held = [conclusions(model) for model in kept]
    return Survey(count, count - len(kept),
                  {name: sum(row[name] for row in held) / max(1, len(kept)) for name in CONCLUSIONS},
                  {what: (many[len(many) // 20], many[len(many) * 19 // 20]) for what, many in found.items() if many})


def _draw(dice: random.Random, name: str) -> float:
    low, high = PARAMETERS[name].low, PARAMETERS[name].high
    assert low is not None and high is not None
    return float(low * (high / low) ** dice.random())


def sensitivity() -> list[dict[str, Any]]:
    """What each assumed number alone moves, from the lowest to the highest it may plausibly be.

    Per parameter: every predicted figure as "low to high" where it moves by a twentieth or more, and which conclusions
    fall at one of the two ends.
    """
    rows = []
    for name in ASSUMED:
        ends = [Model(**{name: value}) for value in (PARAMETERS[name].low, PARAMETERS[name].high)]
        row: dict[str, Any] = {"parameter": name, "from": PARAMETERS[name].low, "to": PARAMETERS[name].high}
        for figure in FIGURES:
            if not figure.fitted:
                low, high = (figure.asks(model) for model in ends)
                moved = abs(low - high) > 0.05 * min(low, high)
                row[figure.what] = f"{said(low, figure.unit)} to {said(high, figure.unit)}" if moved else ""
        row["falls"] = [key for key in CONCLUSIONS if not all(CONCLUSIONS[key][1](model) for model in ends)]
        rows.append(row)
    return rows


SIZES = tuple(round(1_000 * 10 ** (k / 8)) for k in range(25))
"""1,000 to a million resident tasks, eight to a decade."""


def curves(model: Model | None = None) -> dict[str, list[tuple[int, float]]]:
    """p95 of each design over SIZES, up to its ceiling if that comes before the last of them."""
    model = _model(model)
    found = {}
    for design in ("standard", "executor", "hinted"):
        end = math.floor(model.ceiling(design))
        sizes = [*(n for n in SIZES if n < end), *([end] if end <= SIZES[-1] else [])]
        found[design] = [(n, p95) for n in sizes if not math.isinf(p95 := model.p95(design, n))]
    return found


__all__ = ["CONCLUSIONS", "FIGURES", "FITTED", "Survey", "conclusions", "curves", "predictions", "sensitivity", "survey"]
