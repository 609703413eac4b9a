"""A Ctrl-C while ``python -m dagkit`` still loads: it ends without a word, as it does later.

Python raises KeyboardInterrupt wherever it happens to be, and while a package is imported nobody of ours can catch it.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

INTERRUPTED = 130
"""What shells say for a program that a Ctrl-C ended."""


def _begins() -> None:
    """Done before anything else is imported, and only if Python was started to run this package."""
    asked = sys.orig_argv[1:]
    runs = "-mdagkit" in asked or ("-m", "dagkit") in zip(asked, asked[1:], strict=False)
    if runs and sys.argv[:1] == ["-m"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def is_over() -> None:
    """Called by what was loaded: from here on it can catch KeyboardInterrupt itself."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


_begins()
