"""The one road from what a reader found to a Dag: bounds, unknown names, missing durations, the report."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from ..dag import Dag
from ..errors import FormatError, choices, shown
from ..task import detached
from .loaded import Loaded, Run
from .source import Source

MAX_TASKS = 200_000
MAX_EDGES = 2_000_000


class Draft:
    """Tasks as a reader finds them, and the remarks it makes on the way.

    >>> draft = Draft("edges", Source("the text", ""))
    >>> draft.task("load", ["extract"]); draft.task("extract")
    >>> draft.finish().dag.edges
    [('extract', 'load')]
    """

    def __init__(self, format_name: str, source: Source, dag_id: str | None = None):
        self.format, self.source = format_name, source
        self.dag_id = dag_id or source.stem
        self.specs: dict[str, dict[str, Any]] = {}
        self.report: list[str] = []
        self.edges = self.spent = 0

    def task(self, task_id: Any, upstream: Iterable[Any] = (), duration: Any = None, **options: Any) -> None:
        """Add a task; duration None means the file does not tell.

        Raises FormatError for an empty id, an id given twice, or too many.
        """
        name = label(task_id)
        if not name:
            raise self.source.bad("a name for every task", "an empty one", "Give that task a name.")
        if name in self.specs:
            raise self.source.bad("unique task ids", f"'{shown(name)}' twice", "Rename one of the two.")
        ups = dict.fromkeys(map(label, upstream))
        self.edges += len(ups)
        self.specs[name] = {"upstream": ups, "duration": duration, **options}
        self._check_size()

    def edge(self, upstream: str, downstream: str) -> None:
        """Add a dependency, and its two tasks where they are new."""
        for name in (upstream, downstream):
            if name not in self.specs:
                self.task(name)
        ups = self.specs[downstream]["upstream"]
        if upstream not in ups:
            ups[upstream] = None
            self.edges += 1
            self._check_size()

    def spend(self, steps: int = 1) -> None:
        """Count steps of a walk that a hostile file could make very long."""
        self.spent += steps
        if self.spent > MAX_EDGES:
            raise too_large(self.source, len(self.specs), self.spent)

    def _check_size(self) -> None:
        if len(self.specs) > MAX_TASKS or self.edges > MAX_EDGES:
            raise too_large(self.source, len(self.specs), self.edges)

    def note(self, sentence: str) -> None:
        """A remark for the report, once."""
        if sentence not in self.report:
            self.report.append(sentence)

    def note_all(self, names: Iterable[Any], what: str) -> None:
        """A remark on the names, if there are any; ``one|many`` in it where their number decides.

        >>> draft = Draft("edges", Source("the text", ""))
        >>> draft.note_all(["a", "b"], "node|nodes was|were left out"); draft.report
        ['2 nodes were left out: a, b.']
        """
        found = list(dict.fromkeys(names))
        if found:
            words = re.sub(r"(\w+)\|(\w+)", r"\1" if len(found) == 1 else r"\2", what)
            self.note(f"{len(found)} {words}: {choices(found)}.")

    def drop_unknown(self) -> None:
        """Forget dependencies on names that are no task here, and say so."""
        lost = {}
        for spec in self.specs.values():
            known = {u: None for u in spec["upstream"] if u in self.specs}
            lost.update(dict.fromkeys(u for u in spec["upstream"] if u not in self.specs))
            spec["upstream"] = known
        self.note_all(lost, "upstream name|names without a task here was|were ignored")

    def finish(
        self,
        *,
        unit: str | None = None,
        assumed: Any = 1,
        run: Run | None = None,
        recorded_makespan: float | None = None,
        **dag_options: Any,
    ) -> Loaded:
        """The Dag and its report.

        unit: of the durations. assumed: what every task counts when no duration is known at all; if some are
        known, the others count as 0, so that a critical path is never overstated.
        """
        self.note_all(
            (f"{key} (line {line})" for key, line in self.source.repeated.items()),
            "key|keys stands|stand twice in one mapping, the last counts",
        )
        missing = tuple(name for name, spec in self.specs.items() if spec["duration"] is None)
        timed = any(spec["duration"] is not None and not spec.get("empty") for spec in self.specs.values())
        blank = 0 if timed else assumed
        if missing and timed:
            self.note_all(missing, "task|tasks has|have no duration (counted as 0)")
        elif missing:
            self.note(
                f"No durations in this file: every task counts as {assumed}{' ' + unit if unit else ''}."
            )
        tasks = [
            detached(name, {**spec, "duration": blank if spec["duration"] is None else spec["duration"]})
            for name, spec in self.specs.items()
        ]
        dag = Dag(self.dag_id, tasks, **dag_options)
        if not tasks:
            dag.close()
            self.note("This file holds no task.")
        return Loaded(dag, self.format, self.report, unit, missing, run, recorded_makespan)


def too_large(source: Source, tasks: int, edges: int) -> FormatError:
    """The refusal of a Dag beyond the bounds."""
    return source.bad(
        f"at most {MAX_TASKS} tasks and {MAX_EDGES} dependencies",
        f"{tasks} and {edges} before its end",
        "Cut it down to the part you want to see.",
    )


def check_lines(source: Source) -> None:
    """Refuse a text of one item a line before reading it, if it has too many."""
    lines = source.text.count("\n")
    if lines > MAX_TASKS + MAX_EDGES:
        raise source.bad(
            f"at most {MAX_TASKS + MAX_EDGES} lines", str(lines), "Cut it down to what you want to see."
        )


def label(value: Any) -> str:
    """A name from a file as text; numbers as they print."""
    return value if isinstance(value, str) else "" if value is None else str(value)


def seconds(value: Any) -> float | None:
    """A number >= 0 from a file (a number or its text), or None if it is not one that Python can reckon with.

    >>> seconds("2.5"), seconds(-1), seconds("soon"), seconds(10**400)
    (2.5, None, None, None)
    """
    if isinstance(value, str):
        try:
            value = float(value) if not value.strip().isdecimal() else int(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return value if value >= 0 and math.isfinite(value) else None
    except OverflowError:
        return None
