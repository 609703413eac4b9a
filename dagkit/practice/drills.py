"""``dk.drill(kind, seed, level)``: a small problem made from a seed, with its answer computed and shown at work.

Same kind, seed and level: same problem, byte for byte, on every system. Nothing here holds an answer: each kind
makes a situation, lets the planner or the simulator run it, and compares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..checks import levels, seeds
from ..checks import plain as plain_number
from ..dag import Dag
from ..errors import DagkitError, choices, nearest, quoted, shown
from ..lesson.checks import Verdict
from ..lesson.page import Table, content, esc, fold, plain, rich, static
from ..views.picture import framed

LEVELS = (1, 2, 3)


@dataclass(frozen=True)
class Judged(Verdict):
    """A verdict that also names the misconception behind a wrong answer, and a scene that refutes it, if known."""

    misconception: str = ""
    scene: str = ""

    __repr__ = Verdict.__repr__


@dataclass(frozen=True)
class Worked:
    """An answer at work: the answer in one line, the steps to it, and a picture of the trace; ``words``: it in words."""

    answer: str
    steps: Sequence[str] = ()
    picture: Any = None
    words: str = ""

    def __repr__(self) -> str:
        answer = [f"Answer: {plain(self.answer)}"] if self.answer else []
        return "\n".join([*answer, *(f"- {plain(step)}" for step in self.steps), *filter(None, [self.words])])

    def html(self) -> str:
        steps = "".join(f"<li>{rich(step)}</li>" for step in self.steps)
        picture = content(self.picture) if self.picture is not None else ""
        answer = f"<p><b>Answer:</b> {rich(self.answer)}</p>" if self.answer else ""
        return f"{answer}{f'<ol>{steps}</ol>' if steps else ''}{picture}"

    def _repr_html_(self) -> str:
        return static(self.html())


@dataclass(frozen=True)
class Posed:
    """One problem: what is given, what is asked, how to write the answer, who judges it, and the worked answer.

    situation: sentences. rows: a table. dag: drawn beside it. offered: answers to choose from, if any.
    right: the answer as one would write it.
    """

    situation: Sequence[str]
    rows: Sequence[dict[str, Any]]
    question: str
    write: str
    judge: Callable[[Any], Verdict]
    worked: Callable[[], Worked]
    right: str
    dag: Dag | None = None
    offered: Sequence[str] = ()


@dataclass(frozen=True)
class Kind:
    """One kind of drill. lesson: where it is taught. make: (seed, level) -> Posed."""

    name: str
    title: str
    lesson: int
    make: Callable[[int, int], Posed]


KINDS: dict[str, Kind] = {}


def kind(name: str, title: str, lesson: int) -> Callable[[Callable[[int, int], Posed]], Callable[[int, int], Posed]]:
    """Make a function the maker of a kind of drill."""
    def keep(make: Callable[[int, int], Posed]) -> Callable[[int, int], Posed]:
        KINDS[name] = Kind(name, title, lesson, make)
        return make
    return keep


@dataclass(frozen=True)
class Drill:
    """One problem. Show it, then ``.answer(...)`` for a verdict or ``.reveal()`` for the worked answer."""

    kind: str
    seed: int
    level: int
    posed: Posed = field(repr=False, compare=False)

    @property
    def title(self) -> str:
        return KINDS[self.kind].title

    @property
    def lesson(self) -> int:
        """The lesson that teaches it."""
        return KINDS[self.kind].lesson

    def answer(self, given: Any) -> Verdict:
        """The verdict on an answer, in any usual notation; a wrong one is told what makes it wrong here.

        >>> drill("makespan", seed=7).answer("no idea").ok is None
        True
        """
        if given is None or given is ... or (isinstance(given, str) and not given.strip()):
            return Judged(None, f"Nothing to judge yet. {self.posed.write}")
        try:
            return self.posed.judge(given)
        except DagkitError as error:
            return Judged(None, f"This answer cannot be read: {error}", self.posed.write)
        except Exception as error:  # a learner's answer may be anything at all
            return Judged(None, f"This answer cannot be read: {shown(error, 200)}", self.posed.write)

    def reveal(self) -> Worked:
        """The answer and the way to it, from the trace."""
        return self.posed.worked()

    @cached_property
    def picture(self) -> str:
        """The Dag as SVG; "" for problems without one."""
        if self.posed.dag is None:
            return ""
        from ..views import draw
        drawing: Any = draw(self.posed.dag, critical=False)
        return str(drawing.svg)

    def __repr__(self) -> str:
        table = _aligned(self.posed.rows)
        offered = [f"  - {choice}" for choice in self.posed.offered]
        return plain("\n".join([f"{self.title} (seed {self.seed}, level {self.level})", *self.posed.situation, *table,
                                f"Question: {self.posed.question}", *offered, self.posed.write]))

    def question_html(self) -> str:
        """The problem without its answer."""
        given = "".join(f"<p>{rich(line)}</p>" for line in self.posed.situation)
        table = Table(list(self.posed.rows))._repr_html_() if self.posed.rows else ""
        picture = framed(self.picture) if self.picture else ""
        offered = f"<p>{' · '.join(map(rich, self.posed.offered))}</p>" if self.posed.offered else ""
        return (f'<p class="dl-note">{esc(self.title)} · seed {self.seed} · level {self.level}</p>{given}{picture}{table}'
                f'<p class="dl-ask"><b>{rich(self.posed.question)}</b></p>{offered}'
                f'<p class="dl-note">{rich(self.posed.write)}</p>')

    def _repr_html_(self) -> str:
        return static(f'<section class="dl-q">{self.question_html()}'
                      f"{fold('Show the worked answer', self.reveal().html())}</section>")


def _aligned(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Rows as lines of text, columns below each other."""
    cells = [[shown(name), *(shown(row[name]) for row in rows)] for name in (rows[0] if rows else ())]
    padded = [[cell.ljust(max(map(len, column))) for cell in column] for column in cells]
    return ["  ".join(line).rstrip() for line in zip(*padded, strict=True)]


