"""The decision chart as a walk: answer, get a recommendation, then run the work on it and on the alternative.

``walk()`` asks, in the page (walk.js); ``try_out`` is the same in code. Without widgets the whole chart stands there, as a
drawing, as questions that open, and as a table of all its ways.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import traitlets

from ..choice import BEFORE, FIRST, STEPS, Advice, blind_spots, executors, paths, recommend
from ..compared import Comparison
from ..dag import Dag
from ..errors import DagkitError, choices, nearest, shown
from ..scenario import Config, Scenario
from ..task import Task
from ..views.lanes import lanes
from ..views.picture import Picture, el
from ..widget import Widget, module
from .chart import Chart, Point
from .maps import Edge, Node
from .page import HERE, Page, Table, esc, fold, static

SLOTS = 16
WORK: Mapping[str, tuple[int, int]] = {"many short": (300, 0), "few heavy": (0, 24), "short and heavy": (240, 12)}
"""(tasks of 5 s, tasks of 5 min) to try a recommendation on."""
BOTH = "Celery + Kubernetes"


def work(name: str, short: str | None = None, heavy: str | None = None) -> Scenario:
    """One of the workloads; short, heavy: which executor those tasks name.

    Raises DagkitError for an unknown name.
    """
    if name not in WORK:
        raise DagkitError(f"workload '{shown(name)}' is unknown.{nearest(name, WORK)} Known: {choices(WORK)}.")
    quick, long = WORK[name]
    tasks = [Task(f"heavy_{k}", duration=300, executor=heavy) for k in range(long)]
    tasks += [Task(f"short_{k}", duration=5, executor=short) for k in range(quick)]
    return Scenario(Dag("work", tasks, max_active_tasks=len(tasks)), config=Config(parallelism=2 * SLOTS),
                    executor=dict(executors(SLOTS)) if short or heavy else None)


@cache
def _played(name: str, kind: str) -> Comparison:
    if kind != BOTH:
        return Comparison(work(name), {kind: executors(SLOTS)[kind]})
    both = {kind: executors(SLOTS)[kind] for kind in ("Celery", "Kubernetes")}
    return Comparison(work(name, "Celery", "Kubernetes"), {BOTH: both})


def try_out(advice: Advice, workload: str = "short and heavy") -> Picture:
    """A workload on what was recommended and on the alternative, as lanes on one time axis.

    workload: "many short", "few heavy" or "short and heavy". Raises DagkitError for another.
    """
    kinds = [advice.executor, advice.alternative, *([BOTH] if advice.several else [])]
    return lanes(Comparison.of(_played(workload, kind) for kind in kinds))


# ---- the chart ---------------------------------------------------------------------------------------------------------

_SHORT = {"one_machine": ("2 one machine?", "is it enough"), "still_enough": ("2 still enough?", "nothing piles up"),
          "isolation": ("3 isolation?", "image, resources"), "short": ("4 many short?", "does latency matter"),
          "remote": ("5 remote?", "other sites"), "mixed": ("6 mixed?", "another trade-off")}
_ENDS = {"Local": "one machine", "Kubernetes": "a pod per task", "Celery": "standing workers", "Edge": "workers that ask",
         "several at once": "executor= per task", "done": "one executor"}
_PLACES: Mapping[str, tuple[float, float]] = {
    "one_machine": (0, 0), "still_enough": (1, 0), "Local": (2, 0), "isolation": (0, 1), "Kubernetes": (1, 1),
    "short": (0, 2), "Celery": (1, 2), "remote": (0, 3), "Edge": (0, 4), "mixed": (2, 1.5), "several at once": (3, 1),
    "done": (3, 2)}


class Decisions(Chart):
    """A chart whose arrows say yes or no where they begin."""

    def _arrow(self, edge: Edge, id_: str, ids: Mapping[str, str]) -> str:
        leaves, _, _ = self.sides.get((edge.start, edge.end)) or self._usual(edge)
        x, y = self._port(edge.start, leaves)
        at: Point = {"right": (x + 6, y - 5), "bottom": (x + 6, y + 15), "top": (x + 6, y - 6)}[leaves]
        said = el("text", esc(edge.by), cls="dk-small", x=at[0], y=at[1]) if edge.by in ("yes", "no") else ""
        return super()._arrow(edge, id_, ids) + said


def chart() -> Decisions:
    """The decision chart as a drawing; made from the same data as the walk."""
    name_of = {name: _SHORT[name][0] for name in STEPS}
    nodes = [Node(name_of[name], _SHORT[name][1], f"{step.asks} {step.why}") for name, step in STEPS.items()]
    nodes += [Node(name, does, _why(name)) for name, does in _ENDS.items()]
    edges = []
    for name, step in STEPS.items():
        for by, goto in (("yes", step.yes), ("no", step.no)):
            end = "several at once" if goto.several else goto.executor if goto.executor and name != "one_machine" else None
            end = end or (name_of[goto.then] if goto.then else "Local" if name == "still_enough" else "done")
            edges.append(Edge(name_of[name], end, by, f"{step.asks} {by.capitalize()}.", "Then another question decides."))
    edges += [Edge(end, name_of["mixed"], "then", "One more question.", "You would run two where one "
                   "would do, or one where two are needed.") for end in ("Kubernetes", "Celery")]
    places = {**{name_of[n]: _PLACES[n] for n in STEPS}, **{n: _PLACES[n] for n in _ENDS}}
    mixed = name_of["mixed"]
    sides = {(name_of["still_enough"], name_of["isolation"]): ("bottom", "top", 34.0),
             (name_of["remote"], "Celery"): ("right", "bottom", 60.0), (mixed, "several at once"): ("top", "left", 40.0),
             (mixed, "done"): ("bottom", "left", 40.0)}
    return Decisions("which executor", nodes, edges, places=places, sides=sides, shades={})


def _why(end: str) -> str:
    if end in executors():
        executor = executors()[end]
        return f"{executor.isolation}. It needs {executor.needs}."
    return "Each task or Dag names one." if end == "several at once" else "Nothing more to decide."


def chart_page() -> Page:
    """The chart, to be clicked or read as text."""
    drawn = chart()
    return Page(drawn.html({}), drawn.text({}))


def ways() -> list[dict[str, str]]:
    """Every way through the chart as a row: what was answered, and where it ends."""
    return [{"answers": ", ".join(f"{name}: {'yes' if answer else 'no'}" for name, answer in way),
             "recommended": str(recommend(dict(way)))} for way in paths()]


def flaw() -> Table:
    """Whose work is remote and who is not sent to Edge: a row for each first answer that kept the question away."""
    found: dict[tuple[str, str], int] = {}
    for answers in blind_spots():
        advice = recommend(answers)
        stop = next(name for name, answer in advice.path if answer)
        found[stop, advice.executor] = found.get((stop, advice.executor), 0) + 1
    return Table([{"the first yes": STEPS[stop].asks, "recommended": f"{executor}Executor",
                   "sets of answers with remote work": count} for (stop, executor), count in found.items()])


def _tree(name: str, before: Sequence[tuple[str, bool]] = ()) -> str:
    """The questions as lines that open: it works without a script, with the keyboard alone."""
    step, inside = STEPS[name], ""
    for answer, goto in ((True, step.yes), (False, step.no)):
        way = (*before, (name, answer))
        rest = _tree(goto.then, way) if goto.then else f"<p><b>→ {esc(str(recommend(dict(way))))}</b></p>"
        inside += fold("yes" if answer else "no", rest)
    why = f'<span class="dl-note">{esc(step.why)}</span>'
    return f'<p class="dl-ask"><b>{step.number}</b> {esc(step.asks)} {why}</p>{inside}'


# ---- the walk -----------------------------------------------------------------------------------------------------------


class Walk(Widget):
    """The questions one after the other. answers: those given on the way, by step name. workload: what to try the
    recommendation on. advice: where the answers lead (None: not at an end yet)."""

    _esm = module(HERE / "walk.js")
    _css = HERE / "lesson.css"
    steps: traitlets.List[Any] = traitlets.List([]).tag(sync=True)
    works: traitlets.List[Any] = traitlets.List([]).tag(sync=True)
    before = traitlets.Unicode("").tag(sync=True)
    answers = traitlets.Dict({}).tag(sync=True)
    workload = traitlets.Unicode("short and heavy").tag(sync=True)
    result = traitlets.Unicode("").tag(sync=True)

    def __init__(self) -> None:
        steps = [{"name": name, "number": step.number, "asks": step.asks, "why": step.why, "yes": step.yes.then or "",
                  "no": step.no.then or ""} for name, step in STEPS.items()]
        super().__init__(steps=steps, works=list(WORK), before=BEFORE)
        self.advice: Advice | None = None
        self.observe(self.go, ["answers", "workload"])
        self.go()

    def go(self, _: Any = None) -> None:
        """Follow the answers given so far."""
        self.advice = recommend(self.answers) if self._at_an_end() else None
        self.result = self.told()

    def _at_an_end(self) -> bool:
        name: str | None = FIRST
        while name is not None:
            if name not in self.answers:
                return False
            name = (STEPS[name].yes if self.answers[name] else STEPS[name].no).then
        return True

    def told(self) -> str:
        """The recommendation, and the work played on it and on the alternative, as HTML."""
        if self.advice is None:
            return '<p class="dl-note">Answer the question that is open.</p>'
        picture = try_out(self.advice, self.workload)
        return (f'<p class="dl-verdict dl-good"><b>Recommended: {esc(str(self.advice))}.</b> Below, “{esc(self.workload)}” '
                f"on it and on {esc(self.advice.alternative)}, {SLOTS} slots each.</p>{picture.html()}")

    def __repr__(self) -> str:
        return "\n".join(f"{row['answers']} -> {row['recommended']}" for row in ways())

    def twin(self) -> str:
        return static(f"<p>{esc(BEFORE)}</p><section>{_tree(FIRST)}</section>"
                      f'{fold("All ways as a table", Table(ways())._repr_html_())}')


def walk() -> Walk:
    """The decision chart as a walk."""
    return Walk()
