"""Airflow Dag files, read without running them.

Definition: https://airflow.apache.org/docs/task-sdk/stable/ (``airflow.sdk``; the 2.x names work too).
The file is parsed (``ast``) and followed as far as its text tells; nothing in it is imported or executed. The report
says, with line numbers, what could not be seen: loops over run-time values, computed task ids, code elsewhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from ..errors import choices, nearest, shown
from .airflow_calls import Calls
from .airflow_eval import Reader
from .airflow_flow import Raised, misplaced
from .airflow_model import BUDGET, MAX_PARTS, DagModel, Node, Ref, TooMuch
from .airflow_own import is_own, read_own
from .airflow_params import DAG_NAMES, NAMES, add_expands, dag_options, task_parameters
from .draft import Draft
from .loaded import Loaded
from .source import Source

NAME = "airflow-source"
TITLE = "Airflow Dag file (Python, read and not run)"
DEFINITION = "https://airflow.apache.org/docs/task-sdk/stable/"

MAX_SOURCE = 2_000_000  # characters
MAX_REMARKS = 40
_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+airflow\b", re.M)
_KIT = re.compile(r"^(?:from|import)[ \t]+dagkit\b", re.M)
_YAML = re.compile(r"(?:\s|#[^\n]*\n)*(?:---|- |[\w.-]+:\s)")
_EMPTY = ("EmptyOperator", "DummyOperator", "ExternalTaskMarker")
_BRANCHING = ("branch", "short_circuit", "ShortCircuitOperator", "LatestOnlyOperator")


def matches_text(text: str) -> bool:
    """Python that imports airflow, and not YAML with such Python in it."""
    return bool(_IMPORT.search(text)) and not _YAML.match(text)


def makes_kit_dag(text: str) -> bool:
    """Python that makes its Dag with the kit: only running it would tell the Dag, and load runs nothing."""
    return bool(_KIT.search(text)) and not _IMPORT.search(text) and not _YAML.match(text)


def read(source: Source, *, dag_id: str | None = None) -> Loaded:
    """The Dag of a file; times in seconds, each duration (unknown) 1 s.

    dag_id: which one, if the file makes several; by default the first. Raises FormatError for what is not Python or
    makes no Dag.
    """
    remarks: dict[str, None] = {}
    reader = Reader(Calls(), lambda sentence: remarks.setdefault(sentence), source.stem)
    tree = _parsed(source)
    BUDGET.set([MAX_PARTS])
    _safely(source, lambda: _follow(reader, tree, remarks))
    model = _chosen(source, reader, dag_id, remarks)
    if is_own(reader):
        return read_own(NAME, source, reader, model)
    draft = Draft(NAME, source, model.dag_id)
    for sentence in list(remarks)[:MAX_REMARKS]:
        draft.note(sentence)
    if len(remarks) > MAX_REMARKS:
        more = len(remarks) - MAX_REMARKS
        draft.note(f"{more} further {'remark was' if more == 1 else 'remarks were'} left out.")
    for node in model.nodes.values():
        draft.task(
            node.task_id, [up.task_id for up in node.up if up.dag is model], **_parameters(draft, node)
        )
    add_expands(draft, {n.task_id: _sources(n) for n in model.nodes.values() if n.expand is not None})
    _remarks(draft, model)
    hidden = [key for key in DAG_NAMES if model.given.get(key) is not None and _plain(model.given[key]) is None]
    for key in hidden:
        draft.note(f"{key} of the Dag is only known at run time; ignored.")
    return draft.finish(unit="s", **dag_options(draft, {key: _plain(v) for key, v in model.given.items()}))


def _parsed(source: Source) -> ast.Module:
    if len(source.text) > MAX_SOURCE:
        raise source.bad(
            f"at most {MAX_SOURCE} characters of Python", str(len(source.text)), "Split the file."
        )
    try:
        tree = ast.parse(source.text)
    except SyntaxError as problem:
        raise source.bad(
            "a Python file", f"{shown(problem.msg)} in line {problem.lineno}", "Mend it there."
        ) from None
    except (RecursionError, MemoryError, ValueError):
        raise source.bad("a Python file", "code nested too deeply", "Simplify it.") from None
    wrong = misplaced(tree)
    if wrong is not None:
        raise source.bad("a Python file", f"{wrong[0]} in line {wrong[1]}", "Mend it there.")
    return tree


def _safely(source: Source, follow: Callable[[], None]) -> None:
    try:
        follow()
    except TooMuch as problem:
        raise source.bad(
            "a Dag file that can be followed", str(problem), "Load the serialized Dag."
        ) from None
    except RecursionError:
        raise source.bad(
            "a Dag file that can be followed", "code nested too deeply", "Load the serialized Dag."
        ) from None


def _follow(reader: Reader, tree: ast.Module, remarks: dict[str, None]) -> None:
    """Read the module; an ``@dag`` function that is never called is read too if there is nothing else."""
    try:
        reader.run(tree.body, reader.top)
    except Raised as raised:
        remarks.setdefault(f"Line {raised.line}: the file ends with an error here; what follows was not read.")
    if not reader.dags:
        for function in reader.functions:
            if function.kind == "dag" and not function.called:
                remarks.setdefault(
                    f"The @dag function '{shown(function.name)}' is never called; Airflow would not see its Dag."
                )
                reader.calls(reader, function.node, function, [], {})


def _chosen(source: Source, reader: Reader, dag_id: str | None, remarks: dict[str, None]) -> DagModel:
    names = [dag.dag_id for dag in reader.dags]
    if not names:
        lines = " ".join(list(remarks)[:2])
        raise source.bad(
            "a file that makes a Dag",
            f"none that can be seen. {lines}".strip().rstrip("."),
            "Load the serialized Dag instead.",
        )
    if dag_id is not None and dag_id not in names:
        raise source.bad(
            "a Dag of this file", f"'{shown(dag_id)}'", f"Known: {choices(names)}.{nearest(dag_id, names)}"
        )
    model = next((dag for dag in reader.dags if dag.dag_id == dag_id), None) or next(
        (dag for dag in reader.dags if dag.nodes), reader.dags[0]
    )
    others = [name for name in names if name != model.dag_id]
    if others:
        remarks.setdefault(
            f"{len(others)} further Dags of this file were left out (dag_id= chooses): {choices(others)}."
        )
    loose = [node.task_id for node in reader.loose if node.dag is None]
    if loose:
        belong = "task belongs to no Dag and was" if len(loose) == 1 else "tasks belong to no Dag and were"
        remarks.setdefault(f"{len(loose)} {belong} left out: {choices(loose)}.")
    return model


def _plain(value: Any) -> Any:
    """A value as the checks of the parameters take it; unknown ones are as good as not given."""
    return value if isinstance(value, (str, int, float, bool)) else None


def _parameters(draft: Draft, node: Node) -> dict[str, Any]:
    unknown = [
        n for n in NAMES if n in node.given and node.given[n] is not None and _plain(node.given[n]) is None
    ]
    for name in unknown:
        draft.note(
            f"Line {node.line}: {name} of task '{shown(node.task_id)}' is only known at run time; ignored."
        )
    given = {name: _plain(node.given.get(name)) for name in NAMES}
    given["empty"] = node.operator in _EMPTY
    return task_parameters(draft, node.task_id, given)


def _sources(node: Node) -> dict[str, Any]:
    """What a task is mapped over: a task id, a length, or nothing that is known."""
    made: dict[str, Any] = {}
    for name, over in (node.expand or {}).items():
        if isinstance(over, Ref):
            made[str(name)] = "" if over.others else over.node.task_id
        else:
            made[str(name)] = len(over) if isinstance(over, (list, dict)) else ""
    return made


def _remarks(draft: Draft, model: DagModel) -> None:
    def kind(node: Node) -> bool:
        return any(word in node.operator for word in _BRANCHING) or "Branch" in node.operator

    draft.note_all(
        (n.task_id for n in model.nodes.values() if kind(n)),
        "task|tasks may skip others at run time; here nothing is skipped",
    )
    draft.note("The file was read, not run. Schedule, callbacks and templates were ignored.")
