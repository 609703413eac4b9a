"""The button under a demo that writes its hand-out. Running a notebook from top to bottom writes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DagkitError
from ..lesson.page import esc
from ..widget import Panel

if TYPE_CHECKING:
    from .show import Demo


class HandOut(Panel):
    """``name``.html beside the notebook, as soon as it is asked for. demo: what the file shows."""

    def __init__(self, demo: Demo):
        import ipywidgets as widgets
        self.demo, self.name = demo, f"{demo.name}.html"
        button = widgets.Button(description=f"Write {self.name}", tooltip="one file, in the folder of this notebook",
                                layout=widgets.Layout(width="auto"))
        button.on_click(self.write)
        self.said = widgets.HTML()
        self.box = widgets.VBox([button, self.said], layout=widgets.Layout(align_items="flex-start"))

    def write(self, _: Any = None) -> None:
        """Write the file, anew if it is there, and say so; or say why that was not possible."""
        try:
            path = self.demo.to_html(self.name)
        except DagkitError as refusal:
            said = str(refusal)
        else:
            said = f"Written: {path.name}, {round(path.stat().st_size / 1000)} kB, in {Path.cwd().name}/."
        self.said.value = f'<p role="status">{esc(said)}</p>'

    def __repr__(self) -> str:
        return f'Nothing is written unless you ask for it: demo.to_html("{self.name}").'

    def twin(self) -> str:
        return (f"<p>Nothing is written unless you ask for it: with the button, or <code>demo.to_html(&quot;{self.name}"
                "&quot;)</code>.</p>")
