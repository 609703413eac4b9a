"""Lesson 7: the scenarios of its demonstrations, each a function whose arguments are its knobs."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from ... import faults
from ...architecture import breaking as panel
from ...architecture.growth import growth
from ...architecture.parsing import Parsing, parse
from ...dag import Dag
from ...engine import simulate
from ...executors import Broker, CeleryExecutor, LocalExecutor, Worker
from ...formats import load
from ...redelivery import redeliveries
from ...scenario import Config, Scenario
from ...task import Task
from ...views import charts
from ...views.picture import Picture, content_prefix
from ...waits import Deferral, Sensor

CHAIN = Dag("nightly", [Task("extract", duration=6, retries=1, retry_delay=10),
                        Task("load", "extract", duration=4), Task("publish", "load")])
"""A tick is a second here, so Airflow's timeouts hold as they are."""


def workers(*, slots: int = 2) -> CeleryExecutor:
    """Two workers fed by a broker."""
    return CeleryExecutor(workers=[Worker(slots, name="w1"), Worker(slots, name="w2")], handover=1)


def outage(*broken: Any, dag: Any = CHAIN, **given: Any) -> Any:
    """The nightly Dag with something broken, on Celery."""
    return simulate(dag, faults=list(broken), executor=workers(), **given)


def api_gone(seconds: int) -> Any:
    """The API server is away for some seconds from tick 4 on, while extract runs."""
    return outage(faults.ApiServerDown(4, until=4 + seconds))


def tells(trace: Any) -> dict[str, Any]:
    """One row: what became of the run."""
    return {"extract tries": trace.tries["extract"], "run": trace.run_state, "ended at tick": trace.last_tick}


def edited(*broken: Any, tick: int = 4) -> Any:
    """Somebody deletes load from the file while extract runs; publish now follows extract."""
    shorter = Dag("nightly", [Task("extract", duration=6, retries=1, retry_delay=10), Task("publish", "extract")])
    return outage(*broken, changes=[(tick, {"dag": shorter})])


# ---- the Dag processor ----------------------------------------------------------------------------------------------

FILES: dict[str, float] = {f"dag_{k:02}.py": 2 for k in range(20)}
"""Twenty files that take two seconds each to parse."""
SLOW: dict[str, float] = {"calls_an_api.py": 45, "reads_a_table.py": 45}
DEAD: dict[str, float] = {"loads_a_model.py": 70}


def processed(*more: dict[str, float], **settings: Any) -> Parsing:
    """The Dag processor with the twenty files and some more."""
    files = dict(FILES)
    for each in more:
        files |= each
    return parse(files, **settings)


def edits(file: str = "dag_03.py") -> list[dict[str, Any]]:
    """How long an edit of an ordinary file waits at most, by what else lies in the folder."""
    cases: dict[str, Parsing] = {
        "twenty files of 2 s": processed(),
        "and one of 45 s": processed(dict(list(SLOW.items())[:1])),
        "and two of 45 s": processed(SLOW),
        "the two, with 4 parsing_processes": processed(SLOW, parsing_processes=4),
        "and one of 70 s, beyond the timeout": processed(DEAD),
        "min_file_process_interval 5": processed(min_file_process_interval=5),
    }
    return [{"folder": name, "an edit is seen after at most": f"{done.longest_gap(file):.0f} s",
             "seconds of parsing in ten minutes": round(sum(p.end - p.start for p in done.parses))}
            for name, done in cases.items()]


# ---- the triggerer --------------------------------------------------------------------------------------------------

WAITS: dict[str, Any] = {
    "poke": Sensor(true_after=60, poke_interval=10),
    "reschedule": Sensor(true_after=60, poke_interval=10, mode="reschedule"),
    "deferral": Deferral(before=1, wait=60, after=1),
}


@cache
def hundred(how: str) -> Any:
    """A hundred sensors that wait a minute, with room for all."""
    dag = Dag("sensors", [Task(f"wait_{k}", wait=WAITS[how]) for k in range(100)], max_active_tasks=200)
    return simulate(dag, config=Config(parallelism=200), executor=LocalExecutor(handover=0))


