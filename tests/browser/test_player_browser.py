"""The player in a real browser, as its one-file export: what it shows, every tick, and how it is driven."""

from __future__ import annotations

import functools
import random
import re
from typing import Any

import pytest

from dagkit import Dag, Task, examples, simulate
from dagkit.views import charts, html_export, plan, player
from dagkit.views.picture import plain
from tests.conftest import CHROMIUM_FLAGS, chromium_path

pytestmark = pytest.mark.browser

HOSTILE = [
    '"quotes" & <b>bold</b>', "<script>window.pwned=1</script>", "new\nline", "ctrl\x00\x1b[31m\x07",
    "\ud800lone", "a:b:c->d", "x" * 10_000, "\\N\\L<<b>x</b>>", "   ", "\u202eevil\u202c",
    "</script><img src=x onerror=window.pwned=1>", "{{x}}${y}`z`",
]
# What each animation frame shows, recorded from outside the player.
RECORD = """(player) => {
  window.painted = [];
  const look = () => { painted.push(Number(player.dataset.tick)); requestAnimationFrame(look); };
  requestAnimationFrame(look);
}"""
TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
QUESTION = player.Prediction("How does publish end?", ["success", "upstream_failed"], "upstream_failed",
                             "quality_check failed.")


@functools.cache
def random_trace(tasks: int) -> Any:
    """A layered Dag with names of several lengths; a few tasks fail."""
    rng = random.Random(tasks)
    names = [f"{rng.choice(['load', 'clean', 'join_customers', 'report'])}_{i:03}" for i in range(tasks)]
    width = max(2, int(tasks ** 0.5))
    made = []
    for i, name in enumerate(names):
        before = range(max(0, i // width * width - width), i // width * width)
        made.append(Task(name, sorted({names[rng.choice(before)] for _ in range(2)}) if before else (),
                         duration=rng.randint(1, 4)))
    return simulate(Dag(f"random_{tasks}", made, max_active_tasks=32),
                    outcomes={name: ["fail"] for name in names if rng.random() < 0.02})


@pytest.fixture(scope="module")
def orders():
    return simulate(examples.orders())


@pytest.fixture
def show(browser, tmp_path):
    """Open a trace; the test fails on any error on the page and on any request but the file itself."""
    opened = []

    def opener(trace: Any, *, size=(1280, 900), prediction=None, interval=None, beside=None, **context: Any) -> Any:
        path = html_export.to_html(trace, tmp_path / "player.html", prediction=prediction, interval=interval,
                                   beside=beside)
        wanted = path.as_uri()
        place = browser.new_context(viewport={"width": size[0], "height": size[1]}, **context)
        page = place.new_page()
        troubles: list[str] = []
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda message: message.type == "error" and troubles.append(message.text))
        page.on("request", lambda request: request.url != wanted and troubles.append(request.url[:200]))
        page.on("dialog", lambda dialog: (troubles.append("dialog"), dialog.dismiss()))
        opened.append((place, troubles))
        page.goto(wanted)
        return page

    yield opener
    for place, troubles in opened:
        place.close()
        assert troubles == []


def tick(page: Any) -> int:
    return int(page.get_attribute(".dk-player", "data-tick"))


def node_states(page: Any, lane: int = 0) -> dict[str, str]:
    """Label -> state, read off the drawing: class, glyph and spoken name must agree."""
    found = page.locator(".dk-graph").nth(lane).locator(".dk-node").evaluate_all("""(nodes) => nodes.map((node) => [
        node.querySelector('.dk-label').textContent,
        [...node.classList].filter((name) => !/node|live|selected/.test(name)),
        node.getAttribute('aria-label'), node.querySelector('.dk-glyph').textContent])""")
    looks = {state.name: state for state in player.replays.states.TABLE}
    for label, classes, spoken, glyph in found:
        name = classes[0].removeprefix("dk-")
        assert len(classes) == 1 and spoken == f"{label}: {name}" and glyph.startswith(looks[name].glyph)
    return {label: classes[0].removeprefix("dk-") for label, classes, _, _ in found}


def spoken(page: Any, selector: str) -> list[str]:
    return page.eval_on_selector_all(selector, "(all) => all.map((el) => el.getAttribute('aria-label'))")


def written(page: Any, selector: str) -> list[str]:
    return page.eval_on_selector_all(selector, "(all) => all.map((el) => el.textContent)")


def play_to_the_end(page: Any) -> list[int]:
    """Press Play; returns the ticks that were painted, in order, each once."""
    page.locator(".dk-player").evaluate(RECORD)
    page.click(".dk-play")
    page.wait_for_function("document.querySelector('.dk-play').textContent === 'Replay'", timeout=30_000)
    page.evaluate(TWO_FRAMES)  # the last tick is on the screen a frame later
    painted = page.evaluate("painted")
    return [now for before, now in zip([None, *painted], painted, strict=False) if now != before]


def test_each_tick_shows_what_the_trace_says(show, orders):
    page = show(orders)
    pool = next(meter for meter in orders.meters if meter.name == "pool db")
    for now in range(orders.last_tick + 1):
        page.locator(".dk-scrub").fill(str(now))
        states = orders.states_at(now)
        assert node_states(page) == states
        assert spoken(page, ".dk-row") == [f"{label}: {state}" for label, state in states.items()]
        used = [n for at, n in pool.used if at <= now][-1]
        meter = page.locator(".dk-meter", has_text="pool db").locator(".dk-value")
        assert meter.inner_text().startswith(f"{used} of 1")
        lines = written(page, ".dk-log .dk-current")
        assert sorted(lines) == sorted(text for at, text in orders.log_lines if at == now)


def test_the_chosen_task_is_explained_at_each_tick(show, orders):
    page = show(orders)
    page.locator(".dk-row", has_text="extract_users").click()
    for now in range(1, 6):
        page.locator(".dk-scrub").fill(str(now))
        said = page.inner_text(".dk-why")
        assert said.lower().startswith(orders.explain("extract_users", now).text.lower())
    assert "pool 'db' is full" in orders.explain("extract_users", 2).text  # so the loop saw a real reason


def test_without_a_choice_it_explains_what_waits_or_went_wrong(show, orders):
    page = show(orders)
    for now, label in ((1, "extract_users"), (8, "transform"), (14, "publish")):
        page.locator(".dk-scrub").fill(str(now))
        assert page.inner_text(".dk-task-name") == label


@pytest.mark.parametrize("tasks", [6, 60, 500])
def test_play_drops_no_tick(show, orders, tasks):
    trace = orders if tasks == 6 else random_trace(tasks)
    page = show(trace, interval=50)
    assert play_to_the_end(page) == list(range(trace.last_tick + 1))


def test_keys_drive_it(show, orders):
    page = show(orders)
    page.focus(".dk-player")
    for key, now in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 16), ("ArrowRight", 16),
                     ("Home", 0), ("ArrowLeft", 0)):
        page.keyboard.press(key)
        assert tick(page) == now
    page.keyboard.press("?")
    assert page.is_visible(".dk-help")
    page.keyboard.press("?")
    assert page.is_hidden(".dk-help")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    first = page.inner_text(".dk-task-name")
    page.keyboard.press("ArrowUp")
    assert page.inner_text(".dk-task-name") != first
    page.keyboard.press(" ")
    assert page.inner_text(".dk-play") == "Pause"
    page.keyboard.press(" ")
    assert page.inner_text(".dk-play") == "Play"


