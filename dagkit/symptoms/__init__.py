"""From symptom to component: broken deployments made from a seed, to be diagnosed.

``symptom(seed, level)`` shows states over time and asks for the component; ``incident(seed, level)`` is noisy, costs a
check for each look, and may have two faults. Everything shown is read off a real trace.

>>> case = symptom(3)
>>> case.answer in case.choices, case.first_check in case.checks
(True, True)
"""

from __future__ import annotations

from .causes import CAUSES, Cause
from .deployment import COMPONENTS, Broken, broken
from .game import Symptom, symptom
from .incident import Incident, incident
from .panel import Drill, Game
from .readings import Reading, readings

__all__ = ["CAUSES", "COMPONENTS", "Broken", "Cause", "Drill", "Game", "Incident", "Reading", "Symptom", "broken",
           "incident", "readings", "symptom"]
