"""Priority totals: what weight_rule makes of the priority_weight of a task and its relatives.

- ``downstream`` (the default): its own weight and that of everything after it; long tails go first.
- ``upstream``: its own and everything before it; runs that are nearly done go first.
- ``absolute``: its own.

Every relative counts once, however many paths lead to it (recorded from Airflow 3.3.2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, chain

from .dag import Dag
from .graph import Graph

BLOCK_BYTES = 32_000_000
"""About how much memory the sets of relatives may take at a time."""

Neighbours = Sequence[Sequence[int]]


def priority_totals(dag: Dag) -> dict[str, int]:
    """The priority total of each task of a Dag: who goes first when places are scarce.

    >>> priority_totals(Dag.from_dict({"a": {}, "b": {"upstream": "a"}, "c": {"upstream": "a"}}))
    {'a': 3, 'b': 1, 'c': 1}
    """
    totals = weight_totals(dag.graph, [t.priority_weight for t in dag], [t.weight_rule for t in dag])
    return dict(zip(dag.graph.ids, totals, strict=True))


def weight_totals(graph: Graph, weights: Sequence[int], rules: Sequence[str]) -> list[int]:
    """Priority totals by task number; weights and rules likewise.

    >>> dag = Dag.from_dict({"a": {}, "b": {"upstream": "a"}, "c": {"upstream": "b"}})
    >>> weight_totals(dag.graph, [1, 10, 100], ["downstream", "absolute", "upstream"])
    [111, 10, 111]
    """
    totals = list(weights)
    if "downstream" in rules:
        after = _with_relatives(graph, graph.down, graph.up, weights)
        totals = [a if rule == "downstream" else t for t, a, rule in zip(totals, after, rules, strict=True)]
    if "upstream" in rules:
        before = _with_relatives(graph, graph.up, graph.down, weights)
        totals = [b if rule == "upstream" else t for t, b, rule in zip(totals, before, rules, strict=True)]
    return totals


def _with_relatives(graph: Graph, near: Neighbours, back: Neighbours, weights: Sequence[int]) -> list[int]:
    """Each task's weight and that of all it reaches along ``near``, of which ``back`` is the reverse.

    A neighbour is *exclusive* if it and all it reaches are reached only through this task. With at most one
    neighbour that is not, nothing is met twice and totals simply add up: chains and trees need no more. Only the
    other tasks need sets.
    """
    if not any(near):
        return list(weights)
    order = graph.order if near is graph.up else graph.order[::-1]     # near tasks first
    alone = [False] * len(weights)      # nothing it reaches is reached from elsewhere
    overlapping = []
    for i in order:
        shared = sum([not alone[n] or len(back[n]) > 1 for n in near[i]])
        alone[i] = not shared
        if shared > 1:
            overlapping.append(i)
    sums = {}
    if overlapping:
        by_wave = list(chain.from_iterable(graph.waves))
        sums = _set_sums(near, by_wave if near is graph.up else by_wave[::-1], weights, overlapping)
    totals = list(weights)
    for i in order:
        totals[i] += sums[i] if i in sums else sum([totals[n] for n in near[i]])
    return totals


def _set_sums(near: Neighbours, order: Sequence[int], weights: Sequence[int], wanted: Sequence[int],
              ) -> dict[int, int]:
    """For each wanted task, the weights of the set of all it reaches.

    ``order`` goes wave by wave, near tasks first, so a set is most often *everything* up to some position and a few
    tasks beyond it. It is kept like that: how many positions from the first are full, and the bits of one integer
    for the rest. A set is dropped after its last use. To bound the memory, relatives are counted a block of
    positions at a time: a task only reaches earlier positions, so each pass starts at its block.
    """
    members = _reached(near, order, wanted)
    place = {i: p for p, i in enumerate(members)}
    nexts = [[place[n] for n in near[i]] for i in members]
    last_used, alive = _last_uses(nexts)
    sums = dict.fromkeys(wanted, 0)
    size = max(64, 8 * BLOCK_BYTES // alive)
    for begin in range(0, len(members), size):
        end = min(begin + size, len(members))
        inside = [weights[i] for i in members[begin:end]]
        weigh, up_to = _scales(inside), [0, *accumulate(inside)]
        sets: list[tuple[int, int]] = [(0, 0)] * len(members)
        for p in range(begin, len(members)):
            full, bits = _union([sets[q] for q in nexts[p]])
            if members[p] in sums:
                sums[members[p]] += up_to[full] + weigh(bits, full)
            if p < end:
                full, bits = _union([(full, bits | 1 << p - begin - full)])
            sets[p] = full, bits
            for q in last_used[p]:
                sets[q] = 0, 0
    return sums


def _union(sets: list[tuple[int, int]]) -> tuple[int, int]:
    """All that is in any of the sets, as (positions that are full, bits of those from there on)."""
    full, bits = max(sets, default=(0, 0))
    for other, more in sets:
        bits |= more >> full - other
    ones = (~bits & bits + 1).bit_length() - 1
    return full + ones, bits >> ones


def _last_uses(nexts: Neighbours) -> tuple[list[list[int]], int]:
    """The positions that are needed for the last time at each position, and how many are needed at most at once."""
    last_user = list(range(len(nexts)))
    for p, qs in enumerate(nexts):
        for q in qs:
            last_user[q] = p
    last_used: list[list[int]] = [[] for _ in nexts]
    for q, p in enumerate(last_user):
        last_used[p].append(q)
    alive = accumulate(1 - len(dropped) for dropped in last_used)
    return last_used, 1 + max(alive)


def _reached(near: Neighbours, order: Sequence[int], wanted: Sequence[int]) -> list[int]:
    """The wanted tasks and all they reach, near tasks first."""
    marked = [False] * len(near)
    for i in wanted:
        marked[i] = True
    for i in reversed(order):
        if marked[i]:
            for n in near[i]:
                marked[n] = True
    return [i for i in order if marked[i]]


def _scales(weights: Sequence[int]) -> Callable[[int, int], int]:
    """A function that sums the weights of the positions in ``bits``, counted from position ``first``.

    One count for each binary digit that is in any of the weights.
    """
    least = min(weights)
    if least == max(weights):
        return lambda bits, first: least * bits.bit_count()
    digits = []
    for digit in range((max(weights) - least).bit_length()):
        mask = int("".join("1" if w - least >> digit & 1 else "0" for w in reversed(weights)), 2)
        if mask:
            digits.append((1 << digit, mask))
    return lambda bits, first: bits and least * bits.bit_count() + sum(
        [v * (bits & mask >> first).bit_count() for v, mask in digits])
