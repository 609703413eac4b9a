"""CSV: one row a task (``task,upstream,duration``), or one row a dependency (``source,target``).

Definition of the quoting: RFC 4180, https://www.rfc-editor.org/rfc/rfc4180. The delimiter (comma, semicolon,
tab or bar) is found from the header. Several upstreams stand in one cell, parted by ``;``, ``|`` or blanks,
or on rows of their own that repeat the task. A name that would be misread is a JSON string inside its cell,
so every name survives.
"""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from ..dag import Dag
from ..errors import DagkitError, choices, nearest, shown
from .draft import Draft, check_lines, seconds
from .loaded import Loaded
from .names import QUOTED, quote, unquote
from .source import Source

NAME = "csv"
TITLE = "CSV table (task, upstream, duration)"
DEFINITION = "https://www.rfc-editor.org/rfc/rfc4180"

_COLUMNS = {
    "task": "task task_id name id job step node activity",
    "upstream": "upstream upstreams upstream_ids depends_on dependencies depends predecessors predecessor "
    "parents needs"
    " after requires",
    "duration": "duration durations dur time length runtime seconds secs minutes mins hours duration_s "
    "duration_sec"
    " duration_seconds duration_min duration_minutes duration_h duration_hours",
    "source": "source from src upstream_id upstream_task tail",
    "target": "target to dst dest destination downstream downstream_id downstream_task head",
}
_WHOLE = ("pool_slots", "priority_weight", "retries")
_WORD = ("pool", "queue", "trigger_rule")
_KIND = {word: (kind, rank) for kind, words in _COLUMNS.items() for rank, word in enumerate(words.split())}
_KIND.update({name: (name, 0) for name in (*_WHOLE, *_WORD)})
_UNITS = (("ms", r"ms|millis"), ("s", r"s|secs?|seconds?"), ("min", r"mins?|minutes?"), ("h", r"h|hours?"))
_NONE = ("", "-", "--", "\u2013", "\u2014", "none", "null", "nil", "nan", "n/a", "na", "[]")
_THOUSANDS = re.compile(r"[1-9]\d{0,2},\d{3}\Z")  # 1,500 is fifteen hundred to some and one and a half to others
_ITEMS = re.compile(rf"\s*({QUOTED}|[^;|,]+)\s*(?:[;|,]|$)")
_CELL = 100_000  # characters of upstream names in one cell when writing; the csv module reads 131,072


def matches_text(text: str) -> bool:
    """The first line is a header that names a task column with another one, or source and target."""
    found = _header(text)
    return found is not None


def _header(text: str) -> tuple[str, list[str]] | None:
    """The delimiter, and what each column of the first line holds ('' if it is none of ours)."""
    first = next((line for line in text[:100_000].split("\n") if line.strip()), "")
    for delimiter in ",;\t|":
        kinds = _kinds(first.split(delimiter))
        known = set(kinds) - {"", "number"}
        if {"source", "target"} <= known or ("task" in known and len(known) > 1):
            return delimiter, kinds
        if {"upstream", "target"} <= known:
            return delimiter, ["source" if kind == "upstream" else kind for kind in kinds]
    return None


def _kinds(words: list[str]) -> list[str]:
    """What the columns hold; of two that could be the same thing, the one with the plainer name is it."""
    keys = [re.sub(r"[^a-z]+", "_", word.lower()).strip("_") for word in words]
    best: dict[str, tuple[int, int]] = {}
    for place, key in enumerate(keys):
        kind, rank = _KIND.get(key, ("", 0))
        if kind and (kind not in best or (rank, place) < best[kind]):
            best[kind] = (rank, place)
    if "id" in keys and "task" in best and best["task"][1] != keys.index("id"):
        best["number"] = (0, keys.index("id"))  # rows have a name and a number, as project plans do
    return [next((kind for kind, (_, at) in best.items() if at == place), "") for place in range(len(keys))]


