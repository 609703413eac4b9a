"""Lesson 9 in a real JupyterLab: a slider moves a curve, and a story is walked and broken."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.lab import cell_with

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NINE = "09_polling_vs_hints"


def test_it_runs_from_top_to_bottom(lesson: Any) -> None:  # noqa: F811
    page = lesson(NINE)
    for kind in ("error", "stderr"):
        assert page.locator(f".jp-RenderedText[data-mime-type*={kind}]").count() == 0
    assert page.problems == []


def test_moving_a_slider_moves_the_curve_and_its_verdict(lesson: Any) -> None:  # noqa: F811
    page = lesson(NINE)
    cell = cell_with(page, "latency_panel()")
    curves, sliders = cell.locator("path.dk-line"), cell.locator(".noUi-handle")
    before = [curves.nth(k).get_attribute("d") for k in range(3)]
    assert curves.count() == 3 and "contradicted" in cell.inner_text()
    names = cell.locator(".widget-label").all_inner_texts()
    sliders.nth(names.index("updates_per_second")).focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("([e, old]) => e.querySelectorAll('path.dk-line.dk-faint').length === 3",
                           arg=[cell.element_handle(), before], timeout=20_000)
    cell.get_by_text("contradicted").first.wait_for(state="detached", timeout=20_000)
    solid = cell.locator("path.dk-line:not(.dk-faint)")
    assert solid.nth(0).get_attribute("d") == before[0]                # the standard path does not depend on it
    assert solid.nth(2).get_attribute("d") != before[2]                # the hinted one does
    cell.get_by_role("button", name="As assumed").click()
    cell.get_by_text("contradicted").first.wait_for(timeout=20_000)
    assert [cell.locator("path.dk-line").nth(k).get_attribute("d") for k in range(3)] == before


def test_a_story_is_walked_by_keyboard_and_broken_by_mouse(lesson: Any) -> None:  # noqa: F811
    page = lesson(NINE)
    walk = page.locator(".dl-walk").first
    cells = page.locator(".jp-Cell").count()
    walk.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("a")                                  # would insert a cell if it reached the notebook
    assert walk.get_attribute("data-step") == "3" and page.locator(".jp-Cell").count() == cells
    assert "own it: 1 row" in walk.locator(".dl-where").inner_text()
    assert walk.locator(".dk-step:not(.dk-later)").count() == 4 and walk.locator(".dl-verdict").is_hidden()
    walk.locator("select").select_option("worker cut off")
    walk.locator(".dk-step", has_text="start extract: refused").wait_for(state="attached", timeout=20_000)
    walk.focus()
    page.keyboard.press("End")
    assert "nothing ran twice" in walk.locator(".dl-verdict").inner_text()
    walk.get_by_label("guarded writes").uncheck()
    walk.locator(".dk-step", has_text="refused").first.wait_for(state="detached", timeout=20_000)
    walk.focus()
    page.keyboard.press("End")
    assert "RAN TWICE: extract, try 1" in walk.locator(".dl-verdict").inner_text()
