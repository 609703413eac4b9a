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
from . import dbt, edges, wfformat
from .loaded import Loaded, Run, TaskRun
from .safe import parse_json
from .source import Source, open_source

READERS: dict[str, ModuleType] = {module.NAME: module for module in (wfformat, dbt, edges)}


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
    source = open_source(_manifest(path_or_text))
    if format is not None:
        return READERS[format].read(source, **options)
    return _recognised(source, options)


def _manifest(given: Any) -> Any:
    """A directory means the dbt manifest in it."""
    if isinstance(given, (str, Path)) and len(str(given)) < 4096 and os.path.isdir(given):
        return dbt.manifest_in(Path(given)) or given
    return given


def _recognised(source: Source, options: dict[str, Any]) -> Loaded:
    """Read by the first reader that knows the content."""
    if dbt.matches_text(source.text):
        return dbt.read(source, **options)
    if source.text.lstrip().startswith(("{", "[")):
        data = parse_json(source)
        if wfformat.matches(data):
            return wfformat.read(source, data, **options)
    elif edges.matches_text(source.text):
        return edges.read(source, **options)
    raise source.bad("a Dag in a known format", "none of them", f"Name one: format= {choices(READERS, 20)}.")


__all__ = ["READERS", "Loaded", "Run", "TaskRun", "load"]
