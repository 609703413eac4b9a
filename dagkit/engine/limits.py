"""Who limits what: counters of places in use, and the walk that hands free places to scheduled TIs.

Every knob (a pool, max_active_tasks, parallelism, ...) is one *limit*: a number in use and a cap. TIs of one run
whose tasks every limit treats alike share a *head*; only its first TI is ever asked. A head that is refused is
parked at a *gate* of the limit that refused it, and asked again when something is given back there. So the cost
follows the TIs that move, never the TIs that wait.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

from ..scenario import Scenario
from ..states import EXECUTION, QUEUED, SCHEDULED
from .order import MASK, ready_key
from .plan import Plan

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
    """All limits of a simulation as columns, indexed by limit number.

    walk: heap of the keys under which heads are to be asked in this pass. standing: the head that stands under a key;
    keys of which the head has moved on stay in their heaps, and are void.
    given_back: limits with gates where places became free since the last pass.
    """

    def __init__(self) -> None:
        self.used: list[int] = []
        self.cap: list[float] = []
        self.names: list[LimitName] = []
        self.number: dict[LimitName, int] = {}
        self.gates: list[dict[int, Gate]] = []                # per limit, by places needed
        self.given_back: set[int] = set()
        self.walk: list[int] = []
        self.standing: dict[int, Head] = {}
        self.left: set[int] = set()                           # TIs that left scheduled, but still lie in their head
        self.open: dict[Gate, None] = {}                      # for the window: gates with a head that may be in the walk
        self.first_refused: dict[int, int] = {}               # limits that refused a TI: the first tick

    def add(self, name: LimitName, cap: float) -> int:
        """The number of the limit called ``name``, made on first use."""
        if name not in self.number:
            self.number[name] = len(self.names)
            self.names.append(name)
            self.used.append(0)
            self.cap.append(cap)
            self.gates.append({})
        return self.number[name]

    def refusals(self) -> list[tuple[LimitName, int]]:
        """The limits that held TIs back, and the tick at which each first did."""
        return [(self.names[number], tick) for number, tick in sorted(self.first_refused.items())]

    def resize(self, number: int, cap: float) -> None:
        self.cap[number] = cap
        self.ask_again(number)

    def ask_again(self, number: int) -> None:
        """Heads parked at a limit may fit now."""
        if self.gates[number]:
            self.given_back.add(number)

    def gate(self, number: int, need: int) -> Gate:
        gate = self.gates[number].get(need)
        if gate is None:
            gate = self.gates[number][need] = Gate(number, need)
        return gate


class Gate:
    """Where heads wait for the same number of places of one limit: a heap of the keys under which they wait."""

    __slots__ = ("number", "need", "keys")

    def __init__(self, number: int, need: int):
        self.number, self.need = number, need
        self.keys: list[int] = []


class Head:
    """The scheduled TIs of one class in one run, first one on top.

    needs: (limit, places) a queued or running TI holds. keeps: those it still holds while it is deferred.
    ready: heap of ready keys. key: the one under which the head stands in the walk or at ``gate``, where it is parked
    (None: in the walk, or empty). via: the gate it was called from, on behalf of all that are parked there.
    """

    __slots__ = ("run", "cls", "needs", "keeps", "ready", "key", "gate", "via")

    def __init__(self, run: Run, cls: int, needs: tuple[tuple[int, int], ...], keeps: tuple[tuple[int, int], ...]):
        self.run, self.cls, self.needs, self.keeps = run, cls, needs, keeps
        self.ready: list[int] = []
        self.key: int | None = None
        self.gate: Gate | None = None
        self.via: Gate | None = None


class Need(NamedTuple):
    """What one TI takes of one limit. kept: it keeps it while it is deferred or awaits input."""

    limit: LimitName
    cap: float
    places: int
    kept: bool


def needs_of(scenario: Scenario, plan: Plan, run_no: int, cls: int) -> list[Need]:
    """Every limit a class of tasks meets, in the order Airflow checks them. An unknown pool has no places."""
    pool, slots, executor, _, per_dag, per_run, *own = plan.classes[cls]
    config, dag_id = scenario.config, plan.dag.dag_id
    found = scenario.pools.get(pool)
    cap = 0 if found is None else UNLIMITED if found.slots == -1 else found.slots
    chosen = scenario.executor.get(executor)
    needs = [Need(LimitName("parallelism", ""), config.parallelism * config.schedulers, int(chosen.counts), False),
             Need(LimitName("pool", pool), cap, slots, found is not None and found.include_deferred),
             Need(LimitName("max_active_tasks", dag_id, run_no), plan.dag.max_active_tasks, 1, False)]
    task_id = plan.ids[own[0]] if own else ""
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
    cls = run.plan.cls[task]
    head = run.heads.get(cls) or head_of(sim, run, cls)
    key, ready, left = ready_key(sim, ti, run, task), head.ready, sim.limits.left
    if left and ti in left:
        left.discard(ti)
        if key in ready:                              # skipped or cleared, and scheduled again before its turn
            return
    heappush(ready, key)
    if ready[0] == key:
        place(sim.limits, head)


def place(limits: Limits, head: Head) -> None:
    """(Re)place a head in the walk, or at the gate where it is parked, under the key of its first TI."""
    key = head.ready[0] if head.ready else None
    if key != head.key:
        if head.key is not None:
            del limits.standing[head.key]
        if key is not None:
            limits.standing[key] = head
        head.key = key
    if key is not None:
        heappush(limits.walk if head.gate is None else head.gate.keys, key)


def take(limits: Limits, places: tuple[tuple[int, int], ...]) -> None:
    for number, need in places:
        limits.used[number] += need


def give_back(limits: Limits, places: tuple[tuple[int, int], ...]) -> None:
    """A TI leaves its places; heads parked there are asked again in this pass."""
    used, gates = limits.used, limits.gates
    for number, need in places:
        used[number] -= need
        if gates[number]:
            limits.given_back.add(number)


def paused_gate(sim: Sim, head: Head) -> Gate | None:
    """Where the heads of a paused Dag are parked: a limit without places."""
    if not sim.paused or head.run.plan.dag.dag_id not in sim.paused:
        return None
    return sim.limits.gate(sim.limits.add(LimitName("paused", head.run.plan.dag.dag_id), 0), 1)


def forget(limits: Limits, run: Run) -> None:
    """All heads of a run are gone."""
    for head in run.heads.values():
        head.ready = []
        place(limits, head)
    run.heads = {}


def call(limits: Limits, gate: Gate) -> None:
    """The first head parked at a gate joins the walk on behalf of all that are parked there."""
    keys, standing = gate.keys, limits.standing
    while keys:
        key = heappop(keys)
        head = standing.get(key)
        if head is not None and head.gate is gate:
            head.gate, head.via = None, gate
            heappush(limits.walk, key)
            return


def admit(sim: Sim) -> list[int]:
    """Walk the scheduled TIs in order and queue each that every limit has room for.

    Order: priority weight (descending), logical date, map index, then task order and run. A TI that is refused does
    not stop the walk: a smaller or less important one behind it may still fit (there is no reservation). Returns the
    TIs queued, in order.
    """
    limits = sim.limits
    walk, standing = limits.walk, limits.standing
    for number in limits.given_back:
        for gate in limits.gates[number].values():
            call(limits, gate)
    limits.given_back.clear()
    queued: list[int] = []
    while walk:
        head = standing.get(heappop(walk))
        if head is None or head.gate is not None:
            continue                                           # an older entry of a head that has moved on
        via, head.via = head.via, None
        refused = ask(sim, head, queued, alone=not walk and not (via and via.keys))
        if refused is not None:
            head.gate = refused
            limits.first_refused.setdefault(refused.number, sim.now)
        place(limits, head)
        if via is not None and via is not refused:
            call(limits, via)
    return queued


def ask(sim: Sim, head: Head, queued: list[int], *, alone: bool) -> Gate | None:
    """Queue the head's first TI, and those behind it while nobody else can come first. Returns the gate that refused."""
    limits, state, ready, needs = sim.limits, sim.state, head.ready, head.needs
    used, cap = limits.used, limits.cap
    if sim.paused and (shut := paused_gate(sim, head)):
        return shut
    refused = None
    while ready:
        ti = ready[0] & MASK
        if state[ti] == SCHEDULED:
            for number, need in needs:
                if used[number] + need > cap[number]:
                    refused = limits.gate(number, need)
                    break
            else:
                for number, need in needs:
                    used[number] += need
                state[ti] = QUEUED
                queued.append(ti)
        if refused is not None:
            break
        heappop(ready)                                         # queued; or skipped or cleared while it waited
        if not alone:
            break
    while ready and state[ready[0] & MASK] != SCHEDULED:
        heappop(ready)
    return refused
