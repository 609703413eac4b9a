"""Dag orders for Airflow 3, written by dagkit.

Every task sleeps as long as it lasts in the simulation; OUTCOMES says what each of its tries comes to.
Pools first: airflow pools import orders.pools.json
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
    'transform': ['fail', 'success'],
    'quality_check': ['fail'],
}
DURATIONS = {}
POOLS = {
    'db': 1,
    'default': 8,
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


with DAG('orders', schedule=None, is_paused_upon_creation=False, max_active_tasks=2) as dag:
    extract_orders = Scripted(task_id='extract_orders', pool='db', duration=2)
    extract_users = Scripted(task_id='extract_users', pool='db', duration=1)
    transform = Scripted(task_id='transform', pool='default', retries=2, retry_delay=ticks(2), duration=1)
    quality_check = Scripted(task_id='quality_check', pool='default', duration=1)
    publish = Scripted(task_id='publish', pool='default', duration=1)
    cleanup_tmp = Scripted(task_id='cleanup_tmp', pool='default', trigger_rule='all_done', duration=1)
    [extract_orders, extract_users] >> transform
    transform >> quality_check
    quality_check >> publish
    publish >> cleanup_tmp
