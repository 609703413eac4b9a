"""Truth tables of the trigger rules: nothing typed in, every verdict is what the engine's own function says.

A rule is asked about every mix of up to three upstream states. The five finished states differ; all unfinished
ones are alike to a rule, so ``running`` stands for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, combinations_with_replacement
from typing import Any

from .. import states, trigger_rules
from ..dag import Dag
from ..engine import simulate
from ..task import Task
from ..views.picture import badge
from .page import esc, static

DONE = tuple(name for name in states.NAMES if states.CODE[name] in states.FINISHED)
OPEN = "running"
ASKED = (*DONE, OPEN)
MOST = 3
"""Upstreams in one question."""
OWNER = "all_done_setup_success"
"""The teardown's rule: the only one that asks which upstream is a setup."""
VERDICTS = ("run", "wait", "skipped", "upstream_failed")
_LOOKS = {"run": ("►", "#50a9f6", "#111111"), "wait": ("·", "transparent", "inherit")}


def mixes(most: int = MOST) -> Iterator[tuple[str, ...]]:
    """Every mix of 1 to ``most`` upstream states, in the order of ASKED.

    >>> len([*mixes()]), [*mixes(1)][0]
    (83, ('success',))
    """
    for count in range(1, most + 1):
        yield from combinations_with_replacement(ASKED, count)


@cache
def verdicts(rule: str) -> dict[tuple[str, ...], str]:
    """The engine's verdict of a rule on every mix. Raises DagkitError for an unknown rule.

    >>> verdicts("one_success")["failed", "running"]
    'wait'
    """
    return {mix: trigger_rules.evaluate(rule, mix) for mix in mixes()}


def early(rule: str) -> dict[str, list[str]]:
    """What is decided while another upstream is still open: ``{verdict: the states that decide it}``.

    >>> early("all_success")
    {'upstream_failed': ['failed', 'upstream_failed'], 'skipped': ['skipped']}
    """
    found: dict[str, list[str]] = {}
    for state in DONE:
        said = trigger_rules.evaluate(rule, [state, OPEN])
        if said != "wait":
            found.setdefault(said, []).append(state)
    return found


def late(rule: str, *, setups: bool = False) -> dict[str, str]:
    """What is decided when all are done and none decided early: ``{verdict: on which mixes, in words}``.

    setups: ask about upstreams that are all setups, which only a teardown's rule treats differently.

    >>> late("none_failed_min_one_success")["skipped"], late("one_success")["upstream_failed"]
    ('all skipped', 'any other mix')
    """
    def ask(mix: Sequence[str]) -> str:
        return trigger_rules.evaluate(rule, () if setups else mix, setups=mix if setups else ())

    left = [state for state in DONE if ask([state, OPEN]) == "wait"]
    kinds = [kind for count in range(1, MOST + 1) for kind in combinations(left, count)]
    said = {kind: ask(kind) for kind in kinds}
    found = {v: _in_words([k for k in kinds if said[k] == v], kinds, left) for v in VERDICTS if v in said.values()}
    long = [verdict for verdict, words in found.items() if words.count(",") > 2]
    return {**found, **dict.fromkeys(long, "any other mix")} if len(long) == 1 else found


def _in_words(some: list[tuple[str, ...]], kinds: list[tuple[str, ...]], left: Sequence[str]) -> str:
    """A set of mixes as short as it can be said: any, all of one state, with at least one of it, or a list."""
    if some == kinds:
        return "all " + left[0] if len(left) == 1 else "any mix" + (
            f" of {listed(left, 'and')}" if len(left) < len(DONE) else "")
    for state in left:
        if some == [kind for kind in kinds if state in kind]:
            return f"at least one {state}"
    return ", ".join("all " + kind[0] if len(kind) == 1 else " with ".join(kind) for kind in some)


