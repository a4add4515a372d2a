"""Unified diffs as plain values, whoever wrote them: git, other version control, or `diff -u`.

What stands around the files (a mail, a log message, the remarks of tools) is passed over, as git
does. A hunk that does not hold as many lines as it says is refused: nothing after it can be
trusted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from tersely.foundation.errors import TerselyError
from tersely.foundation.types import field, frozen, record, replace

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([abtnvfr\"\\]|[0-7]{3})")
_ESCAPED = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))
_QUOTED = rb'"(?:[^"\\]|\\.)*"'
_BOTH_NAMES = re.compile(rb"(%s|.+?) (%s|.+)" % (_QUOTED, _QUOTED), re.DOTALL)
_TIMESTAMP = re.compile(rb"\t.*|\s+\(revision \d+\)$|\s+\(working copy\)$", re.DOTALL)
# How `diff -N` and some version control date a file that is not there; the zone may move it by a
# day.
_EPOCH = re.compile(rb"\t\s*(?:1969-12-31|1970-01-01) \d\d:\d\d:00")
_INDEX = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)(?: (\d{6}))?")
_NOTHING = b"/dev/null"
SUBMODULE_MODE = "160000"
LINK_MODE = "120000"


@frozen
class Hunk:
    """Lines of one place that were taken out, and those put in for them, both with their line ends.

    Lines count from 1. `old_first` and `new_first` are where the first of them is or, of none, what
    follows the gap.
    """

    old_first: int
    removed: tuple[bytes, ...]
    new_first: int
    added: tuple[bytes, ...]


@frozen
class FileDiff:
    """The change of one file. Paths are empty on the side on which it does not exist; modes where
    none is told.
    """

    old_path: str
    path: str
    hunks: tuple[Hunk, ...] = ()
    is_binary: bool = False
    is_large: bool = False  # told as if it were binary
    old_mode: str = ""
    mode: str = ""
    old_blob: str = ""  # ids of git, perhaps shortened
    blob: str = ""
    is_missing: bool = False  # git has not the contents of a side, so nobody knows what differs

    @property
    def is_submodule(self) -> bool:
        """True if it stands for another repository."""
        return SUBMODULE_MODE in {self.old_mode, self.mode}

    @property
    def has_text(self) -> bool:
        """True if there is something to say of its lines, or of its name: not of what is binary or
        changed its mode.
        """
        return (
            bool(self.hunks)
            or self.is_missing
            or (not self.is_binary and self.path != self.old_path)
        )

    @property
    def name(self) -> str:
        """The path by which to speak of it."""
        return self.path or self.old_path


@record
class _Draft:
    """A file of which only some lines have been read. Names are as they are written, prefixes
    included.
    """

    old: bytes = b""
    new: bytes = b""
    header: tuple[bytes, bytes] | None = None  # what `diff --git` names
    renamed_from: bytes | None = None  # without a prefix
    renamed_to: bytes | None = None
    is_new: bool = False
    is_gone: bool = False
    is_binary: bool = False
    modes: list[str] = field(default_factory=lambda: ["", ""])
    blobs: list[str] = field(default_factory=lambda: ["", ""])
    hunks: list[Hunk] = field(default_factory=list)


def read_patch(patch: bytes) -> list[FileDiff]:
    """The files of a unified diff, in order. Raises `invalid_argument` where a hunk is not what it
    says.
    """
    rows = patch.split(b"\n")
    drafts = list(_Reader(rows if not rows[-1] else [*rows, b""]).drafts())
    has_prefixes = _has_prefixes(drafts)
    return [_finished(draft, has_prefixes) for draft in drafts]


def patched(before: bytes, diff: FileDiff) -> bytes | None:
    """A file after its hunks, None where they do not fit it."""
    lines = lines_of(before)
    result: list[bytes] = []
    at = 0
    for hunk in diff.hunks:
        first = hunk.old_first - 1
        if first < at or lines[first : first + len(hunk.removed)] != hunk.removed:
            return None
        result += lines[at:first]
        result += hunk.added
        at = first + len(hunk.removed)
    return b"".join([*result, *lines[at:]])


def reversed_diff(diff: FileDiff) -> FileDiff:
    """The difference the other way round."""
    hunks = tuple(Hunk(one.new_first, one.added, one.old_first, one.removed) for one in diff.hunks)
    return replace(
        diff, old_path=diff.path, path=diff.old_path, hunks=hunks, old_mode=diff.mode, mode=diff.old_mode,
        old_blob=diff.blob, blob=diff.old_blob,
    )  # fmt: skip


def lines_of(text: bytes) -> tuple[bytes, ...]:
    """The lines of a file with their ends, as git counts them."""
    parts = text.split(b"\n")
    return (*(part + b"\n" for part in parts[:-1]), *((parts[-1],) if parts[-1] else ()))


class _Reader:
    """The lines of a patch and how far they have been read."""

    def __init__(self, rows: list[bytes]) -> None:
        self._rows = rows
        self._at = 0

    def drafts(self) -> Iterator[_Draft]:
        """The files as they are written."""
        while self._at < len(self._rows):
            row = self._rows[self._at]
            if row.startswith(b"diff --git "):
                self._at += 1
                draft = self._git_file(row[11:])
            elif self._is_plain_header():
                draft = _Draft()
            else:
                self._at += 1
                continue
            if self._is_plain_header():
                self._sides(draft)
                self._hunks(draft)
            yield draft

    def _is_plain_header(self) -> bool:
        following = self._rows[self._at : self._at + 3]
        starts = (b"--- ", b"+++ ", b"@@ -")
        return len(following) == 3 and all(map(bytes.startswith, following, starts))

    def _git_file(self, names: bytes) -> _Draft:
        """The lines between `diff --git` and the first hunk, or the next file."""
        draft = _Draft(header=_halves(names))
        while self._at < len(self._rows):
            row = self._rows[self._at]
            if row.startswith(b"diff --git ") or self._is_plain_header():
                break
            if not _take_extended(row, draft) and draft.is_binary and not row:
                break
            self._at += 1
        return draft

    def _sides(self, draft: _Draft) -> None:
        old, new = self._rows[self._at][4:], self._rows[self._at + 1][4:]
        draft.old, draft.new = _name(old), _name(new)
        draft.is_new |= draft.old == _NOTHING or _EPOCH.search(old) is not None
        draft.is_gone |= draft.new == _NOTHING or _EPOCH.search(new) is not None
        self._at += 2

    def _hunks(self, draft: _Draft) -> None:
        while self._at < len(self._rows) and (match := _HUNK.match(self._rows[self._at])):
            old, removed, new, added = (
                1 if group is None else int(group) for group in match.groups()
            )
            if draft.header is None and not draft.hunks:
                draft.is_new |= old == removed == 0
                draft.is_gone |= new == added == 0
            self._at += 1
            # Of an empty side the line before the gap is told.
            lines = self._lines_of(removed, added)
            draft.hunks += _runs(lines, old + (not removed), new + (not added))

    def _lines_of(self, removed: int, added: int) -> list[tuple[bytes, bytes]]:
        """The lines of a hunk, each with its mark."""
        first_row = self._at
        found: list[tuple[bytes, bytes]] = []
        while removed > 0 or added > 0 or self._is_remark():
            if self._at >= len(self._rows) - 1:
                raise _not_as_said(first_row)
            row = self._rows[self._at]
            mark = row[:1] or b" "  # a line of context that lost its blank
            if mark == b"\\" and found:
                found[-1] = (found[-1][0], found[-1][1].removesuffix(b"\n"))
            elif mark in {b" ", b"+", b"-"}:
                found.append((mark, row[1:] + b"\n"))
                removed -= mark != b"+"
                added -= mark != b"-"
            if mark not in {b" ", b"+", b"-", b"\\"} or removed < 0 or added < 0:
                raise _not_as_said(first_row)
            self._at += 1
        return found

    def _is_remark(self) -> bool:
        return self._at < len(self._rows) and self._rows[self._at].startswith(b"\\ ")


def _not_as_said(row: int) -> TerselyError:
    message = f"the hunk on line {row} of the patch has other lines than its head says"
    return TerselyError(
        "invalid_argument", message, "save the patch anew; line ends or lines may be lost"
    )


def _take_extended(row: bytes, draft: _Draft) -> bool:
    """Read one of git's lines about a file; False if it is none."""
    word, _, value = row.partition(b" from ") if b" from " in row[:12] else row.partition(b" to ")
    if word in {b"rename", b"copy"} and b" from " in row[:12]:
        draft.renamed_from = _unquoted(value)
    elif word in {b"rename", b"copy"}:
        draft.renamed_to = _unquoted(value)
    elif match := _INDEX.match(row):
        draft.blobs = [match[1].decode(), match[2].decode()]
        if match[3]:
            draft.modes = [match[3].decode()] * 2
    elif row.startswith((b"old mode ", b"deleted file mode ")):
        draft.modes[0] = row.rpartition(b" ")[2].decode("ascii", "replace")
        draft.is_gone |= row.startswith(b"deleted")
    elif row.startswith((b"new mode ", b"new file mode ")):
        draft.modes[1] = row.rpartition(b" ")[2].decode("ascii", "replace")
        draft.is_new |= row.startswith(b"new file")
    elif row.startswith((b"Binary files ", b"GIT binary patch")):
        draft.is_binary = True
    else:
        return False
    return True


