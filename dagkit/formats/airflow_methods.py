"""Methods of lists, sets, dictionaries and texts of a Dag file that is read; ``LOST`` where one cannot be followed.

Sets are read as lists that hold each thing once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .airflow_builtins import Apply, items, place_of, plain_call
from .airflow_model import MORE, UNKNOWN, Hidden
from .airflow_plain import MAX_ITEMS, Fixed, computed, contains, formatted, is_open, items_of, same, unique
from .airflow_scope import is_plain

LOST = object()
"""The list or dictionary may have changed, and how is not known."""

_TEXT_METHODS = frozenset(
    "lower upper strip lstrip rstrip replace title capitalize casefold swapcase removeprefix removesuffix split rsplit "
    "splitlines join startswith endswith partition rpartition find rfind index count zfill ljust rjust center isdigit "
    "isalpha isalnum isdecimal isnumeric isupper islower isidentifier isspace".split()
)
_FAULTS = (TypeError, ValueError, KeyError, IndexError, OverflowError)


def value_method(owner: Any, name: str, args: list[Any], given: dict[str, Any], apply: Apply) -> Any:
    """``owner.name(*args, **given)`` of a known value; UNKNOWN, or LOST, where it cannot be told."""
    if isinstance(owner, str):
        return _text_method(owner, name, args, given)
    if isinstance(owner, (list, dict)):
        table = _LIST if isinstance(owner, list) else _DICT
        try:
            if name == "sort" and isinstance(owner, list):
                return _sort(owner, given, apply)
            return table[name](owner, *args, **given)
        except _FAULTS:
            return LOST
    return UNKNOWN


def _text_method(owner: str, name: str, args: list[Any], given: dict[str, Any]) -> Any:
    """A method of a text whose result cannot be much longer than what goes in."""
    if name == "format":
        return formatted(owner, args, given)
    values = [tuple(arg) if isinstance(arg, Fixed) else arg for arg in (*args, *given.values())]
    parts = [part for value in values for part in (value if isinstance(value, (tuple, list)) else [value])]
    if name not in _TEXT_METHODS or not all(is_plain(part) for part in parts):
        return UNKNOWN
    width = sum(len(part) if isinstance(part, str) else abs(part or 0) for part in parts)
    if name == "replace" and "" in args[:1] or (len(owner) + 1) * (1 + width) > MAX_ITEMS * 10:
        return UNKNOWN
    try:
        made = getattr(owner, name)(*values[: len(args)], **dict(zip(given, values[len(args) :], strict=True)))
    except (TypeError, ValueError, OverflowError):
        return UNKNOWN
    return Fixed(made) if isinstance(made, tuple) else made


def _sort(owner: list[Any], given: dict[str, Any], apply: Apply) -> Any:
    made = plain_call("sorted", [owner], given, apply)
    if made is UNKNOWN:
        return LOST
    owner[:] = made
    return None


def _grow(owner: list[Any], more: list[Any], place: int | None = None) -> None:
    if len(owner) + len(more) > MAX_ITEMS:
        raise OverflowError
    place = len(owner) if place is None else place
    owner[place:place] = more


def _spread(value: Any) -> list[Any]:
    found = items_of(value)
    return [MORE] if found is None else list(found)


def _insert(owner: list[Any], place: Any, item: Any) -> None:
    owner.insert(place, item) if type(place) is int and len(owner) < MAX_ITEMS else _fail()


def _fail() -> None:
    raise ValueError


def _take(owner: list[Any], place: Any = -1) -> Any:
    if type(place) is not int or MORE in owner:
        raise ValueError
    return owner.pop(place)


def _without(owner: list[Any], item: Any) -> None:
    place = place_of(item, owner)
    if place is None:
        raise ValueError
    del owner[place]


def _discard(owner: list[Any], item: Any) -> None:
    if contains(item, owner) is not False:
        _without(owner, item)


def _index(owner: list[Any], item: Any) -> Any:
    place = place_of(item, owner)
    return UNKNOWN if place is None else place


def _count(owner: list[Any], item: Any) -> Any:
    answers = [same(item, one) for one in owner]
    return UNKNOWN if None in answers else answers.count(True)


def _add(owner: list[Any], item: Any) -> None:
    if contains(item, owner) is not True:
        _grow(owner, [item])


def _update(owner: list[Any], *others: Any) -> None:
    for other in others:
        _grow(owner, _spread(other))
    owner[:] = unique(owner)


def _set_of(node: ast.operator) -> Callable[..., Any]:
    def made(owner: list[Any], *others: Any) -> Any:
        found: Any = owner
        for other in others:
            found = computed(node, found, items(other)) if isinstance(found, list) else UNKNOWN
        return found

    return made


_LIST: dict[str, Callable[..., Any]] = {
    "append": lambda owner, item: _grow(owner, [item]),
    "extend": lambda owner, values: _grow(owner, _spread(values)),
    "insert": _insert,
    "remove": _without,
    "pop": _take,
    "popleft": lambda owner: _take(owner, 0),
    "appendleft": lambda owner, item: _insert(owner, 0, item),
    "clear": lambda owner: owner.clear(),
    "reverse": lambda owner: owner.reverse(),
    "copy": lambda owner: type(owner)(owner),
    "index": _index,
    "count": _count,
    "add": _add,
    "update": _update,
    "discard": _discard,
    "union": _set_of(ast.BitOr()),
    "difference": _set_of(ast.Sub()),
    "intersection": _set_of(ast.BitAnd()),
}


def _get(owner: dict[Any, Any], key: Any, default: Any = None) -> Any:
    if not is_plain(key):
        return UNKNOWN
    return owner[key] if key in owner else UNKNOWN if is_open(owner) else default


def _default(owner: dict[Any, Any], key: Any, default: Any = None) -> Any:
    if not is_plain(key) or key not in owner and is_open(owner):
        raise ValueError
    return owner.setdefault(key, default)


def _out(owner: dict[Any, Any], key: Any, *default: Any) -> Any:
    if not is_plain(key) or is_open(owner):
        raise ValueError
    return owner.pop(key, *default)


def _put(owner: dict[Any, Any], more: Any = None, **given: Any) -> None:
    pairs = {} if more is None else more if isinstance(more, dict) else plain_call("dict", [more], {}, lambda *_: UNKNOWN)
    owner.update(pairs if isinstance(pairs, dict) else {Hidden(): UNKNOWN})
    owner.update(given)


_DICT: dict[str, Callable[..., Any]] = {
    "items": lambda owner: [MORE if isinstance(key, Hidden) else Fixed([key, owner[key]]) for key in owner],
    "keys": lambda owner: items_of(owner) or [],
    "values": lambda owner: [MORE if isinstance(key, Hidden) else value for key, value in owner.items()],
    "get": _get,
    "setdefault": _default,
    "pop": _out,
    "update": _put,
    "clear": lambda owner: owner.clear(),
    "copy": lambda owner: dict(owner),
    "fromkeys": lambda owner, keys, value=None: dict.fromkeys(items(keys), value),
}


def drop(owner: Any, key: Any) -> Any:
    """``del owner[key]``; LOST if what it does is not known."""
    try:
        if isinstance(owner, dict):
            _out(owner, key)
            return None
        if isinstance(owner, list) and MORE not in owner:
            del owner[key]
            return None
    except _FAULTS:
        pass
    return LOST