def listed(words: Sequence[str], last: str = "or") -> str:
    """Words as English lists them.

    >>> listed(["a", "b", "c"])
    'a, b or c'
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def rows() -> list[dict[str, str]]:
    """One row per rule: when it runs, what it decides early, what else when all are done."""
    return [{"rule": rule, "runs": _runs(rule), "decides early": _early_words(rule),
             "else, when all are done": _late_words(rule)} for rule in trigger_rules.RULES]


def _runs(rule: str) -> str:
    if not any(verdict == "wait" for verdict in verdicts(rule).values()):
        return "at once, whatever the upstreams do"
    if "run" in early(rule):
        return "at the first " + listed(early(rule)["run"])
    asked = ", if among its setups " + late(rule, setups=True)["run"] if rule == OWNER else ": " + late(rule)["run"]
    return "when all are done" + asked


def _early_words(rule: str) -> str:
    return "; ".join(f"{verdict} at a {listed(found)}" for verdict, found in early(rule).items()
                     if verdict != "run")


def _late_words(rule: str) -> str:
    found = late(rule, setups=rule == OWNER)
    return "; ".join(f"{verdict}: {on}" for verdict, on in found.items()
                     if verdict != "run" and "wait" in verdicts(rule).values())


def every_mix(rule: str) -> list[dict[str, str]]:
    """All mixes of up to three upstreams and the verdict, as rows of a table."""
    return [{"upstreams": ", ".join(mix), "verdict": verdict} for mix, verdict in verdicts(rule).items()]


@dataclass(frozen=True)
class Card:
    """A table to be looked at: ``html`` for people, ``text`` for terminals. No widget, so that a page of many is quick."""

    html: str
    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return static(self.html)


def card(rule: str) -> Card:
    """One rule on one card: the sentence, and the verdict on every pair of upstream states.

    For a teardown's rule the rows are the state of its setup, the columns the state of the work.

    >>> card("one_failed").text.splitlines()[0]
    'one_failed runs at the first failure'
    """
    meaning = trigger_rules.check(rule).meaning
    said: Callable[[str, str], str] = (lambda a, b: trigger_rules.evaluate(rule, [a, b])) if rule != OWNER else (
        lambda a, b: trigger_rules.evaluate(rule, [b], setups=[a]))
    first, second = ("its setup is", "its work is") if rule == OWNER else ("one is", "the other is")
    head = f'<tr><th style="{_TH}">{first} ↓ &nbsp; {second} →</th>' + "".join(_head(s) for s in ASKED) + "</tr>"
    body = "".join(f'<tr><th scope="row" style="{_TH}">{_sign(a)} {esc(a)}</th>'
                   + "".join(_cell(said(a, b), f"{a} and {b}") for b in ASKED) + "</tr>" for a in ASKED)
    facts = [row for row in rows() if row["rule"] == rule][0]
    told = "".join(f"<li><b>{esc(name)}</b>: {esc(value)}</li>" for name, value in facts.items()
                   if value and name != "rule")
    html = (f"<p><b><code>{esc(rule)}</code></b> {esc(meaning)}.</p><ul>{told}</ul>"
            f'<div class="dl-scroll"><table style="{_TABLE}">{head}{body}</table></div>{_legend()}')
    words = [f"{a} + {b}: {said(a, b)}" for a, b in combinations_with_replacement(ASKED, 2)]
    return Card(f"<section>{html}</section>", "\n".join([f"{rule} {meaning}", *words]))


def overview() -> Card:
    """All rules at a glance: a row per rule, a column per pair of upstream states.

    >>> overview().text.splitlines()[1].split()[:2]
    ['all_success', '►']
    """
    pairs = [*combinations_with_replacement(ASKED, 2)]
    head = f'<tr><th style="{_TH}">upstreams</th>' + "".join(
        f'<th style="{_TH};text-align:center;line-height:1.25" title="{esc(a)} and {esc(b)}">'
        f"{_sign(a)}<br>{_sign(b)}</th>" for a, b in pairs) + "</tr>"
    body = "".join(f'<tr><th scope="row" style="{_TH}"><code>{esc(rule)}</code></th>' + "".join(
        _cell(verdicts(rule)[pair], " and ".join(pair)) for pair in pairs) + "</tr>" for rule in trigger_rules.RULES)
    note = (f"{OWNER} looks like all_done here: none of these upstreams is a setup, and it asks about setups only. "
            "Its own card has one.")
    html = (f'<section><div class="dl-scroll"><table style="{_TABLE}">{head}{body}</table></div>{_legend(True)}'
            f'<p class="dl-note">{note}</p></section>')
    marks = [f"{rule:<28}{' '.join(_letter(verdicts(rule)[pair]) for pair in pairs)}" for rule in trigger_rules.RULES]
    return Card(html, "\n".join(["every pair of " + ", ".join(ASKED), *marks, note]))


_TABLE = "border-collapse:separate;border-spacing:2px;font-size:13px"
_TH = "padding:2px 6px;text-align:left;font-weight:500;white-space:nowrap"


def _letter(verdict: str) -> str:
    return _LOOKS[verdict][0] if verdict in _LOOKS else states.TABLE[states.CODE[verdict]].letter


def _cell(verdict: str, asked: str) -> str:
    fill, ink = _LOOKS[verdict][1:] if verdict in _LOOKS else states.TABLE[states.CODE[verdict]][3:5]
    return (f'<td title="{esc(asked)}: {esc(verdict)}" style="min-width:1.9em;padding:2px 5px;border-radius:4px;'
            f'text-align:center;background:{fill};color:{ink}">{_letter(verdict)}</td>')


def _sign(state: str) -> str:
    return badge(states.TABLE[states.CODE[state]]).split()[-1] if state != OPEN else "…"


def _head(state: str) -> str:
    return f'<th style="{_TH};text-align:center" title="{esc(state)}">{_sign(state)}</th>'


def _legend(states_too: bool = False) -> str:
    said = [(_letter(v), {"run": "it runs", "wait": "it waits"}.get(v, f"it is set {v}")) for v in VERDICTS]
    keys = ", ".join(f"<b>{mark}</b> {esc(words)}" for mark, words in said)
    up = ", ".join(f"<b>{_sign(s)}</b> {esc(s if s != OPEN else 'not done yet')}" for s in ASKED)
    return f'<p class="dl-note">Verdict: {keys}.</p><p class="dl-note">Upstream: {up}.</p>' if states_too else \
        f'<p class="dl-note">{keys}; … not done yet.</p>'


def join(trigger_rule: str, **upstreams: tuple[str, int]) -> Any:
    """The trace of a small Dag: the named upstreams, each with (what it does, ticks it takes), then ``after``.

    Besides the usual outcomes, an upstream may end "upstream_failed": something above it fails.

    >>> join("all_success", fast=("fail", 1), slow=("success", 4)).final_states["after"]
    'upstream_failed'
    """
    lost = [name for name, (does, _) in upstreams.items() if does == "upstream_failed"]
    tasks = [Task("above", duration=1)] if lost else []
    tasks += [Task(name, "above" if name in lost else (), duration=ticks) for name, (_, ticks) in upstreams.items()]
    dag = Dag(trigger_rule, [*tasks, Task("after", [*upstreams], trigger_rule=trigger_rule)])
    outcomes = {name: [does] for name, (does, _) in upstreams.items() if name not in lost}
    return simulate(dag, outcomes={**outcomes, **({"above": ["fail"]} if lost else {})})


def decided_at(trace: Any, task: str = "after") -> int:
    """The tick at which a task left none: its rule was decided then."""
    return next(tick for tick, state in _changes(trace, task) if state != "none")


def freed_by(trace: Any, task: str = "after") -> str:
    """The upstream that ended in the very tick in which the rule of ``task`` was decided, or "nobody"."""
    tick = decided_at(trace, task)
    ended = [name for name in trace.labels if name != task and _changes(trace, name)[-1][0] == tick]
    return ended[0] if ended else "nobody"


def _changes(trace: Any, task: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = trace.changes[trace.labels.index(task)]
    return found


__all__ = ["ASKED", "DONE", "card", "decided_at", "early", "every_mix", "freed_by", "join", "late", "overview", "rows",
           "verdicts"]
