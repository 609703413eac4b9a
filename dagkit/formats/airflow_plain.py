"""Plain values of a Dag file that is read: comparing them, counting with them, making texts, all of it bounded.

Lists may hold themselves a million times over, and numbers may have a million digits: nothing here looks inside a list
that is inside a list, and no text is made that is longer than ``MAX_ITEMS``.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable
from string import Formatter
from typing import Any

from .airflow_model import MORE, UNKNOWN, DagModel, Group, Hidden, Ref, Unknown
from .airflow_scope import PLAIN, Bound, Function, Name, is_plain

MAX_ITEMS = 5_000  # of one loop, or characters of one computed text
_BIG = 10**15

_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.Pow: operator.pow,
}

_ORDER: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

# formats that would fill thousands of columns, or take their width from elsewhere
_WIDE = re.compile(r"\d{4}|[*{]")
_WIDE_PERCENT = re.compile(r"%(?:\([^)]*\))?[-+ #]*(?:\d*\.)?(?:\d{4}|\*)")


_UNSURE = (Unknown, Name, Bound)
_CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}


class Fixed(list[Any]):
    """A tuple of the file; it is read like a list, but ``"%s-%s" % it`` tells them apart."""


class Default(dict[Any, Any]):
    """``defaultdict(list)``. make: what is called for a key that is missing."""

    make: Any = None


def items_of(value: Any) -> list[Any] | None:
    """The items a loop would see, or None; what is hidden in a dictionary is ``MORE``."""
    if isinstance(value, dict):
        value = [MORE if isinstance(key, Hidden) else key for key in value]
    if isinstance(value, str):
        value = list(value)
    return value if isinstance(value, list) and len(value) <= MAX_ITEMS else None


def truth(value: Any) -> bool | None:
    """Whether a value counts as true, or None."""
    if is_plain(value):
        return bool(value)
    if isinstance(value, (list, dict)):
        return None if len(value) == 1 and is_open(value) else bool(value)
    return True if isinstance(value, (Ref, DagModel, Group, Function)) else None


def is_open(value: Any) -> bool:
    """Whether a list or dictionary holds more than is known: ``[*unknown]``, ``{**unknown}``."""
    return any(item is MORE or isinstance(item, Hidden) for item in value)


def same(left: Any, right: Any) -> bool | None:
    """``left == right``, or None where that cannot be told."""
    if isinstance(left, _UNSURE) or isinstance(right, _UNSURE):
        return None
    if is_plain(left) and is_plain(right):
        return bool(left == right)
    if isinstance(left, Ref) and isinstance(right, Ref):
        return left.node is right.node
    if isinstance(left, list) and isinstance(right, list) and not is_open(left) and not is_open(right):
        return _same_items(left, right)
    alike = isinstance(left, dict) and isinstance(right, dict) or isinstance(left, list) and isinstance(right, list)
    return None if alike else left is right


def _same_items(left: list[Any], right: list[Any]) -> bool | None:
    if len(left) != len(right):
        return False
    if all_plain(left) and all_plain(right):
        return list(left) == list(right)
    deep = any(isinstance(item, (list, dict)) for item in (*left, *right))
    answers = [None] if deep else [same(*pair) for pair in zip(left, right, strict=True)]
    return False if False in answers else None if None in answers else True


def all_plain(items: Iterable[Any]) -> bool:
    """Whether all items are plain values, at Python's own speed."""
    return all(issubclass(kind, PLAIN) for kind in set(map(type, items)))


def contains(item: Any, inside: Any) -> bool | None:
    """``item in inside``, or None where that cannot be told."""
    if isinstance(inside, str):
        return item in inside if isinstance(item, str) else None
    items = items_of(inside)
    if items is None:
        return None
    if is_plain(item) or isinstance(item, Ref):  # the common case, at Python's own speed
        nodes = [one.node for one in items if isinstance(one, Ref)] if isinstance(item, Ref) else ()
        if item in items or isinstance(item, Ref) and item.node in nodes:
            return True
        return None if any(issubclass(kind, _UNSURE) for kind in set(map(type, items))) else False
    answers = [None if isinstance(one, (list, dict)) else same(item, one) for one in items]
    return True if True in answers else None if None in answers else False


def compared(op: ast.cmpop, left: Any, right: Any) -> bool | None:
    """A comparison of two values, or None."""
    if isinstance(op, (ast.In, ast.NotIn)):
        answer = contains(left, right)
    elif type(op) in _ORDER:
        try:
            return bool(_ORDER[type(op)](left, right)) if is_plain(left) and is_plain(right) else None
        except TypeError:
            return None
    else:
        answer = same(left, right)
    negative = isinstance(op, (ast.NotEq, ast.NotIn, ast.IsNot))
    return answer if answer is None or not negative else not answer


