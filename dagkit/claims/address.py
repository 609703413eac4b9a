"""The address of an existing database: checked before anything is told about it, because it may hold a password."""

from __future__ import annotations

import re
from urllib.parse import quote

from ..errors import DagkitError, shown

HIDDEN = "***"


def check(dsn: str) -> None:
    """Refuses what PostgreSQL's driver cannot read, without repeating any part of it.

    A password with an @ or a / in it moves parts of itself to where the host, the port or the database belongs; those
    are refused too, before an error message names them.
    """
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
    try:
        parts = {name: str(value) for name, value in conninfo_to_dict(dsn).items()}
    except psycopg.Error:
        parts = {"port": "?"}
    if not re.fullmatch(r"[0-9,]*", parts.get("port", "")) or any("@" in parts.get(p, "") for p in ("host", "dbname")):
        raise DagkitError("claims: the database address cannot be read (it is not shown: it may hold a password). Write "
                          "postgresql://USER@HOST:PORT/DATABASE, and %40 for an @, %2F for a / in a password.")


def masked(reason: str, dsn: str) -> str:
    """An error message without the password of the address, safe to show."""
    from psycopg.conninfo import conninfo_to_dict
    password = str(conninfo_to_dict(dsn).get("password") or "")
    for secret in (dsn, password, quote(password, safe="")):
        reason = reason.replace(secret, HIDDEN) if secret else reason
    return shown(reason, 500)
