"""Row locks and hints on a real PostgreSQL: nothing twice, nothing lost, nothing left behind. No timings here.

Needs the extra ``pg``. Without it these tests are skipped, unless ``DAGKIT_REQUIRE_POSTGRES=1``.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

import dagkit as dk
from dagkit import claims
from dagkit.claims import STRATEGIES, Load, compare, interleavings, race, takeover
from dagkit.claims.hints import design
from dagkit.claims.race import FILL, TABLES, quiet
from dagkit.claims.server import VARIABLE, environment, problem

pytestmark = [pytest.mark.slow, pytest.mark.postgres]
FAST = {"rows": 60, "batch": 3, "work": 0.002, "progress": quiet}


@pytest.fixture(scope="module")
def server():
    if problem():
        required = os.environ.get("DAGKIT_REQUIRE_POSTGRES") == "1"
        (pytest.fail if required else pytest.skip)(f"no PostgreSQL: {problem()}")
    with claims.start() as running:
        yield running


# ---- the race ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def raced(server):
    return race(server, schedulers=(1, 3), **FAST)


def test_the_control_claims_twice_and_no_other_strategy_does(raced):
    assert raced.proved
    for lap in raced.laps:
        assert lap.left == 0 and len(lap.share) == lap.schedulers
        assert (lap.doubles > 0) == (lap.strategy == "unlocked" and lap.schedulers > 1)
        assert lap.strategy == "unlocked" or sum(lap.share) == lap.rows       # each row belongs to one scheduler


def test_who_alone_claims_meets_nobody(raced):
    assert all(lap.refused == 0 for lap in raced.laps if lap.schedulers == 1)


def test_a_loser_of_nowait_and_of_airflows_lock_is_turned_away(raced):
    for name in ("nowait", "airflow"):
        assert raced.lap(name, 3).refused > 0


def test_ten_runs_of_four_schedulers_without_a_double(server):
    """The control is certain in every run because of its barrier, so ten runs without a double mean something."""
    found = race(server, ("unlocked", "skip_locked") * 10, (4,), **{**FAST, "rows": 24, "batch": 2})
    assert len(found.laps) == 20
    for lap in found.laps:
        assert lap.left == 0 and (lap.doubles > 0) == (lap.strategy == "unlocked")


@pytest.mark.parametrize(("point", "guarded"), [
    ("killed before commit", True), ("killed after commit", True), ("cut off after commit", True),
    ("cut off after commit", False)])
def test_a_scheduler_struck_in_mid_claim_loses_nothing(server, point, guarded):
    found = takeover(server, point, guarded=guarded, threshold=0.4, schedulers=2, rows=20,
                     progress=quiet)
    assert found.lost == 0 and found.held == 5
    assert found.twice == (0 if guarded else 5)                               # the control: without guard, all of them
    if "after commit" in point:
        assert found.seconds >= found.threshold                               # nobody is robbed who may yet live
        assert found.refused == (5 if guarded and "cut off" in point else 0)


# ---- the model against the real thing ---------------------------------------------------------------------------


class Session(threading.Thread):
    """One connection that runs statements in the background, so that a waiting one blocks nobody else."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.db = server.connect()
        self.pid = self.db.info.backend_pid
        self.todo, self.done = queue.SimpleQueue(), queue.SimpleQueue()
        self.start()

    def run(self):
        while (job := self.todo.get()) is not None:
            try:
                cursor = self.db.execute(*job)
                self.done.put(cursor.fetchall() if cursor.description else [])
            except Exception as error:  # noqa: BLE001  (LockNotAvailable is an answer here)
                self.done.put(error)

    def ask(self, watcher, *job):
        """The rows, the error, or "waits" as soon as the server says that another session blocks this one."""
        self.todo.put(job)
        return self.answer(watcher)

    def answer(self, watcher):
        for _ in range(5000):
            try:
                return self.done.get(timeout=0.002)
            except queue.Empty:
                if watcher.execute("SELECT cardinality(pg_blocking_pids(%s))", [self.pid]).fetchone()[0]:
                    return "waits"
        raise AssertionError("neither done nor waiting")


def all_orders(plays):
    ahead = [("", plays.first)]
    while ahead:
        order, now = ahead.pop()
        ways = plays.moments[now]
        ahead += [(order + "AB"[who], after) for who, after, _ in ways]
        if not ways:
            yield order, now


