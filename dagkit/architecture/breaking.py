"""Break a component and look: the same deployment twice, healthy and broken, to be seen at any tick."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

from ..errors import DagkitError, choices, nearest, shown
from ..explain import Reason
from ..lesson.chips import chips
from ..lesson.page import Table, esc, items, static
from ..states import NAMES
from ..symptoms import CAUSES, Broken, broken, readings
from ..symptoms.shown import bars
from ..widget import Panel

SEED = 1


@cache
def broke(key: str) -> Broken:
    """The deployment of the lesson with one cause of ``symptoms.CAUSES``; "" for none.

    Raises DagkitError for an unknown cause, with the nearest.
    """
    if key and key not in CAUSES:
        raise DagkitError(f"break: '{shown(key)}' is unknown.{nearest(key, CAUSES)} Known: {choices(CAUSES, 20)}.")
    return broken(SEED, *([key] if key else []))


@cache
def why(key: str) -> Reason | None:
    """The reason of one task instance that tells the cause, at the tick somebody looks; None where states tell nothing.

    >>> why("triggerer down").code
    'triggerer_down'
    """
    case = broke(key)
    calm = _reasons(case.calm, case.at)
    for label, reason in _reasons(case.trace, case.at).items():
        told = calm.get(label)
        if reason.code not in ("trigger_rule", "running", "finished") and (told is None or told.code != reason.code):
            return reason
    return None


def _reasons(trace: Any, tick: int) -> dict[str, Reason]:
    return {label: reason for label, lines in trace.reasons.items() for start, end, reason in lines if start <= tick <= end}


def symptoms_table() -> Table:
    """Every cause: what people say, in which states things wait, why, and what to check first."""
    rows = []
    for key, cause in CAUSES.items():
        case, reason = broke(key), why(key)
        rows.append({"component": cause.component, "broken": cause.said, "people say": case.say(cause.seen),
                     "explain": reason.code if reason else _else(case),
                     "first check": cause.first})
        rows[-1] = {name: value.format(*case.dags) for name, value in rows[-1].items()}
    return Table(rows)


def _else(case: Broken) -> str:
    """What the trace says where no task instance waits."""
    told = [text for text in case.trace.warnings if "edit" in text]
    return f"a warning: {told[0]}" if told else "nothing: the states are as ever"


class Breaking(Panel):
    """Choose what breaks and when to look. Without widgets: one table of everything that can break."""

    def __init__(self) -> None:
        import ipywidgets as widgets
        wide = {"layout": widgets.Layout(width="430px"), "style": {"description_width": "120px"}}
        self.cause = widgets.Dropdown(options=[("nothing", ""), *((f"{c.component}: {key}", key)
                                                                  for key, c in CAUSES.items())],
                                      value="", description="what breaks", **wide)
        self.tick = widgets.IntSlider(value=24, min=1, max=36, description="look at tick", continuous_update=False, **wide)
        self.result = widgets.HTML()
        for control in (self.cause, self.tick):
            control.observe(self.look, "value")
        self.box = widgets.VBox([self.cause, self.tick, self.result])
        self.look()

    def look(self, _: Any = None) -> None:
        """Show the deployment as the controls say."""
        self.result.value = static(seen(self.cause.value, self.tick.value))

    def __repr__(self) -> str:
        return repr(symptoms_table())

    def twin(self) -> str:
        told = "<p>Without widgets: all that can break here, and how it shows.</p>"
        return static(told + symptoms_table()._repr_html_())


def seen(key: str, tick: int) -> str:
    """What there is to see at a tick, as HTML: states beside the healthy twin, odd readings, reasons, bars."""
    case = broke(key)
    cause = case.causes[0] if case.causes else None
    head = f"{case.say(cause.said)} It begins at tick {case.since}." if cause else "Nothing is broken."
    counts = [Counter(trace.states_at(tick).values()) for trace in (case.calm, case.trace)]
    rows = [{"state": state, "healthy": counts[0][state], "broken": counts[1][state]} for state in NAMES
            if any(count[state] for count in counts)]
    odd = [str(reading) for reading in readings(case, tick) if reading.odd] if tick >= case.since else []
    held = [reason for reason in _reasons(case.trace, tick).values()
            if reason.state not in ("success", "failed", "upstream_failed", "skipped", "removed")
            and reason.code not in ("trigger_rule", "run_not_due", "running")]
    waiting = [{"task": r.label, "state": r.state, "why": r.text} for r in held[:6]]
    more = f"<p>And {len(held) - 6} more.</p>" if len(held) > 6 else ""
    look = type("Look", (), {"trace": case.trace, "at": tick, "causes": case.causes, "calm": case.calm})
    return (f'<p class="dl-verdict {"dl-bad" if cause else "dl-good"}"><b>{esc(head)}</b></p>'
            f'<div style="display:flex;flex-wrap:wrap;gap:4px 28px">'
            f"<div><h4>Task instances at tick {tick}</h4>{chips(rows)._repr_html_()}</div>"
            f"<div><h4>Odd on the dashboards</h4>{items(odd) if odd else '<p>Nothing.</p>'}</div></div>"
            + (f"<h4>Who waits, and why</h4>{chips(waiting)._repr_html_()}{more}" if waiting else "")
            + f'<div class="dl-scroll">{bars(look)}</div>'                  # type: ignore[arg-type]
            + (f"<p><b>First check:</b> {esc(cause.first)}</p>" if cause else ""))


def breaking() -> Breaking:
    """The panel: break a component."""
    return Breaking()


__all__ = ["SEED", "Breaking", "breaking", "broke", "seen", "symptoms_table", "why"]
