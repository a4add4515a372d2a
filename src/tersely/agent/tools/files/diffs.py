"""A change of lines as people read it: a unified diff, bounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from tersely.foundation.text.escape import visible_line

MAX_PREVIEW_LINES = 400  # of a diff that somebody is asked about
_CONTEXT = 3
# comparing takes the square of them; above, all of what has changed is shown as new
_MOST_COMPARED_LINES = 1_000


class Difference(NamedTuple):
    """The text of a diff, and how many lines it adds and removes in all."""

    text: str
    added_lines: int
    removed_lines: int


def difference(path: str, before: Sequence[str], after: Sequence[str]) -> Difference:
    """The unified diff of two versions, as lines without endings; nothing in it steers a terminal."""
    lines: list[str] = []
    added = removed = 0
    for line in _hunks(before, after):
        added += line.startswith("+")
        removed += line.startswith("-")
        if len(lines) <= MAX_PREVIEW_LINES:
            lines.append(visible_line(line[:1]) + visible_line(line[1:]).replace("\\x09", "\t"))
    rest = added + removed - sum(line[:1] in {"+", "-"} for line in lines[:MAX_PREVIEW_LINES])
    shown = lines[:MAX_PREVIEW_LINES] + ([f"… {rest:,} more changed lines"] if rest else [])
    name = visible_line(path)
    return Difference("\n".join([f"--- {name}", f"+++ {name}", *shown]) + "\n", added, removed)


def _hunks(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    same = next(
        (at for at, (one, two) in enumerate(zip(before, after, strict=False)) if one != two), None
    )
    start = max(0, (min(len(before), len(after)) if same is None else same) - _CONTEXT)
    old, new = before[start:], after[start:]
    tail = 0
    while tail < min(len(old), len(new)) and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    cut = max(0, tail - _CONTEXT)
    old, new = old[: len(old) - cut], new[: len(new) - cut]
    for group in _groups(old, new):
        yield _header(group, start)
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (f" {line}" for line in old[i1:i2])
            else:
                yield from (f"-{line}" for line in old[i1:i2])
                yield from (f"+{line}" for line in new[j1:j2])


_Operations = list[tuple[str, int, int, int, int]]


def _groups(old: Sequence[str], new: Sequence[str]) -> Iterator[_Operations]:
    if max(len(old), len(new)) > _MOST_COMPARED_LINES:
        yield [("replace", 0, len(old), 0, len(new))]
    else:
        for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT):
            yield list(group)


def _header(group: _Operations, start: int) -> str:
    _, i1, _, j1, _ = group[0]
    _, _, i2, _, j2 = group[-1]
    return f"@@ -{start + i1 + 1},{i2 - i1} +{start + j1 + 1},{j2 - j1} @@"
