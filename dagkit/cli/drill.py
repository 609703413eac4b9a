"""``drill``: a problem from a seed, answered in the terminal."""

from __future__ import annotations

import argparse

NAME, HELP = "drill", "a small problem from a seed: answer it, or have the answer shown at work"
ABOUT = """\
Practise on a small problem. The same kind, seed and level always give the same one, so a class can share a number.

Look at it, think, then answer; a wrong answer is told what in the situation makes it wrong (exit status 1).

  python -m dagkit drill makespan --seed 7                 the problem
  python -m dagkit drill makespan --seed 7 --answer 12     a verdict on yours
  python -m dagkit drill makespan --seed 7 --reveal        the answer at work
  python -m dagkit drill --list                            all kinds
"""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", nargs="?", metavar="KIND", help="next_wave, critical_path, makespan, ...; see --list")
    parser.add_argument("--seed", type=int, default=0, help="which problem (default 0)")
    parser.add_argument("--level", type=int, default=1, help="1 (easy, default) to 3")
    parser.add_argument("--answer", metavar="TEXT", help="your answer, in quotes if it has spaces")
    parser.add_argument("--reveal", action="store_true", help="show the answer and the way to it")
    parser.add_argument("--list", action="store_true", help="list the kinds of drills")


def run(options: argparse.Namespace) -> int:
    from ..practice import drill, kinds
    from ..practice.drills import KINDS
    if options.list or options.kind is None:
        for name in kinds():
            print(f"{name:<14} {KINDS[name].title} (lesson {KINDS[name].lesson})")
        if not options.list:
            print("\nTo begin: python -m dagkit drill critical_path --seed 3")
        return 0
    one = drill(options.kind, options.seed, options.level)
    status = 0
    if options.answer is None:
        print(one)
    else:
        verdict = one.answer(options.answer)
        print(verdict)
        status = 0 if verdict.ok else 1
    if options.reveal:
        print(f"\n{one.reveal()}" if options.answer is None else one.reveal())
    return status
