"""KubernetesExecutor: a pod per task instance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..checks import whole
from ..errors import DagkitError, choices, nearest, quoted, shown
from ..keywords import checked
from .base import ENDLESS, Executor, Rhythm, Stay, Turn, Worker, started
from .latency import SHORTEST, Latency, seconds, ticks

PULL_POLICIES = ("IfNotPresent", "Always")
POD_START = Latency.lognormal(median=5, p95=15)
IMAGE_PULL = Latency.lognormal(median=15, p95=60)
BATCH = 1
LOOP = 1
NODES = 3


@checked
@dataclass(frozen=True)
class KubernetesExecutor(Executor):
    """A pod per task instance: isolation, at the price of a pod start each.

    max_pods: pods at once (None: as many as parallelism allows). batch: [kubernetes_executor]
    worker_pods_creation_batch_size, the pods created in one loop of the scheduler; loop: seconds one loop takes.
    pod_start: seconds from a pod's creation until its process runs, without the image pull. image_pull: seconds to
    pull the image. pull_policy: "IfNotPresent" pulls once per node and image, "Always" for each pod; nodes: how many
    machines the pods are spread over, in turn. A task's image is its environment (see ``environments``).
    handover: given, it is the whole way in ticks, the same for every pod, and nothing is drawn: pod_start and
    image_pull are 0 and batch is unlimited (None) unless they are given too.

    >>> KubernetesExecutor().batch, KubernetesExecutor(handover=2).batch
    (1, None)
    """

    handover: int | None = None  # type: ignore[assignment]
    name: str = "KubernetesExecutor"
    max_pods: int | None = None
    pod_start: Any = None
    image_pull: Any = None
    batch: int | None = -1
    loop: float = LOOP
    nodes: int = NODES
    pull_policy: str = "IfNotPresent"
    adopts = True
    own_image = True
    waits = "pod_pending"
    looks = "pod_creation"
    isolation = "a pod per task: image, packages, memory of its own"
    needs = "a Kubernetes cluster and an image registry"

    def __post_init__(self) -> None:
        who, timed, fix = shown(self.name), self.handover is None, object.__setattr__
        fix(self, "handover", 0 if timed else self.handover)
        super().__post_init__()
        for name, usual in (("pod_start", POD_START), ("image_pull", IMAGE_PULL)):
            given = getattr(self, name)
            fix(self, name, Latency.of(who, name, (usual if timed else 0) if given is None else given))
        if self.batch == -1:
            fix(self, "batch", BATCH if timed else None)
        for name, none in (("max_pods", True), ("batch", True), ("nodes", False)):
            whole(who, name, getattr(self, name), 1, none=none)
        fix(self, "loop", seconds(who, "loop", self.loop, SHORTEST))
        if not isinstance(self.pull_policy, str) or self.pull_policy not in PULL_POLICIES:
            raise DagkitError(f"{who}: pull_policy must be one of {choices(PULL_POLICIES)}, not "
                              f"{quoted(self.pull_policy)}.{nearest(self.pull_policy, PULL_POLICIES)}")

    @property
    def instant(self) -> bool:
        """Whether a pod runs as soon as it is asked for."""
        return self.pod_start.high == self.image_pull.high == 0

    def staff(self, config: Any) -> Sequence[Worker] | None:
        if self.max_pods is None and self.instant and self.batch is None:
            return None
        return (Worker(self.max_pods or ENDLESS, ("*",), "cluster"),)

    def rhythm(self, config: Any, seed: int) -> Rhythm | None:
        if self.batch is None:
            return None
        every = max(1, ticks(self.loop, config.tick_seconds))
        return Rhythm(every, self.batch * max(1, ticks(config.tick_seconds, self.loop)), (0,))

    def begin(self, turn: Turn) -> int:
        if self.instant:
            return 0
        pod = turn.seen["pods"] = turn.seen.get("pods", 0) + 1
        start = ticks(self.pod_start.seconds(turn.draw("pod start")), turn.tick_seconds)
        return max(1, start + self._pull(turn, pod % self.nodes))

    def _pull(self, turn: Turn, node: int) -> int:
        """Ticks until the image is on the node; pods that come meanwhile wait for the same pull."""
        takes = ticks(self.image_pull.seconds(turn.draw("image pull")), turn.tick_seconds)
        if self.pull_policy == "Always":
            return takes
        there: int = turn.seen.setdefault((node, self.environment_of(turn.task_id)), turn.now + takes)
        return max(0, there - turn.now)

    def paid(self, stays: Iterable[Stay], span: int, config: Any) -> float:
        return started(stays)