def test_escape_closes_the_help_and_gives_focus_back(show, orders):
    page = show(orders)
    focused = "document.activeElement.className"
    for place, open_it in ((".dk-player", "?"), (".dk-rows", "?"), (".dk-help-button", "Enter")):
        page.focus(place)
        before = page.evaluate(focused)
        page.keyboard.press(open_it)
        assert page.is_visible(".dk-help") and "dk-help" in page.evaluate(focused)
        page.keyboard.press("Escape")
        assert page.is_hidden(".dk-help") and page.evaluate(focused) == before
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.body")  # the second one leaves the player


def test_controls_stay_in_sight_while_the_rest_scrolls_by(show, orders):
    page = show(orders, size=(1366, 600))
    page.mouse.move(600, 500)
    page.mouse.wheel(0, 300)
    page.wait_for_function("scrollY > 200")
    box, story = page.locator(".dk-controls").bounding_box(), page.locator(".dk-story").bounding_box()
    assert 0 <= box["y"] < story["y"] < 60


def test_the_curtain_ends_where_the_rows_end(browser, tmp_path):
    """Whatever their scroll bar does: in a browser of its own, since playwright hides scroll bars."""
    path = html_export.to_html(random_trace(60), tmp_path / "player.html")
    own = browser.browser_type.launch(executable_path=chromium_path(), args=list(CHROMIUM_FLAGS),
                                      ignore_default_args=["--hide-scrollbars"])
    page = own.new_page(viewport={"width": 1366, "height": 768})
    page.goto(path.as_uri())
    page.set_viewport_size({"width": 1900, "height": 1000})
    ends = """() => ['.dk-over', '.dk-track', '.dk-rows'].map(
        (what) => document.querySelector(what).getBoundingClientRect().right)"""
    page.wait_for_function(f"(([a, b, c]) => a === b && c - b > 14)(({ends})())", timeout=5_000)
    page.fill(".dk-search", "_00")  # so few rows that the bar goes
    page.wait_for_function(f"(([a, b, c]) => a === b && b === c)(({ends})())", timeout=5_000)
    own.close()


