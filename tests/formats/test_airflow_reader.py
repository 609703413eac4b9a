"""What the reader of Dag files follows of Python, and what it says where only running the file would tell.

Expected tasks and arrows are what Python and Airflow make of the code, worked out by hand.
"""

from __future__ import annotations

import pytest

from dagkit.errors import FormatError
from dagkit.formats import Loaded, load

from .support import remark

HEAD = (
    "import os\nfrom config import ARGS\nfrom functools import partial, reduce\nimport itertools\n"
    "from airflow.sdk import DAG, task, TaskGroup, chain\n"
    "from airflow.providers.standard.operators.bash import BashOperator\n"
    "def B(n, **more):\n    return BashOperator(task_id=n, **more)\n"
)
BOTH = " on something only known at run time; both sides were read."
UNSEEN = "only known at run time"


def in_dag(body: str) -> Loaded:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return load(f"{HEAD}with DAG('d') as dag:\n{lines}")


def told(loaded: Loaded) -> list[str]:
    return [sentence for sentence in loaded.report if sentence.startswith("Line")]


def seen(loaded: Loaded) -> str:
    """Tasks and arrows in one line."""
    return " ".join([*loaded.dag.tasks, *(f"{up}>{down}" for up, down in loaded.dag.edges)])


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        # loops
        ("for x in 'abc':\n    if x == 'b': continue\n    B(x)", "a c"),
        ("for x in 'abc':\n    if x == 'b': break\n    B(x)\nelse:\n    B('no')", "a"),
        ("for x in 'ab': B(x)\nelse: B('yes')", "a b yes"),
        ("for x in 'ab':\n    for y in 'cd':\n        if y == 'd': break\n        B(x + y)", "ac bc"),
        ("prev = None\nfor n in 'ab':\n    t = B(n)\n    if prev is None:\n        prev = t\n        continue\n"
         "    prev >> t", "a b a>b"),
        ("n = 0\nwhile n < 2:\n    B(f't{n}')\n    n += 1", "t0 t1"),
        ("queue = list('ab')\nwhile queue:\n    B(queue.pop(0))", "a b"),
        # conditions that are known
        ("match 'a':\n    case 'b': B('no')\n    case 'x' | 'a': B('yes')\n    case _: B('late')", "yes"),
        ("for x in range(4):\n    if 0 < x < 3: B(str(x))", "1 2"),
        ("a = B('a')\nfor t in [a, B('b')]:\n    if t is not a: a >> t\n    if t not in [a]: B('c')", "a b c a>b"),
        # lists change, under all their names
        ("l = [B('a')]\nl.insert(0, B('b'))\nchain(*l)", "a b b>a"),
        ("l = list('abc')\nl.reverse()\nl.remove('b')\nfor x in l: B(x)", "c a"),
        ("l = list('abc')\nm = l\nm += ['d']\nl.pop(0)\nl.sort(reverse=True)\nfor x in l[:-1]: B(x)", "d c"),
        ("chain(*[B(x) for x in 'abc'][::-1])", "a b c b>a c>b"),
        ("l = list('abc')\ndel l[1]\nfor x in l: B(x)", "a c"),
        ("a, *b, c = [B(x) for x in 'abcd']\na >> b >> c", "a b c d a>b a>c b>d c>d"),
        ("for x in {'a', 'b'} | {'b', 'c'}: B(x)", "a b c"),
        # keyword arguments of Python's own
        ("for i, x in enumerate('ab', start=1): B(f'{x}{i}')", "a1 b2"),
        ("for x in sorted(['a', 'bbb', 'cc'], key=len, reverse=True): B(x)", "bbb cc a"),
        ("for t in sorted([B('b'), B('a')], key=lambda t: t.task_id): B(t.task_id + '2')", "b a a2 b2"),
        ("for x in 'a,b'.split(sep=','): B(x)", "a b"),
        ("B(**dict(n='a'))", "a"),
        ("d = dict([('k', 'a')])\nd |= {'l': 'b'}\nd.update(m='c')\nfor k, v in d.items(): B(k + v)", "ka lb mc"),
        # functions
        ("def two():\n    for n in 'ab': yield B(n)\nchain(*list(two()))", "a b a>b"),
        ("reduce(lambda a, b: a >> b, map(B, 'abc'))", "a b c a>b b>c"),
        ("P = partial(BashOperator, bash_command='x')\nP(task_id='a')", "a"),
        ("for x, y in itertools.pairwise([B(n) for n in 'abc']): x >> y", "a b c a>b b>c"),
        ("for x in itertools.chain(['a'], ['b']): B(x)", "a b"),
        ("last = None\ndef add(n):\n    global last\n    last = B(n)\nadd('a')", "a"),
        ("made = [lambda n=n: B(n) for n in 'ab']\nmade[0]() >> made[1]()", "a b a>b"),
        ("from collections import defaultdict\nd = defaultdict(list)\nfor n in 'ab': d['k'].append(B(n))\nchain(*d['k'])",
         "a b a>b"),
        ("for x in [1, ('p', 2), 'z']:\n    match x:\n        case 2: B('two')\n        case ('p', y): B(f'p{y}')\n"
         "        case str(): B(x)\n        case other: B(f'n{other}')", "n1 p2 z"),
        ("for i in range(4):\n    if i & 1: B(f't{2 ** i}')", "t2 t8"),
        ("a = B('a')\ngetattr(a, 'set_downstream')(B('b'))\nfor t in dag.tasks: B(t.task_id * 2)", "a b aa bb a>b"),
        # texts
        ("n = 'q'\nB(f'x{n!r}')\nB('%s-%02d' % (n, 7))\nB('{}_{k:>3}'.format(n, k='z').replace(' ', '.'))",
         "x'q' q-07 q_..z"),
        ("a = B('a')\nB(f'{a.task_id}_{dag.dag_id}')\nif (b := B('b')): a >> b", "a a_d b a>b"),
    ],
)
def test_python_that_is_followed(code: str, expected: str) -> None:
    loaded = in_dag(code)
    assert seen(loaded) == expected
    assert not told(loaded)


