"""Dynamic task mapping, and every relation between TIs that is not simply "task below task".

Before expansion a mapped task has one TI. In the pass in which its dependencies are met it expands: that TI becomes
index 0, the others are appended, and all are evaluated in the same pass.
Source: TaskMap.expand_mapped_task, MappedTaskUpstreamDep and TriggerRuleDep of Airflow 3.3.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from ..errors import DagkitError, shown
from ..states import FAILED, FINISHED, NONE, REMOVED, SCHEDULABLE, SKIPPED, SUCCESS, UPSTREAM_FAILED
from . import decide, ending
from .order import MASK, rank_of
from .plan import Plan

if TYPE_CHECKING:
    from .core import Run, Sim

MOST_INSTANCES = 1_000_000
"""Airflow has no limit for literals and products; memory has."""
FAST_TRIGGERED = frozenset({"one_success", "one_failed", "one_done", "none_failed_min_one_success"})


# ---- which TIs depend on which -------------------------------------------------------------------------------

def relevant(sim: Sim, ti: int, run: Run, upstream: int) -> Sequence[int]:
    """The TIs of ``upstream`` that this TI depends on: all of them, or in a mapped group only its own index."""
    if not run.instances:
        return (run.ti[upstream],)
    plan, task = run.plan, sim.task_of[ti]
    group = plan.group.get(task)
    if group is None or plan.group.get(upstream) != group or upstream not in run.instances:
        return run.tis(upstream)
    index = sim.map_index.get(ti, -1)
    if index >= 0:
        return run.instances[upstream][index:index + 1]
    # Not expanded yet: a rule that one upstream can satisfy waits for all, the others for none of them.
    return run.instances[upstream] if plan.rule[task] in FAST_TRIGGERED else ()


def below(sim: Sim, run: Run, task: int, ti: int) -> Iterator[tuple[int, int]]:
    """(task, TI) for every TI that counts this one among its direct upstreams."""
    plan = run.plan
    for d in plan.down[task]:
        same_group = d in plan.group and plan.group[d] == plan.group.get(task)
        if same_group and task in run.instances:
            if d in run.instances:
                index = sim.map_index[ti]
                yield from ((d, di) for di in run.instances[d][index:index + 1])
            elif plan.rule[d] in FAST_TRIGGERED:
                yield d, run.ti[d]
        else:
            for di in run.tis(d):
                yield d, di


def after(sim: Sim, run: Run, task: int, ti: int, new: int) -> None:
    """``Sim.settle`` for Dags with mapped tasks, setups or a past: who is counted down, who must be looked at."""
    step, plan = run.plan.step[new], run.plan
    for d, di in below(sim, run, task, ti):
        left = sim.pending[di] = sim.pending[di] - step[d]
        if left <= 0 or d in plan.by_source:
            sim.look_at(di)
    for w in plan.watchers.get(task, ()):
        for wi in run.tis(w):
            sim.look_at(wi)
    if plan.wakes_next_run:
        following = sim.next_run.get(run)
        if following is not None and following.state == "running":
            for name in (plan.ids[task], *(plan.ids[u] for u in plan.up[task])):
                t = following.plan.index.get(name)
                if t is not None and t in following.plan.past:
                    for wi in following.tis(t):
                        sim.look_at(wi)
    if new == REMOVED:
        from .runs import watch
        watch(sim, run)


def recount(sim: Sim, ti: int) -> None:
    """The countdown of one TI from scratch, after its upstreams changed in number."""
    run, task = sim.run_of[ti], sim.task_of[ti]
    if run.plan.rule[task] == "always":
        return
    left = 0
    for u in run.plan.up[task]:
        for ui in relevant(sim, ti, run, u):
            s = sim.state[ui]
            left += 1 - (run.plan.step[s][task] if s in FINISHED else 0)
    sim.pending[ti] = left


def recount_all(sim: Sim, run: Run, task: int, tis: Sequence[int]) -> None:
    """``recount`` for TIs of one task. Only in a group do they differ; elsewhere all depend on the same TIs."""
    if task in run.plan.group:
        for ti in tis:
            recount(sim, ti)
    elif tis:
        recount(sim, tis[0])
        left = sim.pending[tis[0]]
        for ti in tis:
            sim.pending[ti] = left


# ---- expansion -----------------------------------------------------------------------------------------------

def sources(plan: Plan, task: int) -> Mapping[str, str | int]:
    """argument -> task_id or literal length that this task (or its group) is mapped over."""
    expand, group = plan.tasks[task].expand, plan.group.get(task)
    return expand if expand is not None else plan.dag.groups[group] if group is not None else {}


def source_verdict(sim: Sim, ti: int, run: Run, task: int) -> str | None:
    """A mapped task cannot outlive what it is mapped over: failed gives upstream_failed, skipped gives skipped.

    This holds under every trigger rule, even always. A source that has itself expanded does not count.
    """
    if task not in run.plan.mapped:
        return None
    over = [run.plan.index[s] for s in sources(run.plan, task).values() if isinstance(s, str)]
    states = {sim.state[run.ti[u]] for u in over if u not in run.instances}
    if states & {FAILED, UPSTREAM_FAILED}:
        return "upstream_failed"
    return "skipped" if SKIPPED in states else None


def pushed(sim: Sim, run: Run, source: str | int) -> int | None:
    """How many values one source has, or None while (or because) it has none."""
    if isinstance(source, int):
        return source
    u = run.plan.index[source]
    if u in run.instances:
        if any(sim.state[ui] not in FINISHED for ui in run.instances[u]):
            return None                                   # not before all of them are done
        return sum(sim.state[ui] == SUCCESS for ui in run.instances[u])
    return sim.returned.get(run.ti[u])


def expand(sim: Sim, ti: int) -> bool:
    """Expand a mapped TI whose dependencies are met; False if it is an instance (or not mapped) and may just run."""
    run, task = sim.run_of[ti], sim.task_of[ti]
    if task not in run.plan.mapped or task in run.instances:
        return task in run.plan.mapped and _revise(sim, ti, run, task)
    if not sim.cascade:
        sim.expanded[run] = None
    lengths = [pushed(sim, run, s) for s in sources(run.plan, task).values()]
    if any(n is None for n in lengths):
        decide.set_state(sim, ti, "upstream_failed")
        return True
    count = prod(n for n in lengths if n is not None)
    if not count:
        decide.set_state(sim, ti, "skipped")
        return True
    run.instances[task] = [ti]
    sim.map_index[ti] = 0
    sim.born[ti] = sim.now
    sim.rank[ti] = rank_of(sim, ti)  # type: ignore[index]
    _grow(sim, run, task, count)
    mates = [t for t, group in run.plan.group.items() if group == run.plan.group.get(task) and t != task]
    for t in (task, *mates):                               # members of the same group see another width now
        recount_all(sim, run, t, run.tis(t))
        sim.fresh += run.tis(t)
    if sim.cascade:
        _wake_fresh(sim)
    return True


def _grow(sim: Sim, run: Run, task: int, count: int) -> None:
    """Append instances up to ``count``; everything below counts one more upstream for each."""
    instances = run.instances[task]
    if count > MOST_INSTANCES:
        raise DagkitError(f"task '{shown(run.plan.ids[task])}' would expand to {shown(count)} instances; the kit "
                          f"plays at most {MOST_INSTANCES} of one task. Map over a shorter list.")
    new = new_tis(sim, run, max(0, count - len(instances)), task)
    sim.map_index.update(zip(new, range(len(instances), count), strict=True))
    sim.born.update(dict.fromkeys(new, sim.now))
    for ti in new:
        sim.rank[ti] = rank_of(sim, ti)  # type: ignore[index]
    instances += new
    for d in run.plan.down[task]:
        recount_all(sim, run, d, run.tis(d))


def new_tis(sim: Sim, run: Run, count: int = 1, task: int = 0) -> range:
    """Append TIs to the columns; the caller says what they are."""
    first = len(sim.state)
    sim.state.extend(bytes((NONE,)) * count)
    sim.tries.extend([0] * count)
    sim.pending += [0] * count
    sim.task_of.extend([task] * count)
    sim.run_of += [run] * count
    sim.rank += [0] * count  # type: ignore[operator]
    run.left += count
    return range(first, first + count)


def expand_literals(sim: Sim, run: Run) -> None:
    """Tasks mapped over nothing but literals have their instances from the start (their width is in the Dag file)."""
    for task in sorted(run.plan.mapped):
        over = sources(run.plan, task).values()
        lengths = [n for n in over if isinstance(n, int)]
        if len(lengths) == len(over) and (count := prod(lengths)) and task not in run.instances:
            first = run.ti[task]
            run.instances[task] = [first]
            sim.map_index[first] = 0
            sim.born[first] = 0
            _grow(sim, run, task, count)


def _revise(sim: Sim, ti: int, run: Run, task: int) -> bool:
    """A cleared mapped task runs again: fewer values remove instances, more add some. True if this TI went."""
    if (task, run) in sim.revised:
        return False
    lengths = [pushed(sim, run, s) for s in sources(run.plan, task).values()]
    if any(n is None for n in lengths):
        return False
    sim.revised.add((task, run))
    count = prod(n for n in lengths if n is not None)
    instances = run.instances[task]
    for wi in instances[count:]:
        if sim.state[wi] != REMOVED:
            ending.stop(sim, wi, REMOVED, "mapping_shrank")
    if len(instances) < count:
        first_new = len(instances)
        _grow(sim, run, task, count)
        recount_all(sim, run, task, instances[first_new:])
        sim.fresh += instances[first_new:]
        if sim.cascade:
            _wake_fresh(sim)
    return sim.state[ti] == REMOVED


def _wake_fresh(sim: Sim) -> None:
    for wi in sim.fresh:
        sim.look_at(wi)
    sim.fresh.clear()


def with_new_instances(sim: Sim, decided: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The verdicts of a pass, then those on the instances that appear while they are carried out.

    A mapped task alone asks for the state its sources have now, not the one at the start of the pass, so what
    undoes one mapped task undoes the tasks mapped over it in the same pass (MappedTaskUpstreamDep).
    """
    yield from ((ti, v) for ti, v in decided if sim.state[ti] in SCHEDULABLE)   # a shrinking list removes some
    while sim.fresh:
        fresh, sim.fresh = sorted(set(sim.fresh), key=sim.rank.__getitem__), []
        for ti in fresh:
            yield ti, decide.verdict(sim, ti)
    for ti in _mapped_looks(sim):
        undone = source_verdict(sim, ti, sim.run_of[ti], sim.task_of[ti])
        if undone and sim.state[ti] in SCHEDULABLE:
            yield ti, undone


def _mapped_looks(sim: Sim) -> Iterator[int]:
    """The mapped TIs that the next pass would look at, those added meanwhile included."""
    seen: set[int] = set()
    while new := sorted({key for key in sim.looks if _is_mapped(sim, key & MASK)} - seen):
        seen.update(new)
        yield from (key & MASK for key in new)


def _is_mapped(sim: Sim, ti: int) -> bool:
    return sim.task_of[ti] in sim.run_of[ti].plan.mapped


def refused(sim: Sim, run: Run, task: int, ti: int, count: int | None) -> str | None:
    """What the API server says to a producer that pushes its return value: the cause of a failure, or None.

    A list longer than max_map_length fails the *producer*; so does returning no list at all.
    """
    if task not in run.plan.producers or task in run.instances:
        return None
    if count is None:
        return "no_list"
    if count > sim.scenario.config.max_map_length:
        return "max_map_length"
    sim.returned[ti] = count
    return None
