"""Capacity and recovery: what facts justify, when capacity comes, what a stop loses, what a repair needs, what is left
after a region fails. Each part is a small simulation of its own; nothing here uses the engine.
"""

from .facts import TABLE, Action, Facts, decide
from .failover import Failover, Job, failover
from .hibernation import ORDER, STEPS, Deployment, Sleep, hibernate
from .repairs import FINDINGS, Tally, judge, trial
from .scaling import POLICIES, SITUATIONS, Play, Work, compare, scale

__all__ = ["FINDINGS", "ORDER", "POLICIES", "SITUATIONS", "STEPS", "TABLE", "Action", "Deployment", "Facts", "Failover",
           "Job", "Play", "Sleep", "Tally", "Work", "compare", "decide", "failover", "hibernate", "judge", "scale", "trial"]
