"""The house: arrows point one way, the core touches nothing outside it, and the tick stays a tick."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import dagkit as dk
from dagkit import executors, faults
from dagkit.trigger_rules import RULES

PACKAGE = Path(__file__).resolve().parents[1] / "dagkit"

LAYERS = (
    {"errors", "checks", "keywords"},
    {"states"},
    {"trigger_rules"},
    {"parameters"},
    {"task", "graph", "dag", "waits", "executors", "faults", "weights"},
    {"planning", "config", "scenario"},
    {"engine"},
    {"usage", "stays", "faulted", "delivered", "situation", "explain", "meters", "redelivery", "remarks",
     "bridge", "bridge_rows", "named"},
    {"trace"},
    {"written", "widget"},
    {"serial", "compare", "compared", "breakeven", "choice", "examples", "interop", "naive", "museum", "chrome_trace"},
    {"formats", "latency", "capacity", "claims"},
    {"real_run", "recorded"},
    {"views"},
)
"""From the ground up. A module imports from its own layer and those below; whatever is not named here is on top."""
CORE = frozenset().union(*LAYERS[:9])
"""Modules that compute and nothing else."""
CONVENIENCES = {
    ("dag", "views"): "dag.draw()", ("engine", "trace"): "simulate() wraps its result", ("trace", "views"): "gantt()",
    ("trace", "serial"): "to_json()", ("trace", "compare"): "diff()",
    ("trace", "chrome_trace"): "to_chrome_trace()",
}
"""Methods that call upwards, with an import inside the function. Nothing of them runs unless they are called."""


class Import(NamedTuple):
    file: str
    line: int
    source: str          # the importing part of the package
    target: str          # the imported one
    inside: bool         # within a function
    typing: bool         # under TYPE_CHECKING, for annotations only


def part(dotted: str) -> str:
    """``dagkit.engine.plan`` -> ``engine``; the package's own __init__ is ""."""
    return (dotted.split(".") + [""])[1]


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@cache
def imports() -> tuple[Import, ...]:
    return tuple(found for path in sources() for found in _imports_of(path))


