"""With DAGKIT_REQUIRE_BROWSER=1 a browser test cannot pass by being skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

# Run by a pytest of its own, with the conftest under test beside it.
TESTS = """
    import pytest

    @pytest.mark.browser
    def test_marked():
        pytest.skip("no window")

    @pytest.mark.browser
    @pytest.mark.skipif(True, reason="not today")
    def test_skipif():
        pass

    def test_fixture(browser):
        pass

    @pytest.mark.browser
    @pytest.mark.xfail(reason="known", strict=True)
    def test_expected_failure():
        assert False

    def test_other():
        pytest.skip("no database")
"""


@pytest.fixture
def run(pytester, monkeypatch):
    pytester.makeconftest(Path(__file__).with_name("conftest.py").read_text(encoding="utf-8"))
    pytester.makeini("[pytest]\nmarkers = browser: x")

    def run(required: str, source: str = TESTS):
        monkeypatch.setenv("DAGKIT_REQUIRE_BROWSER", required)
        monkeypatch.setenv("PATH", str(pytester.path))  # no Chromium here
        monkeypatch.delenv("DAGKIT_CHROMIUM", raising=False)
        pytester.makepyfile(source)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-v", "-rs")

    return run


def test_skips_stay_skips_by_default(run):
    run("0").assert_outcomes(skipped=4, xfailed=1)


def test_skips_become_failures_when_the_browser_is_required(run):
    """A missing browser is reported by its fixture, hence as an error of the set-up: just as red."""
    result = run("1")
    outcomes = result.parseoutcomes()
    assert outcomes["failed"] + outcomes.get("errors", 0) == 3
    assert outcomes["skipped"] == 1 and outcomes["xfailed"] == 1
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*this browser test did not run: *no window*"])


def test_a_module_skipped_for_want_of_playwright_fails_too(run):
    source = "import pytest\npytest.importorskip('playwright_that_is_not_there')\ndef test_it(): pass"
    run("0", source).assert_outcomes(skipped=1)
    result = run("1", source)
    assert result.parseoutcomes().get("errors") == 1
    assert result.ret != 0


def test_browser_tests_come_last(run):
    result = run("0", "def test_shows(browser): pass\ndef test_thinks(): pass")
    result.stdout.fnmatch_lines(["*::test_thinks PASSED*", "*::test_shows SKIPPED*"])


def test_the_browser_starts(browser):
    page = browser.new_page()
    page.set_content("<p id=a>tick</p><script>document.getElementById('a').textContent += ' 1'</script>")
    assert page.inner_text("#a") == "tick 1"
    page.close()
