"""Files that mean harm, or are simply not what they should be: one sentence, nothing run, nothing filled up."""

from __future__ import annotations

import os
import random
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagkit.errors import DagkitError, FormatError
from dagkit.formats import READERS, dot_parse, draft, load, safe, source

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


def refused(given: Any, message: str, **options: Any) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        load(given, **options)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600


def test_a_yaml_bomb() -> None:
    refused(
        BOMB, "the text: expected at most 2000000 YAML values, found more, once its aliases are written out"
    )
    merge = "a: &a {k: v}\n" + "".join(
        f"{b}: &{b} {{<<: [{', '.join(['*' + a] * 9)}]}}\n"
        for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    refused(merge, "expected at most 2000000 YAML values")


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:os.system ['touch {}']",
        "!!python/object/new:os.system ['touch {}']",
        "!!python/name:os.system",
        "!!python/module:os",
        "!<tag:yaml.org,2002:python/object/apply:os.system> ['touch {}']",
    ],
)
def test_a_yaml_value_that_is_code(tag: str, tmp_path: Path) -> None:
    witness = tmp_path / "ran"
    refused(
        f"on: push\njobs:\n  a: {tag.format(witness)}\n",
        "expected plain data, found the tag 'tag:yaml.org,2002:python.*Nothing was run; remove the tag",
    )
    assert not witness.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("jobs: &a\n  x: *a\n", "expected YAML, found alias 'a' inside itself or before its anchor"),
        ("jobs: *nowhere\n", "expected YAML, found alias 'nowhere' inside itself"),
        (
            "a: b: c\n",
            "expected YAML, found mapping values are not allowed in this context at line 1, column 5",
        ),
        ("a: [\n", "expected YAML, found .* at line 2"),
        ("a: " + "[" * 500 + "]" * 500 + "\n", "YAML nested at most 100 deep, found more"),
        ("a: \x07\n", "expected YAML, found unacceptable character"),
        ("a: \ud800\n", "expected YAML, found .*encode character.*Save it as plain UTF-8 text"),
        ("? [a]\n: b\n", "expected YAML, found unhashable key at line 1, column 3"),
        ("{[a]: b}\n ", "expected"),
        ("a: !!set [x]\n", "expected YAML"),
        ("a: !!int x\nb: 1\n", "expected YAML of plain values"),
        ("a: !!int ''\n", "found one that does not fit its tag. Take tags such as !!int or !!bool away"),
        ("a: !!bool maybe\n", "found one that does not fit its tag \\('maybe'\\)"),
        ("a: !!timestamp ''\n", "found one that does not fit its tag"),
    ],
)
def test_broken_yaml(text: str, message: str) -> None:
    refused(text, message, format="gitlab")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"a": 1',
            "expected JSON, found expecting ',' delimiter at line 1, column 8. Check that the file is complete",
        ),
        ("[" * 100_000, "expected JSON of moderate depth, found brackets nested too deeply"),
        ('{"a":' * 100_000, "expected JSON of moderate depth"),
        ("[" + "9" * 5000 + "]", "expected JSON, found Exceeds the limit"),
        (
            '{"a": 1}',
            "expected a Dag in a known format, found an object with the keys a. Name its format=: airflow, ",
        ),
        ("[]", "expected a Dag in a known format"),
        ('[{"a": NaN}]', "expected a Dag in a known format"),
    ],
)
def test_broken_json(text: str, message: str) -> None:
    refused(text, message)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"caf\xe9 -> b\n", "file 'f': expected UTF-8 text, found byte 0xe9 at offset 3. Save it as UTF-8"),
        (b"a\0b -> c\n", "file 'f': expected text, found a NUL character at offset 1"),
        (b"\x1f\x8b\x08rest", "file 'f': expected text, found gzip-compressed data. Unpack it first"),
        (b"PK\x03\x04rest", "found zip-compressed data"),
        (b"", "expected a Dag in a known format"),
        (b"hello\nworld, this is a letter\n", "expected"),
        (b"\xff\xfea\x00", "expected a Dag in a known format"),
    ],
)
def test_bytes_that_are_no_text(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(data)
    refused(tmp_path / "f", message)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_byte_order_marks_and_line_ends(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes("é -> b\r\nb -> c\r\n".encode(encoding))
    assert load(tmp_path / "f").dag.edges == [("é", "b"), ("b", "c")]


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    refused(tmp_path, "load: no manifest.json in folder '.*'; found nothing. A folder is read as a dbt project")
    refused(str(tmp_path), "load: no manifest.json in folder")
    refused(tmp_path / "gone", "file 'gone': cannot be opened \\(No such file")
    refused("gone.json", "load: no file is called 'gone.json', and a text would have a line break or a brace")
    refused("", "load: expected a path or a text, found an empty text")
    refused(b"a -> b", "load: expected a path, a text or a networkx graph, found bytes")
    refused({"a": {}}, "found dict. Give a file's path; for a dictionary of tasks use Dag.from_dict")
    refused(None, "found NoneType")
    refused("x" * 100_000, "load: no file is called 'xxx")
    refused("a\0b", "load: no file is called")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pipes_devices_and_links(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "expected a regular file, found a pipe")  # and it does not wait for a writer
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    refused(tmp_path / "link", "found a pipe")
    (tmp_path / "ring").symlink_to(tmp_path / "ring")
    refused(str(tmp_path / "ring"), "file 'ring': cannot be opened")
    (tmp_path / "dead").symlink_to(tmp_path / "gone")
    refused(str(tmp_path / "dead"), "file 'dead': cannot be opened")
    if Path("/dev/zero").exists():
        refused(Path("/dev/zero"), "found a device")
    (tmp_path / "real").write_text("a -> b\n")
    (tmp_path / "good").symlink_to(tmp_path / "real")
    assert load(str(tmp_path / "good")).dag.edges == [("a", "b")]


def test_too_large(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The real bounds are far off; what happens at them is the same nearer by."""
    (tmp_path / "f").write_text("a -> b\n" * 10)
    monkeypatch.setattr(source, "MAX_BYTES", 2**20)
    assert load(tmp_path / "f")
    (tmp_path / "f").write_text("a -> b\n" * 2**18)
    refused(tmp_path / "f", "file 'f': expected at most 1 MB, found more. Cut the file down")
    refused("a -> b\n" * 2**18, "the text: expected at most 1 million characters, found 1835008")
    monkeypatch.setattr(safe, "MAX_OBJECTS", 5)
    refused(
        '{"a": [[], [], [], [], []]}', "expected at most 5 JSON objects and 40000000 values, found 7 and 4"
    )
    monkeypatch.setattr(safe, "MAX_YAML", 5)
    refused("jobs: {}\n", "expected at most 0 million characters of YAML, found 9", format="github")


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"t{i} -> t{i + 1}\n" for i in range(60)),
        "task,upstream\n" + "".join(f"t{i},\n" for i in range(60)),
        "digraph {" + " ".join(f"t{i}" for i in range(60)) + "}",
        '{"nodes": [' + ",".join(f'{{"id": {i}}}' for i in range(60)) + '], "links": []}',
        "on: push\njobs:\n" + "".join(f"  t{i}: {{runs-on: x}}\n" for i in range(60)),
    ],
)
def test_too_many_tasks(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (draft, dot_parse):
        monkeypatch.setattr(module, "MAX_TASKS", 50)
    refused(text, "expected at most 50 tasks and 2000000 dependencies, found 51 and [0-9]+ before its end")


def test_too_many_lines_are_counted_before_they_are_read() -> None:
    refused(
        "a\n" * (draft.MAX_TASKS + draft.MAX_EDGES + 1),
        "expected at most 2200000 lines, found 2200001",
        format="edges",
    )


def test_a_chain_of_100_000_loads() -> None:
    text = "".join(f"t{i} -> t{i + 1}\n" for i in range(100_000))
    assert len(load(text).dag.edges) == 100_000


def test_unknown_options() -> None:
    for options in ({}, {"format": "edges"}):
        with pytest.raises(
            DagkitError, match="load: option 'dag_id' means nothing for edges input. Known: none."
        ):
            load("a -> b\n", dag_id="x", **options)
    with pytest.raises(
        DagkitError,
        match="load: option 'dagid' means nothing for airflow-source input. Did you mean 'dag_id'",
    ):
        load("import airflow\n", dagid="x")


def test_unknown_format() -> None:
    refused("a -> b\n", "load: format 'dbtt' is unknown. Did you mean 'dbt'", format="dbtt")


MARKS = st.sampled_from(
    [
        "{",
        "}",
        "[",
        "]",
        '"',
        ":",
        ",",
        "\n",
        " ",
        "->",
        "<",
        "a",
        "jobs",
        "digraph",
        "task,upstream",
        "!",
        "&a",
        "*a",
        "- ",
        "#",
        "\\",
        "import airflow",
        "with DAG('d'):",
        "\t",
        "'",
        "(",
        ")",
        ">>",
        "source,target",
        "nodes",
        "tasks",
        "dagkit1:",
        "on",
        "\ud800",
        "|",
        "%",
        "@task",
        "def f(): ...",
        "apiVersion: argoproj.io/v1",
        "workflow",
        "1",
        "task_id",
        "state",
        "needs",
        "script",
    ]
)


@given(st.lists(MARKS, max_size=30).map("".join), st.sampled_from([None, *sorted(READERS)]))
def test_any_text_is_a_dag_or_one_sentence(text: str, form: str | None) -> None:
    try:
        loaded = load(text + "\n", format=form)
    except DagkitError as refusal:
        assert "\n" not in str(refusal)
    else:
        assert repr(loaded) and loaded._repr_html_()


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats()
    | st.sampled_from(["", "a", "b", "success", "x.y"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "tasks",
                    "dag",
                    "dag_id",
                    "nodes",
                    "links",
                    "source",
                    "target",
                    "id",
                    "name",
                    "parents",
                    "children",
                    "workflow",
                    "specification",
                    "execution",
                    "runtimeInSeconds",
                    "metadata",
                    "depends_on",
                    "results",
                    "task_id",
                    "state",
                    "start_date",
                    "duration",
                    "downstream_task_ids",
                    "__var",
                    "expand_input",
                    "jobs",
                    "needs",
                    "strategy",
                    "matrix",
                    "include",
                    "exclude",
                    "stages",
                    "script",
                    "parallel",
                    "extends",
                    "spec",
                    "templates",
                    "depends",
                    "steps",
                    "apiVersion",
                    "kind",
                    "on",
                    "runs-on",
                    "dagkit",
                    "options",
                    "config",
                    "sources",
                    "task_instances",
                    "map_index",
                    "retry",
                    "when",
                    "withItems",
                    "unique_id",
                    "timing",
                    "files",
                    "a",
                    "b",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(
    JSON,
    st.sampled_from(
        ["wfformat", "github", "gitlab", "argo", "json", "airflow", "airflow-run", "networkx", None]
    ),
)
def test_any_json_is_a_dag_or_one_sentence(data: Any, form: str | None) -> None:
    import json

    try:
        load(json.dumps(data) + "\n", format=form)
    except DagkitError as refusal:
        assert "\n" not in str(refusal)


@pytest.mark.parametrize(
    "name", ["wf_15.json", "wf_13.json", "shop_serialized.json", "shop_dag.py.txt", "dbt/manifest.json"]
)
def test_damaged_fixtures_are_a_dag_or_one_sentence(name: str) -> None:
    """Each fixture with a piece cut out or doubled, fifty times, always the same ones."""
    text = (Path(__file__).parent / "files" / name).read_text("utf-8")
    chance = random.Random(7)
    for _ in range(50):
        a, b = sorted(chance.randrange(len(text)) for _ in range(2))
        b = min(b, a + 200)
        for damaged in (text[:a] + text[b:], text[:b] + text[a:b] + text[b:]):
            try:
                load(damaged)
            except DagkitError as refusal:
                assert "\n" not in str(refusal)


def test_the_recursion_limit_is_left_alone() -> None:
    before = sys.getrecursionlimit()
    for text in ("[" * 100_000, BOMB, "import airflow\nx = " + "-" * 50_000 + "1\n"):
        with pytest.raises(FormatError):
            load(text)
    assert sys.getrecursionlimit() == before


def test_names_in_messages_are_escaped_and_cut() -> None:
    evil = "<script>\x1b[31m\u202e" + "y" * 10_000
    with pytest.raises(DagkitError) as caught:
        load(f"task,upstream\na,\nb,{evil}\n")
    message = str(caught.value)
    assert (
        "\\x1b" in message and "\\u202e" in message and len(message) < 400 and re.search(r"y\.\.\.'", message)
    )


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("a:\n  script: x\nb:\n  script: y\n", "gitlab"),  # two words a line, and no edge list
        ("a:\n  script:\n    - |\n      import airflow\n", "gitlab"),  # Python inside YAML
        ("# digraph x { a -> b }\na -> b\n", "edges"),
        ("source,target\na,b\n", "csv"),
        ('"""Doc: string"""\nimport airflow\nfrom airflow.sdk import DAG\nd = DAG("d")\n', "airflow-source"),
        ("/* c */ digraph\n{ a -> b }", "dot"),
    ],
)
def test_the_content_decides(text: str, form: str) -> None:
    assert load(text).format == form


@pytest.mark.parametrize(
    "text",
    [
        "hello\nworld\n",
        "Dear reader\nthis is a letter\n",
        "x = 1\ny = 2\n",
        "a: b\n",
        "<html><body>x</body></html>\n",
        "graph { a }",
        "[1, 2, 3]\n",
        '"text"\n',
    ],
)
def test_what_is_no_dag_is_refused(text: str) -> None:
    refused(text, "expected")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (" " * 20_000 + "x", "dot"),
        ("/* */" * 5_000 + "x", "dot"),
        ("digraph { " + '"\\"' * 50_000, "dot"),
        ("digraph { a [label=" + "<" * 50_000, "dot"),
        ("a -> " + '"\\"' * 50_000 + "\n", "edges"),
        ("task,upstream\na," + '"""' + '\\""' * 20_000 + '"\n', "csv"),
        ("import airflow\n" + "x = 'a'\n" * 50_000 + "y = (" + "[" * 50 + "]" * 50 + ")\n", "airflow-source"),
        (
            "apiVersion: argoproj.io/v1\nspec: {templates: [{name: m, dag: {tasks: [{name: a}, {name: b, depends: '"
            + "!" * 100_000
            + "a'}]}}]}\n",
            "argo",
        ),
    ],
)
def test_text_that_makes_slow_parsers_slow(text: str, form: str) -> None:
    """Each would run for hours if any pattern went over it again and again; here it ends."""
    try:
        load(text, format=form)
    except DagkitError as refusal:
        assert "\n" not in str(refusal)


def test_many_jobs_without_an_order_are_read_in_one_go() -> None:
    """Every job waits for none here; looking at all jobs for each of them would be 400 million looks."""
    assert len(load("".join(f"j{i}: {{script: x}}\n" for i in range(20_000))).dag) == 20_000


def test_circles_behind_circles_are_walked_once() -> None:
    chain = " -> ".join(f'"g{i}.upstream_join_id"' for i in range(900))
    loaded = load(f"digraph {{ a -> {chain} -> b }}")
    assert loaded.dag.edges == [("a", "b")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[1, 2, 3]\n", "a list of 3"),
        ("a: b\nc: d\n", "an object with the keys a, c"),
        ("\n", "nothing"),
        ("Dear reader\nthis is a letter\n", "a text that begins 'Dear reader'"),
        ("{}\n", "the keys \\(none\\)"),
        (
            "version: 2\njobs:\n  build: {docker: [x], steps: [run]}\n",
            "the keys jobs, version",
        ),  # another CI's
    ],
)
def test_the_refusal_says_what_it_saw(text: str, found: str) -> None:
    refused(text, f"expected a Dag in a known format, found .*{found}")


@pytest.mark.parametrize(
    "text",
    [
        "# My project\n\nRun it: `make all`\n\n* one: two\n",
        "This is a note about our pipeline.\nIt runs every day: at six, that is.\n",
        "\tCopyright (c) somebody\n\n  1. Definitions. \"License\" means: this\n",
        "Title\n=====\n\n.. note:: `x` @ %\n",
    ],
)
def test_prose_is_called_prose(text: str, tmp_path: Path) -> None:
    for name in ("README", "notes.txt"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(FormatError) as caught:
            load(tmp_path / name)
        said = str(caught.value)
        assert "expected a Dag in a known format, found a text that begins" in said and "YAML" not in said


def test_a_broken_workflow_under_a_comment_is_still_told_its_line() -> None:
    refused("# CI for the shop\n\non: push\njobs: [\n", "expected YAML, found .* at line")
    refused("build app:\n  script: [\n", "expected YAML, found .* at line")


def test_a_full_path_is_not_told_where_paths_start() -> None:
    with pytest.raises(FormatError) as caught:
        load(str(Path.cwd().anchor) + "nope.json")
    assert "no file is called" in str(caught.value) and "current directory" not in str(caught.value)
