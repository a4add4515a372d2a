"""What git says has changed: files and their lines, in the working tree against a revision.

Staged or not makes no difference, and files that git does not know yet have changed as a whole. A base on another
branch means the commit where the branches part, as for pull requests.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from laconic.code.index.listing.git import GitUnavailableError, filterless_environment, in_repository
from laconic.foundation.errors import LaconicError
from laconic.foundation.limits import GIT_SECONDS, MAX_DIFF_BYTES, MAX_FILE_BYTES

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([abtnvfr\"\\]|[0-7]{3})")
_ESCAPED = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))
_NOTHING = b"/dev/null"
# Whatever the settings of the repository say: they may change what a diff looks like, and name programs for git to run.
_DIFF_OPTIONS = (
    "-U0", "--inter-hunk-context=0", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--relative",
    "--submodule=short", "--ignore-submodules=dirty", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file that differs. Lines count from 1, ranges are inclusive.

    `lines` are in the file as it is now; where lines were taken out and none put in, it is the pair of lines around the
    gap, of which the first may be 0. A file that was not there before has no old path, one that is gone no path.
    """

    path: str
    old_path: str
    lines: tuple[tuple[int, int], ...] = ()

    @property
    def is_new(self) -> bool:
        """Whether all of it has changed."""
        return not self.old_path


class Changes:
    """The difference of a working tree from a revision."""

    def __init__(self, root: Path, base: str = "") -> None:
        """`base` is whatever git understands; without one, the last commit. Raises what asking git may raise."""
        if not in_repository(str(root)):
            raise LaconicError("git_unavailable", f"{root} is in no git repository", "name the files that changed")
        self._root = root
        self.commit = self._commit(base)

    def files(self) -> list[ChangedFile]:
        """All that differs below the root, by path."""
        found = parse_diff(self._git("diff", *_DIFF_OPTIONS, self.commit, "--"))
        listed = self._git("ls-files", "-z", "--others", "--exclude-standard").split(b"\0")
        found += [ChangedFile(os.fsdecode(path), "") for path in listed if path and not path.endswith(b"/")]
        return sorted(found, key=lambda file: (file.path or file.old_path, file.old_path))

    def before(self, path: str) -> bytes:
        """A file as it was, empty for one that was not there or is too large to be indexed."""
        try:
            text = self._git("show", f"{self.commit}:./{path}")
        except LaconicError:
            return b""
        return text if len(text) <= MAX_FILE_BYTES else b""

    def _commit(self, base: str) -> str:
        try:
            found = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{base or 'HEAD'}^{{commit}}")
        except LaconicError as error:
            if base:
                raise LaconicError("invalid_argument", f"git knows no revision {base!r}") from error
            return self._git("hash-object", "-t", "tree", "/dev/null").decode().strip()  # nothing is committed yet
        commit = found.decode().strip()
        if not base:
            return commit
        try:
            return self._git("merge-base", commit, "HEAD").decode().strip()
        except LaconicError:
            return commit

    @cached_property
    def _environment(self) -> dict[str, str]:
        return filterless_environment(str(self._root))

    def _git(self, *words: str) -> bytes:
        import subprocess  # asking about changes alone needs it

        command = ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *words]
        try:
            done = subprocess.run(
                command, cwd=self._root, env=self._environment, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=GIT_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise LaconicError("git_unavailable", f"git did not answer within {GIT_SECONDS} s") from error
        except GitUnavailableError as error:
            raise LaconicError("git_unavailable", str(error)) from error
        except OSError as error:
            raise LaconicError("git_unavailable", f"git cannot be run: {error.strerror}") from error
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
            raise LaconicError("git_unavailable", said or f"git {words[0]} ended with status {done.returncode}")
        if len(done.stdout) > MAX_DIFF_BYTES:
            raise LaconicError("git_unavailable", f"the difference is larger than {MAX_DIFF_BYTES:,} bytes")
        return done.stdout


def parse_diff(diff: bytes) -> list[ChangedFile]:
    """The files of a unified diff without context lines, as `git diff -U0` writes it."""
    sections = re.split(rb"(?m)^diff --git .*\n", diff)[1:]
    return [file for section in sections if (file := _section(section)) is not None]


def _section(section: bytes) -> ChangedFile | None:
    old = new = b""
    lines: list[tuple[int, int]] = []
    rows = iter(section.split(b"\n"))
    for row in rows:
        if row.startswith((b"rename from ", b"copy from ")):
            old = _unquoted(row.partition(b"from ")[2])
        elif row.startswith((b"rename to ", b"copy to ")):
            new = _unquoted(row.partition(b" to ")[2])
        elif row.startswith(b"--- "):
            old, new = _side(row), _side(next(rows))
        elif match := _HUNK.match(row):
            _, removed, first, added = (int(group or 1) for group in match.groups())
            lines.append((first, first + added - 1) if added else (first, first + 1))
            _pass_over(rows, removed + added)
    if not old and not new:
        return None  # a change of the mode alone, or a binary file
    return ChangedFile(os.fsdecode(new), os.fsdecode(old), tuple(lines))


def _pass_over(rows: Iterator[bytes], number: int) -> None:
    """Take the lines of a hunk: one of a file may look like one of ours. Between them may stand remarks of git."""
    while number and (row := next(rows, None)) is not None:
        number -= row[:1] in {b"+", b"-"}


def _side(row: bytes) -> bytes:
    """The path of a `---` or `+++` line, empty where there is no file on that side."""
    path = _unquoted(row[4:].removesuffix(b"\t"))
    return b"" if path == _NOTHING else path[2:]


def _unquoted(path: bytes) -> bytes:
    if not (path.startswith(b'"') and path.endswith(b'"')):
        return path
    return _ESCAPE.sub(lambda match: _character(match[1]), path[1:-1])


def _character(escape: bytes) -> bytes:
    return bytes([int(escape, 8) if len(escape) == 3 else _ESCAPED[escape[0]]])
