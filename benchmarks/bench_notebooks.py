"""How long a learner waits: for the first player of a lesson in a real JupyterLab, and for whole notebooks.

    python benchmarks/bench_notebooks.py [--players | --cells] [NOTEBOOK ...]

--players: only the players. --cells: only whole notebooks, run without a browser (those named, or all), with their
slowest cells. Seconds are those on the clock, for that is what a learner waits for: measure on an idle machine.

A player is timed from the key that runs its cell to the moment its picture is on the page: once in a kernel that has
only run the lesson's imports, and once more in the same kernel, when everything is loaded.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from harness import Cell, show

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
GOAL = 5
"""Seconds from running a cell to its player."""
SLOWEST = 3
"""So many cells of each notebook are named."""
READY = "None  # the kernel is there"
FRESH = """([cell, wanted]) => [...cell.querySelectorAll(wanted)].some(found =>
  !found.closest('[data-old]') && found.getBoundingClientRect().height > 0)"""


class First(NamedTuple):
    """The first player of a notebook: text in its cell, text in the cells to run before, what must be on the page."""

    notebook: str
    cell: str
    before: tuple[str, ...] = ("import dagkit as dk",)
    picture: str = ".dk-player svg"


FIRST = (
    First("00_start_here", "dk.play(trace)"),
    First("01_why_a_dag", "day.draw(", picture=".jp-OutputArea-output svg"),      # it plays nothing: its first picture
    First("05_limits_and_pools", 'demo.sensors("defer")', ("import dagkit as dk", "from dagkit.lesson.lessons import")),
    First("classroom/1_stall", 'dk.classroom.demo("stall")', (), ".jp-OutputArea-output button"),
)


def players() -> Iterator[Cell]:
    """A cell for each first player, twice. Without a browser or JupyterLab none, and the reason."""
    try:
        from playwright.sync_api import sync_playwright

        from tests.browser.lab import started
        from tests.conftest import CHROMIUM_FLAGS, chromium_path
    except ImportError as missing:
        print(f"players: skipped, {missing}")
        return
    if (chromium := chromium_path()) is None:
        print("players: skipped, no Chromium found; name one with DAGKIT_CHROMIUM")
        return
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as home, started(Path(home)) as lab:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM_FLAGS))
        for first in FIRST:
            emptied(lab.folder / f"{first.notebook}.ipynb")
            page = browser.new_context(viewport={"width": 1250, "height": 1000}).new_page()
            page.goto(lab.address(first.notebook))
            page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
            page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", timeout=60_000)
            for text in (READY, *first.before):
                run(page, text)
            for kernel in ("only imports run", "run again"):
                yield Cell("first player", f"{first.notebook}, {kernel}", "budget",
                           timed(page, first.cell, first.picture), GOAL, "s")
            page.context.close()
            lab.end_kernels()
        browser.close()


def emptied(path: Path) -> None:
    """Take the outputs out of a notebook, and put a cell at its head that shows whether the kernel answers."""
    import nbformat
    notebook = nbformat.read(path, 4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    notebook.cells.insert(0, nbformat.v4.new_code_cell(READY))
    nbformat.write(notebook, path)


def run(page: Any, text: str) -> None:
    """Run the cell with this text to its end; a request made before the kernel is connected is lost, and made again."""
    from tests.browser.lab import accept_dialogs, cell_with
    cell = cell_with(page, text)
    prompt = cell.locator(".jp-InputPrompt")
    for half_second in range(120):
        if "[ ]" in prompt.inner_text() and half_second % 10 == 0:
            accept_dialogs(page)
            cell.locator(".cm-content").first.click()
            page.keyboard.press("Control+Enter")
        page.wait_for_timeout(500)
        if any(digit in prompt.inner_text() for digit in "123456789"):
            return
    raise RuntimeError(f"the cell {text!r} did not run: {cell.inner_text()[-500:]}")


def timed(page: Any, text: str, picture: str) -> float:
    """Run the cell with this text; seconds until its new picture can be seen."""
    from tests.browser.lab import cell_with
    cell = cell_with(page, text)
    cell.scroll_into_view_if_needed()
    cell.evaluate("cell => cell.querySelectorAll('.jp-OutputArea-child').forEach(old => old.dataset.old = '')")
    cell.locator(".cm-content").first.click()
    begin = time.perf_counter()
    page.keyboard.press("Control+Enter")
    page.wait_for_function(FRESH, arg=[cell.element_handle(), picture], timeout=60_000)
    return time.perf_counter() - begin


def notebooks(paths: list[Path]) -> Iterator[str]:
    """A line for each notebook: seconds for all its cells, and its slowest cells."""
    try:
        import nbformat
        from nbclient import NotebookClient
    except ImportError as missing:
        yield f"notebooks: skipped, {missing}"
        return
    for path in paths:
        notebook = nbformat.read(path, 4)
        begun: dict[int, float] = {}
        taken: dict[int, float] = {}

        def begins(cell: Any, cell_index: int, begun: dict[int, float] = begun) -> None:
            begun[cell_index] = time.perf_counter()

        def ends(cell: Any, cell_index: int, execute_reply: Any, begun: dict[int, float] = begun,
                 taken: dict[int, float] = taken) -> None:
            taken[cell_index] = time.perf_counter() - begun[cell_index]

        client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(path.parent)}},
                                on_cell_execute=begins, on_cell_executed=ends)
        client.execute(env={**os.environ, "PYTHONPATH": str(ROOT)})
        slowest = sorted(taken, key=lambda n: -taken[n])[:SLOWEST]
        names = "; ".join(f"{taken[n]:.1f} s {' '.join(notebook.cells[n].source.split())[:60]}" for n in slowest)
        yield f"{path.relative_to(ROOT)!s:<46}{sum(taken.values()):>6.1f} s   {names}"


def every() -> list[Path]:
    return sorted(path for folder in ("notebooks", "notebooks/classroom", "exercises/solutions")
                  for path in (ROOT / folder).glob("*.ipynb"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How long a learner waits.")
    parser.add_argument("--players", action="store_true", help="only the first players")
    parser.add_argument("--cells", action="store_true", help="only whole notebooks and their slowest cells")
    parser.add_argument("notebooks", nargs="*", type=Path, help="for --cells: these instead of all")
    given = parser.parse_args()
    if not given.cells:
        show(players())
    if not given.players:
        for line in notebooks([path.resolve() for path in given.notebooks] or every()):
            print(line, flush=True)