def held(how: str) -> list[tuple[float, float]]:
    """Worker slots in use over time: (tick, slots) wherever it changes."""
    return [(float(t), float(n)) for t, n in next(m.used for m in hundred(how).meters if m.kind == "parallelism")]


def slots_over_time() -> Picture:
    """The three ways in one chart."""
    series = [(how, [*held(how), (64.0, 0.0)]) for how in WAITS]
    drawn = charts.lines(*series, prefix=content_prefix("slots", series), y_label="worker slots",
                         title="100 sensors that wait a minute: worker slots held")
    rows = [{"how": how, "slots at most": int(max(n for _, n in points)), "slot ticks": int(_area(points))}
            for how, points in series]
    return Picture(drawn, rows, "Worker slots held by 100 sensors")


def _area(points: list[tuple[float, float]]) -> float:
    return sum(n * (b - a) for (a, n), (b, _) in zip(points, points[1:], strict=False))


# ---- database and broker --------------------------------------------------------------------------------------------


def months() -> list[dict[str, Any]]:
    """Rows and the scheduler's pass as the deployment gets older, with nothing cleaned away."""
    rows = []
    for label, days in (("a day", 1), ("a month", 30), ("half a year", 180), ("a year", 365), ("three years", 1095)):
        grown = growth(days=days)
        fault = grown.fault(1)
        trace = simulate(CHAIN, faults=[fault] if fault else [])
        rows.append({"after": label, "rows of task_instance": f"{grown.rows:,}",
                     "one pass takes": f"{grown.loop_seconds:.2f} s", "nightly ends at": trace.last_tick,
                     "errors": sum("fail" in state for state in trace.final_states.values())})
    return rows


def lost(*, task_queued_timeout: int = 600) -> Any:
    """The message of load gets lost; reconciliation finds it."""
    return outage(faults.LoseMessage(8, "load"), config=Config(task_queued_timeout=task_queued_timeout))


def long_task(hours: int = 50, broker: str = "redis") -> Any:
    """A task of many hours; a tick is an hour. Redis hands its message out again after a day."""
    timeout: dict[str, Any] = {"visibility_timeout": 86_400} if broker == "redis" else {}
    return simulate(Dag("big", [Task("train", duration=hours)]), config=Config(tick_seconds=3600),
                    executor=CeleryExecutor(broker=Broker(broker, **timeout), handover=0))


# ---- orders_daily ---------------------------------------------------------------------------------------------------


def orders_file() -> Path:
    """The file of the lesson, wherever the notebook runs."""
    there = [Path("data/orders_daily.py"), Path(__file__).parents[3] / "notebooks" / "data" / "orders_daily.py"]
    return next((path for path in there if path.is_file()), there[0])


def orders_daily(*, files: int = 4, minutes: int = 2) -> Scenario:
    """orders_daily from its file, with what a file cannot say: how many paths, and how long things take (minutes)."""
    dag = load(str(orders_file())).dag.replace("list_files", returns=files)
    for task in dag:
        dag = dag.replace(task.task_id, retry_delay=5)
    return Scenario(dag, pools={"orders_db": 1}, durations={"process": minutes}, config=Config(tick_seconds=60))


def xcom_megabytes(*, files: int = 4, megabytes: int = 500) -> list[dict[str, Any]]:
    """What one run puts into the database, by what the tasks hand on."""
    path = "orders/2026-01-01/part-0.parquet"
    return [{"handed on": "paths", "bytes in xcom": f"{files * 2 * len(path):,}"},
            {"handed on": "the data itself", "bytes in xcom": f"{files * 2 * megabytes * 1_000_000:,}"}]


__all__ = ["CHAIN", "FILES", "SLOW", "WAITS", "api_gone", "edited", "edits", "held", "hundred", "long_task", "lost",
           "months", "orders_daily", "orders_file", "outage", "panel", "processed", "redeliveries", "slots_over_time",
           "tells", "workers", "xcom_megabytes"]
