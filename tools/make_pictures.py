"""The pictures of README.md, made from the kit itself. ``tests/test_pictures.py`` fails when one is stale.

    python tools/make_pictures.py          # write them
"""

from __future__ import annotations

from pathlib import Path

import dagkit as dk

DOCS = Path(__file__).resolve().parent.parent / "docs"


def pictures() -> dict[str, str]:
    """File name -> SVG text."""
    return {"orders.svg": on_paper(dk.simulate(dk.examples.orders()).gantt().svg)}


def on_paper(svg: str) -> str:
    """Dark ink on white: a picture shown by itself cannot ask its page for colours."""
    return svg.replace("<svg ", '<svg style="background:#fff;color:#1a1a1a" ', 1)


if __name__ == "__main__":
    for name, svg in pictures().items():
        (DOCS / name).write_text(svg, encoding="utf-8", newline="\n")
        print("wrote", name)
