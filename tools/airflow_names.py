"""The names that an installed Airflow really has, for checking what the kit says about it.

    python tools/airflow_names.py PATH/TO/site-packages/airflow > tests/data/airflow_names.json

Reads files only and never imports Airflow: metrics, configuration keys, command-line commands, REST routes,
dependency names, parameters of Dags and tasks, and the functions and classes of the files that the kit cites.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

CITED = (
    "api_fastapi/core_api/routes/public/hitl.py", "api_fastapi/core_api/routes/public/task_instances.py",
    "api_fastapi/execution_api/routes/xcoms.py", "executors/base_executor.py",
    "jobs/scheduler_job_runner.py", "jobs/triggerer_job_runner.py", "models/dagrun.py", "models/dagwarning.py",
    "models/taskinstance.py", "providers/standard/operators/python.py", "providers/standard/utils/skipmixin.py",
    "dag_processing/manager.py", "sdk/bases/sensor.py", "sdk/execution_time/supervisor.py",
    "sdk/execution_time/task_runner.py", "serialization/definitions/dag.py",
)
# From providers that Airflow's core package does not contain, read in their provider.yaml and cli definitions.
PROVIDERS = {
    "config": ["[celery] worker_autoscale", "[celery] worker_concurrency", "[celery] worker_prefetch_multiplier",
               "[edge] job_poll_interval", "[kubernetes_executor] worker_pods_creation_batch_size",
               "[celery] task_publish_max_retries", "[celery] task_acks_late",
               "[celery_broker_transport_options] visibility_timeout"],
    "cli": ["airflow celery worker"],
}


def metrics(root: Path) -> list[str]:
    held = yaml.safe_load((root / "_shared/observability/metrics/metrics_template.yaml").read_text("utf-8"))
    return sorted(m["name"] for m in held["metrics"])


def config(root: Path) -> list[str]:
    held = yaml.safe_load((root / "config_templates/config.yml").read_text("utf-8"))
    return sorted(f"[{section}] {key}" for section, spec in held.items() for key in spec["options"])


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def calls(tree: ast.AST, name: str) -> Iterator[dict[str, Any]]:
    """The keyword arguments of every call of ``name``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
            yield {k.arg: k.value for k in node.keywords if k.arg}


def cli(root: Path) -> list[str]:
    tree = parsed(root / "cli/cli_config.py")
    groups: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        target = getattr(node, "target", None) or next(iter(getattr(node, "targets", [])), None)
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(target, ast.Name) and node.value:
            groups[target.id] = [k["name"].value for k in calls(node.value, "ActionCommand")]
    found = [f"airflow {k['name'].value} {command}" for k in calls(tree, "GroupCommand")
             for command in groups.get(getattr(k.get("subcommands"), "id", ""), ())]
    return sorted(found)


def routes(root: Path) -> list[str]:
    found = []
    for path in sorted((root / "api_fastapi/core_api/routes/public").glob("*.py")):
        text = path.read_text("utf-8")
        named = dict(re.findall(r'^(\w+) = "(/[^"]*)"', text, re.M))
        prefixes = dict(re.findall(r'^(\w+) = AirflowRouter\([^)]*?prefix="([^"]*)"', text, re.M | re.S))
        pattern = r'^@(\w+)\.(get|post|patch|put|delete)\(\s*(?:path=)?(?:(\w+)(?:\s*\+\s*)?)?(?:"([^"]*)")?'
        for router, verb, constant, tail in re.findall(pattern, text, re.M):
            where = named.get(constant, "") + tail
            found.append(f"{verb.upper()} /api/v2{prefixes.get(router, '')}{where}".replace(":path}", "}"))
    return sorted(set(found))


def dependencies(root: Path) -> dict[str, str]:
    """Class name to the name shown to users."""
    found = {}
    for path in sorted((root / "ti_deps/deps").glob("*.py")):
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef):
                for line in node.body:
                    if isinstance(line, ast.Assign) and getattr(line.targets[0], "id", "") == "NAME":
                        found[node.name] = ast.literal_eval(line.value)
    return found


def parameters(root: Path) -> dict[str, list[str]]:
    def init(path: str, name: str) -> list[str]:
        (cls,) = [n for n in parsed(root / path).body if isinstance(n, ast.ClassDef) and n.name == name]
        inits = [n for n in cls.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
        given = [a.arg for n in inits for a in (*n.args.args, *n.args.kwonlyargs)]
        fields = [n.target.id for n in cls.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]
        return sorted({*given, *fields} - {"self"})
    return {"Dag": init("sdk/definitions/dag.py", "DAG"), "Task": init("sdk/bases/operator.py", "BaseOperator"),
            "Sensor": init("sdk/bases/sensor.py", "BaseSensorOperator")}


def symbols(root: Path) -> dict[str, list[str]]:
    paths = [root / name for name in CITED] + sorted((root / "ti_deps/deps").glob("*_*.py"))
    return {path.relative_to(root).as_posix(): sorted(
        {n.name for n in ast.walk(parsed(path)) if isinstance(n, ast.FunctionDef | ast.ClassDef)})
        for path in paths if path.is_file()}


def words(root: Path) -> list[str]:
    """Every English label of the user interface."""
    def leaves(held: Any) -> Iterator[str]:
        for value in held.values():
            yield from leaves(value) if isinstance(value, dict) else [value]
    files = sorted((root / "ui/dist/i18n/locales/en").glob("*.json"))
    wanted = {"Audit Log", "Dependencies Blocking Task From Getting Scheduled", "Pool Slots", "Required Actions",
              "Triggerer Info", "Triggerer", "Health", "Queue", "Logs", "Details", "Dag Version", "1 Warning"}
    return sorted({leaf for path in files for leaf in leaves(json.loads(path.read_text("utf-8")))} & wanted)


def main(root: Path) -> None:
    version = re.search(r'__version__ = "([^"]+)"', (root / "__init__.py").read_text("utf-8"))
    found = {
        "airflow_version": version[1] if version else "unknown", "metrics": metrics(root), "config": config(root),
        "cli": cli(root), "rest": routes(root), "dependencies": dependencies(root), "parameters": parameters(root),
        "ui": words(root), "symbols": symbols(root), "providers": PROVIDERS,
    }
    print("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in found.items()) + "\n}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
