"""The changes that git reports: files and their lines, between a revision and the working tree, or
another revision.

For a working tree, staged or not makes no difference, and files that git does not know yet have
changed as a whole. A base on another branch means the commit where the branches part, as for pull
requests.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from tersely.code.index.content import bytes_below, read_below, utf8
from tersely.code.index.history.patch import LINK_MODE, FileDiff, Hunk, lines_of, read_patch
from tersely.code.index.listing.ignore import is_skipped_name
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.listing import filterless_environment, in_repository
from tersely.foundation.git.repository import is_known, work_tree
from tersely.foundation.git.runner import (
    GitUnavailableError,
    blob_sizes,
    index_of_caller,
    objects_in,
    run,
)
from tersely.foundation.limits import MAX_FILE_BYTES
from tersely.foundation.types import Strings, replace

MAX_DIFF_BYTES = 50_000_000  # that git may say of what has changed
MAX_UNTRACKED_FILES = 1_000  # of which the lines are read

# What is too large to be indexed is compared as if it were binary.
_DIFF = ("-c", f"core.bigFileThreshold={MAX_FILE_BYTES}", "diff")
# Whatever the settings of the repository say: they may change what a diff looks like, and name
# programs for git to run.
_DIFF_OPTIONS = (
    "-U0", "--inter-hunk-context=0", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--full-index", "--relative",
    "--submodule=short", "--ignore-submodules=dirty", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
_PROBED_BYTES = 8_000  # of a file that git does not know, to see whether it is text
MAX_EXCLUDED_FILES = 2_000  # without contents; of more git cannot be told to pass over them
_SHA1_DIGITS = 40
_WITHOUT_GIT = "`change-impact FILE…` and `diff-context PATCH` need none"
_MAIN_BRANCHES = ("origin/HEAD", "main", "master", "origin/main", "origin/master")


class Changes:
    """The difference of a working tree, of what is staged, or of a commit, from a revision."""

    def __init__(
        self, root: Path, base: str | None = "", head: str = "", *, staged: bool = False
    ) -> None:
        """`base` and `head` are whatever git understands; without a base, the last commit, None
        stands for the main branch; without a head, the tree.

        Raises what asking git may raise.
        """
        if not in_repository(str(root)):
            raise TerselyError("git_unavailable", f"{root} is in no git repository", _WITHOUT_GIT)
        self._root = root
        self._staged = staged
        self._commit_of: dict[str, str] = {}
        # git may refuse the repository, such as that of another user
        self._git("rev-parse", "--git-dir")
        self.head = self._resolved(head) if head else ""
        self.base = self.main_branch() if base is None else base
        self.commit = self._base(self.base)

    def paths(self) -> list[str]:
        """All that differs below the root and holds text, on either side."""
        diffs = (one for one in self._tracked() if one.has_text)
        sides = (path for one in diffs for path in (one.path, one.old_path) if path)
        return sorted({*sides, *self._untracked()})

    def diffs(self) -> list[FileDiff]:
        """All that differs below the root, line by line, by path."""
        found = self._tracked()
        untracked = self._untracked()
        found += [_appeared(self._root, path) for path in untracked[:MAX_UNTRACKED_FILES]]
        found += [FileDiff("", path, is_binary=True) for path in untracked[MAX_UNTRACKED_FILES:]]
        binary = [one for one in found if one.is_binary]
        sizes = self._sizes([blob for one in binary for blob in (one.old_blob, one.blob)])
        found = [
            replace(one, is_large=self._is_large(sizes, one.path, one.old_blob, one.blob))
            if one.is_binary
            else one
            for one in found
        ]
        return sorted(found, key=lambda one: (one.name, one.old_path))

    def _is_large(self, sizes: Mapping[str, int], path: str, *blobs: str) -> bool:
        """True if a file is too large to be indexed on one of its sides."""
        is_tree = path and not (self.head or self._staged)
        with suppress(OSError):
            if is_tree and os.lstat(self._root / path).st_size > MAX_FILE_BYTES:
                return True
        return any(sizes.get(one, 0) > MAX_FILE_BYTES for one in blobs)

    def blobs(self, ids: Collection[str]) -> Mapping[str, bytes]:
        """The contents of blobs, without those that are too large to be indexed or not there."""
        small = [one for one, size in self._sizes(ids).items() if size <= MAX_FILE_BYTES]
        answer = self._git(
            "cat-file", "--batch", given="".join(f"{one}\n" for one in small).encode()
        )
        return {one.id: utf8(one.content) for one in objects_in(answer)}

    def _sizes(self, ids: Collection[str]) -> Mapping[str, int]:
        """The bytes of blobs, without those that are not there."""
        wanted = dict.fromkeys(one for one in ids if one)
        if not wanted:
            return {}
        answer = self._git(
            "cat-file", "--batch-check", given="".join(f"{one}\n" for one in wanted).encode()
        )
        return blob_sizes(answer)

    def tip(self) -> str:
        """The commit from which history is told: that which the changes lead to, or grow from; ""
        before any.
        """
        if self.head:
            return self.head
        try:
            return self._resolved("HEAD")
        except TerselyError:
            return ""

    def _tracked(self) -> list[FileDiff]:
        ends = ["--cached", self.commit] if self._staged else self._commits
        options = self._diff_options
        try:
            return read_patch(self._git(*_DIFF, *options, *ends, "--"))
        except TerselyError:
            unread, missing = self._unreadable(ends)
            if not 0 < len(unread) <= MAX_EXCLUDED_FILES:
                raise
        others = (f":(exclude,literal){path}" for path in unread)
        return [*read_patch(self._git(*_DIFF, *options, *ends, "--", ".", *others)), *missing]

    @property
    def _commits(self) -> list[str]:
        """The commits that are compared: one, or two where the other side is no working tree."""
        return [self.commit, *filter(None, (self.head,))]

    @cached_property
    def _diff_options(self) -> Strings:
        """Submodules are passed over if a directory of one leads to a repository of somebody else."""
        if self.head or self._staged:
            return _DIFF_OPTIONS
        tree = Path(work_tree(str(self._root)))
        listed = os.fsdecode(self._git("ls-files", "-z", "-s", "--full-name", ":/")).split("\0")
        submodules = (
            tree / entry.partition("\t")[2] for entry in listed if entry.startswith("160000 ")
        )
        is_strange = any(
            os.path.lexists(one / ".git") and not is_known(str(one)) for one in submodules
        )
        return (*_DIFF_OPTIONS, "--ignore-submodules=all") if is_strange else _DIFF_OPTIONS

    def _unreadable(self, ends: Sequence[str]) -> tuple[list[str], list[FileDiff]]:
        """Files of which git lacks contents, as in a clone that fetches them when asked, or that are
        too large; and those that differ.

        Asks what does not open contents: `git diff` compares a file whose times have changed.
        """
        command = ["diff-tree", "-r"] if self.head else ["diff-index"]
        words = self._git(
            *command, "--raw", "-z", "--no-abbrev", "--no-renames", "--relative", *ends, "--"
        )
        fields = words.split(b"\0")
        rows = [
            (*row.decode("ascii").lstrip(":").split(), os.fsdecode(path))
            for row, path in zip(fields[::2], fields[1::2], strict=False)
        ]
        listed = self._git(
            "rev-list",
            "--objects",
            "--no-object-names",
            "--no-walk",
            "--missing=print",
            *self._commits,
            "--",
        )
        lost = {line[1:].decode("ascii") for line in listed.splitlines() if line.startswith(b"?")}
        unread = [
            (before, kind, path)
            for _, _, before, after, kind, path in rows
            if lost & {before, after}
        ]
        missing = [
            replace(_diff_of(kind, path), is_missing=True)
            for before, kind, path in unread
            if self.head or self._staged or _blob_id(self._root, path, len(before)) != before
        ]
        blobs = {blob for _, _, before, after, *_ in rows for blob in (before, after)}
        sizes = self._sizes(blobs - lost)
        large = [
            replace(_diff_of(kind, path), is_binary=True, old_blob=before, blob=after)
            for _, _, before, after, kind, path in rows
            if self._is_large(sizes, path, before, after)
        ]
        missing += large
        return [*(path for _, _, path in unread), *(one.name for one in large)], missing

    def _untracked(self) -> list[str]:
        if self.head or self._staged:
            return []
        listed = self._git("ls-files", "-z", "--others", "--exclude-standard").split(b"\0")
        paths = (os.fsdecode(path) for path in listed if path and not path.endswith(b"/"))
        return sorted(path for path in paths if not self._is_skipped(path))

    def _is_skipped(self, path: str) -> bool:
        """True if a file lies in a directory that never holds anybody's own source, such as those
        of dependencies.
        """
        *folders, _ = path.split("/")
        root = str(self._root)
        return any(
            is_skipped_name(root, "/".join(folders[: at + 1]), name)
            for at, name in enumerate(folders)
        )

    def _resolved(self, revision: str) -> str:
        known = self._commit_of.get(revision)
        if known:
            return known
        try:
            found = self._git(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
            )
        except TerselyError as error:
            raise TerselyError(
                "invalid_argument", f"git has no revision {revision!r}", "git log lists revisions"
            ) from error
        self._commit_of[revision] = found.decode().strip()
        return self._commit_of[revision]

    def _base(self, base: str) -> str:
        if not base:
            return (
                self.tip() or self._git("hash-object", "-t", "tree", "/dev/null").decode().strip()
            )
        commit = self._resolved(base)
        try:
            return self._git("merge-base", commit, self.head or "HEAD").decode().strip()
        except TerselyError as error:
            if self._is_shallow():
                message = f"the history here is too short to tell where {base!r} and this part"
                raise TerselyError(
                    "git_unavailable", message, "git fetch --unshallow brings the rest"
                ) from error
            return commit  # without a commit in common there is nothing nearer to compare with

    def _is_shallow(self) -> bool:
        return self._git("rev-parse", "--is-shallow-repository").strip() == b"true"

    def main_branch(self) -> str:
        """The branch that others part from, "" where none is called so."""
        for name in _MAIN_BRANCHES:
            with suppress(TerselyError):
                self._resolved(name)
                return name
        return ""

    @cached_property
    def _environment(self) -> dict[str, str]:
        root = str(self._root)
        return filterless_environment(root) | (index_of_caller(root) if self._staged else {})

    def _git(self, *words: str, given: bytes = b"") -> bytes:
        try:
            output = run(str(self._root), words, self._environment, given)
        except GitUnavailableError as error:
            hint = error.hint or "`git status` there says more"
            raise TerselyError("git_unavailable", str(error), hint) from error
        except OSError as error:
            raise TerselyError("git_unavailable", f"git cannot be run: {error.strerror}") from error
        if len(output) > MAX_DIFF_BYTES:
            raise TerselyError(
                "git_unavailable",
                f"the change is larger than {MAX_DIFF_BYTES:,} bytes",
                "compare with a nearer revision",
            )
        return output


def _diff_of(kind: str, path: str) -> FileDiff:
    """The difference of a file that git says to be added (`A`), deleted (`D`) or changed."""
    return FileDiff("" if kind == "A" else path, "" if kind == "D" else path)


def _blob_id(root: Path, path: str, digits: int) -> str:
    """The id that git gives to a file as it stands, by its hash of so many digits; "" for one that
    cannot be read.
    """
    from hashlib import new

    try:
        text = bytes_below(str(root), path)
    except OSError:
        return ""
    name = "sha1" if digits == _SHA1_DIGITS else "sha256"
    return new(name, b"blob %d\0" % len(text) + text, usedforsecurity=False).hexdigest()


def _appeared(root: Path, path: str) -> FileDiff:
    """A file that git does not know yet."""
    try:
        text = read_below(str(root), path)
    except OSError:
        return (
            FileDiff("", path, mode=LINK_MODE)
            if (root / path).is_symlink()
            else FileDiff("", path, is_binary=True)
        )
    if b"\0" in text[:_PROBED_BYTES]:
        return FileDiff("", path, is_binary=True)
    return FileDiff("", path, (Hunk(1, (), 1, lines_of(text)),) if text else ())
