"""Another region takes over: it goes on from the last commit that had reached it, and from nothing else.

The copy of the database is seconds behind, that of the logs minutes. A person decides to promote. What the copy calls
finished is finished; what it calls queued is assigned again; what it calls running has lost its process, and the
retry rules decide. A task that ended after the last copied commit ended for nobody: it runs again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..checks import plain, plain_fields, whole
from ..errors import expect, shown
from ..keywords import checked

PROMISED = {"recovery point": 15 * 60, "recovery time": 60 * 60}
"""Seconds; published, with log replication. Verified there with over 80 deployments and 1,250 concurrent runs."""


@checked
@dataclass(frozen=True)
class Job:
    """A task instance in the region that fails: seconds at which it was queued, started and ended. retries: left."""

    name: str
    queued: int
    started: int
    ended: int
    retries: int = 2

    def __post_init__(self) -> None:
        plain_fields(self)
        for field, low in (("queued", 0), ("started", self.queued), ("ended", self.started), ("retries", 0)):
            whole(f"job {shown(self.name)}", field, getattr(self, field), low)


RUN = (Job("extract", 0, 5, 300), Job("transform", 310, 315, 890), Job("load", 900, 905, 1_020, retries=0),
       Job("publish", 1_030, 1_035, 1_100))
"""One run: each waits for the one before."""
DELAYS = {"detect": 300, "decide": 600, "promote": 300, "start services": 600}
"""Seconds from the failure to the first task in the other region. Assumed, but for their sum: under an hour."""


@dataclass(frozen=True)
class Resumed:
    """One task instance after the switch. was: its state in the copy. done_before: it had ended when the region failed.

    then: what happens to it. again: it runs (at least in part) a second time.
    """

    name: str
    was: str
    then: str
    again: bool
    done_before: bool


@dataclass(frozen=True)
class Failover:
    """fails_at, copied_to: seconds. recovery_point, recovery_time: seconds. tasks: see Resumed.

    verified: both are within what was published.
    """

    fails_at: int
    copied_to: int
    recovery_point: int
    recovery_time: int
    tasks: list[Resumed]
    jobs: tuple[Job, ...] = RUN

    @property
    def resumes_at(self) -> int:
        """Seconds at which the other region starts its first task."""
        return self.fails_at + self.recovery_time

    def there(self) -> list[tuple[str, int, int, str]]:
        """(task, start, end, state) of what the other region runs: one after the other, until one is failed."""
        found: list[tuple[str, int, int, str]] = []
        now = self.resumes_at
        for job, task in zip(self.jobs, self.tasks, strict=True):
            if task.was == "success":
                continue
            if task.then.endswith("failed"):
                return [*found, (job.name, now, now, "failed")]
            found.append((job.name, now, now + job.ended - job.started, "success"))
            now = found[-1][2] + job.started - job.queued
        return found

    @property
    def verified(self) -> bool:
        return self.recovery_point < PROMISED["recovery point"] and self.recovery_time < PROMISED["recovery time"]

    @property
    def twice(self) -> list[str]:
        """Tasks whose work outside is done a second time: they must be safe to repeat."""
        return [task.name for task in self.tasks if task.again]

    def rows(self) -> list[dict[str, object]]:
        return [{"task": t.name, "state in the copy": t.was, "had really ended": t.done_before, "then": t.then,
                 "runs again": t.again} for t in self.tasks]


def failover(fails_at: int = 895, *, db_lag: int = 10, log_lag: int = 240, jobs: Sequence[Job] = RUN,
             delays: Mapping[str, int] = DELAYS) -> Failover:
    """The region fails; the other one goes on. db_lag, log_lag: how far the copies are behind, in seconds.

    The recovery point is what may be missing: the larger lag, since a run without its log is not complete.
    Raises DagkitError for times that are no whole numbers >= 0.

    >>> found = failover(895, db_lag=10)
    >>> found.copied_to, found.recovery_point, found.recovery_time, found.twice
    (885, 240, 1800, ['transform'])
    >>> failover(895, db_lag=2).twice
    []
    """
    expect("failover: jobs", jobs, Sequence, "a list of dk.capacity.Job(...)")
    for job in jobs:
        expect("failover: jobs", job, Job, "a list of dk.capacity.Job(...)")
    expect("failover: delays", delays, Mapping, "a dictionary of seconds")
    fails_at, db_lag, log_lag = map(plain, (fails_at, db_lag, log_lag))
    delays = {key: plain(value) for key, value in delays.items()}
    for name, value in (("fails_at", fails_at), ("db_lag", db_lag), ("log_lag", log_lag),
                        *((f"delays[{shown(key)}]", value) for key, value in delays.items())):
        whole("failover", name, value, 0, unit=" of seconds")
    copied = max(0, fails_at - db_lag)
    tasks = [_resume(job, copied, fails_at) for job in jobs]
    return Failover(fails_at, copied, max(db_lag, log_lag), sum(delays.values()), tasks, tuple(jobs))


def _resume(job: Job, copied: int, fails_at: int) -> Resumed:
    done, began = job.ended <= fails_at, job.started <= fails_at
    if job.ended <= copied:
        return Resumed(job.name, "success", "stays; what follows may run", False, done)
    if job.started <= copied:
        after = "its process is gone: it is retried" if job.retries else "its process is gone and no try is left: failed"
        return Resumed(job.name, "running", after, bool(job.retries), done)
    if job.queued <= copied:
        return Resumed(job.name, "queued", "assigned again", began, done)
    return Resumed(job.name, "none", "runs when its upstream has succeeded", began, done)
