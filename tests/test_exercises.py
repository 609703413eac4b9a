"""Exercises: solutions pass, the student edition asks and tells nothing, and known mistakes fail for their own reason."""

from __future__ import annotations

import builtins
import json
import linecache
import mmap
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config

import dagkit as dk
from dagkit import exercises
from dagkit.exercises import NotYet, apart, trial
from dagkit.lesson.lessons import MODULES
from tests.wrong_answers import WRONG
from tools import check_exercises, make_exercises

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "exercises"
SOLUTIONS = sorted((FOLDER / "solutions").glob("*.ipynb"))
NAMES = [path.stem for path in SOLUTIONS]


@cache
def cells(path: Path) -> list[Any]:
    found: list[Any] = nbformat.read(path, as_version=4).cells
    return found


def run(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """What a notebook defines when its cells run in this process, and what each check cell says."""
    space: dict[str, Any] = {"__name__": "__main__"}
    said: dict[str, str] = {}
    for cell in cells(path):
        if check_exercises.is_check(cell):
            number = cell.source.split('"')[1]
            try:
                said[number] = repr(eval(cell.source, space))
            except NotYet as error:
                said[number] = "\n".join(error._render_traceback_())
        elif cell.cell_type == "code":
            exec(compile(cell.source, path.stem, "exec"), space)
    return space, said


@cache
def solved(name: str) -> tuple[dict[str, Any], dict[str, str]]:
    return run(FOLDER / "solutions" / f"{name}.ipynb")


# ---- the notebooks ----------------------------------------------------------------------------------------------


def test_every_task_is_in_exactly_one_notebook_in_order() -> None:
    asked = [cell.source for path in SOLUTIONS for cell in cells(path) if check_exercises.is_check(cell)]
    assert asked == [f'dk.exercises.check("{number}")' for number in exercises.tasks()]


def test_an_exercise_for_every_lesson_there_is() -> None:
    lessons = {path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")} - {"00_start_here"}
    assert lessons <= set(NAMES), "lessons without an exercise"


@pytest.mark.parametrize("name", NAMES)
def test_solutions_pass(name: str) -> None:
    said = solved(name)[1]
    assert said and all(text.startswith("✓") for text in said.values()), said


@pytest.mark.parametrize("name", NAMES)
def test_unsolved_every_check_points_to_its_task(name: str) -> None:
    for number, text in run(FOLDER / f"{name}.ipynb")[1].items():
        assert text.startswith(f"✗ {number} not yet."), text
        assert "Hint: " in text, text


@pytest.mark.parametrize("name", NAMES)
def test_an_exercise_has_a_worked_example_a_half_done_task_and_one_of_ones_own(name: str) -> None:
    titles = [cell.source for cell in cells(FOLDER / f"{name}.ipynb") if cell.cell_type == "markdown"]
    heads = re.findall(r"^## (.*)$", "\n".join(titles), flags=re.M)
    assert heads[0].startswith("Worked example"), heads
    assert "Half done" in heads[1] and len(heads) > 2, heads
    lesson = ROOT / "notebooks" / f"{name}.ipynb"
    assert f"](../notebooks/{lesson.name})" in titles[0]


def test_links_lead_somewhere() -> None:
    for path in [*SOLUTIONS, *FOLDER.glob("[0-9]*.ipynb")]:
        for cell in cells(path):
            for target in re.findall(r"\]\((?!http)([^)#]+)\)", cell.source) if cell.cell_type == "markdown" else ():
                coming = "/notebooks/" in target and int(path.stem[:2]) not in MODULES   # lesson still to be written
                assert coming or (path.parent / target).is_file(), f"{path.name}: {target}"


# ---- the student edition ----------------------------------------------------------------------------------------


def test_the_student_edition_is_what_the_solutions_give() -> None:
    assert make_exercises.stale() == [], "run `make exercises`"


def test_no_solution_can_be_read_in_the_student_edition() -> None:
    for name, raw in make_exercises.editions(FOLDER).items():
        assert b"SOLUTION" not in raw and b'"outputs": []' in raw, name


CELL = "x = 1\n### BEGIN SOLUTION\nanswer = find(x)\n### END SOLUTION\nprint(x)"


def notebook(*sources: str) -> Any:
    return new_notebook(cells=[new_code_cell(source, id=f"c{k}") for k, source in enumerate(sources)])


def test_a_leaked_answer_is_refused() -> None:
    student = make_exercises.student_edition(notebook(CELL))
    assert student.cells[0].source == "x = 1\n# YOUR CODE HERE\nprint(x)"
    body = notebook("def f():\n    ### BEGIN SOLUTION\n    return 42\n    ### END SOLUTION")
    assert make_exercises.student_edition(body).cells[0].source == "def f():\n    # YOUR CODE HERE\n    ..."
    with pytest.raises(make_exercises.Refused, match="would show a solution: answer = find"):
        make_exercises.student_edition(notebook(CELL, "# it is: answer = find(x)"))


@pytest.mark.parametrize("source", ["### BEGIN SOLUTION\nx = 1", "### END SOLUTION", CELL + "\n### END SOLUTION", "x = 1"])
def test_markers_without_a_partner_and_notebooks_without_a_task_are_refused(source: str) -> None:
    with pytest.raises(make_exercises.Refused):
        make_exercises.student_edition(notebook(source))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An exercises folder with one solution and its student edition."""
    (tmp_path / "solutions").mkdir()
    nbformat.write(notebook(CELL), tmp_path / "solutions" / "01_a.ipynb")
    assert make_exercises.write(tmp_path) == ["01_a.ipynb written"]
    return tmp_path


def test_work_of_a_student_is_set_aside_never_overwritten(folder: Path) -> None:
    mine = folder / "01_a.ipynb"
    for number in (1, 2):
        work = mine.read_text(encoding="utf-8").replace("YOUR CODE HERE", f"my work {number}")
        mine.write_text(work, encoding="utf-8")
        said = make_exercises.write(folder)
        assert said[0] == f"01_a.ipynb held work of yours: it is kept as set_aside/01_a.{number}.ipynb"
        assert (folder / "set_aside" / f"01_a.{number}.ipynb").read_text(encoding="utf-8") == work
    assert make_exercises.write(folder) == make_exercises.stale(folder) == []


def test_an_untouched_older_edition_is_simply_replaced(folder: Path) -> None:
    nbformat.write(notebook(CELL.replace("print(x)", "print(x, x)")), folder / "solutions" / "01_a.ipynb")
    assert len(make_exercises.stale(folder)) == 2
    assert make_exercises.write(folder) == ["01_a.ipynb written"]
    assert not (folder / "set_aside").exists()


# ---- what the checkers say --------------------------------------------------------------------------------------


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge in this process: a copy of it for each of hundreds of answers would take half a minute."""
    monkeypatch.setattr(apart, "run", lambda work: work())


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("number", exercises.tasks())
def test_known_mistakes_fail_for_their_own_reason(number: str) -> None:
    assert len(WRONG[number]) >= 2
    task = exercises.tasks()[number]
    name = next(stem for stem in NAMES if int(stem[:2]) == int(number.split(".")[0]))
    for mistake, reason in WRONG[number]:
        space = {**solved(name)[0], "__name__": "__main__"}
        exec(mistake, space)
        with pytest.raises(NotYet) as told:
            task.judge(space)
        assert re.search(reason, str(told.value)), f"{number}: {told.value}\nwanted: {reason}"


RIGHT = {"only the ring": "f'{known}'", "with arrows": "' -> '.join(known)", "in two parts": "'ring', known",
         "in quotes, with what waits behind it": "f'\\n{known!r}, behind it: mail'"}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("said", RIGHT)
def test_a_ring_may_be_named_in_any_words(said: str) -> None:
    """A graph search that finds the ring itself, and Kahn's list of what is left, are both right."""
    space = dict(solved("01_why_a_dag")[0])
    exec("solved = waves\ndef waves(needs):\n    try: return solved(needs)\n    except ValueError:\n"
         "        known = [t for t in needs if t in ('fetch', 'publish', 'clean', 'model', 'score')]\n"
         f"        raise ValueError({RIGHT[said]}) from None", space)
    assert repr(exercises.judge("1.2", space)).startswith("✓ 1.2 done.")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("number", exercises.tasks())
def test_anything_at_all_is_answered_with_a_sentence(number: str) -> None:
    """A value of the wrong kind, a function that fails, one that quits: always the one error of the checkers."""
    task = exercises.tasks()[number]
    for odd in (17, "", [], {}, object(), NotYet, lambda *_: 1 // 0, lambda *_: sys.exit(0), lambda *_: object()):
        with pytest.raises(NotYet, match=f"^{number} not yet: "):
            task.judge(dict.fromkeys(task.needs, odd))


def test_a_learners_own_line_is_named_and_no_frame_of_the_kit() -> None:
    space: dict[str, Any] = {}
    exec(compile("def order(needs):\n    return needs['nobody']", "cell", "exec"), space)
    with pytest.raises(NotYet, match=r"ended in KeyError: 'nobody' in line 2\.") as told:
        exercises.judge("1.1", space)
    assert "/" not in str(told.value)


def test_ipython_shows_the_sentences_and_no_traceback(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}), colors="nocolor")
    shell.run_cell("import dagkit\nneeds = 3\norder = lambda needs: needs + 1\ndagkit.exercises.check('1.1')")
    lines = capsys.readouterr().out.strip().split("\n")
    assert len(lines) == 2, lines
    assert lines[0].startswith("✗ 1.1 not yet. order({") and lines[1].startswith("  Hint: "), lines


ENDLESS = {
    "one line": "while True: pass",
    "two lines": "while True:\n    needs = needs",
    "expression": "[None for _ in iter(int, 1)]",
    "generator": "yield from iter(int, 1)",
    "error ignored": "while True:\n    try: int('x')\n    except ValueError: pass",
    "every error ignored": "while True:\n    try: int('x')\n    except: pass",
    "every error ignored at both ends": "while True:\n    try:\n        while True: pass\n    except: continue",
    "finally": "try:\n    while True: pass\nfinally:\n    while True: pass",
    "own thread state": "import sys\nsys.settrace(None)\nwhile True: pass",
    "sleep": "import time\ntime.sleep(10**6)",
    "lock": "import threading\nthreading.Event().wait()",
}
ONE_STEP = {                                                    # nothing inside Python lets anybody else in
    "sum": "sum(iter(int, 1))",
    "recursion, every error ignored": "try: order(needs)\nexcept: pass\ntry: order(needs)\nexcept: pass",
}
BROKEN = {
    "recursion": ("return order(needs)", "ended in RecursionError"),
    "memory": ("return 'x' * 10**11", "ended in MemoryError"),
    "memory, bit by bit": ("import itertools\nreturn list(itertools.repeat(needs))", "ended in MemoryError"),
    "input": ("return input('?')", "nobody answers input"),
    "exit": ("raise SystemExit", "ended in SystemExit"),
    "hard exit": ("import os\nos._exit(0)", "ended the whole program"),
    "interrupt": ("raise KeyboardInterrupt", "Your code raised KeyboardInterrupt, which ends a whole program"),
    "hard exit of a process with a copy": ("import os, time\nif os.fork() == 0: time.sleep(9)\nos._exit(0)", "not yet: "),
}


def answered(body: str) -> str:
    """What the check of 1.1 says to a function with this body."""
    space: dict[str, Any] = {}
    exec("def order(needs):\n    " + body.replace("\n", "\n    "), space)
    with pytest.raises(NotYet) as told:
        exercises.judge("1.1", space)
    return str(told.value)


@pytest.fixture(params=["forked", "threaded"])
def way(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to run an answer apart, and less patience than a learner gets."""
    if request.param == "forked" and sys.platform != "linux":
        pytest.skip("only Linux copies processes safely")
    monkeypatch.setattr(apart, "run", getattr(apart, request.param))
    monkeypatch.setattr(apart, "MOST_SECONDS", 0.5)
    monkeypatch.setattr(trial, "MOST_STEPS", 20_000)
    return str(request.param)


@pytest.mark.parametrize("shape", [*ENDLESS, *ONE_STEP])
def test_what_does_not_end_is_given_up(shape: str, way: str) -> None:
    if way == "threaded" and (shape in ONE_STEP or shape == "own thread state"):
        pytest.skip("would go on in this process for ever")
    before = sys.gettrace()
    assert answered({**ENDLESS, **ONE_STEP}[shape]).startswith("1.1 not yet: Your code does not come to an end. Hint: ")
    assert sys.gettrace() is before


@pytest.mark.skipif(sys.platform != "linux", reason="only a process of its own can be ended or limited")
@pytest.mark.parametrize("shape", BROKEN)
def test_what_breaks_is_told_and_nothing_else_breaks(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "MORE_MEMORY", 2**28)
    monkeypatch.setattr(apart, "MOST_SECONDS", 5.0)
    body, reason = BROKEN[shape]
    assert reason in answered(body)


def test_what_is_printed_while_a_check_runs_can_be_read(way: str, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "MOST_SECONDS", 60.0)
    answered("print('seen', len(needs) > -1)\nreturn []")
    assert capsys.readouterr().out.startswith("seen True\n")


linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux copies processes safely")


@linux
def test_threads_and_copies_of_an_answer_may_print_at_once(capsys: Any) -> None:
    def work() -> apart.Verdict:
        def lines() -> None:
            for _ in range(20):
                print("y" * 2_000)

        threads = [threading.Thread(target=lines) for _ in range(2)]
        for thread in threads:
            thread.start()
        if (copy := os.fork()) == 0:                            # what a copy prints, and finds, is nobody's answer
            lines()
            return "of the copy", ""
        os.waitpid(copy, 0)
        for thread in threads:
            thread.join()
        return "of the answer", ""

    assert apart.forked(work) == ("of the answer", "")
    assert capsys.readouterr().out.count("y") == 2 * 20 * 2_000


@linux
@pytest.mark.parametrize(("said", "verdict"), [(b"\xff\x80\n", apart.GONE), (b"5\n", apart.GONE),
                                               (b"\x00\x01\x00\x00", apart.ENDLESS)])
def test_what_an_answer_writes_into_the_pipe_itself_is_no_verdict(
        said: bytes, verdict: apart.Verdict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "MOST_SECONDS", 0.5)
    before = set(os.listdir("/proc/self/fd"))

    def work() -> apart.Verdict:
        for pipe in set(os.listdir("/proc/self/fd")) - before:
            with suppress(OSError):
                os.write(int(pipe), said)
        time.sleep(60)
        return None

    assert apart.forked(work) == verdict


@linux
def test_no_process_of_an_answer_outlives_its_check(capsys: Any) -> None:
    def work() -> apart.Verdict:
        begun = [subprocess.Popen(["sleep", "60"]).pid]
        if (copy := os.fork()) == 0:
            time.sleep(60)
        print(os.getpid(), copy, *begun)
        return None

    assert apart.forked(work) is None
    for number in map(int, capsys.readouterr().out.split()):
        stat = Path(f"/proc/{number}/stat")
        for _ in range(500):                                    # a signal takes a moment to arrive
            if not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] == "Z":
                break
            time.sleep(0.01)
        else:
            pytest.fail(f"process {number} still runs")


@linux
def test_a_check_ends_with_a_notebook_that_is_killed() -> None:
    script = ("import os, time\nfrom dagkit.exercises import apart\ndef work():\n"
              "    os.write(1, b'%d\\n' % os.getpid())\n    time.sleep(60)\napart.forked(work)")
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=ROOT) as notebook:
        assert notebook.stdout and int(notebook.stdout.readline())
        notebook.kill()
        assert notebook.stdout.read() == b""                    # comes only when nobody can write there any more


def test_checks_at_once_leave_input_as_it_was(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "MOST_SECONDS", 20.0)
    before, verdicts = builtins.input, []

    class Check(threading.Thread):
        """Runs until it is told to go on; pipes reach threads and copies of the process alike."""

        def __init__(self) -> None:
            super().__init__(daemon=True)
            self.begun, self.go_on = os.pipe(), os.pipe()
            self.start()
            os.read(self.begun[0], 1)

        def run(self) -> None:
            verdicts.append(apart.run(self.work))

        def work(self) -> apart.Verdict:
            os.write(self.begun[1], b"1")
            os.read(self.go_on[0], 1)
            with pytest.raises(RuntimeError, match="nobody answers"):
                input()
            return None

        def end(self) -> None:
            os.write(self.go_on[1], b"1")
            self.join()
            for pipe in (*self.begun, *self.go_on):
                os.close(pipe)

    first, second = Check(), Check()
    first.end()
    second.end()
    assert verdicts == [None, None] and builtins.input is before


@linux
def test_addresses_that_are_only_reserved_are_not_memory_and_three_gigabytes_are() -> None:
    def reserves() -> apart.Verdict:
        mmap.mmap(-1, 4 * 2**30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0)      # as the drawing engine does
        return None

    def takes() -> apart.Verdict:
        bytearray(3 * 2**30)
        return None

    assert apart.forked(reserves) is None
    assert apart.forked(takes) == apart.GONE


@linux
def test_standard_output_of_an_answer_is_a_file(capsys: Any) -> None:
    def work() -> apart.Verdict:
        out: Any = sys.stdout
        assert (out.writable(), out.readable(), out.isatty(), out.encoding) == (True, False, False, "utf-8")
        with pytest.raises(TypeError, match="not int"):
            out.write(3)
        out.writelines(["a\n", "b\n"])
        print("\ud800 é", file=sys.stderr, flush=True)
        return None

    assert apart.forked(work) is None
    assert capsys.readouterr().out == "a\nb\n\\ud800 é\n"


@linux
def test_endless_printing_is_cut_with_a_sentence(capsys: Any) -> None:
    def work() -> apart.Verdict:
        for _ in range(1_000):
            print("x" * 999)
        return None

    assert apart.forked(work) is None
    assert capsys.readouterr().out == ("x" * 999 + "\n") * 100 + (
        "\n[Your code prints more than 100,000 characters. The rest is left out.]\n")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_a_program_is_named(error: type[BaseException], way: str) -> None:
    def work() -> apart.Verdict:
        raise error

    verdict = apart.run(work)
    assert verdict and verdict[0] == f"Your code raised {error.__name__}, which ends a whole program."


def test_arguments_cannot_be_changed_from_inside() -> None:
    given = [1]
    trial.call(lambda items: items.append(2) or items, given)
    assert given == [1]


def test_an_unknown_task_is_named() -> None:
    with pytest.raises(dk.DagkitError, match="task '1.9' is unknown"):
        exercises.judge("1.9", {})


def test_helpers_of_the_exercises_refuse_other_things_in_a_sentence() -> None:
    for odd in (None, -1, 3.5, 10**400, [1], {1: 2}, object()):
        for helper in (exercises.connections, exercises.in_order, exercises.places, exercises.told, exercises.work,
                       exercises.situations, lambda odd: exercises.night({}, odd), lambda odd: exercises.judge(odd, {}),
                       lambda odd: exercises.judge("1.1", [odd])):
            with pytest.raises(dk.DagkitError, match=r"\.$"):
                helper(odd)


@pytest.mark.usefixtures("here")
def test_a_function_that_is_only_half_written_is_told_so_instead_of_its_error() -> None:
    space: dict[str, Any] = {}
    cell = next(cell.source for cell in cells(FOLDER / "10_capacity_and_recovery.ipynb") if "def triggerers" in cell.source)
    linecache.cache["cell"] = (len(cell), None, cell.splitlines(keepends=True), "cell")
    exec(compile("import math\n", "cell", "exec"), space)
    exec(compile(cell, "cell", "exec"), space)
    with pytest.raises(NotYet, match="Hint: YOUR CODE HERE is still in triggerers: that part first"):
        exercises.judge("10.1", space)


def test_a_step_that_builds_on_a_broken_one_points_to_it() -> None:
    space = dict(solved("03_mini_scheduler")[0])
    exec("class States(States):\n    def start(self): pass\nclass Dependencies(States):\n    pass", space)
    with pytest.raises(NotYet, match="3.2 not yet: It builds on States, .* check of 3.1"):
        exercises.judge("3.2", space)


def test_golden_cases_are_the_recorded_ones() -> None:
    data = ROOT / "tests" / "data"
    known = {case["name"]: case for name in ("mini_scheduler", "mini_scheduler_order")
             for case in json.loads((data / f"{name}.json").read_text(encoding="utf-8"))}
    golden = json.loads((ROOT / "dagkit" / "exercises" / "golden.json").read_text(encoding="utf-8"))
    for case in golden:
        first = case.pop("from_step")
        assert case == known[case["name"]] and 2 <= first <= 5
    assert len(golden) >= 12


# ---- nbval on what a student wrote ------------------------------------------------------------------------------


def test_checks_are_restored_and_saved_outputs_dropped(tmp_path: Path) -> None:
    solution = nbformat.read(SOLUTIONS[0], as_version=4)
    student = nbformat.read(FOLDER / SOLUTIONS[0].name, as_version=4)
    checks = [cell.id for cell in solution.cells if check_exercises.is_check(cell)]
    student.cells = [cell for cell in student.cells if cell.id != checks[0]]                       # one removed
    for cell in student.cells:
        cell.metadata = {"tags": ["nbval-skip", "raises-exception"]}
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], 5
        if cell.id == checks[1]:
            cell.source = "# NBVAL_SKIP\nprint('✓')"                                               # one replaced
    ready = check_exercises.prepared(student, solution, tmp_path)
    found = {cell.id: cell for cell in ready.cells}
    assert [cell.id for cell in ready.cells if cell.id in checks] == checks
    for cell in solution.cells:
        if check_exercises.is_check(cell):
            assert (found[cell.id].source, found[cell.id].outputs) == (cell.source, cell.outputs)
    assert not any(cell.get("outputs") or cell.get("execution_count") or cell.metadata for cell in ready.cells
                   if cell.id not in checks)


def test_a_cell_left_as_it_was_given_out_is_named_instead_of_the_error_it_leads_to() -> None:
    solution = nbformat.read(FOLDER / "solutions" / "10_capacity_and_recovery.ipynb", as_version=4)
    student = nbformat.read(FOLDER / "10_capacity_and_recovery.ipynb", as_version=4)
    code = [cell for cell in student.cells if cell.cell_type == "code"]
    checks = [number for number, cell in enumerate(code) if check_exercises.is_check(cell)]
    report = check_exercises.Report()
    report.passed = {("0", number) for number in range(len(code)) if number not in checks}
    report.failed = {("0", number): "TypeError" for number in checks}
    given = check_exercises.stubs(solution)
    code[checks[1] - 1].source += "\n    return 1"                                 # 10.2 was tried
    assert check_exercises.told(student.cells, report, "0", given)[:3] == [
        "  ✗ 10.1 not yet. YOUR CODE HERE is still there.", "  ✗ 10.2: TypeError",
        "  ✗ 10.3 not yet. YOUR CODE HERE is still there."]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(("given", "chosen"), [([], []), (["EXERCISE=03"], ["03"]), (["EXERCISES=01 03"], ["01", "03"])])
def test_make_passes_on_which_exercises_are_meant(given: list[str], chosen: list[str]) -> None:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    said = subprocess.run(["make", "-n", "check-exercises", *given], cwd=ROOT, env=own, capture_output=True, text=True,
                          check=True)
    line = said.stdout.strip().split("\n")[-1].split()
    assert line[1:] == ["tools/check_exercises.py", *chosen]
    assert "mypy" not in said.stdout and "[lab,test" not in said.stdout       # a learner needs neither


@pytest.mark.slow
def test_nbval_tells_solved_from_unsolved_and_ignores_what_was_saved(tmp_path: Path) -> None:
    """One notebook solved; one unsolved, with the outputs of its solution pasted in and told to expect exceptions."""
    names = [path.name for path in SOLUTIONS[:2]]
    forged, done = (tmp_path / name for name in names)
    done.write_bytes((FOLDER / "solutions" / names[1]).read_bytes())
    student, solution = (nbformat.read(folder / names[0], as_version=4) for folder in (FOLDER, FOLDER / "solutions"))
    outputs = {cell.id: cell for cell in solution.cells}
    for cell in student.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = outputs[cell.id].outputs, outputs[cell.id].execution_count
            cell.metadata["tags"] = ["raises-exception"]
    nbformat.write(student, forged)
    command = [sys.executable, str(ROOT / "tools" / "check_exercises.py"), str(forged), str(done)]
    found = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=300, check=False,
                           env={**os.environ, "PYTHONIOENCODING": "utf-8"}, cwd=tmp_path)
    assert found.returncode == 1, found.stdout + found.stderr
    assert f"✗ {names[0]}: not done yet\n  ✗ 1.1 not yet." in found.stdout
    assert f"✓ {names[1]}: all done\n  ✓ 2.1\n  ✓ 2.2" in found.stdout
    assert "Traceback" not in found.stdout and "1 of 2 notebooks done." in found.stdout


def test_a_generator_without_end_comes_to_an_end():
    def endless(_):
        while True:
            yield 1

    with pytest.raises(trial.NotYet, match="does not come to an end"):
        trial.bounded(endless, None)
    assert trial.bounded(lambda: (n for n in range(3))) == [0, 1, 2]
