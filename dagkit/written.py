"""Writing a file, or saying in one sentence why that cannot be done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .errors import DagkitError, shown


def write(who: str, path: Any, text: str) -> Path:
    """Write a file, UTF-8 with LF line ends. A path where none can be written is refused."""
    try:
        target = Path(path)
        target.write_text(text, encoding="utf-8", newline="\n")
    except (OSError, TypeError, ValueError) as error:
        why = getattr(error, "strerror", None) or "that is no path"
        raise DagkitError(f"{who}: cannot write '{shown(path, 200)}': {why}. Choose another path.") from error
    return target
