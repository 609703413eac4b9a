"""The REST calls of a run: https://airflow.apache.org/docs/apache-airflow/stable/stable-rest-api-ref.html"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import quote

PAGE = 100


class Api:
    """One Airflow on this machine."""

    def __init__(self, port: int):
        self.base, self.token = f"http://127.0.0.1:{port}", ""
        # whatever proxy is set up, this server is here
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def call(self, path: str, body: Any = None, method: str | None = None) -> Any:
        """The parsed answer. Raises OSError while nobody listens, and for any refusal."""
        request = urllib.request.Request(self.base + path, method=method,
                                         data=None if body is None else json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        with self.opener.open(request, timeout=30) as answer:
            return json.load(answer)

    def ready(self) -> bool:
        """Whether the server answers; takes a token then."""
        try:
            self.token = self.call("/auth/token")["access_token"]
            return bool(self.call("/api/v2/version")["version"])
        except OSError:
            return False

    def version(self) -> str:
        return str(self.call("/api/v2/version")["version"])

    def has(self, dag_id: str) -> bool:
        """Whether the Dag has been parsed."""
        try:
            self.call(f"/api/v2/dags/{quote(dag_id)}/details")
            return True
        except urllib.error.HTTPError as problem:
            if problem.code == 404:
                return False
            raise

    def import_errors(self) -> list[str]:
        return [str(row["stack_trace"]) for row in self.call("/api/v2/importErrors")["import_errors"]]

    def trigger(self, dag_id: str, run_id: str) -> None:
        self.call(f"/api/v2/dags/{quote(dag_id)}/dagRuns", {"dag_run_id": run_id, "logical_date": None})

    def run(self, dag_id: str, run_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.call(f"/api/v2/dags/{quote(dag_id)}/dagRuns/{quote(run_id)}")
        return found

    def instances(self, dag_id: str, run_id: str) -> list[dict[str, Any]]:
        """All task instances of a run, page by page."""
        rows: list[dict[str, Any]] = []
        while True:
            path = f"/api/v2/dags/{quote(dag_id)}/dagRuns/{quote(run_id)}/taskInstances"
            page = self.call(f"{path}?limit={PAGE}&offset={len(rows)}")
            rows += page["task_instances"]
            if not page["task_instances"] or len(rows) >= page["total_entries"]:
                return rows
