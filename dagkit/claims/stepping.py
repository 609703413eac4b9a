"""The interleavings as a picture to walk through: two schedulers, the rows and their locks, one step at a time.

The browser decides nothing. It gets every moment of every strategy, and which one follows which; a press of a button
is a walk along one arrow. Without widgets an order that tells the story is shown as a table.
"""

from __future__ import annotations

import html as _html
from functools import cache
from pathlib import Path
from typing import Any

import traitlets

from ..widget import Widget, module
from .model import WHO, Interleavings, Moment, interleavings, statements
from .strategies import STRATEGIES, strategy

HERE = Path(__file__).parent


@cache
def css() -> str:
    """The one stylesheet, for the widget and for its still picture."""
    return (HERE / "steps.css").read_text(encoding="utf-8").strip()


def graph(plays: Interleavings) -> dict[str, Any]:
    """All moments of a strategy as plain data. ``next``: by scheduler, [the moment that follows, the sentence]."""
    number = {moment: k for k, moment in enumerate(plays.moments)}
    return {
        "steps": [[name, sql] for name, sql in statements(plays).items()],
        "orders": plays.orders, "doubles": plays.doubles, "example": plays.example,
        "moments": [{**_plain(now), "next": {WHO[who]: [number[after], said] for who, after, said in ways}}
                    for now, ways in plays.moments.items()],
    }


def _plain(now: Moment) -> dict[str, Any]:
    return {"sides": [[side.at, side.over, side.waits] for side in now.sides], "rows": now.rows, "held": now.held,
            "changed": now.changed, "turn": now.turn, "handed": now.handed}


@cache
def book() -> dict[str, Any]:
    """Every strategy, with row locks and without."""
    return {each.name: {"label": each.label,
                        "locks": graph(interleavings(each.name)),
                        "none": graph(interleavings(each.name, row_locks=False))} for each in STRATEGIES.values()}


# ---- the still picture ---------------------------------------------------------------------------------------------


def still(plays: Interleavings) -> str:
    """One order as a table: a step a line, what each scheduler does, and what becomes of the rows."""
    heads = "".join(f"<th>row {row + 1}</th>" for row in range(plays.rows))
    lines = "".join(_line(number, *told) for number, told in enumerate(plays.told(plays.example), 1))
    return (f'<div class="dc-steps"><style>{css()}</style><p class="dc-title"><b>{_esc(plays.strategy.label)}</b>'
            f"{'' if plays.row_locks else ', on a database without row locks'}: one of {plays.orders} orders</p>"
            f'<div class="dc-scroll"><table><thead><tr><th></th><th>scheduler A</th><th>scheduler B</th>{heads}</tr>'
            f'</thead><tbody>{lines}</tbody></table></div><p class="dc-all">{_esc(verdict(plays))}</p></div>')


def _line(number: int, who: str, said: str, now: Moment) -> str:
    cells = [_esc(said) if who == each else "" for each in WHO]
    looks = ["dc-twice" if "TWICE" in said and who == each else "dc-wait" if "waits" in said and who == each else ""
             for each in WHO]
    did = "".join(f'<td class="{look}">{cell}</td>' for look, cell in zip(looks, cells, strict=True))
    rows = "".join(f"<td>{_esc(row_now(now, row))}</td>" for row in range(len(now.rows)))
    return f"<tr><td>{number}</td>{did}{rows}</tr>"


def row_now(now: Moment, row: int) -> str:
    """A row as others see it, and who holds it.

    >>> row_now(interleavings("nowait").first, 0)
    'scheduled'
    """
    held = now.held[row]
    return now.rows[row] + (f", held by {WHO[held]}" if held is not None else "")


def verdict(plays: Interleavings) -> str:
    """What all orders together say."""
    if plays.can_double:
        return f"Of {plays.orders} possible orders {plays.doubles} start a task twice."
    return f"There are {plays.orders} possible orders. None of them starts a task twice."


def words(plays: Interleavings) -> str:
    """The same for a terminal."""
    told = [f"{number}. {who} {said}" for number, (who, said, _) in enumerate(plays.told(plays.example), 1)]
    locks = "" if plays.row_locks else ", no row locks"
    return "\n".join([f"{plays.strategy.label}{locks}", *told, verdict(plays)])


def _esc(text: str) -> str:
    return _html.escape(text, quote=True)


# ---- the widget ----------------------------------------------------------------------------------------------------


class Steps(Widget):
    """The picture to walk through. ``order``: the steps taken so far, like "ABB". ``strategy``, ``row_locks``: what is
    looked at; all three follow what is done in the browser, and can be set."""

    _esm = module(HERE / "steps.js")
    _css = HERE / "steps.css"
    book = traitlets.Dict().tag(sync=True)
    strategy = traitlets.Unicode().tag(sync=True)
    row_locks = traitlets.Bool(True).tag(sync=True)
    order = traitlets.Unicode("").tag(sync=True)

    def __init__(self, name: str, *, row_locks: bool = True):
        self.plays = interleavings(name, row_locks=row_locks)
        super().__init__(book=book(), strategy=name, row_locks=row_locks)

    def __repr__(self) -> str:
        return words(self.plays)

    def twin(self) -> str:
        return still(self.plays)


def steps(name: str = "unlocked", *, row_locks: bool = True) -> Steps:
    """Two schedulers to be moved step by step. Raises DagkitError for an unknown strategy.

    >>> print(steps("nowait"))
    FOR UPDATE NOWAIT
    1. A reads row 1 as scheduled and locks it
    2. B finds row 1 locked: an error, all undone
    3. A sets row 1 to queued
    4. A commits: all others see it now
    5. A hands row 1 to the executor
    There are 14 possible orders. None of them starts a task twice.
    """
    return Steps(strategy(name).name, row_locks=row_locks)
