"""The paths that tools may use: below the root, through no link that was not looked at, and to
nothing but the user's files.

A path is resolved once. The file is then opened directory by directory from the root, following no
link, so that a link which is put in place of a directory in the meantime is an error and leads
nowhere.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_EDITED_BYTES, MAX_SNAPSHOT_FILE_BYTES
from tersely.foundation.storage.private import READING
from tersely.foundation.types import Strings

MAX_PATH_CHARACTERS = 1_000  # of a file that is read or written
# what git runs and believes, and what Tersely has derived
NOT_OURS = frozenset({".git", ".tersely"})
OPENED_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class FoundFile(NamedTuple):
    """The bytes of a file, and its permissions."""

    data: bytes
    mode: int


class FileState(NamedTuple):
    """The state of a path: a file and its bytes, or a link and where it leads. `mode` is as
    `stat(2)` has it.
    """

    mode: int
    data: bytes

    @property
    def is_link(self) -> bool:
        """True if it is a symbolic link."""
        return stat.S_ISLNK(self.mode)


def resolved(root: Path, path: str) -> str:
    """The real path from the root, POSIX, of a path that a model wrote; raises `path_not_found` or
    `denied`.

    Where nothing is yet, it is the path that a new file would have.
    """
    _check_written(path)
    word = path.strip()
    is_of_home = word.startswith("~") and not os.path.lexists(root / word.partition("/")[0])
    real, start = os.path.realpath(root / word), f"{str(root).rstrip('/')}/"
    if is_of_home or not f"{real}/".startswith(start):
        raise TerselyError(
            "denied", f"{path} leads out of the repository", "name a path below its root"
        )
    inside = real[len(start) :]
    if not inside:
        return "."
    if any(part.lower() in NOT_OURS for part in inside.split("/")):
        raise TerselyError(
            "denied", f"{path} belongs to {'git' if '.git' in inside.lower() else 'the index'}"
        )
    try:
        inside.encode()
    except UnicodeEncodeError:
        raise TerselyError("path_not_found", f"{path!r} is not UTF-8") from None
    return inside


def _check_written(path: str) -> None:
    """Raise `path_not_found` for what no path is written as."""
    if not path.strip() or "\0" in path or "\n" in path:
        raise TerselyError(
            "path_not_found", "the path is empty or no path", "name a file from the root"
        )
    if len(path) > MAX_PATH_CHARACTERS:
        raise TerselyError(
            "path_not_found", f"the path has more than {MAX_PATH_CHARACTERS:,} characters"
        )


@contextmanager
def opened_parent(
    root: Path, inside: str, *, make: bool = False
) -> Iterator[tuple[int, str, Strings]]:
    """A descriptor of the folder of a resolved path, the file's name, and the folders that had to
    be made.
    """
    *folders, name = inside.split("/")
    try:
        descriptor = os.open(root, OPENED_FOLDER)
    except OSError as error:  # a command may have moved the root itself
        raise _refused(inside, error) from error
    made: list[str] = []
    try:
        for depth, folder in enumerate(folders):
            if make:
                try:
                    os.mkdir(folder, dir_fd=descriptor)
                    made.insert(0, "/".join(folders[: depth + 1]))
                except FileExistsError:
                    pass
            inner = os.open(folder, OPENED_FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor, name, tuple(made)
    except OSError as error:
        raise _refused(inside, error) from error
    finally:
        os.close(descriptor)


def read(root: Path, inside: str, most_bytes: int = MAX_EDITED_BYTES) -> FoundFile:
    """A regular file of bounded size; raises `path_not_found` or `unreadable_file`."""
    with opened_parent(root, inside) as (folder, name, _):
        return read_in(folder, name, inside, most_bytes)


def read_in(folder: int, name: str, inside: str, most_bytes: int = MAX_EDITED_BYTES) -> FoundFile:
    """The same, in a folder that is open."""
    descriptor = os.open(name, READING, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if stat.S_ISDIR(status.st_mode):
            raise TerselyError("unreadable_file", f"{inside} is a folder", f"list {inside}")
        if not stat.S_ISREG(status.st_mode):
            raise TerselyError("unreadable_file", f"{inside} is no regular file")
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise TerselyError(
            "unreadable_file", f"{inside} is larger than {most_bytes:,} bytes", "use search"
        )
    return FoundFile(data, stat.S_IMODE(status.st_mode))


def state(root: Path, inside: str) -> FileState | None:
    """The state of a path, None if nothing is there; raises `unreadable_file` for a folder or pipe."""
    try:
        with opened_parent(root, inside) as (folder, name, _):
            return state_in(folder, name, inside)
    except TerselyError as error:
        if error.code in {"path_not_found", "denied"}:
            # a part of the path is gone, or no folder any more
            return None
        raise


def state_in(folder: int, name: str, inside: str) -> FileState:
    """The same, in a folder that is open; raises `FileNotFoundError` where nothing is."""
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        return FileState(mode, os.fsencode(os.readlink(name, dir_fd=folder)))
    found = read_in(folder, name, inside, MAX_SNAPSHOT_FILE_BYTES)
    return FileState(stat.S_IFREG | found.mode, found.data)


def alike(root: Path, inside: str) -> str:
    """The path that is there and differs from a resolved one by case alone, "" if none does."""
    around = ""
    for name in inside.split("/"):
        try:
            names = os.listdir(root / around)
        except OSError:
            return ""
        if name not in names:
            found = next((one for one in sorted(names) if one.casefold() == name.casefold()), "")
            return f"{around}/{found}".removeprefix("/") if found else ""
        around = f"{around}/{name}".removeprefix("/")
    return ""


def exists(root: Path, inside: str) -> bool:
    """True if anything is at a resolved path."""
    return os.path.lexists(root / inside)


def _refused(inside: str, error: OSError) -> TerselyError:
    if isinstance(error, FileNotFoundError):
        return TerselyError(
            "path_not_found", f"there is no file {inside}", "list or search shows what there is"
        )
    if error.errno in {errno.ELOOP, errno.ENOTDIR}:
        return TerselyError("denied", f"{inside}: a part of the path is a link or no folder")
    if error.errno in {errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EACCES, errno.EPERM}:
        return TerselyError("unwritable_output", f"{inside}: {error.strerror}")
    return TerselyError("unreadable_file", f"{inside}: {error.strerror}")
