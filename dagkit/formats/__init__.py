"""Files people have, as Dags: ``load`` recognises a format by its content and says what it could not keep.

Each format is one small module with ``NAME``, ``TITLE``, ``DEFINITION`` (where the format is described) and
``read(source, ...) -> Loaded``.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import FormatError, choices, nearest, shown
from . import (
    airflow_json,
    airflow_runs,
    airflow_source,
    argo,
    dagjson,
    dbt,
    dot,
    edges,
    github,
    gitlab,
    graphs,
    mermaid,
    share,
    table,
    wfformat,
)
from .loaded import Loaded, Run, TaskRun
from .safe import parse_json, parse_yaml
from .source import Source, open_source

READERS: dict[str, ModuleType] = {
    module.NAME: module
    for module in (
        airflow_json,
        airflow_runs,
        airflow_source,
        dbt,
        wfformat,
        github,
        gitlab,
        argo,
        dagjson,
        share,
        graphs,
        dot,
        table,
        edges,
    )
}
"""The formats ``load`` reads, by name."""

WRITERS: dict[str, ModuleType] = {
    module.NAME: module for module in (mermaid, dot, table, edges, dagjson, share)
}
"""The formats ``dump`` writes, by name."""


def load(path_or_text: Any, format: str | None = None, **options: Any) -> Loaded:
    r"""Read a Dag from a file or a text, whatever its format.

    path_or_text: a path, or the text itself (a str with a line break or a brace). A dbt ``target`` directory
    works too.
    format: a reader's name, if the content should not decide. options: the reader's own.

    Raises FormatError in one sentence for what cannot be read, CycleError for a ring of tasks.

    >>> load("extract -> load\nload -> report\n").dag.edges
    [('extract', 'load'), ('load', 'report')]
    """
    if format is not None and format not in READERS:
        raise FormatError(
            f"load: format '{shown(format)}' is unknown.{nearest(format, READERS)} "
            f"Known: {choices(READERS, 20)}."
        )
    if graphs.is_graph(path_or_text):
        return graphs.from_object(path_or_text, **options)
    source = open_source(_manifest(path_or_text))
    return READERS[format].read(source, **options) if format is not None else _recognised(source, options)


def _manifest(given: Any) -> Any:
    """A directory means the dbt manifest in it."""
    if isinstance(given, (str, Path)) and len(str(given)) < 4096 and os.path.isdir(given):
        return dbt.manifest_in(Path(given)) or given
    return given


def _recognised(source: Source, options: dict[str, Any]) -> Loaded:
    """Read by the first reader that knows the content."""
    text = source.text
    if dbt.matches_text(text):
        return dbt.read(source, **options)
    if text.lstrip().startswith(("{", "[")):
        data = parse_json(source)
        for reader in (wfformat, dagjson, airflow_json, airflow_runs, graphs, argo, github, gitlab):
            if reader.matches(data):
                return reader.read(source, data, **options)
    else:
        for reader in (share, dot, airflow_source, table, edges):
            if reader.matches_text(text):
                return reader.read(source, **options)
        documents = parse_yaml(source)
        for reader in (argo, github, gitlab, airflow_runs):
            for data in documents:
                if reader.matches(data):
                    return reader.read(source, data, **options)
    raise source.bad("a Dag in a known format", "none of them", f"Name one: format= {choices(READERS, 20)}.")


def dump(dag: Any, format: str, path: Any = None, **options: Any) -> str:
    r"""The Dag as text in one of the formats of ``WRITERS``, also written to a file if a path is given.

    dag: a Dag, or what ``load`` gave back. options: the writer's own (``tick`` for "share").

    Raises DagkitError for an unknown format or a Dag that the format cannot hold.

    >>> from dagkit import Dag
    >>> dump(Dag.from_dict({"a": {}, "b": {"upstream": "a"}}), "edges")
    'a\nb\na -> b\n'
    """
    if format not in WRITERS:
        raise FormatError(
            f"dump: format '{shown(format)}' is unknown.{nearest(format, WRITERS)} Known: {choices(WRITERS)}."
        )
    text: str = WRITERS[format].write(dag.dag if isinstance(dag, Loaded) else dag, **options)
    if path is not None:
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    return text


__all__ = ["READERS", "WRITERS", "Loaded", "Run", "TaskRun", "dump", "load"]
