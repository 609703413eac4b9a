"""What ``load`` was given, as checked text: never a device, never a bomb, never a guess at an encoding.

A file is opened without blocking and looked at through its descriptor, so a pipe or a device is refused
before a byte is read, and the size is checked before anything is parsed.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import FormatError, shown

MAX_BYTES = 256 * 1024 * 1024
"""The largest file read. A dbt manifest of a very large project is below 100 MB."""

_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_PACKED = (
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)


@dataclass(frozen=True)
class Source:
    """Text to be read, and where it came from.

    name: how messages call it (``file 'dag.json'`` or ``the text``). path: the file, or None for plain text.
    repeated: keys that stand twice in one mapping, as its parser found them, with their line.
    """

    name: str
    text: str
    path: Path | None = None
    repeated: dict[str, int] = field(default_factory=dict, compare=False)

    @property
    def stem(self) -> str:
        """A Dag id when the file holds none: the file's name without its ending."""
        return self.path.name.split(".")[0] or self.path.name if self.path else "dag"

    def bad(self, expected: str, found: str, advice: str) -> FormatError:
        """The sentence for anything unreadable: the object, the rule, the value found, what to do next."""
        return FormatError(f"{self.name}: expected {expected}, found {found}. {advice}")


def open_source(path_or_text: Any) -> Source:
    """The text behind a path, or the text itself.

    A Path is a path. A str is a path if such a file exists, else text if it has a line break, a brace or
    "->". Raises FormatError for anything else, naming what was found.
    """
    if isinstance(path_or_text, Path):
        return read_file(path_or_text)
    if not isinstance(path_or_text, str):
        raise FormatError(
            f"load: expected a path, a text or a networkx graph, found {type(path_or_text).__name__}."
            " Give a file's path; for a dictionary of tasks use Dag.from_dict."
        )
    if _is_file(path_or_text):
        return read_file(Path(path_or_text))
    marks = ("\n", "{", "->", "dagkit1:")
    if any(mark in path_or_text for mark in marks) or path_or_text.lstrip().startswith("["):
        return Source("the text", checked_text(path_or_text, "the text"))
    if not path_or_text.strip():
        raise FormatError("load: expected a path or a text, found an empty text. Give a file's path.")
    start = "" if os.path.isabs(path_or_text) else " (it starts at the current directory)"
    raise FormatError(
        f"load: no file is called '{shown(path_or_text)}', and a text would have a line break or a"
        f" brace. Check the path{start}."
    )


def _is_file(text: str) -> bool:
    """Whether a str names something on disk; a long or odd text simply does not."""
    if len(text) > 4096 or "\n" in text or "\0" in text:
        return False
    try:
        return os.path.lexists(text)
    except (OSError, ValueError):
        return False


def read_file(path: Path) -> Source:
    """A regular file's text. Raises FormatError for anything else, and for what is too large or no text."""
    name = f"file '{shown(path.name)}'"
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise FormatError(
            f"{name}: cannot be opened ({shown(reason)}). Check the path and your rights."
        ) from None
    facts = os.fstat(handle)
    kind = facts.st_mode
    if not stat.S_ISREG(kind):
        os.close(handle)
        raise FormatError(f"{name}: expected a regular file, found {_kind(kind)}. Give the file itself.")
    with os.fdopen(handle, "rb") as file:
        data = file.read(min(facts.st_size, MAX_BYTES) + 1)  # asked for more, Python would set that much aside
        if len(data) > facts.st_size:                        # it grows, or tells no size, like those in /proc
            data += file.read(MAX_BYTES + 1 - len(data))
    if len(data) > MAX_BYTES:
        raise FormatError(
            f"{name}: expected at most {MAX_BYTES // 2**20} MB, found more. "
            "Cut the file down to the Dag you want to see."
        )
    return Source(name, checked_text(decoded(data, name), name), path)


def _kind(mode: int) -> str:
    for test, kind in ((stat.S_ISDIR, "a directory"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket")):
        if test(mode):
            return kind
    return "a device"


def decoded(data: bytes, name: str) -> str:
    """UTF-8 (or UTF-16 with its byte order mark, as PowerShell writes it) as text."""
    for magic, packer in _PACKED:
        if data.startswith(magic):
            raise FormatError(f"{name}: expected text, found {packer}-compressed data. Unpack it first.")
    encoding = next((codec for mark, codec in _BOMS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as problem:
        raise FormatError(
            f"{name}: expected UTF-8 text, found byte 0x{data[problem.start]:02x} at offset "
            f"{problem.start}. Save it as UTF-8."
        ) from None


def checked_text(text: str, name: str) -> str:
    """Text with plain line ends, without byte order mark; NUL means it is not text at all."""
    if len(text) > MAX_BYTES:
        raise FormatError(
            f"{name}: expected at most {MAX_BYTES // 2**20} million characters, found {len(text)}."
            " Cut it down to the Dag you want to see."
        )
    at = text.find("\0")
    if at >= 0:
        raise FormatError(
            f"{name}: expected text, found a NUL character at offset {at}. It looks like a binary "
            "file; give the text it was made from."
        )
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.removeprefix("\ufeff")
