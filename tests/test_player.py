"""The player's data, its static twin and its one-file export, without a browser."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from dagkit import Config, Dag, DagkitError, Pool, Task, examples, simulate
from dagkit.views import html_export, player
from dagkit.views.read_aloud import read_aloud
from dagkit.views.replay import beside, named, replay

DATA = Path(__file__).parent / "data"
VIEWS = Path(player.__file__).parent
WIDGET = "application/vnd.jupyter.widget-view+json"
HOSTILE = [
    '"quotes" & <b>bold</b>', "<script>window.pwned=1</script>", "new\nline", "ctrl\x00\x1b[31m\x07",
    "\ud800lone", "a:b:c->d", "x" * 10_000, "\\N\\L<<b>x</b>>", "   ", "\u202eevil\u202c",
    "</script><img src=x onerror=window.pwned=1>", "{{x}}${y}`z`", "\u2028line", "'; DROP TABLE dag; --",
]


@pytest.fixture(scope="module")
def orders():
    return simulate(examples.orders())


def golden() -> list[tuple[int, str, str, str]]:
    """(tick, task, old, new), read from the hand-checked trace."""
    lines = (DATA / "orders_trace.txt").read_text(encoding="utf-8").splitlines()
    return [(int(tick), task, old, new) for tick, task, old, new in
            (re.match(r"tick +(\d+)  (\S+) +(\S+) -> (\S+)$", line).groups() for line in lines)]


def states_after(tick: int) -> dict[str, str]:
    states = dict.fromkeys(examples.orders().dag.tasks, "none")
    states.update({task: new for at, task, _, new in golden() if at <= tick})
    return states


def at(steps, tick):
    """The value that holds at a tick: the last entry that is not later."""
    return [value for when, value in steps if when <= tick][-1]


def hostile_trace():
    tasks = [Task(task_id, HOSTILE[max(0, i - 2):i]) for i, task_id in enumerate(HOSTILE)]
    return simulate(Dag("</title><script>window.pwned=1</script>", tasks), outcomes={HOSTILE[4]: ["fail"]})


def texts(value):
    """Every string inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


