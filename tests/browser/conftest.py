"""One JupyterLab for all browser tests that need one, and the lessons opened in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.lab import run_all, started


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A running ``tests.browser.lab.Lab``."""
    pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")
    with started(tmp_path_factory.mktemp("lessons")) as running:
        yield running


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
            page.goto(lab.address(name))
            page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
            page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", timeout=60_000)
            run_all(page)
        return pages[name]

    yield opened
    context.close()
    lab.end_kernels()
