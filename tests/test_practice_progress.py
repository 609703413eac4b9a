"""Progress is the learner's: never lost, never half written, joined between notebooks; the interview runs on any clock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dagkit as dk
from dagkit.practice import Progress, interview, next_review, review
from dagkit.practice import kept as kept_module
from dagkit.practice.cards import Cards
from dagkit.practice.intervals import INTERVALS
from dagkit.practice.kept import VARIABLE, usual_place
from dagkit.practice.ladders import Ladder
from dagkit.practice.progress_file import NAME, locked, parsed

ROOT = Path(__file__).resolve().parents[1]
DAY = date(2026, 3, 1)


# ---- intervals


def test_intervals_grow_with_each_right_answer():
    answers, day = [], DAY
    for days in INTERVALS[1:]:
        answers.append((day, True))
        assert next_review(answers) == day + timedelta(days=days)
        day = next_review(answers)
    assert next_review([*answers, (day, True)]) == day + timedelta(days=INTERVALS[-1])       # and no further
    assert next_review([*answers, (day, False)]) == day + timedelta(days=INTERVALS[0])       # back to the start
    assert next_review([]) is None


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=1))
def test_order_does_not_matter_and_the_day_lies_ahead(raw):
    by_day = {DAY + timedelta(days=n): ok for n, ok in raw}
    answers = list(by_day.items())
    assert next_review(answers) == next_review(answers[::-1])
    assert next_review(answers) > max(by_day)


# ---- the file


def test_what_is_noted_is_there_for_the_next_notebook(tmp_path):
    path = tmp_path / "deep" / "p.json"
    one = Progress(path, clock=iter(["2026-03-01T10:00:00.000000Z", "2026-03-01T11:00:00.000000Z"]).__next__)
    one.note("3/ring", 3, False, "certain", "some-slip")
    one.note("3/ring", 3, True)
    again = Progress(path)
    assert [e["right"] for e in again.entries] == [False, True]
    assert again.by_lesson() == [{"lesson": 3, "answered": 1, "right": 1, "certain but wrong": 0}]
    # Of two answers on one day the last counts: one right in a row.
    assert again.due(DAY) == [] and again.due(DAY + timedelta(days=3)) == ["3/ring"]
    assert json.loads(path.read_text(encoding="utf-8"))["version"] == 1
    assert [p.name for p in path.parent.iterdir() if p.name.startswith(".")] == []           # nothing half written left


@pytest.mark.parametrize(("text", "words"), [
    (b"{", "is not JSON"), (b"[]", "is no progress file"),
    (b'{"format": "dagkit-progress", "version": 2}', "another version"),
    (b'{"format": "dagkit-progress", "version": 1, "answers": [{"key": 1}]}', "is damaged"), (b"", "is not JSON"),
    (b'{"format": "dagkit-progress", "version": true, "answers": []}', "another version"),
    (b"\xff\xfe\x00", "cannot be read"),
    (b"[" * 100_000, "is not JSON"), (b'{"format": "dagkit-progress", "version": 1, "answers": 3}', "is damaged")])
def test_a_damaged_file_of_ours_is_set_aside_at_the_next_answer_and_said(tmp_path, text, words):
    path = tmp_path / NAME
    for number in (1, 2):                                     # a second one does not overwrite the first
        path.write_bytes(text)
        kept = Progress(path)
        assert words in repr(kept) and path.read_bytes() == text                             # looking changes nothing
        kept.note("1/ring", 1, True)
        aside = path.with_name(f"{path.stem}.aside-{number}.json")
        assert aside.read_bytes() == text and words in kept.said[-1] and aside.name in repr(kept)
        assert len(kept.said) == 1                                                           # no longer "will be"
        assert len(Progress(path).entries) == 1


@pytest.mark.parametrize("text", [b"", b"{", b'{"mine": "dagkit-progress"}', b"\xff\xfe", b"# my notes"])
def test_somebody_elses_file_is_never_touched(tmp_path, text):
    path, home = tmp_path / "mine.json", tmp_path / "p.json"
    path.write_bytes(text)
    one = Progress(path)
    assert str(path) in repr(one) and "left as it is" in repr(one) and VARIABLE in one.said[0]
    one.note("1/ring", 1, True)
    two = Progress(path)
    two.note("1/ring", 1, True)
    assert len(two.entries) == 1
    for forbidden in (Progress(path).delete, lambda: Progress(path).move(home), lambda: Progress(home).move(path)):
        with pytest.raises(dk.DagkitError, match="Name a file of its own"):
            forbidden()
    assert [p.name for p in tmp_path.iterdir()] == ["mine.json"] and path.read_bytes() == text


def test_a_truncated_file_of_ours_is_known_by_its_beginning(tmp_path):
    path = tmp_path / "p.json"
    Progress(path).note("1/ring", 1, True)
    path.write_bytes(path.read_bytes()[:-9])
    Progress(path).note("1/ring", 1, True)
    assert (tmp_path / "p.aside-1.json").exists() and len(Progress(path).entries) == 1


def test_folders_and_devices_are_refused_in_a_sentence(tmp_path):
    kept = Progress(tmp_path)
    assert "is a folder" in repr(kept) and "name a file in DAGKIT_PROGRESS, or off" in repr(kept)
    kept.note("1/ring", 1, True)
    with pytest.raises(dk.DagkitError, match="is a folder"):
        kept.move(tmp_path)
    with pytest.raises(dk.DagkitError, match="is a folder"):
        Progress(tmp_path).delete()
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        assert "is a device or a pipe" in repr(Progress(tmp_path / "pipe"))
    assert "cannot be read" in repr(Progress("a\0b"))
    assert repr(Progress(os.devnull)) == "Progress: 0 answers, kept nowhere." and tmp_path.is_dir()
    with pytest.raises(dk.DagkitError, match="path must be the name of a file"):
        Progress(3)


def test_one_bad_answer_costs_no_other(tmp_path):
    path = tmp_path / "p.json"
    Progress(path).note("1/ring", 1, True)
    whole = json.loads(path.read_text(encoding="utf-8"))
    whole["answers"].append({**whole["answers"][0], "key": "k", "right": 1})
    path.write_text(json.dumps(whole), encoding="utf-8")
    kept = Progress(path)
    assert len(kept.entries) == 1 and "1 of its answers is not as this kit writes" in kept.said[0]
    kept.note("2/ring", 2, True)
    assert len(Progress(path).entries) == 2 and json.loads((tmp_path / "p.aside-1.json").read_text("utf-8")) == whole


@pytest.mark.parametrize("bad", [{"item": 7}, {"item": None}, {"lesson": "1"}, {"lesson": True}, {"lesson": -1},
                                 {"lesson": 10**5000}, {"right": 1}, {"right": None}, {"slip": None}])
def test_note_refuses_what_the_reader_would(tmp_path, bad):
    kept = Progress(tmp_path / "p.json")
    with pytest.raises(dk.DagkitError, match=f"note: {[*bad][0]} must be"):
        kept.note(**{"item": "1/ring", "lesson": 1, "right": True, **bad})
    assert kept.entries == [] and not [*tmp_path.iterdir()]
    with pytest.raises(dk.DagkitError, match="clock must give a moment"):
        Progress(None, clock=lambda: "2026-3-1").note("1/ring", 1, True)


def test_a_lock_that_is_held_is_said_and_nothing_waits_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_module, "WAIT", 0.05)
    path = tmp_path / "p.json"
    kept = Progress(path)
    with locked(path, 0):
        kept.note("1/ring", 1, True)
        kept.note("1/ring", 1, True)
        assert len(kept.entries) == 2 and len(kept.said) == 1 and "in use by another program" in kept.said[0]
    kept.note("1/ring", 1, True)
    assert len(Progress(path).entries) == 3 and kept.said == []


def test_notebooks_at_once_lose_nothing(tmp_path):
    """Three processes, each noting twenty answers, all with the file open from the beginning."""
    code = ("import sys; from dagkit.practice.kept import Progress; p = Progress(sys.argv[1])\n"
            "for k in range(20): p.note(f'{sys.argv[2]}/{k}', 1, True)")
    path = tmp_path / "p.json"
    mine = Progress(path)
    mine.note("mine", 1, True)
    running = [subprocess.Popen([sys.executable, "-c", code, str(path), str(n)], cwd=ROOT) for n in range(3)]
    for _ in range(5):
        mine.note("mine", 1, True)
    assert [one.wait(60) for one in running] == [0] * 3
    assert len(Progress(path).entries) == 3 * 20 + 6 and Progress(path).said == []


def test_move_and_delete(tmp_path):
    kept = Progress(tmp_path / "a.json")
    kept.note("1/ring", 1, True)
    other = Progress(tmp_path / "b.json")
    other.note("1/ring", 1, False)
    kept.move(tmp_path / "b.json")
    assert not (tmp_path / "a.json").exists() and len(kept.entries) == 2
    (tmp_path / "file").write_text("")
    kept.move(tmp_path / "file" / "p.json")                   # cannot be written: nothing is lost
    assert len(Progress(tmp_path / "b.json").entries) == 2 and "could not be written" in kept.said[-1]
    kept.delete()
    assert kept.entries == [] and not (tmp_path / "b.json").exists()
    kept.delete()


def test_a_place_that_cannot_be_written_is_said_and_nothing_breaks(tmp_path):
    (tmp_path / "file").write_text("")
    kept = Progress(tmp_path / "file" / "p.json")
    kept.note("1/ring", 1, True)
    kept.note("1/ring", 1, True)
    assert len(kept.entries) == 2 and "could not be written" in kept.said[0] and VARIABLE in kept.said[0]


def test_where_it_is_kept(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, "off")
    assert usual_place() is None
    monkeypatch.setenv(VARIABLE, str(tmp_path / "x.json"))
    assert usual_place() == tmp_path / "x.json"
    monkeypatch.delenv(VARIABLE)
    assert usual_place() == Path.home() / "dagkit-progress.json"


def test_without_a_home_answers_are_kept_in_memory_and_that_is_said(monkeypatch):
    def nobody(*_):
        raise RuntimeError("Could not determine home directory.")
    monkeypatch.setattr(Path, "home", nobody)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    for named in (None, "~/x.json"):
        monkeypatch.delenv(VARIABLE, raising=False) if named is None else monkeypatch.setenv(VARIABLE, named)
        kept = dk.practice.progress()
        kept.note("1/ring", 1, True)
        assert len(kept.entries) == 1 and kept.path is None and "No home directory is known here" in repr(kept)
    with pytest.raises(dk.DagkitError, match="begins with a home directory that is not known. Write the whole path"):
        kept.move("~/x.json")


def test_a_tilde_is_the_home_directory(monkeypatch, tmp_path):
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    Progress("~/x.json").note("1/ring", 1, True)
    assert (tmp_path / "x.json").exists()


@pytest.mark.skipif(os.name != "posix", reason="links and modes as POSIX has them")
def test_a_link_stays_a_link_and_a_mode_stays_a_mode(tmp_path):
    there, link = tmp_path / "disk" / "p.json", tmp_path / "p.json"
    link.symlink_to(there)                                    # nothing is there yet
    Progress(link).note("1/ring", 1, True)
    there.chmod(0o644)
    Progress(link).note("1/ring", 1, True)
    assert link.is_symlink() and len(Progress(there).entries) == 2 and there.stat().st_mode & 0o777 == 0o644
    there.write_bytes(there.read_bytes()[:-9])
    Progress(link).note("1/ring", 1, True)
    assert link.is_symlink() and (there.parent / "p.aside-1.json").exists() and len(Progress(link).entries) == 1
    with locked(there, 0), pytest.raises(dk.DagkitError), locked(link, 0):                    # one lock for both names
        pass
    Progress(link).delete()
    assert not there.exists() and Progress(link).entries == []


def test_what_a_killed_writer_left_is_swept(tmp_path):
    """Killed between writing and replacing; files of other names are nobody's leftovers."""
    code = ("import os, sys; from pathlib import Path; from dagkit.practice.progress_file import write_whole\n"
            "os.replace = lambda *_: os._exit(9)\nwrite_whole(Path(sys.argv[1]), {})")
    path, mine = tmp_path / "p.json", tmp_path / ".p.json.backup12"
    assert subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, check=False).returncode == 9
    mine.write_text("")
    assert len([*tmp_path.iterdir()]) == 2
    Progress(path).note("1/ring", 1, True)
    assert sorted(p.name for p in tmp_path.iterdir()) == [".p.json.backup12", "p.json", "p.json.lock"]


