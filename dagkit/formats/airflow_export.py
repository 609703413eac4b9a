"""A Dag file for a real Airflow 3 (``airflow.sdk``) that does what the simulation does: each task sleeps its duration.

Definition: https://airflow.apache.org/docs/task-sdk/stable/ (Dag files) and
https://airflow.apache.org/docs/apache-airflow/stable/cli-and-env-variables-ref.html#pools (``airflow pools import``).
Text from outside reaches the file as Python literals only (``repr``), never as code; names in the code are made here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..checks import is_number, plain
from ..dag import Dag
from ..errors import DagkitError, choices, quoted, shown
from ..scenario import DEFAULT_POOL_SLOTS, Pool, Scenario
from ..task import Task, spec_of
from ..written import write
from .airflow_ids import LEGAL, argument_names, legal_ids, plain_name, variables
from .airflow_template import HEAD, IMPORTS, KINDS, SCRIPTED
from .loaded import Loaded

_TICKS = ("retry_delay", "max_retry_delay", "execution_timeout", "dagrun_timeout")
_APART = ("upstream", "branch", "short_circuit", "latest_only", "empty", "expand", "is_setup", "is_teardown",
          "on_failure_fail_dagrun", "outlets", "task_group", "duration", "returns")  # fmt: skip
_DAG_DEFAULTS = Dag("_").options()


@dataclass(frozen=True)
class Exported:
    """What ``export_airflow`` wrote. dag_file, pools_file (None without pools), report: what differs; commands: what to
    type in an environment with Airflow."""

    dag_file: Path
    pools_file: Path | None
    commands: tuple[str, ...]
    report: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([f"wrote {self.dag_file}", *self.report, "then:", *(f"  {c}" for c in self.commands)])


def export_airflow(
    dag_or_scenario: Any, path: str | Path, *, tick_seconds: float = 1, unit: str | float | None = None,
) -> Exported:
    """Write an Airflow 3 Dag file, and the pools it needs as JSON beside it.

    dag_or_scenario: a Dag, a Scenario of one Dag, or what ``load`` gave back. path: of the file, ending in ``.py``;
    the pools go to ``NAME.pools.json``. tick_seconds: how long one tick lasts there, in seconds.
    unit: of something loaded, the length of a tick in its own time, see ``Loaded.for_simulation``; with unit="min" and
    tick_seconds=1 a recorded hour is played in a minute.

    Same tasks, rules, pools, limits, retries, mapping, branches, setup and teardown, and the scripted outcomes. Ids that
    Airflow would refuse are rewritten, and the report says so. Raises DagkitError for what a Dag file cannot hold.

    >>> from dagkit import examples
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     made = export_airflow(examples.orders(), f"{folder}/orders.py", tick_seconds=5)
    ...     print(made.pools_file.name, made.commands[1])
    orders.pools.json airflow dags trigger orders
    """
    try:
        path = Path(path)
    except TypeError:
        raise DagkitError(f"export_airflow: the path must be text that ends in .py, not {quoted(path)}. "
                          "Write 'my_dag.py'.") from None
    if path.suffix != ".py":
        raise DagkitError(f"export_airflow: the path must end in .py, not '{shown(path.name)}'. Airflow reads .py files.")
    if not is_number(tick_seconds) or not 0 < tick_seconds <= 1e9:
        raise DagkitError(f"export_airflow: tick_seconds must be a number > 0, not {quoted(tick_seconds)}. "
                          "Keep it to 1e9 at most.")
    tick_seconds = plain(tick_seconds)
    if unit is not None and not isinstance(dag_or_scenario, Loaded):
        raise DagkitError("export_airflow: unit= is for what load gave back; the durations here are ticks already. "
                          "Use tick_seconds=.")
    source = _Source(_scenario(dag_or_scenario, unit))
    pools = path.with_suffix(".pools.json") if source.pools else None
    text = source.text(pools.name if pools else None, tick_seconds)
    write("export_airflow", path, text)
    if pools:
        write("export_airflow", pools, pools_json(source.pools))
    if isinstance(dag_or_scenario, Loaded):
        source.report += [sentence for sentence in dag_or_scenario.report if sentence.startswith("For simulation,")]
    commands = [f"airflow pools import {pools.name}"] if pools else []
    return Exported(path, pools, (*commands, f"airflow dags trigger {source.dag_id}"), tuple(source.report))


def _scenario(given: Any, unit: str | float | None) -> Scenario:
    if isinstance(given, Loaded):
        return given.scenario(unit)
    if isinstance(given, (Dag, Scenario)):
        scenario = Scenario(given) if isinstance(given, Dag) else given
        if len(scenario.dags) != 1:
            raise DagkitError(f"export_airflow: a file holds one Dag, this scenario has {len(scenario.dags)}. "
                              "Export them one by one.")
        return scenario
    raise DagkitError(f"export_airflow needs a Dag, a Scenario or what load gave back, not {quoted(given)}. "
                      "Give one of them.")


def pools_json(pools: Mapping[str, Pool]) -> str:
    """The file ``airflow pools import`` reads.

    >>> print(pools_json({"db": Pool(1)}), end="")
    {
     "db": {
      "slots": 1,
      "description": "",
      "include_deferred": false
     }
    }
    """
    rows = {name: {"slots": pool.slots, "description": "", "include_deferred": pool.include_deferred}
            for name, pool in pools.items()}
    return json.dumps(rows, indent=1) + "\n"


class _Source:
    """The text of one Dag file. Names: ``ids`` are what Airflow sees, ``names`` the variables in the code."""

    def __init__(self, scenario: Scenario):
        self.scenario, self.dag = scenario, scenario.dag
        self.report: list[str] = []
        self.dag_id = legal_ids([self.dag.dag_id], "Dag id", self.report)[self.dag.dag_id]
        self.ids = legal_ids(self.dag.tasks, "task id", self.report)
        assets = [*self.dag.assets, *(name for t in self.dag for name in t.outlets)]
        self.assets = legal_ids(dict.fromkeys(assets), "asset", self.report)
        self.groups = legal_ids(dict.fromkeys(t.task_group for t in self.dag if t.task_group), "group name", self.report)
        found = variables({**self.ids, **{("group", name): f"group_{legal}" for name, legal in self.groups.items()}})
        self.names = {key: name for key, name in found.items() if isinstance(key, str)}
        self.functions = {key[1]: name for key, name in found.items() if isinstance(key, tuple)}
        overs = [*(t.expand or {} for t in self.dag), *(self.dag.groups[name] for name in self.groups)]
        self.arguments = argument_names(dict.fromkeys(arg for over in overs for arg in over), self.report)
        self.pools = {name: pool for name, pool in scenario.pools.items()
                      if name != "default_pool" or pool != Pool(DEFAULT_POOL_SLOTS)}
        self._check()

    # ---- what a file cannot hold -----------------------------------------------------------------------------

    def _check(self) -> None:
        for task in self.dag:
            if task.wait is not None:
                raise DagkitError(f"export_airflow: task '{shown(task.task_id)}' waits ({type(task.wait).__name__}); only "
                                  "tasks that run are exported. Replace it by a task with a duration.")
            if task.task_group is not None and task.expand is not None:
                raise DagkitError(f"export_airflow: task '{shown(task.task_id)}' is mapped inside mapped group "
                                  f"'{shown(task.task_group)}'; Airflow refuses that. Map one of the two.")
            for name in (task.pool, task.queue, task.executor or "none"):
                plain_name(name, f"task '{shown(task.task_id)}'")
        for name in self.scenario.pools:
            plain_name(name, "pools")
        self._say(task.executor for task in self.dag if task.executor)
        for what in ("faults", "changes", "initial"):
            if getattr(self.scenario, what):
                self.report.append(f"{what} are no part of a Dag file and were left out.")
        for table in (self.scenario.outcomes, self.scenario.durations):
            for label in table:
                self._label(label)

    def _say(self, executors: Iterable[str]) -> None:
        named = list(dict.fromkeys(executors))
        if named:
            self.report.append(f"[core] executor must list {choices(named)}: tasks ask for it by name.")

    # ---- text ------------------------------------------------------------------------------------------------

    def text(self, pools_name: str | None, tick_seconds: float) -> str:
        kinds = {_kind(task) for task in self.dag}
        first = f"Pools first: airflow pools import {pools_name}" if pools_name and LEGAL.match(pools_name) else \
            "Pools first: see the JSON file beside this one." if pools_name else "It needs no pools of its own."
        lines = [HEAD.format(dag_id=self.dag_id, pools=first), *self._imports(kinds), "",
                 "DAGKIT_EXPORT = 1", f"TICK = {tick_seconds!r}  # seconds", "",
                 *self._tables(), "", "", SCRIPTED.rstrip()]
        for kind in sorted(kinds & set(KINDS)):
            lines += ["", "", KINDS[kind].text.rstrip()]
        if "Mapped" in kinds:
            lines += ["", "", *self._mapped_class()]
        lines += ["", "", *self._body()]
        return "\n".join(lines) + "\n"

    def _imports(self, kinds: set[str]) -> Iterator[str]:
        asset = ["Asset"] if self.assets else []
        branch = ["BaseBranchOperator"] if "Branch" in kinds else []
        group = ["task_group"] if self.groups else []
        yield IMPORTS.format(sdk=", ".join(["DAG", *asset, *branch, "BaseOperator", *group]))
        for kind in sorted(kinds & set(KINDS)):
            if KINDS[kind].provider:
                yield KINDS[kind].provider

    def _tables(self) -> Iterator[str]:
        yield "# What each try of a task comes to, and who lasts how many ticks instead; by task, or task[map index]."
        yield from _table("OUTCOMES", {self._label(k): list(v) for k, v in self.scenario.outcomes.items()})
        yield from _table("DURATIONS", {self._label(k): v for k, v in self.scenario.durations.items()})
        yield from _table("POOLS", {name: pool.slots for name, pool in self.pools.items()})
        if self.written != list(self.dag.tasks):
            yield f"ORDER = {[self.ids[name] for name in self.dag.tasks]!r}  # as declared: it breaks ties"

    def _label(self, label: str) -> str:
        """A label with the task's id as Airflow sees it. Labels of one run or of another Dag have no place here."""
        bare = label.removeprefix(f"{self.dag.dag_id}.") if label not in self.dag else label
        if bare in self.ids:
            return self.ids[bare]
        task, bracket, index = bare.rpartition("[")
        if bracket and task in self.ids and re.fullmatch(r"\d+\]", index):
            return f"{self.ids[task]}[{index}"
        raise DagkitError(f"export_airflow: the script of '{shown(label)}' holds for one run only, or for no task of Dag "
                          f"'{shown(self.dag.dag_id)}'. Name a task of it: {choices(self.ids)}.")

    def _mapped_class(self) -> list[str]:
        names = list(self.arguments.values())
        return ["class Mapped(Scripted):",
                '    """A task mapped over lists; what it is handed does not matter."""', "",
                f"    def __init__(self, *, {', '.join(f'{n}=None' for n in names)}, **kwargs):",
                "        super().__init__(**kwargs)",
                *(f"        self.{name} = {name}" for name in names)]

    def _body(self) -> Iterator[str]:
        yield f"with DAG({', '.join(self._dag_arguments())}) as dag:"
        if not self.order:
            yield "    pass"
        done: set[str] = set()
        for name in self.order:
            group = self.dag[name].task_group
            if group is None:
                yield from (f"    {line}" for line in self._made(self.dag[name]))
            elif group not in done:
                done.add(group)
                yield from (f"    {line}" if line else "" for line in self._group(group))
        for task in self.dag:
            yield from (f"    {line}" for line in self._arrows(task, inside=False))

    def _made(self, task: Task) -> Iterator[str]:
        name = self.names[task.task_id]
        yield f"{name} = {self._task(task)}"
        if task.is_setup:
            yield f"{name}.as_setup()"
        if task.is_teardown:
            yield f"{name}.as_teardown({'on_failure_fail_dagrun=True' if task.on_failure_fail_dagrun else ''})"

    def _group(self, group: str) -> Iterator[str]:
        """A mapped group: a function that makes its tasks and the arrows between them."""
        members = [self.dag[name] for name in self.order if self.dag[name].task_group == group]
        over = {self.arguments[arg]: self._over(source) for arg, source in self.dag.groups[group].items()}
        yield ""
        yield f"@task_group(group_id={self.groups[group]!r}, prefix_group_id=False)"
        yield f"def {self.functions[group]}({', '.join(over)}):"
        for task in members:
            yield from (f"    {line}" for line in self._made(task))
        for task in members:
            yield from (f"    {line}" for line in self._arrows(task, inside=True))
        made = ", ".join(self.names[task.task_id] for task in members)
        yield f"    return [{made}]"
        yield ""
        call = ", ".join(f"{arg}={source}" for arg, source in over.items())
        yield f"[{made}] = {self.functions[group]}.expand({call})"

    def _arrows(self, task: Task, *, inside: bool) -> Iterator[str]:
        """The line that joins a task to its upstreams; inside its group or not. What is mapped over needs no arrow."""
        given = dict.fromkeys(task.upstream)
        own = {u for u in given if task.task_group is not None and self.dag[u].task_group == task.task_group}
        over = task.expand or (self.dag.groups[task.task_group] if task.task_group and not own else {})
        ups = [self.names[u] for u in given if (u in own) == inside and u not in over.values()]
        if ups:
            yield f"{ups[0] if len(ups) == 1 else '[' + ', '.join(ups) + ']'} >> {self.names[task.task_id]}"

    @cached_property
    def order(self) -> list[str]:
        """Tasks as declared, if what each is mapped over stands before it; otherwise in the order they could run."""
        ids = self.dag.graph.ids
        seen: set[str] = set()
        for name in ids:
            task = self.dag[name]
            over = {**(task.expand or {}), **(self.dag.groups[task.task_group] if task.task_group else {})}
            if any(isinstance(source, str) and source not in seen for source in over.values()):
                return [ids[i] for i in self.dag.graph.order]
            seen.add(name)
        return list(ids)

    @cached_property
    def written(self) -> list[str]:
        """Tasks in the order in which the file makes them: the members of a group together."""
        first: dict[str, int] = {}
        for place, name in enumerate(self.order):
            first.setdefault(self.dag[name].task_group or name, place)
        return sorted(self.order, key=lambda name: first[self.dag[name].task_group or name])

    def _dag_arguments(self) -> Iterator[str]:
        yield repr(self.dag_id)
        assets = ", ".join(f"Asset({self.assets[name]!r})" for name in self.dag.assets)
        yield f"schedule=[{assets}]" if assets else "schedule=None"
        yield "is_paused_upon_creation=False"
        for name, value in self.dag.options().items():
            if value != _DAG_DEFAULTS[name] and name not in ("groups", "assets"):
                yield f"{name}={_value(name, value)}"

    def _task(self, task: Task) -> str:
        kind = _kind(task)
        given = {name: _value(name, value) for name, value in spec_of(task).items() if name not in _APART}
        given.pop("trigger_rule", None) if task.is_teardown else None
        if task.retries:
            given["retry_delay"] = _value("retry_delay", task.retry_delay)
        if kind != "EmptyOperator":
            given["duration"] = repr(task.duration)
        if task.returns is not None:
            given["returns"] = repr(task.returns)
        if task.branch is not None:
            given["follow"] = repr([self.ids[name] for name in task.branch])
        if task.short_circuit:
            given["ignore_downstream_trigger_rules"] = repr(task.short_circuit == "hard")
        if task.outlets:
            given["outlets"] = "[" + ", ".join(f"Asset({self.assets[name]!r})" for name in task.outlets) + "]"
        if self.ids[task.task_id] != task.task_id:
            given["task_display_name"] = repr(shown(task.task_id, 200))
        call = ", ".join(f"{name}={value}" for name, value in {"task_id": repr(self.ids[task.task_id]), **given}.items())
        if task.expand is None:
            return f"{kind}({call})"
        over = ", ".join(f"{self.arguments[arg]}={self._over(source)}" for arg, source in task.expand.items())
        return f"{kind}.partial({call}).expand({over})"

    def _over(self, source: str | int) -> str:
        return f"list(range({source}))" if isinstance(source, int) else f"{self.names[source]}.output"


def _kind(task: Task) -> str:
    """The operator that plays a task."""
    if task.expand is not None and any((task.branch, task.short_circuit, task.latest_only, task.empty)):
        raise DagkitError(f"export_airflow: task '{shown(task.task_id)}' is mapped and also branches, cuts short or is "
                          "empty; the kit exports only one of these. Split it into two tasks.")
    kinds = [("EmptyOperator", task.empty), ("Branch", task.branch is not None), ("Short", task.short_circuit),
             ("Latest", task.latest_only), ("Mapped", task.expand is not None)]
    return next((kind for kind, found in kinds if found), "Scripted")


def _value(name: str, value: Any) -> str:
    return f"ticks({value!r})" if name in _TICKS and value is not None else repr(value)


def _table(name: str, rows: Mapping[str, Any]) -> Iterator[str]:
    if not rows:
        yield f"{name} = {{}}"
        return
    yield f"{name} = {{"
    yield from (f"    {key!r}: {value!r}," for key, value in rows.items())
    yield "}"
