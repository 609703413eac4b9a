"""A Dag file for a real Airflow 3 (``airflow.sdk``) that does what the simulation does: each task sleeps its duration.

Definition: https://airflow.apache.org/docs/task-sdk/stable/ (Dag files) and
https://airflow.apache.org/docs/apache-airflow/stable/cli-and-env-variables-ref.html#pools (``airflow pools import``).
Text from outside reaches the file as Python literals only (``repr``), never as code; names in the code are made here.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..dag import Dag
from ..errors import DagkitError, choices, quoted, shown
from ..scenario import DEFAULT_POOL_SLOTS, Pool, Scenario
from ..task import Task, is_number, spec_of
from .airflow_template import HEAD, IMPORTS, KINDS, RESERVED, SCRIPTED
from .loaded import Loaded

_LEGAL = re.compile(r"[\w.-]{1,250}\Z")
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


def export_airflow(dag_or_scenario: Any, path: str | Path, *, tick_seconds: float = 1) -> Exported:
    """Write an Airflow 3 Dag file, and the pools it needs as JSON beside it.

    dag_or_scenario: a Dag, a Scenario of one Dag, or what ``load`` gave back. path: of the file, ending in ``.py``;
    the pools go to ``NAME.pools.json``. tick_seconds: how long one tick lasts there, in seconds.

    Same tasks, rules, pools, limits, retries, mapping, branches, setup and teardown, and the scripted outcomes. Ids that
    Airflow would refuse are rewritten, and the report says so. Raises DagkitError for what a Dag file cannot hold.

    >>> from dagkit import examples
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     made = export_airflow(examples.orders(), f"{folder}/orders.py", tick_seconds=5)
    ...     print(made.pools_file.name, made.commands[1])
    orders.pools.json airflow dags trigger orders
    """
    path = Path(path)
    if path.suffix != ".py":
        raise DagkitError(f"export_airflow: the path must end in .py, not '{shown(path.name)}'. Airflow reads .py files.")
    if not is_number(tick_seconds) or tick_seconds <= 0:
        raise DagkitError(f"export_airflow: tick_seconds must be a number > 0, not {quoted(tick_seconds)}.")
    source = _Source(_scenario(dag_or_scenario))
    pools = path.with_suffix(".pools.json") if source.pools else None
    text = source.text(pools.name if pools else None, tick_seconds)
    path.write_text(text, encoding="utf-8", newline="\n")
    if pools:
        pools.write_text(pools_json(source.pools), encoding="utf-8", newline="\n")
    commands = [f"airflow pools import {pools.name}"] if pools else []
    return Exported(path, pools, (*commands, f"airflow dags trigger {source.dag_id}"), tuple(source.report))


def _scenario(given: Any) -> Scenario:
    if isinstance(given, Loaded):
        return given.scenario()
    if isinstance(given, (Dag, Scenario)):
        scenario = Scenario(given) if isinstance(given, Dag) else given
        if len(scenario.dags) != 1:
            raise DagkitError(f"export_airflow: a file holds one Dag, this scenario has {len(scenario.dags)}. "
                              "Export them one by one.")
        return scenario
    raise DagkitError(f"export_airflow needs a Dag, a Scenario or what load gave back, not {quoted(given)}.")


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
        self.dag_id = self._legal([self.dag.dag_id], "Dag id")[self.dag.dag_id]
        self.ids = self._legal(self.dag.tasks, "task id")
        assets = [*self.dag.assets, *(name for t in self.dag for name in t.outlets)]
        self.assets = self._legal(dict.fromkeys(assets), "asset")
        self.names = _variables(self.ids)
        self.arguments = self._arguments()
        self.pools = {name: pool for name, pool in scenario.pools.items()
                      if name != "default_pool" or pool != Pool(DEFAULT_POOL_SLOTS)}
        self._check()

    # ---- what a file cannot hold -----------------------------------------------------------------------------

    def _check(self) -> None:
        for task in self.dag:
            if task.wait is not None:
                raise DagkitError(f"export_airflow: task '{shown(task.task_id)}' waits ({type(task.wait).__name__}); only "
                                  "tasks that run are exported. Replace it by a task with a duration.")
            if task.task_group is not None:
                raise DagkitError(f"export_airflow: task '{shown(task.task_id)}' is in mapped group "
                                  f"'{shown(task.task_group)}'; only single mapped tasks are exported. "
                                  "Map its tasks one by one.")
            for name in (task.pool, task.queue, task.executor or "none"):
                _plain_name(name, f"task '{shown(task.task_id)}'")
        for name in self.scenario.pools:
            _plain_name(name, "pools")
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

    def _legal(self, names: Iterable[str], what: str) -> dict[str, str]:
        """Ids as Airflow takes them: letters, digits, dash, dot, underscore, at most 250; unique."""
        names = list(names)
        made = {name: name for name in names if _LEGAL.match(name)}
        taken, changed = set(made.values()), [name for name in names if name not in made]
        for name in changed:
            base = re.sub(r"[^\w.-]+", "_", name)[:200].strip("_") or "task"
            made[name] = next(c for c in _numbered(base) if c not in taken)
            taken.add(made[name])
        if changed:
            pairs = choices(f"{shown(name, 30)} -> {made[name][:30]}" for name in changed)
            self.report.append(f"{what}s that Airflow would refuse were rewritten: {pairs}.")
        return {name: made[name] for name in names}

    def _arguments(self) -> dict[str, str]:
        """Names of arguments that tasks are mapped over, as parameters of a Python function."""
        names = dict.fromkeys(arg for t in self.dag for arg in (t.expand or {}))
        fit = {n for n in names if n.isascii() and n.isidentifier() and not keyword.iskeyword(n) and n not in RESERVED}
        changed = [name for name in names if name not in fit]
        fresh = (name for name in _numbered("arg") if name not in names)
        if changed:
            self.report.append(f"Argument names that Python would refuse were rewritten: {choices(changed)}.")
        return {name: name if name in fit else next(fresh) for name in names}

    # ---- text ------------------------------------------------------------------------------------------------

    def text(self, pools_name: str | None, tick_seconds: float) -> str:
        kinds = {_kind(task) for task in self.dag}
        first = f"Pools first: airflow pools import {pools_name}" if pools_name and _LEGAL.match(pools_name) else \
            "Pools first: see the JSON file beside this one." if pools_name else "It needs no pools of its own."
        lines = [HEAD.format(dag_id=self.dag_id, pools=first), *self._imports(kinds), "",
                 "DAGKIT_EXPORT = 1", f"TICK = {tick_seconds!r}  # seconds", "",
                 *self._tables(), "", "", SCRIPTED.rstrip()]
        for kind in sorted(kinds & set(KINDS)):
            lines += ["", "", KINDS[kind].text.rstrip()]
        if self.arguments:
            lines += ["", "", *self._mapped_class()]
        lines += ["", "", *self._body()]
        return "\n".join(lines) + "\n"

    def _imports(self, kinds: set[str]) -> Iterator[str]:
        asset = ["Asset"] if self.assets else []
        branch = ["BaseBranchOperator"] if "Branch" in kinds else []
        yield IMPORTS.format(sdk=", ".join(["DAG", *asset, *branch, "BaseOperator"]))
        for kind in sorted(kinds & set(KINDS)):
            if KINDS[kind].provider:
                yield KINDS[kind].provider

    def _tables(self) -> Iterator[str]:
        yield "# What each try of a task comes to, and who lasts how many ticks instead; by task, or task[map index]."
        yield from _table("OUTCOMES", {self._label(k): list(v) for k, v in self.scenario.outcomes.items()})
        yield from _table("DURATIONS", {self._label(k): v for k, v in self.scenario.durations.items()})
        yield from _table("POOLS", {name: pool.slots for name, pool in self.pools.items()})

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
        for task in self.dag:
            yield f"    {self.names[task.task_id]} = {self._task(task)}"
            if task.is_setup:
                yield f"    {self.names[task.task_id]}.as_setup()"
            if task.is_teardown:
                fails = "on_failure_fail_dagrun=True" if task.on_failure_fail_dagrun else ""
                yield f"    {self.names[task.task_id]}.as_teardown({fails})"
        for task in self.dag:
            ups = [self.names[u] for u in dict.fromkeys(task.upstream) if u not in (task.expand or {}).values()]
            if ups:
                left = ups[0] if len(ups) == 1 else f"[{', '.join(ups)}]"
                yield f"    {left} >> {self.names[task.task_id]}"

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


def _plain_name(name: str, who: str) -> None:
    if not name.isprintable() or len(name) > 250:
        raise DagkitError(f"export_airflow: {who}: the name '{shown(name)}' has characters that cannot be printed, or more "
                          "than 250; Airflow's database may refuse it. Rename it.")


def _numbered(base: str) -> Iterator[str]:
    yield base
    number = 2
    while True:
        yield f"{base}_{number}"
        number += 1


def _variables(ids: Mapping[str, str]) -> dict[str, str]:
    """A variable for every task: its id where that is a plain Python name, otherwise ``task_3``."""
    made: dict[str, str] = {}
    taken = set(RESERVED)
    for number, (task_id, legal) in enumerate(ids.items(), 1):
        name = re.sub(r"[^0-9A-Za-z]", "_", legal)
        fits = legal.isascii() and name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")
        made[task_id] = next(c for c in _numbered(name if fits else f"task_{number}") if c not in taken)
        taken.add(made[task_id])
    return made


def _table(name: str, rows: Mapping[str, Any]) -> Iterator[str]:
    if not rows:
        yield f"{name} = {{}}"
        return
    yield f"{name} = {{"
    yield from (f"    {key!r}: {value!r}," for key, value in rows.items())
    yield "}"
