"""The classroom: demos with keys, scripts and hand-outs, and the class view of what people believe."""

from __future__ import annotations

import csv
import io
import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pytest

import dagkit as dk
from dagkit import classroom
from dagkit.classroom.results import COLUMNS, armed, defused, text_of
from dagkit.errors import DagkitError, FormatError
from dagkit.practice import Progress, sheet
from dagkit.practice.content import misconceptions

ROOT = Path(__file__).resolve().parents[1]


@cache
def made(name: str) -> Any:
    """A demo, made once, and only by the process that tests it."""
    return classroom.demo(name)


HOSTILE = ('<script>alert(1)</script>', '=HYPERLINK("http://x")', "a\nb", "\ud800", "x" * 10_000, "'=1", '"; drop')


@pytest.fixture(params=classroom.demos())
def demo(request: Any) -> Any:
    found = made(request.param)
    found.now = 0
    return found


# ---- demos ---------------------------------------------------------------------------------------------------------


def test_a_demo_takes_less_than_ten_minutes_and_has_a_question_keys_and_a_script(demo: Any) -> None:
    assert demo.minutes < 10
    assert 3 <= len(demo.staged) <= 9 and all(one.say and one.watch for one in demo.staged)
    assert demo.question.right in demo.question.replies and len(demo.question.replies) >= 3
    script = demo.script()._repr_html_()
    keys = re.findall(r"<tr><td>(\d+):(\d\d)</td><td>(?:<kbd>(\d)</kbd>)?", script)
    assert [key for *_, key in keys] == [*map(str, range(len(demo.staged) + 1)), ""]
    times = [int(m) * 60 + int(s) for m, s, _ in keys]
    assert times[0] == 0 and times == sorted(set(times)) and times[-1] + 60 == demo.minutes * 60


def test_no_situation_tells_the_answer_before_it_is_looked_at(demo: Any) -> None:
    """What the room reads asks; only the presenter's words and the replies answer."""
    asks = ("?", "Watch", "Press", "Find", "Keep")
    assert all(any(word in one.watch for word in asks) for one in demo.staged)
    front = json.dumps(demo.situations)
    assert not any(one.say in front for one in demo.staged)


def test_no_scheduler_has_moved_that_the_room_is_asked_about() -> None:
    asked = [one for one in made("two_schedulers").staged if re.search(r"What (can|does) B do", one.watch)]
    assert len(asked) == 2 and all(one.state["order"] and "B" not in one.state["order"] for one in asked)
    assert all("→" in one.say for one in asked)               # the key that shows it is in the script


def test_a_key_in_code_goes_to_its_situation(demo: Any) -> None:
    page = demo.stage(2)
    assert demo.now == 2 and demo.staged[1].title in page.text and demo.staged[1].still in page.html
    assert demo.stage(0).text.startswith("Predict") and demo.now == 0
    for wrong in (len(demo.staged) + 1, -1, "2", True):
        with pytest.raises(DagkitError, match="stage"):
            demo.stage(wrong)


class _Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.addresses += [value for key, value in attrs if key in ("src", "href") and value]


def test_a_hand_out_is_one_file_that_asks_the_network_for_nothing(demo: Any, tmp_path: Path) -> None:
    path = demo.to_html(tmp_path / "demo.html")
    text = path.read_text(encoding="utf-8")
    seen = _Seen()
    seen.feed(text)
    assert [address for address in seen.addresses if not address.startswith("#")] == []
    assert "import " not in re.sub(r"//.*|/\*.*?\*/", "", text.split('<script type="module">')[1])
    assert "export default" not in text and "@import" not in text
    state = json.loads(text.split('id="dk-state">')[1].split("</script>")[0])
    assert [one["title"] for one in state["situations"]] == [one.title for one in demo.staged]
    assert demo.handout() == classroom.demo(demo.name).handout()                  # same demo, same bytes
    with pytest.raises(DagkitError, match="cannot write"):
        demo.to_html(tmp_path)


