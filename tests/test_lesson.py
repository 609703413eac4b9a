"""The lesson kit: its words, its questions, its checks, and the notebooks that use it."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest

import dagkit as dk
from dagkit.lesson.book import SAID
from dagkit.lesson.checks import CHECKS
from dagkit.lesson.lessons import MODULES, find, lesson
from dagkit.lesson.lessons.task_states import puzzle
from dagkit.lesson.maps import Edge, Map, Node
from dagkit.lesson.page import css, filled, rich

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
DOORS = {"gist": dk.lesson.gist, "map": dk.lesson.map, "before": dk.lesson.before, "after": dk.lesson.after,
         "questions": dk.lesson.questions}
ASKED = [(number, name) for number in MODULES for name in lesson(number).asks]


def html_of(shown):
    bundle = shown._repr_mimebundle_()
    return (bundle[0] if isinstance(bundle, tuple) else bundle)["text/html"]


class Balanced(HTMLParser):
    """Raises if elements are not closed in the order in which they were opened."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in ("br", "path", "rect", "circle", "input", "meta"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in ("path", "rect", "circle"):
            assert self.open.pop() == tag


def parsed(text):
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    return parser


# ---- every lesson


@pytest.mark.parametrize("number", MODULES)
@pytest.mark.parametrize("door", DOORS)
def test_each_door_opens_the_same_twice_and_has_no_gap_left(number, door):
    one, two = DOORS[door](number), DOORS[door](number)
    assert html_of(one) == html_of(two) and repr(one) == repr(two)
    shown = parsed(html_of(one))
    assert not [tag for tag, attrs in shown.seen if tag == "script" or any(k.startswith("on") for k in attrs)]
    without_style = re.sub(r"<style>.*?</style>", "", html_of(one), flags=re.DOTALL)
    assert not re.search(r"\{[a-z_0-9:.]+\}", without_style), "a fact was not filled in"


@pytest.mark.parametrize(("number", "name"), ASKED)
def test_each_question_has_one_right_choice_and_a_reply_to_each(number, name):
    question = find(name)
    assert question.right in question.replies
    assert len(question.replies) >= 3
    assert len({*question.replies.values()}) == len(question.replies)
    assert all(len(reply) > 25 for reply in question.replies.values())
    marks = [attrs["data-right"] for _, attrs in parsed(question.html()).seen if "data-right" in attrs]
    assert sorted(marks) == ["0"] * (len(question.replies) - 1) + ["1"]


@pytest.mark.parametrize("number", MODULES)
def test_the_test_before_gives_nothing_away(number):
    before, after = html_of(dk.lesson.before(number)), html_of(dk.lesson.after(number))
    assert "data-right" not in before and "data-right" in after
    for question in lesson(number).test:
        for choice, reply in question.replies.items():
            assert choice in before and rich(lesson(number).say(reply)) not in before


@pytest.mark.parametrize("number", MODULES)
def test_a_map_tells_every_part_and_every_arrow(number):
    drawn = lesson(number).map
    shown = parsed(drawn.html(lesson(number).known)).seen
    parts = [attrs for tag, attrs in shown if tag == "details" and attrs.get("class") == "dl-part"]
    assert {a["data-part"] for a in parts if "data-part" in a} == {node.name for node in drawn.nodes}
    assert {(a["data-from"], a["data-to"]) for a in parts if "data-from" in a} == \
        {(edge.start, edge.end) for edge in drawn.edges}
    assert sum(attrs.get("class") == "dk-node" for _, attrs in shown) == len(drawn.nodes)
    assert drawn.mermaid().startswith("flowchart LR\n") and drawn.mermaid().count("-->") == len(drawn.edges)


# ---- what the words claim, checked against the curriculum's own figures


