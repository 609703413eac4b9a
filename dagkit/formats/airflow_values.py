"""Values of expressions in a Dag file, as far as its text tells; anything else is ``UNKNOWN``.

Names, constants, lists, f-strings, arithmetic on small plain values, comprehensions over known lists. Nothing is
evaluated by Python itself.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

from .airflow_model import UNKNOWN, DagModel, Group, Label, Ref, TooMuch, relate
from .airflow_scope import Bound, Function, Name, Scope, is_plain

MAX_STEPS = 500_000
MAX_ITEMS = 5_000  # of one loop, or characters of one computed text


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


class Expressions:
    """The expression half of a reader of Python; ``airflow_eval.Reader`` adds statements.

    calls: what a call means (see ``airflow_calls``). note: takes a sentence for the report.
    """

    def __init__(self, calls: Any, note: Callable[[str], None]):
        self.calls, self.note = calls, note
        self.steps = 0

    def step(self, count: int = 1) -> None:
        """Count work, and stop where it is too much."""
        self.steps += count
        if self.steps > MAX_STEPS:
            raise TooMuch(f"more than {MAX_STEPS} steps to follow")

    def unseen(self, node: ast.AST, what: str) -> None:
        """Report what hides a task, with its line."""
        self.note(f"Line {getattr(node, 'lineno', 0)}: {what}.")

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
        count = relate(first, second)
        self.step(count)
        if not count and (left is UNKNOWN or right is UNKNOWN or _is_call(left, right)):
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
            if makes_calls(node):
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


def makes_calls(node: ast.AST) -> bool:
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