def _runs(lines: Iterable[tuple[bytes, bytes]], old: int, new: int) -> Iterator[Hunk]:
    """A hunk without its context: each run of changed lines by itself. `old` and `new` count its
    first lines.
    """
    removed: list[bytes] = []
    added: list[bytes] = []
    for mark, line in [*lines, (b" ", b"")]:
        if mark == b"-":
            removed.append(line)
        elif mark == b"+":
            added.append(line)
        else:
            if removed or added:
                yield Hunk(old, tuple(removed), new, tuple(added))
            old, new = old + len(removed) + 1, new + len(added) + 1
            removed, added = [], []


def _finished(draft: _Draft, has_prefixes: bool) -> FileDiff:
    header = draft.header or (draft.old, draft.new)
    old, new = (b"" if one == _NOTHING else _stripped(one, has_prefixes) for one in (
        draft.old or header[0], draft.new or header[1]))  # fmt: skip
    if draft.header is None and not (draft.is_new or draft.is_gone):
        old = new  # as git does: the name of what there is now
    old = draft.renamed_from if draft.renamed_from is not None else old
    new = draft.renamed_to if draft.renamed_to is not None else new
    old_blob, blob = ("" if not one.strip("0") else one for one in draft.blobs)
    return FileDiff(
        "" if draft.is_new else os.fsdecode(old),
        "" if draft.is_gone else os.fsdecode(new),
        tuple(draft.hunks),
        draft.is_binary,
        old_mode=draft.modes[0],
        mode=draft.modes[1],
        old_blob=old_blob,
        blob=blob,
    )


