"""Lesson 6 in a real JupyterLab: the decision chart is walked, by mouse and by keyboard, and the work is played on it."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")
from tests.browser.test_notebooks_browser import lab, lesson  # noqa: E402, F401  (fixtures)

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NAME = "06_executors"


@pytest.fixture(scope="module")
def page(lesson: Any) -> Any:  # noqa: F811
    return lesson(NAME)


def question(page: Any, words: str) -> Any:
    """The radio buttons of one question of the walk."""
    return page.locator(".widget-radio").filter(has_text=words)


def test_the_lesson_runs_and_its_chart_can_be_chosen(page: Any) -> None:
    assert page.locator(".jp-RenderedText[data-mime-type*=error], .jp-RenderedText[data-mime-type*=stderr]").count() == 0
    assert page.problems == []
    chart = page.locator(".dl-live .dl-map").nth(1)
    chart.locator(".dk-node", has_text="3 isolation?").click()
    assert "own image" in chart.locator(".dl-told").inner_text()
    chart.locator(".dk-node", has_text="3 isolation?").press("ArrowRight")
    assert "short tasks" in chart.locator(".dl-told").inner_text()


def test_walking_the_chart_leads_to_a_recommendation_and_plays_it(page: Any) -> None:
    assert question(page, "Do some Dags").count() == 0 or question(page, "Do some Dags").is_hidden()
    question(page, "one machine enough").get_by_label("no").check()
    question(page, "own image").get_by_label("no").check()
    question(page, "many short tasks").get_by_label("yes").check()
    question(page, "Do some Dags").get_by_label("no").check()
    told = page.locator(".dl-verdict").filter(has_text="Recommended: CeleryExecutor.")
    told.wait_for(timeout=20_000)
    lanes = page.locator(".dl-lesson", has=told).locator("svg.dk-svg")
    assert {"Celery", "Kubernetes"} <= set(lanes.locator("text").all_text_contents())
    # Another answer, with the keyboard alone: the way after it is asked anew.
    question(page, "own image").get_by_label("no").focus()
    page.keyboard.press("ArrowUp")
    page.locator(".dl-verdict").filter(has_text="Recommended: KubernetesExecutor.").wait_for(timeout=20_000)
    assert question(page, "many short tasks").is_hidden()
