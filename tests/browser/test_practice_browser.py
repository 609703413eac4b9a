"""Lesson 12 in a real JupyterLab: a ladder by keys alone, a game played to its end, an interview to its report."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NAME = "12_interview_practice"


@pytest.fixture(scope="module")
def page(lesson: Any) -> Any:  # noqa: F811
    return lesson(NAME)


def test_a_ladder_by_keys_alone(page: Any) -> None:
    assert page.locator(".jp-RenderedText[data-mime-type*=error], .jp-RenderedText[data-mime-type*=stderr]").count() == 0
    assert page.problems == []
    cells = page.locator(".jp-Cell").count()
    ladder = page.locator(".dp-cards").first
    assert "settled in the same pass" not in ladder.inner_html()          # the answer is not in the page yet
    ladder.focus()
    page.keyboard.press("h")
    ladder.get_by_text("Hint 1").wait_for(timeout=20_000)
    page.keyboard.press("2")
    assert ladder.get_by_label("upstream_failed").is_checked()
    page.keyboard.press("Enter")
    ladder.locator(".dl-right", has_text="Right.").wait_for(timeout=20_000)
    assert "settled in the same pass" in ladder.inner_text()
    assert ladder.locator(".dp-dot").first.get_attribute("aria-label") == "Question 1: right"
    for key in ("n", "n", "n"):
        page.keyboard.press(key)
    ladder.get_by_placeholder("Say it aloud").fill("only leaves <b>count</b>")
    ladder.get_by_role("button", name="Done, compare").click()
    ladder.get_by_label("only leaves count").check(timeout=20_000)
    assert ladder.locator(".dp-mine").text_content() == "only leaves <b>count</b>"
    ladder.get_by_role("button", name="That is my grade").click()
    ladder.locator(".dl-wrong", has_text="1 of 4 points.").wait_for(timeout=20_000)
    assert "1 of 4 points." in ladder.locator("[aria-live]").text_content()      # and it is read aloud
    page.keyboard.press("p")
    page.keyboard.press("a")                                              # would insert a cell if it reached the notebook
    assert page.locator(".jp-Cell").count() == cells


def test_a_game_to_its_end(page: Any) -> None:
    board = page.locator(".dp-board").first
    board.get_by_role("button", name="Start again").click()
    board.locator(".dp-task").nth(1).click()                              # b waits for a
    board.locator(".dl-wrong", has_text="b cannot be queued at tick 1: it waits for a.").wait_for(timeout=20_000)
    board.focus()
    for tick in range(1, 30):
        while board.locator(".dp-ready").count():
            ready = board.locator(".dp-ready").first
            letter = ready.locator("b").inner_text()
            page.keyboard.press(letter)
            board.locator(f".dp-task:not(.dp-ready) >> b:text-is('{letter}')").wait_for(timeout=20_000)
        page.keyboard.press("Enter")
        board.locator(".dp-tick", has_text=f"Tick {tick + 1}").wait_for(timeout=20_000)
        if board.locator(".dp-go").is_disabled():
            break
    assert "the built-in order" in board.locator(".dl-right").inner_text()
    assert board.locator(".dk-success").count() >= 6, "every box and bar"


def test_an_interview_ends_with_what_to_review(page: Any) -> None:
    talk = page.locator(".dp-cards").nth(1)
    talk.get_by_role("button", name="Begin").click()
    assert talk.locator(".dp-clock").inner_text().startswith(("20:00", "19:5"))
    count = talk.locator(".dp-dot").count()
    for number in range(1, count + 1):
        talk.get_by_text(f"{number} of {count}").wait_for(timeout=20_000)
        talk.get_by_role("button", name="Skip").click()
        if number < count:
            talk.get_by_role("button", name="Next →").click(timeout=20_000)
    talk.get_by_text(f"0 of {count} right.").wait_for(timeout=20_000)
    assert talk.get_by_text("dk.practice.ladder(9)").count() == 1 and talk.locator("tbody tr").count() == count
