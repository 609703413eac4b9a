"""What each move buys, held against planning without pools and small Dags worked out by hand."""

from __future__ import annotations

from random import Random

import pytest

import dagkit as dk


def random_dag(seed: int) -> dk.Dag:
    rng = Random(seed)
    names = [f"t{i}" for i in range(rng.randint(1, 12))]
    return dk.Dag.from_dict({name: {"upstream": rng.sample(names[:i], rng.randint(0, min(i, 2))),
                                    "duration": rng.randint(0, 5)} for i, name in enumerate(names)})


@pytest.mark.parametrize("seed", range(40))
def test_a_pool_around_everything_is_a_number_of_slots(seed: int) -> None:
    dag = random_dag(seed)
    for slots in (1, 2, 4):
        assert dk.pooled_makespan(dag, slots, {}) == dk.makespan(dag, slots)
        assert dk.pooled_makespan(dag, slots, {"all": (2, list(dag.tasks))}) == dk.makespan(dag, min(2, slots))
        assert dk.pooled_makespan(dag, slots, {"all": (99, list(dag.tasks))}) == dk.makespan(dag, slots)


def test_a_full_pool_lets_the_next_pass() -> None:
    """a holds the only place to 3, so b waits although it comes first by name; c takes the second slot meanwhile."""
    dag = dk.Dag.from_dict({"a": {"duration": 3}, "b": {"duration": 1}, "c": {"duration": 2}, "d": {"upstream": "c"}})
    assert dk.pooled_makespan(dag, 2, {"db": (1, ["a", "b"])}) == 4
    assert dk.makespan(dag, 2) == 4
    assert dk.pooled_makespan(dag, 2, {"db": (1, ["a", "b", "c"])}) == 7       # a, b, c one by one, then d


def test_split_and_faster_by_hand() -> None:
    dag = dk.Dag("d", [dk.Task("long", duration=6), dk.Task("short", duration=3), dk.Task("end", ["long", "short"])])
    assert [t.duration for t in dk.split(dag, "long", 3)] == [2, 2, 2, 3, 1]
    table = dk.moves(dag, 2, faster={"long": 2, "short": 3}, parts={"long": 2}, slots_to=[1, 3],
                     pools={"db": (1, ["long", "short"])}).set_index("move")
    assert table["makespan"].to_dict() == {
        "as it is": 7, "long 2 x as fast": 4, "short 3 x as fast": 7, "long in 2 parts": 7, "1 slot": 10, "3 slots": 7,
        "pool db of 1 for 2 tasks": 10}
    assert table.loc["long in 2 parts", ["floor", "limit"]].tolist() == [4, "slots"]
    assert table.loc["pool db of 1 for 2 tasks", "limit"] == "pool"
    assert table.loc["long 2 x as fast", "critical_path"] == ["long", "end"]


def test_left_to_itself_it_tries_the_critical_path_and_slots() -> None:
    table = dk.moves(dk.planning.expand(dk.examples.file_fanout(), "process", 6), 4)
    assert table["move"].tolist()[0] == "as it is" and table["move"].tolist()[-2:] == ["5 slots", "7 slots"]
    assert table["sooner"].tolist()[-1] == 3                                 # 10 on four slots, 7 on seven


@pytest.mark.parametrize(("call", "message"), [
    (lambda d: dk.moves(d, 2, faster={"lnog": 2}), "has no task 'lnog'. Did you mean 'long'"),
    (lambda d: dk.moves(d, 2, faster={"long": 0}), r"faster\['long'\] must be a number > 0 and below 2\*\*63, not 0"),
    (lambda d: dk.moves(d, 0), "slots must be a whole number >= 1"),
    (lambda d: dk.split(d, "long", 0), "parts must be a whole number >= 1"),
    (lambda d: dk.pooled_makespan(d, 1, {"p": (0, ["long"])}), "pool 'p': places must be a whole number >= 1"),
    (lambda d: dk.pooled_makespan(d, 1, {"p": 1}), "pool 'p': give its places and its tasks"),
    (lambda d: dk.pooled_makespan(d, 1, {"p": (1, ["long"]), "q": (1, ["long"])}), "'long' is in pool 'p' already"),
])
def test_refusals(call: object, message: str) -> None:
    dag = dk.Dag("d", [dk.Task("long", duration=6)])
    with pytest.raises(dk.DagkitError, match=message):
        call(dag)  # type: ignore[operator]