def test_a_hand_out_is_written_when_the_button_is_pressed_and_not_before(
        demo: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    panel = demo.hand_out()
    shown = panel._repr_mimebundle_()
    assert [*tmp_path.iterdir()] == [] and f"demo.to_html(&quot;{demo.name}.html&quot;)" in shown["text/html"]
    button = panel.box.children[0]
    button.click()
    assert (tmp_path / f"{demo.name}.html").read_text(encoding="utf-8") == demo.handout()
    assert f"Written: {demo.name}.html, " in panel.said.value and f"in {tmp_path.name}/." in panel.said.value
    (tmp_path / f"{demo.name}.html").unlink()
    (tmp_path / f"{demo.name}.html").mkdir()
    button.click()
    assert "cannot write" in panel.said.value


def test_the_static_twin_asks_and_shows_every_situation(demo: Any) -> None:
    page = demo.twin()
    assert all(one.still in page for one in demo.staged) and "<script" not in page
    assert page.count('class="dl-choice"') == len(demo.question.replies)


def test_an_unknown_demo_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(DagkitError, match="Did you mean 'flood'"):
        classroom.demo("floods")
    with pytest.raises(DagkitError, match="no demo"):
        classroom.demo(["flood"])  # type: ignore[arg-type]


def test_each_demo_shows_what_its_title_says() -> None:
    """Held to the recorded rules, not to the demo's own words."""
    worker, pool, other, ever = (one.state["replay"] for one in made("stall").staged)
    assert [replay["verdict"]["run_state"] for replay in (worker, pool, other)] == ["success"] * 3
    assert ever["warnings"]
    assert made("stall").question.right == "queued"
    for name, right in (("lost_worker", "running"), ("two_schedulers", "in most of them"), ("hints", "it succeeds, later"),
                        ("sensors", "at tick 22")):              # the files come after 20 ticks, seen by the poke at 22
        assert made(name).question.right == right
    assert made("lost_worker").staged[-1].state["replay"]["verdict"]["run_state"] == "failed"
    assert made("lost_worker").staged[-2].state["replay"]["verdict"]["run_state"] == "success"


def test_each_demo_has_a_notebook_that_shows_it_and_the_first_page_names_it() -> None:
    books = sorted((ROOT / "notebooks" / "classroom").glob("*.ipynb"))
    assert [book.stem for book in books] == [f"{n}_{name}" for n, name in enumerate(classroom.demos(), 1)]
    first = (ROOT / "notebooks" / "00_start_here.ipynb").read_text(encoding="utf-8")
    for book, name in zip(books, classroom.demos(), strict=True):
        cells = nbformat.read(book, as_version=4).cells
        assert f'dk.classroom.demo("{name}")' in "".join(c.source for c in cells if c.cell_type == "code")
        assert f"classroom/{book.name}" in first
        for target in re.findall(r"\]\(([^)#:]+)\)", "\n".join(c.source for c in cells if c.cell_type == "markdown")):
            assert (book.parent / target).is_file(), target


# ---- the class -----------------------------------------------------------------------------------------------------


def kept(*entries: tuple[str, bool, str, str]) -> Progress:
    found = Progress(None, clock=lambda: "2026-01-01T00:00:00.000000Z")
    for item, right, sure, slip in entries:
        found.note(item, 5, right, sure, slip)
    return found


SLIP = sorted(misconceptions())[0]


def test_one_number_gives_the_room_the_same_drills() -> None:
    mine, theirs = dk.classroom.training(11, 4), dk.classroom.training(11, 4)
    assert mine.words == theirs.words and [i.id for i in mine.items] == [i.id for i in theirs.items]
    assert dk.classroom.training(12, 4).words != mine.words


def test_a_class_is_joined_and_counted_by_people(tmp_path: Path) -> None:
    ann = kept(("1/x", False, "certain", SLIP), ("1/x", False, "", SLIP), ("1/y", True, "", ""))
    bob = kept(("1/x", False, "a guess", SLIP), ("1/y", False, "", "not-known-here"))
    for who, progress in (("Ann", ann), ("Bob", bob)):
        classroom.save(tmp_path / f"{who}.csv", who, progress)
    classroom.save(tmp_path / "Ann again.csv", "Ann", ann)                        # handed in twice
    view = classroom.read(tmp_path)
    assert view.people == ["Ann", "Bob"] and view.files == 3 and len(view.answers) == 5
    top, second = view.misconceptions()
    assert (top["id"], top["people"], top["answers"], top["certain"]) == (SLIP, 2, 3, 1)
    assert top["misconception"] == misconceptions()[SLIP][1].said
    assert (second["misconception"], second["people"]) == ("not-known-here", 1)
    assert [(row["question"], row["right"]) for row in view.questions()] == [("1/x", "0 of 3"), ("1/y", "1 of 2")]
    bars = re.findall(r'class="dk-bar"[^>]* width="([\d.]+)"', view.chart().svg)
    assert len(bars) == 2 and float(bars[0]) == 2 * float(bars[1])
    assert "Talk about this first" in repr(view)


def test_only_the_drills_of_the_class_are_handed_in(tmp_path: Path) -> None:
    wanted = [f"drill/{one.kind}/{one.seed}/{one.level}" for one in sheet(3, 2)]
    mine = kept((wanted[0], True, "", ""), ("drill/slack/99/1", True, "", ""), ("1/x", True, "", ""))
    view = classroom.read(classroom.save(tmp_path / "a.csv", kept=mine, seed=3, count=2))
    assert [answer["item"] for answer in view.answers] == [wanted[0]] and view.people == ["(a.csv)"]
    with pytest.raises(DagkitError, match="no answers to the drills of seed 4"):
        classroom.save(tmp_path / "b.csv", kept=mine, seed=4, count=2)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_cells_are_text_in_the_file_and_on_the_page(tmp_path: Path, text: str) -> None:
    path = classroom.save(tmp_path / "x.csv", text, kept((text, False, "", text)))
    cells = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))[1]
    assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in cells)
    view = classroom.read(path)
    assert view.answers[0]["who"] == text.encode("utf-8", "backslashreplace").decode()
    page = view._repr_html_()
    assert "<script" not in page and "\ud800" not in page
    page.encode("utf-8")


