"""A tuning panel: one deployment, goals it must reach, and a control for every knob that limits work.

``tune(...)`` plays the deployment with some knobs turned and says which goals are reached; ``panel()`` is the same
with controls. ``futures(a, b)`` shows two traces above each other on one time axis, and where they part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .. import widget
from ..dag import Dag
from ..engine import simulate
from ..errors import DagkitError, choices, nearest, shown
from ..executors import CeleryExecutor, Worker
from ..scenario import Config, Runs, Scenario
from ..task import Task
from ..views import charts, gantt
from ..views.picture import Picture, content_prefix, plain
from ..views.timeline import segments
from .page import esc, static


@dataclass(frozen=True)
class Knob:
    """One control. usual: the value Airflow starts with. offered: what the panel lets one choose. limits: whom."""

    name: str
    usual: Any
    offered: tuple[Any, ...]
    limits: str


KNOBS = {knob.name: knob for knob in (
    Knob("parallelism", 32, (2, 3, 4, 5, 6, 7, 8, 12, 16, 32), "one scheduler: what it has handed over at once"),
    Knob("max_active_runs", 16, (1, 2, 3, 4, 5, 6, 8, 16), "runs of history at once"),
    Knob("max_active_tasks", 16, (1, 2, 3, 4, 8, 16), "tasks of one run of history at once"),
    Knob("max_active_tis_per_dag", None, (1, 2, 3, None), "train, over all runs"),
    Knob("max_active_tis_per_dagrun", None, (1, 2, 3, None), "the parts, within one run"),
    Knob("source_slots", 128, (1, 2, 3, 4, 5, 6, 128), "pool source: whoever reads or writes the database"),
    Knob("load_pool_slots", 1, (1, 2, 3, 4), "how much one load weighs in pool source"),
    Knob("train_queue", "default", ("default", "gpu"), "which workers may take train"),
    Knob("report_weight", 1, (1, 2, 3, 4), "priority_weight of the report's tasks"),
    Knob("weight_rule", "downstream", ("downstream", "upstream", "absolute"), "how weights add up along a Dag"),
)}
CONNECTIONS = {"extract": 1, "load": 3, "fetch": 1}
"""What each task really opens on the source database; a pool only counts what it is told."""


def deployment(**knobs: Any) -> Scenario:
    """The deployment: eight missed days of ``history`` after a pause, and a ``report`` that people wait for.

    Raises DagkitError for an unknown knob, with the nearest known name.
    """
    k = _settings(knobs)
    rule = {"weight_rule": k["weight_rule"]}
    history = Dag("history", [
        Task("extract", duration=3, pool="source", **rule),
        Task("part", "extract", duration=2, expand={"file": 4},
             max_active_tis_per_dagrun=k["max_active_tis_per_dagrun"], **rule),
        Task("train", "part", duration=2, queue=k["train_queue"],
             max_active_tis_per_dag=k["max_active_tis_per_dag"], **rule),
        Task("load", "train", pool="source", pool_slots=k["load_pool_slots"], **rule),
    ], max_active_runs=k["max_active_runs"], max_active_tasks=k["max_active_tasks"])
    report = Dag("report", [
        Task("fetch", pool="source", priority_weight=k["report_weight"], **rule),
        Task("build", "fetch", duration=2, priority_weight=k["report_weight"], **rule),
    ])
    return Scenario(
        [history, report], pools={"source": k["source_slots"]}, config=Config(parallelism=k["parallelism"]),
        runs={"history": Runs(8, every=1, unpaused_at=9, catchup=True), "report": Runs(1, start=12)},
        executor=CeleryExecutor(workers=[Worker(6, name="worker"), Worker(2, queues="gpu", name="gpu")]))


def _settings(knobs: Mapping[str, Any]) -> dict[str, Any]:
    for name in knobs:
        if name not in KNOBS:
            raise DagkitError(f"knob '{shown(name)}' is unknown.{nearest(name, KNOBS)} Known: {choices(KNOBS, 20)}.")
    return {name: knobs.get(name, knob.usual) for name, knob in KNOBS.items()}


# ---- what is measured: counted from the states, not from the limits -----------------------------------------------


def running(trace: Any) -> list[list[str]]:
    """For every tick the labels that run."""
    return [[label for label, state in trace.states_at(tick).items() if state == "running"]
            for tick in range(trace.last_tick + 1)]


def task_of(label: str) -> str:
    """The task a label names.

    >>> task_of("history.part[2]@1")
    'part'
    """
    return label.split("@")[0].split("[")[0].rpartition(".")[2]


def connections(trace: Any) -> list[int]:
    """Connections the source database sees, tick by tick."""
    return [sum(CONNECTIONS.get(task_of(label), 0) for label in labels) for labels in running(trace)]


def _most_parts(trace: Any) -> int:
    per_run = [Counter(label.rpartition("@")[2] for label in labels if task_of(label) == "part")
               for labels in running(trace)]
    return max((max(found.values(), default=0) for found in per_run), default=0)


def _most_trains(trace: Any) -> int:
    return max(sum(task_of(label) == "train" for label in labels) for labels in running(trace))


def _open_runs(trace: Any) -> int:
    spans = [(run.started, run.ended) for run in trace._runs if run.plan.dag.dag_id == "history"]
    return max(sum(a is not None and a <= t and (b is None or b > t) for a, b in spans) for t in range(trace.last_tick + 1))


def _longest_queued(trace: Any) -> int:
    return max(after - tick for changes in trace.changes
               for (tick, state), (after, _) in zip(changes, changes[1:], strict=False) if state == "queued")


NEVER = float("inf")


def ended(trace: Any, *tasks: str) -> float:
    """The tick at which the last of these tasks succeeded, or NEVER."""
    mine = [changes[-1] for label, changes in zip(trace.labels, trace.changes, strict=True) if task_of(label) in tasks]
    return max(tick if state == "success" else NEVER for tick, state in mine)


def _trains_elsewhere(trace: Any) -> int:
    return sum(task.task_id == "train" and task.queue != "gpu" for dag in trace.scenario.dags for task in dag)


@dataclass(frozen=True)
class Goal:
    """What must hold: ``measure(trace)`` is at most ``most``."""

    text: str
    most: int
    measure: Callable[[Any], float]


GOALS = (
    Goal("connections to the source database at once", 3, lambda trace: max(connections(trace))),
    Goal("parts of one run at once (the supplier allows no more)", 2, _most_parts),
    Goal("trainings at once (they write the same file)", 1, _most_trains),
    Goal("tasks that train away from the GPU workers", 0, _trains_elsewhere),
    Goal("runs of history open at once (each fills a disk)", 4, _open_runs),
    Goal("ticks that any task stays queued", 2, _longest_queued),
    Goal("the report is built at tick", 18, lambda trace: ended(trace, "build")),
    Goal("history is caught up at tick", 56, lambda trace: ended(trace, "load")),
)


class Tuned:
    """The deployment with some knobs turned: ``trace``, ``goals`` as (Goal, measured, reached), ``reached``."""

    def __init__(self, **knobs: Any):
        self.knobs = {name: value for name, value in _settings(knobs).items() if value != KNOBS[name].usual}
        self.trace = simulate(deployment(**knobs))
        measured = [(goal, goal.measure(self.trace)) for goal in GOALS]
        self.goals = [(goal, value, value <= goal.most) for goal, value in measured]

    @property
    def reached(self) -> bool:
        """Whether every goal is reached."""
        return all(good for *_, good in self.goals)

    def __repr__(self) -> str:
        lines = [f"{'✓' if good else '✗'} {goal.text}: {_said(value)} (at most {goal.most})"
                 for goal, value, good in self.goals]
        return "\n".join([self.words(), *lines])

    def words(self) -> str:
        """How many goals are reached, and with which knobs."""
        turned = ", ".join(f"{name}={value}" for name, value in self.knobs.items()) or "every knob at its usual value"
        count = sum(good for *_, good in self.goals)
        return f"{count} of {len(GOALS)} goals with {turned}."

    def inner(self) -> str:
        """The goals and two charts, as HTML."""
        rows = "".join(f"<tr><td>{'✓' if good else '✗'}</td><td>{esc(goal.text)}</td><td>{_said(value)}</td>"
                       f"<td>at most {goal.most}</td></tr>" for goal, value, good in self.goals)
        look = "dl-good" if self.reached else "dl-bad"
        return (f'<p class="dl-verdict {look}"><b>{esc(self.words())}</b></p><div class="dl-scroll dl-table"><table>'
                f"<thead><tr><th></th><th>goal</th><th>measured</th><th>wanted</th></tr></thead><tbody>{rows}</tbody>"
                f"</table></div>{self.picture().html()}")

    def picture(self) -> Picture:
        """Connections over time, and when the report and the trainings ran."""
        seen = connections(self.trace)
        steps = [(t, n) for t, n in enumerate(seen) if t == 0 or n != seen[t - 1]] + [(len(seen), 0)]
        chart = charts.lines(("connections", steps), prefix=content_prefix("connections", steps), limit=GOALS[0].most,
                             title="Connections to the source database", y_label="connections")
        rows = [label for label in self.trace.labels if task_of(label) in ("fetch", "build", "train")]
        return Picture([chart, bars(self.trace, rows, self.trace.last_tick)])

    def _repr_html_(self) -> str:
        return static(self.inner())


def tune(**knobs: Any) -> Tuned:
    """Turn some knobs of the deployment, leave the others at Airflow's usual values, and see which goals are reached.

    Raises DagkitError for an unknown knob or a value that the knob cannot have.

    >>> tune().reached
    False
    """
    return Tuned(**knobs)


def bars(trace: Any, labels: list[str], end: int, title: str = "") -> str:
    """A Gantt chart of some rows, with the time axis up to ``end``."""
    known = dict(zip(trace.labels, trace.changes, strict=True))
    rows = [(label, segments(known[label], end + 1)) for label in labels]
    return gantt.svg(rows, prefix=content_prefix(title, rows, end), last_tick=end + 1, title=title)


def futures(first: Any, second: Any, *, tasks: Any = None, names: tuple[str, str] = ("as it was", "changed")) -> Picture:
    """Two traces above each other on one time axis, and the sentence that says where they part and why.

    tasks: labels to show; None: all. names: what to call them.
    Raises DagkitError for a label that is in neither.
    """
    end = max(first.last_tick, second.last_tick)
    every = list(dict.fromkeys([*first.labels, *second.labels]))
    chosen = every if tasks is None else list(tasks)
    for label in chosen:
        if label not in every:
            raise DagkitError(f"futures: no task instance is called '{shown(label)}'.{nearest(label, every)} "
                              f"Known: {choices(every)}.")
    drawn = [bars(trace, [label for label in chosen if label in trace.labels], end, f"{plain(name)}: until tick "
                  f"{trace.last_tick}") for trace, name in zip((first, second), names, strict=True)]
    told = [{"future": name, "last tick": trace.last_tick, **_counts(trace)} for trace, name in
            zip((first, second), names, strict=True)]
    part = str(first.diff(second))
    return Picture(drawn, told, f"Above: {plain(names[0])}. Below: {plain(names[1])}.\n{part[:1].upper()}{part[1:]}")


def _counts(trace: Any) -> dict[str, int]:
    counts = Counter(trace.final_states.values())
    return {state: counts[state] for state in ("success", "failed", "upstream_failed", "skipped", "none", "scheduled")}


class Panel(widget.Panel):
    """The deployment with a control for every knob. Without widgets: the usual values, and how to turn them in code."""

    def __init__(self) -> None:
        import ipywidgets as widgets
        wide = {"layout": widgets.Layout(width="330px"), "style": {"description_width": "185px"}}
        self.controls = {knob.name: widgets.Dropdown(options=[(_said(v), _said(v)) for v in knob.offered],
                                                     value=_said(knob.usual),
                                                     description=knob.name, tooltip=knob.limits, **wide)
                         for knob in KNOBS.values()}
        self.result = widgets.HTML()
        rows = [widgets.HBox([control, widgets.HTML(f"<small>{esc(KNOBS[name].limits)}</small>")])
                for name, control in self.controls.items()]
        for control in self.controls.values():
            control.observe(self.play, "value")
        self.box = widgets.VBox([*rows, self.result])
        self.play()

    def play(self, _: Any = None) -> None:
        """Play the deployment with the knobs as they are."""
        offered = {name: {_said(value): value for value in knob.offered} for name, knob in KNOBS.items()}
        self.tuned = tune(**{name: offered[name][control.value] for name, control in self.controls.items()})
        self.result.value = static(self.tuned.inner())

    def __repr__(self) -> str:
        return repr(self.tuned)

    def twin(self) -> str:
        rows = "".join(f"<tr><td><code>{esc(k.name)}</code></td><td>{esc(_said(k.usual))}</td><td>{esc(k.limits)}</td></tr>"
                       for k in KNOBS.values())
        knobs = ("<p>Without widgets the knobs are turned in code: <code>tune(source_slots=3)</code>.</p>"
                 '<div class="dl-scroll dl-table"><table><thead><tr><th>knob</th><th>usual</th><th>limits</th></tr></thead>'
                 f"<tbody>{rows}</tbody></table></div>")
        return static(knobs + self.tuned.inner())


def _said(value: Any) -> str:
    return "none" if value is None else "never" if value == NEVER else str(value)


def panel() -> Panel:
    """The tuning panel."""
    return Panel()