def test_the_figures_of_lesson_1():
    known = lesson(1).known
    assert [known[f"m{slots}"] for slots in range(1, 9)] == [26, 16, 13, 10, 10, 10, 7, 7]
    assert (known["floor"], known["alone"], known["both"], known["knee"], known["ties"]) == (7, 7, 5, 7, 2)
    assert (known["odd3"], known["odd4"]) == (12, 15)
    assert [find(name).right for name in ("floor", "faster_process", "two_more_slots", "one_more_slot")] == \
        ["7", "7", "10", "more"]


def test_the_figures_of_lesson_3():
    recorded = (ROOT / "tests" / "data" / "orders_trace.txt").read_text(encoding="utf-8").splitlines()
    ticks = {(line.split()[2], line.split()[-1]): int(line.split()[1]) for line in recorded}
    known = lesson(3).known
    assert known["end"] == max(ticks.values())
    assert known["retry_failed"] == ticks["transform", "up_for_retry"]
    assert known["retry_again"] == ticks["transform", "scheduled"]
    assert find("publish_ends").right == "upstream_failed"
    assert find("run_verdict").right == "success"
    assert known["end_wide"] < known["end"]


# ---- questions


def question(**changes):
    given = {"text": "Which?", "replies": {"a": "Because of a.", "b": "Not b."}, "answer": lambda: "a", **changes}
    return dk.lesson.Question(**given)


def test_an_answer_that_is_no_choice_is_refused():
    with pytest.raises(dk.DagkitError, match="the answer is 'c', which is not among its choices a, b"):
        question(answer=lambda: "c").html()


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(dk.DagkitError, match="question 'publish_end' is unknown. Did you mean 'publish_ends'"):
        dk.predict("publish_end")
    with pytest.raises(dk.DagkitError, match="lesson 99: there is none. Known: 1, "):
        dk.lesson.gist(99)
    with pytest.raises(dk.DagkitError, match="check 'saturatoin' is unknown. Did you mean 'saturation'"):
        dk.check("saturatoin", 1)


def test_the_player_is_locked_and_its_end_stays_folded():
    player = dk.predict("publish_ends", dk.simulate(dk.examples.orders()))
    assert player.prediction["answer"] == "upstream_failed"
    assert player.predicted is None
    shown = html_of(player)
    assert shown.index('<details class="dl-reveal"><summary>Show how it ended') < shown.index("dk-svg")
    parsed(shown)


HOSTILE = ['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "a\nb\x00\ud800", "{curly} `tick` **bold**"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_text(text):
    shown = question(text=text, replies={"a": text, text + "b": "no"}, reveal=lambda: text).html()
    mapped = Map(text, (Node(text, text, "w"), Node("b", "", "w")), (Edge(text, "b", text, "e", "x"),))
    table = dk.lesson.table([{"task": text}])._repr_html_()
    folded = dk.lesson.folded(text, text)._repr_html_()
    for html in (shown, mapped.html({}), table, folded):
        seen = parsed(re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)).seen
        assert not [tag for tag, attrs in seen if tag in ("script", "img") or "onerror" in attrs]
        html.encode()
    assert mapped.mermaid().count("\n") == 3


def test_a_table_cuts_no_cell_and_breaks_no_word():
    long = "because " * 40 + "done"
    table = dk.lesson.table([{"trigger_rule": long, "ups": ["one_failed"] * 20}])
    seen = table._repr_html_()
    assert long in seen and long in repr(table) and "..." not in repr(table)
    assert "<th>trigger_<wbr>rule</th>" in seen and seen.count("one_<wbr>failed") == 20


def test_the_name_above_numbers_stands_to_the_right_as_they_do():
    seen = dk.lesson.table([{"task": "a", "writes refused": 3}, {"task": "b", "writes refused": 0}])._repr_html_()
    assert '<th>task</th><th class="dk-num">writes refused</th>' in seen and seen.count('<td class="dk-num">') == 2


def test_what_was_said_before_comes_back_after():
    SAID.clear()
    before = dk.lesson.before(3)
    before.answers = {"test-3-1": {"choice": "always failed", "sure": "certain"}}
    try:
        assert 'data-before="always failed"' in html_of(dk.lesson.after(3))
    finally:
        SAID.clear()