def test_defusing_can_be_undone() -> None:
    for text in ("", "Ann", "=1", " =1", "\t=1", "'", "''=1", "-", "@x", "a=1", "\n=1", "n=1"):
        assert armed(defused(text)) == text
    assert [defused(text)[0] for text in ("=1", "+1", "-1", "@x", "\tx", " =1", "\n=1", "＝1")] == ["'"] * 8
    assert defused("n=1") == "n=1"


HEAD = ",".join(COLUMNS)


@pytest.mark.parametrize(("text", "says"), [
    (b"", "its first line must be who,key"),
    (b"name,mark\nAnn,1\n", "its first line must be who,key"),
    (f"{HEAD}\nAnn,k,i,5,yes\n".encode(), "row 2 has 5 cells, not 7"),
    (f"{HEAD}\nAnn,k,i,5,maybe,,\n".encode(), "right must be yes or no, not 'maybe'"),
    (f"{HEAD}\nAnn,k,i,five,yes,,\n".encode(), "lesson must be a number, not 'five'"),
    (f"{HEAD}\nAnn,,i,5,yes,,\n".encode(), "key and item must not be empty"),
    (f'{HEAD}\n"Ann,k\n'.encode(), "is no CSV"),
    ("Ännchen".encode("latin-1"), "is not UTF-8"),
    (b"x" * 5_000_001, "more than 5,000,000 bytes"),
])
def test_a_broken_file_is_refused_in_one_sentence(tmp_path: Path, text: bytes, says: str) -> None:
    (tmp_path / "broken.csv").write_bytes(text)
    with pytest.raises(FormatError, match=re.escape(says)) as caught:
        classroom.read(tmp_path)
    assert str(caught.value).startswith("broken.csv: ") and "\n" not in str(caught.value)


def test_what_a_spreadsheet_saves_again_is_read(tmp_path: Path) -> None:
    text = text_of([{"who": "Ann", "key": "k", "item": "i", "lesson": 5, "right": True, "sure": "", "slip": ""}])
    changed = "\ufeff" + text.replace(",", ";").replace("yes", "YES").replace("\n", "\r\n")
    (tmp_path / "excel.csv").write_bytes(changed.encode())
    assert classroom.read(tmp_path / "excel.csv").answers[0]["right"] is True


def test_nothing_to_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(DagkitError, match="no .csv in it"):
        classroom.read(tmp_path)
    with pytest.raises(DagkitError, match="cannot be read"):
        classroom.read(tmp_path / "absent.csv")


# ---- the hand-out in a browser ---------------------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.slow
def test_the_hand_out_goes_by_keys_from_the_question_to_a_situation_and_back(browser: Any, tmp_path: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith(("file:", "data:")) else problems.append(request.url))
    for name, inside in (("stall", ".dk-player"), ("two_schedulers", ".dc-steps"), ("hints", ".dl-walk")):
        page.goto(made(name).to_html(tmp_path / f"{name}.html").as_uri())
        room = page.locator(".ds-room")
        room.focus()
        assert room.locator(".ds-reply:visible").count() == 0                     # nothing is told before S
        room.locator(".ds-choice").nth(1).click()
        assert room.locator(".ds-hands").all_inner_texts()[:2] == ["", "1 hand"]
        page.keyboard.press("2")
        assert room.get_attribute("data-now") == "2" and room.locator(inside).count() == 1
        assert room.locator(".ds-watch").inner_text() == made(name).situations[1]["watch"]
        before = room.locator(".ds-mount").inner_text()
        page.keyboard.press("ArrowRight" if name != "two_schedulers" else "Backspace")   # what is shown hears its own keys
        assert room.locator(".ds-mount").inner_text() != before
        page.keyboard.press("2")
        assert room.locator(".ds-mount").inner_text() == before                   # pressed again: as it was prepared
        page.keyboard.press("s")
        assert room.locator(".ds-right").count() == 1 and room.locator(".ds-reply:visible").count() >= 3
        assert room.locator(".ds-hands").all_inner_texts()[:2] == ["", "1 hand"]
    page.close()
    assert problems == []


def test_the_key_that_shows_the_answer_is_the_one_that_is_told() -> None:
    """On the button, in the script that hears it, in each notebook, in each closing and on the teacher's page."""
    stage = (ROOT / "dagkit" / "classroom" / "stage.js").read_text(encoding="utf-8")
    key, = re.findall(r"\{ (\w): answer,", stage)
    shown = key.upper()
    assert f'h("kbd", {{}}, "{shown}"), answered' in stage and f"situations, {shown} the answer" in stage
    for book in (ROOT / "notebooks" / "classroom").glob("*.ipynb"):
        assert f"<kbd>{shown}</kbd> shows the answer" in book.read_text(encoding="utf-8"), book.name
    assert all(f"press `{shown}`" in made(name).closing for name in dk.classroom.demos())
    assert f"<kbd>{shown}</kbd>: the answer" in (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
