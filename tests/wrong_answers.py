"""Known mistakes for every exercise: what a learner might write, and what the check has to say to it.

Each is run after the solution's own cells, so it only replaces what it names.
"""

# ruff: noqa: E501  (programs of other people, each in one string)
from __future__ import annotations

WRONG: dict[str, list[tuple[str, str]]] = {
    "1.1": [
        ("def order(needs): return sorted(needs)", "comes before .*, which it needs"),
        ("def order(needs): return list(needs)", "c comes before b"),
        ("def order(needs): return [t for t in needs if not needs[t]]", "each task has to be there"),
    ],
    "1.2": [
        # the shortest way to a task, where the longest decides
        ("def waves(needs):\n    level = {}\n    for t in order(needs):\n"
         "        level[t] = 1 + min((level[u] for u in needs[t]), default=-1)\n"
         "    return [[t for t in needs if level[t] == n] for n in range(max(level.values(), default=-1) + 1)]",
         "the first wave in which .everything. it needs"),
        # a ring ends quietly
        ("solved = waves\ndef waves(needs):\n    try: return solved(needs)\n    except ValueError: return []",
         "must raise ValueError"),
        # a ring is noticed and kept secret
        ("solved = waves\ndef waves(needs):\n    try: return solved(needs)\n"
         "    except ValueError: raise ValueError('there is a ring')", "ValueError\\(.there is a ring.\\).*fetch can never start"),
        # one task of the ring stands for all
        ("solved = waves\ndef waves(needs):\n    try: return solved(needs)\n"
         "    except ValueError: raise ValueError(f'{next(t for t in needs if needs[t])} waits for itself')",
         "publish can never start.*every name in the ring"),
        # everything is named, or what is done already
        ("solved = waves\ndef waves(needs):\n    try: return solved(needs)\n"
         "    except ValueError: raise ValueError(f'ring among {list(needs)}')", "raw_orders is named although it needs nothing"),
        # an error of another line is no refusal
        ("def waves(needs):\n    found, done = [], []\n    while len(done) < len(needs):\n        wave = free(needs, done)\n"
         "        max(map(len, wave))\n        found.append(wave); done += wave\n    return found", "fetch can never start"),
        # one task per wave
        ("def waves(needs): return [[t] for t in order(needs)]", "you say .* it is"),
    ],
    "1.3": [
        # doubling, as one reads 1/2/4/8 off a table
        ("def fewest_slots(makespan, floor):\n    n = 1\n    while makespan(n) > floor: n *= 2\n    return n", "so do fewer slots"),
        # stops at the first flat step
        ("def fewest_slots(makespan, floor):\n    n = 1\n    while makespan(n + 1) < makespan(n): n += 1\n    return n",
         "flat step is not the end"),
        # halving the interval, which trusts that more slots never hurt
        ("def fewest_slots(makespan, floor):\n    low, high = 1, 16\n    while low < high:\n        mid = (low + high) // 2\n"
         "        low, high = (low, mid) if makespan(mid) <= floor else (mid + 1, high)\n    return low",
         "Graham's nine tasks.*(one more slot always help|flat step)"),
    ],
    "2.1": [
        # forgets where the task went on
        ("def gaps(log):\n    last, found = {}, []\n    for n, (_, t, old, new) in enumerate(log, 1):\n"
         "        if last.setdefault(t, 'none') != old: found.append(n)\n    return found", "is sound"),
        # compares neighbouring lines, whosever they are
        ("def gaps(log): return [n + 1 for n in range(1, len(log)) if log[n - 1][3] != log[n][2]]", "is sound"),
        ("def gaps(log): return []", "you miss line"),
        ("solved = gaps\ndef gaps(log): return [n - 1 for n in solved(log)]", "you name line 0|is sound|you miss"),
    ],
    "2.2": [
        # only the happy path is allowed
        ("def impossible(log):\n    path = ['none', 'scheduled', 'queued', 'running', 'success']\n"
         "    return [n for n, l in enumerate(log, 1) if (l[2], l[3]) not in zip(path, path[1:])]",
         "is sound: .* running -> up_for_retry.*Rare is not impossible"),
        # what is scheduled may start at once
        ("solved = impossible\ndef impossible(log): return [n for n in solved(log) if log[n - 1][3] != 'running']",
         "you miss line .*-> running.*jump over a state"),
        # upstream_failed is believed to follow from running only
        ("solved2 = dk.states.is_legal\ndef impossible(log): return [n for n, l in enumerate(log, 1) if not "
         "solved2(l[2], l[3]) or l[3] == 'upstream_failed']", "is sound: .* none -> upstream_failed"),
    ],
    "3.1": [
        # ends a tick early, ends a tick late
        ("class States(States):\n    def start(self):\n        for task in self.having('queued'):\n"
         "            self.due[task.task_id] = self.now + task.duration - 1\n            self.set(task, 'running')", "change"),
        ("class States(States):\n    def start(self):\n        for task in self.having('queued'):\n"
         "            self.due[task.task_id] = self.now + task.duration + 1\n            self.set(task, 'running')",
         "should be .*running -> success"),
    ],
    "3.2": [
        # one upstream is enough
        ("class Dependencies(States):\n    def rule(self, task):\n        above = [self.state[u] for u in task.upstream]\n"
         "        return 'scheduled' if not above or 'success' in above else 'wait'", "a short cut"),
        # upstreams that have only begun
        ("class Dependencies(States):\n    def rule(self, task):\n"
         "        return 'scheduled' if all(self.state[u] != 'none' for u in task.upstream) else 'wait'", "still under way"),
    ],
    "3.3": [
        # queued tasks are thought to hold nothing
        ("class Pools(Dependencies):\n    def fits(self, task):\n        active = self.having('running')\n"
         "        taken = sum(o.pool_slots for o in active if o.pool == task.pool)\n"
         "        return len(active) < self.dag.max_active_tasks and "
         "taken + task.pool_slots <= self.scenario.pools[task.pool].slots", "one place.*Queued tasks hold"),
        # counts tasks, not slots
        ("class Pools(Dependencies):\n    def fits(self, task):\n        active = self.having('queued', 'running')\n"
         "        return len(active) < self.dag.max_active_tasks and "
         "sum(o.pool == task.pool for o in active) < self.scenario.pools[task.pool].slots", "a big one stops nobody"),
        # forgets max_active_tasks
        ("class Pools(Dependencies):\n    def fits(self, task):\n        active = self.having('queued', 'running')\n"
         "        return sum(o.pool_slots for o in active if o.pool == task.pool) + task.pool_slots "
         "<= self.scenario.pools[task.pool].slots", "max_active_tasks over two pools"),
        # whoever is refused stops the line
        ("solved = Pools\nclass Pools(solved):\n    def admit(self):\n"
         "        for task in sorted(self.having('scheduled'), key=lambda t: -self.priority[t.task_id]):\n"
         "            if not self.fits(task): break\n            self.set(task, 'queued')", "a big one stops nobody"),
    ],
    "3.4": [
        # retries=1 read as one try in all
        ("solved = Retries\nclass Retries(solved):\n    def ending(self, task):\n        state = super().ending(task)\n"
         "        return 'failed' if state == 'up_for_retry' and self.tries[task.task_id] >= task.retries else state",
         "up_for_retry.; yours is .*failed"),
        # no delay
        ("solved = Retries\nclass Retries(solved):\n    def ending(self, task):\n        state = super().ending(task)\n"
         "        self.due[task.task_id] = self.now\n        return state", "one retry.*change"),
        # keeps its place while it waits
        ("solved = Retries\nclass Retries(solved):\n    def having(self, *states):\n"
         "        return super().having(*states, *(['up_for_retry'] if states == ('queued', 'running') else []))",
         "no place while it waits"),
    ],
    "3.5": [
        # all_success waits for everybody
        ("class Rules(Retries):\n    def rule(self, task):\n        above = [self.state[u] for u in task.upstream]\n"
         "        if not all(s in ('success', 'failed', 'upstream_failed') for s in above): return 'wait'\n"
         "        bad = task.trigger_rule == 'all_success' and any(s != 'success' for s in above)\n"
         "        return 'upstream_failed' if bad else 'scheduled'", "a failure is not waited for"),
        # all_done does not count upstream_failed as done
        ("solved = Rules\nclass Rules(solved):\n    def rule(self, task):\n        above = [self.state[u] for u in task.upstream]\n"
         "        return 'wait' if task.trigger_rule == 'all_done' and 'upstream_failed' in above else super().rule(task)",
         "orders.*cleanup_tmp none -> scheduled"),
        # a failure of a failure is nobody's
        ("solved = Rules\nclass Rules(solved):\n    def rule(self, task):\n        above = [self.state[u] for u in task.upstream]\n"
         "        return 'wait' if task.trigger_rule == 'all_success' and 'upstream_failed' in above else super().rule(task)",
         "passed on in one tick"),
    ],
    "3.6": [
        # first in task order, not first in the line
        ("class Executor(Executor):\n    def start(self):\n        for task in self.having('queued'):\n"
         "            if self.places is None or len(self.having('running')) < self.places:\n"
         "                self.due[task.task_id] = self.now + task.duration\n                self.set(task, 'running')",
         "the important first.*longest"),
        # no limit at all
        ("class Executor(Rules):\n    pass", "two workers' places"),
    ],
    "4.1": [
        # waits for everybody before it says anything
        ("def all_success(above):\n    if any(s not in FINISHED for s in above): return 'wait'\n"
         "    if {'failed', 'upstream_failed'} & set(above): return 'upstream_failed'\n"
         "    return 'skipped' if 'skipped' in above else 'run'", "need not wait for the rest"),
        # a skip is taken for a success
        ("def all_success(above):\n    if {'failed', 'upstream_failed'} & set(above): return 'upstream_failed'\n"
         "    return all_done(above)", "should be 'skipped'"),
        # a skip wins over a failure
        ("solved = all_success\ndef all_success(above): return 'skipped' if 'skipped' in above else solved(above)",
         "should be 'upstream_failed'; yours is 'skipped'"),
    ],
    "4.2": [
        # upstream_failed is thought to be no failure
        ("def one_failed(above):\n    if not above or 'failed' in above: return 'run'\n"
         "    return 'skipped' if all_done(above) == 'run' else 'wait'", "upstream_failed.*should be 'run'"),
        # waits until all are done
        ("def one_failed(above):\n    if all_done(above) == 'wait': return 'wait'\n"
         "    return 'run' if not above or {'failed', 'upstream_failed'} & set(above) else 'skipped'", "need not wait"),
        # waits for ever when all went well
        ("def one_failed(above): return 'run' if not above or {'failed', 'upstream_failed'} & set(above) else 'wait'",
         "should be 'skipped'; yours is 'wait'"),
    ],
    "4.3": [
        ("rules = {**rules, 'join': 'all_success'}", "full way”, join ends skipped"),
        ("rules = {**rules, 'join': 'none_failed'}", "no way was followed”, join ends success"),
        ("rules = {**rules, 'alarm': 'all_failed'}", "publishing fails”, alarm ends skipped"),
        ("rules = {**rules, 'tidy': 'always'}", "others are at work until"),
        ("rules = {'join': 'all_done'}", "rules has no alarm and no tidy.*a value for each of"),
        ("rules = {**rules, 'tidyy': 'all_done'}", "has a key 'tidyy', which is unknown. Did you mean 'tidy'"),
        ("rules = ['all_done']", "must be a dictionary with each of join, alarm, tidy"),
    ],
    "5.1": [
        ("def used(pool, active): return sum(where == pool for _, where, _ in active)", "with all its slots"),
        ("def used(pool, active): return sum(slots for _, _, slots in active)", "Only who is in this pool"),
    ],
    "5.2": [
        # the first who is refused stops the line
        ("def admit(waiting, active, pools):\n    now, found = list(active), []\n    for one in waiting:\n"
         "        if used(one[1], now) + one[2] > pools[one[1]]: break\n        now.append(one); found.append(one[0])\n"
         "    return found", "does that end the walk"),
        # forgets those it has just let in
        ("def admit(waiting, active, pools):\n"
         "    return [t for t, where, slots in waiting if used(where, active) + slots <= pools[where]]", "a moment ago"),
        # one pool for all
        ("def admit(waiting, active, pools):\n    left = sum(pools.values()) - sum(a[2] for a in active)\n    found = []\n"
         "    for t, _, slots in waiting:\n        if slots <= left: left -= slots; found.append(t)\n    return found",
         "the scheduler admits"),
    ],
    "5.3": [
        ("settings = {'db': 4, 'sales_weight': 5}", "connections open; it bears 4"),
        ("settings = {'db': 5, 'heavy_slots': 2, 'sales_weight': 5}", "has 5 connections"),
        ("settings = {'db': 4, 'heavy_slots': 2}", "report is there at tick"),
        ("settings = {'db': 2, 'heavy_slots': 2, 'sales_weight': 5}", "all is done at tick"),
        ("settings = {'db': 1, 'heavy_slots': 2}", "never ends"),
        ("settings = {'db': 4, 'sales_weigth': 5}", "key 'sales_weigth', which is unknown. Did you mean 'sales_weight'"),
    ],
    "6.1": [
        # from queued on
        ("def start_waits(log):\n    since, found = {}, []\n    for tick, task, new in log:\n        if new == 'queued': since[task] = tick\n"
         "        if new == 'running': found.append(tick - since[task])\n    return found", "scheduled, not queued"),
        # only the first try
        ("def start_waits(log):\n    since, found = {}, {}\n    for tick, task, new in log:\n"
         "        if new == 'scheduled': since.setdefault(task, tick)\n"
         "        if new == 'running': found.setdefault(task, tick - since[task])\n    return list(found.values())", "a retry too"),
    ],
    "6.2": [
        ("burst = dk.KubernetesExecutor()", "a pod that has to start"),
        ("burst = dk.CeleryExecutor(workers=[dk.Worker(concurrency=4)])", "not within 20 s"),
        ("burst = dk.CeleryExecutor(workers=[dk.Worker(concurrency=60)])", "Who is paid while nothing runs"),
        ("burst = dk.LocalExecutor()", "scheduler's own machine"),
        ("burst = dk.CeleryExecutor(workers=[dk.Worker(concurrency=16, queues=('fast',))])", "never succeed.*listens to the queue"),
    ],
    "6.3": [
        ("rare = dk.CeleryExecutor(workers=[dk.Worker(concurrency=4)])", "Who is paid while nothing runs"),
        ("rare = dk.CeleryExecutor(workers=[dk.Worker(concurrency=1)])", "not within 30 s"),
        ("rare = burst", "Who is paid while nothing runs"),
    ],
    "7.1": [
        ("def looks_odd(case, component): return all(r.odd for r in case.check(component))", "One odd reading is enough"),
        ("def looks_odd(case, component): return len(case.check(component)) > 0", "should be False"),
        ("def looks_odd(case, component): return case.check(component)", "should be"),
    ],
    "7.2": [
        ("culprits = ['workr', 'triggerer']", "'workr' is no component. Did you mean 'worker'"),
        # takes a line that any day has for the cause
        ("culprits = ['metadata DB', 'worker']", "1 of 2 found, and metadata DB is not broken.*any day has"),
        ("culprits = ['triggerer']", "one does not explain the other"),
        ("case, culprits = dk.exercises.two_faults(), ['worker', 'triggerer']", "this is a guess"),
        ("case = dk.symptoms.incident(1, 1)", "must be the incident of this task"),
    ],
    "7.3": [
        # looks from the top of the list
        ("def detective(case): return next((c for c in case.components[:5] if looks_odd(case, c)), 'scheduler')",
         "of 14 incidents solved.*which part could do that"),
        # always the scheduler
        ("def detective(case):\n    case.check('scheduler')\n    return 'scheduler'", "incidents solved"),
        # looks at everything
        ("def detective(case): return next(c for c in case.components if looks_odd(case, c))", "incidents solved"),
    ],
    "8.1": [
        ("order = 'AAAABBBB'", "cannot be the turn of"),              # B finds nothing any more
        ("order = 'AAAAB'", "no row was handed over twice.*must B read"),
        ("order = 'AB'", "no row was handed over twice"),
        ("order = 'AXB'", "letters A and B"),
    ],
    "8.2": [
        ("update = \"UPDATE ti SET state = 'queued' WHERE id = ANY(%s) RETURNING id\"", "orders a row is still taken twice"),
        # the guard looks for what it is about to write
        ("update = \"UPDATE ti SET state = 'queued' WHERE id = ANY(%s) AND state = 'queued' RETURNING id\"", "still taken twice"),
        ("update = update.replace(' RETURNING id', '')", "nobody knows which rows"),
        ("update = update.replace(' AND ', ' OR ')", "joins its conditions with OR"),
        ("update = \"UPDATE ti SET state = 'queued' WHERE state = 'scheduled' RETURNING id\"", "never picked"),
    ],
    "8.3": [
        ("select = select.replace(' SKIP LOCKED', '')", "one scheduler waits for the other"),
        ("select = select.replace('SKIP LOCKED', 'NOWAIT')", "gets an error"),
        ("select = select.replace(' FOR UPDATE SKIP LOCKED', '')", "one scheduler waits for the other"),
        ("select = select.replace('FOR UPDATE ', '')", "taken twice|lock clause|waits"),
        ("select = select.replace('UPDATE', 'SHARE')", "none of those lesson 8 compares"),
    ],
    "9.1": [
        # does not ask what take has answered
        ("class Looker:\n    def look(self, db):\n        for t in db.waiting():\n            db.take(t); db.start(t)",
         "another worker has it.*What did take answer"),
        # never takes
        ("class Looker:\n    def look(self, db):\n        for t in db.waiting(): db.start(t)", "you started it twice|another worker"),
        ("class Looker:\n    def look(self, db):\n        for t in db.waiting(): db.take(t)", "You took it and never started it"),
    ],
    "9.2": [
        # trusts the hint
        ("class Worker(Looker):\n    def hinted(self, db, task): db.start(task)\n    def timer(self, db): self.look(db)",
         "twice"),
        # no fallback
        ("class Worker(Looker):\n    def hinted(self, db, task): self.look(db)\n    def timer(self, db): pass",
         "all hints are lost: t0 never ran. Its hint was lost"),
        # polling only
        ("class Worker(Looker):\n    def hinted(self, db, task): pass\n    def timer(self, db): self.look(db)",
         "A hint says: look now"),
        # the fallback forgets the guard
        ("class Worker(Looker):\n    def hinted(self, db, task): self.look(db)\n    def timer(self, db):\n"
         "        for t in db.waiting():\n            db.take(t); db.start(t)", "another worker has it"),
    ],
    "9.3": [
        ("scan_every = 1", "reads the table 600 times"),
        ("scan_every = 60", "Look more often"),
        ("scan_every = 0.5", "whole number of ticks"),
    ],
    "10.1": [
        ("def triggerers(rows): return math.ceil((rows or 0) / 1000)", "not zero"),
        ("def triggerers(rows): return 'leave' if rows is None else rows // 1000", "a thousand waits"),
        ("def triggerers(rows): return 'leave' if not rows else math.ceil(rows / 1000)", "should be 0; yours is .leave"),
    ],
    "10.2": [
        # unreadable is taken for none
        ("def scheduler(runs, due):\n    if runs: return 'keep'\n    return 'start' if (due or 99) <= 10 else 'stop'", "should be"),
        # gives up at the first missing fact, though the other one is enough
        ("solved = scheduler\ndef scheduler(runs, due): return 'leave' if None in (runs, due) else solved(runs, due)",
         "Keeping it needs one|the first that holds decides"),
        # looks only at what is there now
        ("def scheduler(runs, due): return 'keep' if runs else 'leave' if None in (runs, due) else 'stop'", "should be 'start'"),
    ],
    "10.3": [
        ("def repair(first, second): return all(first.values())", "second look .*should be False"),
        ("def repair(first, second): return all(v is not False for look in (first, second) for v in look.values())",
         "could not be read"),
        ("def repair(first, second): return any(v is True for look in (first, second) for v in look.values())", "should be False"),
    ],
    "11.1": [
        # a flat step is taken for the floor
        ("def limit(dag, slots): return 'path' if gain(dag, slots) == 0 else 'slots'", "you say 'path'; it is 'slots'"),
        # the widest wave is taken for the knee
        ("def limit(dag, slots): return 'path' if slots >= max(map(len, dk.waves(dag))) else 'slots'", "you say 'slots'|you say 'path'"),
    ],
    "11.2": [
        ("def first_to_halve(dag): return max(dag, key=lambda t: t.duration).task_id", "longest task need not be on the path"),
        ("def first_to_halve(dag): return dk.critical_path(dag).path[0]", "There is a task with which"),
        ("def first_to_halve(dag):\n    on = dk.critical_path(dag).path\n    return max(on, key=lambda t: dag[t].duration)",
         "where paths tie"),
    ],
    "11.3": [
        ("knee += 1", "fewer slots do that too"),
        ("knee = 1", "Something waits there"),
        ("knee = '3'", "must be a whole number"),
    ],
    "12.1": [
        ("when_done = dk.critical_path(puzzle.posed.dag).length", "is the critical path"),
        ("when_done = sum(task.duration for task in puzzle.posed.dag)", "one after the other"),
        ("puzzle = dk.practice.drill('makespan', 1, 1)", "must be the drill of this task"),
    ],
    "12.2": [
        # sure or not, a mistake is a mistake
        ("def review_first(answers):\n    wrong = [a[0] for a in answers if not a[1]]\n"
         "    return sorted(set(wrong), key=lambda n: (-wrong.count(n), n))", "a certain one twice"),
        # in the order of the lessons
        ("def review_first(answers): return sorted({n for n, right, _ in answers if not right})", "it should be"),
        # certain and right is counted too
        ("def review_first(answers):\n    points = {}\n    for n, right, sure in answers:\n"
         "        points[n] = points.get(n, 0) + (not right) + (sure == 'certain')\n"
         "    return sorted(points, key=lambda n: (-points[n], n))", "Only wrong answers count"),
    ],
    "12.3": [
        ("talk = dk.practice.interview(seed=12, minutes=10, keep=False)\ntalk.skip()", "1 of .* questions are done"),
        ("talk = dk.practice.interview(seed=12, minutes=10, keep=False)\nwhile not talk.over: talk.skip()",
         "0 of .* were right.*practice.ladder"),
        ("talk = dk.practice.interview(seed=1, minutes=10, keep=False)", "must be the interview of this task"),
    ],
    "13.1": [
        # a big task that says it is small
        ("guarded = Design(pools={'source': 20}, tasks={**tasks, 'bulk_read': {'pool': 'source'}})", "source connections: at most .* of 20"),
        # one reader was forgotten
        ("guarded = Design(pools={'source': 20}, tasks={name: {'pool': 'source'} for name in ('read', 'extract')})",
         "source connections: at most .* of 20"),
    ],
    "13.2": [
        ("metrics = [*metrics[1:], 'worker uptime']", "is a scheduler gone.*worker uptime tells nothing"),
        ("metrics = list(METRICS)", "tells nothing|too many"),
        ("stored = {**stored, 'the data itself': 'XCom'}", "stored state: the data itself on 'XCom'"),
        ("stored = {**stored, 'task states': 'broker'}", "stored state: task states on 'broker'"),
    ],
    "13.3": [
        ("final = guarded", "of 12 requirements met"),
        # the source is safe, all is named; and everybody still asks at once
        ("final = Design(pools={'source': 20}, tasks=tasks, stored=stored, metrics=metrics)", "of 12 requirements met. API calls"),
    ],
}
