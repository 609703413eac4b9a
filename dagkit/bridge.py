"""From a reason of the kit to the real thing: what Airflow 3.3 shows, whom to ask, what to watch, which knob to turn.

One row for each code that ``trace.explain`` can give. Names of metrics, configuration keys, commands, routes and
parameters are those of Airflow 3.3.2; a test compares them with a list read from its source.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from .bridge_rows import ROWS
from .errors import DagkitError, choices, nearest, shown

if TYPE_CHECKING:
    import pandas as pd

AIRFLOW_VERSION = "3.3.2"


@dataclass(frozen=True)
class Bridge:
    """What stands behind one reason code in a real Airflow.

    check: the dependency or check that decides. shows: what the UI shows. ask: commands and REST calls that answer.
    metrics: to watch. config: keys in airflow.cfg. parameters: of Dags, tasks and sensors. knob: what would help.
    source: ``file::name`` below the package ``airflow``.

    >>> of("pool").metrics[0]
    'pool.open_slots'
    """

    code: str
    check: str
    shows: str
    ask: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    knob: str = ""
    source: tuple[str, ...] = ()

    def __str__(self) -> str:
        said = [f"{self.code}: {self.check}", f"UI: {self.shows}"]
        for head, names in (("ask", self.ask), ("metrics", self.metrics), ("config", self.config),
                            ("parameters", self.parameters), ("source", self.source)):
            said += [f"{head}: {', '.join(names)}"] if names else []
        return "\n".join([*said, f"knob: {self.knob}"] if self.knob else said)


_BY_CODE = {told["code"]: Bridge(**told) for told in ROWS}


def codes() -> tuple[str, ...]:
    """Every reason code, in the order of a task instance's life."""
    return tuple(_BY_CODE)


def of(code: str) -> Bridge:
    """The bridge for one reason code, ``trace.explain(...).code``.

    Raises DagkitError for a code that is none, with the nearest.

    >>> of("max_active_runs").parameters
    ('Dag(max_active_runs)',)
    """
    if code not in _BY_CODE:
        raise DagkitError(f"reason code '{shown(code)}' is unknown.{nearest(code, _BY_CODE)} "
                          f"Known: {choices(_BY_CODE, 50)}.")
    return _BY_CODE[code]


def table(*wanted: str) -> pd.DataFrame:
    """The bridges for some codes (none named: for all) as a table, one row each.

    >>> list(table("pool").index)
    ['pool']
    """
    import pandas as pd
    names = [f.name for f in fields(Bridge)]
    rows = [[_text(getattr(of(code), name)) for name in names] for code in wanted or codes()]
    return pd.DataFrame(rows, columns=names).set_index("code")


def _text(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else "; ".join(value)
