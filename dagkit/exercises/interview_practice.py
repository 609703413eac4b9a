"""Exercise 12: a drill by hand, what to review first, and one mock interview."""

from __future__ import annotations

import random
from typing import Any

from ..errors import quoted
from ..practice.drills import Drill, Judged
from ..practice.interviews import Answered, Interview, Report, interview
from .trial import NotYet, Task, call

SEED, MINUTES = 12, 10
PASS = 2 / 3
"""Share of the interview's questions that have to be right."""
Said = tuple[int, bool, str]


def by_hand(puzzle: Any, answer: Any) -> None:
    """A drill, judged by the drill itself."""
    if not isinstance(puzzle, Drill) or (puzzle.kind, puzzle.seed, puzzle.level) != ("makespan", SEED, 2):
        raise NotYet(f"puzzle must be the drill of this task: puzzle = dk.drill('makespan', {SEED}, 2).")
    verdict = puzzle.answer(answer)
    if not verdict:
        raise NotYet(verdict.text, verdict.hint or "Write down, tick by tick, who holds which slot.")


def sittings() -> list[list[Said]]:
    """Some interviews as (lesson, right, how sure): small ones made for one thing each, and random ones."""
    made: list[list[Said]] = [[(3, True, "certain")], [(5, False, "fairly"), (4, False, "fairly"), (4, False, "a guess")],
                              [(2, False, "fairly"), (1, False, "fairly")],
                              [(7, False, "fairly"), (6, False, "certain"), (8, True, "certain")]]
    for seed in range(6):
        draw = random.Random(seed).random
        made.append([(1 + int(6 * draw()), draw() < 0.4, ("a guess", "fairly", "certain")[int(3 * draw())])
                     for _ in range(9)])
    return made


def reviewed(answers: list[Said]) -> list[int]:
    """What the report of a real interview with these answers asks to open again."""
    items = interview(seed=SEED, minutes=MINUTES, keep=False).items
    found = []
    for lesson, right, sure in answers:
        item = type(items[0])(**{**items[0].__dict__, "lesson": lesson})
        found.append(Answered(item, Judged(right, ""), sure, 1.0))
    return Report(tuple(found), ()).review


def review_first(answer: Any) -> None:
    """Lessons with something wrong, worst first; certain and wrong counts twice."""
    for answers in sittings():
        found, right = call(answer, answers, name="review_first"), reviewed(answers)
        if list(found) != right:
            raise NotYet(f"After {answers} it should be {right}; yours is {quoted(found)}.",
                         "Only wrong answers count, a certain one twice. Of equals the lower lesson comes first.")


def interviewed(talk: Any) -> None:
    """One whole interview, two thirds of it right."""
    if not isinstance(talk, Interview) or (talk.seed, talk.minutes) != (SEED, MINUTES):
        raise NotYet(f"talk must be the interview of this task: dk.practice.interview(seed={SEED}, minutes={MINUTES}, "
                     f"keep=False).")
    if not talk.over:
        raise NotYet(f"{len(talk.answered)} of {len(talk.items)} questions are done.", f"Next: {talk.asked.ask}")
    report = talk.report()
    if report.right < PASS * len(talk.items):
        again = f"dk.practice.ladder({report.review[0]})" if report.review else "it once more, a little quicker"
        raise NotYet(f"{report.right} of {len(talk.items)} were right.", f"Look at {again}, then begin again.")


TASKS = (
    Task("12.1", ("puzzle", "when_done"), by_hand, "A schedule by hand."),
    Task("12.2", ("review_first",), review_first, "What was wrong and certain comes first."),
    Task("12.3", ("talk",), interviewed, "One interview, from the first question to the last."),
)
