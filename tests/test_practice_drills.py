"""Drills: same seed, same bytes; answers in any usual notation; what is right is checked against other means."""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import networkx as nx
import pytest

import dagkit as dk
from dagkit.__main__ import main
from dagkit.planning import critical_path, makespan
from dagkit.practice import drill, kinds, notation, sheet
from dagkit.practice.choosing_kinds import EXECUTORS, Load, chosen, played
from dagkit.practice.content import misconceptions
from dagkit.practice.dice import Dice

ROOT = Path(__file__).resolve().parents[1]
SEEDS = range(5)
EVERY = [(kind, level) for kind in kinds() for level in (1, 2, 3)]


def test_an_unknown_kind_is_told_the_kinds_in_the_order_of_the_list():
    with pytest.raises(dk.DagkitError, match=f"Known: {', '.join(kinds())}[.]"):
        drill("nothing of the kind")


def test_all_ten_kinds_are_there():
    assert sorted(kinds()) == sorted(["next_wave", "critical_path", "slack", "makespan", "saturation", "state", "limit",
                                      "final_states", "executor", "symptom"])


@pytest.mark.parametrize(("kind", "level"), EVERY)
def test_the_words_on_how_to_write_an_answer_hold_none(kind, level):
    for seed in range(8):
        one = drill(kind, seed, level)
        for written in [one.posed.write, *one.posed.write.split("`")[1::2]]:
            assert not one.answer(written).ok
        assert not any(letter.isdigit() for letter in one.posed.write)


@pytest.mark.parametrize(("kind", "level"), EVERY)
def test_the_right_answer_is_right_and_the_worked_one_says_it(kind, level):
    for seed in SEEDS:
        one = drill(kind, seed, level)
        verdict = one.answer(one.posed.right)
        assert verdict.ok and verdict.text, (seed, verdict)
        assert one.posed.right.split(",")[0].split(" > ")[0] in repr(one.reveal())
        assert one.posed.offered == () or one.posed.right in one.posed.offered


@pytest.mark.parametrize(("kind", "level"), EVERY)
def test_wrong_answers_are_told_what_makes_them_wrong(kind, level):
    """Whatever is answered: never a traceback, never a bare no, and never the right answer as a gift."""
    for seed in SEEDS:
        one = drill(kind, seed, level)
        for given in [*one.posed.offered, 0, 1, 99, "a", ["a", "b"], "b > a", "none", "queued", "failed", "a=failed",
                      {"j": "failed"}, "", None, object(), float("nan"), b"x", "x" * 5000, "<script>\x00"]:
            verdict = one.answer(given)
            assert len(verdict.text) > 10 and "Traceback" not in repr(verdict)
            if verdict.ok is False:
                slip = verdict.misconception
                assert not slip or slip in misconceptions(), slip


def test_typical_numbers_are_told_the_thought_behind_them():
    """The wrong numbers that people reach by a plausible way, worked out here from the Dag alone."""
    seen = set()
    for seed in range(30):
        for level in (1, 2, 3):
            dag = drill("makespan", seed, level).posed.dag
            work = sum(task.duration for task in dag)
            for slots in (2, 3):
                seen.add(drill("makespan", seed, level).answer(math.ceil(work / slots)).misconception)
                seen.add(drill("makespan", seed, level).answer(makespan(dag, slots, first="critical_path")).misconception)
            one = drill("saturation", seed, level)
            path = critical_path(one.posed.dag).length
            seen |= {one.answer(len(one.posed.dag)).misconception,
                     one.answer(math.ceil(sum(task.duration for task in one.posed.dag) / path)).misconception}
            one = drill("slack", seed, level)
            seen |= {one.answer(n).misconception for n in range(one.posed.right.isdigit() and int(one.posed.right))}
    assert {"work-divides-evenly", "best-order-is-taken", "a-slot-for-every-task", "work-over-path-is-saturation",
            "no-task-may-be-late", "slack-ends-at-the-next"} <= seen


def test_same_seed_same_bytes_in_another_process():
    """Byte for byte, whatever the hash seed."""
    code = ("import hashlib; from dagkit.practice import drill, kinds; "
            "text = ''.join(f'{drill(k, s, 2)!r}{drill(k, s, 2).reveal()!r}' + drill(k, s, 2)._repr_html_() "
            "for k in kinds() for s in (0, 3)); print(hashlib.sha256(text.encode()).hexdigest())")
    here = "".join(f"{drill(k, s, 2)!r}{drill(k, s, 2).reveal()!r}" + drill(k, s, 2)._repr_html_()
                   for k in kinds() for s in (0, 3))
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT,
                         env={"PYTHONHASHSEED": "123", "PATH": "", "PYTHONPATH": str(ROOT)})
    assert out.stdout.strip() == hashlib.sha256(here.encode()).hexdigest()
    assert len({repr(drill("makespan", seed)) for seed in range(20)}) > 15