def test_entries_are_strict():
    good = {"key": "k", "item": "1/ring", "lesson": 1, "at": "2026-03-01T10:00:00.000000Z", "right": True, "sure": "",
            "slip": ""}
    whole = {"format": "dagkit-progress", "version": 1, "answers": [good]}
    assert parsed(json.dumps(whole)) == ({"k": good}, 0)
    for name, bad in [("at", "yesterday"), ("at", "2026-1-1T0:0:0.0Z"), ("at", "٢٠٢٦-03-01T10:00:00.000000Z"),
                      ("at", "9999-12-31T10:00:00.000000Z"), ("at", "2026-02-30T10:00:00.000000Z"), ("right", 1),
                      ("lesson", "1"), ("lesson", -1), ("more", "x")]:
        assert parsed(json.dumps({**whole, "answers": [good, {**good, name: bad}]})) == ({"k": good}, 1)
    assert next_review([(date.max, True)]) == date.max


def test_what_is_due_comes_back_as_cards(tmp_path):
    kept = Progress(tmp_path / "p.json", clock=lambda: "2026-03-01T10:00:00.000000Z")
    kept.note("3/publish-ends", 3, False)
    kept.note("drill/slack/3/1", 1, False)
    for gone in ("3/gone-in-this-version", "drill/makespan/" + "9" * 5000 + "/1", "drill/makespan/7/9", "<script>", ""):
        kept.note(gone, 3, False)
    cards = review(kept, today=DAY + timedelta(days=1))
    assert sorted(item.id for item in cards.items) == ["3/publish-ends", "drill/slack/3/1"]
    assert review(kept, today=DAY).items == [] and "Nothing is due" in repr(review(kept, today=DAY))