def read(source: Source) -> Loaded:
    """The Dag of a table. Raises FormatError with the row number."""
    found = _header(source.text)
    if found is None:
        first = source.text.lstrip().partition("\n")[0]
        raise source.bad(
            "a header like task,upstream,duration or source,target",
            f"'{shown(first)}'",
            "Name the columns in the first line.",
        )
    check_lines(source)
    delimiter, kinds = found
    rows = _rows(source, delimiter)
    names, rows = rows[0][1], rows[1:]
    draft = Draft(NAME, source)
    draft.note_all(
        [n for n, kind in zip(names, kinds, strict=False) if not kind], "column|columns was|were ignored"
    )
    if "source" in kinds:
        _read_edges(draft, rows, kinds)
    else:
        _read_tasks(draft, rows, kinds)
    unit = _unit(names[kinds.index("duration")]) if "duration" in kinds else None
    timed = any(spec["duration"] is not None for spec in draft.specs.values())
    if timed and unit is None:
        draft.note("The table names no unit of time: durations are plain numbers.")
    return draft.finish(unit=unit if timed else None)


def _rows(source: Source, delimiter: str) -> list[tuple[int, list[str]]]:
    """Row number and cells of every row that has any."""
    reader = csv.reader(io.StringIO(source.text.lstrip("\n")), delimiter=delimiter, strict=True)
    try:
        return [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as problem:
        long = "limit" in str(problem)
        raise source.bad(
            f"cells of at most {csv.field_size_limit()} characters" if long else "a CSV table",
            f"{'a longer one' if long else problem} in line {reader.line_num}",
            "Close its quotes, or spread its names over several rows of the same task."
            if long
            else "Check the quotes there.",
        ) from None


def _unit(name: str) -> str | None:
    """The unit a column's name tells: ``duration_min``, ``Duration (s)``, ``hours``."""
    words = re.split(r"[^a-z]+", name.lower())
    return next((unit for unit, pattern in _UNITS for word in words if re.fullmatch(pattern, word)), None)


def _cell(draft: Draft, number: int, text: str) -> str:
    name = unquote(text)
    if name is None:
        raise draft.source.bad(
            "names in matching quotes", f"{shown(text)} in line {number}", "Check the quotes."
        )
    return name


def _read_edges(draft: Draft, rows: list[tuple[int, list[str]]], kinds: list[str]) -> None:
    for number, row in rows:
        ends = dict(zip(kinds, row, strict=False))
        up, down = (_cell(draft, number, ends.get(end, "")) for end in ("source", "target"))
        if up and down:
            draft.edge(up, down)
        elif (up or down) not in draft.specs:
            draft.task(up or down)


def _read_tasks(draft: Draft, rows: list[tuple[int, list[str]]], kinds: list[str]) -> None:
    listed: list[tuple[int, str, str]] = []
    numbers: dict[str, str] = {}  # from a second column that numbers the tasks
    for number, row in rows:
        cells = dict(zip(kinds, row, strict=False))
        name = _cell(draft, number, cells.get("task", ""))
        if not name:
            raise draft.source.bad("a task in every row", f"none in line {number}", "Fill it in.")
        if name not in draft.specs:
            draft.task(name)
        _fill(draft, number, draft.specs[name], cells)
        listed.append((number, name, cells.get("upstream", "")))
        if cells.get("number", "").strip():
            numbers.setdefault(_cell(draft, number, cells["number"]), name)
    known = {**numbers, **{name: name for name in draft.specs}}
    for number, name, text in listed:
        for up in _upstream(draft, number, text.strip(), known):
            if up not in known:
                raise draft.source.bad(
                    "a row for every task",
                    f"upstream '{shown(up)}' of '{shown(name)}' in line {number}, which has none",
                    f"Known: {choices(draft.specs)}.{nearest(up, draft.specs)} Add its row, or mend the name.",
                )
            draft.edge(known[up], name)
            if up not in draft.specs:
                draft.note("Upstreams were read as values of the column id where they are no task's name.")


def _fill(draft: Draft, number: int, spec: dict[str, Any], cells: dict[str, str]) -> None:
    """Take duration and parameters from a row; a task on several rows must not contradict itself."""
    for key in ("duration", *_WHOLE, *_WORD):
        text = cells.get(key, "").strip()
        if not text:
            continue
        if key not in _WORD and _THOUSANDS.match(text):
            raise draft.source.bad(
                f"a number as {key} that can be read in one way",
                f"'{shown(text)}' in line {number}",
                f"Write {text.replace(',', '')} or {text.replace(',', '.')}.",
            )
        value: Any = (
            text if key in _WORD else seconds(text.replace(",", ".") if text.count(",") == 1 else text)
        )
        if value is None or (key in _WHOLE and not isinstance(value, int)):
            raise draft.source.bad(
                f"a number >= 0 as {key}", f"'{shown(text)}' in line {number}", "Mend that cell."
            )
        if spec.get(key) not in (None, value):
            raise draft.source.bad(
                f"one {key} a task",
                f"{spec[key]} and {text} for one task (line {number})",
                "Keep one of the two.",
            )
        spec[key] = value


def _upstream(draft: Draft, number: int, text: str, known: dict[str, str]) -> list[str]:
    """The names in an upstream cell. A cell that is a task's own name is that name, blanks and all."""
    if text in known:
        return [text]
    if text.lower() in _NONE:
        if text:
            draft.note(f"An upstream cell with '{shown(text)}' was read as: none.")
        return []
    if text.startswith("[") and text.endswith("]") and '"' in text:  # a JSON or Python list
        text = text[1:-1]
    names: list[str] = []
    for item in _ITEMS.finditer(text):
        part = item[1].strip()
        words = part.split()
        whole = part.startswith('"') or part in known or not all(word in known for word in words)
        names += [_cell(draft, number, part)] if whole else words
    return [name for name in names if name]


def write(dag: Dag) -> str:
    r"""The Dag as CSV: ``task,upstream,duration``, plus the columns that differ from their default anywhere.

    Names that need it are quoted, also against spreadsheets that take ``=1+1`` for a formula. Of the other
    parameters of a task, pool, pool_slots, priority_weight, retries, queue and trigger_rule are kept.

    >>> write(Dag.from_dict({"a": {"duration": 2}, "b": {"upstream": "a"}}))
    'task,upstream,duration\na,,2\nb,a,1\n'
    """
    defaults = {
        "pool": "default_pool",
        "queue": "default",
        "trigger_rule": "all_success",
        "pool_slots": 1,
        "priority_weight": 1,
        "retries": 0,
    }
    extra = [key for key, value in defaults.items() if any(getattr(task, key) != value for task in dag)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["task", "upstream", "duration", *extra])
    for task in dag:
        cells = _chunks([quote(up) for up in dict.fromkeys(task.upstream)])
        name, rest = quote(task.task_id), [_plain(getattr(task, key)) for key in extra]
        for number, cell in enumerate(cells):
            writer.writerow([name, cell, *([repr_number(task.duration), *rest] if number == 0 else [])])
    return out.getvalue()


def _plain(value: Any) -> str:
    text = str(value)
    if (
        not text.isprintable()
        or text != text.strip()
        or text[:1] in ("=", "+", "-", "@")
        and isinstance(value, str)
    ):
        raise DagkitError(f"CSV: the value {shown(repr(text))} cannot stand in a table. Use the JSON export.")
    return text


def repr_number(value: Any) -> str:
    """A number so that reading it gives the same number."""
    return str(value) if isinstance(value, int) else repr(float(value))


def _chunks(names: list[str]) -> list[str]:
    """Upstream cells: one, or several where one would be too long to be read back."""
    cells, size = [[]], 0  # type: list[list[str]], int
    for name in names:
        if size + len(name) > _CELL and cells[-1]:
            cells.append([])
            size = 0
        cells[-1].append(name)
        size += len(name) + 1
    return [";".join(cell) for cell in cells]