@pytest.mark.parametrize(
    ("what", "code", "expected"),
    [
        ("an if", "B('a') if os.environ['X'] else B('b')", "a b"),
        ("an if", "x = B('a') if os.environ['X'] else None\nx >> B('b')", "a b a>b"),
        ("an if", "if os.environ['X']: x = B('a')\nelse: x = B('b')\nx >> B('c')", "a b c a>c b>c"),
        ("an if", "if 'a' in [os.environ['A'], 'b']: B('a')", "a"),
        ("an if", "if [os.environ['A']] == ['b']: B('a')", "a"),
        ("an if", "a, b = B('a'), B('b')\nif os.environ['X']: a >> b", "a b a>b"),
        ("an if", "[B(x) for x in 'ab' if os.environ[x]]", "a b"),
        ("an if", "def f():\n    if os.environ['X']: return B('a')\n    return B('b')\nf() >> B('c')", "a b c a>c b>c"),
        ("an if", "def f():\n    if os.environ['X']: return\n    B('b')\nf()", "b"),
        ("an if", "for x in 'ab':\n    if os.environ[x]: continue\n    B(x)", "a b"),
        ("an if", "a, b = B('a'), B('b')\nt = a\nif os.environ['X']: t = b\nt >> B('c')", "a b c b>c a>c"),
        ("an if", "a, b = B('a'), B('b')\n(a if os.environ['X'] else b) >> B('c')", "a b c a>c b>c"),
        ("an 'and' or 'or'", "os.environ['X'] and B('a')", "a"),
        ("a try", "try:\n    import it\n    B('a')\nexcept ImportError:\n    B('b')", "a b"),
        ("an if", "try:\n    import it\n    has = True\nexcept ImportError:\n    has = False\nif has: B('a')\nelse: B('b')",
         "a b"),
    ],
)
def test_a_choice_only_known_at_run_time_is_read_on_both_sides_and_told(what: str, code: str, expected: str) -> None:
    loaded = in_dag(code)
    assert seen(loaded) == expected
    (sentence,) = told(loaded)
    assert sentence.endswith(f": {what}{BOTH}")


