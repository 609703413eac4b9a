"""Run the exercises as a student has filled them in, and say what is done and what is left.

    python tools/check_exercises.py                     all notebooks in exercises/
    python tools/check_exercises.py 01 03               those of lessons 1 and 3
    python tools/check_exercises.py collected/*/*.ipynb  those of a class, under the names they were given out with

nbval runs a copy of each notebook in a fresh kernel. In the copy every saved output is removed and every check cell is
as the solution has it, with the output that passing gives: so only what the student's own cells define can decide.
"""

from __future__ import annotations

import copy
import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tools import make_exercises  # noqa: E402

FOLDER = ROOT / "exercises"
SECONDS = 60
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def is_check(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and "check" in cell.metadata.get("tags", ())


def solution_of(path: Path) -> Path:
    """The solution beside a notebook, or else the kit's own of that name."""
    beside = path.resolve().parent / "solutions" / path.name
    return beside if beside.is_file() else FOLDER / "solutions" / path.name


def read(path: Path) -> NotebookNode | None:
    """A student's notebook, or None for what is none: half written, or saved as something else."""
    try:
        return nbformat.read(path, as_version=4)
    except Exception:  # nbformat raises what its parsers raise
        return None


def prepared(student: NotebookNode, solution: NotebookNode, home: Path) -> NotebookNode:
    """A copy to run: the student's cells without outputs, the solution's checks with theirs, started in ``home``.

    A check that was removed is put where the solution has it: behind the cell it followed there, or at the end.
    """
    result = copy.deepcopy(student)
    checks = {cell.id: cell for cell in solution.cells if is_check(cell)}
    result.cells = [cell for cell in result.cells if cell.get("id") not in checks or is_first(cell, result.cells)]
    for cell in result.cells:
        cell.metadata = nbformat.from_dict({})
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            cell.source = re.sub(r"(?im)^(\s*#+\s*)(?=(?:nbval|pytest_validate)_)", r"\1(no) ", cell.source)
    there = [cell.get("id") for cell in result.cells]
    ids = [cell.id for cell in solution.cells]
    for name, check in checks.items():
        mine = copy.deepcopy(check)
        mine.execution_count = 1
        if name in there:
            result.cells[there.index(name)] = mine
        else:
            before = [i for i in ids[:ids.index(name)] if i in there]
            at = there.index(before[-1]) + 1 if before else len(result.cells)
            result.cells.insert(at, mine)
            there.insert(at, name)
    result.cells.insert(0, new_code_cell(f"import os\nos.chdir({str(home)!r})", id="home"))
    return result


def is_first(cell: NotebookNode, cells: list[NotebookNode]) -> bool:
    return next(other for other in cells if other.get("id") == cell.id) is cell


class Report:
    """A pytest plugin that keeps which cells passed, and for those that failed the sentences of their last output."""

    def __init__(self) -> None:
        self.passed: set[tuple[str, int]] = set()              # (folder of the copy, number of the code cell)
        self.failed: dict[tuple[str, int], str] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        name, _, cell = report.nodeid.partition("::Cell ")
        at = Path(name).parent.name, int(cell or 0)
        if report.failed:
            self.failed[at] = reason(str(report.longrepr))
        elif report.when == "call" and report.passed:
            self.passed.add(at)


def reason(report: str) -> str:
    """What a failed cell said, without the frames above it."""
    text = ANSI.sub("", report).strip()
    if "Cell outputs differ" in text:
        return "The check did not say what a passed check says. Is dk still the package dagkit?"
    told = text[text.find("✗"):] if "✗" in text else text.split("\n")[-1]
    return told.strip()


def told(cells: list[NotebookNode], report: Report, copy_: str, stubs: frozenset[str] = frozenset()) -> list[str]:
    """One line for each check of a notebook, and for the first other cell that failed.

    stubs: sources of the cells to fill in, as they were given out: one still like that is why its check fails.
    """
    lines: list[str] = []
    broken, untouched = "", False
    for number, cell in enumerate(cell for cell in cells if cell.cell_type == "code"):
        said = report.failed.get((copy_, number))
        if said is None and (copy_, number) not in report.passed:
            said = "it did not run"
        untouched |= cell.source in stubs
        if is_check(cell):
            task = cell.source.split('"')[1]
            if said is not None and untouched:
                said = f"✗ {task} not yet. YOUR CODE HERE is still there."
            untouched = False
            lines.append(f"  ✓ {task}" if said is None else
                         "\n".join("  " + line for line in (said if task in said else f"✗ {task}: {said}").split("\n")))
        elif said is not None and not broken:
            begins = cell.source.strip().split("\n")[0]
            broken = f"  ! a cell of yours stops, the one that begins with {begins!r}: {said}"
    return [*lines, *([broken] if broken else [])]


def stubs(solution: NotebookNode) -> frozenset[str]:
    """The cells a student has to fill in, as the student edition gives them out."""
    return frozenset(cell.source for cell in make_exercises.student_edition(solution).cells
                     if cell.cell_type == "code" and make_exercises.STUB in cell.source)


@contextmanager
def here_first() -> Iterator[None]:
    """Kernels import this tree's dagkit, installed or not."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), before]))
    try:
        yield
    finally:
        os.environ.pop("PYTHONPATH")
        if before is not None:
            os.environ["PYTHONPATH"] = before


def run(paths: list[Path]) -> int:
    """Check these notebooks; prints the result and returns how many are not done."""
    report = Report()
    copies: dict[str, NotebookNode] = {}
    with tempfile.TemporaryDirectory(prefix="dagkit-exercises-") as folder:
        for number, path in enumerate(paths):                  # a folder for each: a class hands in equal names
            student = read(path)
            if student is None:
                continue
            copies[str(number)] = prepared(student, nbformat.read(solution_of(path), as_version=4), path.resolve().parent)
            (Path(folder) / str(number)).mkdir()
            nbformat.write(copies[str(number)], Path(folder) / str(number) / path.name)
        (Path(folder) / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        options = ["--nbval", "--nbval-current-env", f"--nbval-cell-timeout={SECONDS}", f"--rootdir={folder}",
                   "-p", "no:cacheprovider", "--color=no"]
        with redirect_stdout(io.StringIO()), here_first():
            if copies:                                         # without a path pytest would look for some itself
                pytest.main([*options, *(str(Path(folder) / name) for name in copies)], plugins=[report])
    return _undone(paths, copies, report)


def _undone(paths: list[Path], copies: dict[str, NotebookNode], report: Report) -> int:
    """Print what is done and what is left; how many notebooks are not done."""
    undone = 0
    for number, path in enumerate(paths):
        name = str(path) if [other.name for other in paths].count(path.name) > 1 else path.name
        given = stubs(nbformat.read(solution_of(path), as_version=4)) if str(number) in copies else frozenset()
        lines = told(copies[str(number)].cells, report, str(number), given) if str(number) in copies else [
            "  ✗ this is no notebook that can be read; `make exercises` sets it aside and gives a new one"]
        done = bool(lines) and all(line.startswith("  ✓") for line in lines)
        undone += not done
        print(f"{'✓' if done else '✗'} {name}: {'all done' if done else 'not done yet'}")
        print("\n".join(lines))
    return undone


def chosen(arguments: list[str]) -> list[Path]:
    """The notebooks meant by paths, names or numbers; all without any. Raises SystemExit for one that is not there."""
    every = sorted(FOLDER.glob("[0-9]*.ipynb"))
    found: list[Path] = []
    for argument in arguments:
        meant = [path for path in every if path.name.startswith(argument)] or [Path(argument)]
        if not meant[0].is_file() or not solution_of(meant[0]).is_file():
            raise SystemExit(f"exercise {argument!r}: there is none. Known: {', '.join(path.stem for path in every)}.")
        found += meant
    return found if arguments else every


def main(arguments: list[str] | None = None) -> int:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")               # a Windows console may know no check mark
    paths = chosen(sys.argv[1:] if arguments is None else arguments)
    undone = run(paths)
    print(f"{len(paths) - undone} of {len(paths)} notebooks done.", flush=True)
    if undone and "MAKELEVEL" in os.environ:                   # set by make, which adds a line of its own
        print("Nothing is broken: that work is left is all that make's \"Error 1\" says.", flush=True)
    return int(bool(undone))


if __name__ == "__main__":
    sys.exit(main())
