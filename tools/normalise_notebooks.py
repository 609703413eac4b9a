"""Give saved notebooks one form: the same source, the same bytes.

    python tools/normalise_notebooks.py NOTEBOOK ...             only normalise
    python tools/normalise_notebooks.py --execute NOTEBOOK ...   run, then normalise
    python tools/normalise_notebooks.py --clear NOTEBOOK ...     remove outputs (exercises to fill in)
    python tools/normalise_notebooks.py --check NOTEBOOK ...     change nothing, say what is not in order

`make lab` calls `as_saved` whenever JupyterLab saves, so that reading the lessons changes no file of the repository.

What goes, because it differs from run to run or from machine to machine: timestamps, widget state and the
random model ids that point into it, the exact Python version, editor state, the frames of tracebacks, and how
output happened to be cut into pieces. What stays: sources, tags, cell ids, outputs.
"""

from __future__ import annotations

import argparse
import copy
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
# Cell metadata that an author means; all else is written by programs.
KEPT_METADATA = ("deletable", "editable", "slideshow", "tags")
# Tags with which a code cell may be saved without having run.
NOT_RUN = {"nbval-skip", "skip-execution"}
MACHINE_PATH = re.compile(
    r"(?<![\w.:/])/(?:home|root|tmp|usr|opt|work|Users|private|var)/\w"
    r"|[A-Z]:\\{1,2}Users\\"
)
CELL_SECONDS = 120


def normalise(notebook: NotebookNode) -> NotebookNode:
    """A copy in the one saved form. Doing it twice changes nothing more."""
    result = copy.deepcopy(notebook)
    result.nbformat, result.nbformat_minor = 4, 5
    result.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    count = 0
    for number, cell in enumerate(result.cells):
        cell.id = cell.get("id") or f"cell-{number}"
        cell.metadata = nbformat.from_dict({k: cell.metadata[k] for k in KEPT_METADATA if k in cell.metadata})
        if cell.cell_type == "code":
            cell.outputs = clean_outputs(cell.outputs)
            if cell.execution_count is not None:
                count += 1
                renumber(cell, count)
    return result


def renumber(cell: NotebookNode, count: int) -> None:
    cell.execution_count = count
    for output in cell.outputs:
        if output.output_type == "execute_result":
            output.execution_count = count


def clean_outputs(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Without widget views, metadata and traceback frames; neighbouring pieces of a stream joined."""
    kept: list[NotebookNode] = []
    for output in outputs:
        if output.output_type == "stream":
            if kept and kept[-1].output_type == "stream" and kept[-1].name == output.name:
                kept[-1].text += output.text
                continue
        elif output.output_type in ("display_data", "execute_result"):
            output.data.pop(WIDGET_VIEW, None)
            output.metadata = nbformat.from_dict({})
            if not output.data:
                continue
        elif output.output_type == "error":
            # The frames name files of this machine; the message is what a lesson shows an error for.
            output.traceback = [f"{output.ename}: {output.evalue}"]
        kept.append(output)
    return kept


def as_saved(model: dict[str, Any], **_: Any) -> None:
    """A hook for Jupyter's pre_save_hook: a notebook that was only opened, or run from top to bottom, is saved as it was.

    Takes away what JupyterLab adds by itself: the exact Python, and widget views (their ids are random) where the output
    has something else to show. What a learner writes and gets stays.
    """
    if model.get("type") != "notebook" or not isinstance(model.get("content"), dict):
        return
    language = model["content"].get("metadata", {}).get("language_info", {})
    if language.get("name") == "python":
        model["content"]["metadata"]["language_info"] = {"name": "python"}
    for cell in model["content"].get("cells", ()):
        for output in cell.get("outputs", ()):
            if len(output.get("data", ())) > 1:
                output["data"].pop(WIDGET_VIEW, None)


def clear(notebook: NotebookNode) -> NotebookNode:
    """Normalised, with no outputs and no execution counts."""
    result = normalise(notebook)
    for cell in result.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return result


def execute(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """Run every cell in a fresh kernel that starts in ``folder``; the first error stops it."""
    from nbclient import NotebookClient

    client = NotebookClient(
        copy.deepcopy(notebook),
        timeout=CELL_SECONDS,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        resources={"metadata": {"path": str(folder)}},
    )
    return client.execute()


def to_text(notebook: NotebookNode) -> str:
    return nbformat.writes(notebook, version=4) + "\n"


def runs(cell: NotebookNode) -> bool:
    """Whether running the notebook runs this cell (an empty one gets no number)."""
    tagged = NOT_RUN.intersection(cell.metadata.get("tags", ()))
    return cell.cell_type == "code" and bool(cell.source.strip()) and not tagged


def problems(text: str, *, executed: bool = True) -> list[str]:
    """What is not in order in a saved notebook, one sentence each; empty when all is well."""
    notebook = nbformat.reads(text, as_version=4)
    found = count_problems(notebook) if executed else leftover_problems(notebook)
    if text != to_text(normalise(notebook)):
        found.append("not normalised (metadata, widget views, stream pieces, counts or JSON layout)")
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", ()):
            if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", ()):
                found.append(f"cell {number} ended in {output.ename}")
            if match := MACHINE_PATH.search(str(dict(output))):
                found.append(f"cell {number} shows a path of one machine: {match.group()}...")
    return found


def count_problems(notebook: NotebookNode) -> list[str]:
    counts = [cell.execution_count for cell in notebook.cells if runs(cell)]
    if counts == list(range(1, len(counts) + 1)):
        return []
    return [f"the code cells were not run once each from top to bottom: counts {counts}"]


def leftover_problems(notebook: NotebookNode) -> list[str]:
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    used = [cell.id for cell in code if cell.outputs or cell.execution_count]
    return [f"to be filled in by a learner, yet saved with outputs in cells {used}"] if used else []


def process(path: Path, options: argparse.Namespace) -> bool:
    """Handle one notebook; True when nothing was wrong with it."""
    text = path.read_text(encoding="utf-8")
    if options.check:
        found = problems(text)
        for problem in found:
            print(f"{path}: {problem}; run `make notebooks`")
        return not found
    notebook = nbformat.reads(text, as_version=4)
    if options.execute:
        notebook = execute(notebook, path.parent)
    new = to_text(clear(notebook) if options.clear else normalise(notebook))
    if new != text:
        path.write_text(new, encoding="utf-8", newline="\n")
    print(f"{path}: {'saved' if new != text else 'unchanged'}", flush=True)
    return True


def main(arguments: list[str] | None = None) -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--execute", action="store_true", help="run the notebooks first")
    what.add_argument("--clear", action="store_true", help="remove all outputs")
    what.add_argument("--check", action="store_true", help="change nothing, exit 1 if not in order")
    parser.add_argument("notebooks", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    good = True
    for path in options.notebooks:
        try:
            good = process(path, options) and good
        except Exception as error:  # one broken notebook must not hide the state of the others
            print(f"{path}: {error}", file=sys.stderr)
            good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
