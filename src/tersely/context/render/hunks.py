"""A changed symbol as hunks of a unified diff: its lines as the file has them, numbered on both
sides.

Lines that a pack leaves out, such as documentation that has not changed, end a hunk; lines among
which nothing has changed make none. A symbol that is gone is a hunk of removed lines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from tersely.context.lenses.candidate import Edit
from tersely.context.pack.excerpt import Excerpt, Line
from tersely.context.pack.model import Delta, Detail, Item
from tersely.foundation.types import field, record

KEPT, ADDED, REMOVED = " ", "+", "-"


@record
class _Hunk:
    """Rows with their marks; `first` is the number of the first line of the new side, or of the
    line that follows.
    """

    first: int
    rows: list[str] = field(default_factory=list)

    def add(self, mark: str, texts: Sequence[str]) -> None:
        """Append rows."""
        self.rows += [mark + text for text in texts]

    @property
    def is_changed(self) -> bool:
        """True if anything differs in it."""
        return any(row[0] != KEPT for row in self.rows)

    def side(self, mark: str) -> int:
        """The lines of one side: those that both have, and those with the mark."""
        return sum(row[0] in {KEPT, mark} for row in self.rows)


def has_hunks(item: Item) -> bool:
    """True if an item is shown as hunks: its body is there, and not as a difference to what its
    reader has.
    """
    return item.change is not None and item.detail is Detail.BODY and item.delta is Delta.WHOLE


def hunks_of(item: Item) -> str:
    """The hunks of an item that `has_hunks`, each line ended; "" where nothing of it has a text."""
    if item.change is None:
        return ""
    edits = item.change.edits
    if item.is_gone:
        removed = map(_removed_run, _runs(_own_lines(item)))
        text = "".join(_printed(hunk, hunk.first, _new_line(hunk.first, edits)) for hunk in removed)
    else:
        text = "".join(
            _printed(hunk, _old_line(hunk.first, edits), hunk.first) for hunk in _marked(item)
        )
    more = item.change.removed_more
    return text + (f"-⋯ {more} more lines\n" if more else "")


def names_itself(item: Item) -> bool:
    """True if the hunks of an item have the line with its name."""
    if item.is_gone:
        return bool(item.lines)
    named = item.symbol.name_line
    return any(hunk.first <= named < hunk.first + hunk.side(ADDED) for hunk in _marked(item))


def _own_lines(item: Item) -> Excerpt:
    return [line for line in item.lines if not line.is_gap]


def _removed_run(run: Sequence[Line]) -> _Hunk:
    hunk = _Hunk(run[0].number)
    hunk.add(REMOVED, [line.text for line in run])
    return hunk


def _marked(item: Item) -> Iterator[_Hunk]:
    """The runs of lines with what was put in and taken out; what was taken out elsewhere is a hunk
    by itself.
    """
    added = set(item.change.lines) if item.change else set[int]()
    removed: dict[int, list[str]] = defaultdict(list)
    for number, text in item.change.removed if item.change else ():
        removed[number].append(text)
    hunks: list[_Hunk] = []
    for run in _runs(_own_lines(item)):
        hunk = _Hunk(run[0].number)
        for line in run:
            hunk.add(REMOVED, removed.pop(line.number, ()))
            hunk.add(ADDED if line.number in added else KEPT, [line.text])
        hunks.append(hunk)
    starts = {hunk.first for hunk in hunks}
    for hunk in hunks:
        end = hunk.first + hunk.side(ADDED)
        if end in removed and end not in starts:
            hunk.add(REMOVED, removed.pop(end))
    for number, texts in removed.items():
        hunk = _Hunk(number)
        hunk.add(REMOVED, texts)
        hunks.append(hunk)
    yield from sorted((hunk for hunk in hunks if hunk.is_changed), key=lambda one: one.first)


def _runs(lines: Sequence[Line]) -> Iterator[Excerpt]:
    """Lines that follow each other in the file."""
    run: Excerpt = []
    for line in lines:
        if run and line.number != run[-1].number + 1:
            yield run
            run = []
        run.append(line)
    if run:
        yield run


def _old_line(new: int, edits: Sequence[Edit]) -> int:
    """The number that a line had before a change or, of one that was put in, the line in whose
    place it stands.
    """
    old = new
    for edit in edits:
        if edit.line >= new:
            break
        old += edit.removed - min(edit.added, new - edit.line)
    return old


def _new_line(old: int, edits: Sequence[Edit]) -> int:
    """The line that now stands in the place of one that a change took out."""
    shift = 0  # of what follows the edits that are passed
    for edit in edits:
        start = edit.line - shift
        if old < start + edit.removed:
            return min(old + shift, edit.line)
        shift += edit.added - edit.removed
    return old + shift


def _printed(hunk: _Hunk, old: int, new: int) -> str:
    before, after = hunk.side(REMOVED), hunk.side(ADDED)
    # A side without lines is numbered by the line before it, as everywhere in unified diffs.
    old_range = f"-{old if before else old - 1},{before}"
    new_range = f"+{new if after else new - 1},{after}"
    return "".join([f"@@ {old_range} {new_range} @@\n", *(f"{row}\n" for row in hunk.rows)])
