"""The command line: same answers as in a notebook, refusals in one sentence, a clean end whatever happens outside."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import dagkit as dk
from dagkit.__main__ import main
from dagkit.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
BIRDS = str(ROOT / "notebooks" / "data" / "bird_songs.json")
CHAIN = "extract -> load\nload -> report\n"


@pytest.fixture
def orders(tmp_path: Path) -> str:
    return str(dk.export_airflow(dk.examples.orders(), tmp_path / "orders.py").dag_file)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "show", BIRDS, "--tasks")
    birds = dk.load(BIRDS)
    assert f"critical path  {dk.critical_path(birds.dag).length:g}\n" in out
    assert "  fetch_labels > train > classify > report\n" in out and "wave 4   merge\n" in out
    assert out.count("\n  Files, machines") == 1 and len([line for line in out.splitlines() if "detect_" in line]) == 7
    assert "remarks of the reader" not in said(capsys, "show", BIRDS, "--quiet")


def test_plan_says_what_the_notebook_says(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "plan", BIRDS, "--slots", "3", "--moves")
    birds = dk.load(BIRDS).dag
    assert out.startswith(dk.answer(birds, 3) + "\n\nslots  makespan")
    rows = [line.split() for line in out.splitlines()]
    assert ["3", f"{dk.makespan(birds, 3):g}", f"{dk.lower_bound(birds, 3):g}", "slots"] in rows
    assert any(line.startswith("train in 2 parts") for line in out.splitlines())


def test_plan_of_a_recorded_run(capsys: pytest.CaptureFixture[str]) -> None:
    runs = ROOT / "notebooks" / "data" / "airflow_runs"
    out = said(capsys, "plan", str(runs / "orders.run.json"), "--dag", str(runs / "orders.py"))
    assert "\norders: the run took " in out and "\nDecided by " in out


def test_simulate_prints_the_golden_trace(capsys: pytest.CaptureFixture[str], orders: str) -> None:
    golden = (ROOT / "tests" / "data" / "orders_trace.txt").read_text(encoding="utf-8")
    lines = [line for line in golden.splitlines() if line.startswith("tick ")]
    out = said(capsys, "simulate", orders, "--quiet").splitlines()
    assert out[: len(lines)] == lines and out[-1] == "orders@0: success; last tick 16"


def test_simulate_other_forms_and_options(capsys: pytest.CaptureFixture[str], orders: str) -> None:
    final = said(capsys, "simulate", orders, "--final", "--outcome", "quality_check=success")
    assert ["publish", "success", "1"] in [line.split() for line in final.splitlines()]
    assert "full (1 of 1 used by extract_orders)" in said(capsys, "simulate", orders, "--tick", "3")
    both = said(capsys, "simulate", orders, "--tick", "2", "--pool", "db=2", "--runs", "1", "--pacing", "airflow")
    assert [line.split()[:2] for line in both.splitlines()[1:3]] == [["extract_orders", "running"],
                                                                     ["extract_users", "running"]]


def test_explain(capsys: pytest.CaptureFixture[str], orders: str) -> None:
    out = said(capsys, "explain", orders, "extract_users", "--tick", "2")
    assert out == (f"{dk.simulate(dk.examples.orders()).explain('extract_users', 2)}\n"
                   "what would help: give pool 'db' more slots\n")
    assert "quality_check is failed" in said(capsys, "explain", orders, "publish")


def test_export_to_every_form(capsys: pytest.CaptureFixture[str], orders: str, tmp_path: Path) -> None:
    dag = dk.load(orders).dag
    for form in dk.formats.WRITERS:
        assert said(capsys, "export", orders, "--to", form).rstrip("\n") == dk.dump(dag, form).rstrip("\n")
    back = tmp_path / "back.py"
    assert "airflow dags trigger orders" in said(capsys, "export", orders, "--to", "airflow", "--out", str(back))
    assert back.read_bytes() == Path(orders).read_bytes().replace(b"orders.pools.json", b"back.pools.json")
    for form in ("html", "chrome-trace"):
        assert said(capsys, "export", orders, "--to", form, "--out", str(tmp_path / form)) == ""
        assert (tmp_path / form).stat().st_size > 1000


def test_what_a_listing_returns_and_the_pool_it_needs_can_be_said(capsys: pytest.CaptureFixture[str]) -> None:
    daily = str(ROOT / "notebooks" / "data" / "orders_daily.py")
    without = said(capsys, "simulate", daily)
    assert "add --pool orders_db=1 with" in without and "--returns NAME=N" in without
    given = said(capsys, "simulate", daily, "--pool", "orders_db=1", "--returns", "list_files=4")
    assert "process[3]" in given and "add --pool" not in given and "was assumed" not in given


def test_plan_and_show_count_mapped_tasks_as_often_as_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    daily = str(ROOT / "notebooks" / "data" / "orders_daily.py")
    without = said(capsys, "plan", daily)
    assert "Dag orders_daily: 3 tasks" in without and "A mapped task counts once here: process." in without
    given = said(capsys, "plan", daily, "--returns", "list_files=4")
    assert "Dag orders_daily: 6 tasks" in given and "4 slots or more can reach 3" in given and "counts once" not in given
    assert "wave 2   process[0], process[1]\n" in said(capsys, "show", daily, "--returns", "list_files=2")
    assert "Dag orders_daily: 2 tasks" in said(capsys, "plan", daily, "--returns", "list_files=0")


def test_plan_names_the_limits_it_knows_nothing_of(capsys: pytest.CaptureFixture[str], orders: str, tmp_path: Path) -> None:
    out = said(capsys, "plan", orders)
    assert "not counted here, but by `simulate`: pools db, default (--pool NAME=SLOTS); max_active_tasks=2\n" in out
    assert "not counted here" not in said(capsys, "plan", orders, "--quiet") + said(capsys, "plan", BIRDS, "--slots", "3")
    file = tmp_path / "tight.json"
    tasks = {"a": {"pool_slots": 2}, "b": {"max_active_tis_per_dag": 1}, "c": {}}
    dk.dump(dk.Dag.from_dict(tasks, "tight", max_active_tasks=2), "json", file)
    assert ("pool_slots of a; max_active_tis_per_dag of b; max_active_tasks=2\n"
            in said(capsys, "plan", str(file), "--slots", "3"))
    assert "max_active_tasks" not in said(capsys, "plan", str(file), "--slots", "2")


def test_a_unit_may_be_any_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert "one tick is 1e+09 s" in said(capsys, "simulate", BIRDS, "--unit", "1e9")


def test_what_is_read_is_not_written_over(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "e.txt").write_text(CHAIN, encoding="utf-8")
    out = str(tmp_path / "x" / ".." / "e.txt")
    (tmp_path / "x").mkdir()
    assert main(["export", str(tmp_path / "e.txt"), "--to", "json", "--out", out]) == 2
    assert "is the file that is read, and would be lost. Choose another path." in capsys.readouterr().err
    assert (tmp_path / "e.txt").read_text(encoding="utf-8") == CHAIN


@pytest.mark.skipif(os.name != "posix", reason="this system has no such file names")
def test_a_hostile_name_of_a_written_file(capsys: pytest.CaptureFixture[str], tmp_path: Path, orders: str) -> None:
    out = said(capsys, "export", orders, "--to", "airflow", "--out", str(tmp_path / "n\x1b[31mx.py"))
    assert "\x1b" not in out and "n\\x1b[31mx.py" in out and "airflow dags trigger orders" in out


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
def test_a_full_disk_behind_the_output() -> None:
    def full(stream: str, *command: str) -> subprocess.CompletedProcess[str]:
        with open("/dev/full", "w", encoding="utf-8") as disk:
            streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: disk}
            return subprocess.run([sys.executable, "-m", "dagkit", *command], cwd=ROOT, timeout=60, text=True, check=False,
                                  **streams)  # type: ignore[call-overload,no-any-return]
    told = full("stdout", "doctor")
    assert told.stderr == "dagkit: doctor: the output cannot be written: No space left on device. Send it elsewhere.\n"
    assert told.returncode == full("stderr", "show", "/no/such").returncode == 2


def test_drill_alone_says_how_to_begin(capsys: pytest.CaptureFixture[str]) -> None:
    line = said(capsys, "drill").splitlines()[-1]
    assert line.startswith("To begin: python -m dagkit ")
    assert "Critical path (seed 3, level 1)" in said(capsys, *line.split()[5:])


def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CHAIN.encode())))
    assert "extract > load > report" in said(capsys, "show", "-")


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["show", "/no/such/file"], "dagkit: file 'file': cannot be opened (No such file or directory). Check the path"),
    (["plan", BIRDS, "--slots", "0"], "plan: slots must be a whole number >= 1, not 0"),
    (["explain", BIRDS, "tarin"], "'tarin' matches no task. Did you mean 'train'"),
    (["simulate", BIRDS, "--pool", "db"], "dagkit: --pool must be NAME=VALUE, not 'db'."),
    (["simulate", BIRDS, "--pool", "db=x"], "--pool db must be a whole number of slots, not 'x'"),
    (["simulate", BIRDS, "--returns", "train=x"], "--returns train must be a whole number of values, not 'x'"),
    (["simulate", BIRDS, "--returns", "tarin=2"], "tarin"),
    (["simulate", BIRDS, "--unit", "years"], "unit must be a number > 0 or one of ms, s"),
    (["export", BIRDS, "--to", "dto"], "format 'dto' is unknown. Did you mean 'dot'"),
    (["export", BIRDS, "--to", "html"], "html is written to a file. Name it: --out PATH."),
    (["export", BIRDS, "--to", "dot", "--out", "/no/such/folder/x.dot"], "No such file or directory"),
    (["export", BIRDS, "--to", "dot", "--out", str(ROOT)], "dagkit: export: cannot write '"),
    (["simulate", BIRDS, "--runs", "100000"], "simulate: 100,000 runs of"),
    (["simulate", BIRDS, "--outcome", "train=fail:"], "'fail:' is not an outcome"),
])
def test_refusals(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert err.startswith("dagkit: ") and sentence in err and err.count("\n") == 1
    if arguments[0] != "plan":
        assert out == ""


@pytest.mark.parametrize("arguments", [[], ["shwo", "x"], ["plan"], ["plan", BIRDS, "--slots", "many"],
                                       ["show", BIRDS, "a\nb"]])
def test_wrong_use_is_one_sentence_too(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    out, err = capsys.readouterr()
    assert end.value.code == 2 and out == "" and err.count("\n") == 1 and "--help" in err


@pytest.mark.parametrize("name", [module.NAME for module in COMMANDS])
def test_help_teaches_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([name, "--help"])
    out = capsys.readouterr().out
    assert end.value.code == 0 and f"\n  python -m dagkit {name} " in out


def test_the_examples_of_the_help_use_options_that_exist() -> None:
    """Every example line is understood by the parser."""
    from dagkit.cli import parser
    for module in COMMANDS:
        examples = [line.split("   ")[0].split()[3:] for line in module.ABOUT.splitlines()
                    if line.startswith("  python -m dagkit ")]
        assert examples
        for example in examples:
            assert parser().parse_args(example).run


def test_hostile_names_and_a_terminal_without_unicode(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text('task,duration\n"a\x1b[31m",1\n"日本",2\n', encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "dagkit", "show", str(file), "--tasks"], cwd=ROOT, capture_output=True,
                          env={**os.environ, "PYTHONIOENCODING": "ascii"}, timeout=60)
    assert done.returncode == 0 and done.stderr == b""
    assert b"\x1b" not in done.stdout and b"a\\x1b[31m" in done.stdout and b"\\u65e5\\u672c" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes as POSIX has them")
def test_a_closed_pipe_and_an_interrupt_end_without_a_word(tmp_path: Path) -> None:
    big = tmp_path / "big.txt"
    big.write_text("".join(f"t{i} -> t{i + 1}\n" for i in range(4000)), encoding="utf-8")
    command = [sys.executable, "-m", "dagkit", "simulate", str(big)]
    closed = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert closed.stdout is not None and closed.stderr is not None
    closed.stdout.readline()
    closed.stdout.close()
    assert closed.stderr.read() == b"" and closed.wait(60) == 141
    closed.stderr.close()
    held = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert held.stdout is not None
    held.stdout.readline()                                 # there is more than a pipe holds, so it now waits to write
    held.send_signal(signal.SIGINT)
    assert held.communicate(timeout=60)[1] == b"" and held.returncode == 130


def test_a_mistyped_command_is_told_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["simulat", "x"])
    assert "there is no command 'simulat'. Did you mean 'simulate'?" in capsys.readouterr().err


def test_no_run_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "simulate", BIRDS, "--runs", "0") == "Nothing is played: there is no run. Give --runs 1 or more.\n"


def test_closed_streams(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["show", "-"]) == 2
    assert capsys.readouterr().err == "dagkit: show: standard input is closed. Send something in, or name a file.\n"
    for command in (["show", BIRDS], ["export", BIRDS, "--to", "dot"]):
        monkeypatch.setattr(sys, "stdout", None)
        assert main(command) == 0


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize("module", ["dagkit.dag", "dagkit.engine", "dagkit.cli", "dagkit.formats"])
def test_an_interrupt_while_the_package_loads_ends_without_a_word(module: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(textwrap.dedent(f"""
        import os, signal, sys
        class Finder:
            def find_spec(self, name, path=None, target=None):
                if name == {module!r}:
                    os.kill(os.getpid(), signal.SIGINT)
        sys.meta_path.insert(0, Finder())
    """), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run([sys.executable, "-m", "dagkit", "show", BIRDS], capture_output=True, env=environment, timeout=60,
                          check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_an_interrupt_while_the_commands_are_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt
    monkeypatch.setattr("dagkit.cli.main", interrupted)
    assert main(["show", BIRDS]) == 130
