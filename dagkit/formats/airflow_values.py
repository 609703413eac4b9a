"""Values of expressions in a Dag file, as far as its text tells; anything else is ``UNKNOWN``.

Names, constants, lists, f-strings, arithmetic on small plain values, comprehensions over known lists. Nothing is
evaluated by Python itself.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import reduce
from typing import Any

from .airflow_flow import differ, either, matters
from .airflow_model import MORE, UNKNOWN, Hidden, Label, Unknown, parts_of, relate
from .airflow_places import Places
from .airflow_plain import Fixed, compared, computed, items_of, short, text_of, truth, unique
from .airflow_scope import Bound, Function, Name, Scope, is_plain


class Expressions(Places):
    """The expression half of a reader of Python; ``airflow_eval.Reader`` adds statements."""

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
            if isinstance(item, ast.Starred):
                made += self.spread(self.value(item.value, scope))
            else:
                made.append(self.value(item, scope))
        return made

    def at_Tuple(self, node: ast.Tuple, scope: Scope) -> list[Any]:
        return Fixed(self.at_List(node, scope))

    def at_Set(self, node: ast.Set, scope: Scope) -> list[Any]:
        return unique(self.at_List(node, scope))

    def at_Dict(self, node: ast.Dict, scope: Scope) -> Any:
        made: dict[Any, Any] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            name = Hidden() if key is None else self.key(key, scope)
            value = self.value(item, scope)
            if key is None and isinstance(value, dict):
                self.step(1 + len(value) // 100)
                made.update(value)
            else:
                made[name] = value
        return made

    def at_JoinedStr(self, node: ast.JoinedStr, scope: Scope) -> Any:
        parts = [self.value(part, scope) for part in node.values]
        return UNKNOWN if UNKNOWN in parts else short("".join(parts))

    def at_FormattedValue(self, node: ast.FormattedValue, scope: Scope) -> Any:
        value = self.value(node.value, scope)
        spec = self.value(node.format_spec, scope) if node.format_spec else ""
        conversion = chr(node.conversion) if node.conversion > 0 else ""
        return text_of(value, conversion, spec) if isinstance(spec, str) else UNKNOWN

    def at_NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> Any:
        value = self.value(node.value, scope)
        self.assign(node.target, value, scope)
        return value

    def at_Await(self, node: ast.Await, scope: Scope) -> Any:
        return self.value(node.value, scope)

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
        if isinstance(op, (ast.RShift, ast.LShift)) and not (type(left) is int and type(right) is int):
            return self.arrows(node, op, left, right)
        if isinstance(op, ast.BitOr) and (isinstance(left, dict) or isinstance(right, dict)):
            left, right = ({Hidden(): UNKNOWN} if isinstance(side, (Unknown, Name)) else side for side in (left, right))
        made = computed(op, left, right)
        self.step(1 + len(made) // 100 if isinstance(made, (list, dict)) else 1)
        return made

    def arrows(self, node: Any, op: ast.operator, left: Any, right: Any) -> Any:
        """``left >> right`` or ``left << right``; a Label leaves the other side as it is."""
        if isinstance(right, Label) or isinstance(left, Label):
            return left if isinstance(right, Label) else right
        first, second = (left, right) if isinstance(op, ast.RShift) else (right, left)
        count = relate(first, second)
        self.step(count)
        if _is_unknown(left, right) or not count and _is_call(left, right):
            self.unseen(node, "an arrow from or to something that is not seen as a task")
        return right

    def at_UnaryOp(self, node: ast.UnaryOp, scope: Scope) -> Any:
        value = self.value(node.operand, scope)
        if isinstance(node.op, ast.Not):
            known = truth(value)
            return UNKNOWN if known is None else not known
        if not isinstance(value, (int, float)):
            return UNKNOWN
        if isinstance(node.op, ast.Invert):
            return ~value if isinstance(value, int) else UNKNOWN
        return -value if isinstance(node.op, ast.USub) else +value

    def at_BoolOp(self, node: ast.BoolOp, scope: Scope) -> Any:
        """``a and b``, ``a or b``; behind something unknown the rest may happen, so it is read."""
        value: Any = self.value(node.values[0], scope)
        for number, part in enumerate(node.values[1:], 1):
            known = truth(value)
            if known is not None and known == isinstance(node.op, ast.Or):
                break
            if known is None:
                return self.perhaps(node, value, node.values[number:], scope)
            value = self.value(part, scope)
        return value

    def perhaps(self, node: ast.BoolOp, value: Any, parts: list[ast.expr], scope: Scope) -> Any:
        values = [self.value(part, scope) for part in parts]
        if matters(*parts) or any(differ(value, one) for one in values):
            self.both(node, "an 'and' or 'or'")
        return reduce(either, values, value)

    def at_Compare(self, node: ast.Compare, scope: Scope) -> Any:
        left, answers = self.value(node.left, scope), []
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part, scope)
            self.step(1 + len(right) // (5 if isinstance(left, list) else 50) if isinstance(right, (list, dict)) else 1)
            answers.append(compared(op, left, right))
            left = right
        return False if False in answers else UNKNOWN if None in answers else True

    def at_IfExp(self, node: ast.IfExp, scope: Scope) -> Any:
        known = truth(self.value(node.test, scope))
        if known is not None:
            return self.value(node.body if known else node.orelse, scope)
        left, right = [self.value(side, scope) for side in self.sides((node.body, node.orelse))]
        if matters(node.body, node.orelse) or differ(left, right):
            self.both(node, "an if")
        return either(left, right)

    def defaults(self, node: Any, scope: Scope) -> dict[str, Any]:
        """The defaults of a function's parameters, which are what they are where it is defined."""
        spec = node.args
        named = [*spec.posonlyargs, *spec.args]
        pairs = [*zip(named[len(named) - len(spec.defaults) :], spec.defaults, strict=True)]
        pairs += [(arg, one) for arg, one in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if one is not None]
        return {arg.arg: self.value(one, scope) for arg, one in pairs}

    def at_Lambda(self, node: ast.Lambda, scope: Scope) -> Any:
        return Function(node, scope, defaults=self.defaults(node, scope))

    def at_Call(self, node: ast.Call, scope: Scope) -> Any:
        function = self.value(node.func, scope)
        args = self.at_List(ast.List(elts=node.args), scope)
        given: dict[str, Any] = {}
        hidden = partly = False
        for keyword in node.keywords:
            value = self.value(keyword.value, scope)
            if keyword.arg is not None:
                given[keyword.arg] = value
            elif isinstance(value, dict):
                partly = partly or not all(isinstance(key, str) for key in value)
                given.update({key: item for key, item in value.items() if isinstance(key, str)})
            else:
                hidden = True
        if hidden and function is not UNKNOWN:
            self.unseen(node, "arguments given with ** are only known at run time; they were ignored")
        elif partly and function is not UNKNOWN:
            self.unseen(node, "arguments given with ** are partly known at run time only; that part was ignored")
        return self.calls(self, node, function, args, given)

    def at_ListComp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, scope: Scope) -> Any:
        made: list[Any] = []
        inner = Scope({}, scope)
        known = self.comprehend(
            node, node.generators, inner, lambda: made.append(self.value(node.elt, inner))
        )
        return made if known else UNKNOWN

    at_GeneratorExp = at_ListComp

    def at_SetComp(self, node: ast.SetComp, scope: Scope) -> Any:
        made = self.at_ListComp(node, scope)
        return made if made is UNKNOWN else unique(made)

    def at_DictComp(self, node: ast.DictComp, scope: Scope) -> Any:
        made: dict[Any, Any] = {}
        inner = Scope({}, scope)

        def put() -> None:
            made[self.key(node.key, inner)] = self.value(node.value, inner)

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
        if items is None or MORE in items:
            if matters(node):
                self.unseen(
                    node, "a list built from something only known at run time; tasks in it are not seen"
                )
            return False
        known = True
        for item in list(items):
            self.step()
            self.assign(first.target, item, scope)
            tests = [truth(self.value(test, scope)) for test in first.ifs]
            if None in tests and False not in tests:
                self.both(node, "an if")
            if False not in tests:
                known = self.comprehend(node, rest, scope, put) and known
        return known


def _is_call(*values: Any) -> bool:
    return any(isinstance(part, (Name, Bound, Function)) for value in values for part in parts_of(value))


def _is_unknown(*values: Any) -> bool:
    return any(isinstance(part, Unknown) for value in values for part in parts_of(value))
