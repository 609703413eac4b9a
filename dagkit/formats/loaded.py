"""What ``load`` gives back: a Dag, the recorded run, and a plain account of what was lost on the way."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from html import escape
from typing import Any, NamedTuple

from ..dag import Dag
from ..errors import DagkitError, choices, shown
from ..scenario import Scenario
from ..task import Task, rebuilt

UNITS = {"ms": 0.001, "s": 1, "min": 60, "h": 3600, "d": 86400}
"""The units of time that have a name, in seconds."""

_STEPS = (0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 86400)
_AT_MOST = 200  # ticks of the longest task when the unit is chosen for you: a Gantt chart one can still read


class TaskRun(NamedTuple):
    """One recorded task instance; times in seconds since the run's first known moment, None where unknown."""

    task: str
    start: float | None = None
    end: float | None = None
    queued: float | None = None
    scheduled: float | None = None
    state: str | None = None
    try_number: int | None = None


class Run:
    """A recorded run: its task instances by start time (``.rows``), and the moment they are counted from.

    started_at: that moment, as ISO 8601 text in UTC. makespan: from it to the last end, in seconds. state: how the run
    ended, if the file tells.
    """

    def __init__(self, rows: Iterable[TaskRun], started_at: str | None = None, state: str | None = None):
        self.rows = sorted(rows, key=lambda r: (r.start is None, r.start or 0.0, r.task))
        self.started_at, self.state = started_at, state

    @classmethod
    def from_times(cls, rows: Iterable[Mapping[str, Any]], began: datetime | None = None,
                   state: str | None = None) -> Run | None:
        """A run from rows of ``datetime`` values, counted from ``began`` or the earliest; None if no time is known."""
        rows = list(rows)
        times = [
            row[k] for row in rows for k in ("start", "end", "queued", "scheduled") if row.get(k) is not None
        ]
        if not times:
            return None
        first = min([*times, *([] if began is None else [began])])

        def since(moment: datetime | None) -> float | None:
            return None if moment is None else (moment - first).total_seconds()

        made = [
            TaskRun(
                row["task"],
                since(row.get("start")),
                since(row.get("end")),
                since(row.get("queued")),
                since(row.get("scheduled")),
                row.get("state"),
                row.get("try_number"),
            )
            for row in rows
        ]
        return cls(made, first.isoformat(), state)

    @property
    def makespan(self) -> float:
        """Seconds from the first known moment to the last end."""
        return max((r.end for r in self.rows if r.end is not None), default=0.0)

    def to_frame(self) -> Any:
        """A pandas table with where the time went: ``waited_scheduled`` (for a place: limits and pools),
        ``waited_queued`` (for a worker) and ``ran``, in seconds.
        """
        import pandas as pd

        frame = pd.DataFrame(self.rows, columns=list(TaskRun._fields))
        for name in ("start", "end", "queued", "scheduled"):
            frame[name] = frame[name].astype("float64")
        frame["waited_scheduled"] = frame["queued"] - frame["scheduled"]
        frame["waited_queued"] = frame["start"] - frame["queued"]
        frame["ran"] = frame["end"] - frame["start"]
        return frame

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Run({len(self)} task instances, {self.makespan:g} s)"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in TaskRun._fields)
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in self.rows[:60]
        )
        more = f"<p>{len(self) - 60} further rows: see to_frame().</p>" if len(self) > 60 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: object) -> str:
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else escape(shown(value))