# ---- the interview


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def sat(seed, clock, seconds, **more):
    talk = interview(seed, 20, clock=clock, keep=False, **more).start()
    while not talk.over:
        clock.now += seconds
        if talk.over:
            break
        asked = talk.asked
        if asked.form == "open":
            talk.grade([], "certain")
        elif asked.form == "choice":
            talk.answer(asked.reveal().answer.split(". ")[0] if asked.id.startswith("drill") else asked.reveal().answer)
        else:
            talk.skip()
    return talk


def test_same_seed_same_interview_within_its_time():
    ids = [item.id for item in interview(3, keep=False).items]
    assert ids == [item.id for item in interview(3, keep=False).items]
    assert ids != [item.id for item in interview(4, keep=False).items]
    for seed in range(8):
        talk = interview(seed, 20, keep=False)
        assert 15 <= sum(item.minutes for item in talk.items) <= 20 and len({i.id for i in talk.items}) == len(talk.items)
        assert {"choice", "open"} <= {item.form for item in talk.items}
        assert any(item.id.startswith("drill") for item in talk.items)
        assert len({item.lesson for item in talk.items}) >= len(talk.items) - 1
    assert {item.lesson for item in interview(1, 10, lessons=[5], keep=False).items} == {5}


def test_the_report_says_what_to_review():
    clock = Clock()
    report = sat(3, clock, 60).report()
    wrong = [one.item.lesson for one in report.answered if not one.right]
    assert set(report.review) == set(wrong) and report.left == ()
    certain = sum(one.sure == "certain" for one in report.answered)
    assert f"Certain and wrong: {certain}." in repr(report)
    assert f"{report.right} of {len(report.answered)} right" in repr(report)
    assert all(f"dk.practice.ladder({n})" in report._repr_html_() for n in report.review)
    assert {row["seconds"] for row in report.rows()} == {60}


