"""Airflow's components as processes of this one: started in order, watched, always stopped."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

COMPONENTS = {
    "api-server": ("api-server", "--host", "127.0.0.1", "--workers", "1"),
    "scheduler": ("scheduler", "--skip-serve-logs"),
    "dag-processor": ("dag-processor",),
}
PATIENCE = 15  # seconds from SIGTERM to SIGKILL


class Broken(Exception):
    """A component ended, or did not start; the text says which and quotes its log."""


def settings(home: Path, dags: Path, port: int) -> dict[str, str]:
    """The environment of every component: loopback only, no examples, no telemetry, everything below ``home``."""
    here = f"http://127.0.0.1:{port}"
    own = {
        "CORE__DAGS_FOLDER": str(dags), "CORE__LOAD_EXAMPLES": "False", "CORE__EXECUTOR": "LocalExecutor",
        "CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True", "CORE__EXECUTION_API_SERVER_URL": f"{here}/execution/",
        "API__PORT": str(port), "API__HOST": "127.0.0.1", "API__BASE_URL": here,
        "API_AUTH__JWT_SECRET": secrets.token_hex(32), "API__SECRET_KEY": secrets.token_hex(16),
        "DAG_PROCESSOR__REFRESH_INTERVAL": "5", "DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "5",
        "SCHEDULER__ENABLE_HEALTH_CHECK": "False", "USAGE_DATA_COLLECTION__ENABLED": "False",
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")}
    return {**kept, "AIRFLOW_HOME": str(home), **{f"AIRFLOW__{name}": value for name, value in own.items()}}


def free_port() -> int:
    """A port of 127.0.0.1 nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Standalone:
    """The running components. ``check()`` raises Broken as soon as one of them is gone."""

    def __init__(self, airflow: Path, home: Path, env: dict[str, str]):
        self.airflow, self.home, self.env = airflow, home, env
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def once(self, *arguments: str) -> None:
        """One ``airflow`` command, awaited. Raises Broken if it fails."""
        log = self.home / f"{arguments[0]}.log"
        with log.open("ab") as out:
            process = subprocess.Popen([self.airflow, *arguments], env=self.env, stdout=out, stderr=out,
                                       start_new_session=True)
        try:
            if process.wait(timeout=180):
                raise Broken(f"airflow {' '.join(arguments)} failed:\n{tail(log)}")
        finally:
            stop(process)

    def start(self, name: str) -> None:
        with (self.home / f"{name}.log").open("ab") as out:
            self.processes[name] = subprocess.Popen(
                [self.airflow, *COMPONENTS[name]], env=self.env, stdout=out, stderr=out, start_new_session=True)

    def check(self) -> None:
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise Broken(f"the {name} ended with status {process.returncode}:\n{tail(self.home / f'{name}.log')}")


@contextmanager
def standalone(airflow: Path, home: Path, env: dict[str, str]) -> Iterator[Standalone]:
    """A database and no component yet; whatever was started is stopped at the end, come what may."""
    made = Standalone(airflow, home, env)
    try:
        yield made
    finally:
        for process in reversed(list(made.processes.values())):
            _signal(process, signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE
        for process in made.processes.values():
            stop(process, max(0.1, deadline - time.monotonic()))


def stop(process: subprocess.Popen[bytes], patience: float = PATIENCE) -> None:
    """End a process and the children in its session."""
    _signal(process, signal.SIGTERM)
    try:
        process.wait(timeout=patience)
    except subprocess.TimeoutExpired:
        pass
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    try:
        os.killpg(process.pid, number)  # the session was made for it, so its id is its own
    except (ProcessLookupError, PermissionError):
        pass


def tail(log: Path, lines: int = 15) -> str:
    """The last lines of a log."""
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
