"""The history of some files: the latest commits that touched them, and the lines that each of
them wrote.

Lines are kept as checksums of their text without the blanks around it, so that those which are
still in a file can be found again wherever they are by now. What was read is kept beside the index
until another commit is checked out.

Commits without a parent are left out: what a first import, or the oldest commit of a shallow clone,
holds was not written together.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from tersely.foundation.git.runner import beginning
from tersely.foundation.storage.hashing import content_hash, sealed, unsealed

MAX_HISTORY_COMMITS = 100  # the latest that touched what has changed
MAX_COMMIT_LINES = 3_000  # written by one commit, above which it says little of any of them
MAX_KEPT_HISTORIES = 32  # files beside the index
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
    key = content_hash(
        "\0".join([*_OPTIONS, tip, *sorted(paths)]).encode("utf-8", "surrogateescape")
    ).hex()[:32]
    kept = directory / DIRECTORY / key if directory is not None else None
    if kept is not None and (known := _read(kept)) is not None:
        return known
    commits = _commits(root, tip, paths)
    if kept is not None:
        _keep(kept, commits)
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


def _read(place: Path) -> list[Commit] | None:
    try:
        rows = marshal.loads(unsealed(place.read_bytes()))  # noqa: S302 - our own file, beside the index
        return [Commit(written) for written in rows]
    except (OSError, ValueError):
        return None


def _keep(place: Path, commits: Sequence[Commit]) -> None:
    """Write it down if that can be done, and forget the oldest of what is kept."""
    try:
        place.parent.mkdir(exist_ok=True)
        draft = place.with_suffix(f".{os.getpid()}")
        draft.write_bytes(sealed(marshal.dumps([commit.written for commit in commits])))
        draft.replace(place)
        for old in _oldest(place.parent):
            old.unlink(missing_ok=True)
    except OSError:
        return


def _oldest(directory: Path) -> Iterator[Path]:
    by_age = sorted(
        directory.iterdir(), key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True
    )
    yield from by_age[MAX_KEPT_HISTORIES:]
