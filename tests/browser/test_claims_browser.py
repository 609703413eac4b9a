"""The interleaving picture in a real browser: walked by mouse and keyboard, and never beyond what the model allows."""

from __future__ import annotations

from typing import Any

import pytest

from dagkit.claims import STRATEGIES, interleavings
from dagkit.claims.stepping import HERE, book
from dagkit.views.html_export import script_json
from dagkit.widget import module

pytestmark = pytest.mark.browser

BOOT = """
const state = JSON.parse(document.getElementById("state").textContent);
const model = { get: (key) => state[key], set: (key, value) => { state[key] = value; },
  on() {}, off() {}, save_changes() {} };
window.state = state;
widget.render({ model, el: document.getElementById("here") });
"""


@pytest.fixture
def show(browser: Any, tmp_path: Any) -> Any:
    """Open the picture; the test fails on any error on the page."""
    opened = []

    def opener(strategy: str = "unlocked", **context: Any) -> Any:
        state = {"book": book(), "strategy": strategy, "row_locks": True, "order": ""}
        script = module(HERE / "steps.js").replace("export default {", "const widget = {")
        path = tmp_path / "steps.html"
        path.write_text(
            f'<!DOCTYPE html><meta charset="utf-8"><style>{(HERE / "steps.css").read_text(encoding="utf-8")}</style>'
            f'<div id="here"></div><script type="application/json" id="state">{script_json(state)}</script>'
            f'<script type="module">{script}{BOOT}</script>', encoding="utf-8")
        page = browser.new_context(viewport={"width": 1000, "height": 900}, **context).new_page()
        page.problems = []
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        opened.append(page)
        page.goto(path.as_uri())
        page.wait_for_selector(".dc-live")
        return page

    yield opener
    for page in opened:
        assert page.problems == []
        page.context.close()


def test_a_bad_order_by_keyboard(show: Any) -> None:
    page = show()
    root = page.locator(".dc-live")
    root.focus()
    for who in interleavings("unlocked").example:
        page.keyboard.press({"A": "ArrowLeft", "B": "ArrowRight"}[who])
    assert root.get_attribute("data-order") == interleavings("unlocked").example
    assert "TWICE" in page.locator(".dc-said").inner_text()
    assert "row 1 from A and from B: runs TWICE" in page.locator(".dc-executor").inner_text()
    page.keyboard.press("Backspace")
    assert "TWICE" not in root.inner_text()
    page.keyboard.press("Home")
    page.keyboard.press("a")                                  # no letter does anything
    assert root.get_attribute("data-order") == ""


def test_who_waits_cannot_be_moved_until_the_lock_is_free(show: Any) -> None:
    page = show("for_update")
    a, b = page.locator(".dc-go").nth(0), page.locator(".dc-go").nth(1)
    a.click()
    b.click()
    assert b.is_disabled() and b.inner_text() == "B waits for row 1"
    page.locator(".dc-live").focus()
    page.keyboard.press("ArrowRight")                         # nor by key
    assert page.locator(".dc-live").get_attribute("data-order") == "AB"
    a.click()
    a.click()
    assert b.is_enabled()
    b.click()
    assert page.locator(".dc-row").nth(1).locator(".dc-lock").inner_text() == "held by B"


def test_without_row_locks_the_same_strategy_goes_wrong(show: Any) -> None:
    page = show("for_update", color_scheme="dark")
    assert "None of them starts a task twice" in page.locator(".dc-all").inner_text()
    page.get_by_label("the database takes row locks").uncheck()
    button = page.get_by_role("button", name="Next step of a bad order")
    while button.is_enabled():
        button.click()
    assert "TWICE" in page.locator(".dc-said").inner_text()
    for name in STRATEGIES:                                   # every strategy can be walked to the end
        page.locator("select").select_option(name)
        button = page.locator(".dc-bar button").nth(2)
        while button.is_enabled():
            button.click()
        assert page.locator(".dc-said").inner_text().endswith("Both are through.")