@pytest.mark.parametrize("width", [800, 1000, 1200])
def test_no_line_of_the_story_is_seen_in_part(show, width):
    page = show(random_trace(60), size=(width, 800))
    seen = 0
    for now in range(1, 8):
        page.locator(".dk-scrub").fill(str(now))
        bottom, parts = page.evaluate("""() => [document.querySelector('.dk-story'),
            ...document.querySelectorAll('.dk-story > *')].map((el) => el.getBoundingClientRect())
            .reduce(([b, all], r, i) => i ? [b, [...all, [r.top, r.bottom]]] : [r.bottom, []], [0, []])""")
        assert all(low <= bottom or high >= bottom for high, low in parts)
        seen += len(parts)
    assert seen > 9


def test_keys_inside_a_field_stay_there(show):
    page = show(random_trace(60))
    page.click(".dk-search")
    page.keyboard.type("load 1?")
    assert page.input_value(".dk-search") == "load 1?" and tick(page) == 0 and page.is_hidden(".dk-help")


def test_buttons_step_and_the_axis_seeks(show, orders):
    page = show(orders)
    for name, now in (("One tick on", 1), ("One tick on", 2), ("One tick back", 1), ("Last tick", 16),
                      ("First tick", 0)):
        page.get_by_role("button", name=name).click()
        assert tick(page) == now
    box = page.locator(".dk-axis").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 8.5 / 17, box["y"] + 5)
    assert tick(page) == 8


@pytest.mark.parametrize("width", [640, 1400])
def test_the_ticks_above_the_rows_stand_over_the_bars(show, orders, width):
    page = show(orders, size=(width, 900))
    page.keyboard.press("End")
    middles = page.eval_on_selector_all(".dk-axis span", """(all) => Object.fromEntries(all.map((el) => {
        const box = el.getBoundingClientRect(); return [el.textContent, box.left + box.width / 2]; }))""")
    starts = page.eval_on_selector_all(".dk-seg", """(all) => all.map((el) =>
        [el.title.match(/from tick (\\d+)/)[1], el.getBoundingClientRect().left])""")
    off = {tick: middles[tick] - left for tick, left in starts if tick in middles}
    assert len(off) >= 2 and max(map(abs, off.values())) <= 1
    for now in (0, 8):  # so does the line of the current tick
        page.locator(".dk-scrub").fill(str(now))
        line = page.locator(".dk-now").evaluate("(el) => el.getBoundingClientRect().left + 1")
        assert abs(line - middles[str(now)]) <= 1