def computed(op: ast.operator, left: Any, right: Any) -> Any:
    """Arithmetic on plain values and lists of them, refusing what could grow without bound."""
    if isinstance(left, list) and isinstance(right, list):
        return _of_lists(op, left, right)
    if isinstance(op, ast.BitOr) and isinstance(left, dict) and isinstance(right, dict):
        return {**left, **right}
    if isinstance(op, ast.Mod) and isinstance(left, str):
        return _percent(left, right)
    if isinstance(op, ast.Mult) and (isinstance(left, (str, list)) or isinstance(right, (str, list))):
        return _repeated(*((left, right) if isinstance(left, (str, list)) else (right, left)))
    function = _OPERATORS.get(type(op))
    if function is None or not (is_plain(left) and is_plain(right)):
        return UNKNOWN
    if any(isinstance(value, int) and abs(value) > _BIG for value in (left, right)):
        return UNKNOWN
    if isinstance(op, (ast.Pow, ast.LShift)) and not (type(right) is int and 0 <= right <= 64):
        return UNKNOWN
    try:
        made = function(left, right)
    except (TypeError, ValueError, ArithmeticError):
        return UNKNOWN
    return short(made) if isinstance(made, str) else made if is_plain(made) else UNKNOWN


def _of_lists(op: ast.operator, left: list[Any], right: list[Any]) -> Any:
    """Two lists one after the other, or what two sets have together, in common, apart."""
    if len(left) + len(right) > MAX_ITEMS:
        return UNKNOWN
    if isinstance(op, ast.Add):
        return type(left)([*left, *right])
    if isinstance(op, ast.BitOr):
        return unique([*left, *right])
    if isinstance(op, ast.BitXor):
        ends = [_of_lists(ast.Sub(), left, right), _of_lists(ast.Sub(), right, left)]
        return UNKNOWN if UNKNOWN in ends else [*ends[0], *ends[1]]
    if isinstance(op, (ast.Sub, ast.BitAnd)):
        answers = [contains(item, right) for item in left]
        keep = isinstance(op, ast.BitAnd)
        return UNKNOWN if None in answers else [x for x, there in zip(left, answers, strict=True) if there is keep]
    return UNKNOWN


def unique(items: list[Any]) -> list[Any]:
    """Each plain value, and each task, once, in the order of the file: how a set is read."""
    seen: dict[Any, Any] = {}
    for item in items:
        node = item.node if isinstance(item, Ref) else None
        seen.setdefault(("node", id(node)) if node else ("plain", item) if is_plain(item) else ("other", id(item)), item)
    return list(seen.values())


def _repeated(items: Any, times: Any) -> Any:
    if type(times) is not int or times > MAX_ITEMS or len(items) * times > MAX_ITEMS:
        return UNKNOWN
    return items * times if isinstance(items, str) else type(items)(list(items) * times)


def _percent(text: str, given: Any) -> Any:
    """``"%s_%d" % (a, b)``: plain values only, so that Python's own way of it ends soon."""
    given = tuple(given) if isinstance(given, Fixed) else given
    parts = given if isinstance(given, tuple) else [*given, *given.values()] if isinstance(given, dict) else [given]
    if isinstance(given, dict) and "%(" not in text or len(parts) > 100 or _WIDE_PERCENT.search(text):
        return UNKNOWN
    texts = [text_of(part) for part in parts]
    if UNKNOWN in texts or len(text) * (1 + sum(map(len, texts))) > MAX_ITEMS * 100:
        return UNKNOWN
    try:
        return short(text % given)
    except (TypeError, ValueError, KeyError, OverflowError):
        return UNKNOWN


def short(text: str) -> Any:
    """The text, if it is not too long."""
    return text if len(text) <= MAX_ITEMS else UNKNOWN


def text_of(value: Any, conversion: str = "", spec: str = "") -> Any:
    """``f"{value!s:spec}"`` of a plain value; anything else, or a text too long, is UNKNOWN."""
    if not is_plain(value) or _WIDE.search(spec) or (isinstance(value, int) and abs(value) > _BIG**4):
        return UNKNOWN
    if isinstance(value, str) and len(value) > MAX_ITEMS:
        return UNKNOWN
    made = _CONVERSIONS[conversion](value) if conversion else value
    try:
        return short(format(made, spec))
    except (ValueError, TypeError, OverflowError):
        return UNKNOWN


def formatted(text: str, args: list[Any], given: dict[str, Any]) -> Any:
    """``"{}_{name:03}".format(...)``; a field that looks into its value (``{0.x}``, ``{0[1]}``) is UNKNOWN."""
    made, waiting = [], iter(args)
    if len(text) > MAX_ITEMS:
        return UNKNOWN
    try:
        for literal, field, spec, conversion in Formatter().parse(text):
            made.append(literal)
            if field is not None:
                value = next(waiting) if field == "" else args[int(field)] if field.isdecimal() else given[field]
                made.append(text_of(value, conversion or "", spec or ""))
    except (ValueError, KeyError, IndexError, StopIteration):
        return UNKNOWN
    return UNKNOWN if UNKNOWN in made else short("".join(made))
