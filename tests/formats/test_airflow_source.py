"""Airflow Dag files, read without running them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dagkit.dag import Dag
from dagkit.errors import FormatError
from dagkit.formats import Loaded, load

from .support import FILES, remark

HEAD = (
    "from airflow.sdk import DAG, dag, task, task_group, TaskGroup, chain, chain_linear, cross_downstream\n"
    "from airflow.operators.empty import EmptyOperator\n"
)


def described(dag: Dag) -> dict[str, object]:
    return {
        task.task_id: {
            name: getattr(task, name)
            for name in (
                "duration",
                "pool",
                "pool_slots",
                "retries",
                "retry_delay",
                "trigger_rule",
                "priority_weight",
                "expand",
                "returns",
                "is_setup",
                "is_teardown",
                "on_failure_fail_dagrun",
                "execution_timeout",
                "empty",
            )
        }
        for task in dag
    }


def test_the_text_says_what_airflow_itself_made_of_it() -> None:
    """The same file, serialized by Airflow 3.3.2 and pruned of display settings, is the other fixture."""
    read, real = load(FILES / "shop_dag.py.txt"), load(FILES / "shop_serialized.json")
    assert read.format == "airflow-source"
    assert set(read.dag.edges) == set(real.dag.edges)
    assert described(read.dag) == described(real.dag)
    assert read.dag.options() == real.dag.options()


def in_dag(body: str, head: str = "") -> Loaded:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return load(f"{HEAD}{head}with DAG('d') as dag:\n{lines}")


MAKE = "a, b, c, d = [EmptyOperator(task_id=x) for x in 'abcd']\n"


@pytest.mark.parametrize(
    ("code", "edges"),
    [
        ("a >> b >> c", "ab bc"),
        ("a >> [b, c] >> d", "ab ac bd cd"),
        ("d << [b, c] << a", "bd cd ab ac"),
        ("[a, b] >> c", "ac bc"),
        ("a.set_downstream([b, c])", "ab ac"),
        ("a.set_upstream(b)", "ba"),
        ("chain(a, [b, c], d)", "ab ac bd cd"),
        ("chain([a, b], [c, d])", "ac bd"),
        ("chain_linear([a, b], [c, d])", "ac ad bc bd"),
        ("cross_downstream([a, b], [c, d])", "ac ad bc bd"),
        ("cross_downstream(from_tasks=[a], to_tasks=[b])", "ab"),
        ("for x in (b, c):\n    a >> x", "ab ac"),
        ("for i, x in enumerate([a, b, c]):\n    if i > 0:\n        a >> x", "ab ac"),
        ("prev = a\nfor x in [b, c]:\n    prev >> x\n    prev = x", "ab bc"),
        ("for x, y in zip([a, b], [c, d]):\n    x >> y", "ac bd"),
        ("def join(x, *rest, last=d):\n    x >> list(rest) >> last\njoin(a, b, c)", "ab ac bd cd"),
        ("if __name__ == '__main__':\n    a >> b\nelse:\n    a >> c", "ac"),
        ("steps = {'x': a}\nsteps['y'] = b\nsteps['x'] >> steps['y']", "ab"),
        ("made = []\nfor x in [a, b]:\n    made.append(x)\nmade >> c", "ac bc"),
        ("try:\n    a >> b\nfinally:\n    b >> c", "ab bc"),
        ("(lambda up, down: up >> down)(a, b)", "ab"),
    ],
)
def test_ways_to_draw_an_arrow(code: str, edges: str) -> None:
    loaded = in_dag(MAKE + code)
    assert set(loaded.dag.edges) == {(edge[0], edge[1]) for edge in edges.split()}
    assert not [sentence for sentence in loaded.report if sentence.startswith("Line")]


def test_taskflow_arguments_are_arrows() -> None:
    loaded = load(
        HEAD
        + """
@dag(dag_id="flow", max_active_tasks=2)
def make():
    @task
    def extract(): ...
    @task(multiple_outputs=True)
    def split(rows): ...
    @task
    def load(left, options): ...
    parts = split(extract())
    load(parts["left"], options={"right": [parts["right"]]})
    load(1, options=None)
make()
"""
    )
    assert loaded.dag.dag_id == "flow" and loaded.dag.max_active_tasks == 2
    assert loaded.dag.edges == [("extract", "split"), ("split", "load")]
    assert "load__1" in loaded.dag


def test_operators_of_every_kind_and_airflow_2_imports() -> None:
    loaded = load("""
from airflow import models
from airflow.decorators import task
from airflow.utils.task_group import TaskGroup
from my_company.operators import LoadThing
dag = models.DAG(dag_id="d")
one = LoadThing(task_id="one", dag=dag)
two = LoadThing(task_id="two", data=one.output, dag=dag)
""")
    assert loaded.dag.edges == [("one", "two")]


def test_groups_inside_groups() -> None:
    loaded = in_dag("""
with TaskGroup("g") as g:
    x = EmptyOperator(task_id="x")
    with TaskGroup("h"):
        y = EmptyOperator(task_id="y")
    x >> y
start = EmptyOperator(task_id="start")
end = EmptyOperator(task_id="end")
start >> g >> end
""")
    assert loaded.dag.edges == [("start", "g.x"), ("g.x", "g.h.y"), ("g.h.y", "end")]


def test_what_cannot_be_seen_is_told_with_its_line() -> None:
    loaded = in_dag("""
