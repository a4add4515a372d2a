"""Putting a file in place in one step: readers see the old file or the new one, and so after a
crash.

A file is written where Tersely keeps what it derives, which no listing shows, and moved from there.
What a program that was killed has left there is removed by a later one. Where there is no such
place, or it is on another file system, the file is written beside the old one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tersely.agent.tools.files.places import OPENED_FOLDER, FileState, opened_parent, state_in
from tersely.foundation.clock import wall_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.roots import INDEX_DIRECTORY
from tersely.foundation.types import Strings

DRAFT_SECONDS = 3_600.0  # after which a file that was never put in place is nobody's
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DRAFTS = "drafts"


class _FileDraft(NamedTuple):
    """The file that is to be put in place, and the open folder that it is in until then."""

    folder: int
    name: str


def replace(root: Path, inside: str, expected: bytes, data: bytes, mode: int) -> None:
    """Put `data` in place of a file that holds `expected`; raises `version_conflict` if it holds
    anything else.
    """
    with (
        opened_parent(root, inside) as (folder, name, _),
        _drafted(root, folder, name, FileState(mode, data)) as draft,
    ):
        now = state_in(folder, name, inside)
        if now.is_link or now.data != expected:
            raise TerselyError(
                "version_conflict", f"{inside} was changed by somebody else", "read it again"
            )
        _keep_owner(folder, name, draft)
        _move(draft, folder, name)


def create(root: Path, inside: str, data: bytes, mode: int) -> None:
    """Make a file where nothing is, with the folders that it needs; raises `name_taken`."""
    put(root, inside, None, FileState(mode, data))


def put(root: Path, inside: str, expected: FileState | None, wanted: FileState) -> None:
    """Put a file or link in place of what is expected there; raises `name_taken` or
    `version_conflict`.
    """
    made = opened_parent(root, inside, make=True)
    with made as (folder, name, _), _drafted(root, folder, name, wanted) as draft:
        if expected is None:
            try:
                os.link(
                    draft.name,
                    name,
                    src_dir_fd=draft.folder,
                    dst_dir_fd=folder,
                    follow_symlinks=False,
                )
            except FileExistsError:
                raise TerselyError("name_taken", f"{inside} exists already") from None
            os.fsync(folder)
            return
        if state_in(folder, name, inside) != expected:
            raise TerselyError("version_conflict", f"{inside} was changed by somebody else")
        _keep_owner(folder, name, draft)
        _move(draft, folder, name)


def remove(root: Path, inside: str, expected: FileState, folders: Strings) -> None:
    """Remove what is expected at a path, and folders of a path's own that are then empty."""
    with opened_parent(root, inside) as (folder, name, _):
        if state_in(folder, name, inside) != expected:
            raise TerselyError("version_conflict", f"{inside} was changed by somebody else")
        os.unlink(name, dir_fd=folder)
        os.fsync(folder)
    for made in folders:
        with suppress(OSError, TerselyError), opened_parent(root, made) as (folder, name, _):
            os.rmdir(name, dir_fd=folder)


def missing_folders(root: Path, inside: str) -> Strings:
    """The folders of a path that are still to be made, the innermost first."""
    folders = inside.split("/")[:-1]
    paths = ["/".join(folders[: depth + 1]) for depth in range(len(folders))]
    return tuple(path for path in reversed(paths) if not os.path.lexists(root / path))


def clear_drafts(root: Path) -> None:
    """Remove what programs have left that were killed; what is young may be somebody's who is at
    work.
    """
    drafts = _drafts_of(root)
    if drafts is None:
        return
    try:
        for name in os.listdir(drafts):
            with suppress(OSError):
                if (
                    wall_seconds() - os.stat(name, dir_fd=drafts, follow_symlinks=False).st_mtime
                    > DRAFT_SECONDS
                ):
                    os.unlink(name, dir_fd=drafts)
    finally:
        os.close(drafts)


@contextmanager
def _drafted(root: Path, folder: int, name: str, wanted: FileState) -> Iterator[_FileDraft]:
    """A draft on the same file system as a folder; it is gone afterwards, in place or not."""
    drafts = _drafts_of(root)
    if drafts is not None and os.fstat(drafts).st_dev != os.fstat(folder).st_dev:
        os.close(drafts)
        drafts = None
    home = folder if drafts is None else drafts
    draft = _FileDraft(
        home, f".{name[:100]}.{os.urandom(6).hex()}" if drafts is None else os.urandom(8).hex()
    )
    try:
        _write(draft, wanted)
        yield draft
    finally:
        with suppress(FileNotFoundError):
            os.unlink(draft.name, dir_fd=draft.folder)
        if drafts is not None:
            os.close(drafts)


def _drafts_of(root: Path) -> int | None:
    """The open folder of drafts, made if Tersely keeps anything here."""
    try:
        home = os.open(root / INDEX_DIRECTORY, OPENED_FOLDER)
    except OSError:
        return None
    try:
        with suppress(FileExistsError):
            os.mkdir(_DRAFTS, 0o700, dir_fd=home)
        return os.open(_DRAFTS, OPENED_FOLDER, dir_fd=home)
    except OSError:
        return None
    finally:
        os.close(home)


def _write(draft: _FileDraft, wanted: FileState) -> None:
    if wanted.is_link:
        os.symlink(os.fsdecode(wanted.data), draft.name, dir_fd=draft.folder)
        return
    descriptor = os.open(draft.name, _NEW, 0o600, dir_fd=draft.folder)
    with os.fdopen(descriptor, "wb") as file:
        file.write(wanted.data)
        file.flush()
        os.fchmod(file.fileno(), stat.S_IMODE(wanted.mode))
        os.fsync(file.fileno())


def _move(draft: _FileDraft, folder: int, name: str) -> None:
    os.rename(draft.name, name, src_dir_fd=draft.folder, dst_dir_fd=folder)
    os.fsync(folder)


def _keep_owner(folder: int, name: str, draft: _FileDraft) -> None:
    """The new file belongs to whom the old one belongs to, as far as we may say so."""
    was = os.stat(name, dir_fd=folder, follow_symlinks=False)
    now = os.stat(draft.name, dir_fd=draft.folder, follow_symlinks=False)
    if (was.st_uid, was.st_gid) != (now.st_uid, now.st_gid):
        with suppress(OSError):
            os.chown(draft.name, was.st_uid, was.st_gid, dir_fd=draft.folder, follow_symlinks=False)
            if not stat.S_ISLNK(now.st_mode):
                os.chmod(draft.name, stat.S_IMODE(now.st_mode), dir_fd=draft.folder)