def test_what_was_not_seen_yet_stays_hidden(show, orders):
    page = show(orders)
    page.locator(".dk-scrub").fill("4")
    covered = page.locator(".dk-unseen").bounding_box()
    late = page.locator(".dk-row", has_text="cleanup_tmp").locator(".dk-seg").first.bounding_box()
    assert covered["x"] <= late["x"]
    page.locator(".dk-scrub").fill("16")
    page.locator(".dk-scrub").fill("4")
    chart = page.locator(".dk-over").bounding_box()
    assert page.locator(".dk-unseen").bounding_box()["x"] >= chart["x"] + chart["width"] - 1


def test_both_verdicts_appear_at_the_end_only(show, orders):
    page = show(orders)
    assert page.locator(".dk-verdict").count() == 0
    page.locator(".dk-scrub").fill("16")
    words = page.inner_text(".dk-verdict")
    assert re.search(r"Airflow's verdict.*\s+✓ success\s+.*task fail\?\s+✗ yes", words) and "leaves" in words


def test_the_live_region_speaks_on_pause_and_step_but_not_while_playing(show, orders):
    page = show(orders, interval=50)
    page.evaluate("""() => { window.spoken = []; const live = document.querySelector('[aria-live=polite]');
        new MutationObserver(() => spoken.push(live.textContent)).observe(live, { childList: true }); }""")
    page.focus(".dk-player")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("spoken.length") == 1
    assert page.evaluate("spoken[0]").startswith("Tick 1. extract_orders: none, then scheduled, then queued.")
    play_to_the_end(page)
    assert page.evaluate("spoken.length") == 2
    assert page.evaluate("spoken[1]").startswith("Tick 16. cleanup_tmp: running, then success.")


def test_play_is_locked_until_a_prediction_is_committed(show, orders):
    page = show(orders, prediction=QUESTION)
    assert page.locator(".dk-play").is_disabled() and page.locator(".dk-scrub").is_disabled()
    page.focus(".dk-player")
    for key in (" ", "ArrowRight", "End"):
        page.keyboard.press(key)
    box = page.locator(".dk-axis").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 5)
    assert tick(page) == 0
    assert page.get_by_role("button", name="Commit to it").is_disabled()
    page.get_by_label("upstream_failed").check()
    page.get_by_role("button", name="Commit to it").click()
    page.keyboard.press("End")
    assert tick(page) == 16
    assert "As you predicted: upstream_failed" in page.inner_text(".dk-feedback")
    assert "quality_check failed." in page.inner_text(".dk-feedback")


def test_a_wrong_prediction_is_compared_and_a_skipped_one_is_not(show, orders):
    page = show(orders, prediction=QUESTION)
    page.get_by_label("success", exact=True).check()
    page.get_by_role("button", name="Commit to it").click()
    page.keyboard.press("End")
    assert "Not as predicted. You said: success It was: upstream_failed" in page.inner_text(".dk-feedback")
    page = show(orders, prediction=QUESTION)
    page.get_by_role("button", name="Skip").click()
    page.keyboard.press("End")
    assert page.locator(".dk-verdict").count() == 1 and page.locator(".dk-feedback").count() == 0


@pytest.fixture(scope="module")
def two_slots(orders):
    """Another future of orders: both extracts run at once, so all that follows comes two ticks earlier."""
    return orders.fork(1, pools={"db": 2})


def test_two_futures_play_on_one_clock(show, orders, two_slots):
    assert (orders.last_tick, two_slots.last_tick) == (16, 14)
    page = show(orders, beside=two_slots, interval=50)
    for now in (0, 1, 3, 12, 15):
        page.locator(".dk-scrub").fill(str(now))
        for lane, trace in enumerate((orders, two_slots)):
            states = trace.states_at(now)
            assert node_states(page, lane) == states
            rows = page.locator(".dk-gantt").nth(lane).locator(".dk-row")
            assert rows.evaluate_all("(rows) => rows.map((row) => row.getAttribute('aria-label'))") == [
                f"{label}: {state}" for label, state in states.items()]
    page.locator(".dk-scrub").fill("0")
    assert play_to_the_end(page) == list(range(17))
    words = written(page, ".dk-verdict .dk-end")
    assert "First: as it was, last change at tick 16" in words[0]
    assert "Second: at tick 1: pool db = 2, last change at tick 14" in words[1]