def test_dice_are_fair_enough_and_fixed():
    throws = [Dice("x", n).between(1, 6) for n in range(600)]
    assert set(throws) == {1, 2, 3, 4, 5, 6} and max(map(throws.count, range(1, 7))) < 160
    # The Mersenne Twister seeded with text by SHA-512, as Python documents it: fixed across versions.
    assert [Dice("a").between(0, 9) for _ in range(2)] == [Dice("a").between(0, 9)] * 2
    assert Dice("b").some("abcdef", 3) == sorted(Dice("b").some("abcdef", 3))


# ---- the right answer, by other means


def graph(dag):
    found = nx.DiGraph(dag.edges)
    found.add_nodes_from(dag.tasks)
    for task in dag:
        for below in dag:
            if task.task_id in below.upstream:
                found.edges[task.task_id, below.task_id]["weight"] = task.duration
    return found


@pytest.mark.parametrize("seed", range(8))
def test_critical_path_and_slack_agree_with_networkx(seed):
    one = drill("critical_path", seed, 2)
    dag = one.posed.dag
    sink = graph(dag)
    sink.add_weighted_edges_from((t.task_id, "end", t.duration) for t in dag)
    length = nx.dag_longest_path_length(sink)
    path = one.posed.right.split(" > ")
    assert sum(dag[t].duration for t in path) == length and all(a in dag[b].upstream for a, b in pairwise(path))
    slack = drill("slack", seed, 2)
    task = slack.posed.question.split("longer may ")[1].split(" take")[0]
    spare = int(slack.posed.right)
    lengths = [dk.critical_path(dk.what_if(slack.posed.dag, **{task: slack.posed.dag[task].duration + more})).length
               for more in (0, spare, spare + 1)]
    assert lengths[0] == lengths[1] < lengths[2]


@pytest.mark.parametrize("seed", range(6))
def test_makespan_agrees_with_the_simulator(seed):
    """Two engines: the planner's list schedule, and ticks without hand-over, tasks declared by name."""
    one = drill("makespan", seed, 3)
    dag, slots = one.posed.dag, int(one.posed.situation[0].split()[0])
    plain = dk.Dag("d", [dk.Task(t.task_id, t.upstream, duration=t.duration, weight_rule="absolute") for t in dag])
    # Task order is by name here: letters are declared in order, and an upstream always comes before.
    trace = dk.simulate(plain, config=dk.Config(parallelism=slots), executor=dk.LocalExecutor(handover=0))
    assert trace.last_tick - 1 == int(one.posed.right)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_exactly_one_limit_blocks(level):
    """Giving the named limit more room, and no other, changes the reason at that tick."""
    for seed in range(6):
        one = drill("limit", seed, level)
        words = [one.answer(name) for name in one.posed.offered]
        assert [v.ok for v in words].count(True) == 1
        full = [v.text for v in words if v.ok is False and "does not get as far" in v.text]
        assert not full or one.posed.right in ("max_active_runs", "worker_slots")


def test_next_wave_is_what_a_topological_sorter_offers():
    from graphlib import TopologicalSorter
    for seed in range(10):
        one = drill("next_wave", seed, 2)
        done = set(one.posed.situation[0].removeprefix("Done: ").split(".")[0].replace(" and ", ", ").split(", "))
        sorter = TopologicalSorter({t.task_id: t.upstream for t in one.posed.dag})
        sorter.prepare()
        offered = set()
        while fresh := sorter.get_ready():
            offered |= set(fresh) - done
            sorter.done(*(t for t in fresh if t in done))
        assert set(one.posed.right.split(", ")) == offered


def test_final_states_rest_on_the_recorded_rules():
    """Each asked task against the rule's own table, asked directly; the table itself is held to recorded cases."""
    for seed in range(10):
        one = drill("final_states", seed, 1)
        dag = one.posed.dag
        final = {"succeeds": "success", "fails": "failed", "skips itself": "skipped"}
        told = dict(part.split(" ", 1) for part in one.posed.situation[0].split(".")[0].replace(" and ", ", ").split(", "))
        join = dag["j"]
        verdict = dk.trigger_rules.evaluate(join.trigger_rule, [final[told[u]] for u in join.upstream])
        assert one.posed.right == f"j={'success' if verdict == 'run' else verdict}"


# ---- executors


