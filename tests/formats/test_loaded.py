"""What load gives back: durations in ticks, the report, how it shows itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from dagkit import Dag
from dagkit.errors import DagkitError
from dagkit.formats import Loaded, Run, TaskRun, load

from .support import FILES


def timed(unit: str | None, **durations: float) -> Loaded:
    return Loaded(
        Dag.from_dict({name: {"duration": value} for name, value in durations.items()}), "csv", unit=unit
    )


def ticks(loaded: Loaded, unit: object = None) -> list[int]:
    dag = loaded.for_simulation(unit)  # type: ignore[arg-type]
    assert all(type(task.duration) is int for task in dag)
    return [task.duration for task in dag]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("own", "unit", "durations", "expected"),
    [
        (None, None, [2.5, 0, 3], [3, 1, 3]),
        (None, 0.5, [2.5, 0.1], [5, 1]),
        ("s", 1, [0.2, 1.0, 1.1], [1, 1, 2]),
        ("s", "min", [61, 60, 1], [2, 1, 1]),
        ("min", "s", [2, 0.5], [120, 30]),
        ("min", "h", [61], [2]),
        ("s", 0.1, [1.1, 0.3, 0.7], [11, 3, 7]),  # in binary floating point the first would be 12
        ("s", "ms", [0.0031], [4]),
        (None, 7, [10**30 + 1], [(10**30 + 1 + 6) // 7]),
    ],
)
def test_durations_are_rounded_up_to_whole_ticks(
    own: str, unit: object, durations: list, expected: list
) -> None:
    loaded = timed(own, **{f"t{i}": value for i, value in enumerate(durations)})
    assert ticks(loaded, unit) == expected
    assert [task.duration for task in loaded.dag] == durations


@pytest.mark.parametrize(
    ("longest", "tick"),
    [(0.15, 0.001), (0.2, 0.001), (0.201, 0.01), (3, 0.1), (150, 1), (2001, 60), (10**9, 86400)],
)
def test_without_a_unit_the_longest_task_lasts_at_most_200_ticks(longest: float, tick: float) -> None:
    loaded = timed("s", a=longest, b=0)
    dag = loaded.for_simulation()
    assert loaded.report == [
        f"For simulation, one tick is {tick:g} s; durations are rounded up to whole ticks, "
        f"at least 1 ({sum(t.duration * tick != d for t, d in zip(dag, (longest, 0), strict=True))} of 2 changed)."
    ]
    assert longest > 10**8 or 20 < dag["a"].duration <= 200 or tick == 60


@pytest.mark.parametrize(
    ("durations", "tick"),
    [([1, 1], 1), ([20, 30], 10), ([1, 2.5], 0.1), ([60, 120], 60), ([7, 0], 0.1), ([0.25, 0.5], 0.01)],
)
def test_a_tick_is_as_large_as_keeps_every_duration_whole(durations: list, tick: float) -> None:
    """A task that takes no time lasts a tick all the same: it must not become a long one."""
    loaded = timed("s", **{f"t{i}": value for i, value in enumerate(durations)})
    loaded.for_simulation()
    assert loaded.report[0].startswith(f"For simulation, one tick is {tick:g} s;")


def test_a_retry_delay_has_a_say_in_the_tick() -> None:
    dag = Dag.from_dict({"a": {"duration": 60, "retries": 1, "retry_delay": 15}, "b": {"duration": 60, "retry_delay": 7}})
    made = Loaded(dag, "csv", unit="s").for_simulation()
    assert (made["a"].duration, made["a"].retry_delay) == (60, 15)


def test_the_report_names_the_last_unit_only() -> None:
    loaded = timed("s", a=90)
    loaded.for_simulation("min")
    loaded.for_simulation("s")
    assert [s for s in loaded.report if s.startswith("For simulation")] == [
        "For simulation, one tick is s; durations are rounded up to whole ticks, at least 1 (0 of 1 changed)."
    ]


@pytest.mark.parametrize(
    ("own", "unit", "message"),
    [
        ("s", 0, "unit must be a number > 0 or one of ms, s, min, h, d, not 0"),
        ("s", "week", "unit must be a number > 0 or one of ms, s, min, h, d, not 'week'"),
        ("s", True, "not True"),
        ("s", float("nan"), "not nan"),
        ("s", float("inf"), "not inf"),
        (None, "s", "this csv input has no unit of time, so unit 's' means nothing"),
    ],
)
def test_units_that_are_none(own: str | None, unit: object, message: str) -> None:
    with pytest.raises(DagkitError, match=message):
        timed(own, a=1).for_simulation(unit)  # type: ignore[arg-type]


def test_every_other_time_becomes_ticks_too() -> None:
    dag = load(FILES / "shop_serialized.json").for_simulation("min")
    assert (dag["clean"].retry_delay, dag["clean"].execution_timeout, dag.dagrun_timeout) == (1, 2, 120)
    assert dag["start"].retry_delay == 1  # it is never used, and stays the kit's default
    assert dag.max_active_tasks == 4 and dag["fixed"].expand == {"bash_command": 3}


def test_it_can_be_simulated() -> None:
    import dagkit as dk

    loaded = load(FILES / "wf_15.json")
    trace = dk.simulate(loaded.for_simulation(unit=1))
    assert trace.run_state == "success"
    assert loaded.dag["fetch_1"].duration == 1.5


def test_loading_inside_an_open_dag_leaves_that_dag_alone() -> None:
    with Dag("outer") as outer:
        loaded = load("a -> b\n")
        loaded.for_simulation()
    assert len(outer) == 0 and len(loaded.dag) == 2


def test_how_it_shows_itself() -> None:
    loaded = load(FILES / "wf_15.json")
    assert repr(loaded) == (
        "Loaded('photo-mosaic', wfformat, 4 tasks, 4 dependencies, unit s, run of 3, 4 remarks)"
    )
    assert repr(loaded.run) == "Run(3 task instances, 6 s)"
    html = loaded._repr_html_()
    assert "<th>recorded makespan</th><td>9.5 s</td>" in html and html.count("<li>") == 4


def test_hostile_names_are_text_in_its_html() -> None:
    evil = "<script>alert(1)</script>"
    loaded = Loaded(
        Dag.from_dict({evil: {}}, dag_id=evil),
        "csv",
        [f"remark on {evil}"],
        missing=(evil,),
        run=Run([TaskRun(evil, 0.0, 1.0, state=evil)]),
    )
    assert loaded.run is not None
    assert "<script" not in loaded._repr_html_() + loaded.run._repr_html_()
    assert "&lt;script&gt;" in loaded._repr_html_() and "&lt;script&gt;" in loaded.run._repr_html_()


def test_a_long_run_is_cut_in_html_only() -> None:
    run = Run([TaskRun(f"t{i:03}", float(i), i + 1.0) for i in range(100)])
    assert "40 further rows" in run._repr_html_() and run._repr_html_().count("<tr>") == 61
    assert len(run.to_frame()) == 100


def test_the_file_may_be_named_by_str_or_path() -> None:
    path = FILES / "wf_13.json"
    assert load(path).dag.edges == load(str(path)).dag.edges == load(path.read_text("utf-8")).dag.edges


def test_a_dag_id_comes_from_the_file_name_where_it_holds_none(tmp_path: Path) -> None:
    (tmp_path / "my.flow.csv").write_text("task,upstream\na,\nb,a\n")
    assert load(tmp_path / "my.flow.csv").dag.dag_id == "my"
    assert load("a -> b\n").dag.dag_id == "dag"


def test_python_that_makes_a_dag_with_the_kit_is_known_for_what_it_is() -> None:
    """It may hold arrows, as this annotation does; it is no list of arrows, and it is not run."""
    text = "import dagkit as dk\n\ndef build() -> dk.Dag:\n    return dk.Dag('shop')\n"
    with pytest.raises(DagkitError, match=r"makes one with dagkit when it runs.*dk\.dump\(dag, 'json', 'dag\.json'\)"):
        load(text)
    assert load("# import dagkit\na -> b\n").dag.edges == [("a", "b")]
