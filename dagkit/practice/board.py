"""The board of *you are the scheduler*: a game to be played by clicking, or by keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import traitlets

from .. import states
from ..errors import DagkitError, shown
from ..lesson.page import css, esc, fold, rich, static
from ..views import draw, gantt
from ..views.picture import badge, brief, content_prefix, counted, framed, plain
from ..widget import Widget, module
from .game import Game

HERE = Path(__file__).parent
HOW = ("In each tick pick what to queue, then go on. A task can be queued when all above it is done and every limit has "
       "room. Queued at tick t, it is done at t + what it takes. Finish early!")

CODE = """\
game = dk.practice.puzzle(seed=3)
game.ready            # what may be queued now
game.queue("a")       # refused with the reason if it cannot be
game.go()             # the next tick
game.score            # at the end"""


class Board(Widget):
    """A game as a widget; without widgets, how it begins and how to play it in code.

    game: the game on the board, see ``Game``; it is what you played so far.
    """

    _esm = module(HERE / "board.js")
    _css = css() + "\n" + (HERE / "board.css").read_text(encoding="utf-8")
    board = traitlets.Dict({}).tag(sync=True)
    said = traitlets.Unicode("").tag(sync=True)

    def __init__(self, game: Game):
        self.game = game
        super().__init__(board=face(game))
        self.on_msg(lambda _, said, __: self.hear(said))

    def hear(self, said: Any) -> None:
        """One message of the browser: queue a task (by number), go on, start again. Others are ignored."""
        act = said.get("do") if isinstance(said, dict) else None
        tasks = list(self.game.dag.tasks)
        if act == "queue" and type(said.get("task")) is int and 0 <= said["task"] < len(tasks):
            self._say(self.game.queue(tasks[said["task"]]))
        elif act == "go":
            try:
                before = set(self.game.ended)
                self.game.go()
                done = [plain(task) for task in self.game.ended if task not in before]
                self._say(f"Tick {self.game.tick}. {'Done: ' + ', '.join(done) + '.' if done else ''}")
            except DagkitError as error:
                self._say(str(error))
        elif act == "again":
            self.game.again()
            self._say("From the beginning.")
        else:
            return
        self.board = face(self.game)

    def _say(self, what: Any) -> None:
        if isinstance(what, str):
            self.said = f"<p>{rich(what)}</p>"
        else:
            look = "dl-note" if what.ok else "dl-wrong"
            self.said = f'<p class="{look}">{esc(what.text)}</p>'

    def __repr__(self) -> str:
        return repr(self.game)

    def twin(self) -> str:
        """The board without a script."""
        shown_now = face(self.game)
        rows = "".join(f"<tr><td>{esc(task['label'])}</td><td>{esc(task['takes'])}</td><td>{esc(task['pool'])}</td>"
                       f"<td>{esc(task['badge'])} {esc(task['state'])}</td></tr>" for task in shown_now["tasks"])
        head = "".join(f"<th>{name}</th>" for name in ("task", "takes", "pool", "state"))
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        return static(f"<p>{esc(HOW)} {esc(shown_now['limits'])}</p>{framed(shown_now['svg'])}"
                      f'<div class="dl-scroll dl-table">{table}</div>{shown_now["bars"]}{shown_now["score"]}'
                      f"{fold('Play it in code', f'<pre>{CODE}</pre>')}")


def face(game: Game) -> dict[str, Any]:
    """What the browser shows of a game; all text plain, all markup made here."""
    now = game.states
    drawing: Any = draw(game.dag, states=now, critical=False)
    tasks = []
    for task in game.dag:
        state = states.TABLE[states.code(now[task.task_id])]
        pool = task.pool if task.pool != "default_pool" else ""
        fill, ink = (state.fill, state.ink) if state.name != "none" else ("rgba(128,128,128,.16)", "currentColor")
        tasks.append({"label": plain(task.task_id), "after": ", ".join(map(plain, task.upstream)),
                      "takes": brief(task.duration), "pool": plain(pool) if pool else "",
                      "state": state.name, "badge": badge(state), "fill": fill, "ink": ink,
                      "why": shown(game.why_not(task.task_id), 300),
                      "until": game.started[task.task_id] + int(task.duration) if now[task.task_id] == "running" else None})
    return {"tick": game.tick, "over": game.over, "limits": limits(game), "tasks": tasks, "svg": str(drawing.svg),
            "used": len(game.running), "slots": game.slots, "bars": bars(game), "how": HOW,
            "score": result(game) if game.over else ""}


def limits(game: Game) -> str:
    """The limits in words."""
    pools = [f"pool {plain(name)}: {counted(pool.slots, 'slot')}" for name, pool in game.scenario.pools.items()
             if name != "default_pool"]
    return "; ".join([f"{counted(game.slots, 'task')} at once", *pools]) + "."


def bars(game: Game) -> str:
    """What was started so far, as bars."""
    if not game.started:
        return ""
    rows = []
    last = max(game.tick, game.built_in + 2)                # the same scale from the first tick on
    for task, start in game.started.items():
        end = game.ended.get(task)
        done = [(end, last, "success")] if end is not None and end < last else []
        rows.append((f"task {task}", [(start, end or max(game.tick, start + 1), "running"), *done]))
    drawn = gantt.svg(rows, prefix=content_prefix("game", rows, last, game.tick), last_tick=last, now=game.tick,
                      title="What ran when")
    return framed(drawn)


def result(game: Game) -> str:
    """The score, and how the built-in order plays the same game."""
    other = Game(game.scenario).play("airflow")
    return (f'<p class="dl-right"><b>Done.</b> {esc(repr(game.score))}</p>'
            + fold("How the built-in order played it", bars(other)))
