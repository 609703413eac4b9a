"""python -m airflow_run (tools/ and the kit on PYTHONPATH, the Python of the kit's own environment)."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagkit as dk
from airflow_run import __doc__ as about
from airflow_run import recording
from airflow_run.api import Api
from airflow_run.scenarios import SCENARIOS
from airflow_run.standalone import Broken, Standalone, free_port, settings, standalone

UNFINISHED = 3  # exit status where a run and its simulation differ; 1: Airflow broke; 2: wrong option


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen Dags one after the other; 0 if every run agrees with its simulation."""
    options = _parse(arguments)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell started it in the background
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with tempfile.TemporaryDirectory(prefix="airflow-run-", ignore_cleanup_errors=True) as home:
            return _played(options, Path(home))
    except (Broken, OSError) as problem:
        print(f"airflow-run: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nairflow-run: stopped; all processes are ended", file=sys.stderr)
        return 130


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="airflow_run", description=about,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dags", nargs="*", default=list(SCENARIOS), metavar="DAG",
                        help=f"{', '.join(SCENARIOS)}, or a Dag file exported by the kit")
    parser.add_argument("--airflow", type=Path, default=Path(".airflow-venv/bin/airflow"), help="the airflow program")
    parser.add_argument("--tick", type=float, default=4, help="seconds a tick lasts (default 4)")
    parser.add_argument("--limit", type=float, default=300, help="seconds one run may take (default 300)")
    parser.add_argument("--record", type=Path, help="directory for the Dag file and the recording of each run")
    options = parser.parse_args(arguments)
    for name in options.dags:
        if name not in SCENARIOS and not Path(name).is_file():
            parser.error(f"'{name}' is neither a file nor one of {', '.join(SCENARIOS)}")
    if not options.airflow.exists():
        parser.error(f"no {options.airflow}; make airflow-run installs it")
    return options


def _played(options: argparse.Namespace, home: Path) -> int:
    dags = home / "dags"
    dags.mkdir()
    scenarios = {}
    for name in options.dags:
        scenario = SCENARIOS[name]() if name in SCENARIOS else dk.load(Path(name)).scenario()
        made = dk.export_airflow(scenario, dags / f"{Path(name).stem}.py", tick_seconds=options.tick)
        scenarios[made.dag_file] = scenario
    port = free_port()
    with standalone(options.airflow.absolute(), home, settings(home, dags, port)) as airflow:
        api = _started(airflow, port)
        different = 0
        for file, scenario in scenarios.items():
            found = _run(options, airflow, api, file, scenario)
            different += not found.agrees
    print(f"{len(scenarios) - different} of {len(scenarios)} runs agree with their simulation")
    return UNFINISHED if different else 0


def _started(airflow: Standalone, port: int) -> Api:
    say("making the database ...")
    airflow.once("db", "migrate")
    api = Api(port)
    airflow.start("api-server")
    _until("the api-server", api.ready, airflow, 120)
    for name in ("scheduler", "dag-processor"):
        airflow.start(name)
    say(f"Airflow {api.version()} answers on 127.0.0.1:{port}")
    return api


def _run(options: argparse.Namespace, airflow: Standalone, api: Api, file: Path, scenario: Any) -> Any:
    dag_id, run_id = dk.load(file).dag.dag_id, "beside"
    pools = file.with_suffix(".pools.json")
    if pools.exists():
        airflow.once("pools", "import", str(pools))       # here, because two Dags may name the same pool
    _until(f"Dag {dag_id} to be parsed", lambda: _parsed(api, dag_id), airflow, 120)
    api.trigger(dag_id, run_id)
    _until(f"{dag_id}", lambda: _ended(api, dag_id, run_id), airflow, options.limit)
    run = api.run(dag_id, run_id)
    facts = {"recorded_with": f"Airflow {api.version()}, LocalExecutor, SQLite", "tick_seconds": options.tick}
    made = recording.recorded(run, api.instances(dag_id, run_id), facts)
    at_once = dk.LocalExecutor(handover=0)  # queued work starts in the same tick, as nearly as a real one can
    found = dk.beside(dk.simulate(scenario, executor=at_once), dk.load(json.dumps(made)), options.tick)
    print(f"\n{dag_id}: real run {run['state']}; start times in seconds after the run began, a tick is {options.tick:g} s")
    print(found.table.to_string(index=False, na_rep=""))
    print(f"{found}\n", flush=True)
    if options.record:
        options.record.mkdir(parents=True, exist_ok=True)
        (options.record / f"{file.stem}.run.json").write_text(recording.text(made), encoding="utf-8", newline="\n")
        (options.record / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8", newline="\n")
    return found


def _parsed(api: Api, dag_id: str) -> bool:
    errors = api.import_errors()
    if errors:
        raise Broken(f"a Dag file could not be imported:\n{errors[0]}")
    return api.has(dag_id)


_told: dict[str, str] = {}


def _ended(api: Api, dag_id: str, run_id: str) -> bool:
    rows = api.instances(dag_id, run_id)
    done = sum(row["state"] in ("success", "failed", "skipped", "upstream_failed", "removed") for row in rows)
    at_work = [row["task_id"] for row in rows if row["state"] == "running"]
    line = f"{dag_id}: {done} of {len(rows)} done" + (f", running: {', '.join(at_work[:6])}" if at_work else "")
    if _told.get(dag_id) != line:
        _told[dag_id] = line
        say(line)
    return api.run(dag_id, run_id)["state"] in ("success", "failed")


def _until(what: str, done: Callable[[], bool], airflow: Standalone, limit: float) -> None:
    """Wait, looking twice a second, as long as all components live. Raises Broken after ``limit`` seconds."""
    deadline = time.monotonic() + limit
    while not done():
        airflow.check()
        if time.monotonic() > deadline:
            raise Broken(f"waited {limit:g} s for {what}; the logs are gone with the run, try a longer --limit")
        time.sleep(0.5)


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
