"""Polling against hints: what a task start costs at scale (a model), and hop by hop (a small simulation).

Nothing here uses the engine. ``model`` is the arithmetic, ``parameters`` what it rests on, ``verdict`` what it is
held against; ``hops`` plays one Dag run through a database, a broker that may lose hints, and workers that may die.
"""

from .flow import Flow
from .hop_faults import CASES, Down, Faults
from .hops import play
from .model import DESIGNS, FITTED, Model, Stage
from .parameters import ASSUMED, KINDS, PARAMETERS, Parameter
from .story import Step, Story
from .verdict import CONCLUSIONS, FIGURES, SIZES, Survey, conclusions, curves, predictions, sensitivity, survey

__all__ = ["ASSUMED", "CASES", "CONCLUSIONS", "DESIGNS", "FIGURES", "FITTED", "KINDS", "PARAMETERS", "SIZES", "Down",
           "Faults", "Flow", "Model", "Parameter", "Stage", "Step", "Story", "Survey", "conclusions", "curves", "play",
           "predictions", "sensitivity", "survey"]
