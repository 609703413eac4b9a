"""Actors: child processes that take part in an experiment, told what to do in lines of JSON.

They are real processes, because what is shown is about processes: each has its own connection, and each can be
killed. Nobody outlives the experiment: an actor ends when its pipe closes or its parent is gone.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import DagkitError, shown
from .server import Server, environment

PATIENCE = 60.0
"""Seconds that an actor may be silent. Far above any step of an experiment, so only a fault reaches it."""


class Actor:
    """The parent's end. role: which experiment it plays in. number: who it is, from 1."""

    def __init__(self, server: Server, role: str, number: int):
        self.number = number
        self._errors = tempfile.TemporaryFile()
        # A group of its own: Ctrl-C reaches the parent alone, which then ends its actors in order.
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "dagkit.claims.actor"], env=environment(), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self._errors, start_new_session=True)
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.send(dsn=server.dsn, schema=server.schema, role=role, number=number, parent=os.getpid())

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def send(self, **message: Any) -> None:
        """Tell the actor something; silently nothing if it is gone (it may have been killed on purpose)."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def hear(self, expected: str, patience: float = PATIENCE) -> dict[str, Any]:
        """Its next message, which must be about ``expected``. Raises DagkitError if it failed or stays silent."""
        try:
            line = self._lines.get(timeout=patience)
        except queue.Empty:
            raise DagkitError(f"claims: process {self.number} said nothing for {patience:g} s; the database may be "
                              "overloaded. Try again.") from None
        if not line:
            raise DagkitError(f"claims: process {self.number} ended before it reached '{expected}': "
                              f"{shown(self._last_words(), 300)}. Try again.")
        said: dict[str, Any] = json.loads(line)
        if said["at"] != expected:
            raise DagkitError(f"claims: process {self.number} was to reach '{expected}' and is at '{said['at']}': "
                              f"{shown(said.get('error', 'no reason given'), 300)}. Try again.")
        return said

    def _last_words(self) -> str:
        """The sentence of its last error, without what the driver adds on lines of their own."""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        found = next((line for line in reversed(lines) if line and not line[0].isspace()), "it ended without a word")
        return found.removeprefix("dagkit.errors.DagkitError: claims: ").rstrip(".?")

    def kill(self) -> None:
        """SIGKILL: no clean-up, no last word."""
        self.process.kill()
        self.process.wait()

    def pause(self) -> None:
        """SIGSTOP: alive, but cut off from everything."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """End it: the pipe closes, and if that is not enough it is killed."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(1)
        except subprocess.TimeoutExpired:
            self.kill()
        self._errors.close()


@contextmanager
def actors(server: Server, *roles: str) -> Iterator[list[Actor]]:
    """Start one actor per role, wait until each is connected; at the end, or at Ctrl-C, none is left."""
    cast: list[Actor] = []
    try:
        for number, role in enumerate(roles, 1):
            cast.append(Actor(server, role, number))
        for actor in cast:
            actor.hear("ready")
        yield cast
    finally:
        for actor in cast:
            actor.kill() if sys.exc_info()[0] else actor.close()
