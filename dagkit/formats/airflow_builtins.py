"""Python's own functions and methods on plain values: those that Dag files are built with, none that could run code
or grow large.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .airflow_model import UNKNOWN
from .airflow_scope import is_plain
from .airflow_values import MAX_ITEMS, items_of

_TEXT_METHODS = (
    "lower",
    "upper",
    "strip",
    "replace",
    "title",
    "removeprefix",
    "removesuffix",
    "split",
    "join",
    "startswith",
    "endswith",
)


def plain_call(name: str, args: list[Any]) -> Any:
    """A builtin on plain values; nothing that could run code or grow large."""
    try:
        made = PLAIN_CALLS[name](*args)
    except (TypeError, ValueError, OverflowError):
        return UNKNOWN
    return made if not isinstance(made, list) or len(made) <= MAX_ITEMS else UNKNOWN


def _range(*args: Any) -> Any:
    if not all(type(arg) is int for arg in args) or len(range(*args)) > MAX_ITEMS:
        return UNKNOWN
    return list(range(*args))


def _items(value: Any) -> list[Any]:
    items = items_of(value)
    if items is None:
        raise ValueError
    return items


def _text(value: Any = "") -> Any:
    return str(value) if is_plain(value) else UNKNOWN


PLAIN_CALLS: dict[str, Callable[..., Any]] = {
    "range": _range,
    "str": _text,
    "len": lambda value: len(_items(value)),
    "list": lambda value=(): list(_items(value)) if value != () else [],
    "tuple": lambda value=(): list(_items(value)) if value != () else [],
    "set": lambda value=(): list(_items(value)) if value != () else [],
    "reversed": lambda value: _items(value)[::-1],
    "sorted": lambda value: sorted(_items(value)),
    "enumerate": lambda value, start=0: [[i, item] for i, item in enumerate(_items(value), start)],
    "zip": lambda *values: [list(row) for row in zip(*map(_items, values), strict=False)],
    "dict": lambda value=None: dict(value) if isinstance(value, dict) else {} if value is None else UNKNOWN,
    "int": lambda value: int(value) if type(value) in (int, float, bool) else UNKNOWN,
}


def value_method(owner: Any, name: str, args: list[Any]) -> Any:
    if isinstance(owner, list) and name in ("append", "extend", "insert") and args and len(owner) < MAX_ITEMS:
        owner += items_of(args[0]) or [] if name == "extend" else [args[-1]]
        return None
    if isinstance(owner, dict) and name in ("items", "values", "keys"):
        made = {
            "items": [[k, v] for k, v in owner.items()],
            "values": list(owner.values()),
            "keys": list(owner),
        }
        return made[name]
    if isinstance(owner, dict) and name == "get" and args and is_plain(args[0]):
        return owner.get(args[0], args[1] if len(args) > 1 else None)
    if isinstance(owner, dict) and name == "update" and args and isinstance(args[0], dict):
        owner.update(args[0])
        return None
    if isinstance(owner, dict) and name == "copy":
        return dict(owner)
    if isinstance(owner, str) and name in _TEXT_METHODS:
        return _text_method(owner, name, args)
    return UNKNOWN


def _text_method(owner: str, name: str, args: list[Any]) -> Any:
    """A method of a text whose result cannot be much longer than what goes in."""
    if name == "replace" and (not args or args[0] == ""):
        return UNKNOWN
    if len(owner) * (1 + sum(len(str(arg)) for arg in args if is_plain(arg))) > MAX_ITEMS * 10:
        return UNKNOWN
    if (
        name == "join"
        and args
        and sum(len(item) + len(owner) for item in items_of(args[0]) or () if isinstance(item, str))
        > MAX_ITEMS
    ):
        return UNKNOWN
    try:
        return getattr(owner, name)(*args)
    except (TypeError, ValueError):
        return UNKNOWN
