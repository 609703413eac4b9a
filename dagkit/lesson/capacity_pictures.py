"""Capacity and recovery drawn: what was needed and what was there, what two regions did, what an ordered stop took."""

from __future__ import annotations

from typing import Any

from ..capacity import POLICIES, SITUATIONS, Failover, Sleep, compare, scale
from ..capacity.scaling import BOOT, MISSING, Play
from ..views import charts, gantt
from ..views.picture import Picture, content_prefix, counted
from ..widget import Panel
from .page import Table, content, static


def _steps(values: list[int]) -> list[tuple[int, int]]:
    kept = [(t, v) for t, v in enumerate(values) if t == 0 or v != values[t - 1]]
    return [*kept, (len(values), values[-1])] if kept else []


def scaled(play: Play, title: str = "") -> Picture:
    """Slots there and tasks that need one, minute by minute.

    >>> from dagkit.capacity import scale
    >>> print(scaled(scale("queue")))
    queue sees what is queued and running. Longest wait 3 minutes, 112 worker minutes, 0 tasks lost, 0 never ran.
    """
    series = (("needed", _steps(play.needed)), ("slots", _steps(play.slots)), ("triggerers", _steps(play.triggerers)))
    shown = series if play.watched else series[:2]
    prefix = content_prefix("scaled", title, shown)
    svg = charts.lines(*shown, prefix=prefix, title=title or play.policy, x_label="min", y_label="tasks")
    row = play.row()
    words = (f"{play.policy} sees {row['it sees']}. Longest wait {counted(int(str(row['longest wait'])), 'minute')}, "
             f"{row['worker minutes']} worker minutes, {counted(play.lost, 'task')} lost, {play.never} never ran.")
    return Picture(svg, [{"minute": t, "needed": n, "slots": s, "triggerers": k} for t, (n, s, k) in
                         enumerate(zip(play.needed, play.slots, play.triggerers, strict=True))], words)


class ScalingPanel(Panel):
    """Three choices: what happens, who decides, and how a missing metric is read."""

    def __init__(self, situation: str = "a burst that is due", policy: str = "queue", missing_as: str = "hold") -> None:
        import ipywidgets as widgets
        self.chosen = {"situation": situation, "policy": policy, "missing metric": missing_as}
        offered = {"situation": list(SITUATIONS), "policy": list(POLICIES), "missing metric": ["hold", "zero"]}
        self.controls = {name: widgets.Dropdown(options=offered[name], value=value, description=name,
                                                layout=widgets.Layout(width="300px"), style={"description_width": "110px"})
                         for name, value in self.chosen.items()}
        self.result = widgets.HTML()
        for control in self.controls.values():
            control.observe(self.play, "value")
        self.box = widgets.VBox([widgets.HBox(list(self.controls.values())), self.result])
        self.play()

    def play(self, _: Any = None) -> None:
        """Play what is chosen."""
        situation, policy, missing = (control.value for control in self.controls.values())
        self.shown = scale(policy, situation, missing_as=missing)
        gap = f" Without its metric from minute {MISSING.start} to {MISSING.stop - 1}, read as {missing}." \
            if situation == "a missing metric" else ""
        self.words = f"{situation[:1].upper()}{situation[1:]}, decided by {policy}; a worker starts in {BOOT} minutes.{gap}"
        table = content(Table(compare(situation, missing_as=missing)))
        self.result.value = static(f"<p><b>{self.words}</b></p>{scaled(self.shown).html()}{table}")

    def __repr__(self) -> str:
        return f"{self.words}\n{scaled(self.shown)!r}"

    def twin(self) -> str:
        note = ("<p>Without widgets the choices are made in code: "
                '<code>scaling_panel("a missing metric", "cpu", "zero")</code>.</p>')
        return static(note + self.result.value)


def scaling_panel(situation: str = "a burst that is due", policy: str = "queue", missing_as: str = "hold") -> ScalingPanel:
    """The panel. Raises DagkitError for a situation, policy or reading that does not exist."""
    scale(policy, situation, missing_as=missing_as)
    return ScalingPanel(situation, policy, missing_as)


def regions(found: Failover) -> Picture:
    """What each task did in both regions, on one axis of seconds; the line is the failure."""
    rows: list[tuple[str, list[gantt.Segment]]] = []
    there = {name: (start, end, state) for name, start, end, state in found.there()}
    for job in found.jobs:
        segments: list[gantt.Segment] = []
        if job.queued < found.fails_at:
            segments.append((job.queued, min(job.started, found.fails_at), "queued"))
        if job.started < found.fails_at:
            segments.append((job.started, min(job.ended, found.fails_at), "running"))
        if job.ended < found.fails_at:
            segments.append((job.ended, found.fails_at, "success"))
        if segments:
            rows.append((f"{job.name}, region 1", segments))
    end = max([found.resumes_at, *(stop for _, stop, _ in there.values())]) + 60
    for job in found.jobs:
        if job.name in there:
            start, stop, state = there[job.name]
            rows.append((f"{job.name}, region 2", [*([(start, stop, "running")] if stop > start else []),
                                                   (stop, end, state)]))
    prefix = content_prefix("regions", rows, found.fails_at)
    svg = gantt.svg(rows, prefix=prefix, last_tick=end, now=found.fails_at, unit="s", title="Two regions")
    twice = f"Done twice: {', '.join(found.twice)}." if found.twice else "Nothing is done twice."
    words = (f"Region 1 fails at {found.fails_at:,} s; its last copied commit is of {found.copied_to:,} s. Recovery point "
             f"{found.recovery_point:,} s, recovery time {found.recovery_time:,} s. {twice}")
    return Picture(svg, found.rows(), words)


def put_to_sleep(found: Sleep) -> Table:
    """The steps of a hibernation, what each does, and who reacts."""
    return Table([{"step": f"{k}. {taken.step}", "what": taken.what, "reaction": taken.reaction or "none"}
                  for k, taken in enumerate(found.taken, 1)])
