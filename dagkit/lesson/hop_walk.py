"""A walk through a story, step by step: choose what goes wrong, and what protects against it.

The page holds no rule: Python plays the story, the script shows it up to a step. Without widgets the whole story
stands there at once, with its table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import traitlets

from ..errors import DagkitError, choices, nearest, shown
from ..latency import CASES, play
from ..latency.story import Story
from ..views.picture import Picture
from ..widget import Widget, module
from .page import css, rich, static
from .sequence import sequence

HERE = Path(__file__).parent


class HopWalk(Widget):
    """A story to walk through. case: a name of CASES. fallback, guards: whether these protect. step: from 0."""

    _esm = module(HERE / "hop_walk.js")
    _css = css() + (HERE / "hop_walk.css").read_text(encoding="utf-8").strip()
    cases: traitlets.List[Any] = traitlets.List([]).tag(sync=True)
    case = traitlets.Unicode("nothing").tag(sync=True)
    fallback = traitlets.Bool(True).tag(sync=True)
    guards = traitlets.Bool(True).tag(sync=True)
    shown = traitlets.Dict({}).tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)

    def __init__(self, case: str = "nothing", *, fallback: bool = True, guards: bool = True):
        if not isinstance(case, str) or case not in CASES:
            raise DagkitError(f"hop_walk: fault '{shown(case)}' is unknown.{nearest(case, CASES)} "
                              f"Known: {choices(CASES, 12)}.")
        super().__init__(cases=list(CASES), case=case, fallback=fallback, guards=guards)
        self.story: Story
        self.observe(self.tell, ["case", "fallback", "guards"])
        self.tell()

    def tell(self, _: Any = None) -> None:
        """Play the story that is chosen."""
        case = CASES[self.case if self.case in CASES else "nothing"]
        self.story = play(case.faults, fallback=self.fallback, guards=self.guards)
        then = case.then if self.fallback and self.guards else \
            "One of its two protections is off: see what becomes of it."
        self.step = 0
        self.shown = {
            "svg": sequence(self.story, case.name), "verdict": self.story.verdict(),
            "bad": bool(self.story.missing or self.story.doubled), "happens": case.happens, "then": then,
            "steps": [[f"{s.at:,} ms", s.who, s.to, s.what, s.why, s.rows] for s in self.story.steps]}

    def table(self) -> list[dict[str, Any]]:
        """All steps as rows."""
        return [{"ms": s.at, "who": s.who, "to": s.to, "what": s.what, "why": s.why, "rows": s.rows}
                for s in self.story.steps]

    def __repr__(self) -> str:
        return f"{self.case}: {self.shown['happens']} {self.shown['then']}\n{self.story.verdict()}"

    def twin(self) -> str:
        """The whole story as it stands without widgets."""
        told = Picture(sequence(self.story, self.case), self.table())
        return static(f"<p><b>{rich(self.shown['happens'])}</b> {rich(self.shown['then'])}</p>"
                      f"<p>{rich(self.story.verdict())}</p>{told.html()}")


def hop_walk(case: str = "nothing", *, fallback: bool = True, guards: bool = True) -> HopWalk:
    """A walk through one Dag run, hop by hop.

    Raises DagkitError for an unknown fault.

    >>> hop_walk("hint comes twice").story.doubled
    []
    """
    return HopWalk(case, fallback=fallback, guards=guards)
