"""Python's own functions on values that are known: those that Dag files are built with, none that could run code or
grow large. What is not known, or given in a way not listed here, gives ``UNKNOWN``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

from .airflow_model import MORE, UNKNOWN, Ref
from .airflow_plain import MAX_ITEMS, Fixed, all_plain, is_open, items_of, same, text_of, truth, unique
from .airflow_scope import is_plain

Apply = Callable[[Any, list[Any]], Any]
"""Calls a function of the file: the function, its arguments."""

_FAULTS = (TypeError, ValueError, OverflowError, KeyError, AttributeError)


def plain_call(name: str, args: list[Any], given: dict[str, Any], apply: Apply) -> Any:
    """A builtin on known values; nothing that could run code or grow large."""
    try:
        if name in WITH_FUNCTION:
            return WITH_FUNCTION[name](apply, *args, **given)
        made = PLAIN_CALLS[name](*args, **given)
    except _FAULTS:
        return UNKNOWN
    return made if not isinstance(made, list) or len(made) <= MAX_ITEMS else UNKNOWN


def _range(*args: Any) -> Any:
    if not all(type(arg) is int for arg in args) or len(range(*args)) > MAX_ITEMS:
        return UNKNOWN
    return list(range(*args))


def items(value: Any) -> list[Any]:
    """All items of a value. Raises ValueError where they are not known."""
    found = items_of(value)
    if found is None or MORE in found:
        raise ValueError
    return found


def _some(value: Any = ()) -> list[Any]:
    """The items of a value, ``MORE`` among them if there may be others."""
    found = items_of(list(value) if value == () else value)
    if found is None:
        raise ValueError
    return list(found)


def _dict(value: Any = None, **given: Any) -> Any:
    """``dict(...)`` of a dictionary, of pairs, of keywords."""
    if isinstance(value, (dict, type(None))):
        return {**(value or {}), **given}
    made: dict[Any, Any] = {}
    for pair in items(value):
        key, item = items(pair)
        made[tuple(key) if isinstance(key, Fixed) else key] = item
    return {**made, **given} if all(map(_is_key, made)) else UNKNOWN


def _is_key(value: Any) -> bool:
    return is_plain(value) or isinstance(value, tuple) and all(map(is_plain, value))


def _number(kind: type) -> Callable[[Any], Any]:
    def made(value: Any = 0) -> Any:
        if type(value) in (int, float, bool) or isinstance(value, str) and len(value) < 100:
            return kind(value)
        return UNKNOWN

    return made


def _bool(value: Any = False) -> Any:
    known = truth(value)
    return UNKNOWN if known is None else known


def _some_true(stop: bool) -> Callable[[Any], Any]:
    """``any`` (stop at a true one) and ``all`` (stop at a false one)."""

    def made(values: Any) -> Any:
        found = [truth(value) for value in items(values)]
        return stop if stop in found else UNKNOWN if None in found else not stop

    return made


def _plain_items(value: Any) -> list[Any]:
    found = items(value)
    if not all_plain(found):
        raise ValueError
    return found


def _best(pick: Callable[..., Any]) -> Callable[..., Any]:
    """``min`` and ``max``, of texts or of numbers."""

    def made(apply: Apply, *values: Any, key: Any = None) -> Any:
        found = items(values[0]) if len(values) == 1 else list(values)
        keys = _plain_items(found if key is None else [apply(key, [item]) for item in found])
        return found[pick(range(len(found)), key=keys.__getitem__)]

    return made


def _sum(values: Any, start: Any = 0) -> Any:
    if not all(type(value) in (int, float, bool) and abs(value) < 10**15 for value in [*items(values), start]):
        return UNKNOWN
    return sum(items(values), start)


def _zip(*values: Any, strict: bool = False) -> list[Any]:
    return [Fixed(row) for row in zip(*map(items, values), strict=False)]


def _product(*values: Any, repeat: int = 1) -> Any:
    columns = [items(value) for value in values] * (repeat if type(repeat) is int and repeat <= 9 else 0)
    if not columns or math.prod(map(len, columns)) > MAX_ITEMS:
        return UNKNOWN
    return [Fixed(row) for row in itertools.product(*columns)]


def _chosen(kind: Callable[..., Any]) -> Callable[[Any, int], Any]:
    """``combinations`` and ``permutations``."""

    def made(values: Any, size: int) -> Any:
        found = items(values)
        if type(size) is not int or not 0 <= size <= 5 or len(found) ** size > MAX_ITEMS * 10:
            return UNKNOWN
        return [Fixed(row) for row in kind(found, size)]

    return made


def _longest(*values: Any, fillvalue: Any = None) -> list[Any]:
    return [Fixed(row) for row in itertools.zip_longest(*map(items, values), fillvalue=fillvalue)]


def _end_to_end(*values: Any) -> Any:
    lists = [_some(value) for value in values]
    return list(itertools.chain(*lists)) if sum(map(len, lists)) <= MAX_ITEMS else UNKNOWN


def _sort(apply: Apply, values: Any, key: Any = None, reverse: Any = False) -> Any:
    """``sorted``; only texts and numbers are compared, or rows of them."""
    found = items(values)
    keys = [item if key is None else apply(key, [item]) for item in found]
    if all_plain(keys):
        rows: list[Any] = keys
    else:
        rows = [tuple(one) if isinstance(one, list) else (one,) for one in keys]
        if not all(is_plain(part) for row in rows for part in row):
            return UNKNOWN
    return [found[place] for place in sorted(range(len(found)), key=rows.__getitem__, reverse=bool(reverse))]


def _reduce(apply: Apply, function: Any, values: Any, *start: Any) -> Any:
    found = [*start, *items(values)]
    made = found[0] if found else UNKNOWN
    for item in found[1:]:
        made = apply(function, [made, item])
    return made


def _filter(apply: Apply, function: Any, values: Any) -> Any:
    kept = [(item, truth(item if function is None else apply(function, [item]))) for item in items(values)]
    return UNKNOWN if any(known is None for _, known in kept) else [item for item, known in kept if known]


WITH_FUNCTION: dict[str, Callable[..., Any]] = {
    "sorted": _sort,
    "reduce": _reduce,
    "filter": _filter,
    "min": _best(min),
    "max": _best(max),
    "map": lambda apply, function, *values: [apply(function, row) for row in _zip(*values)],
}
"""Those that are given a function of the file."""

PLAIN_CALLS: dict[str, Callable[..., Any]] = {
    "range": _range,
    "str": lambda value="": text_of(value),
    "repr": lambda value: text_of(value, "r"),
    "format": lambda value, spec="": text_of(value, "", spec),
    "len": lambda value: len(items(value)) if not isinstance(value, dict) or not is_open(value) else UNKNOWN,
    "list": _some,
    "tuple": lambda value=(): Fixed(_some(value)),
    "set": lambda value=(): unique(_some(value)),
    "frozenset": lambda value=(): unique(_some(value)),
    "reversed": lambda value: items(value)[::-1],
    "enumerate": lambda iterable, start=0: [Fixed(row) for row in enumerate(items(iterable), start)],
    "zip": _zip,
    "pairwise": lambda value: [Fixed(row) for row in itertools.pairwise(items(value))],
    "product": _product,
    "zip_longest": _longest,
    "combinations": _chosen(itertools.combinations),
    "permutations": _chosen(itertools.permutations),
    "dict": _dict,
    "OrderedDict": _dict,
    "deque": _some,
    "int": _number(int),
    "float": _number(float),
    "bool": _bool,
    "any": _some_true(True),
    "all": _some_true(False),
    "sum": _sum,
    "abs": lambda value: abs(value) if type(value) in (int, float) else UNKNOWN,
    "end_to_end": _end_to_end,
    "from_iterable": lambda values: _end_to_end(*items(values)),
}


def place_of(item: Any, values: list[Any]) -> int | None:
    """Where a list holds a value first, None if that is not known. Raises ValueError if it does not."""
    for place, one in enumerate(values):
        answer = None if isinstance(one, (list, dict)) and not isinstance(item, Ref) else same(item, one)
        if answer is None:
            return None
        if answer:
            return place
    raise ValueError
