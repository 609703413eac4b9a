"""A prediction is worth making only while its answer is not on the page: what stands above it must not tell it."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from dagkit import museum, trigger_rules
from dagkit.lesson.lessons import incidents
from dagkit.lesson.truth import OWNER, overview, verdicts

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def sources(name: str) -> list[str]:
    (path,) = NOTEBOOKS.glob(name)
    return [cell.source for cell in nbformat.read(path, as_version=4).cells]


def place(cells: list[str], text: str) -> int:
    (found,) = [k for k, cell in enumerate(cells) if text in cell]
    return found


@pytest.mark.parametrize("rule", trigger_rules.RULES)
def test_the_card_of_a_rule_and_the_table_of_all_come_after_its_prediction(rule: str) -> None:
    cells = sources("04_*.ipynb")
    asked = place(cells, f'dk.predict("{rule}", trace)')
    assert asked < place(cells, f'truth.card("{rule}")') < place(cells, "truth.rows()") < place(cells, "truth.overview()")


@pytest.mark.parametrize(("lesson", "asks", "tells"), [
    ("02_*.ipynb", 'dk.predict("few_workers")', "stuck in queued, look at workers"),
    ("07_*.ipynb", 'dk.predict("slow_database")', "demo.months()"),
    ("10_*.ipynb", 'dk.predict("missing_fact")', "demo.table()"),
])
def test_in_a_lesson_the_question_comes_first(lesson: str, asks: str, tells: str) -> None:
    cells = sources(lesson)
    assert place(cells, asks) < place(cells, tells)


@pytest.mark.parametrize("case", incidents.EXHIBITS)
def test_a_museum_case_is_asked_before_anything_quotes_or_explains_it(case: str) -> None:
    cells = sources("incidents.ipynb")
    head = place(cells, f"### {case} ")
    assert cells[head + 1] == f'museum.ask("{case}")'
    assert "Asked in" in cells[head + 2] and "Asked in" not in cells[head]
    assert place(cells, f'museum.what_if("{case}")') > head + 2
    title = cells[head].splitlines()[0].removeprefix("### ")
    assert f"[{case}](#{title.replace(' ', '-').replace(',', '%2C')})" in cells[place(cells, "## Rooms")]


def test_the_list_of_cases_asks_and_does_not_tell() -> None:
    listed = re.sub(r"\s+", " ", repr(incidents.contents()))
    assert all(museum.case(case).title not in listed for case in ("A07", "A09", "A14", "A16"))
    assert "Which task turns red?" in listed


def test_the_overview_says_where_two_rows_are_alike_and_why() -> None:
    pairs = {rule: {mix: said for mix, said in verdicts(rule).items() if len(mix) == 2} for rule in trigger_rules.RULES}
    alike = [rule for rule in trigger_rules.RULES if rule != OWNER and pairs[rule] == pairs[OWNER]]
    assert alike == ["all_done"]
    for shown in (overview().html, overview().text):
        assert "all_done_setup_success looks like all_done" in re.sub("</?code>", "", shown) and "setup" in shown
