"""A careful reader of Python: follows the part of the language that Dag files are built with, runs none of it.

Names, constants, lists, f-strings, loops over known lists, calls of functions in the same file. Anything else is
``UNKNOWN``, and where that hides a task, a sentence says so with its line. The number of steps is bounded.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import DagkitError
from .airflow_model import UNKNOWN, DagModel, Group, Label, Node, Ref, relate

MAX_STEPS = 300_000
MAX_DEPTH = 40  # calls of the file's own functions inside each other
MAX_ITEMS = 5_000  # of one loop, or characters of one computed text


class TooMuch(DagkitError):
    """The file does more than can be followed."""


@dataclass(eq=False)
class Name:
    """An imported or unknown name, with its dots: ``airflow.sdk.task.branch``."""

    dotted: str

    @property
    def last(self) -> str:
        return self.dotted.rpartition(".")[2]


@dataclass(eq=False)
class Function:
    """A function of the file. kind: "plain", "task", "dag" or "task_group"; given: what its decorator was given."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    kind: str = "plain"
    given: dict[str, Any] = field(default_factory=dict)
    operator: str = ""
    called: bool = False

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "lambda")


@dataclass(eq=False)
class Bound:
    """A method waiting to be called: ``tasks.append``, ``first.set_upstream``."""

    owner: Any
    name: str


@dataclass(eq=False)
class Scope:
    """Names and their values; a name not found is looked up outside."""

    values: dict[str, Any]
    outer: Scope | None = None

    def get(self, name: str) -> Any:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            scope = scope.outer
        return Name(name)


class Return(Exception):
    """``return`` in a function that is being followed."""

    def __init__(self, value: Any):
        self.value = value


_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mod: operator.mod,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
}
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_WIDE = re.compile(r"\d{4}")  # a format that would fill thousands of columns
_ENUMS = ("TriggerRule", "WeightRule")  # TriggerRule.ALL_DONE is the text "all_done"
_PLAIN = (str, int, float, bool, type(None))


def is_plain(value: Any) -> bool:
    """Text, a number, a flag or None."""
    return isinstance(value, _PLAIN)


