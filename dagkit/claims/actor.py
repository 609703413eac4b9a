"""The child's end: ``python -m dagkit.claims.actor``, started by ``actors.py`` only."""

from __future__ import annotations

import json
import os
from importlib import import_module
from typing import Any

from .server import connect

ROLES = {"claimer": ".claimer", "successor": ".successor", "replica": ".replica", "worker": ".pulling"}
"""Module that plays a role: its ``play(stage, command)`` returns what is reported."""
PIPE = open(0, "rb", buffering=0, closefd=False)
"""Unbuffered, so that no message hides from ``select`` behind the one before it."""


class Stage:
    """What an actor knows: its connection ``db``, who it is (``number``), and the pipe to its parent."""

    def __init__(self, told: dict[str, Any]):
        self.number: int = told["number"]
        self.parent: int = told["parent"]
        self.db = connect(told["dsn"], told["schema"])
        self.schema: str = told["schema"]

    def say(self, at: str, **more: Any) -> None:
        print(json.dumps({"at": at, **more}), flush=True)

    def hear(self) -> dict[str, Any]:
        """The parent's next message. Ends this process if there is no parent any more."""
        line = PIPE.readline()
        if not line:
            raise SystemExit
        message: dict[str, Any] = json.loads(line)
        return message

    def check(self) -> None:
        """End this process if its parent is gone: nobody would hear the result."""
        if os.getppid() != self.parent:
            raise SystemExit


def main() -> None:
    told = json.loads(PIPE.readline() or "null")
    if told is None:
        return
    stage = Stage(told)
    play = import_module(ROLES[told["role"]], __package__).play
    stage.say("ready")
    while True:
        command = stage.hear()
        try:
            stage.say("done", **play(stage, command))
        except Exception as error:  # noqa: BLE001  (told to the parent, which raises it)
            stage.say("fault", error=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