class Replay:
    """The statements of two schedulers on two sessions, in a given order. What each did is noted as the model would."""

    def __init__(self, watcher, sessions, plays):
        self.watcher, self.sessions, self.plays = watcher, sessions, plays
        self.at, self.picked, self.taken, self.over, self.waits = [0, 0], [[], []], [[], []], ["", ""], [False, False]
        self.handed = [[], []]

    def step(self, who):
        name = self.plays.steps[self.at[who]]
        self.at[who] += getattr(self, name.replace(" ", "_"))(who) is not False

    def ask(self, who, *job):
        session = self.sessions[who]
        found = session.answer(self.watcher) if self.waits[who] else session.ask(self.watcher, *job)
        self.waits[who] = found == "waits"
        return found

    def end(self, who, how):
        self.over[who] = how
        self.sessions[who].ask(self.watcher, "ROLLBACK")

    def turn(self, who):
        how = self.plays.strategy
        self.sessions[who].ask(self.watcher, "BEGIN")
        if not self.ask(who, how.statements[0])[0][0]:
            self.end(who, "skips its turn")
        else:
            self.ask(who, how.statements[1])

    def select(self, who):
        if not self.plays.strategy.turn and not self.waits[who]:
            self.sessions[who].ask(self.watcher, "BEGIN")
        found = self.ask(who, self.plays.strategy.select, [self.plays.batch])
        if found == "waits":
            return False
        if isinstance(found, Exception):
            assert type(found).__name__ == "LockNotAvailable"
            self.end(who, "gets an error")
        elif not found:
            self.end(who, "finds nothing")
        else:
            self.picked[who] = [row for row, in found]

    def update(self, who):
        found = self.ask(who, self.plays.strategy.update, [who + 1, self.picked[who]])
        if found == "waits":
            return False
        self.taken[who] = [row for row, in found]

    def commit(self, who):
        self.sessions[who].ask(self.watcher, "COMMIT")
        if not self.taken[who]:
            self.over[who] = "finds nothing"

    def hand_over(self, who):
        self.over[who] = "done"
        for row in self.taken[who]:
            self.handed[row - 1].append(who)


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_model_says_what_postgresql_does(server, name):
    """Every order that the model allows is played on two real sessions: the same waits, errors and hand-overs."""
    plays = interleavings(name)
    with server.connect() as watcher:
        watcher.execute(TABLES)
        sessions = [Session(server), Session(server)]
        for order, end in all_orders(plays):
            watcher.execute(FILL.format(rows=plays.rows))
            real = Replay(watcher, sessions, plays)
            for who, (_, _, now) in zip(order, plays.told(order), strict=True):
                real.step("AB".index(who))
                assert real.waits == [side.waits is not None for side in now.sides], order
                assert real.over == [side.over for side in now.sides], order
            assert [tuple(each) for each in real.handed] == list(end.handed), order
            states = [row[0] for row in watcher.execute("SELECT state FROM ti ORDER BY id")]
            assert states == list(end.rows), order
        for session in sessions:
            session.todo.put(None)
            session.join(5)
            session.db.close()


# ---- polling against hints --------------------------------------------------------------------------------------


LOAD = Load(runs=6, tasks=2, gap=0.03, duration=0.01, work=0.001, threshold=0.5)


def fast(name, /, **changes):
    return replace(design(name), interval=0.3, **changes)


@pytest.fixture(scope="module")
def compared(server):
    """Every design once, by name; whoever is killed comes last, so that the same processes can play them all."""
    names = ("polling, all of it", "hints", "hints, a fifth lost", "hints, each sent twice", "hints, broker stopped",
             "hints, worker cut off")
    ways = [*map(fast, names), fast("hints, worker cut off", name="no guard", guarded=False), fast("hints, replica killed")]
    return {found.design: found for found in compare(server, ways, LOAD, progress=quiet)}


def test_whatever_happens_to_hints_all_tasks_start_once(compared):
    for found in compared.values():
        if found.design != "no guard":
            assert (found.twice, found.missing, len(found.latencies)) == (0, 0, 12), found
            assert found.queries >= 12 and min(found.latencies) > 0


def test_a_worker_that_comes_back_late_is_turned_away(compared):
    assert compared["hints, worker cut off"].refused > 0


def test_without_the_guard_a_worker_that_comes_back_starts_a_task_twice(compared):
    assert compared["no guard"].twice > 0


# ---- nothing left behind ----------------------------------------------------------------------------------------


HOLD = """
from dagkit.claims import start
server = start()
print(server.dsn.split("'")[1] if server.embedded else server.schema, server._keeper.pid, flush=True)
input()
"""


