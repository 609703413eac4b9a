"""Where the defaults come from: a document, or an assumption. The lesson shows this table as it is."""

from __future__ import annotations

from typing import Any, NamedTuple

from .base import Executor, Worker
from .batch import LEAST_PAID, PROVISIONING
from .celery import KEEPALIVE
from .edge import POLL, Site
from .kubernetes import BATCH, IMAGE_PULL, LOOP, NODES, POD_START

ASSUMED = "assumed"


class Default(NamedTuple):
    """One default. whose: the executor. what: the parameter. value: as text. source: a document, or *assumed* and why."""

    whose: str
    what: str
    value: str
    source: str

    @property
    def assumed(self) -> bool:
        return self.source.startswith(ASSUMED)


_CELERY = "Airflow's Celery provider, configuration reference"
_KUBERNETES = "Airflow's Kubernetes provider, configuration reference"
DEFAULTS = (
    Default("Local, Celery, Edge", "handover", f"{Executor().handover} tick",
            "assumed: a worker's process starts and reads the Dag file in about a second"),
    Default("Local", "parallelism", "32", "Airflow's configuration reference: [core] parallelism"),
    Default("Celery", "concurrency of a Worker", str(Worker().concurrency), f"{_CELERY}: worker_concurrency"),
    Default("Celery", "prefetch", "1", f"{_CELERY}: worker_prefetch_multiplier"),
    Default("Celery", "autoscale", "off", f"{_CELERY}: worker_autoscale, as (max, min)"),
    Default("Celery", "an idle process is kept for", f"{KEEPALIVE} s", "Celery's source: AUTOSCALE_KEEPALIVE"),
    Default("Celery", "Broker latency", "0 s", "assumed: milliseconds on a healthy broker, far below a tick"),
    Default("Kubernetes", "batch", f"{BATCH} pod per loop", f"{_KUBERNETES}: worker_pods_creation_batch_size"),
    Default("Kubernetes", "loop", f"{LOOP} s", "Airflow's configuration reference: [scheduler] scheduler_idle_sleep_time; "
            "a loop with much to do takes longer"),
    Default("Kubernetes", "pod_start", str(POD_START), "assumed: Kubernetes' own goal is 99 of 100 pods within 5 s (SIG "
            "Scalability, pod startup latency; images there, no init containers); on top of it Airflow starts in the pod"),
    Default("Kubernetes", "image_pull", str(IMAGE_PULL), "assumed: an image of about a gigabyte"),
    Default("Kubernetes", "pull_policy", "IfNotPresent", "Kubernetes' documentation: images, for a tag other than latest"),
    Default("Kubernetes", "nodes", str(NODES), "assumed"),
    Default("Edge", "poll_interval", f"{POLL} s", "Airflow's Edge provider, configuration reference: job_poll_interval"),
    Default("Edge", "concurrency of a Site", str(Site(name="_").concurrency),
            "Airflow's Edge provider, configuration reference: worker_concurrency"),
    Default("Batch", "provisioning", str(PROVISIONING), "assumed; AWS Batch's user guide speaks of about 30 s on Fargate, "
            "and of minutes for new EC2 machines"),
    Default("Batch", "least_paid", f"{LEAST_PAID} s", "AWS Fargate's pricing: by the second, one minute at least"),
)
"""Every default of the executors that a simulation or a comparison makes use of."""


def table() -> list[dict[str, Any]]:
    """The defaults as rows.

    >>> table()[1]["source"]
    "Airflow's configuration reference: [core] parallelism"
    """
    return [{"executor": d.whose, "parameter": d.what, "default": d.value, "source": d.source} for d in DEFAULTS]
