"""The files of a directory tree that are candidates for the index, as they stand on disk.

With git the candidates are what `git ls-files --cached --others --exclude-standard` names,
submodules included; without it the tree is walked under the rules of its `.gitignore` files.
`ignore` takes more away in either case. Links are never followed, so nothing outside the root is
read and no loop is entered.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from typing import NamedTuple

from tersely.code.index.content import Reason, Skipped, name_in_text, read_file
from tersely.code.index.listing.ignore import (
    GIT_IGNORE_FILE,
    MANIFESTS,
    OWN_IGNORE_FILE,
    PROJECT_SUFFIXES,
    Rules,
    is_skipped_name,
    looks_built,
    verdict,
    with_ignore_file,
)  # fmt: skip
from tersely.code.languages.registry import family_in, language_of_path
from tersely.code.places import file_name_of
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.listing import GitListing, Listing, in_repository
from tersely.foundation.git.runner import GitUnavailableError
from tersely.foundation.limits import MAX_FILE_BYTES
from tersely.foundation.types import field, record


class ScannedFile(NamedTuple):
    """A regular file that may be source, and what `stat` says of it."""

    path: str
    size: int  # bytes
    mtime_ns: int
    ctime_ns: int


@record
class Scan:
    """The files and directories below a root."""

    files: list[ScannedFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    unknown: int = 0  # files that were seen and are in no language of ours
    notices: list[str] = field(default_factory=list)


class _Folder(NamedTuple):
    """The rules that hold for the entries of one directory."""

    is_open: bool
    built_above: str  # the outermost directory that looks like a build output, "" without one
    own_rules: Rules
    git_rules: Rules


_OPEN = _Folder(True, "", (), ())
_CLOSED = _OPEN._replace(is_open=False)


def scan(root: str) -> Scan:
    """Scan an absolute path without links in it."""
    with GitListing(root) as listing:
        return scan_listed(root, listing)


def scan_listed(root: str, listing: GitListing) -> Scan:
    """Scan with a listing of the same root that is already under way."""
    scanner = _Scanner(root)
    try:
        listed = listing.result()
    except GitUnavailableError as error:
        if str(error):
            scanner.found.notices.append(f"git is not asked which files belong here: {error}")
        scanner.walk()
    else:
        scanner.take(listed)
    return scanner.found


def scan_paths(root: str, paths: Iterable[str]) -> Scan:
    """Scan files that are known to belong to the index; what is not there any more is left out."""
    scanner = _Scanner(root)
    for path in paths:
        scanner.take_file(path)
    return scanner.found


def is_candidate(path: str) -> bool:
    """True if a file of this name may be source."""
    return bool(family_in(path)) or "." not in file_name_of(path)


def decides_about_others(path: str) -> bool:
    """True if a file of this name may have a say in which other files are source."""
    name = file_name_of(path)
    is_rule = name in {GIT_IGNORE_FILE, OWN_IGNORE_FILE, ".gitmodules", ".git"}
    return is_rule or name in MANIFESTS or name.endswith(PROJECT_SUFFIXES)


class _Scanner:
    def __init__(self, root: str) -> None:
        self.found = Scan()
        self._root = root
        self._folders: dict[str, _Folder] = {}
        self._skipped_directories: set[str] = set()

    # With git

    def take(self, listing: Listing) -> None:
        """Look at every path that git has listed."""
        self._folders[""] = self._with_own_rules(_OPEN, "")
        for path in listing.tracked:
            self._take_listed(path, tracked=True)
        for path in listing.untracked:
            self._take_listed(path, tracked=False)
        for path in listing.other_repositories:
            self._skip_directory(path, Reason.OTHER_REPOSITORY)
        for path in listing.missing_submodules:
            self._skip_directory(path, Reason.SUBMODULE_MISSING)

    def _take_listed(self, path: str, *, tracked: bool) -> None:
        directory = path.rpartition("/")[0]
        if not is_candidate(path):
            self.found.unknown += 1
            return
        folder = self._folders.get(directory) or self._enter(directory)
        if not folder.is_open:
            return
        if folder.built_above and not tracked:
            self._skip_directory(folder.built_above, Reason.SKIPPED_DIRECTORY)
            return
        if folder.own_rules and verdict(folder.own_rules, path):
            return
        self.take_file(path)

    def _enter(self, directory: str) -> _Folder:
        """The folder of a path that git has listed; its parents are entered first."""
        parent, _, name = directory.rpartition("/")
        above = self._folders.get(parent) or self._enter(parent)
        folder = self._folders[directory] = (
            self._folder_listed(above, parent, name) if above.is_open else _CLOSED
        )
        return folder

    def _folder_listed(self, above: _Folder, parent: str, name: str) -> _Folder:
        folder = self._folder_in(above, parent, name)
        if not folder.is_open:
            return _CLOSED
        path = f"{parent}/{name}" if parent else name
        try:
            mode = os.lstat(f"{self._root}/{path}").st_mode
        except OSError:
            return _CLOSED  # gone since it was listed
        if stat.S_ISLNK(mode):
            self._skip_directory(path, self._reason_of_link(path))
            return _CLOSED
        return self._with_own_rules(folder, f"{path}/")

    # Without git

    def walk(self) -> None:
        """Look at every file below the root."""
        excluded = with_ignore_file((), f"{self._root}/.git/info/exclude", "")
        pending = [("", _OPEN._replace(git_rules=excluded))]
        keep_repositories_apart = in_repository(self._root)
        while pending:
            directory, folder = pending.pop()
            entries = self._entries(directory)
            if (
                directory
                and keep_repositories_apart
                and self._is_other_repository(directory, entries)
            ):
                continue
            prefix = f"{directory}/" if directory else ""
            if OWN_IGNORE_FILE in entries:
                folder = self._with_own_rules(folder, prefix)
            if GIT_IGNORE_FILE in entries:
                path = f"{self._root}/{prefix}{GIT_IGNORE_FILE}"
                folder = folder._replace(git_rules=with_ignore_file(folder.git_rules, path, prefix))
            for name, entry in entries.items():
                if entry.is_dir(follow_symlinks=False):
                    inner = self._folder_in(folder, directory, name)
                    if inner.is_open and not self._is_built(inner):
                        pending.append((prefix + name, inner))
                else:
                    self._take_walked(folder, prefix + name)

    def _entries(self, directory: str) -> dict[str, os.DirEntry[str]]:
        try:
            with os.scandir(f"{self._root}/{directory}") as entries:
                return {entry.name: entry for entry in entries}
        except OSError as error:
            if not directory:
                raise TerselyError(
                    "unreadable_file", f"{self._root} cannot be listed: {error.strerror}"
                ) from error
            self._take_unreadable(directory, error)
            return {}

    def _take_walked(self, folder: _Folder, path: str) -> None:
        if not is_candidate(path):
            self.found.unknown += 1
            return
        if (folder.own_rules and verdict(folder.own_rules, path)) or (
            folder.git_rules and verdict(folder.git_rules, path)
        ):
            return
        self.take_file(path)

    def _is_built(self, folder: _Folder) -> bool:
        if folder.built_above:
            self._skip_directory(folder.built_above, Reason.SKIPPED_DIRECTORY)
        return bool(folder.built_above)

    def _is_other_repository(self, directory: str, entries: dict[str, os.DirEntry[str]]) -> bool:
        """True if a directory is a clone or a worktree of its own; a submodule's `.git` points into
        ours.
        """
        mark = entries.get(".git")
        if mark is None:
            return False
        try:
            pointer = read_file(mark.path)
        except OSError:
            pointer = b""
        if b"/modules/" in pointer:
            return False
        self._skip_directory(directory, Reason.OTHER_REPOSITORY)
        return True

    # Both

    def _folder_in(self, above: _Folder, parent: str, name: str) -> _Folder:
        """The rules for the directory `name` in `parent`, by those above it."""
        path = f"{parent}/{name}" if parent else name
        own_word = verdict(above.own_rules, f"{path}/") if above.own_rules else None
        if own_word or (above.git_rules and verdict(above.git_rules, f"{path}/")):
            return _CLOSED
        if own_word is False:  # named in a negation
            return above
        if is_skipped_name(self._root, path, name):
            if not name.startswith((".", "__")):  # nobody looks for source in those
                self._skip_directory(path, Reason.SKIPPED_DIRECTORY)
            return _CLOSED
        if not above.built_above and looks_built(self._root, parent, name):
            return above._replace(built_above=path)
        return above

    def _with_own_rules(self, folder: _Folder, prefix: str) -> _Folder:
        path = f"{self._root}/{prefix}{OWN_IGNORE_FILE}"
        return folder._replace(own_rules=with_ignore_file(folder.own_rules, path, prefix))

    def take_file(self, path: str) -> None:
        """Look at one entry that no rule excludes."""
        try:
            status = os.lstat(f"{self._root}/{path}")
        except OSError as error:
            self._take_unreadable(path, error)
            return
        mode, is_read = status.st_mode, language_of_path(path) is not None
        known = is_read or bool(family_in(path))
        if stat.S_ISLNK(mode):
            self._skip(path, self._reason_of_link(path))
        elif not known and not (stat.S_ISREG(mode) and mode & 0o111):
            self.found.unknown += 1
        elif not stat.S_ISREG(mode):
            if not stat.S_ISDIR(mode):  # a directory took the place of a tracked file
                self._skip(path, Reason.NOT_A_FILE)
        elif known and not is_read:
            self._skip(path, Reason.KIND_NOT_READ)
        elif status.st_size > MAX_FILE_BYTES:
            self._skip(path, Reason.TOO_LARGE)
        elif path == name_in_text(path):
            self.found.files.append(
                ScannedFile(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            )
        else:
            self._skip(path, Reason.NAME_NOT_UTF8)

    def _take_unreadable(self, path: str, error: OSError) -> None:
        if error.errno not in {errno.ENOENT, errno.ENOTDIR}:  # gone since it was listed
            self._skip(path, Reason.UNREADABLE)

    def _reason_of_link(self, path: str) -> Reason:
        try:
            target = os.path.realpath(f"{self._root}/{path}", strict=True)
        except OSError as error:
            return Reason.SYMLINK_LOOP if error.errno == errno.ELOOP else Reason.SYMLINK_BROKEN
        if not f"{target}/".startswith(f"{self._root}/"):
            return Reason.SYMLINK_OUTSIDE
        return (
            Reason.SYMLINK_LOOP
            if f"{self._root}/{path}".startswith(f"{target}/")
            else Reason.SYMLINK
        )

    def _skip_directory(self, path: str, reason: Reason) -> None:
        if path not in self._skipped_directories:
            self._skipped_directories.add(path)
            self._skip(path, reason)

    def _skip(self, path: str, reason: Reason) -> None:
        self.found.skipped.append(Skipped(name_in_text(path), reason))
