"""The symptom game and the incident drill: every case can be solved, by looking, and by one answer only."""

from __future__ import annotations

import re

import pytest

import dagkit as dk
from dagkit import symptoms
from dagkit.symptoms.readings import readings
from dagkit.symptoms.shown import bars, table

odd = pytest.mark.parametrize("key", symptoms.CAUSES)


def odd_components(case):
    return {r.component for r in readings(case) if r.odd}


def test_a_healthy_deployment_shows_nothing_odd():
    for seed in range(4):
        calm = symptoms.broken(seed)
        assert odd_components(calm) == set() and calm.trace == calm.calm and not calm.trace.any_failed


@odd
def test_each_cause_shows_in_its_own_dashboard_and_in_no_other(key):
    case = symptoms.broken(3, key)
    assert odd_components(case) == {symptoms.CAUSES[key].component}
    assert case.trace.log() != case.calm.log() or key == "api server slow" or case.edited


@odd
def test_reasons_of_the_trace_name_the_same_component(key):
    """What the game calls guilty, ``explain`` must call guilty too; it is worked out on another way."""
    codes = {"scheduler dead": "no_scheduler", "pool too small": "pool", "dag paused": "paused",
             "worker lost": "lost_worker", "database slow": "slow_database", "broker down": "broker_down",
             "cluster full": "cluster_full",
             "wrong queue": "no_worker_for_queue", "worker image": "import_error", "triggerer down": "triggerer_down",
             "api server down": "api_server_down", "sensors poke": "worker_slots"}
    case = symptoms.broken(2, key)
    told = {r.code for lines in case.trace.reasons.values() for start, _, r in lines if start <= case.at}
    told |= {r.code for lines in case.trace.reasons.values() for start, _, r in lines if key == "worker image"}
    assert key not in codes or codes[key] in told


@pytest.mark.parametrize("level", (1, 2, 3))
def test_every_case_has_one_answer_and_one_first_check(level):
    for seed in range(12):
        case = symptoms.symptom(seed, level)
        assert [c for c in case.choices if case.reply(c)] == [case.answer]
        assert [c for c in case.checks if case.reply(c)] == [case.first_check]
        assert {clue.component for clue in case.clues} <= set(case.choices)
        if level == 3:                                    # whoever was looked at is healthy, so one is left
            assert {clue.component for clue in case.clues} == set(case.choices) - {case.answer}
            assert not any(clue.odd for clue in case.clues)
        again = symptoms.symptom(seed, level)
        assert repr(again) == repr(case) and again._repr_html_() == case._repr_html_()


def test_nothing_later_than_the_look_is_shown():
    case = symptoms.symptom(1, 2).case
    assert list(table(case)[0])[-1] == f"tick {case.at}"


@pytest.mark.parametrize("level", (1, 2, 3))
def test_an_incident_can_be_solved_by_its_checks_alone(level):
    for seed in range(5):
        drill = symptoms.incident(seed, level)
        assert len(drill.solution) == 1 + (level == 3)
        for component in drill.solution:
            assert any(reading.odd for reading in drill.check(component))
        assert drill.score == 100 - 12 * len(drill.solution)
        assert drill.answer(*drill.solution) and drill.solved
        assert any("tick" in line for line in drill.log())


def test_checks_and_wrong_answers_cost_and_checks_run_out():
    drill = symptoms.incident(5)
    wrong = next(c for c in drill.components if c not in drill.solution)
    assert not drill.answer(wrong) and drill.score == 75
    for component in [c for c in drill.components if c not in drill.solution][:5]:
        drill.check(component)
    drill.check(wrong)                                    # a second look is free
    assert drill.left == 0 and drill.score == 15
    with pytest.raises(dk.DagkitError, match="check: all 5 checks are used. Answer with what you have."):
        drill.check(drill.solution[0])
    assert drill.answer(*drill.solution)


@pytest.mark.parametrize("level", (1, 2, 3))
def test_each_of_the_two_questions_has_a_verdict_of_its_own(level):
    for seed in range(6):
        case = symptoms.symptom(seed, level)
        component, check = str(case.reply(case.answer)), str(case.reply(case.first_check))
        assert component.startswith(f"✓ The component: {case.answer}.") and check.startswith("✓ The first check:")
        assert case.case.say(case.cause.said) in component and case.case.say(case.cause.said) not in check
        assert any(f"{r.name} = {r.value}" in check for r in readings(case.case) if r.odd)


def test_the_bars_begin_where_the_shown_part_begins_and_say_so():
    drawn = bars(symptoms.symptom(1, 1).case)
    told = int(re.search(r"from tick (\d+) to", drawn)[1])
    marks = [int(mark) for mark in re.findall(r'class="dk-axis dk-mid"[^>]*>(\d+)<', drawn)]
    first = min(int(start) for state, start in re.findall(r"<title>[^<]*: (\w+), (\d+) to", drawn) if state != "none")
    assert 0 < told == first - 1 and told <= marks[0] <= first + 1
    assert all(float(x) > 0 for x in re.findall(r'<rect class="dk-seg[^>]* x="([^"]+)"', drawn))


def test_one_check_is_one_check():
    drill = symptoms.incident(1)
    drill.check(drill.solution[0])
    assert "Score 88 with 1 check. " in str(drill.answer(*drill.solution))


def test_half_an_answer_is_told_to_be_half():
    drill = symptoms.incident(3, 3)
    assert "1 of 2 found" in str(drill.answer(drill.solution[0]))
    other = next(c for c in drill.components if c not in drill.solution)
    assert "1 of 2 is right" in str(drill.answer(drill.solution[1], other))


@pytest.mark.parametrize(("call", "words"), [
    (lambda: symptoms.symptom(-1), "symptom: seed must be a whole number >= 0, not -1."),
    (lambda: symptoms.symptom(1, 4), "symptom: level must be 1, 2 or 3, not 4."),
    (lambda: symptoms.symptom(1).reply("brokr"), "is not among the choices."),
    (lambda: symptoms.incident(1).check("brokr"), "check: there is no 'brokr'. Did you mean 'broker'?"),
    (lambda: symptoms.incident(1).answer(), "answer: 'nothing' is not a component."),
    (lambda: symptoms.incident(1, "2"), "incident: level must be 1, 2 or 3, not '2'."),
])
def test_bad_input_is_told_what_to_do(call, words):
    with pytest.raises(dk.DagkitError) as refused:
        call()
    assert words in str(refused.value)
