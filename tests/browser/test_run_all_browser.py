"""Run All in a real JupyterLab, then one click: the classroom's demos, lesson 10 with its panel, lesson 13."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dagkit import classroom
from tests.browser.lab import cell_with

nbformat = pytest.importorskip("nbformat", reason="jupyterlab is not installed")   # comes with it

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
BOOKS = sorted((ROOT / "notebooks" / "classroom").glob("*.ipynb"))
SHOWS = {"two_schedulers": ".dc-steps", "hints": ".dl-walk"}
"""What a situation of a demo is shown with, if not with the player."""


def opened(lesson: Any, name: str) -> Any:
    """The page of a notebook that has run without an error, in its outputs or in the browser."""
    page = lesson(name)
    assert page.locator(".jp-RenderedText[data-mime-type*=error], .jp-RenderedText[data-mime-type*=stderr]").count() == 0
    assert page.problems == []
    return page


@pytest.fixture(scope="module")
def demos(lesson: Any, lab: Any) -> Any:
    """The code of all six classroom notebooks in one, run from top to bottom: one kernel instead of six."""
    cells = [cell for book in BOOKS for cell in nbformat.read(book, as_version=4).cells if cell.cell_type == "code"]
    for number, cell in enumerate(cells):
        cell.id = f"c{number}"
    written = nbformat.v4.new_notebook(cells=cells)
    written.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(written, lab.folder / "classroom" / "all_six.ipynb")
    return opened(lesson, "classroom/all_six")


@pytest.mark.parametrize("name", classroom.demos())
def test_a_demo_goes_to_its_situations_and_shows_the_answer(demos: Any, name: str) -> None:
    room = cell_with(demos, f'classroom.demo("{name}")').locator(".ds-room")
    assert room.get_attribute("data-now") == "0" and room.locator(".ds-reply:visible").count() == 0
    room.locator(".ds-choice").first.click()
    assert room.locator(".ds-hands").first.inner_text() == "1 hand"
    room.locator(".ds-tab").nth(1).click()
    assert room.get_attribute("data-now") == "1" and room.locator(SHOWS.get(name, ".dk-player")).is_visible()
    cells = demos.locator(".jp-Cell").count()
    demos.keyboard.press("s")                                 # the room's own key: the notebook hears nothing of it
    assert room.locator(".ds-right").is_visible() and demos.locator(".jp-Cell").count() == cells
    assert demos.problems == []


def test_a_hand_out_is_written_by_its_button_and_by_nothing_else(demos: Any, lab: Any) -> None:
    assert [*(lab.folder / "classroom").glob("*.html")] == []
    demos.get_by_role("button", name="Write stall.html").click()
    demos.get_by_text("Written: stall.html").wait_for(timeout=20_000)
    written, = (lab.folder / "classroom").glob("*.html")
    assert "ds-room" in written.read_text(encoding="utf-8")
    written.unlink()


def test_lesson_10_plays_what_its_panel_is_set_to(lesson: Any) -> None:
    page = opened(lesson, "10_capacity_and_recovery")
    cell = cell_with(page, "scaling_panel()")
    drawn = cell.locator("svg").first
    before = drawn.text_content()
    policy = cell.locator("select").nth(1)
    policy.select_option("cpu")
    page.wait_for_function("([e, old]) => e.querySelector('svg').textContent !== old", arg=[cell.element_handle(), before],
                           timeout=20_000)
    assert page.problems == []


def test_lesson_13_runs_and_judges_a_prediction(lesson: Any) -> None:
    page = opened(lesson, "13_design_scenario")
    asked = page.locator(".dl-live .dl-q[data-name=naive_source]")
    asked.locator("input[type=radio]").first.check()
    asked.get_by_role("button", name="Commit").click()
    assert asked.locator(".dl-right").count() == 1
    assert page.problems == []
