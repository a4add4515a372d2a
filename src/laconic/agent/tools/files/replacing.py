"""Putting a file in place in one step: readers see the old file or the new one, and so after a crash."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from laconic.agent.tools.files import places
from laconic.agent.tools.files.places import opened_parent
from laconic.foundation.errors import LaconicError

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def replace(root: Path, inside: str, expected: bytes, data: bytes, mode: int) -> None:
    """Put `data` in place of a file that holds `expected`; raises `version_conflict` if it holds anything else."""
    with opened_parent(root, inside) as (folder, name, _):
        draft = _draft(folder, name, data, mode)
        try:
            if places.read_in(folder, name, inside).data != expected:
                raise LaconicError("version_conflict", f"{inside} was changed by somebody else", "read it again")
            _keep_owner(folder, name, draft)
            os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(draft, dir_fd=folder)
            raise
        os.fsync(folder)


def create(root: Path, inside: str, data: bytes, mode: int) -> None:
    """Make a file where nothing is, with the folders that it needs; raises `name_taken`."""
    with opened_parent(root, inside, make=True) as (folder, name, _):
        draft = _draft(folder, name, data, mode)
        try:
            os.link(draft, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            raise LaconicError("name_taken", f"{inside} exists already") from None
        finally:
            os.unlink(draft, dir_fd=folder)
        os.fsync(folder)


def remove(root: Path, inside: str, expected: bytes, folders: tuple[str, ...]) -> None:
    """Remove a file that holds `expected`, and folders of a path's own that are then empty."""
    with opened_parent(root, inside) as (folder, name, _):
        if places.read_in(folder, name, inside).data != expected:
            raise LaconicError("version_conflict", f"{inside} was changed by somebody else")
        os.unlink(name, dir_fd=folder)
        os.fsync(folder)
    for made in folders:
        with suppress(OSError, LaconicError), opened_parent(root, made) as (folder, name, _):
            os.rmdir(name, dir_fd=folder)


def missing_folders(root: Path, inside: str) -> tuple[str, ...]:
    """The folders of a path that are still to be made, the innermost first."""
    folders = inside.split("/")[:-1]
    paths = ["/".join(folders[: depth + 1]) for depth in range(len(folders))]
    return tuple(path for path in reversed(paths) if not os.path.lexists(root / path))


def _draft(folder: int, name: str, data: bytes, mode: int) -> str:
    draft = f".{name[:100]}.{os.urandom(6).hex()}"
    descriptor = os.open(draft, _NEW, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
    except BaseException:
        os.unlink(draft, dir_fd=folder)
        raise
    return draft


def _keep_owner(folder: int, name: str, draft: str) -> None:
    """The new file belongs to whom the old one belongs to, as far as we may say so."""
    was, now = (os.stat(one, dir_fd=folder, follow_symlinks=False) for one in (name, draft))
    if (was.st_uid, was.st_gid) != (now.st_uid, now.st_gid):
        with suppress(OSError):
            os.chown(draft, was.st_uid, was.st_gid, dir_fd=folder, follow_symlinks=False)
            os.chmod(draft, was.st_mode & 0o7777, dir_fd=folder)
