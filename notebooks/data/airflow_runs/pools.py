"""Dag pools for Airflow 3, written by dagkit.

Every task sleeps as long as it lasts in the simulation; OUTCOMES says what each of its tries comes to.
Pools first: airflow pools import pools.pools.json
"""

from __future__ import annotations

import time
from datetime import timedelta

from airflow.sdk import DAG, BaseOperator
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException

DAGKIT_EXPORT = 1
TICK = 4.0  # seconds

# What each try of a task comes to, and who lasts how many ticks instead; by task, or task[map index].
OUTCOMES = {}
DURATIONS = {}
POOLS = {
    'warehouse': 2,
}


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

    def __init__(self, *, part=None, **kwargs):
        super().__init__(**kwargs)
        self.part = part


with DAG('pools', schedule=None, is_paused_upon_creation=False, max_active_tasks=4) as dag:
    read_1 = Scripted(task_id='read_1', pool='warehouse', weight_rule='absolute', duration=1)
    read_2 = Scripted(task_id='read_2', pool='warehouse', priority_weight=2, weight_rule='absolute', duration=1)
    read_3 = Scripted(task_id='read_3', pool='warehouse', priority_weight=3, weight_rule='absolute', duration=1)
    read_4 = Scripted(task_id='read_4', pool='warehouse', priority_weight=4, weight_rule='absolute', duration=1)
    big_read = Scripted(task_id='big_read', pool='warehouse', pool_slots=2, priority_weight=9, weight_rule='absolute', duration=1)
    one_by_one = Mapped.partial(task_id='one_by_one', max_active_tis_per_dagrun=1, duration=1).expand(part=list(range(3)))
    done = Scripted(task_id='done', duration=1)
    [read_1, read_2, read_3, read_4, big_read, one_by_one] >> done