for table in Variable.get("tables"):
    EmptyOperator(task_id=table)
EmptyOperator(task_id=compute())
seen = EmptyOperator(task_id="seen", retries=compute())
seen >> make_elsewhere()
seen >> compute(seen)
if compute():
    EmptyOperator(task_id="maybe")
[EmptyOperator(task_id=x) for x in compute()]
while True:
    pass
EmptyOperator(task_id="seen")
""")
    assert list(loaded.dag.tasks) == ["seen", "maybe"]
    for line, word in (
        (5, "a loop"),
        (7, "a EmptyOperator whose task_id"),
        (8, "retries of task 'seen'"),
        (9, "an arrow"),
        (10, "tasks are handed to compute"),
        (11, "an if"),
        (13, "a list"),
        (14, "a while loop"),
        (16, "task id 'seen' is given twice"),
    ):
        assert remark(loaded, f"Line {line}: {word}")


def test_several_dags_in_a_file() -> None:
    text = HEAD + "".join(f"with DAG('d{i}'):\n    EmptyOperator(task_id='t{i}')\n" for i in range(3))
    assert "d1, d2" in remark(load(text), "2 further Dags")
    assert list(load(text, dag_id="d2").dag.tasks) == ["t2"]
    with pytest.raises(FormatError, match="expected a Dag of this file, found 'd9'. Known: d0, d1, d2"):
        load(text, dag_id="d9")


def test_a_dag_function_nobody_calls_is_read_and_told() -> None:
    loaded = load(HEAD + "@dag\ndef lonely():\n    EmptyOperator(task_id='a')\n")
    assert list(loaded.dag.tasks) == ["a"]
    assert remark(loaded, "The @dag function 'lonely' is never called")


def test_tasks_outside_every_dag_are_told() -> None:
    loaded = load(
        HEAD + "x = EmptyOperator(task_id='x')\nwith DAG('d'):\n    y = EmptyOperator(task_id='y')\n"
    )
    assert "x" in remark(loaded, "1 task belongs to no Dag")


def test_nothing_is_run(tmp_path: Path) -> None:
    witness = tmp_path / "ran"
    loaded = load(f"""{HEAD}
import os, pathlib
os.system("touch {witness}")
pathlib.Path("{witness}").write_text("x")
open("{witness}", "w")
__import__("os").system("touch {witness}")
eval("open('{witness}', 'w')")
exec("import os")
().__class__.__base__.__subclasses__()
class Evil:
    def __getattr__(self, name): open("{witness}", "w")
with DAG("d"):
    EmptyOperator(task_id="a{{0.__class__}}".format(Evil()))
    EmptyOperator(task_id=f"{{Evil().x}}b")
    EmptyOperator(task_id="c")
""")
    assert not witness.exists()
    assert "c" in loaded.dag


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("def f():\n    f()\nf()", "functions calling each other"),
        ("for i in range(4000):\n    for j in range(4000):\n        pass", "more than 500000 steps"),
        ("x = 'a'\nfor i in range(60):\n    x = x + x\nEmptyOperator(task_id=x)", None),
        ("x = 2\nfor i in range(60):\n    x = x * x", None),
        ("x = []\nx.append(x)\nx >> x", None),
        ("x = [EmptyOperator(task_id=str(i)) for i in range(600)]\nx >> x", "600 times 600 arrows at once"),
        (
            "x = [EmptyOperator(task_id=str(i)) for i in range(400)]\nfor i in range(9):\n    x >> x",
            "more than 500000 steps",
        ),
        ("y = '%999999999d' % 1\nEmptyOperator(task_id='ok')", None),
        ("y = f'{1:999999999}'\nEmptyOperator(task_id='ok')", None),
        ("z = 'a' * 10**9\nz = [0] * 10**9\nz = range(10**12)\nEmptyOperator(task_id='ok')", None),
        ("'a'.replace('', 'b' * 10**6)", None),
    ],
)
def test_code_that_would_never_end(code: str, found: str | None) -> None:
    if found is None:
        assert in_dag(code).format == "airflow-source"
    else:
        with pytest.raises(
            FormatError,
            match=re.escape("expected a Dag file that can be followed, found ")
            + f".*{found}.*Load the serialized Dag",
        ):
            in_dag(code)


def test_refusals() -> None:
    with pytest.raises(FormatError, match="expected a Python file, found .* in line 2. Mend it there"):
        load("import airflow\ndef (:\n")
    with pytest.raises(FormatError, match="expected a file that makes a Dag, found none that can be seen"):
        load("import airflow\nx = 1\n")
    with pytest.raises(FormatError, match="code nested too deeply"):
        load("import airflow\nx = " + "(" * 150 + "1" + ")" * 150 + "\n" + "y = " + "-" * 50_000 + "1\n")
    with pytest.raises(FormatError, match="at most 2000000 characters of Python, found"):
        load("import airflow\n" + "#" * 2_000_001)


def test_a_long_chain_of_arrows_is_followed() -> None:
    names = " >> ".join(f"EmptyOperator(task_id='t{i}')" for i in range(400))
    assert len(in_dag(names).dag.edges) == 399
