"""What a class believes: the misconceptions behind its wrong answers, by how many people hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..lesson.page import Table, static
from ..views.picture import Picture, content_prefix, counted, el, esc, plain, svg_root, text_style

LEFT, WIDE, ROW, BARS = 420.0, 300.0, 30.0, 12
"""Layout of the chart; how many bars it shows."""


class ClassView:
    """The answers of a class. answers: as ``read`` gives them. files: how many they came from.

    >>> view = ClassView([{"who": "Ann", "item": "x", "lesson": 5, "right": False, "sure": "certain", "slip": "s"}], 1)
    >>> view.misconceptions()[0]["people"], view.questions()[0]["right"]
    (1, '0 of 1')
    """

    def __init__(self, answers: Sequence[Mapping[str, Any]], files: int):
        self.answers, self.files = list(answers), files

    @property
    def people(self) -> list[str]:
        """Who answered, in alphabetical order."""
        return sorted({answer["who"] for answer in self.answers})

    def misconceptions(self) -> list[dict[str, Any]]:
        """A row per misconception, held by most people first: what is said, what is so, and where it is taught.

        certain: how many answers of those who were certain. An id that this kit does not know stays as it is.
        """
        from ..practice.content import misconceptions
        known = misconceptions()
        rows = []
        for slip in sorted({answer["slip"] for answer in self.answers if answer["slip"]}):
            mine = [answer for answer in self.answers if answer["slip"] == slip]
            lesson, found = known.get(slip, (mine[0]["lesson"], None))
            rows.append({"misconception": found.said if found else slip, "people": len({one["who"] for one in mine}),
                         "answers": len(mine), "certain": sum(one["sure"] == "certain" for one in mine),
                         "so it is": found.so if found else "", "lesson": lesson, "id": slip})
        return sorted(rows, key=lambda row: (-row["people"], -row["answers"], row["id"]))

    def questions(self) -> list[dict[str, Any]]:
        """A row per question, the hardest first: how many answers were right."""
        rows = []
        for item in sorted({answer["item"] for answer in self.answers}):
            mine = [answer for answer in self.answers if answer["item"] == item]
            right = sum(one["right"] for one in mine)
            rows.append({"question": item, "right": f"{right} of {len(mine)}", "lesson": mine[0]["lesson"],
                         "certain but wrong": sum(one["sure"] == "certain" and not one["right"] for one in mine),
                         "share": right / len(mine)})
        return [{key: row[key] for key in row if key != "share"}
                for row in sorted(rows, key=lambda row: (row["share"], row["question"]))]

    def chart(self) -> Picture:
        """A bar per misconception, as long as many people hold it; the rest of a long list is in the table."""
        rows = self.misconceptions()
        top = rows[:BARS]
        prefix = content_prefix("class", [(row["misconception"], row["people"]) for row in top])
        most = max((row["people"] for row in top), default=1)
        body = []
        for k, row in enumerate(top):
            y, wide = 6 + ROW * k, WIDE * row["people"] / most
            body.append(el("g", el("title", esc(plain(row["misconception"], 300))),
                           el("text", esc(plain(row["misconception"], 62)), cls="dk-key", x=0, y=y + 16),
                           el("rect", cls="dk-bar", x=LEFT, y=y + 2, width=wide, height=20),
                           el("text", esc(counted(row["people"], "learner")), cls="dk-key", x=LEFT + wide + 8, y=y + 16)))
        look = text_style(f"{prefix}svg") + f"#{prefix}svg .dk-bar{{fill:#7a5cc4;stroke:currentColor}}"
        svg = svg_root(prefix, LEFT + WIDE + 110, 12 + ROW * max(1, len(top)), "Misconceptions of the class", look, body)
        more = [f"{len(rows) - BARS} more are in the table."] if len(rows) > BARS else []
        return Picture(svg if top else [], rows or None, self.words(), more)

    def words(self) -> str:
        """One sentence for the class, one for what to talk about first."""
        right = sum(answer["right"] for answer in self.answers)
        head = (f"{counted(len(self.people), 'learner')}, {counted(self.files, 'file')}, "
                f"{counted(len(self.answers), 'answer')}: {right} right.")
        rows = self.misconceptions()
        if not rows:
            return f"{head} No wrong answer showed a known misconception."
        first = rows[0]
        return (f"{head} Talk about this first: {plain(first['misconception'], 300)} "
                f"({counted(first['people'], 'learner')}, lesson {first['lesson']}).")

    def __repr__(self) -> str:
        return "\n".join([self.words(), *(f"{row['people']:>4}  {plain(row['misconception'], 300)}"
                                          for row in self.misconceptions())])

    def _repr_html_(self) -> str:
        questions = Table(self.questions())._repr_html_() if self.answers else ""
        return static(f"{self.chart().html()}<details><summary>By question</summary><div>{questions}</div></details>")
