"""``trace.to_html(path)``: the player as one file that works offline, without Python, from a memory stick."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..written import write
from . import player

# The module ends in its only export; here it becomes a plain name, and a model of six functions stands in for
# the notebook's.
EXPORT = "export default {"
BOOT = """
const state = JSON.parse(document.getElementById("dk-state").textContent);
const listeners = new Map();
const model = {
  get: (key) => state[key],
  set: (key, value) => {
    if (state[key] === value) return;
    state[key] = value;
    for (const listener of listeners.get(`change:${key}`) || []) listener();
  },
  on: (name, listener) => listeners.set(name, [...(listeners.get(name) || []), listener]),
  off: (name, listener) => listeners.set(name, (listeners.get(name) || []).filter((one) => one !== listener)),
  save_changes: () => {},
  send: () => {},
};
player.render({ model, el: document.getElementById("dk-player") });
"""
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="dagkit">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ max-width: 1280px; margin: 16px auto; padding: 0 16px; font-family: system-ui, sans-serif; }}
{css}</style>
</head>
<body>
<main>
<div id="dk-player"></div>
<noscript>
{still}
</noscript>
</main>
<script type="application/json" id="dk-state">{state}</script>
<script type="module">
{esm}</script>
</body>
</html>
"""


def page(trace: Any, *, beside: Any = None, titles: Sequence[str] | None = None, **options: Any) -> str:
    """The whole file as text: the notebook's player, its data, and a still picture where scripts are off.

    beside, titles: a second trace, as for ``dk.play``. Further options are those of ``player.state``.
    """
    state = {**player.state(trace, beside, titles=titles, **options), "predicted": None, "row": -1}
    esm = player.ESM.replace(EXPORT, "const player = {")
    return PAGE.format(
        title=html.escape(state["replay"]["title"]), css=(player.HERE / "player.css").read_text(encoding="utf-8"),
        still=player.still(trace, beside, titles, state["prediction"]), state=script_json(state), esm=esm + BOOT)


def script_json(value: Any) -> str:
    r"""JSON that cannot end the script element it stands in, whatever the text in it.

    >>> print(script_json({"id": "</script>\u2028\ud800"}))
    {"id":"\u003c/script>\u2028\ud800"}
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def to_html(trace: Any, path: Any, **options: Any) -> Path:
    """Write the player as one offline HTML file; returns its path. Options are those of ``page``.

    Raises DagkitError if the file cannot be written.
    """
    return write("to_html", path, page(trace, **options))
