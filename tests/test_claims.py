"""Claims without a database: the interleavings against a second, independent player, and what results say."""

from __future__ import annotations

import ast
import itertools
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import dagkit as dk
from dagkit import claims
from dagkit.claims import STRATEGIES, Lap, Race, Start, interleavings, recorded, steps
from dagkit.claims.hints import design, unguarded
from dagkit.claims.recorded import from_json
from dagkit.claims.server import environment
from dagkit.claims.stepping import book, still
from dagkit.lesson.lessons import find
from dagkit.lesson.lessons import high_availability as demo

HERE = Path(__file__).resolve().parents[1] / "dagkit" / "claims"


# ---- the interleavings ------------------------------------------------------------------------------------------


def safe_without_row_locks():
    """By reasoning, not by our model: only a guard in the UPDATE is looked at again after a wait."""
    return {name for name, how in STRATEGIES.items() if how.guard}


def test_which_strategies_can_start_a_task_twice():
    for rows, batch in itertools.product((1, 2, 3), (1, 2, 3)):
        can = {name for name in STRATEGIES if interleavings(name, rows=rows, batch=batch).can_double}
        assert can == {"unlocked"}
        can = {name for name in STRATEGIES if interleavings(name, rows=rows, batch=batch, row_locks=False).can_double}
        assert can == set(STRATEGIES) - safe_without_row_locks()


def test_the_orders_without_locks_are_counted_by_hand():
    """No lock, no guard, one row: the only orders without a double are those in which one reads after the other's commit.

    A reads, writes, commits; then B reads and finds nothing, before or after A's hand-over: 2 orders, and 2 for B.
    """
    plays = interleavings("unlocked", rows=1)
    assert plays.orders - plays.doubles == 4


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("row_locks", [True, False])
def test_nobody_ever_hangs_and_every_claim_is_handed_over(name, row_locks):
    plays = interleavings(name, row_locks=row_locks, rows=3, batch=2)
    ends = [now for now, ways in plays.moments.items() if not ways]
    assert ends
    for now in ends:
        assert all(side.over for side in now.sides)             # no deadlock: nobody is left waiting
        assert set(now.held) == {None} and now.turn is None     # no lock outlives its transaction
        for state, handed in zip(now.rows, now.handed, strict=True):
            assert (state == "queued") == bool(handed)          # nothing lost, nothing made up


@pytest.mark.parametrize("name", STRATEGIES)
def test_both_schedulers_are_alike(name):
    """Exchanging the names changes nothing: as many orders begin with A as with B."""
    plays = interleavings(name)
    ways = plays.moments[plays.first]
    assert plays._counts[ways[0][1]] == plays._counts[ways[1][1]]


def test_an_example_is_a_bad_order_where_there_is_one():
    for name, locks in itertools.product(STRATEGIES, (True, False)):
        plays = interleavings(name, row_locks=locks)
        last = plays.told(plays.example)[-1][2]
        assert last.double == plays.can_double and not plays.moments[last]


def test_what_cannot_be_is_refused_in_a_sentence():
    with pytest.raises(dk.DagkitError, match="Did you mean 'skip_locked'"):
        interleavings("skip_lock")
    for bad in (0, 5, True, 2.0, "2"):
        with pytest.raises(dk.DagkitError, match="whole number from 1 to 4"):
            interleavings("guarded", rows=bad)
    with pytest.raises(dk.DagkitError, match="cannot be the turn of 'B'"):
        interleavings("for_update").told("ABB")
    with pytest.raises(dk.DagkitError, match="design 'hint' is unknown"):
        design("hint")


def test_the_browser_gets_every_moment_and_only_what_can_follow():
    for each in book().values():
        for graph in (each["locks"], each["none"]):
            for moment in graph["moments"]:
                for who, (after, _) in moment["next"].items():
                    assert graph["moments"][after]["sides"]["AB".index("AB".replace(who, ""))] == \
                        moment["sides"]["AB".index("AB".replace(who, ""))]       # a step moves one scheduler
    json.dumps(book())


def test_the_still_picture_tells_the_same_as_the_words():
    picture, text = still(interleavings("unlocked")), repr(steps("unlocked"))
    assert "runs TWICE" in picture and "runs TWICE" in text and "scheduler A" in picture
    assert picture.count("<tr>") == 1 + len(interleavings("unlocked").example)
    assert "TWICE" not in still(interleavings("guarded", row_locks=False))


# ---- what results say -------------------------------------------------------------------------------------------


def lap(name="unlocked", schedulers=4, doubles=0, left=0):
    return Lap(name, schedulers, rows=100, seconds=0.5, doubles=doubles, waits=0, refused=0, left=left, share=(25,) * 4)


def test_a_race_without_a_control_that_failed_proves_nothing():
    assert not Race((lap("guarded"),)).proved                                     # no control at all
    assert not Race((lap(doubles=0), lap("guarded"))).proved                      # a control that was lucky
    assert not Race((lap(schedulers=1), lap("guarded", 1))).proved                # nobody to meet
    assert not Race((lap(doubles=3), lap("guarded", 2))).proved                   # a control for four, a test of two
    assert "proved nothing" in Race((lap(doubles=0), lap("guarded"))).verdict
    assert Race((lap(doubles=3), lap("guarded"))).proved


