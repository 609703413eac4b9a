"""What both games show of a broken deployment: how many tasks were in which state, and the last of them in bars."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ..lesson.page import Table, esc, items, static
from ..states import FINISHED, NAMES
from ..views import gantt
from ..views.picture import brief, content_prefix, framed
from ..views.timeline import segments
from .deployment import Broken

DONE = frozenset(NAMES[code] for code in FINISHED)


@dataclass(frozen=True)
class Reply:
    """What is said to an answer. right: whether it is the one; bool(reply) is the same."""

    right: bool
    text: str

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return f"{'✓' if self.right else '✗'} {self.text}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return static(f'<p class="dl-verdict {"dl-good" if self.right else "dl-bad"}">{esc(self)}</p>')


def table(case: Broken, columns: int = 6) -> list[dict[str, Any]]:
    """Task instances by state at some ticks, the last when somebody looks. Those of runs not due yet are left out."""
    ticks = sorted({round(1 + (case.at - 1) * k / (columns - 1)) for k in range(columns)})
    counts = [Counter(state for label, state in case.trace.states_at(tick).items() if _due(case, label, tick))
              for tick in ticks]
    known = [state for state in NAMES if any(count[state] for count in counts)]
    return [{"state": state, **{f"tick {tick}": count[state] for tick, count in zip(ticks, counts, strict=True)}}
            for state in known]


def _due(case: Broken, label: str, tick: int) -> bool:
    dag_id, _, _, run = case.trace.task_of(label)
    return bool(case.trace.run(run, dag_id).due <= tick)


def bars(case: Broken, rows: int = 18) -> str:
    """States over time, as SVG below a line that says what is shown: the tasks open longest, and those that changed last.

    Nothing later than the look is in it.
    """
    changes = dict(zip(case.trace.labels, case.trace.changes, strict=True))
    seen = {label: [(tick, state) for tick, state in changes[label] if tick <= case.at] for label in changes
            if _due(case, label, case.at)}
    still = sorted((label for label in seen if seen[label][-1][1] not in DONE), key=lambda label: seen[label][-1][0])
    order = [*still[:rows // 2], *sorted(seen, key=lambda label: -seen[label][-1][0])]
    order = list(dict.fromkeys(order))[:rows]
    kept = [(label, segments(seen[label], case.at + 1)) for label in seen if label in set(order)]
    begun = [start for _, parts in kept for start, _, state in parts if state != "none"]
    since = max(min(begun, default=0) - 1, 0)
    title = (f"{len(kept)} of {len(seen)} tasks, those open longest and those that changed last, from tick "
             f"{brief(since)} to {case.at} (a tick is 10 seconds). A dotted line: it has not begun. "
             "Tasks that ended earlier are left out.")
    drawn = gantt.svg(kept, prefix=content_prefix(title, kept), last_tick=case.at + 1, title=title, first=since)
    return f'<p class="dl-note">{esc(title)}</p>{framed(drawn)}'


def html(case: Broken, head: str, lines: list[str]) -> str:
    """Both, with some lines above."""
    listed = items(lines) if lines else ""
    return (f"<h4>{esc(head)}</h4>{listed}{Table(table(case))._repr_html_()}"
            f"{bars(case)}")