def test_facts_fill_a_text():
    assert filled("it is {n}, {x:.1f}", {"n": 3, "x": 0.25}) == "it is 3, 0.2"
    with pytest.raises(KeyError):
        filled("{unknown}", {})


# ---- checks


def day(**minutes):
    return dk.what_if(dk.examples.file_fanout(), minutes)


def orders(**changes):
    return dk.examples.orders().replace(**changes)


def watched(rule="one_failed"):
    scenario = dk.examples.orders()
    tasks = [*scenario.dag, dk.Task("watcher", list(scenario.dag.tasks), trigger_rule=rule, pool="default")]
    return scenario.replace(dag=dk.Dag("orders", tasks, max_active_tasks=2),
                            outcomes={**scenario.outcomes, "watcher": ["fail"]})


BEST = {
    "saturation": 7, "knee": (dk.examples.file_fanout(), 2), "shorter_path": day(process=1, load_dim=2),
    "quicker_orders": orders(pools={"db": 2, "default": 8}), "honest_run": watched(),
    "illegal_transitions": (1, puzzle(1).illegal), "branch_join": "none_failed_min_one_success",
}
WRONG = [
    ("saturation", 6, "it takes 10; the critical path is 7"), ("saturation", 8, "so do fewer"),
    ("saturation", 0, "whole number of slots >= 1"), ("saturation", "7", "cannot be judged"),
    ("saturation", True, "cannot be judged"), ("knee", 7, "cannot be judged"),
    ("knee", (dk.examples.file_fanout(), 1), "the critical path is 7"),
    ("shorter_path", day(process=1), "still 7"), ("shorter_path", day(process=0, load_dim=0), "4 are enough"),
    ("shorter_path", dk.examples.orders().dag, "Only durations may change"), ("shorter_path", 5, "Only durations"),
    ("quicker_orders", orders(), "as before or later"), ("quicker_orders", orders(outcomes={}), "Only limits"),
    ("quicker_orders", orders(durations={"transform": 1}), "Only limits"),
    ("quicker_orders", dk.Scenario(dk.examples.file_fanout()), "Only limits"), ("quicker_orders", {}, "a Scenario"),
    ("honest_run", orders(), "still calls the run a success"),
    ("honest_run", orders(outcomes={}), "must still fail"),
    ("honest_run", orders(dag=orders().dag.replace("cleanup_tmp", trigger_rule="all_success")), "must still run"),
    ("illegal_transitions", (1, puzzle(1).illegal[:1]), "2 still hidden"), ("illegal_transitions", (1, [1]), "is sound"),
    ("illegal_transitions", (1, [999]), "cannot be judged"), ("illegal_transitions", [3], "cannot be judged"),
    ("branch_join", "all_success", "the join ends skipped"), ("branch_join", "none_failed", "no way is followed"),
    ("branch_join", "one_success", "both ways are followed"), ("branch_join", "all_dnoe", "cannot be judged"),
]


def test_every_check_has_a_best_answer_here():
    assert set(BEST) == set(CHECKS)


@pytest.mark.parametrize("name", BEST)
def test_the_best_answer_is_right(name):
    verdict = dk.check(name, BEST[name])
    assert verdict.ok is True and verdict and not verdict.hint
    assert repr(verdict).startswith("✓ Right.") and "✓ Right." in verdict._repr_html_()


@pytest.mark.parametrize(("name", "answer", "said"), WRONG)
def test_a_wrong_answer_gets_its_own_reply_and_a_hint(name, answer, said):
    verdict = dk.check(name, answer)
    assert verdict.ok is False and not verdict
    assert said in verdict.text and verdict.hint
    parsed(verdict._repr_html_())


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("answer", [None, ..., "", -1, float("nan"), [], {}, object, "<script>", "\ud800"])
def test_a_check_never_raises(name, answer):
    verdict = dk.check(name, answer)
    assert verdict.ok is (None if answer is None or answer is ... else False)
    verdict._repr_html_().encode()


