"""The keeper: a small process that owns the database, and clears it away when nobody needs it any more.

It is started by ``server.py`` and holds one end of a pipe. When the other end closes, because the kit is done or
because it was killed, the keeper stops PostgreSQL and removes its folder; on a database that was there before, it
drops the kit's schema. A process that was killed cannot clean up after itself; another one can.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

NAME = "dagkit-pg-"
LONGEST_SOCKET = 100
"""Bytes that a socket's path may have on every system (107 on Linux, 103 on macOS), with a little to spare."""
SETTINGS = {
    "listen_addresses": "", "port": "5432", "fsync": "off", "full_page_writes": "off", "synchronous_commit": "off",
    "shared_buffers": "32MB", "max_connections": "60", "autovacuum": "off", "jit": "off", "logging_collector": "off",
    "dynamic_shared_memory_type": "mmap",
}
"""The data live as long as an experiment, so nothing is ever forced to disk. No port is opened; the number only names
the socket, whatever PGPORT says. Memory to be shared on demand is a file in the folder too, and goes with it."""


def lowly() -> dict[str, Any]:
    """PostgreSQL refuses to run as root, so root's server runs as the user ``nobody``, which every system has."""
    if os.geteuid():
        return {}
    import pwd
    found = pwd.getpwnam("nobody")
    return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}


def die_with_keeper() -> None:
    """Linux only: the server gets SIGQUIT when the keeper dies, even by SIGKILL."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGQUIT)          # PR_SET_PDEATHSIG


def listed(path: Path) -> str:
    r"""A folder as an element of one of PostgreSQL's lists.

    >>> listed(Path('my "own", folder'))
    '"my ""own"", folder"'
    """
    return '"' + str(path).replace('"', '""') + '"'


def open_to_all(path: Path) -> bool:
    return all(each.stat().st_mode & 0o001 for each in path.resolve().parents)


def folder() -> Path:
    """A new folder of our own with a short path and no comma (which would part two hosts); root's must be one that
    ``nobody`` reaches."""
    for parent in map(Path, (tempfile.gettempdir(), "/tmp", "/var/tmp")):
        short = len(os.fsencode(parent / f"{NAME}12345678" / ".s.PGSQL.5432")) <= LONGEST_SOCKET
        if parent.is_dir() and short and "," not in str(parent) and (os.geteuid() or open_to_all(parent / "x")):
            return Path(tempfile.mkdtemp(prefix=NAME, dir=parent))
    raise OSError("no temporary folder has a short enough path that the server may enter; set TMPDIR to one")


def sweep(parent: Path) -> None:
    """Remove what a keeper left that was itself killed: a folder of ours whose lock nobody holds."""
    for old in parent.glob(f"{NAME}*"):
        try:
            with (old / "lock").open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(old, ignore_errors=True)
        except OSError:                                     # in use, somebody else's, or just being made
            continue


def forget_memory(state: Path) -> None:
    """Give back the few bytes of shared memory by which a server keeps a second one out of its folder.

    It does so itself, and removes this file, unless it was killed. Line 7 holds the memory's key and number; if both
    still belong together, it is this server's.
    """
    try:
        key, number = map(int, state.read_text().splitlines()[6].split())
        system = ctypes.CDLL(None)
        if system.shmget(ctypes.c_int(key), ctypes.c_size_t(0), 0) == number:
            system.shmctl(number, 0, None)                  # IPC_RMID
    except (OSError, ValueError, IndexError, AttributeError):
        pass                                                # removed already, or never made


class Embedded:
    """A PostgreSQL of our own: ``dsn`` says how to reach it, ``close()`` leaves nothing behind."""

    def __init__(self, programs: Path):
        self.home = folder()
        self.lock = (self.home / "lock").open("wb")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.server: subprocess.Popen[bytes] | None = None
        try:
            sweep(self.home.parent)
            self._start(self._reachable(programs))
        except BaseException:
            self.close()
            raise
        host = str(self.home).replace("\\", "\\\\").replace("'", "\\'")
        self.dsn = f"host='{host}' port=5432 user=postgres dbname=postgres"

    def _reachable(self, programs: Path) -> Path:
        """The folder of the programs; a copy where ``nobody`` may not enter it (a home that is closed to others)."""
        user = lowly()
        if not user:
            return programs
        os.chown(self.home, user["user"], user["group"])
        try:
            subprocess.run([programs / "bin" / "postgres", "--version"], check=True, capture_output=True, cwd="/", **user)
            return programs
        except (OSError, subprocess.CalledProcessError):
            return self._copied(programs)

    def _copied(self, programs: Path) -> Path:
        """The wheel's libraries lie beside its package, and the programs look for them there."""
        site, copy = programs.parent.parent, self.home / "site"
        for part in (programs, site / f"{programs.parent.name}.libs"):
            if part.is_dir():
                shutil.copytree(part, copy / part.relative_to(site), ignore=shutil.ignore_patterns("include"))
        subprocess.run(["chmod", "-R", "a+rX", copy], check=True)
        return copy / programs.relative_to(site)

    def _start(self, programs: Path) -> None:
        run: dict[str, Any] = {"cwd": self.home, "env": {**os.environ, "LC_ALL": "C", "PGTZ": "UTC"}, **lowly()}
        self._call([programs / "bin" / "initdb", "-D", self.home / "data", "-U", "postgres", "--auth=trust",
                    "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"], run)
        options = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        with (self.home / "log").open("wb") as log:
            self.server = subprocess.Popen(
                [programs / "bin" / "postgres", "-D", self.home / "data", "-k", listed(self.home), *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_keeper, **run)
        self._ready()

    @staticmethod
    def _call(command: list[Any], run: dict[str, Any]) -> None:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, **run)
        if done.returncode:
            raise OSError(f"{command[0].name}: {(done.stderr or done.stdout).strip()[-400:]}")

    def _ready(self) -> None:
        state = self.home / "data" / "postmaster.pid"
        for _ in range(1500):
            if self.server is None or self.server.poll() is not None:
                break
            lines = state.read_text().splitlines() if state.exists() else []
            if len(lines) > 7 and lines[7].strip() == "ready":
                return
            time.sleep(0.02)
        raise OSError(f"postgres does not start: {(self.home / 'log').read_text()[-400:]}")

    def close(self) -> None:
        """Stop at once, without a last checkpoint: the data go anyway."""
        if self.server is not None and self.server.poll() is None:
            self.server.send_signal(signal.SIGQUIT)
            try:
                self.server.wait(10)
            except subprocess.TimeoutExpired:
                self.server.kill()
                self.server.wait()
        forget_memory(self.home / "data" / "postmaster.pid")
        shutil.rmtree(self.home, ignore_errors=True)
        self.lock.close()


