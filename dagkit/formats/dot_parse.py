"""The grammar of DOT: a tokenizer, and one loop with a stack, so depth costs nothing.

Definition: https://graphviz.org/doc/info/lang.html. Nothing is laid out; only nodes, their attributes and edges are
kept, in the order in which they appear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from ..errors import shown
from .draft import MAX_EDGES, MAX_TASKS, too_large
from .names import OPEN, QUOTED
from .source import Source

_TOKEN = re.compile(
    rf"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)|(?P<quoted>{QUOTED})|(?P<open>{OPEN})|(?P<html><)"""
    r"""|(?P<id>[A-Za-z_\u0080-\U0010ffff][\w\u0080-\U0010ffff]*|-?(?:\.\d+|\d+(?:\.\d*)?))|(?P<mark>->|--|[{}\[\];,=:+])""",
    re.DOTALL | re.MULTILINE,
)


_SPACE = r"(?:\s|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*+\*/|#[^\n]*\n)*+"


_LOG = re.compile(r"(?:(?!(?:strict\s+)?(?:di)?graph\b)[A-Z][^\n{}\"<>]*\n+){1,20}(?=(?:strict\s+)?digraph\b)")
_HEAD = re.compile(rf"{_SPACE}(?:strict\s+)?(?:di)?graph\b[^{{;]*\{{", re.IGNORECASE)


_PAIR = re.compile(r"\\.", re.DOTALL)


_PAIRS = {'\\"': '"', "\\\n": ""}  # inside quotes only these two are read; a label may hold others


MAX_DEPTH = 200


class Token(NamedTuple):
    """One word of DOT. kind: "id", "quoted" or "mark"; at: its place in the text, for messages."""

    kind: str
    text: str
    at: int


def matches_text(text: str) -> bool:
    """``digraph {`` or ``strict digraph name {`` after comments, or after a few lines of a log."""
    return bool(_HEAD.match(text[log_before(text) :][:100_000]))


def log_before(text: str) -> int:
    """Where the graph begins, if a tool's messages were caught in front of it (``snakemake --dag 2>&1``)."""
    found = _LOG.match(text[:10_000])
    return found.end() if found else 0


def tokens(source: Source) -> Iterator[Token]:
    """The words of a DOT text without comments. Raises FormatError at a character that fits nothing."""
    text, at = source.text, 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup == "open":
            raise _bad(source, at, f"'{shown(text[at : at + 12])}'")
        kind = str(found.lastgroup)
        if kind == "html":
            end = _html_end(source, at)
            yield Token("quoted", re.sub(r"<[^<>]*>", "", text[at + 1 : end - 1]), at)
            at = end
            continue
        if kind == "quoted":
            yield Token(kind, _PAIR.sub(lambda pair: _PAIRS.get(pair[0], pair[0]), found[0][1:-1]), at)
        elif kind != "space":
            yield Token(kind, found[0], at)
        at = found.end()


def _html_end(source: Source, start: int) -> int:
    depth = 0
    for mark in re.compile(r"[<>]").finditer(source.text, start):
        depth += 1 if mark[0] == "<" else -1
        if not depth:
            return mark.end()
    raise _bad(source, start, "an HTML label that never ends")


def _bad(source: Source, at: int, found: str) -> Exception:
    line = source.text.count("\n", 0, at) + 1
    return source.bad("DOT", f"{found} at line {line}", "Check it with Graphviz: dot -Tcanon.")


class _Frame:
    """An open brace: the nodes named inside it, the duration of new ones, and the statement being read."""

    def __init__(self, duration: str | None = None) -> None:
        self.nodes: dict[str, None] = {}
        self.duration = duration
        self.begin()

    def begin(self) -> None:
        """A new statement: the last operand (nodes), and whether an arrow waits for its right side."""
        self.left: list[str] = []
        self.last: list[str] | None = None


