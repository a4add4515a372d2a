"""Changed symbols as hunks: what they say is what a patch of the file says."""

from __future__ import annotations

import difflib
import re

from hypothesis import given
from hypothesis import strategies as st

from tersely.code.index.history.patch import FileDiff, Hunk
from tersely.context.lenses.candidate import CHANGED, TARGET_SCORE, Candidate, View
from tersely.context.lenses.diff.changed_symbols import (
    FileChange,
    changed_symbols,
    plain_side,
    side_of,
)
from tersely.context.pack.fitting.fit import fit
from tersely.context.pack.texts import Texts, cut_to_parts
from tersely.context.render.lines import text as as_text

HEADER = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")
LINES = st.lists(
    st.sampled_from(["alpha", "beta", "\tgamma()", "    delta = 1", "", "-minus", "+plus"]),
    max_size=14,
)


def diff_of(path: str, old: list[str], new: list[str]) -> FileDiff:
    """The diff of two files, without lines around its hunks."""
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    hunks = tuple(
        Hunk(
            before + 1, tuple(line.encode() for line in old[before:before_end]),
            after + 1, tuple(line.encode() for line in new[after:after_end]),
        )
        for tag, before, before_end, after, after_end in matcher.get_opcodes()
        if tag != "equal"
    )  # fmt: skip
    return FileDiff(path, path, hunks=hunks)


def printed(old: str, new: str, path: str, around: int = -1) -> str:
    """The pack of a change of one file, as text: all of each changed symbol, or some lines around
    its changes.
    """
    sides = [
        (side_of if path.endswith(".py") else plain_side)(path, text.encode())
        for text in (old, new)
    ]
    change = FileChange(diff_of(path, old.split("\n")[:-1], new.split("\n")[:-1]), *sides)
    candidates = []
    for one in changed_symbols(change):
        near = (
            [(max(1, at - around), at + around) for at in [*one.lines, *one.gaps]]
            if around >= 0
            else []
        )
        candidates.append(
            Candidate(
                one.symbol,
                TARGET_SCORE,
                CHANGED,
                change=one.change(),
                is_gone=one.is_gone,
                parts=tuple(near),
            )
        )
    view = View(tuple(candidates), apart=frozenset({path}), base="a", head="b")
    texts = cut_to_parts(Texts(lambda _: new.encode(), lambda _: sides[1].symbols), view)
    return fit(view, texts, as_text, 5_000).text


@given(LINES, LINES, st.integers(0, 3))
def test_what_hunks_say_is_true_of_both_sides(old: list[str], new: list[str], around: int) -> None:
    rest = [f"line {number} of a file that is longer than its change" for number in range(60)]
    old, new = [*old, *rest], [*new, *rest]
    before, after = "".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new)
    if before == after:
        return
    rows = printed(before, after, "notes.txt", around).split("\n")
    seen = {"-": 0, "+": 0}
    for at, row in enumerate(rows):
        if not (found := HEADER.fullmatch(row)):
            continue
        numbers = {"-": int(found[1]), "+": int(found[3])}
        left = {"-": int(found[2]), "+": int(found[4])}
        sides = {"-": old, "+": new}
        for row_of_hunk in rows[at + 1 :]:
            if not any(left.values()):
                break
            marks = row_of_hunk[0] if row_of_hunk[0] in "-+" else "-+"
            for mark in marks:
                assert sides[mark][numbers[mark] - 1] == row_of_hunk[1:]
                numbers[mark] += 1
                left[mark] -= 1
            seen[marks] = seen.get(marks, 0) + 1
        assert not any(left.values())
    changed = diff_of("notes.txt", old, new).hunks
    assert seen["+"] == sum(len(hunk.added) for hunk in changed)
    assert seen["-"] == sum(len(hunk.removed) for hunk in changed)


OLD = """import os


class Cart:
\t\"\"\"What is bought.\"\"\"

\tlimit = 3

\tdef add(self, one):
\t\t\"\"\"Add one.

\t\tNever two.
\t\t\"\"\"
\t\tself.lines.append(one)
\t\treturn self
"""


def test_a_change_of_documentation_is_shown_and_tabs_stay_tabs() -> None:
    new = OLD.replace("Never two.", "Never three.").replace("limit = 3", "limit = 4")
    text = printed(OLD, new, "cart.py")
    assert "-\t\tNever two.\n+\t\tNever three.\n" in text
    assert "-\tlimit = 3\n+\tlimit = 4\n" in text
    assert "\\t" not in text


def test_a_line_of_one_changed_symbol_is_not_shown_with_another() -> None:
    new = OLD.replace("limit = 3", "limit = 4").replace("append(one)", "append(one)  # last")
    text = printed(OLD, new, "cart.py")
    assert text.count("append(one)  # last") == 1
    assert text.count("limit = 4") == 1


def test_what_is_gone_is_a_hunk_of_removed_lines() -> None:
    new = OLD[: OLD.index("\tdef add")]
    side = side_of("cart.py", OLD.encode())
    diff = diff_of("cart.py", OLD.split("\n")[:-1], new.split("\n")[:-1])
    change = FileChange(diff, side, side_of("cart.py", new.encode()))
    gone = next(one for one in changed_symbols(change) if one.is_gone)
    view = View(
        (Candidate(gone.symbol, TARGET_SCORE, "deleted", change=gone.change(), is_gone=True),)
    )
    texts = Texts(lambda _: OLD.encode(), lambda _: side.symbols)
    text = fit(view, texts, as_text, 5_000).text
    assert "@@ -9,1 +8,0 @@\n-\tdef add(self, one):\n" in text