# ---- looks


def luminance(colour):
    parts = [int(colour[k:k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, two):
    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def mixed(one, other, share):
    """``share`` of the first colour, the rest of the other."""
    parts = [(int(one[k:k + 2], 16), int(other[k:k + 2], 16)) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in parts)


JUPYTERLAB = {"fg": ("#212121", "#e2e2e2"), "bg": ("#ffffff", "#212121"), "soft": ("#eeeeee", "#424242")}
"""Its own colours, light and dark, which take the place of ours there."""


def test_text_stands_out_from_its_ground_in_light_and_dark():
    pairs = dict(re.findall(r"--dl-(\w+):[^;]*light-dark\((#\w+,#\w+)\)", css()))
    own = {name: ["#" + c[1:] * (2 if len(c) == 4 else 1) for c in both.split(",")] for name, both in pairs.items()}
    share = int(re.search(r"--dl-dim:color-mix\(in srgb,var\(--dl-fg\) (\d+)%,var\(--dl-bg\)\)", css())[1]) / 100
    for colours, mode in itertools.product((own, JUPYTERLAB), (0, 1)):
        fg, bg, soft = (colours[name][mode] for name in ("fg", "bg", "soft"))
        for text, ground in itertools.product((fg, mixed(fg, bg, share)), (bg, soft)):
            assert contrast(text, ground) >= 4.5, (text, ground)


def test_importing_the_kit_stays_light():
    heavy = ["pandas", "networkx", "ipywidgets", "anywidget"]
    code = f"import sys, dagkit; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---- the notebooks


def cells(path, kind=None):
    return [c for c in nbformat.read(path, as_version=4).cells if kind in (None, c.cell_type)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_lead_somewhere(path):
    text = "\n".join(c.source for c in cells(path, "markdown"))
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (path.parent / target).is_file(), target


def test_the_first_page_names_every_lesson():
    text = "\n".join(c.source for c in cells(ROOT / "notebooks" / "00_start_here.ipynb", "markdown"))
    assert [p.name for p in NOTEBOOKS if p.name not in text and not p.name.startswith("00")] == []


def test_each_lesson_ends_with_its_exercise_and_the_lesson_that_follows():
    lessons = [p for p in NOTEBOOKS if re.match(r"\d\d_", p.name)]
    assert [int(p.name[:2]) for p in lessons] == list(range(len(lessons)))
    for path, following in zip(lessons, [*lessons[1:], None], strict=True):
        end = cells(path)[-1]
        assert end.cell_type == "markdown" and (path == lessons[0] or f"](../exercises/{path.name})" in end.source), path
        title = cells(following)[0].source.splitlines()[0].removeprefix("# ") if following else ""
        wanted = [f"Next: [{title}]({following.name})"] if following else []
        assert re.findall(r"^Next: \[[^]]*\]\([^)]*\)", end.source, re.M) == wanted, path


@pytest.mark.parametrize("number", MODULES)
def test_a_lesson_has_its_four_doors_in_order(number):
    (path,) = [p for p in NOTEBOOKS if p.name.startswith(f"{number:02}_")]
    heads = [line for c in cells(path, "markdown") for line in c.source.splitlines() if line.startswith("## ")]
    assert heads == ["## 1 · Gist", "## 2 · Map", "## 3 · Sandbox", "## 4 · Q&A"]
    first = cells(path)[0].source
    assert "After this lesson you can" in first and "You need" in first and "minutes" in first
    code = [c.source for c in cells(path, "code")]
    assert code[0] == "import dagkit as dk"
    order = [f"dk.lesson.{door}({number})" for door in ("before", "gist", "map", "questions", "after")]
    assert [line for line in code if line in order] == order


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_question_and_check_in_a_notebook_exists(path):
    code = "\n".join(c.source for c in cells(path, "code"))
    for name in re.findall(r'predict\("(\w+)"', code):
        assert find(name)
    for name in re.findall(r'check\("(\w+)"', code):
        assert name in CHECKS