class Existing:
    """A schema of our own in a database that was there before; ``close()`` drops it with all that is in it."""

    def __init__(self, dsn: str, schema: str):
        self.dsn, self.schema = dsn, schema
        with self._connect() as db:
            db.execute(f"CREATE SCHEMA {schema}")

    def _connect(self) -> Any:
        import psycopg
        return psycopg.connect(self.dsn, autocommit=True, application_name="dagkit keeper", connect_timeout=10)

    def close(self) -> None:
        with self._connect() as db:
            db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s",
                       [self.schema])
            db.execute(f"DROP SCHEMA IF EXISTS {self.schema} CASCADE")


def wait_for_the_end(parent: int) -> None:
    """Until the pipe closes, or the parent is gone although a process it forked still holds the pipe."""
    while os.getppid() == parent:
        ready, _, _ = select.select([sys.stdin], [], [], 1.0)
        if ready and not os.read(0, 4096):
            return


def say(**answer: Any) -> bool:
    """One line of JSON to the parent; False if nobody listens any more."""
    try:
        os.write(1, json.dumps(answer).encode() + b"\n")
    except BrokenPipeError:
        return False
    return True


def main() -> None:
    """Hears what to keep as a line of JSON: kind (embedded, existing), where, schema. Says one when all is ready."""
    parent = os.getppid()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with open(0, "rb", buffering=0, closefd=False) as pipe:
        task = json.loads(pipe.readline() or "null")
    if task is None:
        return
    held: Embedded | Existing | None = None
    try:
        where = task["where"]
        held = Embedded(Path(where)) if task["kind"] == "embedded" else Existing(where, task["schema"])
        if say(dsn=held.dsn, pid=os.getpid()):
            wait_for_the_end(parent)
    except Exception as error:  # noqa: BLE001  (whatever it is, the one who waits must hear it)
        say(error=str(error).strip() or type(error).__name__)
    finally:
        if held is not None:
            held.close()


if __name__ == "__main__":
    main()
