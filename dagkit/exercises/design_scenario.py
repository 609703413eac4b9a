"""Exercise 13: the design scenario in three parts, each graded by the day that is played on it."""

from __future__ import annotations

from typing import Any

from ..design import Design, Report, grade, grading
from ..errors import quoted
from .trial import NotYet, Task

SHARED = "source connections"
_GRADED: list[Report] = []
"""The last reports: a design is often asked for again, and a day takes a second or two."""


def graded(design: Any, name: str) -> Report:
    """The report on a design. Raises NotYet for what is none."""
    if not isinstance(design, Design):
        raise NotYet(f"{name} must be a dk.design.Design(...), not {quoted(design)}.")
    for report in _GRADED:
        if report.design == design:
            return report
    _GRADED[:] = [*_GRADED[-7:], grade(design)]
    return _GRADED[-1]


def source(guarded: Any) -> None:
    """The source database is never asked for more than it bears; all else may fail."""
    verdict = graded(guarded, "guarded")[SHARED]
    if not verdict.passed:
        raise NotYet(f"{SHARED}: {verdict.found}", verdict.hint)


def named(stored: Any, metrics: Any) -> None:
    """What is stored where, and what is watched."""
    design = Design(stored=stored, metrics=metrics)
    for judge in (grading.stored, grading.metrics):
        verdict: Any = judge(design, None)                   # type: ignore[arg-type]  # asks what was named, plays nothing
        if not verdict.passed:
            raise NotYet(f"{verdict.name}: {verdict.found}", verdict.hint)


def whole(final: Any) -> None:
    """Every requirement, in the order of the report; the first one that is not met is told."""
    report = graded(final, "final")
    missed = [verdict for verdict in report.verdicts if not verdict.passed]
    if missed:
        raise NotYet(f"{report.line}. {missed[0].name}: {missed[0].found}", missed[0].hint)


TASKS = (
    Task("13.1", ("guarded",), source, "Never more connections than the source bears."),
    Task("13.2", ("stored", "metrics"), named, "Everything is found again, and every question has its number."),
    Task("13.3", ("final",), whole, "Your design survives the day."),
)
