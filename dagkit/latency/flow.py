"""Flow: the tasks whose way to running is played hop by hop, and how often somebody looks at them unasked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..checks import listed, names, plain, plain_fields, table, text, whole
from ..errors import DagkitError, nearest, quoted, shown
from ..keywords import checked


@checked
@dataclass(frozen=True)
class Flow:
    """What is run. upstream: what each task waits for, in an order in which they can run. length: of every task.
    scan: how often a scheduler looks without being woken. first: when each of the two does so first. All in ms; a play
    ends after two minutes of them.

    >>> Flow({"a": (), "b": ("a",)}, length=1_000).upstream["b"]
    ('a',)
    >>> Flow({"b": ("a",), "a": ()})
    Traceback (most recent call last):
    ...
    dagkit.errors.DagkitError: Flow: 'b' waits for 'a', which is not listed before it. List it before, without a ring.
    """

    upstream: Mapping[str, Sequence[str]]
    length: int = 200
    scan: int = 1_000
    first: Sequence[int] = (500, 1_000)

    def __post_init__(self) -> None:
        plain_fields(self)
        table("Flow: upstream", self.upstream, "{'a': (), 'b': ('a',)}")
        before: dict[str, tuple[str, ...]] = {}
        for task, ups in self.upstream.items():
            text("Flow", "upstream: each task", task)
            for up in (found := names("Flow", "upstream", ups)):
                if up not in before:
                    raise DagkitError(f"Flow: '{shown(task)}' waits for '{shown(up)}', which is not listed before it."
                                      f"{nearest(up, before)} List it before, without a ring.")
            before[task] = found
        object.__setattr__(self, "upstream", before)
        whole("Flow", "length", self.length, 1, unit=" of ms")
        whole("Flow", "scan", self.scan, 100, unit=" of ms")
        first = tuple(plain(at) for at in listed("Flow", "first", self.first, "Write first=(500, 1_000)."))
        if len(first) != 2:
            raise DagkitError(f"Flow: first must be two times, one of each scheduler, not {quoted(self.first)}. "
                              "Write first=(500, 1_000).")
        for at in first:
            whole("Flow", "first", at, 0, unit=" of ms")
        object.__setattr__(self, "first", first)


EXAMPLE_ETL = Flow({"extract": (), "transform": ("extract",), "publish": ("transform",)})
