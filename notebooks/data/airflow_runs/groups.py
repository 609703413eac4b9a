"""Dag groups for Airflow 3, written by dagkit.

Every task sleeps as long as it lasts in the simulation; OUTCOMES says what each of its tries comes to.
It needs no pools of its own.
"""

from __future__ import annotations

import time
from datetime import timedelta

from airflow.sdk import DAG, BaseOperator, task_group
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.latest_only import LatestOnlyOperator
from airflow.providers.standard.operators.python import ShortCircuitOperator

DAGKIT_EXPORT = 1
TICK = 3.0  # seconds

# What each try of a task comes to, and who lasts how many ticks instead; by task, or task[map index].
OUTCOMES = {
    'a[1]': ['fail'],
    'b[0]': ['fail'],
}
DURATIONS = {}
POOLS = {}
ORDER = ['last', 'other', 'a', 'b', 'each', 'days', 'cut', 'after_cut', 'soft', 'after_soft', 'end', 'marker', 'latest', 'after_latest']  # as declared: it breaks ties


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





class Latest(LatestOnlyOperator):
    """Lets only the latest run go on."""

    def __init__(self, *, duration=1, returns=None, **kwargs):
        super().__init__(**kwargs)
        self.duration, self.returns = duration, returns

    def choose_branch(self, context):
        act(self, context)
        return super().choose_branch(context)


class Short(ShortCircuitOperator):
    """A condition that is never met."""

    def __init__(self, *, duration=1, returns=None, **kwargs):
        super().__init__(python_callable=lambda: False, **kwargs)
        self.duration, self.returns = duration, returns

    def execute(self, context):
        act(self, context)
        return super().execute(context)


class Mapped(Scripted):
    """A task mapped over lists; what it is handed does not matter."""

    def __init__(self, *, x=None, day=None, **kwargs):
        super().__init__(**kwargs)
        self.x = x
        self.day = day


with DAG('groups', schedule=None, is_paused_upon_creation=False) as dag:
    other = Scripted(task_id='other', duration=1)
    days = Scripted(task_id='days', duration=1, returns=3)

    @task_group(group_id='per_day', prefix_group_id=False)
    def group_per_day(day):
        a = Scripted(task_id='a', duration=1)
        b = Scripted(task_id='b', retries=1, retry_delay=ticks(1), duration=1)
        a >> b
        return [a, b]

    [a, b] = group_per_day.expand(day=days.output)
    last = Scripted(task_id='last', trigger_rule='all_done', duration=1)
    each = Mapped.partial(task_id='each', duration=1).expand(x=days.output)
    cut = Short(task_id='cut', duration=1, ignore_downstream_trigger_rules=True)
    after_cut = Scripted(task_id='after_cut', trigger_rule='all_done', duration=1)
    soft = Short(task_id='soft', duration=1, ignore_downstream_trigger_rules=False)
    after_soft = Scripted(task_id='after_soft', duration=1)
    end = Scripted(task_id='end', trigger_rule='all_done', duration=1)
    marker = EmptyOperator(task_id='marker')
    latest = Latest(task_id='latest', duration=1)
    after_latest = Scripted(task_id='after_latest', duration=1)
    [b, other] >> last
    other >> b
    cut >> after_cut
    soft >> after_soft
    after_soft >> end
    marker >> latest
    latest >> after_latest
