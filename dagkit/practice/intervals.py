"""When to ask again: fixed intervals, one pure function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from ..checks import listed, whole
from ..checks import plain as plain_number

INTERVALS = (1, 3, 7, 14, 30, 60)
"""Days until the next question, after 0, 1, 2 ... right answers in a row. Assumed: round steps that about double."""


def next_review(answers: Iterable[tuple[date, bool]], intervals: Sequence[int] = INTERVALS) -> date | None:
    """The day on which something is to be asked again, from its answers so far; None if there are none.

    answers: (day, right or not), in any order. A wrong answer starts over; of several on one day the last counts.

    >>> day = date(2026, 3, 1)
    >>> next_review([(day, True)]), next_review([(day, True), (date(2026, 3, 4), True)])
    (datetime.date(2026, 3, 4), datetime.date(2026, 3, 11))
    >>> next_review([(day, True), (date(2026, 3, 4), False)])
    datetime.date(2026, 3, 5)
    """
    intervals = tuple(map(plain_number, listed("next_review", "intervals", intervals, "Write intervals=[1, 3, 7].")))
    for days in intervals:
        whole("next_review", "each interval", days, 1, unit=" of days")
    by_day = dict(sorted(answers, key=lambda answer: answer[0]))
    if not by_day:
        return None
    row = 0
    for right in by_day.values():
        row = row + 1 if right else 0
    last, days = max(by_day), intervals[min(row, len(intervals) - 1)]
    return last + timedelta(days=min(days, (date.max - last).days))  # the calendar of Python ends in 9999
