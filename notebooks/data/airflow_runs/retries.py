"""Dag retries for Airflow 3, written by dagkit.

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
    'third_time': ['fail', 'fail'],
    'never': ['fail', 'fail'],
    'no_second_try': ['fail_hard'],
    'patient': ['fail', 'fail'],
    'watcher': ['fail'],
}
DURATIONS = {}
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


with DAG('retries', schedule=None, is_paused_upon_creation=False) as dag:
    third_time = Scripted(task_id='third_time', retries=3, retry_delay=ticks(1), duration=1)
    never = Scripted(task_id='never', retries=1, retry_delay=ticks(1), duration=1)
    no_second_try = Scripted(task_id='no_second_try', retries=3, retry_delay=ticks(1), duration=1)
    too_slow = Scripted(task_id='too_slow', retries=1, execution_timeout=ticks(2), retry_delay=ticks(1), duration=4)
    patient = Scripted(task_id='patient', retries=2, retry_exponential_backoff=True, retry_delay=ticks(1), duration=1)
    after_never = Scripted(task_id='after_never', duration=1)
    after_third = Scripted(task_id='after_third', duration=1)
    tidy = Scripted(task_id='tidy', trigger_rule='all_done', duration=1)
    watcher = Scripted(task_id='watcher', trigger_rule='one_failed', duration=1)
    never >> after_never
    third_time >> after_third
    [after_third, after_never, no_second_try, too_slow, patient] >> tidy
    [tidy, never, no_second_try, too_slow] >> watcher