def drill(kind: str, seed: int = 0, level: int = 1) -> Drill:
    """A problem of a kind: the same seed and level always give the same one.

    kind: next_wave, critical_path, slack, makespan, saturation, state, limit, final_states, executor, symptom.
    seed: any whole number >= 0. level: 1 to 3. Raises DagkitError for anything else.

    >>> one = drill("critical path", seed=3)
    >>> one.answer(one.posed.right).ok, repr(one) == repr(drill("critical_path", seed=3))
    (True, True)
    """
    from . import choosing_kinds, planning_kinds, running_kinds  # noqa: F401  (they fill KINDS)
    name = kind.strip().lower().replace("-", "_").replace(" ", "_") if isinstance(kind, str) else kind
    if not isinstance(name, str) or name not in KINDS:
        raise DagkitError(f"drill: there is no kind {quoted(kind)}.{nearest(name, KINDS)} Known: {choices(kinds(), 20)}.")
    seed, level = seeds("drill", seed), levels("drill", level)
    return Drill(name, seed, level, KINDS[name].make(seed, level))


def kinds() -> list[str]:
    """All kinds of drills, in the order of the lessons that teach them.

    >>> kinds()[0]
    'next_wave'
    """
    from . import choosing_kinds, planning_kinds, running_kinds  # noqa: F401
    return sorted(KINDS, key=lambda name: KINDS[name].lesson)


def sheet(seed: int, count: int = 10, level: int = 1) -> list[Drill]:
    """One number gives a whole room the same drills: the kinds in turn, all from one seed.

    >>> [one.kind for one in sheet(5, 3)]
    ['next_wave', 'critical_path', 'slack']
    """
    seed, count = seeds("sheet", seed), plain_number(count)
    if type(count) is not int or not 1 <= count <= 100:
        raise DagkitError(f"sheet: count must be a whole number from 1 to 100, not {quoted(count)}. Ten fill half an hour.")
    order = kinds()
    return [drill(order[n % len(order)], seed + n // len(order), level) for n in range(count)]
