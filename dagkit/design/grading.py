"""All requirements, in the order of the report; and the two that ask what the learner knows."""

from __future__ import annotations

from typing import Any

from ..errors import choices
from . import facts
from .counting import Readings
from .declared import Design
from .sharing import api, deadlines, looks, source, starts
from .surviving import backlog, files, gpu_places, gpu_waits, loss
from .verdict import Result, Verdict, requirement


@requirement("stored state", "each piece of state lies where it survives and is found",
             "Who has to read it, from which machine, after what has been lost?")
def stored(design: Design, seen: Readings) -> Result:
    """Every item has a place, and a good one."""
    missing = [name for name in facts.ITEMS if name not in design.stored]
    wrong = [name for name, place in design.stored.items() if place not in facts.ITEMS[name].good]
    said = [f"{name} on '{design.stored[name]}': {facts.ITEMS[name].why}" for name in wrong[:2]]
    said += [f"nothing said about {choices(missing)}"] if missing else []
    return Result(not said, ("; ".join(said) or "everything lies where it is found again") + ".", None,
                  len(missing) + len(wrong))


@requirement("health metrics", f"every question is answered, by at most {facts.MOST_METRICS} metrics, none a decoy",
             "Take the events of this day one by one: which number would have moved first?")
def metrics(design: Design, seen: Readings) -> Result:
    """Every question of ``facts.QUESTIONS`` needs one metric."""
    unseen, wrong, many = facts.unanswered(design.metrics), facts.decoys(design.metrics), len(set(design.metrics))
    said = [f"nothing answers: {' '.join(unseen)}"] if unseen else []
    said += [f"{name} tells nothing: {facts.METRICS[name].why}" for name in wrong[:2]]
    said += [f"{many} are too many to be looked at"] if many > facts.MOST_METRICS else []
    return Result(not said, "; ".join(said) or "each question has its metric.", None, len(unseen) + len(wrong))


REQUIREMENTS = (source, api, deadlines, starts, loss, gpu_places, gpu_waits, looks, files, backlog, stored, metrics)


def verdicts(design: Design, trace: Any) -> tuple[Verdict, ...]:
    """All requirements, in the order of the report."""
    seen = Readings(trace)
    return tuple(judge(design, seen) for judge in REQUIREMENTS)


__all__ = ["REQUIREMENTS", "Verdict", "verdicts"]
