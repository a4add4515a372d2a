"""The files of a repository at a moment, so that what a command changes can be taken back.

Git keeps them, in a repository of ours outside of theirs: its own index, so that files which have
not changed are not read again, and its own objects, with those of the user's repository behind
them, so that what is committed is not written again. No filter and no conversion of line endings
applies: the bytes are those of the files. Files that git ignores are not looked at, nor those of
repositories inside; what is too large is left out, and named where it changes.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tersely.agent.tools.files.places import NOT_OURS, FileState
from tersely.foundation.git.listing import GitListing, in_repository
from tersely.foundation.git.runner import (
    GitUnavailableError,
    blob_sizes,
    environment,
    objects_in,
    run,
)
from tersely.foundation.limits import MAX_SNAPSHOT_FILE_BYTES
from tersely.foundation.types import Strings

MAX_SNAPSHOT_FILES = 50_000  # of a repository in which what commands change can be undone
MAX_SNAPSHOT_BYTES = 200_000_000  # of all files that git does not have
# of what a session keeps for that while it goes on; then it begins anew
MAX_SNAPSHOT_STORE_BYTES = 500_000_000
_AS_THEY_ARE = "* -text -eol -filter -ident -working-tree-encoding\n"
_SETTINGS = """[core]
bare = false
protectNTFS = false
protectHFS = false
fileMode = true
symlinks = true
ignoreCase = false
compression = 1
"""
_ALONE = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
_USUAL_MODES = (0o644, 0o755)
_BATCH_FILES = 100  # whose bytes are in memory at a time,
_BATCH_BYTES = 32_000_000  # and no more than these, or a single file


class Stamp(NamedTuple):
    """By which it is seen that a file which is not kept has changed."""

    size_bytes: int
    modified_ns: int


class Snapshot(NamedTuple):
    """The files of a repository: a tree of git, permissions that git does not keep, files that are
    too large for it.

    `head` is the commit that was checked out, "" without one.
    """

    tree: str
    modes: Mapping[str, int]
    skipped: Mapping[str, Stamp]
    head: str


class Changed(NamedTuple):
    """One path that differs between two snapshots; `folders` are those around it that held nothing
    before.
    """

    path: str
    before: FileState | None
    after: FileState | None
    folders: Strings


def take(root: Path, store: Path) -> Snapshot:
    """The files as they are now, kept in `store`. Raises `OSError`, and `GitUnavailableError` where
    it cannot be.
    """
    _begin(root, store)
    found, gone, skipped = _looked_at(root, *_paths_of_repository(root, store))
    if gone:
        _git(root, store, ["update-index", "-z", "--force-remove", "--stdin"], "\0".join(gone))
    _git(
        root,
        store,
        ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"],
        "\0".join(found),
    )
    tree = _git(root, store, ["write-tree"]).decode().strip()
    return Snapshot(
        tree, {path: mode for path, mode in found.items() if mode}, skipped, _head(root)
    )


def shed(store: Path) -> None:
    """Begin anew where a store has become large with what files once were; to be called where no
    snapshot is needed.
    """
    size = 0
    with suppress(OSError):
        for folder in os.scandir(store / "objects"):
            size += sum(entry.stat(follow_symlinks=False).st_size for entry in os.scandir(folder))
    if size > MAX_SNAPSHOT_STORE_BYTES:
        shutil.rmtree(store, ignore_errors=True)


def changes(root: Path, store: Path, before: Snapshot, after: Snapshot) -> Iterator[Changed]:
    """Every path that differs, with what was there before and after; `after` is the last snapshot
    that was taken.
    """
    entries = _entries(root, store, before, after)
    is_new = any(entry.before_mode == 0 for entry in entries)
    held = (
        _lines(_git(root, store, ["ls-tree", "-r", "-d", "-z", "--name-only", before.tree]))
        if is_new
        else ()
    )
    folders = frozenset(held)
    for some in _batches(root, store, entries):
        contents = _contents(root, store, _ids(some))
        for entry in some:
            was = _state(
                entry.before_mode, before.modes.get(entry.path, 0), contents, entry.before_id
            )
            now = _state(entry.after_mode, after.modes.get(entry.path, 0), contents, entry.after_id)
            yield Changed(
                entry.path,
                was,
                now,
                tuple(one for one in _around(entry.path) if one not in folders),
            )


def skipped_changes(before: Snapshot, after: Snapshot) -> list[str]:
    """The files that are not the same and that no snapshot keeps."""
    return sorted(
        path for path, stamp in before.skipped.items() if after.skipped.get(path) != stamp
    )


# A store


def _begin(root: Path, store: Path) -> None:
    if (store / "info/attributes").exists():
        return
    shutil.rmtree(store, ignore_errors=True)
    store.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    kind, objects = "sha1", ""
    if in_repository(str(root)):
        where = run(str(root), ["rev-parse", "--show-object-format", "--git-path", "objects"])
        kind, objects = os.fsdecode(where).splitlines()[:2]
    _git(root, store, ["init", "-q", "--template=", f"--object-format={kind}"])
    with (store / "config").open("a", encoding="utf-8") as file:
        file.write(_SETTINGS)
    for folder in ("objects/info", "info"):
        (store / folder).mkdir(parents=True, exist_ok=True)
    if objects:
        (store / "objects/info/alternates").write_bytes(
            os.fsencode(os.path.realpath(root / objects)) + b"\n"
        )
    (store / "info/attributes").write_text(_AS_THEY_ARE, "utf-8")


def _git(root: Path, store: Path, words: Sequence[str], given: str = "") -> bytes:
    own = {"GIT_DIR": str(store), "GIT_WORK_TREE": str(root)}
    return run(str(root), words, environment(str(root)) | _ALONE | own, os.fsencode(given))


def _lines(output: bytes) -> list[str]:
    return [line for line in os.fsdecode(output).split("\0") if line]


def _head(root: Path) -> str:
    if not in_repository(str(root)):
        return ""
    try:
        return run(str(root), ["rev-parse", "--quiet", "--verify", "HEAD"]).decode().strip()
    except GitUnavailableError:  # before the first commit
        return ""


# What there is


def _paths_of_repository(root: Path, store: Path) -> tuple[list[str], frozenset[str]]:
    """The paths that belong to the repository now, or did at the last snapshot; and those that git
    has no copy of.
    """
    if in_repository(str(root)):
        with GitListing(str(root)) as listing:
            found = listing.result()
        paths, own = [*found.tracked, *found.untracked], found.untracked
    else:
        paths = own = _lines(
            _git(root, store, ["ls-files", "-z", "--others", "--exclude-standard"])
        )
    every = dict.fromkeys([*paths, *_lines(_git(root, store, ["ls-files", "-z"]))])
    if len(every) > MAX_SNAPSHOT_FILES:
        raise GitUnavailableError(f"there are more than {MAX_SNAPSHOT_FILES:,} files")
    return list(every), frozenset(own)


def _looked_at(
    root: Path, paths: Iterable[str], own: frozenset[str]
) -> tuple[dict[str, int], list[str], dict[str, Stamp]]:
    """The paths sorted: files, with their permissions or 0 for the usual ones; no files; files that
    are too large.
    """
    found: dict[str, int] = {}
    gone: list[str] = []
    skipped: dict[str, Stamp] = {}
    left, is_plain = MAX_SNAPSHOT_BYTES, _plain_folders(root)
    for path in paths:
        status = (
            _status(root, path) if is_plain(path.rpartition("/")[0]) and _is_usable(path) else None
        )
        most = min(left, MAX_SNAPSHOT_FILE_BYTES) if path in own else MAX_SNAPSHOT_FILE_BYTES
        if status is None:
            gone.append(path)
        elif status.st_size > most:
            gone.append(path)
            skipped[path] = Stamp(status.st_size, status.st_mtime_ns)
        else:
            left -= status.st_size if path in own else 0
            mode = stat.S_IMODE(status.st_mode)
            found[path] = 0 if stat.S_ISLNK(status.st_mode) or mode in _USUAL_MODES else mode
    return found, gone, skipped


def _status(root: Path, path: str) -> os.stat_result | None:
    """Of a regular file that can be read, or a link."""
    try:
        status = os.lstat(f"{root}/{path}")
    except OSError:
        return None
    if stat.S_ISLNK(status.st_mode):
        return status
    return status if stat.S_ISREG(status.st_mode) and os.access(f"{root}/{path}", os.R_OK) else None


def _is_usable(path: str) -> bool:
    """True if the path can be kept: in UTF-8, and neither git's nor ours."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return NOT_OURS.isdisjoint(path.lower().split("/"))