class Elements(HTMLParser):
    """The elements of a page, and the text of each script."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] == "script":
            self.scripts[-1] += data


# ---- the replay ----


def test_states_at_every_tick_are_those_of_the_golden_trace(orders):
    sent = replay(orders)
    names = [state["name"] for state in sent["states"]]
    for tick in range(sent["last_tick"] + 1):
        shown = {ti["label"]: names[at(ti["changes"], tick)] for ti in sent["tis"]}
        assert shown == states_after(tick)


def test_the_log_is_the_golden_trace_with_its_ticks(orders):
    sent = replay(orders)
    assert [line for _, line in sent["log"]] == (DATA / "orders_trace.txt").read_text("utf-8").splitlines()
    assert [tick for tick, _ in sent["log"]] == [tick for tick, *_ in golden()]


def test_meters_agree_with_a_count_of_the_golden_trace(orders):
    meters = {meter["name"]: meter for meter in replay(orders)["meters"]}
    dag = examples.orders().dag
    for tick in range(orders.last_tick + 1):
        busy = [task for task, state in states_after(tick).items() if state in ("queued", "running")]
        assert at(meters["pool db"]["used"], tick) == sum(dag[task].pool == "db" for task in busy)
        assert at(meters["parallelism"]["used"], tick) == len(busy)
    assert meters["pool db"]["size"] == 1


def test_the_tightest_limit_comes_first(orders):
    meters = replay(orders)["meters"]
    fill = [max(n for _, n in meter["used"]) / meter["size"] for meter in meters]
    assert fill == sorted(fill, reverse=True)
    assert meters[0]["name"] == "pool db"  # 1 of 1


def test_every_unfinished_task_has_its_sentence_at_every_tick(orders):
    sent = replay(orders)
    for tick in range(sent["last_tick"] + 1):
        for ti, steps in zip(sent["tis"], sent["reasons"]["by_ti"], strict=True):
            number = at(steps, tick)
            if states_after(tick)[ti["label"]] not in ("success", "failed", "upstream_failed"):
                assert sent["reasons"]["texts"][number].startswith(orders.explain(ti["label"], tick).text)


def test_a_finished_task_needs_no_sentence_but_a_blocked_one_does(orders):
    sent = replay(orders)
    steps = dict(zip((ti["label"] for ti in sent["tis"]), sent["reasons"]["by_ti"], strict=True))
    last = {label: at(steps[label], 16) for label in steps}
    assert last["transform"] == -1
    assert "quality_check is failed" in sent["reasons"]["texts"][last["publish"]]


def test_each_task_instance_belongs_to_one_node_that_is_in_the_drawing(orders):
    for trace in (orders, hostile_trace(), simulate(examples.orders().replace(runs=3))):
        sent = replay(trace, prefix="t-")
        assert sorted(ti for node in sent["nodes"] for ti in node["tis"]) == list(range(len(trace.labels)))
        for node in sent["nodes"]:
            assert f'id="{node["id"]}"' in sent["graphs"][node["graph"]]["svg"]


def test_mapped_instances_share_the_node_of_their_task():
    dag = Dag("m", [Task("list", returns=3), Task("work", expand={"x": "list"})])
    sent = replay(simulate(dag))
    work = next(node for node in sent["nodes"] if node["label"] == "work")
    assert [sent["tis"][ti]["label"] for ti in work["tis"]] == ["work[0]", "work[1]", "work[2]"]


def test_many_dags_are_not_all_drawn_and_it_says_so():
    sent = replay(simulate([Dag(f"d{i}", [Task("a")]) for i in range(6)]))
    assert len(sent["graphs"]) == 4 and len(sent["tis"]) == 6
    assert any("first 4 of 6 Dags" in note for note in sent["warnings"])


def test_a_large_dag_comes_collapsed_with_a_sentence_for_the_player():
    tasks = [Task(f"t{i:03}", [f"t{i - 20:03}"] if i >= 20 else []) for i in range(200)]
    graph = replay(simulate(Dag("large", tasks)))["graphs"][0]
    assert graph["collapsed"].startswith("Too large to read task by task: 200 tasks in ")


def test_reasons_too_many_to_send_are_left_out_and_it_says_so(monkeypatch, orders):
    monkeypatch.setattr("dagkit.views.replay.EXPLAINED", 50)
    sent = replay(orders)
    assert sent["reasons"] == {"texts": [], "by_ti": []}
    assert any("trace.explain" in note for note in sent["warnings"])


def test_it_says_where_to_read_what_is_simplified(orders):
    assert replay(orders)["fidelity"].endswith("What is simplified: docs/fidelity.md in the repository.")


def test_the_pacing_is_named():
    assert "lesson pacing" in replay(simulate(examples.orders()))["fidelity"]
    own = simulate(examples.orders(), config=Config(pacing="airflow"))
    assert "Airflow's own pacing" in replay(own)["fidelity"]


def test_same_input_same_bytes():
    assert json.dumps(replay(simulate(examples.orders()))) == json.dumps(replay(simulate(examples.orders())))


def test_hostile_ids_are_plain_printable_text_everywhere():
    sent = replay(hostile_trace())
    for text in texts({**sent, "graphs": []}):
        text.encode("utf-8")  # no lone surrogate
        assert text.isprintable() and len(text) <= 400
    labels = [ti["label"] for ti in sent["tis"]]
    assert labels[2] == "new\\nline" and labels[4] == "\\ud800lone" and labels[8].strip() != ""


# ---- verdicts ----


def test_the_two_verdicts_of_orders_differ_and_the_text_names_why(orders):
    verdict = replay(orders)["verdict"]
    assert (verdict["run_state"], verdict["good"], verdict["any_failed"]) == ("success", True, True)
    assert "leaves" in verdict["text"] and "quality_check, publish" in verdict["text"]


@pytest.mark.parametrize("outcomes, state, failed, word", [
    ({}, "success", False, "agree"),
    ({"a": ["fail"]}, "failed", True, "agree"),
])
def test_verdicts_that_agree(outcomes, state, failed, word):
    verdict = replay(simulate(Dag("d", [Task("a"), Task("b", "a")]), outcomes=outcomes))["verdict"]
    assert (verdict["run_state"], verdict["any_failed"]) == (state, failed)
    assert word in verdict["text"]


def test_a_run_that_cannot_finish_is_no_success():
    verdict = replay(simulate(Dag("d", [Task("a", pool="nowhere")])))["verdict"]
    assert not verdict["good"] and "cannot finish" in verdict["text"]


def test_several_runs_are_counted():
    trace = simulate(Dag("d", [Task("a")]), runs=3, outcomes={"a@1": ["fail"]})
    verdict = replay(trace)["verdict"]
    assert verdict["run_state"] == "2 success, 1 failed" and not verdict["good"]


# ---- the widget ----


def test_repr_is_the_same_each_time(orders):
    first, second = (repr(player.play(orders)) for _ in range(2))
    assert first == second == "Player(orders: 6 tasks, 16 ticks, success)"


def test_the_cell_shows_picture_and_table_where_there_is_no_widget(orders):
    data, _ = player.play(orders)._repr_mimebundle_()
    assert WIDGET in data
    del data[WIDGET]  # as saved in a notebook
    assert data["text/html"].count("<svg") == 2 and "<table>" in data["text/html"]
    assert "upstream_failed 14" in data["text/html"]  # publish, in the table
    assert data["text/plain"].startswith("Player(")


def test_what_answers_a_prediction_is_folded_wherever_it_is_saved(orders):
    asked = player.Prediction("How does <publish> end?", ["success", "upstream_failed"], "upstream_failed", "So <it> is.")
    widget = player.play(orders, asked)
    page = html_export.page(orders, prediction=asked)
    assert repr(widget) == "Player(orders: 6 tasks, 16 ticks, asks first)"
    for saved in (widget._repr_mimebundle_()[0]["text/html"],
                  page.partition("<noscript>")[2].partition("</noscript>")[0]):
        open_, folded = saved.split("<details><summary>Answer</summary>")
        assert "How does &lt;publish&gt; end?" in open_ and "<svg" not in open_
        assert open_.count("upstream_failed") == open_.count("success") == 1  # the choices
        assert "So &lt;it&gt; is." in folded and folded.count("<svg") == 2
        assert folded.strip().endswith("</details>")


def test_the_saved_twin_is_the_same_for_every_instance(orders):
    first, second = (player.play(orders)._repr_mimebundle_()[0]["text/html"] for _ in range(2))
    assert first == second


def test_two_players_on_one_page_share_no_id(orders):
    def ids(widget):
        return {node["id"] for node in widget.replay["nodes"]}
    assert not ids(player.play(orders)) & ids(player.play(orders))


def test_the_browser_gets_the_replay_once_and_sends_back_little(orders):
    widget = player.play(orders)
    assert {"replay", "tick", "row", "predicted"} <= set(widget.keys)
    assert widget.selected is None
    widget.selected = "publish"
    assert (widget.row, widget.selected) == (4, "publish")
    with pytest.raises(DagkitError, match="no task is called 'publsh'. Its tasks: extract_orders"):
        widget.selected = "publsh"


@pytest.mark.parametrize("interval", [19, 0, -5, 2.5, "fast", True])
def test_an_impossible_interval_is_refused(orders, interval):
    with pytest.raises(DagkitError, match="interval must be a whole number of milliseconds >= 20"):
        player.play(orders, interval=interval)


def test_the_first_tick_stays_inside_the_trace(orders):
    assert [player.play(orders, tick=tick).tick for tick in (-3, 5, 99, np.int64(4), 10**400)] == [0, 5, 16, 4, 16]


@pytest.mark.parametrize("tick", ["3", 2.5, None, True])
def test_an_impossible_tick_is_refused(orders, tick):
    with pytest.raises(DagkitError, match=r"play: tick must be a whole number, not .*\. Give the tick to begin at"):
        player.play(orders, tick=tick)


def test_a_prediction_is_resolved_from_the_trace(orders):
    asked = player.Prediction("How does publish end?", ["success", "upstream_failed"],
                              answer=lambda trace: trace.final_states["publish"],
                              because=lambda trace: f"it ended {trace.final_states['quality_check']}")
    widget = player.play(orders, asked)
    assert widget.prediction["answer"] == "upstream_failed"
    assert widget.prediction["because"] == "it ended failed"
    assert widget.predicted is None


def test_a_plain_question_works_too(orders):
    widget = player.play(orders, "Does the run succeed?", ["yes", "no"], answer="yes")
    assert widget.prediction["choices"] == ["yes", "no"]


def test_an_answer_outside_the_choices_is_refused(orders):
    with pytest.raises(DagkitError, match="answer 'maybe' is not among the choices yes, no"):
        player.play(orders, "Does the run succeed?", ["yes", "no"], answer="maybe")


def test_read_aloud_is_its_text_where_nothing_can_speak():
    data, _ = read_aloud("One <b>pool</b>.\nTwo.")._repr_mimebundle_()
    assert "One &lt;b&gt;pool&lt;/b&gt;.\nTwo." in data["text/html"]
    assert data["text/plain"] == "One <b>pool</b>.\nTwo."


# ---- two futures ----


@pytest.fixture(scope="module")
def two_slots(orders):
    return orders.fork(1, pools={"db": 2})


def renamed(dag_id, *names):
    return simulate(Dag(dag_id, [Task(name) for name in names]))


def test_two_futures_part_where_the_pool_had_no_second_place(orders, two_slots):
    sent = beside(orders, two_slots)
    # both extracts need a place in db; with one place, extract_users has to wait at tick 1 in the golden trace
    assert states_after(1)["extract_users"] == "scheduled"
    assert sent["tick"] == 1
    assert sent["text"].startswith("They part at tick 1: extract_users is scheduled in the first and queued in the")
    assert sent["replay"]["tis"] == replay(two_slots)["tis"]


def test_equal_traces_never_part(orders):
    sent = beside(orders, simulate(examples.orders()))
    assert (sent["tick"], sent["text"]) == (None, "The two traces are the same.")
    assert sent["titles"] == ["as it was", "the same"]


def test_task_instances_are_paired_by_what_they_are_not_by_their_place():
    sent = beside(renamed("d", "a", "b", "c"), renamed("d", "c", "new", "a"))
    assert sent["pairs"] == [[0, 2], [1, -1], [2, 0], [-1, 1]]


def test_runs_are_paired_although_more_of_them_need_longer_labels():
    dag = Dag("d", [Task("a"), Task("b")])
    one, two = simulate(dag), simulate(dag, runs=2)
    assert (one.labels, two.labels) == (["a", "b"], ["a@0", "a@1", "b@0", "b@1"])
    assert beside(one, two)["pairs"] == [[0, 0], [1, 2], [-1, 1], [-1, 3]]


@pytest.mark.parametrize("change, title", [
    ({"pools": {"db": 2}}, "pool db = 2"),
    ({"pools": {"db": Pool(-1, include_deferred=True)}}, "pool db = unlimited with deferred"),
    ({"outcomes": {"transform": ["success"]}}, "outcomes of transform = success"),
    ({"durations": {"publish": 4}}, "duration of publish = 4"),
    ({"config": Config(parallelism=1)}, "parallelism = 1"),
    ({"tasks": {"publish": {"trigger_rule": "all_done"}}}, "publish: trigger_rule = all_done"),
    ({"clear": ["transform"]}, "clear transform"),
    ({"pools": {"db": 1}}, "no change"),
    ({"pools": {"db": 1, "w": 1, "x": 1, "y": 1, "z": 1}}, "pool w = 1, pool x = 1, pool y = 1 and 1 more"),
])
def test_a_fork_is_called_after_what_was_changed(orders, change, title):
    assert named(orders, orders.fork(3, **change)) == ["as it was", f"at tick 3: {title}"]


def test_the_title_follows_the_change_not_the_place(orders, two_slots):
    assert named(two_slots, orders) == ["at tick 1: pool db = 2", "as it was"]
    later = two_slots.fork(4, pools={"db": 3})
    assert named(two_slots, later) == ["as it was", "at tick 4: pool db = 3"]  # what both have is not told
    assert named(two_slots, orders.fork(1, pools={"db": 3})) == ["at tick 1: pool db = 2", "at tick 1: pool db = 3"]


@pytest.mark.parametrize("change, title", [
    ({"durations": {"publish": 4}}, "duration of publish = 4"),
    ({"config": Config(pacing="airflow")}, "pacing = airflow"),
    ({"seed": 7}, "seed = 7"),
    ({"runs": 2}, "other runs"),
])
def test_another_scenario_is_called_after_what_differs(orders, change, title):
    scenario = examples.orders()
    assert named(orders, simulate(scenario.replace(**change))) == ["as it was", title]


def test_another_definition_is_called_after_the_tasks_that_differ(orders):
    dag = examples.orders().dag
    assert named(orders, simulate(examples.orders().replace(dag=dag.replace("publish", retries=5))))[1] == (
        "publish: retries = 5")
    assert named(renamed("d", "a", "b"), renamed("d", "a", "c"))[1] == "without task b, with task c"
    assert named(renamed("d", "a"), renamed("e", "a")) == ["d", "e"]


def test_given_titles_are_kept_as_plain_text(orders, two_slots):
    assert named(orders, two_slots, ["<b>one</b>", "two\nlines"]) == ["<b>one</b>", "two\\nlines"]


@pytest.mark.parametrize("titles", ["ab", ["one"], ["a", "b", "c"], ()])
def test_titles_that_do_not_name_both_are_refused(orders, two_slots, titles):
    with pytest.raises(DagkitError, match="titles must name both futures, the first and the second"):
        player.play(orders, beside=two_slots, titles=titles)


@pytest.mark.parametrize("options", [{"beside": 3}, {"titles": ["a", "b"]}])
def test_only_a_trace_can_stand_beside(orders, options):
    with pytest.raises(DagkitError, match=r"beside must be a second Trace, not (int|NoneType).*trace\.fork"):
        player.play(orders, **options)


def test_the_player_of_two_futures_says_both(orders, two_slots):
    widget = player.play(orders, beside=two_slots, tick=99)
    assert repr(widget) == ("Player(orders: 6 tasks, 16 ticks, success; "
                            "beside it, at tick 1: pool db = 2: 6 tasks, 14 ticks, success)")
    assert widget.tick == 16  # the end of the longer one
    assert player.play(two_slots, beside=orders, tick=15).tick == 15
    nodes = [node["id"] for sent in (widget.replay, widget.beside["replay"]) for node in sent["nodes"]]
    assert len(set(nodes)) == len(nodes) == 12


def test_a_task_of_the_second_future_only_can_be_chosen():
    widget = player.play(renamed("d", "a", "b"), beside=renamed("d", "new", "a"))
    widget.selected = "new"
    assert (widget.row, widget.selected) == (2, "new")
    with pytest.raises(DagkitError, match="no task is called 'c'. Its tasks: a, b, new"):
        widget.selected = "c"


def test_the_saved_twin_shows_both_futures_and_where_they_part(orders, two_slots):
    twin = player.play(orders, beside=two_slots)._repr_mimebundle_()[0]["text/html"]
    assert twin.count("<svg") == 4 and twin.count("<table>") == 2
    for words in ("They part at tick 1: extract_users is", "First: as it was", "Second: at tick 1: pool db = 2",
                  "upstream_failed 14", "upstream_failed 12"):
        assert words in twin
    assert twin == player.play(orders, beside=two_slots)._repr_mimebundle_()[0]["text/html"]


def test_no_id_of_the_twin_is_used_twice(orders):
    ids = [attributes["id"] for _, attributes in Elements(player.still(orders, orders)).tags if "id" in attributes]
    assert len(ids) > 20 and len(set(ids)) == len(ids)


def test_hostile_ids_stay_text_beside_each_other():
    trace = hostile_trace()
    other = trace.fork(1, outcomes={HOSTILE[1]: ["fail"]})
    page = Elements(html_export.page(trace, beside=other))
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert not {"img", "iframe"} & {tag for tag, _ in page.tags}
    assert all(not name.startswith("on") for _, attributes in page.tags for name in attributes)
    for text in texts({**beside(trace, other), "replay": {}}):
        assert text.isprintable() and len(text) <= 400


# ---- the one-file export ----


def test_the_file_of_two_futures_holds_both(orders, two_slots):
    page = html_export.page(orders, beside=two_slots, titles=["one place", "two places"])
    data = json.loads(Elements(page).scripts[0])
    assert data["replay"] == replay(orders)
    assert data["beside"] == beside(orders, two_slots, ["one place", "two places"])
    still = page.partition("<noscript>")[2].partition("</noscript>")[0]
    assert still.count("<svg") == 4 and "Second: two places" in still


def test_the_file_holds_the_players_own_module_and_data(tmp_path, orders):
    path = orders.to_html(tmp_path / "orders.html")
    page = Elements(path.read_text(encoding="utf-8"))
    data, module = page.scripts
    assert json.loads(data)["replay"] == replay(orders)
    source = (VIEWS / "player.js").read_text(encoding="utf-8")
    assert source.partition(html_export.EXPORT)[0] in module


def test_the_module_ends_in_one_export_and_imports_nothing():
    source = (VIEWS / "player.js").read_text(encoding="utf-8")
    assert source.count("export ") == source.count(html_export.EXPORT) == 1
    assert not re.search(r"^\s*import\b|\bimport\(|innerHTML|eval\(|</script", source, re.MULTILINE)


def test_the_file_asks_for_nothing_from_anywhere(orders):
    page = html_export.page(orders)
    addresses = set(re.findall(r"https?://[^\s\"'<>)\\]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # a name, never fetched
    for _, attributes in Elements(page).tags:
        assert not {"src", "href", "srcset"} & attributes.keys()


def test_same_trace_same_file():
    assert html_export.page(simulate(examples.orders())) == html_export.page(simulate(examples.orders()))


def test_hostile_ids_stay_text_in_the_file(tmp_path):
    path = html_export.to_html(hostile_trace(), tmp_path / "hostile.html")
    page = Elements(path.read_text(encoding="utf-8"))
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert not {"img", "b", "iframe"} & {tag for tag, _ in page.tags}
    assert all(not name.startswith("on") for _, attributes in page.tags for name in attributes)


def test_without_scripts_the_still_picture_is_there(orders):
    inside = html_export.page(orders).partition("<noscript>")[2].partition("</noscript>")[0]
    assert "<svg" in inside and "<table>" in inside


def test_a_file_that_cannot_be_written_is_named(tmp_path, orders):
    with pytest.raises(DagkitError, match="to_html: cannot write .*nowhere.*Choose another path"):
        html_export.to_html(orders, tmp_path / "nowhere" / "x.html")


@pytest.mark.parametrize("given, called", [(examples.orders().dag, "Dag"), (5, "int"), (None, "NoneType")])
def test_only_a_trace_can_be_played(given, called):
    with pytest.raises(DagkitError) as refused:
        player.play(given)
    assert str(refused.value) == f"play needs a Trace, not {called}. Write dk.play(dk.simulate(dag))."


def test_one_of_a_kind_is_not_called_several():
    one = simulate(Dag("small", [Task("a")]))
    assert repr(player.play(one)).startswith("Player(small: 1 task, ")