class Parser:
    """Nodes with their attributes and edges, in the order they appear."""

    def __init__(self, source: Source):
        self.source = source
        self.words = tokens(source)
        self.ahead = next(self.words, None)
        self.nodes: dict[str, dict[str, str]] = {}
        self.edges: dict[tuple[str, str], None] = {}
        self.arrows = 0  # written out, repeated ones too
        self.name = ""

    def parse(self) -> None:
        self._head()
        stack = [_Frame()]
        while stack:
            word = self._next()
            frame = stack[-1]
            if word.kind == "mark" and word.text == "{":
                stack.append(_Frame(frame.duration))
                if len(stack) > MAX_DEPTH:
                    raise _bad(self.source, word.at, f"braces more than {MAX_DEPTH} deep")
            elif word.kind == "mark" and word.text == "}":
                self._end(frame, word)
                stack.pop()
                if stack:
                    stack[-1].nodes.update(frame.nodes)
                    self._operand(stack[-1], list(frame.nodes), word)
            else:
                self._word(frame, word)

    def _head(self) -> None:
        word = self._next()
        if word.text.lower() == "strict":
            word = self._next()
        if word.text.lower() != "digraph":
            raise self.source.bad(
                "a directed graph (digraph)",
                f"'{shown(word.text)}'",
                "A Dag needs arrows: write digraph and ->.",
            )
        word = self._next()
        if word.text != "{" or word.kind != "mark":
            self.name = word.text
            word = self._next()
        if word.text != "{":
            raise _bad(self.source, word.at, f"'{shown(word.text)}' where the opening brace belongs")

    def _next(self) -> Token:
        word, self.ahead = self.ahead, next(self.words, None)
        if word is None:
            raise self.source.bad("DOT", "its end before the last closing brace", "Is the file complete?")
        return word

    def _peek(self, mark: str) -> bool:
        return self.ahead is not None and self.ahead.kind == "mark" and self.ahead.text == mark

    def _word(self, frame: _Frame, word: Token) -> None:
        if word.kind == "mark":
            self._mark(frame, word)
        elif word.kind == "id" and word.text.lower() in ("graph", "node", "edge") and self._peek("["):
            self._end(frame, word)
            self._next()
            found = self._attributes()
            if word.text.lower() == "node":  # a default for the nodes that first appear after it
                frame.duration = found.get("duration", frame.duration)
        elif word.kind == "id" and word.text.lower() == "subgraph":
            if not self._peek("{"):
                self._next()  # its name
        elif self._peek("="):  # an attribute of the graph
            self._end(frame, word)
            self._next()
            self._value()
        else:
            self._node(frame, word)

    def _mark(self, frame: _Frame, word: Token) -> None:
        if word.text == "->":
            if frame.last is None:
                raise _bad(self.source, word.at, "an arrow with nothing before it")
            frame.left, frame.last = frame.last, None
        elif word.text == "--":
            raise _bad(self.source, word.at, "an edge without direction (--)")
        elif word.text in ";,":
            self._end(frame, word)
        elif word.text == "[" and frame.last is not None:
            found = self._attributes()
            if not frame.left and len(frame.last) == 1:
                self.nodes[frame.last[0]].update(found)
        else:
            raise _bad(self.source, word.at, f"'{word.text}'")

    def _node(self, frame: _Frame, word: Token) -> None:
        name = word.text
        while word.kind == "quoted" and self._peek("+"):
            self._next()
            word = self._next()
            name += word.text
        for _ in range(2):  # a port and a compass point
            if self._peek(":"):
                self._next()
                self._next()
        if name not in self.nodes:
            self.nodes[name] = {} if frame.duration is None else {"duration": frame.duration}
        frame.nodes[name] = None
        self._operand(frame, [name], word)

    def _operand(self, frame: _Frame, names: list[str], word: Token) -> None:
        """A node or a subgraph: the right side of a waiting arrow, or the start of a new statement."""
        if frame.last is not None:
            frame.begin()
        self.arrows += len(frame.left) * len(names)
        if self.arrows > MAX_EDGES or len(self.nodes) > MAX_TASKS:  # before they are made: a product grows fast
            raise too_large(self.source, len(self.nodes), self.arrows)
        self.edges.update(dict.fromkeys(product(frame.left, names)))
        frame.last = names

    def _end(self, frame: _Frame, word: Token) -> None:
        if frame.left and frame.last is None:
            raise _bad(self.source, word.at, "an arrow with nothing after it")
        frame.begin()

    def _attributes(self) -> dict[str, str]:
        """What stands in square brackets, the opening one already read."""
        found: dict[str, str] = {}
        while True:
            word = self._next()
            if word.kind == "mark" and word.text == "]":
                return found
            if word.kind == "mark" and word.text in ",;":
                continue
            if word.kind == "mark":
                raise _bad(self.source, word.at, f"'{word.text}' among attributes")
            found[word.text] = "true"
            if self._peek("="):
                self._next()
                found[word.text] = self._value()

    def _value(self) -> str:
        word = self._next()
        if word.kind == "mark":
            raise _bad(self.source, word.at, f"'{word.text}' where a value belongs")
        text = word.text
        while self._peek("+"):
            self._next()
            text += self._next().text
        return text
