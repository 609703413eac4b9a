"""What breaks, and when: faults are data, handed to ``simulate(..., faults=[...])``.

Every fault has a ``tick``, the first at which it holds. Those that pass have ``until``, the tick at which all is well
again (None: never). ``component`` says which part of the architecture is broken; ``str(fault)`` says it in words.

>>> print(BrokerDown(tick=5, until=20))
the broker delivers nothing from tick 5 until tick 20
"""

from __future__ import annotations

from .base import Fault, Outage
from .control import (
    EARLIEST,
    ApiServerDown,
    DagProcessorDown,
    DatabaseDown,
    LoseScheduler,
    SlowApiServer,
    SlowDagProcessor,
    SlowDatabase,
    TriggererDown,
)
from .working import (
    BrokenWorker,
    BrokerDown,
    LoseMessage,
    LoseWorker,
    PodsPending,
    SlowWorker,
    WrongQueue,
)

FAULTS = (LoseWorker, LoseMessage, LoseScheduler, SlowWorker, BrokenWorker, WrongQueue, BrokerDown, PodsPending,
          ApiServerDown, SlowApiServer, DatabaseDown, SlowDatabase, TriggererDown, DagProcessorDown, SlowDagProcessor)

__all__ = ["EARLIEST", "FAULTS", "ApiServerDown", "BrokenWorker", "BrokerDown", "DagProcessorDown", "DatabaseDown",
           "Fault", "LoseMessage", "LoseScheduler", "LoseWorker", "Outage", "PodsPending", "SlowApiServer",
           "SlowDagProcessor", "SlowDatabase", "SlowWorker", "TriggererDown", "WrongQueue"]
