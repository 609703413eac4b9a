"""The record of a play: its steps in order, who started what when, and whether anything was lost or doubled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """One thing that happened. at: ms. who: the lane it starts in. to: the lane it ends in, or "" for who's own.

    what: a few words. why: a sentence. kind: "write", "hint", "lost", "refused", "scan", "start", "fault" or "step".
    rows: the task instances after it.
    """

    at: int
    who: str
    to: str
    what: str
    why: str
    kind: str
    rows: str


@dataclass(frozen=True)
class Start:
    """A process that was let run. at: ms."""

    at: int
    task: str
    worker: str
    try_number: int


class Story:
    """steps, starts, run (the run's final state), final (state and tries by task), ended (ms)."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.starts: list[Start] = []
        self.run = "none"
        self.final: Mapping[str, tuple[str, int]] = {}
        self.ended = 0

    def add(self, at: int, who: str, to: str, what: str, why: str, kind: str, rows: str) -> None:
        self.steps.append(Step(at, who, to, what, why, kind, rows))

    def started(self, at: int, task: str, worker: str, try_number: int) -> None:
        self.starts.append(Start(at, task, worker, try_number))

    def close(self, run: str, final: Mapping[str, tuple[str, int]], at: int) -> None:
        self.run, self.final, self.ended = run, final, at

    @property
    def doubled(self) -> list[str]:
        """Tries that were let run more than once: "task, try n"."""
        seen, twice = set(), []
        for start in self.starts:
            key = start.task, start.try_number
            if key in seen:
                twice.append(f"{start.task}, try {start.try_number}")
            seen.add(key)
        return twice

    @property
    def missing(self) -> list[str]:
        """Tasks that never succeeded."""
        return [name for name, (state, _) in self.final.items() if state != "success"]

    def count(self, kind: str) -> int:
        """How many steps were of a kind."""
        return sum(step.kind == kind for step in self.steps)

    def waits(self) -> list[int]:
        """For each first start, ms since its upstream succeeded (or since the call)."""
        ready, found = {"extract": 0}, []
        follows = {"extract": "transform", "transform": "publish"}
        for step in self.steps:
            name, _, rest = step.what.partition(" ")
            if rest == "succeeded" and name in follows:
                ready[follows[name]] = step.at
            if step.kind == "start":
                task = step.what.split()[1].rstrip(":")
                if task in ready:
                    found.append(step.at - ready.pop(task))
        return found

    def __repr__(self) -> str:
        lines = [f"{step.at:>6} ms  {step.who:<12}{'-> ' + step.to if step.to else '':<15}{step.what}"
                 for step in self.steps]
        return "\n".join([*lines, self.verdict()])

    def verdict(self) -> str:
        """One sentence: how it ended, what was lost, what was doubled."""
        ended = f"ended in {self.run} after" if self.run in ("success", "failed") else f"is still {self.run} after"
        missing = f"MISSING: {', '.join(self.missing)}" if self.missing else "nothing is missing"
        doubled = f"RAN TWICE: {'; '.join(self.doubled)}" if self.doubled else "nothing ran twice in one try"
        tries = sum(tries for _, tries in self.final.values())
        return (f"The run {ended} {self.ended:,} ms: {missing}, {doubled}. Tasks: {len(self.final)}, tries: {tries}, "
                f"hints lost: {self.count('lost')}, writes refused: {self.count('refused')}.")
