"""Who limits what: counters of places in use, and the walk that hands free places to scheduled TIs.

Every knob (a pool, max_active_tasks, parallelism, ...) is one *limit*: a number in use and a cap. TIs of one run
whose tasks every limit treats alike share a *head*; only its first TI is ever asked. A head that is refused is
parked at the limit that refused it, and asked again when something is given back there. So the cost follows the
TIs that move, never the TIs that wait.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from ..scenario import Scenario
from ..states import EXECUTION, QUEUED, SCHEDULED
from .plan import MASK, Plan

if TYPE_CHECKING:
    from .core import Run, Sim

UNLIMITED = float("inf")
HOLDING = EXECUTION


class LimitName(NamedTuple):
    """What a limit is called: the knob, and which pool, Dag, task, run or executor it belongs to."""

    kind: str
    name: str
    run: int | None = None


class Limits:
    """All limits of a simulation as columns, indexed by limit number."""

    def __init__(self) -> None:
        self.used: list[int] = []
        self.cap: list[float] = []
        self.names: list[LimitName] = []
        self.number: dict[LimitName, int] = {}
        self.parked: list[dict[int, list[Any]] | None] = []   # per limit: places needed -> heap of (key, head)
        self.given_back: set[int] = set()                     # limits with parked heads where places became free
        self.placed = count()
        self.left: set[int] = set()                           # TIs that left scheduled, but still lie in their head
        self.open: set[tuple[int, int]] = set()               # for the window: gates of which a head may be in the walk
        self.first_refused: dict[int, int] = {}               # limits that refused a TI: the first tick
        self.walk: list[Any] = []                             # heap of (key, head, gate) to be asked in this pass

    def add(self, name: LimitName, cap: float) -> int:
        """The number of the limit called ``name``, made on first use."""
        if name not in self.number:
            self.number[name] = len(self.names)
            self.names.append(name)
            self.used.append(0)
            self.cap.append(cap)
            self.parked.append(None)
        return self.number[name]

    def refusals(self) -> list[tuple[LimitName, int]]:
        """The limits that held TIs back, and the tick at which each first did."""
        return [(self.names[number], tick) for number, tick in sorted(self.first_refused.items())]

    def resize(self, number: int, cap: float) -> None:
        self.cap[number] = cap
        if self.parked[number]:
            self.given_back.add(number)


class Head:
    """The scheduled TIs of one class in one run, first one on top.

    needs: (limit, places) a queued or running TI holds. keeps: those it still holds while it is deferred.
    ready: heap of ready keys (weight, then map_index, then task order; the TI's number in the low bits).
    key: where its first TI stands in the walk over all heads; parked_at: the gate (limit, places) it waits at.
    """

    __slots__ = ("run", "cls", "needs", "keeps", "ready", "key", "parked_at")

    def __init__(self, run: Run, cls: int, needs: tuple[tuple[int, int], ...], keeps: tuple[tuple[int, int], ...]):
        self.run, self.cls, self.needs, self.keeps = run, cls, needs, keeps
        self.ready: list[int] = []
        self.key: Any = None
        self.parked_at: tuple[int, int] | None = None


class Need(NamedTuple):
    """What one TI takes of one limit. kept: it keeps it while it is deferred or awaits input."""

    limit: LimitName
    cap: float
    places: int
    kept: bool


def needs_of(scenario: Scenario, plan: Plan, run_no: int, cls: int) -> list[Need]:
    """Every limit a class of tasks meets, in the order Airflow checks them. An unknown pool has no places."""
    pool, slots, executor, _, per_dag, per_run, task = plan.classes[cls]
    config, dag_id = scenario.config, plan.dag.dag_id
    found = scenario.pools.get(pool)
    cap = 0 if found is None else UNLIMITED if found.slots == -1 else found.slots
    chosen = scenario.executor.get(executor)
    needs = [Need(LimitName("parallelism", ""), config.parallelism * config.schedulers, int(chosen.counts), False),
             Need(LimitName("pool", pool), cap, slots, found is not None and found.include_deferred),
             Need(LimitName("max_active_tasks", dag_id, run_no), plan.dag.max_active_tasks, 1, False)]
    task_id = plan.ids[task] if task >= 0 else ""
    if per_dag is not None:
        needs.append(Need(LimitName("max_active_tis_per_dag", f"{dag_id}.{task_id}"), per_dag, 1, True))
    if per_run is not None:
        needs.append(Need(LimitName("max_active_tis_per_dagrun", f"{dag_id}.{task_id}", run_no), per_run, 1, True))
    if len(scenario.executor.by_name) > 1 or chosen.parallelism is not None:   # else the same as parallelism
        needs.append(Need(LimitName("executor", scenario.executor.name_of(executor)), chosen.slots(config), 1, False))
    return needs


def head_of(sim: Sim, run: Run, cls: int) -> Head:
    """The head of a class in a run, made on first use."""
    head = run.heads.get(cls)
    if head is None:
        needs = [(sim.limits.add(n.limit, n.cap), n) for n in needs_of(sim.scenario, run.plan, run.number, cls)]
        head = run.heads[cls] = Head(run, cls, tuple((i, n.places) for i, n in needs),
                                     tuple((i, n.places) for i, n in needs if n.kept))
    return head


def make_ready(sim: Sim, ti: int, run: Run, task: int) -> None:
    """A TI became scheduled: it joins its head, and the walk if it is now that head's first."""
    plan = run.plan
    head = run.heads.get(plan.cls[task]) or head_of(sim, run, plan.cls[task])
    ready_key = plan.ready_key(task, sim.map_index.get(ti, -1), ti)
    ready = head.ready
    if ti in sim.limits.left:
        sim.limits.left.discard(ti)
        if ready_key in ready:                        # skipped or cleared, and scheduled again before its turn
            return
    heappush(ready, ready_key)
    if ready[0] == ready_key:
        place(sim, head)


def place(sim: Sim, head: Head) -> None:
    """(Re)place a head in the walk, or at the gate where it is parked, under the key of its first TI."""
    if not head.ready:
        head.key = None
        return
    ti = head.ready[0] & MASK
    weight = head.run.plan.weight[sim.task_of[ti]]
    number = next(sim.limits.placed)              # no two keys are equal, so heads themselves are never compared
    key = head.key = (-weight, head.run.logical, sim.map_index.get(ti, -1), sim.rank[ti], number)
    gate = head.parked_at
    if gate is None:
        heappush(sim.limits.walk, (key, head, None))
    else:
        heappush(sim.limits.parked[gate[0]][gate[1]], (key, head))  # type: ignore[index]


def take(limits: Limits, places: tuple[tuple[int, int], ...]) -> None:
    for number, need in places:
        limits.used[number] += need


def give_back(limits: Limits, places: tuple[tuple[int, int], ...]) -> None:
    """A TI leaves its places; heads parked there are asked again in this pass."""
    used, parked, given_back = limits.used, limits.parked, limits.given_back
    for number, need in places:
        used[number] -= need
        if parked[number]:
            given_back.add(number)


def paused_gate(sim: Sim, head: Head) -> tuple[int, int] | None:
    """Where the heads of a paused Dag are parked: a limit without places."""
    if not sim.paused or head.run.plan.dag.dag_id not in sim.paused:
        return None
    return sim.limits.add(LimitName("paused", head.run.plan.dag.dag_id), 0), 1


def reopen(limits: Limits) -> None:
    """Where places were given back since the last pass, the heads parked there are asked again."""
    for number in sorted(limits.given_back):
        for need in sorted(limits.parked[number] or ()):
            pull(limits, (number, need))
    limits.given_back.clear()


def admit(sim: Sim) -> list[int]:
    """Walk the scheduled TIs in order and queue each that every limit has room for.

    Order: priority weight (descending), logical date, map index, then task order and run. A TI that is refused does
    not stop the walk: a smaller or less important one behind it may still fit (there is no reservation). Returns the
    TIs queued, in order.
    """
    limits, state = sim.limits, sim.state
    walk, used, cap = limits.walk, limits.used, limits.cap
    if limits.given_back:
        reopen(limits)
    queued: list[int] = []
    while walk:
        key, head, gate = heappop(walk)
        if head.key is not key:
            continue                                           # an older entry of a head that has moved on
        ready, refused = head.ready, paused_gate(sim, head)
        if refused is None and ready and state[ready[0] & MASK] == SCHEDULED:
            # Then nobody else can come first: no other head walks, and none is parked behind this one.
            alone = not walk and (gate is None or not (limits.parked[gate[0]] or {}).get(gate[1]))
            while refused is None:
                for number, need in head.needs:
                    if used[number] + need > cap[number]:
                        refused = number, need
                        break
                else:
                    ti = heappop(ready) & MASK
                    for number, need in head.needs:
                        used[number] += need
                    state[ti] = QUEUED
                    queued.append(ti)
                    if not alone or not ready or state[ready[0] & MASK] != SCHEDULED:
                        break
        while ready and state[ready[0] & MASK] != SCHEDULED:
            heappop(ready)                                     # skipped or cleared while it waited
        if refused is not None:
            park(limits, head, refused)
            limits.first_refused.setdefault(refused[0], sim.now)
        place(sim, head)
        if gate is not None and gate != refused:
            pull(limits, gate)
    return queued


def park(limits: Limits, head: Head, gate: tuple[int, int]) -> None:
    number, need = gate
    parked = limits.parked[number]
    if parked is None:
        parked = limits.parked[number] = {}
    parked.setdefault(need, [])
    head.parked_at = gate


def pull(limits: Limits, gate: tuple[int, int]) -> None:
    """The first head parked at a gate joins the walk on behalf of all that are parked there."""
    number, need = gate
    heap = (limits.parked[number] or {}).get(need)
    while heap:
        key, head = heappop(heap)
        if head.key is key and head.parked_at == gate:
            head.parked_at = None
            heappush(limits.walk, (key, head, gate))
            break
    if heap is not None and not heap:
        limits.parked[number].pop(need, None)  # type: ignore[union-attr]
        limits.open.discard(gate)
