"""JSON and YAML from strangers: bounded before they are built, and never anything but plain data.

YAML is scanned as a stream of events first. That pass holds no data, so a bomb of aliases (the "billion
laughs"), deep nesting and Python tags are refused while they are still a few kilobytes of text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import yaml

from ..errors import FormatError, shown
from .source import Source

MAX_OBJECTS = 6_000_000  # opening brackets in a JSON text
MAX_VALUES = 40_000_000  # commas in a JSON text
MAX_YAML = 20 * 1024 * 1024
MAX_YAML_NODES = 2_000_000  # with every alias counted as what it stands for
MAX_DEPTH = 100


def parse_json(source: Source, drop: Iterable[str] = ()) -> Any:
    """The value of a JSON text. Keys in ``drop`` are forgotten as soon as their object is read, to save
    memory.

    Raises FormatError with line and column, or the bound that was broken.
    """
    text = source.text
    brackets, commas = text.count("{") + text.count("["), text.count(",")
    if brackets > MAX_OBJECTS or commas > MAX_VALUES:
        raise source.bad(
            f"at most {MAX_OBJECTS} JSON objects and {MAX_VALUES} values",
            f"{brackets} and {commas}",
            "Cut it down to the Dag you want to see.",
        )
    forget = frozenset(drop)

    def pruned(made: dict[str, Any]) -> dict[str, Any]:
        for key in forget & made.keys():
            del made[key]
        return made

    try:
        return json.loads(text, object_hook=pruned if forget else None)
    except json.JSONDecodeError as problem:
        raise source.bad(
            "JSON",
            f"{problem.msg.lower()} at line {problem.lineno}, column {problem.colno}",
            "Check that the file is complete.",
        ) from None
    except RecursionError:
        raise source.bad(
            "JSON of moderate depth", "brackets nested too deeply", "No known Dag format does that."
        ) from None
    except ValueError as problem:  # a whole number of thousands of digits
        raise source.bad("JSON", shown(str(problem)), "Check the numbers in it.") from None


class _PlainResolver(yaml.resolver.BaseResolver):
    """Reads every scalar as the text it is, but for merge keys and null.

    YAML 1.1 would turn ``on`` into True, ``3.10`` into 3.1 and a job called ``no`` into False.
    """


_PlainResolver.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile(r"^(?:<<)$"), ["<"])
_PlainResolver.add_implicit_resolver(
    "tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]
)


# libyaml's parser where it is there (wheels bring it), else the slower one in Python.
_BASES: tuple[type, ...] = (
    (yaml.cyaml.CParser,)
    if yaml.__with_libyaml__
    else (yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser, yaml.composer.Composer)
)


class _Loader(*_BASES, yaml.constructor.SafeConstructor, _PlainResolver):  # type: ignore[misc]
    def __init__(self, stream: Any) -> None:
        for number, base in enumerate((*_BASES, yaml.constructor.SafeConstructor, _PlainResolver)):
            base.__init__(self, stream) if number == 0 else base.__init__(self)
        self.repeated: dict[str, int] = {}

    def flatten_mapping(self, node: Any) -> None:
        """Every mapping comes here before its merge keys are put in place, once or more: look for keys given twice."""
        if not getattr(node, "looked_at", False):
            node.looked_at, seen = True, set()
            for key, _ in node.value:
                if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
                    continue
                if key.value in seen:
                    self.repeated.setdefault(key.value, key.start_mark.line + 1)
                seen.add(key.value)
        super().flatten_mapping(node)


class Reference(list[Any]):
    """GitLab's ``!reference [job, key]``: a list that stands for a value elsewhere in the file."""


def _plain_tag(loader: Any, suffix: str, node: Any) -> Any:
    """A value under a tag of its own: its plain content."""
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        items = loader.construct_sequence(node, deep=True)
        return Reference(items) if suffix == "reference" else items
    return loader.construct_mapping(node, deep=True)


_Loader.add_multi_constructor("!", _plain_tag)
_Loader.add_constructor(None, lambda loader, node: _plain_tag(loader, "", node))


def parse_yaml(source: Source) -> list[Any]:
    """The documents of a YAML text as dict, list, str and None; a JSON text is YAML too.

    Of a key that stands twice in one mapping the last counts; the source remembers it in ``repeated``.

    Raises FormatError with the line, or the bound that was broken.
    """
    if len(source.text) > MAX_YAML:
        raise source.bad(
            f"at most {MAX_YAML // 2**20} million characters of YAML",
            str(len(source.text)),
            "Cut it down to the Dag you want to see.",
        )
    try:
        _check_yaml(source)
        return _documents(source)
    except FormatError:
        raise
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise source.bad(
            "YAML",
            f"{shown(str(problem.problem or problem.context).removeprefix('found '))}{where}",
            "Check the indentation there.",
        ) from None
    except (yaml.YAMLError, UnicodeEncodeError) as problem:
        raise source.bad(
            "YAML", shown(str(problem).splitlines()[0]), "Save it as plain UTF-8 text."
        ) from None
    except Exception as problem:  # what the library's own readers of !!int, !!bool and others let through
        what = f" ({shown(str(problem))})" if isinstance(problem, (KeyError, ValueError)) else ""
        raise source.bad(
            "YAML of plain values", f"one that does not fit its tag{what}", "Take tags such as !!int or !!bool away."
        ) from None


def _documents(source: Source) -> list[Any]:
    loader = _Loader(source.text)
    made = []
    try:
        while loader.check_data():
            made.append(loader.get_data())
    finally:
        loader.dispose()
    source.repeated.update(loader.repeated)
    return [one for one in made if one is not None]


def _check_yaml(source: Source) -> None:
    """One pass over the events: depth, Python tags, and the size with every alias written out."""
    size, depth = 0, 0
    sizes: dict[str, int] = {}  # anchor -> nodes it stands for
    open_at: list[tuple[str | None, int]] = []  # (anchor, size before) of each open collection
    for event in yaml.parse(source.text, Loader=_Loader):
        if "tag:yaml.org,2002:python" in (getattr(event, "tag", None) or ""):
            raise source.bad(
                "plain data",
                f"the tag '{shown(event.tag)}', which asks for Python code to run",
                "Nothing was run; remove the tag.",
            )
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise source.bad(
                    "YAML",
                    f"alias '{shown(event.anchor)}' inside itself or before its anchor",
                    "Write the value out.",
                )
            size += sizes[event.anchor]
        elif isinstance(event, yaml.NodeEvent):
            size += 1
            if isinstance(event, yaml.ScalarEvent):
                if event.anchor:
                    sizes[event.anchor] = 1
            else:
                sizes.pop(event.anchor, None)
                open_at.append((event.anchor, size - 1))
                depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_at.pop()
            depth -= 1
            if anchor:
                sizes[anchor] = size - before
        if depth > MAX_DEPTH:
            raise source.bad(
                f"YAML nested at most {MAX_DEPTH} deep", "more", "No known Dag format does that."
            )
        if size > MAX_YAML_NODES:
            raise source.bad(
                f"at most {MAX_YAML_NODES} YAML values",
                "more, once its aliases are written out",
                "This is how a YAML bomb looks; nothing was built from it.",
            )


def as_list(value: Any) -> list[Any]:
    """``None`` is nothing, a list is itself, anything else is a list of one."""
    return (
        [] if value is None or value == "" else list(value) if isinstance(value, (list, tuple)) else [value]
    )


def as_dict(value: Any) -> dict[Any, Any]:
    """A dictionary, or an empty one for anything else (files of other versions leave parts out)."""
    return value if isinstance(value, dict) else {}
