"""A private Airflow for one recording: its own folder, its own SQLite file, no log files, nothing shared.

``open_home`` has to be called before anything else imports Airflow, because Airflow reads its configuration
from the environment at import time.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BUNDLE = "recorded"
_SETTINGS = {
    "CORE__LOAD_EXAMPLES": "False",
    "CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
    "LOGGING__LOGGING_LEVEL": "CRITICAL",
    "METRICS__STATSD_ON": "False",
    "TRACES__OTEL_ON": "False",
    "USAGE_DATA_COLLECTION__ENABLED": "False",
    "API_AUTH__JWT_SECRET": "a recording signs nothing that leaves this process",
}


@contextmanager
def open_home() -> Iterator[Any]:
    """Start Airflow in a temporary folder and yield a database session; the folder goes away afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="airflow-check-"))
    try:
        _configure(folder)
        session = _start_database()
        try:
            yield session
        finally:
            session.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _configure(folder: Path) -> None:
    for name in [name for name in os.environ if name.startswith("AIRFLOW__")]:
        del os.environ[name]  # the user's own Airflow settings must not leak into a recording
    os.environ["AIRFLOW_HOME"] = str(folder)
    os.environ["AIRFLOW__CORE__DAGS_FOLDER"] = str(folder / "dags")
    os.environ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"] = f"sqlite:///{folder / 'airflow.db'}"
    for name, value in _SETTINGS.items():
        os.environ[f"AIRFLOW__{name}"] = value


def _start_database() -> Any:
    from airflow import settings
    from airflow.utils.db import initdb
    from sqlalchemy import event

    _silence()

    @event.listens_for(settings.engine, "connect")
    def _fast(connection: Any, _record: Any) -> None:
        # A recording is thrown away if the machine stops, so it need not wait for the disk.
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("PRAGMA journal_mode=MEMORY")

    initdb()
    session = settings.Session()
    _add_bundle(session)
    return session


def _silence() -> None:
    """Airflow logs every refusal and failure; here those are the data, not news."""
    logging.disable(logging.CRITICAL)


def _add_bundle(session: Any) -> None:
    from airflow.models.dagbundle import DagBundleModel

    session.add(DagBundleModel(name=BUNDLE))
    session.commit()


def airflow_version() -> str:
    """The version of the Airflow that is being recorded."""
    import airflow

    return str(airflow.__version__)


_WRITTEN = (
    "task_map", "xcom", "task_instance_history", "task_instance", "dag_run", "serialized_dag", "dag_code",
    "dag_version", "dag", "log", "job",
)  # fmt: skip


def forget_dags(session: Any) -> None:
    """Empty every table a case writes to, so that cases cannot see one another."""
    from airflow.models.base import Base
    from sqlalchemy import delete

    session.rollback()
    session.expunge_all()
    for name in _WRITTEN:
        session.execute(delete(Base.metadata.tables[name]))
    session.commit()
