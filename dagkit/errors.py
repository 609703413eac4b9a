"""Every refusal of the kit: one base class, and one way to quote untrusted text.

A message names the object, the rule it broke, the value found and what to do next.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DagkitError(ValueError):
    """Bad input to the kit. Children exist only where a caller would catch them."""


class CycleError(DagkitError):
    """The tasks form a ring, so none of them can ever start.

    ``cycle`` is the ring in the direction data flows, first task repeated at the end
    (``["a", "b", "a"]``); the starting point is the ring's first declared task.
    """

    def __init__(self, cycle: list[str]):
        self.cycle = cycle
        named = cycle if len(cycle) <= 12 else [*cycle[:6], "...", *cycle[-5:]]
        super().__init__("cycle: " + " -> ".join(shown(task_id) for task_id in named))


class FormatError(DagkitError):
    """A file or text is not what its format promises."""


def shown(text: object, limit: int = 60) -> str:
    r"""Untrusted text made safe for one line of output: escaped, then cut.

    >>> shown("load\nusers")
    'load\\nusers'
    >>> len(shown("x" * 10_000))
    60
    """
    raw = text if isinstance(text, str) else _as_text(text)
    cut = raw[: limit + 1]
    if not cut.isprintable():
        cut = "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in cut)
    return cut if len(cut) <= limit else cut[: limit - 3] + "..."


def _as_text(value: object) -> str:
    try:
        return str(value)
    except ValueError:                                    # Python does not print integers of over 4,300 digits
        return "a very large number"
    except Exception:  # noqa: BLE001  (somebody else's __str__)
        return f"a {type(value).__name__}"


def quoted(value: object) -> str:
    """A value of any type as Python would write it, safe for a message.

    >>> quoted(["a"]), quoted(10 ** 5000)
    ("['a']", 'a very large number')
    """
    try:
        return shown(repr(value))
    except ValueError:                                    # Python does not print integers of over 4,300 digits
        return "a very large number"
    except Exception:  # noqa: BLE001  (somebody else's __repr__)
        return f"a {type(value).__name__}"


def expect(who: str, value: object, kind: type, named: str) -> None:
    """Refuses what is not of a kind, before it fails somewhere deeper. named: what to give instead.

    >>> expect("decide", 3, dict, "a dictionary")
    Traceback (most recent call last):
    ...
    dagkit.errors.DagkitError: decide: expected a dictionary, not 3.
    """
    if not isinstance(value, kind):
        raise DagkitError(f"{who}: expected {named}, not {quoted(value)}.")


def nearest(name: object, known: Iterable[object], most: int = 1) -> str:
    """A hint for a mistyped name: `` Did you mean 'transform'?`` or nothing. most: how many names it may give.

    >>> nearest("trasnform", ["extract", "transform"])
    " Did you mean 'transform'?"
    >>> nearest("retry", ["returns", "retries"]), nearest("slot", ["pool", "pool_slots"])
    (" Did you mean 'retries'?", " Did you mean 'pool_slots'?")
    >>> nearest("retry_dely", ["retries", "retry_delay", "max_retry_delay"], most=2)
    " Did you mean 'retry_delay' or 'max_retry_delay'?"
    """
    if not isinstance(name, str) or len(name) > 100:
        return ""
    names = [k for k, _ in zip((k for k in known if isinstance(k, str)), range(2000), strict=False)]
    def alike(known: str) -> tuple[float, int]:          # of equals, the one that begins alike
        same = [x == y for x, y in zip(known, name, strict=False)]
        return round(difflib.SequenceMatcher(None, known, name).ratio(), 6), [*same, False].index(False)

    close = difflib.get_close_matches(name, names, n=3) or [k for k in names if len(name) > 2 and name in k][:1]
    best = [f"'{shown(k)}'" for k in sorted(close, key=alike, reverse=True)[:most]]
    return f" Did you mean {', '.join(best[:-1])}{' or ' * (len(best) > 1)}{best[-1]}?" if best else ""


def choices(known: Iterable[object], limit: int = 8) -> str:
    """The known names for a message, at most ``limit`` of them.

    >>> choices(["a", "b", "c"], limit=2)
    'a, b, ... (3 in all)'
    """
    names = list(known)
    if len(names) <= limit:
        return ", ".join(shown(name) for name in names)
    return ", ".join(shown(name) for name in names[:limit]) + f", ... ({len(names)} in all)"
