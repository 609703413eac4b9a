"""The engine holds half a million concurrent task instances and plays a probe Dag on top of them.

    python benchmarks/bench_probe.py [resident tasks]

Resident Dags of long sleepers fill the deployment at tick 1 and stay. A probe of three tasks in a row is due at
tick 10. What is asked of the engine: that its probe runs tick by tick as it would alone, that nothing is lost, and
what time and memory that takes. Answers are compared before anything is timed.
"""

from __future__ import annotations

import resource
import sys
import time
from typing import Any

import dagkit as dk
from dagkit.engine import play

PER_RUN = 500
"""Tasks in one resident run, as wide as Dags get before they are split."""
STAY = 1_000
DUE = 10


def probe() -> dk.Dag:
    """extract > transform > publish, one tick each."""
    return dk.Dag("probe", [dk.Task("extract"), dk.Task("transform", "extract"), dk.Task("publish", "transform")])


def deployment(resident: int) -> dk.Scenario:
    """``resident`` tasks that run from tick 2 to tick 2 + STAY, in runs of PER_RUN, and the probe."""
    runs = max(1, resident // PER_RUN)
    sleepers = dk.Dag("sleepers", [dk.Task(f"sleep_{k}", duration=STAY) for k in range(min(resident, PER_RUN))],
                      max_active_tasks=PER_RUN, max_active_runs=runs)
    return dk.Scenario([sleepers, probe()], runs={"sleepers": runs, "probe": dk.Runs(1, start=DUE)},
                       pools={"default_pool": 2 * resident + 10}, config=dk.Config(parallelism=2 * resident + 10))


def lived(trace: Any) -> list[tuple[str, list[tuple[int, str]]]]:
    """The probe's states over time."""
    return [(label.rpartition(".")[2].partition("@")[0], changes)
            for label, changes in zip(trace.labels, trace.changes, strict=True) if label.startswith("probe")
            or "." not in label]


def main(resident: int = 500_000) -> dict[str, float]:
    """Prints and returns: seconds, transitions, MiB, and the most task instances running at once."""
    alone = lived(dk.simulate(dk.Scenario(probe(), runs=dk.Runs(1, start=DUE))))
    scenario = deployment(resident)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    sim = play(scenario)
    took = time.perf_counter() - start
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    trace = dk.Trace.of(sim)
    assert lived(trace) == alone, "the probe does not run as it does alone"
    end = 1 + dk.LocalExecutor().handover + STAY
    running = sum(state == "running" for state in trace.states_at(DUE + 1).values())
    sleepers = resident // PER_RUN * PER_RUN
    assert running == sleepers + 1, f"{running:,} run at tick {DUE + 1}, not {sleepers + 1:,}"
    assert sum(state == "success" for state in trace.final_states.values()) == sleepers + 3 and trace.last_tick == end
    found = {"task instances at once": running, "seconds": took, "transitions": len(sim.event_new), "MiB": memory}
    for name, value in found.items():
        print(f"{name:<24}{value:>14,.1f}" if isinstance(value, float) else f"{name:<24}{value:>14,}")
    print(f"{'transitions/s':<24}{len(sim.event_new) / took:>14,.0f}")
    print("the probe under them: " + "; ".join(f"{task} runs at tick {next(t for t, s in changes if s == 'running')}"
                                               for task, changes in lived(trace)) + ", as alone")
    return found


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 500_000)
    except KeyboardInterrupt:
        print("stopped")