def test_time_runs_out():
    clock = Clock()
    talk = sat(3, clock, 500)
    assert len(talk.answered) == 2 and talk.left == 0
    assert f"Not reached: {len(talk.items) - 2}." in repr(talk.report()) and "Longer than planned" in repr(talk.report())
    with pytest.raises(dk.DagkitError, match="the interview is over"):
        talk.skip()


def test_misconceptions_come_back_in_the_report():
    talk = interview(5, 60, lessons=[3], keep=False, clock=Clock())
    while not talk.over:
        asked = talk.asked
        if asked.id == "3/publish-ends":
            talk.answer("failed", "certain")
            break
        talk.skip()
    assert any("upstream_failed is a failure of that task" in line for line in talk.report().misconceptions)


@pytest.mark.parametrize(("arguments", "words"), [
    ({"seed": -1}, "seed must be"), ({"minutes": 1}, "minutes must be"), ({"minutes": True}, "minutes must be"),
    ({"lessons": [99]}, "no ladder for lesson 99"), ({"lessons": 5}, "must be a list"),
    ({"lessons": []}, "must be a list")])
def test_interview_refusals(arguments, words):
    with pytest.raises(dk.DagkitError, match=words):
        interview(**arguments)


# ---- cards: what the browser is told, and when


def test_no_answer_leaves_python_before_it_was_committed_to():
    cards = Ladder(3, Progress(None)).cards()
    told = json.dumps(cards.get_state(["deck", "replies", "title", "at"]))
    # The words of the reply to the right choice, and of the key of an open question.
    assert "settled in the same pass" not in told and "Only leaves" not in told
    for nonsense in (None, 7, {}, {"do": "answer"}, {"do": "answer", "at": 99}, {"do": "answer", "at": True},
                     {"do": "hear", "at": 0}, {"do": "grade", "at": 0, "points": [1]}):
        cards.hear(nonsense)
    assert cards.replies == {}
    cards.hear({"do": "hint", "at": 0})
    assert len(cards.replies["0"]["hints"]) == 1 and cards.replies["0"]["stage"] == "asked"
    cards.hear({"do": "answer", "at": 0, "given": "failed", "sure": "certain"})
    reply = cards.replies["0"]
    assert reply["stage"] == "told" and reply["ok"] is False
    assert "You were certain" in reply["said"] and "See it played" in reply["said"]
    cards.hear({"do": "answer", "at": 0, "given": "upstream_failed"})
    assert cards.replies["0"] is reply or cards.replies["0"] == reply                        # committed is committed


