"""The lessons in a real JupyterLab: run from top to bottom, then used as a learner uses them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.lab import cell_with

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
LESSONS = ("00_start_here", "01_why_a_dag", "02_task_states", "03_mini_scheduler", "04_trigger_rules", "11_your_own_dag")


@pytest.mark.parametrize("name", LESSONS)
def test_it_runs_from_top_to_bottom(lesson: Any, name: str) -> None:
    page = lesson(name)
    for kind in ("error", "stderr"):
        assert page.locator(f".jp-RenderedText[data-mime-type*={kind}]").count() == 0
    assert page.problems == []


@pytest.mark.parametrize("name", LESSONS[1:])
def test_the_map_answers_mouse_and_keyboard(lesson: Any, name: str) -> None:
    page = lesson(name)
    drawn = page.locator(".dl-live .dl-map")
    told, nodes = drawn.locator(".dl-told"), drawn.locator(".dk-node")
    every = range(nodes.count())
    for number in every if name == LESSONS[1] else every[-1:]:    # it is one chart in all lessons
        nodes.nth(number).click()
        title = nodes.nth(number).locator("title").text_content()
        assert told.locator("b").first.inner_text() == title
    drawn.locator(".dl-hit").last.dispatch_event("click")
    assert "If it breaks" in told.inner_text()
    first = told.inner_text()
    cells = page.locator(".jp-Cell").count()
    page.keyboard.press("Escape")
    drawn.locator("[tabindex='0']").first.focus()
    page.keyboard.press("Home")
    assert told.inner_text() != first
    page.keyboard.press("a")                                  # would insert a cell if it reached the notebook
    assert page.locator(".jp-Cell").count() == cells


def test_a_wrong_answer_gets_its_reply_the_right_one_and_the_picture(lesson: Any) -> None:
    page = lesson("01_why_a_dag")
    asked = page.locator(".dl-live .dl-q[data-name=faster_process]")
    assert asked.locator(".dl-reveal").is_hidden()
    assert asked.locator(".dl-right, .dl-wrong").count() == 0
    commit = asked.get_by_role("button", name="Commit")
    assert commit.is_disabled()
    asked.get_by_label("5", exact=True).check()
    asked.get_by_label("certain").check()
    commit.click()
    assert asked.locator(".dl-wrong").count() == 1 and asked.locator(".dl-right").count() == 1
    assert "It is: " in asked.inner_text() and "Because:" in asked.locator(".dl-right").inner_text()
    assert "Yes." not in asked.inner_text()
    assert "You were certain" in asked.inner_text()
    assert asked.locator(".dl-reveal svg").is_visible()
    assert asked.get_by_label("5 (your answer)", exact=True).is_disabled()


def test_skipping_shows_the_answer_too(lesson: Any) -> None:
    asked = lesson("01_why_a_dag").locator(".dl-live .dl-q[data-name=floor]")
    asked.get_by_role("button", name="Skip").click()
    assert asked.locator(".dl-right").count() == 1 and asked.locator(".dl-reveal svg").is_visible()


def test_what_was_said_before_is_told_after(lesson: Any) -> None:
    page = lesson("03_mini_scheduler")
    asked = page.locator(".dl-live .dl-q[data-name=test-3-1]").first
    asked.get_by_label("always failed").check()
    asked.get_by_role("button", name="Keep my answer").click()
    assert asked.locator(".dl-right, .dl-wrong").count() == 0
    run(page, cell_with(page, "dk.lesson.after(3)"))
    after = page.locator(".dl-live .dl-q[data-name=test-3-1]").last
    after.get_by_label("it depends on how the leaves ended").check()
    after.get_by_role("button", name="Commit").click()
    assert "Before the lesson you said: always failed" in after.inner_text()


def run(page: Any, cell: Any) -> None:
    """Run one cell again and wait for its new number."""
    prompt = cell.locator(".jp-InputPrompt")
    before = prompt.inner_text()
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    page.wait_for_function("([e, old]) => /\\[\\d+\\]/.test(e.textContent) && e.textContent !== old",
                           arg=[prompt.element_handle(), before], timeout=30_000)
    page.wait_for_timeout(500)


def test_predict_then_play_orders(lesson: Any) -> None:
    page = lesson("03_mini_scheduler")
    player = page.locator(".dk-player").first
    player.scroll_into_view_if_needed()
    assert player.locator(".dk-play").is_disabled()
    player.get_by_label("success", exact=True).check()
    player.get_by_role("button", name="Commit to it").click()
    player.focus()
    page.keyboard.press("End")
    text = player.inner_text()
    assert player.get_attribute("data-tick") == "16"
    assert "It was:" in text and "upstream_failed" in text
    assert "Airflow looks only at the leaves" in text


def test_a_learners_edit_changes_the_trace(lesson: Any) -> None:
    page = lesson("03_mini_scheduler")
    cell = cell_with(page, "other = dk.simulate")
    assert "db = 2: ends at tick 14 (with one slot: 16)" in cell.inner_text()
    for slots, said in (("1", "db = 1: ends at tick 16"), ("0", "stalled: True")):
        cell.locator(".cm-line").first.click()
        page.keyboard.press("Home")
        page.keyboard.press("Shift+End")
        page.keyboard.type(f"DB_SLOTS = {slots}")
        run(page, cell)
        assert said in cell.inner_text()


def test_a_check_answers_a_learner(lesson: Any) -> None:
    page = lesson("01_why_a_dag")
    cell = cell_with(page, 'dk.check("saturation"')
    assert "Not answered yet" in cell.inner_text()
    for answer, said in (("8", "so do fewer"), ("7", "Right.")):
        cell.locator(".cm-line").first.click()
        page.keyboard.press("Home")
        page.keyboard.press("Shift+End")
        page.keyboard.type(f"answer = {answer}")
        run(page, cell)
        assert said in cell.inner_text()


def test_predict_then_play_every_state(lesson: Any) -> None:
    page = lesson("02_task_states")
    player = page.locator(".dk-player").first
    player.scroll_into_view_if_needed()
    player.get_by_label("none", exact=True).check()
    player.get_by_role("button", name="Commit to it").click()
    player.focus()
    page.keyboard.press("End")
    assert "It was:" in player.inner_text() and "its worker is being stopped" in player.inner_text()
    page.keyboard.press("Home")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert player.get_attribute("data-tick") == "5"
    player.locator(".dk-row", has_text="long").click()
    assert "cleared while running" in player.inner_text()


def test_every_rule_has_a_player_with_a_question(lesson: Any) -> None:
    from dagkit.trigger_rules import RULES

    page = lesson("04_trigger_rules")
    players = page.locator(".dk-player")
    assert players.count() == len(RULES)
    found = players.evaluate_all("""players => players.map(player => {
      const locked = player.querySelector('.dk-play').disabled;
      [...player.querySelectorAll('button')].find(button => button.textContent.trim() === 'Skip').click();
      player.dispatchEvent(new KeyboardEvent('keydown', {key: 'End', bubbles: true}));
      return [locked, player.dataset.tick, player.querySelector('.dk-scrub').max];
    })""")
    assert all(locked and tick == end and int(end) > 0 for locked, tick, end in found), found