def test_where_two_futures_part_is_said_and_marked(show, orders, two_slots):
    page = show(orders, beside=two_slots)
    sentence = str(orders.diff(two_slots))
    assert sentence[1:] in page.inner_text(".dk-parting")
    page.locator(".dk-scrub").fill("9")
    page.get_by_role("button", name="Go to tick 1").click()
    assert tick(page) == 1
    mark, scrub = (page.locator(f".dk-scrubber {part}").bounding_box() for part in (".dk-parted", ".dk-scrub"))
    thumb = scrub["x"] + 8 + (scrub["width"] - 16) / 16  # its middle at tick 1 of 16
    assert abs(mark["x"] + mark["width"] / 2 - thumb) < 2
    page = show(orders, beside=two_slots, prediction=QUESTION)
    assert page.is_hidden(".dk-parting") and page.is_hidden(".dk-scrubber .dk-parted")  # they tell what happens
    page.get_by_role("button", name="Skip").click()
    assert page.is_visible(".dk-parting") and page.is_visible(".dk-scrubber .dk-parted")


def test_two_futures_show_the_same_task(show, orders, two_slots):
    page = show(orders, beside=two_slots)
    page.focus(".dk-player")
    page.keyboard.press("ArrowRight")
    assert written(page, ".dk-task-name") == ["extract_users"] * 2  # where they part
    page.locator(".dk-gantt").nth(1).locator(".dk-row", has_text="transform").click()
    for now in (3, 4, 5):
        page.locator(".dk-scrub").fill(str(now))
        for said, trace in zip(written(page, ".dk-why"), (orders, two_slots), strict=True):
            assert said.lower().startswith(trace.explain("transform", now).text.lower())
    for pane in (".dk-graph .dk-node", ".dk-gantt .dk-row"):
        chosen = page.locator(f"{pane}.dk-selected")
        assert chosen.count() == 2 and all("transform" in text for text in chosen.all_text_contents())
    live = page.inner_text("[aria-live=polite]")
    assert re.fullmatch(r"Tick 5\. First, as it was: extract_users: queued, then running\. transform is none .*"
                        r" Second, at tick 1: pool db = 2: transform: queued, then running\. transform is .*", live)
    page.focus(".dk-player")
    page.keyboard.press("ArrowDown")
    assert written(page, ".dk-task-name") == ["quality_check"] * 2


def test_a_task_of_one_future_only(show):
    dag = Dag("m", [Task("list", returns=2), Task("work", expand={"x": "list"})])
    left, right = simulate(dag), simulate(dag, outcomes={"list": ["success:3"]})
    page = show(left, beside=right)
    page.locator(".dk-scrub").fill("3")
    page.locator(".dk-gantt").nth(1).locator(".dk-row", has_text="work[2]").click()
    assert "does not exist in this future" in page.locator(".dk-why").nth(0).inner_text()
    assert page.inner_text(".dk-task-name") == "work[2]"
    page.keyboard.press("ArrowUp")
    assert written(page, ".dk-task-name") == ["work[1]"] * 2
    page.locator(".dk-graph").nth(1).locator(".dk-node", has_text="work").click()  # all of its tasks, in both
    sizes = (page.locator(".dk-gantt .dk-note").nth(lane).inner_text() for lane in (0, 1))
    assert list(sizes) == ["work: 2 tasks", "work: 3 tasks"]


@pytest.mark.parametrize("width, beside", [(1400, True), (900, True), (700, False)])
def test_two_futures_stand_side_by_side_where_there_is_room(show, orders, two_slots, width, beside):
    page = show(orders, beside=two_slots, size=(width, 900))
    for pane in (".dk-task", ".dk-gantt", ".dk-logbox"):
        left, right = (page.locator(pane).nth(lane).bounding_box() for lane in (0, 1))
        assert (left["y"] == right["y"] and left["width"] == right["width"]) == beside
        assert (left["x"] == right["x"]) != beside
    graphs = page.locator(".dk-graph-scroll").evaluate_all("(all) => all.map((el) => el.scrollWidth - el.clientWidth)")
    assert width == 700 or max(graphs) <= 1  # else they scroll
    across = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert across[0] <= across[1]


