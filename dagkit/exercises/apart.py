"""Where a learner's code runs: apart from the notebook, which goes on whatever that code does.

Linux runs a check in a copy of the process, which can be ended at any time. Elsewhere copies of a process with threads
are not safe, and a thread must do: one that does not end is left behind.
"""

from __future__ import annotations

import builtins
import io
import json
import multiprocessing
import os
import queue
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from contextvars import copy_context
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from ..errors import shown

Verdict = tuple[str, str] | None
"""What is wrong and a hint; None if all is right."""
Work = Callable[[], Verdict]

MOST_SECONDS = 20.0
"""The longest check. Only what counts no steps gets there (sleeping, waiting, one huge sum): others are stopped before."""
MORE_MEMORY = 2**31
"""Bytes a check may take beyond what the notebook holds."""
MOST_PRINTED = 100_000
"""Characters that are shown of what a check prints."""
ENDLESS = ("Your code does not come to an end.", "Is a YOUR CODE HERE left inside a loop? Otherwise: does what the "
           "loop waits for ever change?")
GONE = ("Your code ended the whole program, or took all the memory there is.",
        "What does it build that is far too large, and does it call exit?")
_here = threading.local()
_starting = threading.Lock()
_waiting = threading.Lock()
_inputs: list[Callable[..., str]] = []
"""What input() was before each of the checks that now run in a thread."""


def run(work: Work) -> Verdict:
    """What ``work`` finds, or ENDLESS after MOST_SECONDS, or GONE. Never waits longer, whatever the code inside does."""
    copies = sys.platform == "linux" and not multiprocessing.current_process().daemon        # a daemon may have no child
    return forked(work) if copies else threaded(work)


def give_up(verdict: Verdict) -> None:
    """Called from inside ``work``: this is the verdict, and nothing inside runs on. Without ``run`` it does nothing."""
    leave = getattr(_here, "leave", None)
    if leave is not None:
        leave(verdict)


def _ask(*_: Any) -> NoReturn:
    raise RuntimeError("nobody answers input() while a check runs; use what the function is given")


def _raised(error: BaseException) -> Verdict:
    """The verdict on what came through every ``except Exception``. Errors do so only where memory is at its end."""
    if isinstance(error, Exception):
        return GONE
    return (f"Your code raised {shown(type(error).__name__)}, which ends a whole program.",
            "Give an answer back with return; is raise, exit or quit needed at all?")


def forked(work: Work) -> Verdict:
    """In a copy of this process, which is ended in any case, with all processes it began."""
    fork = multiprocessing.get_context("fork")
    with _starting, warnings.catch_warnings():                 # one at a time: no copy holds the outbox of another
        warnings.simplefilter("ignore", DeprecationWarning)    # notebooks have threads; the copy uses none of them
        inbox, outbox = fork.Pipe(duplex=False)
        child = fork.Process(target=_in_child, args=(work, outbox), daemon=True)
        child.start()
        outbox.close()
    try:
        return _received(inbox)
    finally:
        assert child.pid, "a started process has a number; 0 would mean our own group"
        with suppress(ProcessLookupError):                     # it may not have come as far as its own group
            os.killpg(child.pid, signal.SIGKILL)
        child.kill()
        child.join()
        inbox.close()


def _received(inbox: Connection) -> Verdict:
    """The verdict among the lines of a copy. Whatever else comes down the pipe was not written by ``_Outbox``."""
    end, rest = time.monotonic() + MOST_SECONDS, b""
    while inbox.poll(max(0.0, end - time.monotonic())) and time.monotonic() < end:
        read = os.read(inbox.fileno(), 2**16)                  # never waits: recv would, for the end of half a message
        if not read:
            return GONE
        *lines, rest = (rest + read).split(b"\n")
        for line in lines:
            try:
                kind, said = json.loads(line)
            except (ValueError, TypeError):
                return GONE
            if kind == "verdict":
                return said and (said[0], said[1])
            print(said, end="")                                # what the learner's code prints while it is tried
    return ENDLESS


