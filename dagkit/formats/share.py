"""A Dag and a tick in one line of text, for a chat message or a link.

``dagkit1:`` is followed by URL-safe base64 of a compact JSON list, and a checksum that tells a cut or
mistyped line. It is not compressed: compressors differ between machines, and the same Dag must give the same
line everywhere.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from typing import Any

from ..checks import plain
from ..dag import Dag
from ..errors import DagkitError, shown
from .dagjson import dag_from, describe
from .loaded import Loaded
from .source import Source

NAME = "share"
TITLE = "share string"
DEFINITION = "dagkit/formats/share.py"
PREFIX = "dagkit1:"
MAX_CHARACTERS = 8000
"""About 200 tasks; longer lines break in chat programs and browsers."""


def matches_text(text: str) -> bool:
    """It starts with ``dagkit1:``."""
    return text.lstrip().startswith(PREFIX)


def write(dag: Dag, tick: int | None = None) -> str:
    """The Dag, and the tick one was looking at, as one line. Raises DagkitError if it would be too long.

    >>> line = write(Dag.from_dict({"a": {"duration": 2}, "b": {"upstream": "a"}}), tick=3)
    >>> line.startswith("dagkit1:"), read(Source("the text", line)).tick
    (True, 3)
    """
    tick = plain(tick)
    if tick is not None and (type(tick) is not int or tick < 0):
        raise DagkitError(f"share: tick must be a whole number >= 0 or None, not {shown(repr(tick))}. "
                          "Leave it out for the whole trace.")
    found = describe(dag)
    place = {name: i for i, name in enumerate(found["tasks"])}
    tasks = []
    for name, spec in found["tasks"].items():
        rest = {key: value for key, value in spec.items() if key != "upstream"}
        ups = [place[up] for up in dict.fromkeys(spec.get("upstream", ()))]
        tasks.append([name, ups, rest] if rest else [name, ups])
    packed = json.dumps([dag.dag_id, tick, found["options"], tasks], separators=(",", ":")).encode()
    line = PREFIX + base64.urlsafe_b64encode(packed + _check(packed)).decode().rstrip("=")
    if len(line) > MAX_CHARACTERS:
        raise DagkitError(
            f"share: Dag '{shown(dag.dag_id)}' needs {len(line)} characters, more than the "
            f"{MAX_CHARACTERS} that fit in a line. Send it as a file: dump(dag, 'json', path)."
        )
    return line


def _check(packed: bytes) -> bytes:
    return zlib.crc32(packed).to_bytes(4, "big")


def read(source: Source) -> Loaded:
    """The Dag of a share string, and its tick as ``.tick``. Raises FormatError if the line is damaged."""
    line = "".join(source.text.split())
    wrong = source.bad("a share string", "one that is damaged", "Copy the whole line again.")
    try:
        packed = base64.urlsafe_b64decode(line.removeprefix(PREFIX) + "=" * (-(len(line) - len(PREFIX)) % 4))
    except (binascii.Error, ValueError):
        raise wrong from None
    if len(line) > 2 * MAX_CHARACTERS or len(packed) < 5 or _check(packed[:-4]) != packed[-4:]:
        raise wrong
    try:
        dag_id, tick, options, tasks = json.loads(packed[:-4])
        specs = _specs(tasks)
    except (LookupError, RecursionError, TypeError, ValueError):
        raise wrong from None
    if type(dag_id) is not str or type(options) is not dict or not (tick is None or type(tick) is int and tick >= 0):
        raise wrong
    dag = dag_from(source, {"dag_id": dag_id, "options": options, "tasks": specs})
    return Loaded(dag, NAME, tick=tick)


def _specs(tasks: list[list[Any]]) -> dict[str, dict[str, Any]]:
    """The tasks by name, their upstreams by name too. A checksum is easily made: nothing in it is trusted."""
    names = [task[0] for task in tasks]
    specs = {}
    for name, ups, *rest in tasks:
        if type(name) is not str or name in specs or not all(type(up) is int and up >= 0 for up in ups) or len(rest) > 1:
            raise ValueError(name)
        specs[name] = {**(rest[0] if rest else {}), "upstream": [names[up] for up in ups]}
    return specs