def test_each_executor_is_somebodys_answer_and_all_tasks_of_a_comparison_succeed():
    right = {drill("executor", seed, 3).posed.right for seed in range(40)}
    assert right == set(EXECUTORS)
    found = played(5)
    # Ten rounds of sixteen: five seconds of work each, once with a start of one and once with twenty before every task.
    assert found["CeleryExecutor"] < 10 * (5 + 1) + 2 and found["KubernetesExecutor"] == 10 * (5 + 20) + 1


def test_the_usual_chart_agrees_wherever_work_is_not_remote():
    from dagkit.choice import recommend
    for seed in range(30):
        load = Load(200, 60, 4 + seed, 1, 12, images=1 + 4 * (seed % 3 == 0))
        enough = load.peak <= load.machine and load.images == 1
        answers = {"one_machine": enough, "still_enough": True, "isolation": load.images > 1, "short": True,
                   "remote": False, "mixed": False}
        assert chosen(load) == f"{recommend(answers).executor}Executor"
    # The chart asks for the place last; the drill asks first.
    assert chosen(Load(200, 60, 40, 1, 12, images=5, remote=True)) == "EdgeExecutor"


# ---- notations


@pytest.mark.parametrize("given", ["[a, b]", "a b", "a, b", {"a", "b"}, ("a", "b"), ["a", "b"], "{'a', 'b'}", "a and b",
                                   '["a", "b"]', "a;b", "a + b", "a -> b", "a>b"])
def test_names(given):
    assert notation.names(given, ["a", "b", "c"]) == ["a", "b"]


@pytest.mark.parametrize("given", [7, 7.0, "7", " 7 ticks", "7 minutes.", "= 7", "about 7", "7,0"])
def test_numbers(given):
    assert notation.number(given) == 7


@pytest.mark.parametrize("given", [10**400, "9" * 1900, "seven", "7 or 8", True, None, [7], float("inf"), "", "7a8"])
def test_no_number(given):
    with pytest.raises(dk.DagkitError, match="looked for"):
        notation.number(given)


@pytest.mark.parametrize("given", [
    {"j": "up_for_retry", "k": "Skipped"}, "j=up for retry, k=skipped", "j: up-for-retry; k: skipped",
    ["up_for_retry", "skipped"], "up_for_retry, skipped", "{j: 'up_for_retry', k: 'skipped'}", "j up for retry\nk skipped"])
def test_states(given):
    assert notation.state_of_each(given, ["j", "k"]) == {"j": "up_for_retry", "k": "skipped"}


def test_what_is_not_understood_names_what_is_known():
    with pytest.raises(dk.DagkitError, match="'skiped' is no state. Did you mean 'skipped'"):
        notation.state("skiped")
    with pytest.raises(dk.DagkitError, match="there is no 'x' here"):
        notation.names("x", ["a", "b"])
    with pytest.raises(dk.DagkitError, match="is not one of the answers. Did you mean 'worker slots'"):
        notation.one_of("worker slot", {"worker_slots": [], "pool": []})


@pytest.mark.parametrize(("arguments", "words"), [
    (("jump",), "there is no kind 'jump'"), (("makespan", -1), "seed must be a whole number >= 0"),
    (("makespan", 1.5), "seed must be"), (("makespan", 1, 4), "level must be 1, 2 or 3"), ((3,), "there is no kind 3")])
def test_refusals(arguments, words):
    with pytest.raises(dk.DagkitError, match=words):
        dk.drill(*arguments)


def test_a_sheet_is_the_same_for_the_whole_room():
    assert [repr(one) for one in sheet(4, 12)] == [repr(one) for one in sheet(4, 12)]
    assert [one.kind for one in sheet(4, 12)][:10] == kinds() and sheet(4, 12)[10].seed == 5
    with pytest.raises(dk.DagkitError, match="count must be"):
        sheet(1, 0)


# ---- in a terminal


@pytest.mark.parametrize("name", ["slack", "makespan", "saturation"])
def test_the_example_of_a_number_is_never_the_answer(name):
    told = repr(drill(name, 7).answer("foo"))
    assert "cannot be read" in told and not any(map(str.isdecimal, told))


def test_drill_in_a_terminal(capsys):
    right = drill("makespan", 7).posed.right
    assert main(["drill", "makespan", "--seed", "7"]) == 0
    assert capsys.readouterr().out == f"{drill('makespan', 7)!r}\n"
    assert main(["drill", "makespan", "--seed", "7", "--answer", f"{right} ticks"]) == 0
    assert capsys.readouterr().out.startswith("✓ Right.")
    assert main(["drill", "makespan", "--seed", "7", "--answer", "1", "--reveal"]) == 1
    assert f"Answer: {right}" in capsys.readouterr().out
    assert main(["drill", "--list"]) == 0 and len(capsys.readouterr().out.splitlines()) == 10
    assert main(["drill", "jump"]) == 2 and "there is no kind 'jump'" in capsys.readouterr().err
