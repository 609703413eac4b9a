"""Make the student edition of the exercises from their solutions, the one source.

    python tools/make_exercises.py              write exercises/*.ipynb from exercises/solutions/*.ipynb
    python tools/make_exercises.py --check      change nothing, say what is not as it would be written

In a code cell of a solution, what stands between nbgrader's markers ``### BEGIN SOLUTION`` and ``### END SOLUTION``
becomes ``# YOUR CODE HERE`` (and three dots, where a statement has to stand). Outputs go. A solution of which most can
be read elsewhere is refused.

A student's work is never overwritten: a notebook that is not as this tool last wrote it is first moved to
``exercises/set_aside/``, and that is said. What the tool wrote is known by its digest in ``exercises/editions.json``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tools.normalise_notebooks import clear, to_text  # noqa: E402  (run as a script, the root is not on the path)

FOLDER = ROOT / "exercises"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
STUB = "# YOUR CODE HERE"
TELLING = 8
"""A line of a solution tells something when it is at least so long and no comment."""


class Refused(ValueError):
    """A solution from which no student edition can be made."""


def student_edition(solution: NotebookNode, name: str = "notebook") -> NotebookNode:
    """The notebook as a student gets it: no answers, no outputs, links seen from one folder higher.

    Raises Refused for markers that do not pair, a check cell with an answer in it, or an answer that shows elsewhere.
    """
    result = clear(solution)
    hidden: list[list[str]] = []
    for cell in result.cells:
        if cell.cell_type == "code":
            cell.source = without_answers(cell.source, hidden, f"{name}: cell {cell.id}")
        else:
            cell.source = cell.source.replace("](../", "](")
    if not hidden:
        raise Refused(f"{name}: no cell has a solution between {BEGIN} and {END}.")
    if shown := leaks(result, hidden):
        raise Refused(f"{name}: the student edition would show a solution: {' / '.join(shown[0])}")
    return result


def without_answers(source: str, hidden: list[list[str]], who: str) -> str:
    """A cell's source with a stub for each solution; the lines of each are added to ``hidden``."""
    kept: list[str] = []
    inside = False
    for line in source.split("\n"):
        marker = line.strip()
        if marker in (BEGIN, END):
            if inside == (marker == BEGIN):
                raise Refused(f"{who}: {marker} has no partner.")
            inside = not inside
            if inside:
                hidden.append([])
                margin = line[:len(line) - len(line.lstrip())]
                kept += [margin + STUB, *([margin + "..."] if margin else [])]     # a body needs a statement
        elif inside:
            hidden[-1].append(marker)
        else:
            kept.append(line)
    if inside:
        raise Refused(f"{who}: {BEGIN} has no partner.")
    return "\n".join(kept)


def leaks(student: NotebookNode, hidden: list[list[str]]) -> list[list[str]]:
    """The solutions of which more than half the telling lines can be read in the student edition.

    A single line may well stand in a worked example: that is what a learner takes from it.
    """
    text = "\n".join(cell.source for cell in student.cells)
    telling = [[line for line in lines if len(line) >= TELLING and not line.startswith("#")] for lines in hidden]
    return [lines for lines in telling if lines and 2 * sum(line in text for line in lines) > len(lines)]


def digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def editions(folder: Path = FOLDER) -> dict[str, bytes]:
    """File name and content of every student notebook, as the solutions make them now."""
    return {path.name: to_text(student_edition(nbformat.read(path, as_version=4), path.name)).encode("utf-8")
            for path in sorted((folder / "solutions").glob("*.ipynb"))}


def known_digests(folder: Path) -> dict[str, str]:
    path = folder / "editions.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def set_aside(path: Path) -> Path:
    """Move a student's notebook to where nothing is ever overwritten."""
    place = path.parent / "set_aside"
    place.mkdir(exist_ok=True)
    number = 1
    while (target := place / f"{path.stem}.{number}.ipynb").exists():
        number += 1
    return path.rename(target)


def stale(folder: Path = FOLDER) -> list[str]:
    """What is not as it would be written, one sentence each."""
    wanted, there = editions(folder), {path.name for path in folder.glob("*.ipynb")}
    found = [f"{name} has no solution to be made from" for name in sorted(there - set(wanted))]
    for name, text in wanted.items():
        path = folder / name
        if not path.is_file():
            found.append(f"{name} is missing")
        elif path.read_bytes() != text:
            found.append(f"{name} is not what solutions/{name} gives")
    if known_digests(folder) != {name: digest(text) for name, text in wanted.items()}:
        found.append("editions.json does not hold the digests of these editions")
    return found


def write(folder: Path = FOLDER) -> list[str]:
    """Write every student edition; returns what was done, one sentence each."""
    wanted, known, said = editions(folder), known_digests(folder), []
    for name, text in wanted.items():
        path = folder / name
        if path.is_file():
            old = path.read_bytes()
            if old == text:
                continue
            if digest(old) != known.get(name):
                kept = set_aside(path)
                said.append(f"{name} held work of yours: it is kept as {kept.parent.name}/{kept.name}")
        path.write_bytes(text)
        said.append(f"{name} written")
    record = {name: digest(text) for name, text in wanted.items()}
    if record != known:
        (folder / "editions.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8", newline="\n")
    return said


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 if something is not in order")
    try:
        check = parser.parse_args(arguments).check
        said = stale() if check else write()
    except Refused as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(said) or "exercises: all as their solutions give them")
    return int(check and bool(said))


if __name__ == "__main__":
    sys.exit(main())