def moment(text: Any) -> datetime | None:
    """An ISO 8601 time or a Unix time in seconds, in UTC; a time without a zone counts as UTC. None if it is
    neither.

    >>> moment("2024-05-01T10:00:00+02:00")
    datetime.datetime(2024, 5, 1, 8, 0, tzinfo=datetime.timezone.utc)
    """
    try:
        if isinstance(text, (int, float)) and not isinstance(text, bool):
            return datetime.fromtimestamp(text, UTC)
        made = datetime.fromisoformat(text)
        return made.replace(tzinfo=UTC) if made.tzinfo is None else made.astimezone(UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


@dataclass
class Loaded:
    """A Dag that came from a file.

    dag: the Dag, with exact durations. format: the name of the reader. unit: of every time in it ("s", "min"
    or None when the file has none and each task counts as 1). report: sentences on what was ignored, assumed
    or rounded. missing: ids of the tasks whose duration the file does not tell. run: the recorded run, or
    None. recorded_makespan: how long the file says the run took, in ``unit``, or None. pools, outcomes, durations:
    of a Dag file that the kit exported, as ``Scenario`` takes them.
    """

    dag: Dag
    format: str
    report: list[str] = field(default_factory=list)
    unit: str | None = None
    missing: tuple[str, ...] = ()
    run: Run | None = None
    recorded_makespan: float | None = None
    tick: int | None = None
    pools: dict[str, Any] = field(default_factory=dict)
    outcomes: dict[str, Any] = field(default_factory=dict)
    durations: dict[str, Any] = field(default_factory=dict)

    def scenario(self, unit: str | float | None = None, **changes: Any) -> Scenario:
        """What ``simulate`` takes: the Dag in whole ticks (see ``for_simulation``), and the pools and the script that
        came with the file, if any. changes: as for ``Scenario``; they overrule the file.

        >>> Loaded(Dag.from_dict({"a": {"duration": 2}}), "csv", pools={"db": 1}).scenario(runs=2).runs
        {'dag': Runs(count=2, every=0, start=1, unpaused_at=1, catchup=False)}
        """
        own: dict[str, Any] = {"pools": self.pools, "outcomes": self.outcomes, "durations": self.durations}
        return Scenario(self.for_simulation(unit), **{**own, **changes})

    def for_simulation(self, unit: str | float | None = None) -> Dag:
        """The Dag with every time in whole ticks: durations rounded up, at least 1. The report says so.

        unit: length of a tick, as "ms", "s", "min", "h", "d" or in the file's own unit (seconds, if it has
        one). Left out: the largest of 1 ms, 10 ms, 0.1 s, 1 s, 10 s, 1 min, 10 min, 1 h, 1 d with which every
        time is a whole number of ticks and the longest task lasts at most 200 of them; if there is none, the
        smallest with which the longest task does. Plain numbers keep their unit.

        Raises DagkitError for a unit that is not a positive number or a known name.

        >>> Loaded(Dag.from_dict({"a": {"duration": 2.5}}), "csv").for_simulation()["a"].duration
        3
        >>> Loaded(Dag.from_dict({"a": {"duration": 20}}), "csv", unit="s").for_simulation()["a"].duration
        2
        """
        size = self._tick_size(unit)
        made = [_in_ticks(task, size) for task in self.dag]
        changed = sum(
            1
            for old, new in zip(self.dag, made, strict=True)
            if Fraction(str(old.duration)) != new.duration * size
        )
        shown_unit = unit if isinstance(unit, str) else f"{float(size):g}{' s' if self.unit else ''}"
        sentence = (
            f"For simulation, one tick is {shown_unit}; durations are rounded up to whole ticks, at least 1 "
            f"({changed} of {len(made)} changed)."
        )
        self.report[:] = [s for s in self.report if not s.startswith("For simulation,")] + [sentence]
        options = self.dag.options()
        if options["dagrun_timeout"] is not None:
            options["dagrun_timeout"] = max(1, _ceil(options["dagrun_timeout"], size))
        return Dag(self.dag.dag_id, made, **options)

    def _tick_size(self, unit: str | float | None) -> Fraction:
        """The length of a tick in the file's own unit, exactly as written (0.1 is a tenth)."""
        own = Fraction(str(UNITS[self.unit])) if self.unit else None
        if isinstance(unit, str) and unit in UNITS:
            if own is None:
                raise DagkitError(
                    f"for_simulation: this {self.format} input has no unit of time, so unit "
                    f"'{shown(unit)}' means nothing. Give a plain number, or leave it out."
                )
            return Fraction(str(UNITS[unit])) / own
        if unit is None:
            longest = max((Fraction(str(t.duration)) for t in self.dag), default=Fraction(0))
            if own is None:
                return Fraction(1)
            sizes = [Fraction(str(step)) / own for step in _STEPS]
            fine = next((s for s in sizes if longest <= s * _AT_MOST), sizes[-1])
            times = _times(self.dag)
            return max((s for s in sizes if s > fine and _whole(times, s)), default=fine)
        if isinstance(unit, bool) or not isinstance(unit, (int, float)) or not (0 < unit < math.inf):
            raise DagkitError(
                f"for_simulation: unit must be a number > 0 or one of {choices(UNITS)}, "
                f"not {shown(repr(unit))}. Write unit='min'."
            )
        return Fraction(str(unit))

    def with_dag(self, dag: Dag | Loaded) -> Loaded:
        """This recorded run on the shape of a known Dag: its durations, that Dag's dependencies.

        For listings of task instances, which hold no dependencies. Of mapped tasks and several tries the
        longest counts. Tasks without a recorded duration keep 0 and are listed in ``missing``.
        """
        shape = dag.dag if isinstance(dag, Loaded) else dag
        if not isinstance(shape, Dag):
            raise DagkitError(f"with_dag: needs a Dag or what load gave back, not {type(dag).__name__}. "
                              "Write with_dag(dk.load(path)).")
        known = set(self.missing)
        lasted: dict[str, float] = {}
        for task in self.dag:
            name = task.task_id if task.task_id in shape else task.task_id.rpartition("[")[0]
            if task.task_id not in known:
                lasted[name] = max(lasted.get(name, 0), task.duration)
        missing = tuple(t.task_id for t in shape if t.task_id not in lasted)
        extra = [name for name in lasted if name not in shape]
        made = [rebuilt(t, {"duration": lasted.get(t.task_id, 0)}) for t in shape]
        report = list(self.report)
        report += [f"Dependencies were taken from Dag '{shown(shape.dag_id)}'."]
        if missing:
            report.append(
                f"{counted(len(missing), 'task has', 'tasks have')} no recorded duration (counted as 0): "
                f"{choices(missing)}."
            )
        if extra:
            report.append(
                f"{counted(len(extra), 'recorded task is', 'recorded tasks are')} not in that Dag and left out: "
                f"{choices(extra)}."
            )
        return Loaded(
            Dag(shape.dag_id, made, **shape.options()),
            self.format,
            report,
            self.unit,
            missing,
            self.run,
            self.recorded_makespan,
        )

    def __repr__(self) -> str:
        run = f", run of {len(self.run)}" if self.run else ""
        return (
            f"Loaded('{shown(self.dag.dag_id)}', {self.format}, {counted(len(self.dag), 'task')}, "
            f"{counted(len(self.dag.edges), 'dependency', 'dependencies')}, unit {self.unit}{run}, "
            f"{counted(len(self.report), 'remark')})"
        )

    def _repr_html_(self) -> str:
        facts: Sequence[tuple[str, object]] = (
            ("Dag", self.dag.dag_id),
            ("format", self.format),
            ("tasks", len(self.dag)),
            ("dependencies", len(self.dag.edges)),
            ("unit of time", self.unit or "none: every number counts as it is"),
            ("durations unknown", len(self.missing)),
            (
                "recorded makespan",
                "none" if self.recorded_makespan is None else f"{self.recorded_makespan:g} {self.unit or ''}",
            ),
        )
        rows = "".join(f"<tr><th>{name}</th><td>{escape(shown(value))}</td></tr>" for name, value in facts)
        items = "".join(f"<li>{escape(shown(sentence, 600))}</li>" for sentence in self.report)
        return f"<table><tbody>{rows}</tbody></table>" + (f"<ul>{items}</ul>" if items else "")


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "remark"), counted(2, "dependency", "dependencies")
    ('1 remark', '2 dependencies')
    """
    return f"{number} {one if number == 1 else many or one + 's'}"


def _ceil(value: Any, size: Fraction) -> int:
    """Whole ticks, rounded up. Decimal as written, so 1.1 s in ticks of 0.1 s is 11, not 12."""
    return math.ceil(Fraction(str(value)) / size)


def _times(dag: Dag) -> list[Fraction]:
    """Every time that counts in a simulation; delays of tasks that are never retried do not."""
    found: list[Any] = [dag.dagrun_timeout]
    for task in dag:
        found += [task.duration, task.execution_timeout]
        if task.retries:
            found += [task.retry_delay or None, task.max_retry_delay]
    return [Fraction(str(time)) for time in found if time is not None]


def _whole(times: Iterable[Fraction], size: Fraction) -> bool:
    """Whether all are whole numbers of ticks, at least 1: rounding then changes nothing."""
    return all(time >= size and time % size == 0 for time in times)


def _in_ticks(task: Task, size: Fraction) -> Task:
    changes: dict[str, Any] = {"duration": max(1, _ceil(task.duration, size))}
    if task.execution_timeout is not None:
        changes["execution_timeout"] = max(1, _ceil(task.execution_timeout, size))
    if task.retries:
        changes["retry_delay"] = _ceil(task.retry_delay, size)
        if task.max_retry_delay is not None:
            changes["max_retry_delay"] = _ceil(task.max_retry_delay, size)
    return rebuilt(task, changes)
