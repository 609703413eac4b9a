"""Who limits what: counters of places in use, and the walk that hands free places to scheduled TIs.

Every knob (a pool, max_active_tasks, parallelism, ...) is one *limit*: a number in use and a cap. TIs of one run
whose tasks every limit treats alike share a *head*; only its first TI is ever asked. A head that is refused is
parked at a *gate* of the limit that refused it, and asked again when something is given back there. So the cost
follows the TIs that move, never the TIs that wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

from ..scenario import Scenario
from ..states import QUEUED, SCHEDULED
from .order import MASK, ready_key
from .plan import Plan

if TYPE_CHECKING:
    from .core import Run, Sim

UNLIMITED = float("inf")


class LimitName(NamedTuple):
    """What a limit is called: the knob, and which pool, Dag, task, run or executor it belongs to."""

    kind: str
    name: str
    run: int | None = None


class Limit:
    """One knob. cap, used: its places, and those in use. gates: where heads wait for places of it, by how many they need.

    first_refused: the tick at which it first held a TI back.
    """

    __slots__ = ("name", "cap", "used", "gates", "first_refused")

    def __init__(self, name: LimitName, cap: float):
        self.name, self.cap, self.used = name, cap, 0
        self.gates: dict[int, Gate] = {}
        self.first_refused: int | None = None

    def gate(self, need: int) -> Gate:
        gate = self.gates.get(need)
        if gate is None:
            gate = self.gates[need] = Gate(self)
        return gate


class Gate:
    """Where heads wait for the same number of places of one limit: a heap of the keys under which they wait."""

    __slots__ = ("limit", "keys")

    def __init__(self, limit: Limit):
        self.limit = limit
        self.keys: list[int] = []


Places = tuple[tuple[Limit, int], ...]
"""How many places of which limits."""


class Limits:
    """All limits of a simulation, by name, and the walk over the heads.

    walk: heap of the keys under which heads are to be asked in this pass. standing: the head that stands under a key;
    keys of which the head has moved on stay in their heaps, and are void.
    given_back: limits with gates where places became free since the last pass.
    left: TIs that left scheduled, but still lie in their head. open: for the window, gates of which a head may be in
    the walk.
    """

    def __init__(self) -> None:
        self.by_name: dict[LimitName, Limit] = {}
        self.walk: list[int] = []
        self.standing: dict[int, Head] = {}
        self.given_back: dict[Limit, None] = {}
        self.left: set[int] = set()
        self.open: dict[Gate, None] = {}

    def add(self, name: LimitName, cap: float) -> Limit:
        """The limit called ``name``, made on first use."""
        limit = self.by_name.get(name)
        if limit is None:
            limit = self.by_name[name] = Limit(name, cap)
        return limit

    def used(self, kind: str, name: str = "") -> int:
        """Places in use."""
        limit = self.by_name.get(LimitName(kind, name))
        return limit.used if limit is not None else 0

    def refusals(self) -> list[tuple[LimitName, int]]:
        """The limits that held TIs back, and the tick at which each first did."""
        return [(name, limit.first_refused) for name, limit in self.by_name.items() if limit.first_refused is not None]

    def resize(self, limit: Limit, cap: float) -> None:
        limit.cap = cap
        self.ask_again(limit)

    def ask_again(self, limit: Limit) -> None:
        """Heads parked at a limit may fit now."""
        if limit.gates:
            self.given_back[limit] = None


class Head:
    """The scheduled TIs of one class in one run, first one on top.

    needs: the places a queued or running TI holds. keeps: those it still holds while it is deferred.
    ready: heap of ready keys. key: the one under which the head stands in the walk or at ``gate``, where it is parked
    (None: in the walk, or empty). via: the gate it was called from, on behalf of all that are parked there.
    """

    __slots__ = ("run", "cls", "needs", "keeps", "ready", "key", "gate", "via")

    def __init__(self, run: Run, cls: int, needs: Places, keeps: Places):
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


def places_of(sim: Sim, run: Run, cls: int) -> tuple[Places, Places]:
    """``Head.needs`` and ``Head.keeps``."""
    needs = [(sim.limits.add(n.limit, n.cap), n) for n in needs_of(sim.scenario, run.plan, run.number, cls)]
    return tuple([(limit, n.places) for limit, n in needs]), tuple([(limit, n.places) for limit, n in needs if n.kept])


def head_of(sim: Sim, run: Run, cls: int) -> Head:
    """The head of a class in a run, made on first use."""
    head = run.heads.get(cls)
    if head is None:
        head = run.heads[cls] = Head(run, cls, *places_of(sim, run, cls))
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


def take(places: Sequence[tuple[Limit, int]]) -> None:
    for limit, need in places:
        limit.used += need


def give_back(limits: Limits, places: Places) -> None:
    """A TI leaves its places; heads parked there are asked again in this pass."""
    for limit, need in places:
        limit.used -= need
        if limit.gates:
            limits.given_back[limit] = None


def paused_gate(sim: Sim, head: Head) -> Gate | None:
    """Where the heads of a paused Dag are parked: a limit without places."""
    if not sim.paused or head.run.plan.dag.dag_id not in sim.paused:
        return None
    return sim.limits.add(LimitName("paused", head.run.plan.dag.dag_id), 0).gate(1)


def forget(limits: Limits, run: Run) -> None:
    """All heads of a run are gone."""
    for head in run.heads.values():
        head.ready = []
        place(limits, head)
    run.heads = {}


def park(sim: Sim, head: Head, gate: Gate) -> None:
    """A head that was refused waits at the gate."""
    head.gate = gate
    if gate.limit.first_refused is None:
        gate.limit.first_refused = sim.now


def first(limits: Limits) -> Head | None:
    """The head that comes first in the walk; void keys before it are dropped."""
    walk, standing = limits.walk, limits.standing
    while walk:
        head = standing.get(walk[0])
        if head is not None and head.gate is None:
            return head
        heappop(walk)
    return None


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
    for limit in limits.given_back:
        for gate in limit.gates.values():
            call(limits, gate)
    limits.given_back.clear()
    queued: list[int] = []
    while walk:
        head = standing.get(heappop(walk))
        if head is None or head.gate is not None:
            continue                                           # an older entry of a head that has moved on
        via, head.via = head.via, None
        rival = walk[0] if walk else None                      # the key of who may come next
        if via is not None and via.keys and (rival is None or via.keys[0] < rival):
            rival = via.keys[0]
        refused = ask(sim, head, queued, rival)
        if refused is not None:
            park(sim, head, refused)
        place(limits, head)
        if via is not None and via is not refused:
            call(limits, via)
    return queued


def ask(sim: Sim, head: Head, queued: list[int], rival: int | None) -> Gate | None:
    """Queue the head's first TI, and those behind it that come before the rival. Returns the gate that refused."""
    state, ready, needs = sim.state, head.ready, head.needs
    if sim.paused and (shut := paused_gate(sim, head)):
        return shut
    refused = None
    while ready:
        ti = ready[0] & MASK
        if state[ti] == SCHEDULED:
            for limit, need in needs:
                if limit.used + need > limit.cap:
                    refused = limit.gate(need)
                    break
            else:
                for limit, need in needs:
                    limit.used += need
                state[ti] = QUEUED
                queued.append(ti)
        if refused is not None:
            break
        heappop(ready)                                         # queued; or skipped or cleared while it waited
        if rival is not None and ready and ready[0] > rival:
            break
    while ready and state[ready[0] & MASK] != SCHEDULED:
        heappop(ready)
    return refused
