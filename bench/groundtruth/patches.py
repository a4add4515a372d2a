"""Odd diffs, read as git reads them.

For each diff git tells the files, the lines put in and taken out, and what is new, gone, renamed or
has another mode (`git apply --numstat --summary`). Then it applies the diff to files made of the
lines that its hunks take out or keep, and we apply what we read: the results have to be the same
bytes. A diff that git refuses is to be refused.

git is told how many directories to take off names, which we see from the names: of its answers for
none and for one, the one nearer to ours counts. What git cannot apply without the repository
(binary patches, names outside of the tree) is compared by its description alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from bench.groundtruth.score import CaseResult, compare
from tersely.code.index.history.patch import FileDiff, patched, read_patch
from tersely.foundation.errors import TerselyError

REFUSED = "refused"
BECOMES = " becomes "
STRIPPED = ("-p1", "-p0")
MODES = re.compile(r"(?<=create|delete) mode \d{6}")
HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def run(folder: Path) -> Iterator[CaseResult]:
    """Every diff of the folder."""
    for place in sorted(folder.glob("*.diff")):
        patch = place.read_bytes()
        with tempfile.TemporaryDirectory(prefix="tersely-patch-") as scratch:
            found = facts_of(patch)
            answers = [
                git_facts(place.resolve(), patch, level, Path(scratch) / level)
                for level in STRIPPED
            ]
        expected = max(answers, key=lambda facts: (len(facts & found), facts != {REFUSED}))
        yield compare(
            place.name,
            expected,
            found if any(map(_is_made, expected)) else set(_without_made(found)),
        )


def facts_of(patch: bytes) -> set[str]:
    """What we read."""
    try:
        diffs = read_patch(patch)
    except TerselyError:
        return {REFUSED}
    facts = {fact for diff in diffs for fact in _described(diff)}
    texts = before_of(patch)
    for diff in diffs:
        after = patched(texts.pop(0) if diff.hunks else b"", diff)
        if after is not None and diff.hunks and diff.path:
            facts.add(_becomes(diff.path, after))
    return facts


def _described(diff: FileDiff) -> Iterator[str]:
    put_in, taken_out = (sum(len(lines) for lines in side) for side in (
        [hunk.added for hunk in diff.hunks], [hunk.removed for hunk in diff.hunks]))  # fmt: skip
    yield f"- - {diff.name}" if diff.is_binary else f"{put_in} {taken_out} {diff.name}"
    if not diff.old_path:
        yield f"create {diff.path}"
    elif not diff.path:
        yield f"delete {diff.old_path}"
    elif diff.old_path != diff.path:
        yield f"rename {diff.old_path} => {diff.path}"
    elif diff.old_mode and diff.mode and diff.old_mode != diff.mode:
        yield f"mode change {diff.old_mode} => {diff.mode} {diff.path}"


def git_facts(place: Path, patch: bytes, level: str, tree: Path) -> set[str]:
    """What git reads, in an empty directory."""
    tree.mkdir()
    numbers = _git(tree, "--numstat", "-z", level, str(place))
    if numbers is None:
        return {REFUSED}
    rows = [row.split("\t", 2) for row in numbers.split("\0") if row]
    facts = {" ".join(row) for row in rows}
    for row in (_git(tree, "--summary", level, str(place)) or "").splitlines():
        facts.add(re.sub(r" \(\d+%\)$", "", MODES.sub("", row.strip())))
    return facts | _made_by_git(place, patch, level, tree, [row[2] for row in rows])


def _made_by_git(
    place: Path, patch: bytes, level: str, tree: Path, paths: Sequence[str]
) -> set[str]:
    """The files that git makes of what the hunks say was there; none if it cannot."""
    texts = before_of(patch)
    try:
        diffs = read_patch(patch)
    except TerselyError:
        return set()
    for diff in diffs:
        text = texts.pop(0) if diff.hunks else b""
        if diff.old_path and not diff.old_path.startswith("/"):
            (tree / diff.old_path).parent.mkdir(parents=True, exist_ok=True)
            (tree / diff.old_path).write_bytes(text)
    if _git(tree, "--unidiff-zero", level, str(place)) is None:
        return set()
    with_lines = {diff.path for diff in diffs if diff.hunks}
    return {
        _becomes(path, _content(tree / path))
        for path in paths
        if path in with_lines and _is_there(tree / path)
    }


def _is_there(place: Path) -> bool:
    return place.is_symlink() or place.is_file()


def _content(place: Path) -> bytes:
    return os.fsencode(place.readlink()) if place.is_symlink() else place.read_bytes()


def _becomes(path: str, text: bytes) -> str:
    return f"{path}{BECOMES}{sha256(text).hexdigest()[:12]}"


def _is_made(fact: str) -> bool:
    return BECOMES in fact


def _without_made(facts: set[str]) -> Iterator[str]:
    return (fact for fact in facts if not _is_made(fact))


def _git(tree: Path, *options: str) -> str | None:
    command = ["git", "apply", "--whitespace=nowarn", *options]
    done = subprocess.run(command, cwd=tree, capture_output=True, check=False)
    return done.stdout.decode("utf-8", "surrogateescape") if done.returncode == 0 else None


def before_of(patch: bytes) -> list[bytes]:
    """For each file with hunks a text that they fit: their old lines where they say, and others in
    between.
    """
    files: list[list[bytes]] = []
    rows = patch.split(b"\n")
    at = 0
    while at < len(rows):
        if rows[at].startswith(b"--- ") and rows[at + 1].startswith(b"+++ "):
            files.append([])
            at += 2
        elif files and (match := HUNK.match(rows[at])):
            at = _take_old(rows, at + 1, match, files[-1])
        else:
            at += 1
    return [b"".join(lines) for lines in files]


def _take_old(rows: Sequence[bytes], at: int, match: re.Match[bytes], lines: list[bytes]) -> int:
    """Append the old lines of one hunk; where it ends."""
    old, removed, _, added = (1 if group is None else int(group) for group in match.groups())
    gap = old - (removed > 0) - len(lines)
    lines += [b"between %d\n" % (len(lines) + one) for one in range(gap)]
    last = b" "
    while at < len(rows) and (removed > 0 or added > 0 or rows[at].startswith(b"\\")):
        mark = rows[at][:1] or b" "
        if mark == b"\\" and last != b"+" and lines:
            lines[-1] = lines[-1].removesuffix(b"\n")
        elif mark != b"\\":
            removed -= mark != b"+"
            added -= mark != b"-"
            lines += [rows[at][1:] + b"\n"] if mark != b"+" else []
            last = mark
        at += 1
    return at
