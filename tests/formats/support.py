"""What the tests of the readers share."""

from __future__ import annotations

from pathlib import Path

from dagkit.formats import Loaded

FILES = Path(__file__).parent / "files"


def remark(loaded: Loaded, start: str) -> str:
    """The one sentence of the report that begins so."""
    (found,) = [sentence for sentence in loaded.report if sentence.startswith(start)]
    return found


def longest_path(loaded: Loaded) -> float:
    """Length of the critical path, computed apart from the kit's own planning."""
    finish: dict[str, float] = {}
    waiting = {task.task_id: task for task in loaded.dag}
    while waiting:
        for name, task in list(waiting.items()):
            if all(up in finish for up in task.upstream):
                finish[name] = task.duration + max((finish[up] for up in task.upstream), default=0)
                del waiting[name]
    return max(finish.values(), default=0)