def test_open_questions_are_graded_by_the_learner():
    kept = Progress(None)
    cards = Ladder(3, kept).cards()
    at = next(k for k, item in enumerate(cards.items) if item.form == "open")
    cards.hear({"do": "answer", "at": at, "given": "<b>mine</b>", "sure": "fairly sure"})
    assert cards.replies[str(at)]["stage"] == "grade" and kept.entries == []
    cards.hear({"do": "grade", "at": at, "points": [1, 2, 3, "x", 99]})
    assert cards.replies[str(at)]["ok"] is True and kept.entries[0]["right"] and kept.entries[0]["sure"] == "fairly sure"


def test_training_deals_the_same_cards_to_a_whole_room():
    one, two = dk.practice.training(5, 4), dk.practice.training(5, 4)
    assert one.deck == two.deck and len(one.deck) == 4 and one.twin() == two.twin()


def test_a_drill_may_be_tried_again_and_counts_once():
    kept = Progress(None)
    one = dk.practice.item("drill/makespan/7/1")
    cards = Cards([one], "one", kept)
    cards.hear({"do": "answer", "at": 0, "given": "nonsense"})
    assert kept.entries == [] and cards.replies["0"]["ok"] is None
    cards.hear({"do": "answer", "at": 0, "given": "1"})
    assert cards.replies["0"]["stage"] == "again"
    cards.hear({"do": "answer", "at": 0, "given": one.reveal().answer})
    assert cards.replies["0"]["stage"] == "told" and cards.replies["0"]["ok"]
    assert [e["right"] for e in kept.entries] == [False]


def test_an_interview_on_cards_goes_in_order_and_ends_with_the_report():
    clock = Clock()
    talk = interview(3, 20, clock=clock, keep=False)
    cards = talk.cards()
    cards.hear({"do": "answer", "at": 1, "given": "x"})
    assert cards.replies == {} and talk.left == 1200
    cards.hear({"do": "start"})
    clock.now += 30
    cards.hear({"do": "skip", "at": 0})
    assert cards.replies["0"]["stage"] == "told" and talk.left == 1170 and "Answer" not in cards.replies["0"]["said"]
    clock.now += 2000
    cards.hear({"do": "stop"})
    assert "Not reached" in cards.report
