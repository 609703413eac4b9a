"""The Dag processor as a model: how long until a saved file is seen, and what one slow file costs the others.

After Airflow 3.3.2, dag_processing/manager.py: a queue of files is worked off by ``parsing_processes`` children. Only
when it is empty is a new one made, of every file whose last parse ended ``min_file_process_interval`` ago, or that has
been saved since; the newest file comes first. A child that takes longer than ``dag_file_processor_timeout`` is killed,
and the file gives nothing. New files are found when the bundle is refreshed, every ``refresh_interval``.
Assumed: nothing besides the parse itself takes time, and every parse of a file takes as long as the last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..checks import is_number, plain, whole
from ..errors import DagkitError, choices, nearest, quoted, shown
from ..views import gantt
from ..views.picture import Picture, content_prefix

DEFAULTS = {"parsing_processes": 2, "min_file_process_interval": 30, "dag_file_processor_timeout": 50,
            "refresh_interval": 300}
"""Of [dag_processor], Airflow 3.3.2; in seconds."""
MOST = 100_000


@dataclass(frozen=True)
class Parse:
    """One parse of one file: from start to end; stored: whether it ended in time."""

    file: str
    start: float
    end: float
    stored: bool


@dataclass(frozen=True)
class Parsing:
    """Everything the processor did until ``until``. In a notebook it shows itself as a chart, a row per file."""

    parses: tuple[Parse, ...]
    files: tuple[str, ...]
    until: float
    saved: tuple[str, float] | None

    @property
    def seen_at(self) -> float | None:
        """When the saved file's new version is stored, or None if it never is."""
        if self.saved is None:
            return None
        name, at = self.saved
        return next((p.end for p in self.parses if p.file == name and p.stored and p.start >= at), None)

    @property
    def waited(self) -> float | None:
        """Seconds from saving to being seen."""
        return None if self.seen_at is None or self.saved is None else self.seen_at - self.saved[1]

    def longest_gap(self, file: str) -> float | None:
        """The longest time in which an edit of this file would not have been seen; None if it is never stored.

        From the start of one stored parse to the end of the next: an edit just after a start waits for the next one.
        """
        known = [p for p in self.parses if p.file == self._known(file) and p.stored]
        return max((b.end - a.start for a, b in zip(known, known[1:], strict=False)), default=None)

    def seconds(self, file: str) -> float:
        """Seconds of a process that this file used."""
        return sum(p.end - p.start for p in self.parses if p.file == self._known(file))

    def _known(self, file: str) -> str:
        if file not in self.files:
            raise DagkitError(f"parsing: there is no file '{shown(file)}'.{nearest(file, self.files)} "
                              f"Known: {choices(map(shown, self.files))}.")
        return file

    def table(self) -> list[dict[str, Any]]:
        """A row per file: parses, how many were killed, seconds used, the longest wait of an edit."""
        rows = []
        for file in self.files:
            mine = [p for p in self.parses if p.file == file]
            gap = self.longest_gap(file)
            rows.append({"file": file, "parses": len(mine), "killed": sum(not p.stored for p in mine),
                         "seconds used": round(self.seconds(file), 1),
                         "an edit waits at most": "for ever" if gap is None else f"{gap:.0f} s"})
        return rows

    def picture(self, rows: int = 14) -> Picture:
        """A bar for each parse, as states: running was stored, up_for_retry was killed and comes again."""
        bars = [(file, [(p.start, min(p.end, self.until), "running" if p.stored else "up_for_retry")
                        for p in self.parses if p.file == file and p.start < self.until]) for file in self.files[:rows]]
        drawn = gantt.svg(bars, prefix=content_prefix("parsing", bars), last_tick=int(self.until),
                          title="Parses (up_for_retry: killed by the timeout), in seconds")
        return Picture(drawn, self.table(), "Each bar is a parse; a tick is a second"
                       + ("" if all(p.stored for p in self.parses) else "; up_for_retry: killed by the timeout"))

    def __repr__(self) -> str:
        return "\n".join(" ".join(f"{k} {v};" for k, v in row.items()) for row in self.table())

    def _repr_html_(self) -> str:
        return self.picture().html()


