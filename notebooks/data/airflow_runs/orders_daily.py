"""Dag orders_daily for Airflow 3, written by dagkit.

Every task sleeps as long as it lasts in the simulation; OUTCOMES says what each of its tries comes to.
Pools first: airflow pools import orders_daily.pools.json
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
    'process[2]': ['fail'],
}
DURATIONS = {
    'process[3]': 4,
}
POOLS = {
    'orders_db': 1,
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

    def __init__(self, *, path=None, **kwargs):
        super().__init__(**kwargs)
        self.path = path


with DAG('orders_daily', schedule=None, is_paused_upon_creation=False, max_active_runs=2) as dag:
    list_files = Scripted(task_id='list_files', pool='orders_db', retries=3, retry_delay=ticks(1), duration=1, returns=4)
    process = Mapped.partial(task_id='process', retries=3, retry_delay=ticks(1), duration=2).expand(path=list_files.output)
    publish = Scripted(task_id='publish', retries=3, retry_delay=ticks(1), duration=1)
    process >> publish