def _has_prefixes(drafts: Sequence[_Draft]) -> bool:
    """True if names begin with a directory that says their side (`a/`, `b/`), and is no part of
    them.
    """
    for draft in drafts:
        names = draft.header or (draft.old, draft.new)
        if _NOTHING in names:
            only = names[0] if names[1] == _NOTHING else names[1]
            if not only.startswith((b"a/", b"b/", b"/")):
                return False
        elif draft.renamed_from is not None:
            return names[0] != draft.renamed_from
        elif names[0] == names[1] and not names[0].startswith(b"/"):
            return False
    return True


def _stripped(name: bytes, has_prefixes: bool) -> bytes:
    """A name without its first directory, as `-p1` of git and patch takes it off."""
    return name.partition(b"/")[2] if has_prefixes and b"/" in name else name


def _halves(names: bytes) -> tuple[bytes, bytes]:
    """Both names of a `diff --git` line. Where they are not quoted, they are one name but for their
    prefixes.
    """
    if names.startswith(b'"') and (match := _BOTH_NAMES.fullmatch(names)):
        return _unquoted(match[1]), _unquoted(match[2])
    for at in (at for at, byte in enumerate(names) if byte == 0x20):
        old, new = names[:at], _unquoted(names[at + 1 :])
        if old == new or old.partition(b"/")[2] == new.partition(b"/")[2] != b"":
            return old, new
    old, _, new = names.partition(b" ")
    return old, new


def _name(side: bytes) -> bytes:
    """The name of a `---` or `+++` line without what may follow it."""
    if side.startswith(b'"') and (match := re.match(_QUOTED, side)):
        return _unquoted(match[0])
    return _TIMESTAMP.sub(b"", side).rstrip(b"\r")


def _unquoted(path: bytes) -> bytes:
    if not (len(path) > 1 and path.startswith(b'"') and path.endswith(b'"')):
        return path
    return _ESCAPE.sub(lambda match: _character(match[1]), path[1:-1])


def _character(escape: bytes) -> bytes:
    return bytes([int(escape, 8) % 256 if len(escape) == 3 else _ESCAPED[escape[0]]])