def test_a_verdict_names_whoever_claimed_twice():
    said = Race((lap(doubles=3), lap("skip_locked", doubles=1))).verdict
    assert "SKIP LOCKED + guard" in said and "no other" not in said
    assert lap(left=50).rate == 100                                               # 50 of 100 rows in half a second


def test_quantiles_are_nearest_ranks():
    many = Start("", 100, tuple(k / 100 for k in range(1, 101)), 0, 0, 0, 0, 1.0)
    assert (many.quantile(0.5), many.quantile(0.95), many.quantile(1)) == (0.5, 0.95, 1.0)
    assert Start("", 3, (), 0, 0, 0, 3, 1.0).quantile(0.5) == float("inf")        # nothing started: no flattering 0


def test_the_recorded_result_is_whole_and_proves_something():
    found = recorded()
    assert from_json(found.to_json()) == found
    assert found.race.proved and {lap.strategy for lap in found.race.laps} == set(STRATEGIES)
    assert all(lap.left == 0 for lap in found.race.laps)
    assert all(lap.doubles == 0 for lap in found.race.laps if lap.strategy != "unlocked")
    for struck in found.takeovers:
        assert struck.lost == 0 and (struck.twice == 0) == struck.guarded
        assert "after commit" not in struck.point or struck.seconds >= struck.threshold
    for start in found.starts:
        bad = start.design.endswith("no guard")
        assert len(start.latencies) == start.tasks and list(start.latencies) == sorted(start.latencies)
        assert (start.twice > 0) == bad and (bad or start.missing == 0)


def test_the_recorded_ratios_are_what_the_lesson_claims():
    """About the file that ships, not about the machine that runs the test."""
    found = recorded()
    skip, others = found.race.ratios().values()
    assert skip >= 2.2 and others >= 2
    assert found.start("hints").quantile(0.95) * 30 <= found.start("polling, workers pushed").quantile(0.95)


def test_a_control_differs_in_the_guard_alone():
    name = "hints, worker cut off"
    assert replace(unguarded(name), guarded=True, name=name) == design(name)


def test_nothing_here_imports_the_engine():
    """Of the package only what everything speaks in is reached, and this part itself."""
    for path in sorted(HERE.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 2:
                assert node.module in ("errors", "checks", "keywords", "widget"), f"{path.name}:{node.lineno}"
            if isinstance(node, ast.Import):
                assert not any(alias.name.startswith("dagkit") for alias in node.names)


# ---- lesson 8 ---------------------------------------------------------------------------------------------------


def test_the_lessons_answers_are_computed():
    assert {name: find(name).right for name in demo.ASKS} == {
        "unlocked": "in most of them", "guard": "B waits for A, then changes 0 rows",
        "wait_or_skip": "about as fast as one", "airflow_speed": "about as fast as one",
        "scheduler_killed": "after the health threshold", "scheduler_cut_off": "it is refused", "no_locks": "2"}
    assert [question.right for question in demo.TEST] == [
        "whoever gets a lock; the other skips its turn", "B changes 0 rows"]


def test_what_is_recorded_says_so_and_how_to_measure_again(capsys):
    for shown in (demo.race(), demo.struck()):
        assert "not measured just now" in repr(shown) and "python -m dagkit.claims" in shown._repr_html_()
    demo.measure(False)
    assert "Not measured now" in capsys.readouterr().out


# ---- the address of an existing database ------------------------------------------------------------------------


@pytest.mark.parametrize("dsn", [
    "postgres//me:s3cret@db/kit", "postgresql://me:s3cret@/x@db/kit", "postgresql://me:s3cret/x@db/kit",
    "postgresql://me:x@s3cret@db/kit", "postgresql://me:7/s3cret@db", "host=db password=x s3cret", "s3cret"])
def test_an_address_that_cannot_be_read_is_not_repeated(dsn):
    pytest.importorskip("psycopg")
    with pytest.raises(dk.DagkitError, match="cannot be read") as told:
        claims.start(dsn)
    assert "s3cret" not in str(told.value) and told.value.__cause__ is None


@pytest.mark.skipif(os.name != "posix", reason="the keeper is a POSIX process")
def test_a_password_is_neither_in_the_keepers_command_line_nor_in_a_refusal(monkeypatch):
    pytest.importorskip("psycopg")
    started, popen = [], subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda command, **more: started.append(command) or popen(command, **more))
    with pytest.raises(dk.DagkitError, match="no database") as told:
        claims.start("postgresql://s3cret:s3cret@%2Fs3cret/kit?connect_timeout=2")   # PostgreSQL names folder and user
    assert started and "s3cret" not in repr(started) and "s3cret" not in str(told.value)


@pytest.mark.skipif(os.name != "posix", reason="the keeper is a POSIX process")
def test_a_keeper_whose_parent_is_gone_ends_without_a_word():
    for told in (b"", b'{"kind": "existing", "where": "port=?", "schema": "dagkit_x"}\n'):
        keeper = subprocess.Popen([sys.executable, "-P", "-m", "dagkit.claims.keeper"], env=environment(),
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        keeper.stdout.close()                               # nobody will read the answer
        keeper.stdin.write(told)
        keeper.stdin.close()
        assert keeper.stderr.read() == b"" and keeper.wait(30) == 0
        keeper.stderr.close()
