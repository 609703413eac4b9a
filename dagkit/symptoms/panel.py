"""Both games with controls. Without widgets a case is shown with its answer folded away, and how to play in code."""

from __future__ import annotations

from typing import Any

from ..checks import levels, seeds
from ..errors import DagkitError
from ..lesson.page import esc, fold, static
from ..widget import Panel
from .game import CHOICES, Symptom, symptom
from .incident import BUDGET, Incident, incident
from .readings import Reading


def _widgets() -> Any:
    import ipywidgets
    return ipywidgets


class Game(Panel):
    """The symptom game: one case after the other; which component, and what to check first."""

    def __init__(self, seed: int = 1, level: int = 1):
        w = _widgets()
        self.seed, level = seeds("Game", seed), levels("Game", level)
        self.level = w.Dropdown(options=list(CHOICES), value=level, description="level", layout=w.Layout(width="150px"))
        self.another = w.Button(description="Another case")
        self.shown, self.told, self.asked = w.HTML(), w.HTML(), w.HTML()
        self.component = w.RadioButtons(options=[], layout=w.Layout(width="max-content"))
        self.check = w.RadioButtons(options=[], layout=w.Layout(width="max-content"))
        self.answer = w.Button(description="Answer", button_style="primary")
        self.box = w.VBox([w.HBox([self.level, self.another]), self.shown,
                           w.HTML("<b>Which component do you suspect?</b>"), self.component,
                           w.HTML("<b>What do you check first?</b>"), self.check, self.answer, self.told])
        self.another.on_click(self._next)
        self.level.observe(lambda _: self.show(), "value")
        self.answer.on_click(self._answered)
        self.show()

    @property
    def case(self) -> Symptom:
        return symptom(self.seed, self.level.value)

    def show(self) -> None:
        """Show the case of the seed and level."""
        self.shown.value, self.told.value = self.case._repr_html_(), ""
        self.component.options, self.component.value = list(self.case.choices), None
        self.check.options, self.check.value = list(self.case.checks), None

    def _next(self, _: Any) -> None:
        self.seed += 1
        self.show()

    def _answered(self, _: Any) -> None:
        given = [value for value in (self.component.value, self.check.value) if value is not None]
        said = [self.case.reply(value)._repr_html_() for value in given]
        self.told.value = "".join(said) or static("<p>Choose a component first.</p>")

    def __repr__(self) -> str:
        return repr(self.case)

    def twin(self) -> str:
        case = self.case
        asked = (f"<p><b>Which component?</b> {esc(', '.join(case.choices))}</p>"
                 f"<p><b>What first?</b></p><ul>{''.join(f'<li>{esc(c)}</li>' for c in case.checks)}</ul>"
                 + fold("The answer", f"<p><b>{esc(case.answer)}.</b> {esc(case.solution)}</p>")
                 + "<p>Another case: <code>symptoms.symptom(seed=2, level=1)</code>, then "
                   "<code>.reply('broker')</code>.</p>")
        return static(case._repr_html_() + asked)


class Drill(Panel):
    """The incident drill: look at dashboards, each look costs, then name what is broken."""

    def __init__(self, seed: int = 1, level: int = 1):
        w = _widgets()
        self.seed, level = seeds("Drill", seed), levels("Drill", level)
        self.level = w.Dropdown(options=list(BUDGET), value=level, description="level", layout=w.Layout(width="150px"))
        self.another = w.Button(description="Another incident")
        self.shown, self.told, self.score = w.HTML(), w.HTML(), w.HTML()
        names = list(incident(seed, level).components)
        self.look = w.Dropdown(options=names, description="check", layout=w.Layout(width="280px"))
        self.check = w.Button(description="Check (costs)")
        self.suspects = w.SelectMultiple(options=names, description="broken", rows=len(names),
                                         layout=w.Layout(width="280px"))
        self.answer = w.Button(description="Answer", button_style="primary")
        self.box = w.VBox([w.HBox([self.level, self.another]), self.shown, w.HBox([self.look, self.check]),
                           w.HBox([self.suspects, self.answer]), self.score, self.told])
        self.another.on_click(self._next)
        self.level.observe(lambda _: self.show(), "value")
        self.check.on_click(self._checked)
        self.answer.on_click(self._answered)
        self.show()

    def show(self) -> None:
        """Show the incident of the seed and level, unopened."""
        self.drill: Incident = incident(self.seed, self.level.value)
        self.shown.value, self.told.value, self.suspects.value = self.drill._repr_html_(), "", ()
        self._count()

    def _count(self) -> None:
        self.score.value = f"<b>Checks left: {self.drill.left}. Score: {self.drill.score}.</b>"

    def _next(self, _: Any) -> None:
        self.seed += 1
        self.show()

    def _checked(self, _: Any) -> None:
        try:
            self.told.value += static(f"<p><b>{esc(self.look.value)}</b></p>{_lines(self.drill.check(self.look.value))}")
        except DagkitError as refused:
            self.told.value += static(f"<p>{esc(refused)}</p>")
        self._count()

    def _answered(self, _: Any) -> None:
        if self.suspects.value:
            self.told.value += self.drill.answer(*self.suspects.value)._repr_html_()
        self._count()

    def __repr__(self) -> str:
        return repr(self.drill)

    def twin(self) -> str:
        looks = incident(self.seed, self.level.value)
        looks.budget = len(looks.components)
        folds = "".join(fold(f"Check: {esc(name)}", _lines(looks.check(name))) for name in looks.components)
        end = fold("The answer", f"<p>{esc(looks.answer(*looks.solution).text.split(' Score')[0])}</p>")
        how = "<p>In code: <code>drill = symptoms.incident(1)</code>, <code>drill.check('broker')</code>, " \
              "<code>drill.answer('broker')</code>.</p>"
        return static(self.drill._repr_html_() + folds + end + how)


def _lines(readings: list[Reading]) -> str:
    return "<ul>" + "".join(f"<li>{esc(r.name)} = {esc(r.value)}</li>" for r in readings) + "</ul>"
