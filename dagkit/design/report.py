"""The report on a design: its verdicts as text and page, and four charts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ..errors import DagkitError, choices, nearest, quoted
from ..views import charts
from ..views.picture import Picture, content_prefix, esc
from . import grading, world
from .counting import Line, Readings
from .declared import Design
from .playing import play
from .verdict import Verdict
from .world import clock

BUCKET = 12
"""Ticks of one step in a chart: two minutes, and of them the highest value."""


class Report:
    """What became of a design. trace: the whole day, to be asked. verdicts: one for each requirement."""

    def __init__(self, design: Design, trace: Any):
        self.design, self.trace = design, trace
        self.verdicts = grading.verdicts(design, trace)

    @property
    def passed(self) -> bool:
        """Whether every requirement is met."""
        return all(verdict.passed for verdict in self.verdicts)

    def __getitem__(self, name: str) -> Verdict:
        """A verdict by the name of its requirement."""
        known = {verdict.name: verdict for verdict in self.verdicts}
        if name not in known:
            raise DagkitError(f"report: there is no requirement {quoted(name)}. Known: {', '.join(known)}.")
        return known[name]

    @property
    def line(self) -> str:
        """The result in one line."""
        met = sum(verdict.passed for verdict in self.verdicts)
        return f"{met} of {len(self.verdicts)} requirements met"

    def __repr__(self) -> str:
        return "\n".join([self.line, *map(str, self.verdicts)])

    @cached_property
    def seen(self) -> Readings:
        """The figures behind the verdicts."""
        return Readings(self.trace)

    def picture(self) -> Picture:
        """Source connections, API calls, waits of critical runs and missed runs over time, each with its limit."""
        seen, last = self.seen, self.trace._end
        lines = (
            ("Connections to the source (highest in 2 minutes)", "connections", seen.connections, world.CONNECTIONS),
            ("API calls in the last 60 seconds (highest in 2 minutes)", "calls", seen.calls, world.CALLS_A_MINUTE),
            ("Seconds a critical run waited to begin, by due time", "seconds", waits(seen, last), max(world.START_WITHIN)),
            ("Missed runs not yet caught up", "runs", to_do(seen), None),
        )
        drawn = [charts.lines((label, steps(line)), prefix=content_prefix(title, line), title=title, x_label="minute",
                              y_label=label, limit=limit) for title, label, line, limit in lines]
        words = (f"Unpaused at {clock(world.UNPAUSED)}, a scheduler machine lost at {clock(world.LOST)}. From above: "
                 + "; ".join(title for title, *_ in lines) + ".")
        return Picture(drawn, self.rows(), words)

    def rows(self) -> list[dict[str, Any]]:
        """The verdicts as rows of a table."""
        return [{"": "✓" if v.passed else "✗", "requirement": v.name, "asked": v.asks, "found": v.found,
                 "first broken": v.at,
                 "hint": "" if v.passed else v.hint} for v in self.verdicts]

    def html(self) -> str:
        """The report as a page of its own, without scripts: the verdicts, then the charts."""
        items = "".join(_item(verdict) for verdict in self.verdicts)
        return (f'<section class="dk-report"><style>{STYLE}</style><p><b>{esc(self.line)}</b></p><ul>{items}</ul>'
                f"<details><summary>The day in four charts</summary>{self.picture().html()}</details></section>")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": repr(self)}


STYLE = (
    ".dk-report ul{list-style:none;padding:0;margin:4px 0}.dk-report p{margin:4px 0}"
    ".dk-report li{margin:3px 0;padding:5px 10px;border-left:4px solid #0b8f6a;background:rgba(11,143,106,.08)}"
    ".dk-report li.dk-no{border-left:4px dashed #d03b2f;background:rgba(208,59,47,.09)}"
    ".dk-report small{display:block;opacity:.85}.dk-report summary{cursor:pointer}"
)


def _item(v: Verdict) -> str:
    if v.passed:
        return f"<li>✓ <b>{esc(v.name)}</b>: {esc(v.found)}</li>"
    at = f" First at {v.at}." if v.at else ""
    return (f'<li class="dk-no">✗ <b>{esc(v.name)}</b>: {esc(v.found + at)}<small>asked: {esc(v.asks)}</small>'
            f"<small><i>hint:</i> {esc(v.hint)}</small></li>")


def steps(line: Line) -> list[tuple[float, float]]:
    """A line for a chart: in minutes, of every two minutes the highest value it had.

    >>> steps([(1, 5), (3, 9), (4, 2), (30, 1)])
    [(0.0, 9), (2.0, 2), (4.0, 2)]
    """
    if not line:
        return [(0.0, 0)]
    highest: dict[int, float] = {}
    for (tick, value), (after, _) in zip(line, [*line[1:], (line[-1][0] + 1, 0)], strict=True):
        first, last = (tick - 1) // BUCKET, (after - 2) // BUCKET
        for bucket in range(first, max(first, last) + 1):
            highest[bucket] = max(highest.get(bucket, 0), value)
    return [(bucket * BUCKET * world.TICK_SECONDS / 60, value) for bucket, value in sorted(highest.items())]


def waits(seen: Readings, last: int) -> Line:
    """Seconds each critical run waited for its start, in order of due time; of one that never began, until the end."""
    found: dict[int, int] = {}
    for run in seen.critical:
        if run.due <= last:
            waited = ((run.began or max(last, run.due)) - run.due) * world.TICK_SECONDS
            found[run.due] = max(found.get(run.due, 0), waited)
    return sorted(found.items())


def to_do(seen: Readings) -> Line:
    """Runs that have still to be caught up, at each tick at which one ends."""
    ends = sorted(tick for tick, state in seen.missed if tick is not None and state == "success")
    left = len(seen.missed)
    return [(world.UNPAUSED, left), *((tick, left - k) for k, tick in enumerate(ends, 1))]


def grade(design: Any) -> Report:
    """Play the bad day with a design, and judge it. The same design gives the same report.

    design: a Design, or a dictionary of what would be given to one. Raises DagkitError for anything else.

    >>> report = grade(Design())
    >>> report.passed, report.line
    (False, '0 of 12 requirements met')
    """
    if isinstance(design, Mapping):
        design = Design(**_checked(design))
    if not isinstance(design, Design):
        raise DagkitError(f"design: expected a dk.design.Design, not {quoted(design)}. "
                          "Write dk.design.Design(pools={...}).")
    return Report(design, play(design))


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    known = Design.__dataclass_fields__
    for name in given:
        if name not in known:
            raise DagkitError(f"design: {quoted(name)} cannot be declared.{nearest(name, known)} "
                              f"Known: {choices(known, 20)}.")
    return dict(given)
