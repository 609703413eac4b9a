"""Saved notebooks are in order. That their outputs are what running gives is nbval's part of `make test`."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools.normalise_notebooks import WIDGET_VIEW, as_saved, clear, main, normalise, problems, to_text

ROOT = Path(__file__).resolve().parent.parent


def saved(*patterns: str) -> list[Path]:
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


LESSONS = saved("notebooks/*.ipynb", "notebooks/classroom/*.ipynb", "exercises/solutions/*.ipynb")
EXERCISES = saved("exercises/*.ipynb")


# A loop inside one test, so that a repository with no notebooks yet is not reported as a skipped test.
def test_lessons_are_as_make_notebooks_saves_them():
    assert_in_order(LESSONS, executed=True)


def test_exercises_are_saved_without_outputs():
    assert_in_order(EXERCISES, executed=False)


def assert_in_order(paths, executed):
    found = []
    for path in paths:
        text = path.read_text(encoding="utf-8")
        found += [f"{path.name}: {problem}" for problem in problems(text, executed=executed)]
    assert not found, "run `make notebooks`:\n" + "\n".join(found)


# ---- the tool itself, on a notebook with every kind of noise ----


def noisy():
    """What nbconvert and JupyterLab leave behind after a run with widgets."""
    view = {WIDGET_VIEW: {"model_id": "5f3c", "version_major": 2}, "text/plain": "IntSlider(value=3)"}
    streams = [new_output("stream", name="stdout", text=text) for text in ("tick 1\n", "tick 2\n")]
    cells = [
        new_markdown_cell("# Lesson", metadata={"jp-MarkdownHeadingCollapsed": True}),
        new_code_cell(
            "play()",
            execution_count=7,
            metadata={"execution": {"iopub.status.busy": "2026-01-01T00:00:00Z"}, "tags": ["predict"]},
            outputs=[*streams, new_output("execute_result", view, execution_count=7, metadata={"odd": 1})],
        ),
        new_code_cell("show()", execution_count=9, outputs=[new_output("display_data", {WIDGET_VIEW: {}})]),
        new_code_cell(
            "cycle()",
            execution_count=10,
            metadata={"tags": ["raises-exception"]},
            outputs=[new_output("error", ename="CycleError", evalue="a -> a", traceback=["File x.py"])],
        ),
    ]
    metadata = {
        "kernelspec": {"name": "my-env", "display_name": "My env", "language": "python"},
        "language_info": {"name": "python", "version": "3.12.1"},
        "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {"5f3c": {}}}},
    }
    return new_notebook(cells=cells, metadata=metadata)


def test_noise_goes():
    text = to_text(normalise(noisy()))
    for noise in ("5f3c", "model_id", "2026-01-01", "3.12.1", "my-env", "odd", "Collapsed", "x.py"):
        assert noise not in text, noise


def test_meaning_stays():
    before, after = noisy(), normalise(noisy())
    assert [cell.source for cell in after.cells] == [cell.source for cell in before.cells]
    play, show, cycle = after.cells[1:]
    assert play.metadata == {"tags": ["predict"]}
    assert [output.output_type for output in play.outputs] == ["stream", "execute_result"]
    assert play.outputs[0].text == "tick 1\ntick 2\n"
    assert play.outputs[1].data == {"text/plain": "IntSlider(value=3)"}
    assert show.outputs == []
    assert cycle.outputs[0].traceback == ["CycleError: a -> a"]
    assert [cell.execution_count for cell in (play, show, cycle)] == [1, 2, 3]
    assert play.outputs[1].execution_count == 1


def test_the_result_is_a_valid_notebook_and_stays_as_it_is():
    notebook = noisy()
    untouched = to_text(notebook)
    once = normalise(notebook)
    nbformat.validate(once)
    assert to_text(notebook) == untouched, "normalise changed its argument"
    assert to_text(normalise(once)) == to_text(once)


def test_where_a_stream_was_cut_does_not_matter():
    pieces = [["ab\nc", "d\n"], ["ab\n", "cd\n"], ["ab\ncd\n"]]
    texts = set()
    for cut in pieces:
        outputs = [new_output("stream", name="stdout", text=text) for text in cut]
        texts.add(to_text(normalise(new_notebook(cells=[new_code_cell("f()", id="a", outputs=outputs)]))))
    assert len(texts) == 1


def test_stdout_and_stderr_are_not_joined():
    outputs = [new_output("stream", name=name, text=f"{name}\n") for name in ("stdout", "stderr", "stdout")]
    (cell,) = normalise(new_notebook(cells=[new_code_cell("f()", outputs=outputs)])).cells
    assert [output.name for output in cell.outputs] == ["stdout", "stderr", "stdout"]


def test_cells_without_an_id_get_the_same_one_every_time():
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": "1"}
    notebook = nbformat.from_dict({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4})
    first, second = normalise(notebook), normalise(notebook)
    assert first.cells[0].id == second.cells[0].id
    nbformat.validate(first)


def text_of(*cells):
    return to_text(normalise(new_notebook(cells=list(cells))))


def test_a_good_notebook_has_no_problems():
    assert problems(to_text(normalise(noisy()))) == []


def test_an_unexecuted_cell_is_a_problem():
    (problem,) = problems(text_of(new_code_cell("1", execution_count=1), new_code_cell("2")))
    assert "counts [1, None]" in problem


@pytest.mark.parametrize(
    "cell",
    [
        new_code_cell("1", metadata={"tags": ["nbval-skip"]}),
        new_code_cell("1", metadata={"tags": ["skip-execution"]}),
        new_code_cell("  \n"),
        new_markdown_cell("text"),
    ],
)
def test_cells_that_are_not_run_need_no_count(cell):
    assert problems(text_of(cell, new_code_cell("2", execution_count=1))) == []


def test_cells_run_out_of_order_are_a_problem():
    cells = [new_code_cell("1", execution_count=2), new_code_cell("2", execution_count=1)]
    found = problems(to_text(new_notebook(cells=cells)))
    assert any("counts [2, 1]" in problem for problem in found)


def test_saved_noise_is_a_problem():
    assert any("not normalised" in problem for problem in problems(to_text(noisy())))


def test_an_error_nobody_asked_for_is_a_problem():
    error = new_output("error", ename="KeyError", evalue="'x'", traceback=[])
    (problem,) = problems(text_of(new_code_cell("f()", execution_count=1, outputs=[error])))
    assert problem == "cell 0 ended in KeyError"


@pytest.mark.parametrize("path", ["/" + "home/me/x", "/" + "tmp/ab", "C:\\Users\\me"])
def test_a_path_of_one_machine_is_a_problem(path):
    output = new_output("stream", name="stdout", text=f"saved to {path}\n")
    (problem,) = problems(text_of(new_code_cell("f()", execution_count=1, outputs=[output])))
    assert "path of one machine" in problem


def test_other_paths_are_none():
    output = new_output("stream", name="stdout", text="out/tmp/a https://example.org/home/x </tmp>\n")
    assert problems(text_of(new_code_cell("f()", execution_count=1, outputs=[output]))) == []


def test_an_exercise_with_outputs_is_a_problem_until_cleared():
    assert any("filled in by a learner" in each for each in problems(to_text(noisy()), executed=False))
    assert problems(to_text(clear(noisy())), executed=False) == []


def test_check_changes_nothing_and_says_what_is_wrong(tmp_path, capsys):
    path = tmp_path / "a.ipynb"
    before = to_text(noisy())
    path.write_text(before, encoding="utf-8")
    assert main(["--check", str(path)]) == 1
    assert "not normalised" in capsys.readouterr().out
    assert path.read_text(encoding="utf-8") == before
    assert main([str(path)]) == 0
    assert main(["--check", str(path)]) == 0


def test_a_broken_file_is_reported_and_the_others_are_done(tmp_path, capsys):
    broken, fine = tmp_path / "broken.ipynb", tmp_path / "fine.ipynb"
    broken.write_text("{", encoding="utf-8")
    fine.write_text(to_text(noisy()), encoding="utf-8")
    assert main([str(broken), str(fine)]) == 1
    assert "broken.ipynb" in capsys.readouterr().err
    assert problems(fine.read_text(encoding="utf-8")) == []


@pytest.mark.slow
def test_running_twice_gives_the_same_bytes(tmp_path):
    """The whole of `make notebooks` on streams in pieces, a widget and an error: two runs, one result."""
    source = "\n".join(["import sys", "for i in range(3):", "    print(i); sys.stdout.flush()"])
    cells = [
        new_code_cell(source, id="a"),
        new_code_cell("import ipywidgets\nipywidgets.IntSlider(3)", id="b"),
        new_code_cell("{}['x']", id="c", metadata={"tags": ["raises-exception"]}),
    ]
    results = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.ipynb"
        path.write_text(to_text(new_notebook(cells=cells)), encoding="utf-8")
        command = [sys.executable, str(ROOT / "tools" / "normalise_notebooks.py"), "--execute", str(path)]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        results.append(path.read_bytes())
    assert results[0] == results[1]
    text = results[0].decode("utf-8")
    assert problems(text) == []
    assert "IntSlider(value=3)" in text and "KeyError: 'x'" in text and "0\\n" in text


def test_a_lesson_that_was_only_read_in_jupyterlab_is_saved_as_it_was() -> None:
    """What JupyterLab 4 was seen to add when it opens and runs a notebook is put in, and has to go again."""
    kept = json.loads((ROOT / "notebooks" / "01_why_a_dag.ipynb").read_text(encoding="utf-8"))
    lab = copy.deepcopy(kept)
    lab["metadata"]["language_info"] |= {"version": "3.11.7", "file_extension": ".py", "mimetype": "text/x-python",
                                         "codemirror_mode": {"name": "ipython", "version": 3}}
    shown = [out for cell in lab["cells"] for out in cell.get("outputs", ()) if "text/html" in out.get("data", ())]
    assert shown
    for number, output in enumerate(shown):
        output["data"][WIDGET_VIEW] = {"model_id": f"{number:032x}", "version_major": 2, "version_minor": 1}
    as_saved({"type": "notebook", "content": lab}, path="notebooks/01_why_a_dag.ipynb", contents_manager=None)
    assert lab == kept


def test_what_a_learner_adds_is_saved() -> None:
    """A line more, a slider that has nothing but its view, another language, and files that are no notebooks."""
    slider = {"output_type": "display_data", "metadata": {}, "data": {WIDGET_VIEW: {"model_id": "a"}}}
    mine = {"metadata": {"language_info": {"name": "R", "version": "4"}},
            "cells": [{"cell_type": "code", "source": "x", "execution_count": 7, "outputs": [slider]},
                      {"cell_type": "markdown"}]}
    kept = copy.deepcopy(mine)
    as_saved({"type": "notebook", "content": kept})
    assert kept == mine
    for other in ({"type": "file", "content": "text"}, {"type": "directory"}, {"type": "notebook", "content": None}):
        as_saved(dict(other))


def test_make_lab_saves_by_that_hook() -> None:
    rules = (ROOT / "Makefile").read_text("utf-8")
    assert f"--ContentsManager.pre_save_hook=normalise_notebooks.{as_saved.__name__}" in rules