def gone(folder, keeper):
    """Within ten seconds: no folder, hence no socket, and neither the keeper nor a server of that folder."""
    for _ in range(500):
        try:
            os.kill(keeper, 0)
        except ProcessLookupError:
            if not Path(folder).exists():
                return True
        time.sleep(0.02)
    return False


def test_nothing_is_left_after_a_kill_nor_after_ctrl_c(server, tmp_path):
    if not server.embedded:
        pytest.skip("about a server of the kit's own; DAGKIT_POSTGRES_URL is set")
    crowded = tmp_path / "a folder"                          # a path with a space
    crowded.mkdir()
    ends = (signal.SIGKILL, signal.SIGINT)
    children = [subprocess.Popen([sys.executable, "-c", HOLD], env={**environment(), "TMPDIR": str(crowded)},
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                for _ in ends]
    for child, how in zip(children, ends, strict=True):
        folder, keeper = child.stdout.readline().rsplit(" ", 1)
        postmaster = int((Path(folder) / "data" / "postmaster.pid").read_text().splitlines()[0])
        child.send_signal(how)
        child.wait(10)
        assert gone(folder, int(keeper)), how
        with pytest.raises(ProcessLookupError):
            os.kill(postmaster, 0)


def shared_memory():
    """Numbers of the System V segments of this system."""
    return {line.split()[1] for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]}


@pytest.mark.skipif(not Path("/proc/sysvipc/shm").exists(), reason="this system does not list its shared memory")
def test_a_server_that_was_killed_is_told_in_a_sentence_and_leaves_nothing(server, monkeypatch):
    if not server.embedded:
        pytest.skip(f"about a server of the kit's own; {VARIABLE} is set")
    monkeypatch.setenv(VARIABLE, "")                          # the same as not set
    with claims.start() as doomed:
        folder = Path(doomed.dsn.split("'")[1])
        state = (folder / "data" / "postmaster.pid").read_text().splitlines()
        assert state[6].split()[1] in shared_memory()
        assert "/dev/shm/" not in Path(f"/proc/{state[0]}/maps").read_text()
        os.kill(int(state[0]), signal.SIGKILL)
        for _ in range(500):
            try:
                doomed.connect().close()
                time.sleep(0.02)
            except dk.DagkitError as refusal:
                assert "claims: the database does not answer (" in str(refusal) and "\n" not in str(refusal)
                break
        with pytest.raises(dk.DagkitError, match="process 1 ended before it reached 'ready': the database does not answer"):
            race(doomed, ("skip_locked",), (1,), **FAST)
    assert not folder.exists() and state[6].split()[1] not in shared_memory()


def test_an_experiment_that_is_interrupted_leaves_no_process(server):
    """Ctrl-C in the middle of a race: the exception comes through, and the schedulers are gone."""
    started = []

    def interrupt(_):
        with server.connect() as db:
            started.extend(pid for pid, in db.execute(
                "SELECT pid FROM pg_stat_activity WHERE application_name = %s AND pid <> pg_backend_pid()",
                [server.schema]))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        race(server, ("guarded",), (2,), **{**FAST, "progress": interrupt})
    assert len(started) >= 2
    with server.connect() as db:
        for _ in range(200):
            if not db.execute("SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s)", [started]).fetchone()[0]:
                break
            time.sleep(0.02)
        else:
            pytest.fail("a scheduler's connection is still open")


def test_an_existing_server_gets_a_schema_that_is_dropped(server, monkeypatch):
    monkeypatch.setenv(VARIABLE, server.dsn)
    with claims.start() as guest:
        assert not guest.embedded and guest.schema != server.schema
        race(guest, ("skip_locked",), (1,), **FAST)
        with server.connect() as db:
            assert schemas(db, guest.schema) == 1
    with server.connect() as db:
        assert schemas(db, guest.schema) == 0


def schemas(db, name):
    return db.execute("SELECT count(*) FROM pg_namespace WHERE nspname = %s", [name]).fetchone()[0]


def test_a_server_that_is_not_there_is_told_in_a_sentence(monkeypatch):
    if problem() and VARIABLE not in os.environ:
        pytest.skip("psycopg is not installed")
    monkeypatch.setenv(VARIABLE, "host=127.0.0.1 port=1 connect_timeout=1")
    with pytest.raises(dk.DagkitError, match=f"no database: .*Check {VARIABLE}"):
        claims.start()