def _imports_of(path: Path) -> Iterator[Import]:
    names = ["dagkit", *path.relative_to(PACKAGE).with_suffix("").parts]
    package = names[:-1]                                    # what a leading dot in this file stands for
    source = part(".".join(names)) if names[-1] != "__init__" or len(names) > 2 else ""
    source = "" if source == "__init__" else source

    def walk(node: ast.AST, inside: bool, typing: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            deeper = inside or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            only_types = typing or (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING")
            for dotted in _targets(child, package):
                yield Import(path.name, child.lineno, source, part(dotted), deeper, only_types)  # type: ignore[attr-defined]
            yield from walk(child, deeper, only_types)

    yield from walk(ast.parse(path.read_text(encoding="utf-8")), False, False)


def _targets(node: ast.AST, package: list[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "dagkit")
    elif isinstance(node, ast.ImportFrom):
        base = package[:len(package) - node.level + 1] if node.level else []
        dotted = ".".join([*base, *([node.module] if node.module else [])])
        if dotted == "dagkit":
            yield from (f"dagkit.{alias.name}" for alias in node.names)
        elif dotted.startswith("dagkit."):
            yield dotted


def floor(name: str) -> int:
    return next((n for n, layer in enumerate(LAYERS) if name in layer), len(LAYERS))


def test_no_module_imports_from_a_layer_above() -> None:
    wrong = [f"{i.file}:{i.line}: {i.source} imports {i.target}" for i in imports()
             if floor(i.target) > floor(i.source) and not i.typing and (i.source, i.target) not in CONVENIENCES]
    assert not wrong, "arrows must point down the list:\n" + "\n".join(wrong)


def test_conveniences_import_inside_functions_and_are_needed() -> None:
    upward = {(i.source, i.target): i.inside for i in imports() if floor(i.target) > floor(i.source) and not i.typing}
    assert {pair for pair, inside in upward.items() if not inside} == set()
    assert set(upward) == set(CONVENIENCES), "an entry that nothing uses any more goes"


def test_every_named_part_exists() -> None:
    there = {p.stem for p in PACKAGE.glob("*.py")} | {p.parent.name for p in PACKAGE.glob("*/__init__.py")}
    assert frozenset().union(*LAYERS) <= there


def test_the_imports_are_really_seen() -> None:
    """The reader itself: a module import, a package import, a type-only one and one inside a function."""
    seen = {(i.source, i.target, i.inside, i.typing) for i in imports()}
    assert ("scenario", "dag", False, False) in seen
    assert ("engine", "scenario", False, False) in seen
    assert ("task", "dag", False, True) in seen
    assert ("dag", "views", True, False) in seen
    assert ("", "engine", False, False) in seen


# ---- the core computes, and nothing else -----------------------------------------------------------------------

OUTSIDE = {"time", "random", "os", "io", "sys", "subprocess", "socket", "threading", "multiprocessing", "asyncio", "uuid",
           "secrets", "tempfile", "logging", "shutil", "urllib", "http", "requests", "sqlite3", "locale", "getpass",
           "platform", "signal", "warnings", "pickle"}
TOUCHES = {"open", "print", "input", "exec", "eval", "breakpoint", "__import__"}
CLOCK = {"now", "utcnow", "today", "fromtimestamp", "read_text", "write_text", "read_bytes", "write_bytes", "urandom"}


def core_files() -> list[Path]:
    return [path for path in sources() if part(".".join(["dagkit", *path.relative_to(PACKAGE).with_suffix("").parts]))
            in CORE]


@pytest.mark.parametrize("path", core_files(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_the_core_reads_no_clock_no_file_and_no_dice(path: Path) -> None:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] in OUTSIDE]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found += [node.module] if (node.module or "").split(".")[0] in OUTSIDE else []
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TOUCHES:
            found.append(f"{node.func.id}()")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCK:
            found.append(f".{node.func.attr}()")
    assert not found


def test_the_core_is_where_it_is_thought_to_be() -> None:
    names = {str(p.relative_to(PACKAGE)) for p in core_files()}
    assert {"dag.py", "engine/tick.py", "trace.py", "explain.py", "planning/paths.py"} <= names


def test_simulating_loads_neither_pandas_nor_a_picture() -> None:
    """A trace is plain columns; tables and pictures are made when they are asked for."""
    import subprocess
    import sys
    code = ("import sys; sys.path.insert(0, sys.argv[1]); import dagkit as dk; t = dk.simulate(dk.examples.orders()); "
            "t.log(); t.final_states; print([m for m in ('pandas', 'networkx', 'anywidget', 'wasmtime', 'IPython') "
            "if m in sys.modules])")
    out = subprocess.run([sys.executable, "-c", code, str(PACKAGE.parent)], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_the_contributors_map_names_every_part_and_no_other() -> None:
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = [row.split("|")[1:3] for row in text.splitlines() if row.startswith("| `")]
    there = {f"{p.name}/" if p.is_dir() else p.stem for p in PACKAGE.iterdir()
             if p.suffix == ".py" or (p / "__init__.py").exists()} - {"__init__", "__main__"}
    assert {name for parts, _ in rows for name in re.findall(r"`([^`]+)`", parts)} == there
    files = [name for _, told in rows for name in re.findall(r"`([^`]+[.](?:py|js))`", told)]
    assert "calendar.py" in files and [name for name in files if not list(PACKAGE.rglob(name))] == []


# ---- the tick ------------------------------------------------------------------------------------------------------


def test_the_tick_is_short_and_names_no_rule_executor_or_fault() -> None:
    path = PACKAGE / "engine" / "tick.py"
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 150
    words = {token.string for token in tokenize.generate_tokens(io.StringIO(text).readline)
             if token.type in (tokenize.NAME, tokenize.STRING)}
    quoted = {word.strip("\"'") for word in words}
    known = {name for module in (executors, faults) for name, thing in vars(module).items()
             if isinstance(thing, type) and thing.__module__.startswith(module.__name__)}
    assert {"LocalExecutor", "LoseWorker"} <= known
    assert not quoted & (set(RULES) | known)
    prose = set(text.replace("`", " ").replace(",", " ").split())
    assert not prose & (set(RULES) - {"always"} | known)


def test_the_four_phases_are_called_in_order() -> None:
    """finish, start, evaluate, admit: read from the one function that is the tick."""
    tree = ast.parse((PACKAGE / "engine" / "tick.py").read_text(encoding="utf-8"))
    tick = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "tick")
    phases = ("finish", "start", "evaluate", "admit")
    calls = [n.func.id for n in ast.walk(tick) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    in_order = sorted((n.lineno, n.func.id) for n in ast.walk(tick) if isinstance(n, ast.Call)
                      and isinstance(n.func, ast.Name) and n.func.id in phases)
    assert [name for _, name in in_order] == list(phases), calls


def test_the_public_names_of_the_contract_are_there() -> None:
    names = ("Task Dag Scenario Pool Runs Config Trace simulate examples trigger_rules LocalExecutor CeleryExecutor "
             "KubernetesExecutor Worker DagkitError CycleError").split()
    assert [name for name in names if not hasattr(dk, name)] == []


def test_elements_are_made_in_one_place() -> None:
    """All modules share one helper."""
    made = {path.name for path in PACKAGE.rglob("*.js") if "createElement(" in path.read_text(encoding="utf-8")}
    assert made == {"element.js"}