def test_hostile_ids_show_as_text(show):
    trace = simulate(Dag("<img src=x onerror=window.pwned=1>",
                         [Task(name, HOSTILE[max(0, i - 2):i]) for i, name in enumerate(HOSTILE)]))
    page = show(trace)
    page.locator(".dk-scrub").fill(str(trace.last_tick))
    assert page.evaluate("window.pwned") is None
    assert page.locator(".dk-player :is(img, script, b.x, iframe)").count() == 0
    assert page.inner_text("h3") == "<img src=x onerror=window.pwned=1>"
    assert written(page, ".dk-row .dk-text") == [plain(name, 80) for name in HOSTILE]
    assert sorted(written(page, ".dk-graph .dk-label")) == sorted(plain(name) for name in HOSTILE)


@pytest.mark.parametrize("tasks", [6, 60, 500])
@pytest.mark.parametrize("width", [900, 1400])
def test_labels_are_legible_at_the_default_zoom(show, orders, tasks, width):
    page = show(orders if tasks == 6 else random_trace(tasks), size=(width, 900))
    words = ".dk-player :is(svg text, .dk-text, .dk-seg span, .dk-axis span, .dk-line)"
    smallest = page.eval_on_selector_all(words, """
        (texts) => Math.min(...texts.filter((text) => text.textContent.trim()).map((text) => {
          const svg = text.closest('svg');
          const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
          return parseFloat(getComputedStyle(text).fontSize) * scale;
        }))""")
    assert smallest >= 8.99
    across = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert across[0] <= across[1]


ACROSS = """() => { const el = document.querySelector('.dk-graph-scroll');
    return [el.scrollWidth - el.clientWidth, el.scrollHeight - el.clientHeight]; }"""


@pytest.mark.parametrize("tasks, width", [(6, 480), (60, 640), (60, 1400)])
def test_fit_shows_the_whole_drawing(show, orders, tasks, width):
    page = show(orders if tasks == 6 else random_trace(tasks), size=(width, 900))
    assert max(page.evaluate(ACROSS)) > 0  # legible labels need more room than there is
    page.get_by_role("button", name="Fit").click()
    assert max(page.evaluate(ACROSS)) <= 0


def five_in_a_row() -> Any:
    """A drawing for which two columns of the usual widths leave a little too little room."""
    names = [f"a_long_step_{i}" for i in range(5)]
    return simulate(Dag("row", [Task(name, names[max(0, i - 1):i]) for i, name in enumerate(names)]))


@pytest.mark.parametrize("width", [800, 1150])
def test_a_drawing_a_little_too_wide_shrinks(show, orders, width):
    page = show(orders if width == 800 else five_in_a_row(), size=(width, 900))  # wide enough to be read
    assert max(page.evaluate(ACROSS)) <= 0
    assert float(page.get_attribute('.dk-graph svg', 'data-scale')) < 1


def test_a_cut_drawing_scrolls_to_the_chosen_task(show, orders):
    page = show(orders, size=(440, 900))
    for label in ("publish", "extract_orders"):
        page.locator(".dk-row", has_text=label).click()
        node = page.locator(".dk-graph .dk-selected").bounding_box()
        pane = page.locator(".dk-graph-scroll").bounding_box()
        assert pane["x"] <= node["x"] and node["x"] + node["width"] <= pane["x"] + pane["width"]


def test_it_is_painted_before_it_is_on_the_page(show, orders):
    page = show(orders)
    tick, values, badges, story = page.evaluate("""() => { // render once more, and look at the moment it is put in
        const source = document.querySelector('script[type=module]').textContent.split('const player = {')[0];
        const sent = JSON.parse(document.querySelector('#dk-state').textContent);
        const model = { get: (key) => sent[key], set() {}, on() {}, off() {}, save_changes() {} };
        const el = document.createElement('div');
        let seen;
        el.append = (root) => {
          const all = (what) => [...root.querySelectorAll(what)].map((one) => one.textContent);
          seen = [root.dataset.tick, all('.dk-value'), all('.dk-node .dk-glyph'), all('.dk-story')[0]];
          Element.prototype.append.call(el, root);
        };
        new Function(source + 'return render;')()({ model, el })();
        return seen; }""")
    assert tick == "0" and story
    assert values and all(re.match(r"0( of \d+|, no limit)$", value) for value in values)
    assert badges and all(badge.startswith("○") for badge in badges)


