"""A careful reader of Python: follows the part of the language that Dag files are built with, runs none of it.

Statements, and calls of functions in the same file; loops and choices are in ``airflow_choices``, expressions in
``airflow_values``. Where something unknown
hides a task, a sentence says so with its line. The number of steps is bounded.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import reduce
from typing import Any

from ..errors import shown
from .airflow_choices import Choices, Frame
from .airflow_flow import HARMLESS, Raised, Return, either, has_yield, last_name, makes_tasks, matters
from .airflow_methods import LOST, drop
from .airflow_model import UNKNOWN, DagModel, Group, Node, Ref, TooMuch
from .airflow_plain import Fixed
from .airflow_scope import Function, Name, Scope

_HOMES = sys.stdlib_module_names | {"airflow", "pendulum", "requests", "yaml", "dotenv"}  # they make no tasks
MAX_DEPTH = 40  # calls of the file's own functions inside each other


class Reader(Choices):
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
        self.generators: dict[ast.AST, bool] = {}
        self.makers: dict[ast.AST, bool] = {}
        self.top = Scope({"__name__": "dag_file", "True": True, "False": False, "None": None})

    # ---- statements ----------------------------------------------------------------------------------------

    def do_Expr(self, node: ast.Expr, scope: Scope) -> None:
        said = self.said
        if self.value(node.value, scope) is UNKNOWN and self.said == said:
            self.hidden(node.value, scope, alone=True)

    def hidden(self, call: ast.expr, scope: Scope, alone: bool = False) -> None:
        """Report a call in a Dag that goes elsewhere and may make tasks there. alone: its value is not used."""
        if not isinstance(call, ast.Call):
            return
        name, root = last_name(call.func), call.func
        while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
            root = root.func if isinstance(root, ast.Call) else root.value
        source = scope.get(root.id) if isinstance(root, ast.Name) else UNKNOWN
        known = isinstance(source, Name) and source.dotted.partition(".")[0] in _HOMES
        known = known or not alone and (name[:1].isupper() or not isinstance(source, Name))
        if name == "exec" or self.dag_stack and not known and name not in HARMLESS:
            self.unseen(call, f"{shown(name) or 'something'}() cannot be followed; tasks it may make are not seen")

    def do_Import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            scope.set(alias.asname or name, Name(name))

    def do_ImportFrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        for alias in node.names:
            scope.set(alias.asname or alias.name, Name(f"{node.module or ''}.{alias.name}"))

    def do_Assign(self, node: ast.Assign, scope: Scope) -> None:
        said = self.said
        value = self.value(node.value, scope)
        if value is UNKNOWN and self.said == said:
            self.hidden(node.value, scope)
        for target in node.targets:
            self.assign(target, value, scope)

    def do_AnnAssign(self, node: ast.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            self.assign(node.target, self.value(node.value, scope), scope)

    def do_AugAssign(self, node: ast.AugAssign, scope: Scope) -> None:
        old, more = self.value(node.target, scope), self.value(node.value, scope)
        made = self.binary(node, node.op, old, more)
        if isinstance(node.op, ast.Add) and isinstance(old, list) and made is UNKNOWN:
            made = [*old, *self.spread(more)]
        if isinstance(old, list) and isinstance(made, list) and not isinstance(old, Fixed):
            old[:] = made  # the object itself changes, under all its names
            made = old
        elif isinstance(old, dict) and isinstance(made, dict):
            old.update(made)
            made = old
        self.assign(node.target, made, scope)

    def do_Delete(self, node: ast.Delete, scope: Scope) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                scope.values.pop(target.id, None)
            elif isinstance(target, ast.Subscript):
                if drop(self.value(target.value, scope), self.key(target.slice, scope)) is LOST:
                    self.unseen(node, "a del that cannot be followed")

    def do_Global(self, node: ast.Global, scope: Scope) -> None:
        scope.elsewhere.update(dict.fromkeys(node.names, self.top) if scope is not self.top else {})

    def do_Nonlocal(self, node: ast.Nonlocal, scope: Scope) -> None:
        for name in node.names:
            outer = scope.outer
            while outer is not None and name not in outer.values:
                outer = outer.outer
            if outer is not None:
                scope.elsewhere[name] = outer

    def do_Assert(self, node: ast.Assert, scope: Scope) -> None:
        self.value(node.test, scope)

    def do_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        made: Any = Function(node, scope, defaults=self.defaults(node, scope))
        for decorator in reversed(node.decorator_list):
            made = self.decorated(node, self.value(decorator, scope), made)
        scope.set(node.name, made)
        if isinstance(made, Function):
            self.functions.append(made)

    def decorated(self, node: Any, decorator: Any, function: Any) -> Any:
        """A decorator that cannot be followed leaves a function as it is; a context manager cannot be one."""
        made = self.calls(self, node, decorator, [function], {}, quiet=True)
        if made is not UNKNOWN or not isinstance(function, Function):
            return made
        name = decorator.last if isinstance(decorator, Name) else ""
        told = makes_tasks(function.node, function) or any(matters(part) for part in node.body if has_yield(part))
        if name.endswith("contextmanager"):
            if told:
                self.unseen(node, f"the context manager '{function.name}'; what it makes is not seen")
            return UNKNOWN
        if told:
            self.unseen(node, f"a decorator that cannot be followed; '{function.name}' was read without it")
        return function

    do_AsyncFunctionDef = do_FunctionDef

    def do_ClassDef(self, node: ast.ClassDef, scope: Scope) -> None:
        bases = [last_name(base) for base in node.bases]
        if makes_tasks(node) and not any(base.endswith(("Operator", "Sensor", "Mixin")) for base in bases):
            self.unseen(node, f"the class '{node.name}'; the tasks and Dags made in it are not seen")
        scope.set(node.name, Name(node.name))

    def do_With(self, node: ast.With, scope: Scope) -> None:
        opened = []
        for item in node.items:
            value = self.value(item.context_expr, scope)
            if value is UNKNOWN:
                self.hidden(item.context_expr, scope)
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
        frame = Frame()
        self.frames.append(frame)
        try:
            frame.maybe.append(self.body_value(function.node, scope))
        except Raised:
            if not frame.maybe:  # on no side anything is returned
                raise
        finally:
            self.depth -= 1
            self.frames.pop()
        return frame.yielded if self.generates(function.node) else reduce(either, frame.maybe)

    def body_value(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> Any:
        try:
            self.run(node.body, scope)
        except Return as result:
            return result.value
        return None

    def makes(self, function: Function) -> bool:
        """Whether a function of the file makes tasks."""
        if function.node not in self.makers:
            self.makers[function.node] = makes_tasks(function.node, function)
        return self.makers[function.node]

    def generates(self, node: ast.AST) -> bool:
        if node not in self.generators:
            self.generators[node] = has_yield(node)
        return self.generators[node]

    def at_Yield(self, node: ast.Yield, scope: Scope) -> Any:
        value = self.value(node.value, scope) if node.value else None
        if self.frames:
            self.frames[-1].yielded.append(value)
        return UNKNOWN

    def at_YieldFrom(self, node: ast.YieldFrom, scope: Scope) -> Any:
        values = self.spread(self.value(node.value, scope))
        if self.frames:
            self.frames[-1].yielded += values
        return UNKNOWN

    def arguments(self, function: Function, args: list[Any], given: dict[str, Any]) -> dict[str, Any]:
        spec = function.node.args
        names = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
        made: dict[str, Any] = dict.fromkeys([*names, *(arg.arg for arg in spec.kwonlyargs)], UNKNOWN)
        made.update(function.defaults)
        made.update(zip(names, args, strict=False))
        extra = {name: value for name, value in given.items() if name not in made}
        made.update({name: value for name, value in given.items() if name in made})
        if spec.vararg is not None:
            made[spec.vararg.arg] = args[len(names) :]
        if spec.kwarg is not None:
            made[spec.kwarg.arg] = extra
        return made
