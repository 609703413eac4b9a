"""What the kit's ES modules share: a function ``h`` that makes an element, put in front of each of them."""

from __future__ import annotations

from pathlib import Path

SHARED = Path(__file__).with_name("element.js").read_text(encoding="utf-8")


def module(path: Path) -> str:
    """An ES module as the browser gets it: with ``h`` in front."""
    return SHARED + path.read_text(encoding="utf-8")