class Reader:
    """Follows a module. What calls mean is given by ``calls`` (see ``airflow_calls``)."""

    def __init__(self, calls: Callable[..., Any], note: Callable[[str], None], stem: str = "dag"):
        self.calls, self.note, self.stem = calls, note, stem
        self.steps = self.depth = 0
        self.dags: list[DagModel] = []
        self.dag_stack: list[DagModel] = []
        self.group_stack: list[Group] = []
        self.watchers: list[list[Node]] = []  # nodes made inside open `with setup:` blocks
        self.loose: list[Node] = []
        self.functions: list[Function] = []
        self.top = Scope({"__name__": "dag_file", "True": True, "False": False, "None": None})

    def step(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise TooMuch(f"more than {MAX_STEPS} steps to follow")

    def unseen(self, node: ast.AST, what: str) -> None:
        self.note(f"Line {getattr(node, 'lineno', 0)}: {what}.")

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

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope.values[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = value if isinstance(value, (list, tuple)) and len(value) == len(target.elts) else None
            for number, part in enumerate(target.elts):
                known = parts[number] if parts is not None else value if isinstance(value, Ref) else UNKNOWN
                self.assign(part, known, scope)
        elif isinstance(target, ast.Attribute):  # task.trigger_rule = ...
            changed = self.value(target.value, scope)
            if isinstance(changed, Ref):
                changed.node.given[target.attr] = value
        elif isinstance(target, ast.Subscript):
            owner, key = self.value(target.value, scope), self.value(target.slice, scope)
            if isinstance(owner, dict) and is_plain(key):
                owner[key] = value
            elif isinstance(owner, list) and type(key) is int and -len(owner) <= key < len(owner):
                owner[key] = value

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
            self.calls.wrap(value, inside)  # type: ignore[attr-defined]

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
            if _makes_calls(node):
                self.unseen(node, "an if on something only known at run time; both sides were read")
            self.run(node.body, scope)
            self.run(node.orelse, scope)
        else:
            self.run(node.body if known else node.orelse, scope)

    def do_Try(self, node: ast.Try, scope: Scope) -> None:
        for part in (node.body, node.orelse, node.finalbody):
            self.run(part, scope)

    # ---- expressions ---------------------------------------------------------------------------------------

    def value(self, node: ast.expr, scope: Scope) -> Any:
        """The value of an expression, UNKNOWN if it cannot be told."""
        self.step()
        method = getattr(self, "at_" + type(node).__name__, None)
        return UNKNOWN if method is None else method(node, scope)

    def at_Constant(self, node: ast.Constant, scope: Scope) -> Any:
        return node.value if is_plain(node.value) else UNKNOWN

    def at_Name(self, node: ast.Name, scope: Scope) -> Any:
        return scope.get(node.id)

    def at_List(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> list[Any]:
        made: list[Any] = []
        for item in node.elts:
            value = self.value(item.value if isinstance(item, ast.Starred) else item, scope)
            made += (items_of(value) or []) if isinstance(item, ast.Starred) else [value]
        return made

    at_Tuple = at_Set = at_List

    def at_Dict(self, node: ast.Dict, scope: Scope) -> Any:
        made: dict[Any, Any] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.value(item, scope)
            if key is None:
                made.update(value if isinstance(value, dict) else {})
                continue
            name = self.value(key, scope)
            made[name if is_plain(name) else id(key)] = value
        return made

    def at_JoinedStr(self, node: ast.JoinedStr, scope: Scope) -> Any:
        parts = []
        for part in node.values:
            value = self.value(part.value, scope) if isinstance(part, ast.FormattedValue) else part.value  # type: ignore[attr-defined]
            if not is_plain(value) or (isinstance(part, ast.FormattedValue) and part.format_spec is not None):
                value = self.formatted(part, value, scope)
            if value is UNKNOWN:
                return UNKNOWN
            parts.append(str(value))
        return _short("".join(parts))

    def formatted(self, part: Any, value: Any, scope: Scope) -> Any:
        spec = self.value(part.format_spec, scope) if is_plain(value) and part.format_spec else UNKNOWN
        try:
            return (
                _short(format(value, spec)) if isinstance(spec, str) and not _WIDE.search(spec) else UNKNOWN
            )
        except (ValueError, TypeError):
            return UNKNOWN

    def at_BinOp(self, node: ast.BinOp, scope: Scope) -> Any:
        chain = []
        spine: ast.expr = node
        while isinstance(spine, ast.BinOp):  # a >> b >> c ... leans to the left: walk it without recursion
            chain.append(spine)
            spine = spine.left
        left = self.value(spine, scope)
        for link in reversed(chain):
            left = self.binary(link, link.op, left, self.value(link.right, scope))
        return left

    def binary(self, node: Any, op: ast.operator, left: Any, right: Any) -> Any:
        if isinstance(op, (ast.RShift, ast.LShift)):
            return self.arrows(node, op, left, right)
        if isinstance(left, list) and isinstance(right, list) and isinstance(op, ast.Add):
            return left + right if len(left) + len(right) <= MAX_ITEMS else UNKNOWN
        if not (is_plain(left) and (is_plain(right) or isinstance(op, ast.Mod) and isinstance(right, list))):
            return UNKNOWN
        return _computed(op, left, tuple(right) if isinstance(right, list) else right)

    def arrows(self, node: Any, op: ast.operator, left: Any, right: Any) -> Any:
        """``left >> right`` or ``left << right``; a Label leaves the other side as it is."""
        if isinstance(right, Label) or isinstance(left, Label):
            return left if isinstance(right, Label) else right
        first, second = (left, right) if isinstance(op, ast.RShift) else (right, left)
        if not relate(first, second) and (left is UNKNOWN or right is UNKNOWN or _is_call(left, right)):
            self.unseen(node, "an arrow from or to something that is not seen as a task")
        return right

    def at_UnaryOp(self, node: ast.UnaryOp, scope: Scope) -> Any:
        value = self.value(node.operand, scope)
        if isinstance(node.op, ast.Not):
            known = truth(value)
            return UNKNOWN if known is None else not known
        return -value if isinstance(node.op, ast.USub) and isinstance(value, (int, float)) else UNKNOWN

    def at_BoolOp(self, node: ast.BoolOp, scope: Scope) -> Any:
        value: Any = UNKNOWN
        for part in node.values:
            value = self.value(part, scope)
            known = truth(value)
            if known is None or known == isinstance(node.op, ast.Or):
                break
        return value

    def at_Compare(self, node: ast.Compare, scope: Scope) -> Any:
        left, right = self.value(node.left, scope), self.value(node.comparators[0], scope)
        if (
            len(node.ops) > 1
            or not is_plain(left)
            or not (is_plain(right) or isinstance(right, (list, dict)))
        ):
            return UNKNOWN
        try:
            return bool(_COMPARE[type(node.ops[0])](left, right))
        except TypeError:
            return UNKNOWN

    def at_IfExp(self, node: ast.IfExp, scope: Scope) -> Any:
        known = truth(self.value(node.test, scope))
        return UNKNOWN if known is None else self.value(node.body if known else node.orelse, scope)

    def at_Lambda(self, node: ast.Lambda, scope: Scope) -> Any:
        return Function(node, scope)

    def at_Attribute(self, node: ast.Attribute, scope: Scope) -> Any:
        owner = self.value(node.value, scope)
        if isinstance(owner, Name):
            return node.attr.lower() if owner.last in _ENUMS else Name(f"{owner.dotted}.{node.attr}")
        if isinstance(owner, Ref) and node.attr == "output":
            return Ref(owner.node, data=True)
        if owner is UNKNOWN:
            return UNKNOWN
        return Bound(owner, node.attr)

    def at_Subscript(self, node: ast.Subscript, scope: Scope) -> Any:
        owner, key = self.value(node.value, scope), self.value(node.slice, scope)
        if isinstance(owner, Ref):
            return owner
        try:
            if isinstance(owner, (list, dict, str)) and is_plain(key):
                return owner[key]
        except (KeyError, IndexError, TypeError):
            pass
        return UNKNOWN

    def at_Call(self, node: ast.Call, scope: Scope) -> Any:
        function = self.value(node.func, scope)
        args = self.at_List(ast.List(elts=node.args), scope)
        given: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value, scope)
            if keyword.arg is not None:
                given[keyword.arg] = value
            elif isinstance(value, dict):
                given.update({str(key): item for key, item in value.items()})
        return self.calls(self, node, function, args, given)

    def at_ListComp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, scope: Scope) -> Any:
        made: list[Any] = []
        inner = Scope({}, scope)
        known = self.comprehend(
            node, node.generators, inner, lambda: made.append(self.value(node.elt, inner))
        )
        return made if known else UNKNOWN

    at_GeneratorExp = at_SetComp = at_ListComp

    def at_DictComp(self, node: ast.DictComp, scope: Scope) -> Any:
        made: dict[Any, Any] = {}
        inner = Scope({}, scope)

        def put() -> None:
            key = self.value(node.key, inner)
            made[key if is_plain(key) else id(key)] = self.value(node.value, inner)

        return made if self.comprehend(node, node.generators, inner, put) else UNKNOWN

    def comprehend(
        self, node: ast.AST, generators: list[ast.comprehension], scope: Scope, put: Callable[[], None]
    ) -> bool:
        """Call ``put`` for every combination; False if a source is not known."""
        if not generators:
            put()
            return True
        first, rest = generators[0], generators[1:]
        items = items_of(self.value(first.iter, scope))
        if items is None:
            if _makes_calls(node):
                self.unseen(
                    node, "a list built from something only known at run time; tasks in it are not seen"
                )
            return False
        for item in items:
            self.step()
            self.assign(first.target, item, scope)
            if all(truth(self.value(test, scope)) is not False for test in first.ifs):
                self.comprehend(node, rest, scope, put)
        return True

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


def items_of(value: Any) -> list[Any] | None:
    """The items a loop would see, or None."""
    if isinstance(value, dict):
        value = list(value)
    if isinstance(value, str):
        value = list(value)
    return value if isinstance(value, list) and len(value) <= MAX_ITEMS else None


def truth(value: Any) -> bool | None:
    """Whether a value counts as true, or None."""
    if is_plain(value) or isinstance(value, (list, dict)):
        return bool(value)
    return True if isinstance(value, (Ref, DagModel, Group, Function)) else None


def _makes_calls(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Call) for part in ast.walk(node))


def _is_call(*values: Any) -> bool:
    return any(isinstance(value, (Name, Bound, Function)) for value in values)


def _short(text: str) -> Any:
    return text if len(text) <= MAX_ITEMS else UNKNOWN


def _computed(op: ast.operator, left: Any, right: Any) -> Any:
    """Arithmetic on plain values, refusing what could grow without bound."""
    function = _OPERATORS.get(type(op))
    big = isinstance(op, ast.Mult) and (isinstance(left, str) or isinstance(right, str))
    if function is None or big or any(isinstance(v, int) and abs(v) > 10**15 for v in (left, right)):
        return UNKNOWN
    if (
        isinstance(op, ast.Mod)
        and isinstance(left, str)
        and any(c.isdigit() or c == "*" for c in left if "%" in left)
    ):
        return UNKNOWN
    try:
        made = function(left, right)
    except (TypeError, ValueError, ArithmeticError):
        return UNKNOWN
    return _short(made) if isinstance(made, str) else made
