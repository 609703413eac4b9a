"""Lesson 7 in a real JupyterLab: the map is chosen from, the journey is stepped through, a component is broken."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def page(lesson: Any) -> Any:  # noqa: F811
    return lesson("07_architecture")


def test_the_map_and_the_journey_answer_mouse_and_keyboard(page: Any) -> None:
    assert page.locator(".jp-RenderedText[data-mime-type*=error], .jp-RenderedText[data-mime-type*=stderr]").count() == 0
    assert page.problems == []
    chart = page.locator(".dl-live .dl-map").first
    chart.locator(".dk-node", has_text="triggerer").click()
    assert "Deferred tasks never wake" in chart.locator(".dl-told").inner_text()
    assert chart.locator(".dl-chosen .dk-box").evaluate("e => getComputedStyle(e).strokeWidth") == "3.5px"
    chart.locator(".dk-node", has_text="triggerer").press("ArrowRight")
    assert "Everything is slow" in chart.locator(".dl-told").inner_text() or "everything is slow" in chart.locator(
        ".dl-told").inner_text()
    walk = page.locator(".dl-journey")
    walk.get_by_role("button", name="Next step").click()
    told = walk.locator("[role=status]")
    page.wait_for_function("e => e.textContent.includes('serializes')", arg=told.element_handle())
    assert walk.locator(".dk-node.dl-chosen title").text_content() == "Dag processor"
    assert walk.locator(".dl-chosen .dk-box").evaluate("e => getComputedStyle(e).strokeWidth") == "4px"
    walk.focus()
    page.keyboard.press("End")
    page.wait_for_function("e => e.textContent.includes('success')", arg=told.element_handle())
    assert walk.get_by_role("button", name="Next step").is_disabled()


def test_breaking_a_component_shows_what_follows(page: Any) -> None:
    panel = page.locator(".widget-vbox", has=page.locator("select", has_text="broker: broker down")).first
    panel.locator("select").first.select_option(label="broker: broker down")
    verdict = panel.locator(".dl-verdict", has_text="The broker delivers nothing")
    verdict.wait_for(timeout=20_000)
    assert "its message is with the broker" in panel.inner_text()
    assert "Messages that wait in the broker" in panel.inner_text()
    game = page.locator(".widget-vbox", has=page.get_by_role("button", name="Another case")).first
    game.get_by_label("a limit", exact=True).check()
    game.get_by_role("button", name="Answer", exact=True).click()
    game.locator(".dl-verdict.dl-good", has_text="was paused").wait_for(timeout=20_000)
