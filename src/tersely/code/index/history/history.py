"""The history of some files: the latest commits that touched them, and the lines that each of
them wrote.

Lines are kept as checksums of their text without the blanks around it, so that those which are
still in a file can be found again wherever they are by now. What was read is kept beside the index
until another commit is checked out.

Commits without a parent are left out: what a first import, or the oldest commit of a shallow clone,
holds was not written together.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from tersely.foundation.git.runner import beginning
from tersely.foundation.storage.files import read_value, write_value
from tersely.foundation.storage.hashing import content_hash
from tersely.foundation.storage.private import make_room

MAX_HISTORY_COMMITS = 100  # the latest that touched what has changed
MAX_COMMIT_LINES = 3_000  # written by one commit, above which it says little of any of them
MAX_KEPT_BYTES = 30_000_000  # of histories beside the index
DIRECTORY = "history"
LEAST_LINE_BYTES = 10  # a shorter line is found anywhere
_OPTIONS = (
    "--no-merges", "--min-parents=1", "--full-diff", "-U0", "-p", "--no-renames", "--no-color", "--no-ext-diff",
    "--no-textconv", "--no-show-signature", "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--format=%x01",
)  # fmt: skip


class Commit(NamedTuple):
    """One commit: by path the checksums of the lines that it wrote."""

    written: dict[str, list[int]]


def checksum(line: bytes) -> int:
    """The number that a line is recognised by, 0 for one that says too little."""
    text = line.strip()
    return crc32(text) or 1 if len(text) >= LEAST_LINE_BYTES else 0


def history(root: Path, tip: str, paths: Sequence[str], directory: Path | None) -> list[Commit]:
    """The latest commits up to `tip` that touched any of the files, newest first; none where git
    cannot tell.

    `directory` is that of the index, None for an index that is not kept.
    """
    if not tip or not paths:
        return []
    if directory is None:
        return _commits(root, tip, paths)
    key = content_hash(os.fsencode("\0".join([*_OPTIONS, tip, *sorted(paths)])))
    kept = directory / DIRECTORY / key.hex()
    known = read_value(kept)
    if known is not None:
        return [Commit(written) for written in known]
    commits = _commits(root, tip, paths)
    with suppress(OSError):
        kept.parent.mkdir(exist_ok=True)
        write_value(kept, [commit.written for commit in commits])
        make_room(str(kept.parent), kept.name, MAX_KEPT_BYTES)
    return commits


def _commits(root: Path, tip: str, paths: Sequence[str]) -> list[Commit]:
    words = [
        "log",
        tip,
        f"--max-count={MAX_HISTORY_COMMITS}",
        *_OPTIONS,
        "--relative",
        "--",
        *paths,
    ]
    text = beginning(str(root), ["--literal-pathspecs", *words])
    return [
        Commit(written)
        for part in text.split(b"\1\n")[1:]
        if (written := _written(part.split(b"\n")))
    ]


def _written(rows: Iterable[bytes]) -> dict[str, list[int]]:
    """What one commit wrote; nothing of one that wrote very much, which says little of any line."""
    found: dict[str, list[int]] = {}
    lines: list[int] = []
    number = 0
    for row in rows:
        if row.startswith(b"+++ b/"):
            lines = found.setdefault(os.fsdecode(row[6:].removesuffix(b"\t")), [])
        elif row.startswith(b"+") and not row.startswith(b"+++ "):
            number += 1
            line = checksum(row[1:])
            if line:
                lines.append(line)
    return found if number <= MAX_COMMIT_LINES else {}
