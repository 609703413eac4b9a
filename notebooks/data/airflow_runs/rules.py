"""Dag rules for Airflow 3, written by dagkit.

Every task sleeps as long as it lasts in the simulation; OUTCOMES says what each of its tries comes to.
It needs no pools of its own.
"""

from __future__ import annotations

import time
from datetime import timedelta

from airflow.sdk import DAG, BaseBranchOperator, BaseOperator
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException

DAGKIT_EXPORT = 1
TICK = 4.0  # seconds

# What each try of a task comes to, and who lasts how many ticks instead; by task, or task[map index].
OUTCOMES = {
    'ok': ['success'],
    'bad': ['fail'],
    'gone': ['skip'],
    'use_cluster': ['fail'],
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


class Branch(BaseBranchOperator):
    """A branch that always follows the same tasks."""

    def __init__(self, *, follow, duration=1, returns=None, **kwargs):
        super().__init__(**kwargs)
        self.follow, self.duration, self.returns = follow, duration, returns

    def choose_branch(self, context):
        act(self, context)
        return self.follow


with DAG('rules', schedule=None, is_paused_upon_creation=False) as dag:
    ok = Scripted(task_id='ok', duration=1)
    bad = Scripted(task_id='bad', duration=1)
    gone = Scripted(task_id='gone', duration=1)
    choose = Branch(task_id='choose', duration=1, follow=['left'])
    left = Scripted(task_id='left', duration=1)
    right = Scripted(task_id='right', duration=1)
    after_branch = Scripted(task_id='after_branch', trigger_rule='none_failed_min_one_success', duration=1)
    by_all_success = Scripted(task_id='by_all_success', duration=1)
    by_all_failed = Scripted(task_id='by_all_failed', trigger_rule='all_failed', duration=1)
    by_all_done = Scripted(task_id='by_all_done', trigger_rule='all_done', duration=1)
    by_one_success = Scripted(task_id='by_one_success', trigger_rule='one_success', duration=1)
    by_one_failed = Scripted(task_id='by_one_failed', trigger_rule='one_failed', duration=1)
    by_one_done = Scripted(task_id='by_one_done', trigger_rule='one_done', duration=1)
    by_none_failed = Scripted(task_id='by_none_failed', trigger_rule='none_failed', duration=1)
    by_none_failed_min_one_success = Scripted(task_id='by_none_failed_min_one_success', trigger_rule='none_failed_min_one_success', duration=1)
    by_none_skipped = Scripted(task_id='by_none_skipped', trigger_rule='none_skipped', duration=1)
    by_all_skipped = Scripted(task_id='by_all_skipped', trigger_rule='all_skipped', duration=1)
    by_all_done_min_one_success = Scripted(task_id='by_all_done_min_one_success', trigger_rule='all_done_min_one_success', duration=1)
    by_always = Scripted(task_id='by_always', trigger_rule='always', duration=1)
    refused = Scripted(task_id='refused', duration=1)
    left_out = Scripted(task_id='left_out', duration=1)
    make_cluster = Scripted(task_id='make_cluster', duration=1)
    make_cluster.as_setup()
    use_cluster = Scripted(task_id='use_cluster', duration=1)
    drop_cluster = Scripted(task_id='drop_cluster', duration=1)
    drop_cluster.as_teardown()
    choose >> left
    choose >> right
    [left, right] >> after_branch
    [ok, left] >> by_all_success
    bad >> by_all_failed
    [ok, bad, gone] >> by_all_done
    ok >> by_one_success
    bad >> by_one_failed
    [ok, bad] >> by_one_done
    [ok, gone] >> by_none_failed
    [ok, gone] >> by_none_failed_min_one_success
    [ok, bad] >> by_none_skipped
    gone >> by_all_skipped
    [ok, bad] >> by_all_done_min_one_success
    bad >> by_always
    bad >> refused
    gone >> left_out
    make_cluster >> use_cluster
    [make_cluster, use_cluster] >> drop_cluster
