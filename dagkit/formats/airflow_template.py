"""The parts of an exported Dag file that are the same for every Dag: imports, and operators that follow a script."""

from __future__ import annotations

import builtins
from typing import NamedTuple

HEAD = '''\
"""Dag {dag_id} for Airflow 3, written by dagkit.

Every task sleeps as long as it lasts in the simulation; OUTCOMES says what each of its tries comes to.
{pools}
"""

from __future__ import annotations
'''

IMPORTS = """\
import time
from datetime import timedelta

from airflow.sdk import {sdk}
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException"""

SCRIPTED = '''\
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
'''


class Kind(NamedTuple):
    """One further operator. provider: the import it needs, if any."""

    text: str
    provider: str = ""


KINDS = {
    "Branch": Kind('''\
class Branch(BaseBranchOperator):
    """A branch that always follows the same tasks."""

    def __init__(self, *, follow, duration=1, returns=None, **kwargs):
        super().__init__(**kwargs)
        self.follow, self.duration, self.returns = follow, duration, returns

    def choose_branch(self, context):
        act(self, context)
        return self.follow
'''),
    "Short": Kind('''\
class Short(ShortCircuitOperator):
    """A condition that is never met."""

    def __init__(self, *, duration=1, returns=None, **kwargs):
        super().__init__(python_callable=lambda: False, **kwargs)
        self.duration, self.returns = duration, returns

    def execute(self, context):
        act(self, context)
        return super().execute(context)
''', "from airflow.providers.standard.operators.python import ShortCircuitOperator"),
    "Latest": Kind('''\
class Latest(LatestOnlyOperator):
    """Lets only the latest run go on."""

    def __init__(self, *, duration=1, returns=None, **kwargs):
        super().__init__(**kwargs)
        self.duration, self.returns = duration, returns

    def choose_branch(self, context):
        act(self, context)
        return super().choose_branch(context)
''', "from airflow.providers.standard.operators.latest_only import LatestOnlyOperator"),
    "EmptyOperator": Kind("", "from airflow.providers.standard.operators.empty import EmptyOperator"),
}

RESERVED = frozenset({
    *dir(builtins), *KINDS, "dag", "DAG", "Asset", "BaseOperator", "BaseBranchOperator", "ShortCircuitOperator",
    "LatestOnlyOperator", "AirflowException", "AirflowFailException", "AirflowSkipException", "time", "timedelta",
    "annotations", "ticks", "act", "Scripted", "Mapped", "TICK", "OUTCOMES", "DURATIONS", "POOLS", "ORDER", "DAGKIT_EXPORT",
    "group",
    # parameters that operators have already
    "self", "kwargs", "args", "task_id", "duration", "returns", "follow", "owner", "email", "retries", "retry_delay",
    "max_retry_delay", "retry_exponential_backoff", "start_date", "end_date", "depends_on_past", "params", "queue",
    "default_args", "priority_weight", "weight_rule", "pool", "pool_slots", "execution_timeout", "trigger_rule",
    "executor", "executor_config", "resources", "run_as_user", "task_group", "doc", "doc_md", "inlets", "outlets",
    "map_index_template", "task_display_name", "sla", "logger_name", "execute", "label", "operator_class", "output",
    "upstream_list", "downstream_list", "roots", "leaves", "log", "node_id", "expand", "partial", "is_setup",
    "is_teardown", "task_type", "render_template_as_native_obj", "template_fields", "multiple_outputs",
    "max_active_tis_per_dag", "max_active_tis_per_dagrun", "wait_for_downstream", "ignore_first_depends_on_past",
})
"""Names an exported file, or an operator, has a use for."""
