"""Where a learner's code runs: apart from the notebook, which goes on whatever that code does.

Linux runs a check in a copy of the process, which can be ended at any time. Elsewhere copies of a process with threads
are not safe, and a thread must do: one that does not end is left behind.
"""

from __future__ import annotations

import builtins
import multiprocessing
import queue
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from contextvars import copy_context
from multiprocessing.connection import Connection
from typing import Any, NoReturn

Verdict = tuple[str, str] | None
"""What is wrong and a hint; None if all is right."""
Work = Callable[[], Verdict]

MOST_SECONDS = 20.0
"""The longest check. Only what counts no steps gets there (sleeping, waiting, one huge sum): others are stopped before."""
MORE_MEMORY = 2**31
"""Bytes a check may take beyond what the notebook holds."""
ENDLESS = ("Your code does not come to an end.", "Is a YOUR CODE HERE left inside a loop? Otherwise: does what the "
           "loop waits for ever change?")
GONE = ("Your code ended the whole program, or took all the memory there is.",
        "What does it build that is far too large, and does it call exit?")
_here = threading.local()


def run(work: Work) -> Verdict:
    """What ``work`` finds, or ENDLESS after MOST_SECONDS, or GONE. Never waits longer, whatever the code inside does."""
    with nobody_answers():
        copies = sys.platform == "linux" and not multiprocessing.current_process().daemon    # a daemon may have no child
        return forked(work) if copies else threaded(work)


def give_up(verdict: Verdict) -> None:
    """Called from inside ``work``: this is the verdict, and nothing inside runs on. Without ``run`` it does nothing."""
    leave = getattr(_here, "leave", None)
    if leave is not None:
        leave(verdict)


@contextmanager
def nobody_answers() -> Iterator[None]:
    """A check waits for nobody: input() is an error."""
    def ask(*_: Any) -> NoReturn:
        raise RuntimeError("nobody answers input() while a check runs; use what the function is given")

    before, builtins.input = builtins.input, ask
    try:
        yield
    finally:
        builtins.input = before


def forked(work: Work) -> Verdict:
    """In a copy of this process, which is ended in any case."""
    fork = multiprocessing.get_context("fork")
    inbox, outbox = fork.Pipe(duplex=False)
    child = fork.Process(target=_in_child, args=(work, outbox), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)    # notebooks have threads; the copy uses none of them
        child.start()
    outbox.close()
    try:
        return _received(inbox)
    finally:
        child.kill()
        child.join()
        inbox.close()


def _received(inbox: Connection) -> Verdict:
    end = time.monotonic() + MOST_SECONDS
    while inbox.poll(max(0.0, end - time.monotonic())) and time.monotonic() < end:
        try:
            kind, said = inbox.recv()
        except EOFError:
            return GONE
        if kind == "verdict":
            return said
        print(said, end="")                                    # what the learner's code prints while it is tried
    return ENDLESS


class _Printed:
    """Standard output of the copy: sent to the notebook."""

    def __init__(self, outbox: Connection):
        self.outbox = outbox

    def write(self, text: str) -> int:
        self.outbox.send(("printed", str(text)))
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""


def _in_child(work: Work, outbox: Connection) -> None:
    def leave(verdict: Verdict) -> NoReturn:
        outbox.send(("verdict", verdict))
        while True:                                            # until the notebook ends this process
            time.sleep(MOST_SECONDS)

    _limit_memory()
    _here.leave = leave
    with redirect_stdout(_Printed(outbox)), redirect_stderr(_Printed(outbox)):
        try:
            leave(work())
        except BaseException:
            leave(GONE)


def _limit_memory() -> None:
    import resource
    with open("/proc/self/statm", encoding="ascii") as file:
        most = int(file.read().split()[0]) * resource.getpagesize() + MORE_MEMORY
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def threaded(work: Work) -> Verdict:
    """In a thread, which stops for good where it gives up. A single step without end inside Python itself holds all up."""
    found: queue.SimpleQueue[Verdict] = queue.SimpleQueue()

    def leave(verdict: Verdict) -> NoReturn:
        found.put(verdict)
        while True:                                            # it can neither be ended nor be trusted to end itself
            time.sleep(MOST_SECONDS)

    def go() -> None:
        _here.leave = leave
        try:
            found.put(work())
        except BaseException:
            found.put(GONE)

    threading.Thread(target=copy_context().run, args=(go,), daemon=True).start()
    try:
        return found.get(timeout=MOST_SECONDS)
    except queue.Empty:
        return ENDLESS