def test_a_large_dag_comes_collapsed_and_can_be_opened(show):
    trace = random_trace(500)
    page = show(trace)
    boxes = page.locator(".dk-graph .dk-node")
    assert 3 <= boxes.count() <= 60
    assert "Too large to read task by task: 500 tasks" in page.inner_text(".dk-graph")
    page.locator(".dk-scrub").fill("5")
    boxes.nth(1).focus()
    page.keyboard.press("Enter")
    size = int(re.search(r"(\d+) tasks", page.inner_text(".dk-gantt .dk-note"))[1])
    rows = page.locator(".dk-row")
    assert rows.first.get_attribute("aria-setsize") == str(size) and 1 < size < 500
    states = trace.states_at(5)
    told = (text.split(": ") for text in spoken(page, ".dk-row"))
    assert all(states[label] == state for label, state in told)
    page.get_by_role("button", name="Show all").click()
    assert rows.first.get_attribute("aria-setsize") == "500"


def test_only_the_rows_in_sight_exist(show):
    page = show(random_trace(500))
    assert page.locator(".dk-row").count() < 40
    page.locator(".dk-rows").evaluate("(rows) => { rows.scrollTop = rows.scrollHeight; }")
    page.wait_for_function("document.querySelector('.dk-row[aria-posinset=\"500\"]') !== null")
    assert page.locator(".dk-row").count() < 40


CONTRAST = """(selector) => {
  const luminance = (colors) => { // of colors painted over one another
    const box = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d');
    for (const color of colors) { box.fillStyle = color; box.fillRect(0, 0, 1, 1); }
    const [r, g, b] = [...box.getImageData(0, 0, 1, 1).data].map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const layers = (el) => (el ? [...layers(el.parentElement), getComputedStyle(el).backgroundColor] : []);
  return [...document.querySelectorAll(selector)].filter((el) => el.offsetParent).map((el) => {
    const back = ['white', ...layers(el)];
    const [a, b] = [luminance([...back, getComputedStyle(el).color]), luminance(back)].sort((x, y) => y - x);
    return [(a + 0.05) / (b + 0.05), el.className || el.tagName];
  });
}"""
TEXT = ("h3, h4, .dk-note, button, select, .dk-tick, .dk-text, .dk-line, .dk-why, kbd, .dk-axis span, "
        ".dk-value, .dk-key dd, .dk-chip, .dk-badge, .dk-judge b, .dk-story")


@pytest.mark.parametrize("scheme, dark", [("light", False), ("dark", True)])
def test_text_contrast_in_light_and_dark(show, orders, scheme, dark):
    page = show(orders, color_scheme=scheme)
    page.locator(".dk-scrub").fill("16")
    page.focus(".dk-player")
    page.keyboard.press("?")
    pairs = page.evaluate(CONTRAST, TEXT)
    assert len(pairs) > 60
    assert [pair for pair in pairs if pair[0] < 4.5] == []
    body = page.eval_on_selector(".dk-player", "(el) => getComputedStyle(el).backgroundColor")
    assert (int(re.search(r"\d+", body)[0]) < 60) == dark


def test_transitions_are_short_and_end_with_reduced_motion(show, orders):
    seconds = """(boxes) => boxes.map((box) =>
        Math.max(...getComputedStyle(box).transitionDuration.split(',').map(parseFloat)))"""
    page = show(orders, interval=250)
    assert 0 < max(page.eval_on_selector_all(".dk-box", seconds)) < 0.25 / 3
    page.select_option("select", "50")
    assert max(page.eval_on_selector_all(".dk-box", seconds)) == 0
    page = show(orders, interval=250, reduced_motion="reduce")
    assert max(page.eval_on_selector_all(".dk-player, .dk-player *", seconds)) == 0
    page.wait_for_timeout(300)
    assert tick(page) == 0  # it never starts by itself


