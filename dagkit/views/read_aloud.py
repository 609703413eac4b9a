"""``dk.read_aloud(text)``: a paragraph with a button that speaks it, where the browser can speak."""

from __future__ import annotations

import traitlets

from ..errors import shown
from ..widget import Widget
from .picture import esc


class ReadAloud(Widget):
    """The paragraph as a widget; without widgets it is the paragraph alone."""

    _esm = """
    function render({ model, el }) {
      const text = model.get("text");
      const words = document.createElement("p");
      words.textContent = text;
      words.style.whiteSpace = "pre-line";
      el.append(words);
      if (!("speechSynthesis" in window)) return;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Read aloud";
      button.onclick = () => {
        const speaking = speechSynthesis.speaking;
        speechSynthesis.cancel();
        if (!speaking) speechSynthesis.speak(new SpeechSynthesisUtterance(text));
      };
      el.append(button);
      return () => speechSynthesis.cancel();
    }
    export default { render };
    """

    text = traitlets.Unicode("").tag(sync=True)

    def __repr__(self) -> str:
        return self.text

    def twin(self) -> str:
        return f'<p style="white-space:pre-line">{esc(self.text)}</p>'


def read_aloud(text: str) -> ReadAloud:
    """Show ``text`` with a button that reads it aloud; only the text where the browser cannot speak.

    >>> read_aloud("A pool protects a database.")
    A pool protects a database.
    """
    lines = str(text).split("\n")
    return ReadAloud(text="\n".join(shown(line, 20_000) for line in lines))
