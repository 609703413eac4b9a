"""The player inside JupyterLab: no tick is dropped, no key leaks, the kernel hears what was chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.lab import accept_dialogs

nbformat = pytest.importorskip("nbformat", reason="jupyterlab is not installed")   # comes with it

pytestmark = pytest.mark.browser

SIZES = (6, 60, 500)
SETUP = """\
from dagkit import Dag, Task, examples, simulate
from dagkit.views.player import play

def layered(count, width):
    tasks = [Task(f"task_{i:03}", [f"task_{i - width:03}"] if i >= width else (), duration=1 + i % 3)
             for i in range(count)]
    return simulate(Dag(f"layered_{count}", tasks, max_active_tasks=12))
"""
CELLS = [
    SETUP,
    "small = play(simulate(examples.orders()), interval=50); small",
    "play(layered(60, 10), interval=50)",
    "play(layered(500, 50), interval=50)",
    "print('heard', small.tick, small.selected)",
]
# Presses Play and records what every animation frame shows, and when.
PLAY = """async (player) => {
  const seen = [];
  const end = Number(player.querySelector('.dk-scrub').max);
  player.scrollIntoView();
  player.querySelector('.dk-play').click();
  for (let after = 0; after < 3; after += Number(player.dataset.tick) === end) {
    await new Promise(requestAnimationFrame);
    seen.push([performance.now(), Number(player.dataset.tick)]);
  }
  return [end, seen];
}"""


@pytest.fixture(scope="module")
def notebook(browser: Any, lab: Any) -> Iterator[Any]:
    """The notebook with its first four cells run: three players on the page."""
    written = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    written.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(written, lab.folder / "player.ipynb")
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    page.goto(lab.address("player"))
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", timeout=60_000)
    for number in range(1 + len(SIZES)):
        run_cell(page, number)
    for number in range(len(SIZES)):
        page.locator(".dk-player").nth(number).wait_for(timeout=60_000)
    page.wait_for_timeout(500)
    yield page
    context.close()


def run_cell(page: Any, number: int) -> None:
    """Run a cell and wait until it has run; a request made before the kernel is connected may be lost."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(number)
    prompt = cell.locator(".jp-InputPrompt")
    for _ in range(10):
        accept_dialogs(page)
        cell.locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(500)
        if "[ ]" not in prompt.inner_text():
            break
    for _ in range(120):
        if re.search(r"\[\d+\]", prompt.inner_text()):
            return
        page.wait_for_timeout(500)
    pytest.fail(f"cell {number} did not run: {cell.inner_text()[-1000:]}")


@pytest.mark.parametrize("number, tasks", list(enumerate(SIZES)))
def test_no_tick_is_dropped_at_50_ms(notebook: Any, number: int, tasks: int) -> None:
    player = notebook.locator(".dk-player").nth(number)
    end, seen = player.evaluate(PLAY)
    shown = list(dict.fromkeys(tick for _, tick in seen))
    assert shown == list(range(end + 1))
    first = {}
    for when, tick in seen:
        first.setdefault(tick, when)
    gaps = sorted(first[tick + 1] - first[tick] for tick in range(1, end))
    print(f"{tasks} tasks, {end} ticks at 50 ms: median {gaps[len(gaps) // 2]:.0f} ms, "
          f"p95 {gaps[int(len(gaps) * 0.95)]:.0f} ms, "
          f"{1000 * (len(seen) - 1) / (seen[-1][0] - seen[0][0]):.0f} frames/s")


@pytest.mark.parametrize("number", range(len(SIZES)))
def test_labels_are_legible(notebook: Any, number: int) -> None:
    smallest = notebook.locator(".dk-player").nth(number).evaluate("""(player) => Math.min(
      ...[...player.querySelectorAll('.dk-graph svg text')].filter((text) => text.textContent).map((text) => {
        const svg = text.closest('svg');
        return parseFloat(getComputedStyle(text).fontSize) * svg.clientWidth / svg.viewBox.baseVal.width;
      }))""")
    assert smallest >= 8.99


def test_controls_stay_in_sight_while_the_notebook_scrolls(notebook: Any) -> None:
    player = notebook.locator(".dk-player").nth(1)
    player.locator(".dk-log").evaluate("(log) => log.scrollIntoView({ block: 'center' })")
    above, top, bar = player.evaluate("""(player) => [player,
      player.closest('.jp-WindowedPanel-outer'), player.querySelector('.dk-controls')].map(
        (el) => el.getBoundingClientRect().top)""")
    assert above < top - 100 and 0 <= bar - top < 20


def test_focus_keys_do_not_reach_the_notebook(notebook: Any) -> None:
    player = notebook.locator(".dk-player").first
    cells = notebook.locator(".jp-Notebook .jp-Cell").count()
    player.focus()
    for key in ("a", "b", "m", "x", "d", "d", "Enter", "Home", "ArrowRight", "ArrowRight"):
        notebook.keyboard.press(key)
    notebook.wait_for_timeout(300)
    assert notebook.locator(".jp-Notebook .jp-Cell").count() == cells
    assert notebook.locator(".dk-player").count() == len(SIZES)
    assert player.get_attribute("data-tick") == "2"
    notebook.keyboard.press("Escape")
    assert notebook.evaluate("document.activeElement.closest('.jp-Notebook') !== null")
    assert notebook.evaluate("document.activeElement.closest('.dk-player') === null")


def test_the_kernel_hears_tick_and_task(notebook: Any) -> None:
    player = notebook.locator(".dk-player").first
    player.focus()
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowRight"):
        notebook.keyboard.press(key)
    player.locator(".dk-row", has_text="transform").click()
    run_cell(notebook, len(CELLS) - 1)
    answer = notebook.locator(".jp-OutputArea-output", has_text="heard")
    answer.wait_for(timeout=20_000)
    assert answer.inner_text().strip() == "heard 3 transform"
