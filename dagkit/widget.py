"""What every widget of the kit is besides its own: a function ``h`` in its ES module, and a twin that needs no widgets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import anywidget

SHARED = Path(__file__).with_name("element.js").read_text(encoding="utf-8")


def module(path: Path) -> str:
    """An ES module as the browser gets it: with ``h``, which makes an element, in front."""
    return SHARED + path.read_text(encoding="utf-8")


class Widget(anywidget.AnyWidget):
    """A widget that also shows where nothing runs: in a saved notebook, on a page, in a terminal."""

    @abstractmethod
    def twin(self) -> str:
        """What stands there instead: HTML without scripts that teaches the same."""

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        return {**data, "text/html": self.twin(), "text/plain": repr(self)}, metadata


class Panel(ABC):
    """Controls of ipywidgets in a ``box``, with the same twin."""

    box: Any

    @abstractmethod
    def twin(self) -> str:
        """What stands there where there are no widgets."""

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        shown = self.box._repr_mimebundle_(**kwargs) or {}
        return {**shown, "text/html": self.twin(), "text/plain": repr(self)}