def test_a_match_on_something_unknown() -> None:
    loaded = in_dag("match os.environ['X']:\n    case 'a': B('a')\n    case 'b': B('b')\n    case _: B('c')")
    assert seen(loaded) == "a b c"
    assert told(loaded)[0].endswith("a match on something only known at run time; all sides were read.")


def test_what_both_sides_set_differently_is_not_known_afterwards() -> None:
    loaded = in_dag("n = 3\nif os.environ['X']: n = 5\nB('a', retries=n)")
    assert loaded.dag["a"].retries == 0
    assert remark(loaded, "Line 8: retries of task 'a' is only known at run time; ignored")


def test_the_same_task_on_both_sides_is_one_task() -> None:
    loaded = in_dag("if os.environ['X']: t = B('a', retries=1)\nelse: t = B('a', retries=2)\nt >> B('b')")
    assert seen(loaded) == "a b a>b" and loaded.dag["a"].retries == 1
    assert "on several sides of a choice; what the first gives it was kept" in " ".join(told(loaded))


def test_a_side_that_raises_makes_no_dag() -> None:
    loaded = in_dag("if not os.environ['X']:\n    B('no')\n    raise ValueError('set X')\nB('a')")
    assert "a" in loaded.dag
    assert not told(in_dag("if not os.environ['X']:\n    raise ValueError('set X')\nB('a')"))
    loaded = in_dag("B('a')\nraise ValueError\nB('b')")
    assert seen(loaded) == "a"
    assert remark(loaded, "Line 11: the file ends with an error here; what follows was not read")


@pytest.mark.parametrize(
    ("given", "retries", "words"),
    [
        ("default_args=dict(retries=3)", 3, None),
        ("**dict(default_args={'retries': 3})", 3, None),
        ("default_args={'owner': 'me'} | {'retries': 3}", 3, None),
        ("default_args=ARGS", 0, "default_args of Dag 'd' are only known at run time; they were ignored."),
        ("default_args={**ARGS, 'retries': 3}", 3, "partly known at run time only; that part was ignored."),
        ("default_args=ARGS | {'retries': 3}", 3, "partly known at run time only; that part was ignored."),
        ("**ARGS", 0, "arguments given with ** are only known at run time; they were ignored."),
        ("max_active_tasks=ARGS", 0, "max_active_tasks of the Dag is only known at run time; ignored."),
    ],
)
def test_default_args_are_used_or_told(given: str, retries: int, words: str | None) -> None:
    loaded = load(f"{HEAD}with DAG('d', {given}):\n    B('a')\n")
    assert loaded.dag["a"].retries == retries
    hidden = [line for line in loaded.report if "run time" in line]
    assert len(hidden) == (words is not None) and all(line.endswith(str(words)) for line in hidden)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("B('t_%s' % (os.environ['X'],))", "a BashOperator whose task_id is only known"),
        ("a = B('a')\nB('t_%s' % [a])", "a BashOperator whose task_id is only known"),
        ("B('t_%s' % ['x'])", "a BashOperator whose task_id is only known"),
        ("a = B('a')\n[a, *os.environ] >> B('b')", "an arrow from or to something"),
        ("chain(*os.environ)", "chain() of something only known"),
        ("l = ['a']\nl.remove(os.environ['X'])\nfor x in l: B(x)", "remove() of a list"),
        ("for x in ['a', *os.environ]: B(x)", "a loop over something only known"),
        ("class F:\n    def build(self):\n        with DAG('other'): B('x', task_id='y')\nF().build()", "the class 'F'"),
        ("os.walk(lambda n: BashOperator(task_id=n))", "a function that makes tasks is handed to walk"),
        ("@os.twice\ndef f(): B('x')\nf()", "a decorator that cannot be followed"),
        ("while os.environ['X']: B('a')", "a while loop"),
        ("while True: pass", "a while loop"),
        ("exec('B(1)')", "exec() cannot be followed"),
        ("ARGS.make(dag)", "a Dag is handed to make"),
        ("t = ARGS.make('x')", "make() cannot be followed; tasks it may make are not seen"),
        ("with ARGS.section('x'): B('a')", "section() cannot be followed; tasks it may make are not seen"),
        ("{'a': lambda: B('a')}[os.environ['X']]()", "something() cannot be followed"),
        ("last = 1\nfor x in os.environ: last = 2\nB('a', retries=last)", "retries of task 'a'"),
    ],
)
def test_what_hides_a_task_is_told(code: str, words: str) -> None:
    assert any(words in line for line in told(in_dag("B('seen')\n" + code)))