def _plain_folders(root: Path) -> Callable[[str], bool]:
    """A function that says whether a path of the repository is a folder that no link leads to."""

    @cache
    def is_plain(folder: str) -> bool:
        if not folder:
            return True
        with suppress(OSError):
            return is_plain(folder.rpartition("/")[0]) and stat.S_ISDIR(
                os.lstat(f"{root}/{folder}").st_mode
            )
        return False

    return is_plain


# What differs


class _Entry(NamedTuple):
    """One line of a comparison; modes are git's, 0 where there is nothing."""

    path: str
    before_mode: int
    after_mode: int
    before_id: str
    after_id: str


def _entries(root: Path, store: Path, before: Snapshot, after: Snapshot) -> list[_Entry]:
    words = [
        "diff-tree",
        "-r",
        "-z",
        "--raw",
        "--no-renames",
        "--no-abbrev",
        before.tree,
        after.tree,
    ]
    raw = _lines(_git(root, store, words))
    found = {}
    for said, path in zip(raw[::2], raw[1::2], strict=True):
        was, now, was_id, now_id, _ = said.removeprefix(":").split()
        found[path] = _Entry(path, int(was, 8), int(now, 8), was_id, now_id)
    every = before.modes.keys() | after.modes.keys()
    if others := {
        path
        for path in every
        if path not in found and before.modes.get(path) != after.modes.get(path)
    }:
        for line in _lines(_git(root, store, ["ls-files", "-z", "--stage"])):
            said, _, path = line.partition("\t")
            if path in others:
                mode, own, _ = said.split()
                found[path] = _Entry(path, int(mode, 8), int(mode, 8), own, own)
    return sorted(found.values())


