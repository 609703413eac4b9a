"""Designs for the scenario of lesson 13: four that pass, made in different ways, and what each knob of the first buys."""

from __future__ import annotations

from typing import Any

import dagkit as dk

STORED = {"task states": "metadata database", "serialized Dags": "metadata database", "path to the data": "XCom",
          "the data itself": "object storage", "task logs": "object storage", "connection passwords": "secrets backend"}
METRICS = ("scheduler_heartbeat", "scheduler_loop_duration", "critical_section_busy", "tasks.starving", "pool.open_slots",
           "orphaned tasks", "database CPU")
GPU = [dk.Worker(1, ("gpu",), name=name) for name in ("gpu-1", "gpu-2")]
CPU = [dk.Worker(16, name=f"cpu-{k}") for k in range(1, 5)]
USUAL: dict[str, Any] = {"schedulers": ("host-a", "host-b"), "triggerers": ("host-b", "host-c"),
                         "processors": ("host-b", "host-c"), "stored": STORED, "metrics": METRICS}
"""Where the control plane runs, what is stored where, what is watched: alike in all of them."""

FLEET: dict[str, Any] = {
    **USUAL,
    "pools": {"source": 20, "saas": 5, "gpu": 2},
    "tasks": {
        "read": {"pool": "source", "priority_weight": 100}, "publish": {"priority_weight": 100},
        "extract": {"pool": "source"}, "bulk_read": {"pool": "source", "pool_slots": 4, "priority_weight": 5},
        "prepare": {"pool": "source", "priority_weight": 50}, "call": {"pool": "saas"},
        "train": {"pool": "gpu", "queue": "gpu", "priority_weight": 50}},
    "max_active_runs": 2, "parallelism": 66, "executors": {"celery": dk.CeleryExecutor(workers=CPU + GPU)}}
"""One fleet of Celery workers; one pool for each thing that is shared; weights say who is asked first."""

BULKHEADS: dict[str, Any] = {
    **USUAL,
    "pools": {"critical": 3, "pages": 4, "small": 11, "bulk": 4, "models": 2, "saas": 5, "gpu": 2, "rest": 31},
    "tasks": {
        "read": {"pool": "critical"}, "publish": {"pool": "pages"}, "extract": {"pool": "small"},
        "bulk_read": {"pool": "bulk", "pool_slots": 4}, "prepare": {"pool": "models"}, "call": {"pool": "saas"},
        "train": {"pool": "gpu", "queue": "gpu"},
        **{task_id: {"pool": "rest"} for task_id in ("settle", "store", "load", "crunch")}},
    "schedulers": ("host-a", "host-b", "host-c"), "parallelism": 132,
    "max_active_runs": {"short": 1, "saas": 3, "heavy": 4},
    "executors": {"celery": dk.CeleryExecutor(workers=CPU + GPU)}}
"""No weight at all: every kind of work has places of its own, and together they are no more than there are."""

MIXED: dict[str, Any] = {
    **USUAL,
    "pools": {"source": 16, "critical": 4, "saas": 5},
    "tasks": {
        "read": {"pool": "critical", "queue": "critical"}, "publish": {"queue": "critical"},
        "extract": {"pool": "source"},
        "bulk_read": {"pool": "source", "pool_slots": 4, "priority_weight": 2, "executor": "pods"},
        "crunch": {"executor": "pods"}, "prepare": {"pool": "source", "priority_weight": 3}, "call": {"pool": "saas"},
        "train": {"executor": "gpu"}},
    "max_active_runs": 3, "parallelism": 100,
    "executors": {
        "celery": dk.CeleryExecutor(workers=[dk.Worker(16, name="cpu-1"), dk.Worker(16, name="cpu-2"),
                                             dk.Worker(8, ("critical",), name="cpu-3")]),
        "pods": dk.KubernetesExecutor(max_pods=24, parallelism=24),
        "gpu": dk.KubernetesExecutor(max_pods=2, parallelism=2)}}
"""Short work on Celery with a worker for the critical Dags alone; heavy work and trainings in pods."""

EDGE: dict[str, Any] = {
    **FLEET,
    "tasks": {**FLEET["tasks"], "train": {**FLEET["tasks"]["train"], "executor": "edge"}},
    "executors": {"celery": dk.CeleryExecutor(workers=CPU),
                  "edge": dk.EdgeExecutor(sites=[dk.Site(concurrency=1, queues=("gpu",), name=w.name) for w in GPU])}}
"""The GPU machines stand elsewhere, and fetch their work themselves."""

GOOD = {"one fleet": FLEET, "bulkheads": BULKHEADS, "mixed": MIXED, "edge": EDGE}


def task(task_id: str, **knobs: Any) -> dict[str, Any]:
    """FLEET with other knobs for one task; None takes one away."""
    found = {name: value for name, value in {**FLEET["tasks"].get(task_id, {}), **knobs}.items() if value is not None}
    return {**FLEET, "tasks": {**FLEET["tasks"], task_id: found}}


def pools(**slots: int) -> dict[str, Any]:
    """FLEET with other sizes of pools."""
    return {**FLEET, "pools": {**FLEET["pools"], **slots}}


LOCAL: dict[str, Any] = {
    **task("train", executor="gpu"),
    "executors": {"local": dk.LocalExecutor(parallelism=62), "gpu": dk.CeleryExecutor(workers=GPU)}}

ALL = ("critical", "short", "saas", "heavy", "training")
SPOILED: dict[str, tuple[dict[str, Any], set[str], tuple[str, ...]]] = {
    "source pool too wide": (pools(source=64), {"source connections"}, ("heavy",)),
    "a big task that says it is small": (task("bulk_read", pool_slots=None), {"source connections"}, ("heavy",)),
    "API pool too wide": (pools(saas=6), {"API calls"}, ("saas",)),
    "nobody comes first": ({**FLEET, "tasks": {name: {k: v for k, v in knobs.items() if k != "priority_weight"}
                                               for name, knobs in FLEET["tasks"].items()}},
                           {"critical starts", "critical deadlines"}, ("critical", "short")),
    "only the first half comes first": (task("publish", priority_weight=None), {"critical deadlines"}, ALL),
    "trainings wait in queued": (task("train", pool=None), {"GPU machines", "GPU waits", "backlog"}, ("training",)),
    "trainings on any worker": (task("train", queue=None), {"GPU machines"}, ("training",)),
    "one run at a time": ({**FLEET, "max_active_runs": 1}, {"backlog"}, ("heavy",)),
    "parallelism of one survivor": ({**FLEET, "parallelism": 32}, {"backlog"}, ALL),
    "API pool too narrow": (pools(saas=2), {"backlog"}, ("saas",)),
    "one scheduler": ({**FLEET, "schedulers": ("host-a",)},
                      {"a scheduler machine is lost", "critical starts", "critical deadlines", "backlog"},
                      ("critical", "heavy")),
    "the only triggerer on the lost machine": ({**FLEET, "triggerers": ("host-a",)},
                                               {"a scheduler machine is lost", "backlog"}, ("saas",)),
    "the only processor on the lost machine": ({**FLEET, "processors": ("host-a",)}, {"the bad file"}, ("critical",)),
    "tasks beside the scheduler": (LOCAL, {"a scheduler machine is lost"}, ("heavy",)),
}
"""One thing changed, and the requirements that must break for it: each follows from the situation, see the names. Last, the
kinds of Dags that are enough to show it."""