def test_every_control_has_a_name_and_keys_stay_inside(show, orders):
    page = show(orders, prediction=QUESTION)
    unnamed = page.eval_on_selector_all(".dk-player :is(button, input, select)", """(all) => all.filter(
        (el) => !(el.textContent.trim() || el.getAttribute('aria-label') || el.labels?.length)).length""")
    assert unnamed == 0
    assert page.get_attribute(".dk-player", "data-lm-suppress-shortcuts") == "true"
    page.evaluate("""window.leaked = [];
        document.addEventListener('keydown', (event) => leaked.push(event.key))""")
    page.focus(".dk-player")
    for key in ("a", "b", "ArrowRight", "?"):
        page.keyboard.press(key)
    assert page.evaluate("leaked") == []


def test_without_scripts_the_still_picture_is_shown(show, orders):
    page = show(orders, java_script_enabled=False)
    assert page.locator("noscript svg").count() == 2
    assert page.locator("noscript svg .dk-label", has_text="cleanup_tmp").is_visible()


def test_read_aloud_is_hidden_where_the_browser_cannot_speak(show, browser, tmp_path, orders):
    page = show(orders)
    speaks = page.evaluate("Number('speechSynthesis' in window)")
    assert page.locator("button", has_text="Read aloud").count() == speaks
    context = browser.new_context()
    context.add_init_script("delete window.speechSynthesis; delete Window.prototype.speechSynthesis")
    silent = context.new_page()
    silent.goto((tmp_path / "player.html").as_uri())
    assert silent.locator("button", has_text="Read aloud").count() == 0
    context.close()


def test_no_words_of_a_staircase_lie_over_one_another(browser):
    days = [(slots, 300_000 // slots + 1_000) for slots in range(1, 17)]
    drawn = [charts.staircase(days, prefix="a-", floor=19_000, knee=16, here=9),
               charts.staircase([(n, 200_000 + 10 * (40 - n)) for n in range(1, 41)], prefix="b-", floor=200_000, knee=40),
               charts.staircase([(1, 5), (2, 5)], prefix="c-", floor=5, knee=1, here=1)]
    page = browser.new_page()
    page.set_content("".join(drawn))
    clashes = page.evaluate("""() => [...document.querySelectorAll('svg')].flatMap((svg) => {
        const all = [...svg.querySelectorAll('text')].map((el) => [el.textContent, el.getBBox()]);
        return all.flatMap(([a, p], i) => all.slice(i + 1).filter(([, q]) => p.x < q.x + q.width && q.x < p.x + p.width
          && p.y + 2 < q.y + q.height - 2 && q.y + 2 < p.y + p.height - 2).map(([b]) => `${a} | ${b}`)); })""")
    words = written(page, "svg .dk-value")
    page.close()
    assert clashes == []
    assert {"301,000", "34,333 on 9 slots", "5 on 1 slot"} <= set(words)


def test_a_player_changes_no_picture_on_its_page(browser, orders):
    """A picture has classes of the player's names and a style of its own: the player's sheet must not reach it."""
    pictures = (examples.orders().dag.draw(), orders.gantt(), plan(examples.file_fanout(), 2))
    page = browser.new_page()
    page.set_content("".join(picture.html() for picture in pictures))
    look = """() => [...document.body.querySelectorAll("*")].map((element) => {
      const style = getComputedStyle(element), { width, height } = element.getBoundingClientRect();
      return [element.tagName, element.getAttribute("class"), width, height, style.fill, style.stroke, style.margin,
              style.font, style.position, style.display, style.color, style.backgroundColor, style.border].join(" ");
    })"""
    alone = page.evaluate(look)
    page.add_style_tag(path=player.HERE / "player.css")
    changed = [pair for pair in zip(alone, page.evaluate(look), strict=True) if pair[0] != pair[1]]
    assert len(alone) > 100 and not changed
    page.close()
