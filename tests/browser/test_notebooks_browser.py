"""The lessons in a real JupyterLab: run from top to bottom, then used as a learner uses them.

One JupyterLab on the loopback interface serves a copy of the notebooks; nothing leaves the machine.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
LESSONS = ("00_start_here", "01_why_a_dag", "02_task_states", "03_mini_scheduler", "04_trigger_rules", "11_your_own_dag")
SETTINGS = {
    "apputils-extension/notification": '{"fetchNews": "false"}',
    # every cell is on the page, also those out of sight
    "notebook-extension/tracker": '{"windowingMode": "none"}',
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A function that gives the address of a notebook in a running JupyterLab."""
    home = tmp_path_factory.mktemp("lessons")
    shutil.copytree(ROOT / "notebooks", home / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    for name, text in SETTINGS.items():
        path = home / "config" / "lab" / "user-settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token, base = secrets.token_hex(16), f"http://127.0.0.1:{port}"
    env = {**os.environ, "HOME": str(home), "JUPYTER_CONFIG_DIR": str(home / "config"),
           "JUPYTER_DATA_DIR": str(home / "data"), "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
           "IPYTHONDIR": str(home / "ipython"), "PYTHONPATH": str(ROOT)}
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1",
             f"--port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={home}",
             f"--IdentityProvider.token={token}",
             "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"],
            env=env, cwd=home, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_for(server, f"{base}/api?token={token}", home / "log")
        yield lambda name: f"{base}/doc/tree/notebooks/{name}.ipynb?token={token}"
    finally:
        server.terminate()
        server.wait(20)


def wait_for(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    for _ in range(300):
        if server.poll() is not None:
            break
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")


@pytest.fixture(scope="module")
def lesson(browser: Any, lab: Any) -> Iterator[Any]:
    """A function that opens a lesson, runs all its cells and gives the page; each lesson is opened once."""
    context = browser.new_context(viewport={"width": 1250, "height": 1000})
    pages: dict[str, Any] = {}

    def opened(name: str) -> Any:
        if name not in pages:
            page = pages[name] = context.new_page()
            page.problems = []
            page.on("pageerror", lambda error: page.problems.append(str(error)))
            page.goto(lab(name))
            page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
            page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", timeout=60_000)
            run_all(page)
        return pages[name]

    yield opened
    context.close()


def run_all(page: Any) -> None:
    for _ in range(8):                                        # a request made before the kernel is connected is lost
        page.locator(".jp-Notebook .jp-Cell").first.click()   # the menu acts on the notebook in focus
        page.keyboard.press("Escape")
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        page.wait_for_timeout(5000)
        if page.locator(".dl-live, .dk-player").count():
            break
    page.wait_for_function(
        "() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]"
        ".every(e => /\\[\\d+\\]/.test(e.textContent))"
        " && document.querySelector('.jp-Notebook-ExecutionIndicator').dataset.status === 'idle'"
        " && document.querySelectorAll('.dl-live, .dk-player').length > 0",
        timeout=90_000)
    page.wait_for_timeout(1000)


def cell_with(page: Any, source: str) -> Any:
    return page.locator(".jp-CodeCell").filter(has=page.locator(".jp-InputArea-editor", has_text=source)).first


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
    for number in range(nodes.count()):
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
    assert "You were certain" in asked.inner_text()
    assert asked.locator(".dl-reveal svg").is_visible()
    assert asked.get_by_label("5", exact=True).is_disabled()


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
    assert page.locator(".dk-player").count() == len(RULES)
    for number in range(len(RULES)):
        player = page.locator(".dk-player").nth(number)
        player.scroll_into_view_if_needed()
        assert player.locator(".dk-play").is_disabled()
        player.get_by_role("button", name="Skip").click()
        player.focus()
        page.keyboard.press("End")
        assert player.get_attribute("data-tick") == player.locator(".dk-scrub").get_attribute("max")
