"""Admission under airflow pacing: feed the selection window from the heads, without touching the TIs that wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from ..states import QUEUED, SCHEDULED
from .limits import Gate, Head, Limits, call, first, park, paused_gate, place
from .order import MASK
from .selection import Key, Row, hidden, max_tis, select

if TYPE_CHECKING:
    from .core import Sim


def admit(sim: Sim) -> list[int]:
    """The TIs one pass of Airflow's critical section queues, in order."""
    limits, config = sim.limits, sim.scenario.config
    _reopen(limits)
    if first(limits) is None:
        return []
    size = max_tis(config.max_tis_per_query, config.parallelism * config.schedulers, limits.used("parallelism"),
                   _open_slots(sim))
    if size <= 0:
        return []
    queued = _from_one_head(sim, size)
    if not queued:
        table = Table(sim)
        queued = [row.ti for row in select(table.query, size)]
        table.put_back(set(queued))
    for ti in queued:
        sim.state[ti] = QUEUED
    if queued and first(limits) is not None:
        sim.calendar.look[sim.now + 1]        # the next loop looks at what the window left out
        if size == config.max_tis_per_query and sim.window_cut is None:
            sim.window_cut = sim.now
    return queued


def _from_one_head(sim: Sim, size: int) -> list[int]:
    """What the window takes where all its rows are of one head: as many of the first as every limit has room for.

    The rows behind them ask for the same and would be refused, so they need not be read. [] where this does not hold.
    """
    limits = sim.limits
    head = first(limits)
    if len(limits.walk) > 1 or head is None or paused_gate(sim, head) is not None:
        return []
    via = head.via
    if via is not None and via.keys:
        return []
    room = min([size, *((limit.cap - limit.used) // places for limit, places in head.needs if places)])
    queued: list[int] = []
    while len(queued) < room and head.ready:
        ti = heappop(head.ready) & MASK
        if sim.state[ti] == SCHEDULED:
            queued.append(ti)
    if queued:
        for limit, places in head.needs:
            limit.used += places * len(queued)
        limits.walk.clear()
        head.via = None
        place(limits, head)
    return queued


def _reopen(limits: Limits) -> None:
    """As for a full walk; and the gates that the last pass left open may have a more important head by now."""
    for limit in limits.given_back:
        limits.open.update(dict.fromkeys(limit.gates.values()))
    limits.given_back.clear()
    for gate in limits.open:
        call(limits, gate)
    for gate in [gate for gate in limits.open if not gate.keys]:
        del limits.open[gate]


def _open_slots(sim: Sim) -> Iterator[float]:
    """Free slots of every pool of the scenario, whether a task uses it or not."""
    for name, pool in sim.scenario.pools.items():
        yield (float("inf") if pool.slots == -1 else pool.slots) - sim.limits.used("pool", name)


class Table:
    """The scheduled TIs of this pass as rows in the scheduler's order, read from the heads as far as needed."""

    def __init__(self, sim: Sim):
        self.sim = sim
        self.rows: list[tuple[Row, Head, int]] = []      # read so far: row, its head, its ready key
        self.source = self._read()

    def query(self, starved: set[Key]) -> Iterator[Row]:
        """Eligible rows in order; of each run only the first max_active_tasks."""
        per_run: Counter[int] = Counter()
        n = 0
        while True:
            if n == len(self.rows) and not next(self.source, False):
                return
            row, head, _ = self.rows[n]
            n += 1
            if not hidden(row, starved):
                run = row.run
                per_run[run] += 1
                if per_run[run] <= head.run.plan.dag.max_active_tasks:
                    yield row

    def _read(self) -> Iterator[bool]:
        """Take heads from the walk, row by row; a head whose run or pool is known to be full is parked instead."""
        sim, limits = self.sim, self.sim.limits
        walk, state = limits.walk, sim.state
        while walk:
            key = heappop(walk)
            head = limits.standing.get(key)
            if head is None or head.gate is not None:
                continue
            via, head.via = head.via, None
            ready = head.ready
            while ready and state[ready[0] & MASK] != SCHEDULED:
                heappop(ready)                                 # skipped or cleared while it waited
            if ready[:1] != [key]:
                place(limits, head)                            # under the key of the TI that is first now
                if via is not None:
                    call(limits, via)
                continue
            full = paused_gate(sim, head) or self._known_full(head)
            if via is not None:
                if full is via:
                    limits.open.pop(via, None)     # still shut, and so it is for all that wait there
                else:
                    call(limits, via)
            if full is not None:
                park(sim, head, full)
                place(limits, head)
                continue
            ti = heappop(ready) & MASK
            plan, task = head.run.plan, sim.task_of[ti]
            self.rows.append((Row(ti, plan.dag.dag_id, id(head.run), plan.ids[task], plan.classes[head.cls][0],
                                  head.needs[1:]), head, key))
            place(limits, head)
            yield True

    def put_back(self, taken: set[int]) -> None:
        """Rows that were taken count for parallelism; those only read go back to their heads."""
        touched: dict[int, Head] = {}
        for row, head, ready_key in self.rows:
            if row.ti in taken:
                parallelism, places = head.needs[0]
                parallelism.used += places
            else:
                heappush(head.ready, ready_key)
                touched[id(head)] = head
        for head in touched.values():
            place(self.sim.limits, head)

    def _known_full(self, head: Head) -> Gate | None:
        """What the query itself filters: a run at max_active_tasks, a known pool without an open slot."""
        (pool, _), (of_run, _) = head.needs[1:3]
        if of_run.used >= of_run.cap:
            return of_run.gate(1)
        return pool.gate(1) if pool.used >= pool.cap and pool.name.name in self.sim.scenario.pools else None
