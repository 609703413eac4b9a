"""Lesson 6 in a real JupyterLab: the decision chart is walked, by mouse and by keyboard, and the work is played on it."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NAME = "06_executors"


@pytest.fixture(scope="module")
def page(lesson: Any) -> Any:  # noqa: F811
    return lesson(NAME)


def question(page: Any, step: str) -> Any:
    """One question of the walk."""
    return page.locator(f".dl-walk [data-step={step}]")


def test_the_lesson_runs_and_its_chart_can_be_chosen(page: Any) -> None:
    assert page.locator(".jp-RenderedText[data-mime-type*=error], .jp-RenderedText[data-mime-type*=stderr]").count() == 0
    assert page.problems == []
    chart = page.locator(".dl-live .dl-map").nth(1)
    chart.locator(".dk-node", has_text="3 isolation?").click()
    assert "own image" in chart.locator(".dl-told").inner_text()
    chart.locator(".dk-node", has_text="3 isolation?").press("ArrowRight")
    assert "short tasks" in chart.locator(".dl-told").inner_text()


def test_walking_the_chart_leads_to_a_recommendation_and_plays_it(page: Any) -> None:
    assert question(page, "one_machine").is_visible() and question(page, "isolation").is_hidden()
    for step, answer in (("one_machine", "no"), ("isolation", "no"), ("short", "yes"), ("mixed", "no")):
        question(page, step).get_by_label(answer).check()
    walk = page.locator(".dl-walk")
    walk.get_by_text("Recommended: CeleryExecutor.").wait_for(timeout=30_000)
    drawn = " ".join(walk.locator("svg text").all_text_contents())
    assert "Celery" in drawn and "Kubernetes" in drawn
    # Another answer, with the keyboard alone: the way after it is asked anew, and no key reaches the notebook.
    cells = page.locator(".jp-Cell").count()
    question(page, "isolation").get_by_label("no").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("a")
    walk.get_by_text("Recommended: KubernetesExecutor.").or_(question(page, "mixed")).first.wait_for()
    assert question(page, "short").is_hidden() and page.locator(".jp-Cell").count() == cells
    question(page, "mixed").get_by_label("yes").check()
    walk.get_by_text("Recommended: KubernetesExecutor, and Celery").wait_for(timeout=30_000)