def _ids(entries: Iterable[_Entry]) -> list[str]:
    return list(
        dict.fromkeys(one for entry in entries for one in (entry.before_id, entry.after_id))
    )


def _batches(root: Path, store: Path, entries: Sequence[_Entry]) -> Iterator[list[_Entry]]:
    """The entries in order, cut where the next one's bytes would be too many."""
    given = "".join(f"{one}\n" for one in _ids(entries))
    size_of = blob_sizes(_git(root, store, ["cat-file", "--batch-check"], given))
    batch: list[_Entry] = []
    left = _BATCH_BYTES
    for entry in entries:
        size = size_of.get(entry.before_id, 0) + size_of.get(entry.after_id, 0)
        if batch and (size > left or len(batch) == _BATCH_FILES):
            yield batch
            batch, left = [], _BATCH_BYTES
        batch.append(entry)
        left -= size
    if batch:
        yield batch


def _contents(root: Path, store: Path, ids: Iterable[str]) -> dict[str, bytes]:
    """The bytes of objects by their ids; none for what is not there."""
    output = _git(root, store, ["cat-file", "--batch"], "".join(f"{one}\n" for one in ids))
    return {one.id: one.content if one.kind == "blob" else b"" for one in objects_in(output)}


def _state(mode: int, own_mode: int, contents: Mapping[str, bytes], id: str) -> FileState | None:
    if not mode:
        return None
    if id not in contents:  # which was the repository's own, and is pruned
        raise GitUnavailableError(f"the object {id} is gone")
    return FileState(
        mode if stat.S_ISLNK(mode) else stat.S_IFREG | (own_mode or stat.S_IMODE(mode)),
        contents[id],
    )


def _around(path: str) -> Iterator[str]:
    """The folders that a path lies in, the innermost first."""
    while path := path.rpartition("/")[0]:
        yield path