def parse(files: Mapping[str, float], *, saved: tuple[str, float] | None = None, new: bool = False, until: float = 600,
          **settings: int) -> Parsing:
    """Let the Dag processor work for a while.

    files: seconds a parse of each takes (its imports and whatever it does at module level). saved: (file, second) at
    which it is saved; new: it was not there before, so it is found at the next refresh of the bundle. until: seconds.
    settings: those of [dag_processor], see DEFAULTS.

    Raises DagkitError for a file without a name or with a negative time, an unknown setting, a save that is too late.

    >>> done = parse({"a.py": 2, "slow.py": 60}, saved=("a.py", 40), until=200)
    >>> done.seen_at, [p.stored for p in done.parses if p.file == "slow.py"]
    (42, [False, False, False])
    """
    settings = {name: plain(value) for name, value in settings.items()}
    given = _checked(files, saved, settings, until)
    return Parsing(tuple(_work(dict(files), saved, new, until, given)), tuple(files), until, saved)


def _checked(files: Any, saved: Any, settings: Mapping[str, int], until: Any) -> dict[str, int]:
    if not isinstance(files, Mapping) or not files:
        raise DagkitError(f"parsing: files must be a dictionary of name and seconds, not {quoted(files)}. "
                          f"Write {{'my_dag.py': 2}}.")
    for name, seconds in files.items():
        if not isinstance(name, str) or not is_number(seconds) or not 0 < seconds < MOST:
            raise DagkitError(f"parsing: file {quoted(name)} must take more than 0 and less than {MOST} seconds, not "
                              f"{quoted(seconds)}. Shorten it.")
    for name, value in settings.items():
        if name not in DEFAULTS:
            raise DagkitError(f"parsing: '{shown(name)}' is no setting of the Dag processor.{nearest(name, DEFAULTS)} "
                              f"Known: {choices(DEFAULTS)}.")
        whole("parsing", name, value, 0 if name == "min_file_process_interval" else 1)
    if not is_number(until) or not 0 < until <= MOST:
        raise DagkitError(f"parsing: until must be more than 0 and at most {MOST} seconds, not {quoted(until)}. "
                          "Ten minutes are until=600.")
    if saved is not None and (not isinstance(saved, tuple) or len(saved) != 2 or saved[0] not in files
                              or not is_number(saved[1]) or not 0 <= saved[1] <= until):
        raise DagkitError(f"parsing: saved must be (a file, a second until {until}), not {quoted(saved)}. "
                          "Write saved=('my_dag.py', 40).")
    return {**DEFAULTS, **settings}


def _work(files: dict[str, float], saved: Any, new: bool, until: float, given: Mapping[str, int]) -> list[Parse]:
    """The loop of the manager, from one moment at which something happens to the next."""
    name, at = saved or ("", 0.0)
    found_at = -(-at // given["refresh_interval"]) * given["refresh_interval"] if new else 0
    finished: dict[str, float] = {}
    queue: list[str] = []
    busy: list[Parse] = []
    done: list[Parse] = []
    now = 0.0
    while now <= until:
        for ended in [p for p in busy if p.end <= now]:
            busy.remove(ended)
            finished[ended.file] = ended.end
        if not queue:
            running = {p.file for p in busy}
            there = [f for f in files if f not in running and (f != name or now >= found_at)]
            fresh = [f for f in there if f == name and at <= now and finished.get(f, -1) < at]
            due = [f for f in there if now - finished.get(f, -MOST) >= given["min_file_process_interval"]]
            queue = [*fresh, *(f for f in due if f not in fresh)]
        while queue and len(busy) < given["parsing_processes"]:
            file = queue.pop(0)
            takes = min(files[file], given["dag_file_processor_timeout"])
            busy.append(Parse(file, now, now + takes, files[file] <= given["dag_file_processor_timeout"]))
            done.append(busy[-1])
        now = _next(now, busy, finished, at, found_at, given["min_file_process_interval"])
    return done


def _next(now: float, busy: list[Parse], finished: Mapping[str, float], at: float, found_at: float, interval: int) -> float:
    moments = [p.end for p in busy] + [at, found_at] + [end + interval for end in finished.values()]
    return min((m for m in moments if m > now), default=float("inf"))


__all__ = ["DEFAULTS", "Parse", "Parsing", "parse"]
