"""Every picture in README.md is what the kit draws today."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_no_picture_is_stale_or_missing():
    spec = importlib.util.spec_from_file_location("make_pictures", ROOT / "tools" / "make_pictures.py")
    assert spec and spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    shown = re.findall(r"]\(docs/([\w.-]+\.svg)", (ROOT / "README.md").read_text(encoding="utf-8"))
    measured = {"benchmarks.svg"}                              # drawn from kept results: tests/test_benchmarks.py
    assert shown and sorted({*shown} - measured) == sorted(made.pictures())
    for name, svg in made.pictures().items():
        saved = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert saved == svg, f"docs/{name} is stale: run tools/make_pictures.py"
