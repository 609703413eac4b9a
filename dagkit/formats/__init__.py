"""Files people have, as Dags: ``load`` recognises a format by its content and says what it could not keep.

Each format is one small module with ``NAME``, ``TITLE``, ``DEFINITION`` (where the format is described) and
``read(source, ...) -> Loaded``.
"""

from __future__ import annotations

import os
import re
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import DagkitError, FormatError, choices, nearest, shown
from ..written import write
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
    format: a reader's name, if the content should not decide. options: the reader's own: ``results``, ``sources``
    (dbt), ``dag_id`` (Airflow Dag files), ``dag``, ``run_id`` (task instances), ``template``, ``strict`` (Argo).

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
    return _read(READERS[format], options, source) if format is not None else _recognised(source, options)


def _manifest(given: Any) -> Any:
    """A directory means the dbt manifest in it."""
    if isinstance(given, (str, Path)) and len(str(given)) < 4096 and os.path.isdir(given):
        return dbt.manifest_in(Path(given))
    return given


def _recognised(source: Source, options: dict[str, Any]) -> Loaded:
    """Read by the first reader that knows the content."""
    text, data = source.text, None
    if dbt.matches_text(text):
        return _read(dbt, options, source)
    if text.lstrip().startswith(("{", "[")):
        data = parse_json(source)
        for reader in (wfformat, dagjson, airflow_json, airflow_runs, graphs, argo, github, gitlab):
            if reader.matches(data):
                return _read(reader, options, source, data)
    else:
        if airflow_source.makes_kit_dag(text):
            raise source.bad(
                "a file that holds a Dag",
                "Python that makes one with dagkit when it runs (an Airflow Dag file would be read; nothing is run)",
                "Save the Dag at its end with dk.dump(dag, 'json', 'dag.json'), run it, and give dag.json.",
            )
        for reader in (share, dot, airflow_source, table, edges):
            if reader.matches_text(text):
                return _read(reader, options, source)
        documents = _documents(source)
        for reader in (argo, github, gitlab, airflow_runs):
            for document in documents:
                if reader.matches(document):
                    return _read(reader, options, source, document)
        data = documents[0] if documents and isinstance(documents[0], (dict, list)) else None
    raise source.bad(
        "a Dag in a known format", _glimpse(source, data), f"Name its format=: {choices(READERS, 20)}."
    )


_YAML = re.compile(r"""(?:---|%|[-?!&] *|["'{\[]|[\w./$@<+-]+ *:(?:\s|$)|[^:#]+:$)""")
"""How the first line of a YAML file begins that is no comment: a mark, or a key."""


def _documents(source: Source) -> list[Any]:
    """The YAML documents of a text. Prose is called prose: a parser's complaint about it would help nobody."""
    try:
        return parse_yaml(source)
    except FormatError:
        if _prose(source):
            return []
        raise


def _prose(source: Source) -> bool:
    """Whether a text is plainly no YAML, by its file's name or by its first line that is no comment."""
    if source.path is not None and source.path.suffix.lower() in (".md", ".rst", ".txt"):
        return True
    lines = (line.strip() for line in source.text.split("\n"))
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return _YAML.match(first) is None


def _read(reader: ModuleType, options: dict[str, Any], *given: Any) -> Loaded:
    """Call a reader, whose options are its keyword-only parameters."""
    known = [p.name for p in signature(reader.read).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for name in options:
        if name not in known:
            raise DagkitError(
                f"load: option '{shown(name)}' means nothing for {reader.NAME} input."
                f"{nearest(name, known)} Known: {choices(known) or 'none'}."
            )
    loaded: Loaded = reader.read(*given, **options)
    return loaded


def _glimpse(source: Source, data: Any) -> str:
    """What an unknown text seems to be, for the message."""
    if isinstance(data, dict):
        return f"an object with the keys {choices(sorted(map(str, data))) or '(none)'}"
    if isinstance(data, list):
        return f"a list of {len(data)}"
    line = source.text.strip().partition("\n")[0]
    return f"a text that begins '{shown(line)}'" if line else "nothing"


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
        write("dump", path, text)
    return text


__all__ = ["READERS", "WRITERS", "Loaded", "Run", "TaskRun", "dump", "load"]