def test_what_is_set_on_a_dag_counts() -> None:
    loaded = in_dag("dag.default_args['retries'] = 3\nB('a')\ndag.max_active_tasks = 2")
    assert loaded.dag["a"].retries == 3 and loaded.dag.max_active_tasks == 2


def test_the_arguments_of_a_dag_function_belong_to_a_run() -> None:
    """Airflow hands a decorated Dag function parameters (DagParam), never the values written there."""
    loaded = load(HEAD + "from airflow.sdk import dag\n@dag\ndef d(n=3):\n    B('a', retries=n)\nd()\n")
    assert remark(loaded, "Line 8: retries of task 'a' is only known at run time")


def test_zipped_and_joined_values_bring_both_arrows() -> None:
    loaded = in_dag("@task\ndef a(): ...\n@task\ndef b(): ...\n@task\ndef c(x): ...\nc.expand(x=a().zip(b()))")
    assert set(loaded.dag.edges) == {("a", "c"), ("b", "c")}
    assert remark(loaded, "Task 'c' is mapped over something only known at run time")


NEST = "['x']\n" + "a = [a, a]\n" * 40


@pytest.mark.parametrize(
    "text",
    ["'%s' % [a]", "'%s' % (a,)", "f'{a}'", "str(a)", "repr(a)", "'{}'.format(a)", "','.join(a)", "str(sorted([a, a]))",
     "str(a == b)", "str(a in [b])", "str([a].index(b))", "str(min(a))", "'a' * 10**9", "'%9999s' % 1", "str(2 ** 10**9)",
     "'%s' % {'k': a}", "'{:9999}'.format(1)", "f'{0x" + "f" * 9000 + "}'", "'x'.ljust(10**9)", "str([0] * 10**9)"],
)
def test_texts_that_would_never_end_are_not_made(text: str) -> None:
    """Without a bound each of these takes hours, or all of the memory."""
    loaded = in_dag(f"B('ok')\na = {NEST}b = {NEST.replace('a', 'b')}B({text})")
    assert "ok" in loaded.dag and all(len(name) < 20 for name in loaded.dag.tasks)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("return 1", "'return' outside function in line 2"),
        ("if 1:\n    break", "'break' outside loop in line 3"),
        ("for x in []:\n    def f():\n        continue", "'continue' outside loop in line 4"),
        ("yield 1", "'yield' outside function in line 2"),
    ],
)
def test_what_python_itself_refuses(code: str, found: str) -> None:
    with pytest.raises(FormatError, match=f"expected a Python file, found {found}. Mend it there"):
        load(f"import airflow\n{code}\n")


@pytest.mark.parametrize("code", ["b == c", "sorted(b)"])
def test_work_on_long_lists_is_counted(code: str) -> None:
    """As statements these are few; what they ask for is not."""
    with pytest.raises(FormatError, match="found more than 500000 steps to follow"):
        in_dag("b = [str(i) for i in range(5000)]\nc = list(b)\nfor i in range(4000):\n    " + code)


def test_looking_for_tasks_in_long_lists_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dagkit.formats.airflow_source.MAX_PARTS", 20_000)
    with pytest.raises(FormatError, match="items of lists to look through"):
        in_dag("b = list(range(5000))\nfor i in range(5):\n    b >> 0")


@pytest.mark.parametrize("table", ["POOLS", "OUTCOMES", "DURATIONS"])
def test_an_exported_file_changed_by_hand_holds_nothing_deep(table: str) -> None:
    own = "from airflow.sdk import DAG\nDAGKIT_EXPORT = 1\nTICK = 1\n"
    text = f"{own}a = {NEST}{table} = {{'a': a}}\nDAG('d', schedule=a)\n"
    with pytest.raises(FormatError, match=f"expected plain values in {table}, found something else under 'a'"):
        load(text)
