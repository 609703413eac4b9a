"""A careful reader of Python: follows the part of the language that Dag files are built with, runs none of it.

Statements, and calls of functions in the same file; expressions are in ``airflow_values``. Where something unknown
hides a task, a sentence says so with its line. The number of steps is bounded.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .airflow_model import UNKNOWN, DagModel, Group, Node, Ref, TooMuch
from .airflow_scope import Function, Name, Scope
from .airflow_values import Expressions, items_of, makes_calls, truth

MAX_DEPTH = 40  # calls of the file's own functions inside each other


class Return(Exception):
    """``return`` in a function that is being followed."""

    def __init__(self, value: Any):
        self.value = value


class Reader(Expressions):
    """Follows a module. What calls mean is given by ``calls`` (see ``airflow_calls``)."""

    def __init__(self, calls: Any, note: Callable[[str], None], stem: str = "dag"):
        super().__init__(calls, note)
        self.stem, self.depth = stem, 0
        self.dags: list[DagModel] = []
        self.dag_stack: list[DagModel] = []
        self.group_stack: list[Group] = []
        self.watchers: list[list[Node]] = []  # nodes made inside open `with setup:` blocks
        self.loose: list[Node] = []
        self.functions: list[Function] = []
        self.top = Scope({"__name__": "dag_file", "True": True, "False": False, "None": None})

    # ---- statements ----------------------------------------------------------------------------------------

    def run(self, body: list[ast.stmt], scope: Scope) -> None:
        for statement in body:
            self.step()
            method = getattr(self, "do_" + type(statement).__name__, None)
            if method is not None:
                method(statement, scope)

    def do_Expr(self, node: ast.Expr, scope: Scope) -> None:
        self.value(node.value, scope)

    def do_Import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            scope.values[alias.asname or name] = Name(name)

    def do_ImportFrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        for alias in node.names:
            scope.values[alias.asname or alias.name] = Name(f"{node.module or ''}.{alias.name}")

    def do_Assign(self, node: ast.Assign, scope: Scope) -> None:
        value = self.value(node.value, scope)
        for target in node.targets:
            self.assign(target, value, scope)

    def do_AnnAssign(self, node: ast.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            self.assign(node.target, self.value(node.value, scope), scope)

    def do_AugAssign(self, node: ast.AugAssign, scope: Scope) -> None:
        made = self.binary(node, node.op, self.value(node.target, scope), self.value(node.value, scope))
        self.assign(node.target, made, scope)

    def do_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        made: Any = Function(node, scope)
        for decorator in reversed(node.decorator_list):
            made = self.calls(self, node, self.value(decorator, scope), [made], {})
        scope.values[node.name] = made
        if isinstance(made, Function):
            self.functions.append(made)

    do_AsyncFunctionDef = do_FunctionDef

    def do_ClassDef(self, node: ast.ClassDef, scope: Scope) -> None:
        scope.values[node.name] = Name(node.name)

    def do_Return(self, node: ast.Return, scope: Scope) -> None:
        raise Return(self.value(node.value, scope) if node.value else None)

    def do_With(self, node: ast.With, scope: Scope) -> None:
        opened = []
        for item in node.items:
            value = self.value(item.context_expr, scope)
            opened.append((value, self.enter(value)))
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value, scope)
        try:
            self.run(node.body, scope)
        finally:
            for value, inside in reversed(opened):
                self.leave(value, inside)

    do_AsyncWith = do_With

    def enter(self, value: Any) -> list[Node] | None:
        """Open a Dag, a group, or the space between setup and teardown."""
        if isinstance(value, DagModel):
            self.dag_stack.append(value)
        elif isinstance(value, Group):
            self.group_stack.append(value)
        elif isinstance(value, (Ref, list)):
            self.watchers.append([])
            return self.watchers[-1]
        return None

    def leave(self, value: Any, inside: list[Node] | None) -> None:
        if isinstance(value, DagModel):
            self.dag_stack.pop()
        elif isinstance(value, Group):
            self.group_stack.pop()
        elif inside is not None:
            self.watchers.pop()
            self.calls.wrap(value, inside)

    def do_For(self, node: ast.For, scope: Scope) -> None:
        items = items_of(self.value(node.iter, scope))
        if items is None:
            self.unseen(
                node, "a loop over something only known at run time; the tasks made in it are not seen"
            )
            return
        for item in items:
            self.step()
            self.assign(node.target, item, scope)
            self.run(node.body, scope)
        self.run(node.orelse, scope)

    def do_While(self, node: ast.While, scope: Scope) -> None:
        self.unseen(node, "a while loop; the tasks made in it are not seen")

    def do_If(self, node: ast.If, scope: Scope) -> None:
        test = self.value(node.test, scope)
        known = truth(test)
        if known is None:
            if makes_calls(node):
                self.unseen(node, "an if on something only known at run time; both sides were read")
            self.run(node.body, scope)
            self.run(node.orelse, scope)
        else:
            self.run(node.body if known else node.orelse, scope)

    def do_Try(self, node: ast.Try, scope: Scope) -> None:
        for part in (node.body, node.orelse, node.finalbody):
            self.run(part, scope)

    # ---- functions of the file -----------------------------------------------------------------------------

    def follow(self, function: Function, args: list[Any], given: dict[str, Any]) -> Any:
        """The value of a call of one of the file's own functions, its body read with these arguments."""
        function.called = True
        if self.depth >= MAX_DEPTH:
            raise TooMuch(f"functions calling each other more than {MAX_DEPTH} deep")
        scope = Scope(self.arguments(function, args, given), function.scope)
        if isinstance(function.node, ast.Lambda):
            return self.value(function.node.body, scope)
        self.depth += 1
        try:
            self.run(function.node.body, scope)
        except Return as result:
            return result.value
        finally:
            self.depth -= 1
        return None

    def arguments(self, function: Function, args: list[Any], given: dict[str, Any]) -> dict[str, Any]:
        spec = function.node.args
        names = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
        made: dict[str, Any] = dict.fromkeys([*names, *(arg.arg for arg in spec.kwonlyargs)], UNKNOWN)
        for name, default in zip(reversed(names), reversed(spec.defaults), strict=False):
            made[name] = self.value(default, function.scope)
        for arg, default_or_none in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
            if default_or_none is not None:
                made[arg.arg] = self.value(default_or_none, function.scope)
        made.update(zip(names, args, strict=False))
        extra = {name: value for name, value in given.items() if name not in made}
        made.update({name: value for name, value in given.items() if name in made})
        if spec.vararg is not None:
            made[spec.vararg.arg] = args[len(names) :]
        if spec.kwarg is not None:
            made[spec.kwarg.arg] = extra
        return made
