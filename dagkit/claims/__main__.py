"""``python -m dagkit.claims``: measure row locks and hints on a real PostgreSQL, here and now."""

from __future__ import annotations

import sys

from ..errors import DagkitError
from .measuring import measure
from .recorded import FILE


def main(arguments: list[str]) -> int:
    """Measure and print; with ``--record`` also keep the result as what the lessons show."""
    try:
        found = measure(progress=lambda line: print(line, flush=True))
    except KeyboardInterrupt:
        print("Stopped. Nothing is left running.", file=sys.stderr)
        return 130
    except DagkitError as error:
        print(error, file=sys.stderr)
        return 1
    print(found.race.verdict)
    for what, ratio in found.race.ratios().items():
        print(f"{what}: {ratio:.1f} x")
    polling, hints = found.start("polling, workers pushed").quantile(0.95), found.start("hints").quantile(0.95)
    print(f"start latency, p95: polling every second takes {polling / hints:.0f} x as long as hints")
    if "--record" in arguments:
        FILE.write_text(found.to_json(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
