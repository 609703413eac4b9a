"""Loops and choices of a Dag file that is read: ``for``, ``while``, ``if``, ``match``, ``try``, and jumps out of them.

Where only running the file could tell which way it goes, every side is read, and a sentence says so.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .airflow_flow import Break, Continue, Jump, Raised, Return, either, joint, last_name, matters, merged
from .airflow_model import MORE, UNKNOWN
from .airflow_plain import MAX_ITEMS, items_of, same, truth
from .airflow_scope import Scope, is_plain
from .airflow_values import Expressions

_KINDS: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": bool, "dict": dict, "list": list}


@dataclass
class Frame:
    """A function being followed: what it may already have returned, and what it yielded."""

    maybe: list[Any] = field(default_factory=list)
    yielded: list[Any] = field(default_factory=list)


class Choices(Expressions):
    """The statements that decide which others are read; ``airflow_eval.Reader`` adds the others."""

    def __init__(self, calls: Any, note: Callable[[str], None]):
        super().__init__(calls, note)
        self.frames: list[Frame] = []

    def run(self, body: list[ast.stmt], scope: Scope) -> None:
        """Read statements one after the other."""
        for statement in body:
            self.step()
            method = getattr(self, "do_" + type(statement).__name__, None)
            if method is not None:
                method(statement, scope)

    def do_Return(self, node: ast.Return, scope: Scope) -> None:
        raise Return(self.value(node.value, scope) if node.value else None)

    def do_Raise(self, node: ast.Raise, scope: Scope) -> None:
        raise Raised(node.lineno)

    def do_Break(self, node: ast.Break, scope: Scope) -> None:
        raise Break

    def do_Continue(self, node: ast.Continue, scope: Scope) -> None:
        raise Continue

    def do_For(self, node: ast.For, scope: Scope) -> None:
        items = items_of(self.value(node.iter, scope))
        if items is None or MORE in items:
            self.unseen(
                node, "a loop over something only known at run time; the tasks made in it are not seen"
            )
            self.forget(node, scope)
        for item in list(items or ()):
            self.step()
            if item is MORE:
                continue
            self.assign(node.target, item, scope)
            if not self.round(node.body, scope):
                return
        self.run(node.orelse, scope)

    do_AsyncFor = do_For

    def round(self, body: list[ast.stmt], scope: Scope) -> bool:
        """One round of a loop; False if ``break`` ends it."""
        try:
            self.run(body, scope)
        except Continue:
            pass
        except Break:
            return False
        return True

    def do_While(self, node: ast.While, scope: Scope) -> None:
        """A loop whose condition is known each time, and not true for ever."""
        for _ in range(MAX_ITEMS):
            known = truth(self.value(node.test, scope))
            if not known:
                break
            if not self.round(node.body, scope):
                return
        if known is False:
            self.run(node.orelse, scope)
            return
        self.unseen(node, "a while loop that cannot be followed; the tasks made in it are not seen")
        self.forget(node, scope)

    def forget(self, loop: ast.AST, scope: Scope) -> None:
        """What a loop that cannot be followed sets is not known afterwards."""
        for part in ast.walk(loop):
            self.step()
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                scope.set(part.id, either(scope.get(part.id), UNKNOWN))

    def do_If(self, node: ast.If, scope: Scope) -> None:
        known = truth(self.value(node.test, scope))
        if known is None:
            self.choose(node, "an if", [node.body, node.orelse], scope)
        else:
            self.run(node.body if known else node.orelse, scope)

    def choose(self, node: ast.stmt, what: str, sides: Sequence[list[ast.stmt]], scope: Scope) -> None:
        """Read every side of a choice that only running the file could make."""
        trying = isinstance(node, ast.Try)  # then the first side is what happens anyway
        told = any(matters(part) for side in sides[1 if trying else 0 :] for part in side)
        if told:
            self.both(node, what)
        ends, jumps = self.follow_sides(sides, scope, trying)
        if not ends:
            jump, returned = joint(jumps)
            self.returned(returned)
            raise jump
        self.returned([jump.value for jump in jumps if isinstance(jump, Return)])
        scope.values, unlike, mixed = merged(ends)
        if mixed and not told:
            self.both(node, what)
        for name in () if trying else unlike:
            self.unseen(node, f"what '{name}' stands for is only known at run time; one of its meanings was taken")

    def follow_sides(
        self, sides: Sequence[list[ast.stmt]], scope: Scope, trying: bool
    ) -> tuple[list[dict[str, Any]], list[Jump]]:
        """The names at the end of each side, and the jumps of those that do not reach their end.

        trying: the first side is a ``try``, and the others are where it may go from anywhere inside.
        """
        before = scope.values
        ends: list[dict[str, Any]] = []
        jumps: list[Jump] = []
        for side in self.sides(sides):
            self.step(1 + len(before) // 100)
            scope.values = dict(before)
            try:
                self.run(side, scope)
                ends.append(scope.values)
            except Jump as jump:
                jumps.append(jump)
            if trying and len(ends) + len(jumps) == 1:
                before = merged([before, scope.values])[0]
        return ends, jumps

    def returned(self, values: list[Any]) -> None:
        if self.frames:
            self.frames[-1].maybe += values

    def do_Match(self, node: ast.Match, scope: Scope) -> None:
        subject = self.value(node.subject, scope)
        sides: list[list[ast.stmt]] = []
        known: bool | None = None
        for case in node.cases:
            known = self.fits(case.pattern, subject, scope)
            guard = truth(self.value(case.guard, scope)) if case.guard and known is not False else True
            known = False if guard is False else None if guard is None else known
            if known is not False:
                sides.append(case.body)
            if known:
                break
        if len(sides) == 1 and known:
            self.run(sides[0], scope)
        elif sides:
            self.choose(node, "a match", sides if known else [*sides, []], scope)

    def fits(self, pattern: ast.pattern, subject: Any, scope: Scope) -> bool | None:
        """Whether a value fits a pattern, or None; only plain patterns are compared."""
        if isinstance(pattern, ast.MatchValue):
            return same(subject, self.value(pattern.value, scope))
        if isinstance(pattern, ast.MatchSingleton):
            return same(subject, pattern.value)
        if isinstance(pattern, ast.MatchOr):
            answers = [self.fits(one, subject, scope) for one in pattern.patterns]
            return True if True in answers else None if None in answers else False
        if isinstance(pattern, ast.MatchAs):
            known = True if pattern.pattern is None else self.fits(pattern.pattern, subject, scope)
            if pattern.name is not None and known is not False:
                scope.set(pattern.name, subject)
            return known
        if isinstance(pattern, (ast.MatchSequence, ast.MatchMapping)) and is_plain(subject):
            return False
        if isinstance(pattern, ast.MatchSequence) and isinstance(subject, list) and MORE not in subject:
            if any(isinstance(one, ast.MatchStar) for one in pattern.patterns):
                self.unfit(pattern, scope)
                return None
            if len(pattern.patterns) != len(subject):
                return False
            answers = [self.fits(*pair, scope) for pair in zip(pattern.patterns, subject, strict=True)]
            return False if False in answers else None if None in answers else True
        if isinstance(pattern, ast.MatchClass) and not pattern.patterns and not pattern.kwd_patterns:
            kind = _KINDS.get(last_name(pattern.cls))
            return isinstance(subject, kind) if kind and (is_plain(subject) or isinstance(subject, (list, dict))) else None
        self.unfit(pattern, scope)
        return None

    def unfit(self, pattern: ast.pattern, scope: Scope) -> None:
        """A pattern that is not compared: what it would set is not known."""
        for part in ast.walk(pattern):
            name = getattr(part, "name", None) or getattr(part, "rest", None)
            if isinstance(name, str):
                scope.set(name, UNKNOWN)

    def do_Try(self, node: ast.Try, scope: Scope) -> None:
        """Both what is tried and what is done if it fails; a plain ``raise`` in an except side drops that side."""
        try:
            if node.handlers:
                for handler in node.handlers:
                    if handler.name is not None:
                        scope.set(handler.name, UNKNOWN)
                sides = [[*node.body, *node.orelse], *(handler.body for handler in node.handlers)]
                self.choose(node, "a try", sides, scope)
            else:
                self.run([*node.body, *node.orelse], scope)
        finally:
            self.run(node.finalbody, scope)

    do_TryStar = do_Try