class _Outbox:
    """Sends whole lines of JSON, whichever thread asks; not for copies of the copy."""

    def __init__(self, pipe: Connection):
        self.pipe, self.owner, self.lock = pipe, os.getpid(), threading.RLock()

    def is_mine(self) -> bool:
        return os.getpid() == self.owner

    def send(self, kind: str, said: Any) -> None:
        left = json.dumps((kind, said)).encode() + b"\n"
        with self.lock:
            while left:
                left = left[os.write(self.pipe.fileno(), left):]


class _Printed(io.TextIOBase):
    """Standard output and standard error of the copy: sent to the notebook, up to MOST_PRINTED characters."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, outbox: _Outbox):
        self.outbox, self.left = outbox, MOST_PRINTED

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() takes text, not {type(text).__name__}")
        if not self.outbox.is_mine():                          # nor is the lock: who held it may not exist here
            return len(text)
        with self.outbox.lock:
            fits = text[:max(0, self.left)]
            if fits:
                self.outbox.send("printed", fits.encode(self.encoding, self.errors).decode(self.encoding))
            if 0 <= self.left < len(text):
                self.outbox.send("printed", f"\n[Your code prints more than {MOST_PRINTED:,} characters. The rest is "
                                 "left out.]\n")
            self.left -= len(text)
        return len(text)


def _in_child(work: Work, pipe: Connection) -> None:
    outbox = _Outbox(pipe)

    def leave(verdict: Verdict) -> NoReturn:
        if not outbox.is_mine():                               # the answer copied the process: one verdict is enough
            os._exit(0)
        outbox.send("verdict", verdict)
        while True:                                            # until the notebook ends this process
            time.sleep(MOST_SECONDS)

    os.setsid()                                                # all it begins can be ended with it
    _end_with_parent()
    os.register_at_fork(after_in_child=_end_with_parent)
    _limit_memory()
    _here.leave, builtins.input = leave, _ask
    printed = _Printed(outbox)
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            leave(work())
        except BaseException as error:
            leave(_raised(error))


def _end_with_parent() -> None:
    """A notebook that is killed takes its check along."""
    pr_set_pdeathsig = 1
    with suppress(ImportError, OSError, AttributeError):       # a Python without it checks all the same
        import ctypes
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def _limit_memory() -> None:
    """Limits what can be written to. Addresses that are only reserved cost nothing: who draws reserves 4 GB of them."""
    import resource
    with open("/proc/self/statm", encoding="ascii") as file:
        most = int(file.read().split()[5]) * resource.getpagesize() + MORE_MEMORY
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


@contextmanager
def nobody_answers() -> Iterator[None]:
    """A check waits for nobody: input() is an error, until the last of several checks at once has ended."""
    with _waiting:
        _inputs.append(builtins.input)
        builtins.input = _ask
    try:
        yield
    finally:
        with _waiting:
            builtins.input = _inputs.pop()                     # all but the first, the notebook's own, are _ask


def threaded(work: Work) -> Verdict:
    """In a thread, which stops for good where it gives up. A single step without end inside Python itself holds all up."""
    found: queue.SimpleQueue[Verdict] = queue.SimpleQueue()
    owner = os.getpid()

    def leave(verdict: Verdict) -> NoReturn:
        tell(verdict)
        while True:                                            # it can neither be ended nor be trusted to end itself
            time.sleep(MOST_SECONDS)

    def tell(verdict: Verdict) -> None:
        if os.getpid() != owner:                               # the answer copied the process
            os._exit(0)
        found.put(verdict)

    def go() -> None:
        _here.leave = leave
        try:
            tell(work())
        except BaseException as error:
            tell(_raised(error))

    with nobody_answers():
        threading.Thread(target=copy_context().run, args=(go,), daemon=True).start()
        try:
            return found.get(timeout=MOST_SECONDS)
        except queue.Empty:
            return ENDLESS
