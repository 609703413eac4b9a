"""Lesson 9: its demonstrations. Tables from the latency model, from stories hop by hop, and from what was recorded."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from ...dag import Dag
from ...engine import simulate
from ...latency import CASES, FIGURES, PARAMETERS, Model, play, survey
from ...latency.verdict import CONCLUSIONS, said
from ...scenario import Config, Runs, Scenario
from ...task import Task


@cache
def model() -> Model:
    """The model as it is assumed."""
    return Model()


def cure(**setting: float) -> str:
    """p95 at 50,000 on the standard path with a setting turned, everything else as it was."""
    return f"{model().tuned(**setting).p95('standard', 50_000):.1f} s"


def faults() -> list[dict[str, Any]]:
    """Every fault, played: how long the first task waits, and what became of the run."""
    rows = []
    for case in CASES.values():
        story = play(case.faults)
        rows.append({"what goes wrong": case.name, "first start after": f"{story.waits()[0] / 1000:.2f} s",
                     "run": story.run, "writes refused": story.count("refused"),
                     "tries": sum(tries for _, tries in story.final.values()), "what saves it": case.then})
    return rows


def bare() -> list[dict[str, Any]]:
    """The same system with a protection off: what becomes of it over some faults."""
    rows = []
    for name in ("nothing", "hint not published", "task hint lost", "worker cut off", "scheduler dies"):
        for off in ("fallback", "guards"):
            story = play(replace(CASES[name].faults, fallback=off != "fallback", guards=off != "guards"))
            rows.append({"what goes wrong": name, "without": off, "missing": story.missing or "nothing",
                         "ran twice": story.doubled or "nothing"})
    return rows


def probe(resident: int = 5_000) -> Any:
    """The simulator itself: sleepers that fill the deployment, and a probe Dag of three tasks on top of them."""
    sleepers = Dag("sleepers", [Task(f"sleep_{k}", duration=1_000) for k in range(500)], max_active_tasks=500,
                   max_active_runs=resident)
    asked = Dag("probe", [Task("extract"), Task("transform", "extract"), Task("publish", "transform")])
    return simulate(Scenario([sleepers, asked], runs={"sleepers": resident // 500, "probe": Runs(1, start=10)},
                             pools={"default_pool": 2 * resident}, config=Config(parallelism=2 * resident)))


def surveyed() -> list[dict[str, Any]]:
    """What holds when every assumed number is drawn from its range: conclusions, then predictions."""
    found = survey(100)
    rows = [{"asked": CONCLUSIONS[name][0], "answer": f"holds in {share:.0%} of the models"}
            for name, share in found.holds.items()]
    for figure in FIGURES:
        if figure.what in found.ranges:
            low, high = found.ranges[figure.what]
            rows.append({"asked": figure.what, "answer": f"{said(low, figure.unit)} to {said(high, figure.unit)} "
                         f"in nine models of ten; published: {said(figure.published, figure.unit)}"})
    return rows


def parameters(*kinds: str) -> list[dict[str, Any]]:
    """What the model rests on, by how far it can be trusted."""
    chosen = [p for p in PARAMETERS.values() if p.kind in (kinds or (p.kind,))]
    ranged = any(p.low is not None for p in chosen)
    return [{"parameter": p.name, "value": "solved for" if p.kind == "calibrated" else f"{p.value:g} {p.unit}",
             "kind": p.kind,
             **({"range": f"{p.low:g} to {p.high:g}" if p.low is not None else ""} if ranged else {}),
             "source": p.source} for p in chosen]


def recorded() -> list[dict[str, Any]]:
    """Polling against hints on a real PostgreSQL, as it was recorded."""
    from ...claims import recorded as found
    return [{"design": start.design, "median start": f"{start.quantile(0.5) * 1000:.0f} ms",
             "p95": f"{start.quantile(0.95) * 1000:.0f} ms", "queries per task": round(start.queries / start.tasks, 1),
             "ran twice": start.twice, "missing": start.missing} for start in found().starts]


def label() -> str:
    """The line under what was recorded: on what, and the command that measures again."""
    from ...claims import recorded as found
    return found().label
