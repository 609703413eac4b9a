"""Dag mapping for Airflow 3, written by dagkit.

Every task sleeps as long as it lasts in the simulation; OUTCOMES says what each of its tries comes to.
It needs no pools of its own.
"""

from __future__ import annotations

import time
from datetime import timedelta

from airflow.sdk import DAG, BaseOperator
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException

DAGKIT_EXPORT = 1
TICK = 4.0  # seconds

# What each try of a task comes to, and who lasts how many ticks instead; by task, or task[map index].
OUTCOMES = {
    'check[1]': ['fail'],
}
DURATIONS = {
    'clean[0]': 3,
}
POOLS = {}


def ticks(number):
    return timedelta(seconds=number * TICK)


def act(task, context):
    """One try: sleep, then do what the script says."""
    ti = context["ti"]
    index = -1 if ti.map_index is None else ti.map_index
    label = f"{ti.task_id}[{index}]"
    time.sleep(DURATIONS.get(label, DURATIONS.get(ti.task_id, task.duration)) * TICK)
    script = OUTCOMES.get(label, OUTCOMES.get(ti.task_id, []))
    outcome = script[ti.try_number - 1] if ti.try_number <= len(script) else "success"
    word, _, length = outcome.partition(":")
    if word == "fail":
        raise AirflowException("the script says so")
    if word == "fail_hard":
        raise AirflowFailException("the script says so")
    if word == "skip":
        raise AirflowSkipException("the script says so")
    if length or task.returns is not None:
        return list(range(int(length or task.returns)))
    return index if index >= 0 else None


class Scripted(BaseOperator):
    """A task that lasts and ends as written."""

    def __init__(self, *, duration=1, returns=None, **kwargs):
        super().__init__(**kwargs)
        self.duration, self.returns = duration, returns

    def execute(self, context):
        return act(self, context)


class Mapped(Scripted):
    """A task mapped over lists; what it is handed does not matter."""

    def __init__(self, *, day=None, left=None, right=None, **kwargs):
        super().__init__(**kwargs)
        self.day = day
        self.left = left
        self.right = right


with DAG('mapping', schedule=None, is_paused_upon_creation=False) as dag:
    list_days = Scripted(task_id='list_days', duration=1, returns=3)
    list_none = Scripted(task_id='list_none', duration=1, returns=0)
    clean = Mapped.partial(task_id='clean', duration=2).expand(day=list_days.output)
    check = Mapped.partial(task_id='check', duration=1).expand(day=clean.output)
    pairs = Mapped.partial(task_id='pairs', duration=1).expand(left=list(range(2)), right=list(range(2)))
    nothing = Mapped.partial(task_id='nothing', duration=1).expand(day=list_none.output)
    after_nothing = Scripted(task_id='after_nothing', trigger_rule='none_failed', duration=1)
    strict = Scripted(task_id='strict', duration=1)
    report = Scripted(task_id='report', trigger_rule='all_done', duration=1)
    nothing >> after_nothing
    check >> strict
    [check, pairs] >> report
