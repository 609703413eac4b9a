"""Dags whose best schedule is certified: made here, solved by OR-Tools' CP-SAT, kept as tests/data/optimal.json.

    python tools/make_optimal.py          (needs `pip install ortools`; a few minutes)

Each case is a random Dag, a number of slots, and the shortest makespan there is, proved optimal by the solver. Only
proved cases are kept. The tests measure our greedy schedules against them; the solver is never needed again.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

OUT = Path(__file__).resolve().parents[1] / "tests" / "data" / "optimal.json"
SECONDS = 20   # for one case


def make(seed: int) -> dict[str, Any]:
    """Layers or a random order, up to three upstreams a task, durations 1 to 20."""
    draw = random.Random(seed)
    n, width = draw.choice((20, 30, 40, 60, 80)), draw.choice((4, 6, 9))
    tasks: dict[str, Any] = {}
    for i in range(n):
        low = max(0, i - draw.choice((width, 2 * width)))
        ups = draw.sample(range(low, i), min(i - low, draw.randint(0 if i < width else 1, 3)))
        tasks[f"t{i:02d}"] = {"duration": draw.randint(1, 20), "upstream": [f"t{u:02d}" for u in sorted(ups)]}
    return {"seed": seed, "slots": draw.randint(2, 8), "tasks": tasks}


def optimum(case: dict[str, Any]) -> int | None:
    """The shortest makespan, or None if the solver could not prove it in time."""
    from ortools.sat.python import cp_model
    model, tasks = cp_model.CpModel(), case["tasks"]
    horizon = sum(t["duration"] for t in tasks.values())
    start = {name: model.new_int_var(0, horizon, name) for name in tasks}
    end = model.new_int_var(0, horizon, "end")
    bars = []
    for name, task in tasks.items():
        bars.append(model.new_fixed_size_interval_var(start[name], task["duration"], name))
        model.add(start[name] + task["duration"] <= end)
        for upstream in task["upstream"]:
            model.add(start[upstream] + tasks[upstream]["duration"] <= start[name])
    model.add_cumulative(bars, [1] * len(bars), case["slots"])
    model.minimize(end)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds, solver.parameters.num_workers, solver.parameters.random_seed = SECONDS, 2, 1
    return int(solver.objective_value) if solver.solve(model) == cp_model.OPTIMAL else None


def main(seeds: int = 100) -> None:
    kept = []
    for seed in range(seeds):
        case = make(seed)
        case["optimum"] = optimum(case)
        print(f"{seed + 1} of {seeds}: {len(case['tasks'])} tasks, {case['slots']} slots, "
              f"optimum {case['optimum'] or 'not proved'}", file=sys.stderr)
        if case["optimum"] is not None:
            kept.append(case)
    about = "Made by tools/make_optimal.py: random Dags, and the shortest makespan on so many slots, proved by CP-SAT."
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in kept)
    OUT.write_text(f'{{"about": {json.dumps(about)}, "cases": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{len(kept)} of {seeds} kept", file=sys.stderr)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
