"""Fixtures and rules shared by all tests.

Environment variables:

- ``DAGKIT_CASES``: directory of recorded cases for the conformance tests (default ``tests/data``).
- ``DAGKIT_SAMPLES``: directory of real workflow files too large to ship (default ``../shared/samples``).
- ``DAGKIT_CHROMIUM``: the browser to use (default: Chromium or Chrome on the PATH).
- ``DAGKIT_REQUIRE_BROWSER=1``: a browser test that would be skipped fails instead.
- ``HYPOTHESIS_PROFILE=explore``: fresh random examples in place of the fixed ones.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# The default draws the same examples on every machine, so a red test is red for everyone.
# No deadline: a slow machine is no bug.
settings.register_profile("fixed", derandomize=True, database=None, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

# A shell that runs the tests in the background has them ignore Ctrl-C, and every process they start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def cases_dir() -> Path:
    """The directory that holds the recorded cases."""
    return Path(os.environ.get("DAGKIT_CASES") or ROOT / "tests" / "data")


@pytest.fixture(scope="session")
def samples_dir() -> Path:
    """The directory of real workflow files; skips where there is none."""
    path = Path(os.environ.get("DAGKIT_SAMPLES") or ROOT.parent / "shared" / "samples")
    if not path.is_dir():
        pytest.skip("no directory of real workflow files; name one with DAGKIT_SAMPLES")
    return path


def chromium_path() -> str | None:
    """The browser's executable, or None."""
    named = os.environ.get("DAGKIT_CHROMIUM")
    return named or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium (a playwright ``Browser``), started once for all tests that use it.

    A test that uses it is marked ``browser``. Each test opens a context of its own and closes it.
    """
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    executable = chromium_path()
    if executable is None:
        pytest.skip("no Chromium found; install one or name it with DAGKIT_CHROMIUM")
    try:
        playwright = sync_api.sync_playwright().start()
    except Exception as error:  # its driver is a program of its own and may lack a library of the system
        pytest.skip(f"playwright does not start: {error} (on Debian it needs libatomic1)")
    try:
        running = playwright.chromium.launch(executable_path=executable, args=list(CHROMIUM_FLAGS))
        yield running
        running.close()
    finally:
        playwright.stop()


COUNTED: dict[str, int] = dict.fromkeys((
    "mini_scheduler*.json", "planning.json", "trigger_rules.json", "dagrun_final_states.json", "selection.json",
    "priority_weights.json", "mapping.json", "retry_delay.json"), 0)
"""How many recorded cases of each kind ran, for the closing line."""


@pytest.fixture(scope="session")
def kinds() -> tuple[str, ...]:
    """File names of recorded cases."""
    return tuple(COUNTED)


@pytest.fixture
def count() -> Callable[[str, int], None]:
    """Note that so many recorded cases of a kind were run."""
    def note(kind: str, cases: int) -> None:
        COUNTED[kind] = COUNTED.get(kind, 0) + cases
    return note


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):                # several processes: each tells the first what it ran
        session.config.workeroutput["counted"] = COUNTED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    for kind, cases in getattr(node, "workeroutput", {}).get("counted", {}).items():
        COUNTED[kind] = COUNTED.get(kind, 0) + cases


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if any(COUNTED.values()):
        terminalreporter.write_line("recorded cases run: " + ", ".join(f"{k} {n}" for k, n in COUNTED.items()))


def browser_required() -> bool:
    return os.environ.get("DAGKIT_REQUIRE_BROWSER") == "1"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what uses the browser, and run it last: quick answers come first.

    With several processes it comes first instead, all in one of them, so that the others do the rest meanwhile.
    """
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
    last = hasattr(config, "workerinput")
    items.sort(key=lambda item: (item.get_closest_marker("browser") is None) == last)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Browser tests stay in one process and share what they open; so do those of PostgreSQL. Others go anywhere.

    By file, not by xdist's own groups: xdist 3.8 writes them where pytest 9.2 no longer looks.
    """
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Grouped(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = nodeid.partition("::")[0]
            return "browser" if path.startswith("tests/browser/") else path if path.endswith("_pg.py") else nodeid

    return Grouped(config, log)


def skip_becomes_failure(report: Any) -> None:
    """Turn a skip into a failure that repeats the reason; an expected failure (xfail) stays one."""
    if report.skipped and not hasattr(report, "wasxfail") and browser_required():
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"DAGKIT_REQUIRE_BROWSER=1 and this browser test did not run: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report: Any = yield
    if item.get_closest_marker("browser") is not None:
        skip_becomes_failure(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    """A whole module can be skipped too, before any marker is known: by its missing playwright."""
    report: Any = yield
    if "playwright" in str(report.longrepr):
        skip_becomes_failure(report)
    return report
