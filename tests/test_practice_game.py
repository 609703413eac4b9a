"""You are the scheduler: legal play is accepted, illegal play is refused with its reason; the engine agrees on both."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dagkit as dk
from dagkit.practice import Game, puzzle
from dagkit.practice.board import Board, face
from dagkit.practice.dice import Dice
from dagkit.practice.worlds import random_dag


def small():
    dag = dk.Dag("d", [dk.Task("a", duration=2, pool="db"), dk.Task("b", pool="db"), dk.Task("c", "b", duration=2)])
    return Game.of(dk.Scenario(dag, pools={"db": 1}), slots=2)


def test_refusals_give_the_reason_and_change_nothing():
    game = small()
    assert game.ready == ["a", "b"] and game.bound == 3
    assert "c cannot be queued at tick 1: it waits for b." in repr(game.queue("c"))
    assert game.queue("a").ok
    assert "pool db has 1 of 1 slots taken, and it needs 1" in repr(game.queue("b"))
    assert "it runs since tick 1" in repr(game.queue("a"))
    assert "there is no such task. Known: a, b, c" in repr(game.queue("zz"))
    assert game.started == {"a": 1} and len(game.refused) == 4
    assert game.go().go().ended == {"a": 3} and "it is done since tick 3" in repr(game.queue("a"))
    assert "all 1 slots are taken by a" in repr((lambda g: (g.queue("a"), g.queue("b"))[1])(
        Game.of(dk.Dag("d", [dk.Task("a"), dk.Task("b")]), slots=1)))


def test_waiting_for_nothing_is_refused():
    game = small()
    with pytest.raises(dk.DagkitError, match="nothing runs, so waiting changes nothing. Queue one of: a, b"):
        game.go()
    game.play("longest_path")
    with pytest.raises(dk.DagkitError, match="the game is over since tick"):
        game.go()


@given(st.integers(0, 200), st.integers(1, 3), st.data())
def test_any_legal_schedule_is_accepted_and_the_engine_plays_the_same(seed, slots, data):
    """A player who picks at random among what is ready, and may idle. The engine, with gates opened at the same ticks,
    starts and ends every task at the same ticks; no schedule beats the bound."""
    dag = random_dag(Dice("game-test", seed), 2)
    game = Game.of(dk.Scenario(dag, pools={"db": 1}), slots=slots)
    while not game.over:
        for task in data.draw(st.permutations(game.ready)):
            if not game.running or data.draw(st.booleans()):
                game.queue(task)
        game.go()
    score, trace = game.score, game.trace
    assert score.took >= score.bound
    for task, start in game.started.items():
        ticks = {state: tick for tick, state in trace.changes[trace.labels.index(task)]}
        assert (ticks["running"], ticks["success"]) == (start, game.ended[task])
    busy = [sum(s <= t < game.ended[k] for k, s in game.started.items()) for t in range(1, game.tick)]
    assert max(busy) <= slots


@pytest.mark.parametrize("level", [1, 2, 3])
def test_the_built_in_policy_is_the_simulator(level):
    for seed in range(3):
        game = puzzle(seed, level).play("airflow")
        assert game.score.took == game.score.built_in and not game.refused
        better = puzzle(seed, level).play("longest_path")
        assert better.score.took < better.score.built_in
        assert repr(puzzle(seed, level)) == repr(puzzle(seed, level))


def test_own_policies_are_checked_the_same_way():
    def greedy(game):
        return game.ready
    assert small().play(greedy).score.took == 2 + 1 + 2      # a holds the pool, then b, and c after it

    def wrong(game):
        return ["zz", "c", *game.waiting]
    score = small().play(wrong).score
    assert score.refused and all("cannot be queued" in line for line in score.refused) and "illegal picks" in repr(score)
    with pytest.raises(dk.DagkitError, match="your policy queued nothing at tick 1.*Return at least one of: a, b"):
        small().play(lambda game: [])
    with pytest.raises(dk.DagkitError, match="your policy failed at tick 1: ZeroDivisionError"):
        small().play(lambda game: 1 / 0)
    with pytest.raises(dk.DagkitError, match="your policy failed"):
        small().play(lambda game: None)
    small().play(lambda game: itertools.chain(game.waiting, itertools.repeat("a")))      # endless is cut off
    with pytest.raises(dk.DagkitError, match="there is no policy 'longest'"):
        small().play("longest")


@pytest.mark.parametrize(("scenario", "words"), [
    (dk.examples.orders(), "outcomes, durations, faults"),
    (dk.Dag("d", [dk.Task("a", trigger_rule="all_done")]), "a rule or a wait of its own"),
    (dk.Scenario(dk.Dag("d", [dk.Task("a")]), runs=2), "one run"),
    (dk.Dag("d", [dk.Task("a", pool_slots=200)]), "could never run")])
def test_what_the_game_has_no_rules_for(scenario, words):
    with pytest.raises(dk.DagkitError, match=words):
        Game.of(scenario)


def test_the_board_plays_by_messages():
    board = Board(small())
    for nonsense in (None, 3, {}, {"do": "queue"}, {"do": "queue", "task": 9}, {"do": "queue", "task": True},
                     {"do": "__init__"}):
        board.hear(nonsense)
    assert board.game.started == {}
    board.hear({"do": "queue", "task": 2})
    assert "it waits for b" in board.said
    board.hear({"do": "go"})
    assert "nothing runs" in board.said
    board.hear({"do": "queue", "task": 0})
    board.hear({"do": "go"})
    assert board.board["tick"] == 2 and board.board["tasks"][0]["until"] == 3 and "<svg" in board.board["bars"]
    board.hear({"do": "again"})
    assert board.game.started == {} and board.board["tick"] == 1
    board.game.play("airflow")
    assert "built-in order" in face(board.game)["score"]


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", 'a"b', "a\nb\x00", "\ud800", "x" * 10_000])
def test_hostile_ids_are_text_on_the_board(name):
    game = Game.of(dk.Dag("d", [dk.Task(name), dk.Task("b", name)]))
    board = Board(game)
    board.hear({"do": "queue", "task": 1})
    board.hear({"do": "queue", "task": 0})
    board.hear({"do": "go"})
    html = board.twin() + board.said + board.board["svg"] + board.board["bars"]
    assert "<script" not in html and "\x00" not in html
    html.encode()
