"""The things that are this user's alone: directories that nobody else may write to, a key, and a
place for the index.

What lies in a repository may have come with it. An index is therefore kept in a directory whose
name nobody can know who does not know the user's key: what a repository ships, in an archive or by
the next `git pull`, is never there. Imported by every command through `daemon.place`, so it needs
`os` and hashing alone.
"""

from __future__ import annotations

import errno
import os
import stat
from _blake2 import blake2b  # what `hashlib` wraps, which loads all of OpenSSL

from tersely.foundation.storage.roots import INDEX_DIRECTORY, KEY_FILE, MARK
from tersely.foundation.system import (
    NO_LINK,
    NO_WAITING,
    UNCHANGED,
    is_for_user_alone,
    temporary_places,
    user_number,
    user_state,
)

TYPE_CHECKING = False  # `typing` has one too, but it would have to be imported
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tersely.foundation.types import Environment

# How a file is opened that may have been put there: no link is followed, and no pipe waited for.
READING = os.O_RDONLY | NO_LINK | NO_WAITING | UNCHANGED
MAKING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | UNCHANGED  # likewise, where there must be none
FOLLOWING = READING & ~NO_LINK  # likewise, of what may be a link
GROWTH_BYTES = 16_384  # that a file may have grown by while it is read, without another step
KEY_BYTES = 32
NAME_BYTES = 8  # of whose an index is, and of which root: too many to be guessed
SECOND_INDEXES = "indexes"  # beside the key: of repositories that hold those of others
SHARED = "shared"  # beside the key: what the indexes of this user have in common
ANSWERS = "answers"  # beside the key: those that were given before


class IndexPlaces:
    """The two directories in which a user may keep the index of a root, that of what indexes share,
    and that of answers; nothing needs to be there.
    """

    __slots__ = ("answers", "elsewhere", "in_repository", "reader", "shared")

    def __init__(self, root: str, key: bytes, beside_key: str) -> None:
        # what the names of all indexes of whoever has the key begin with
        self.reader = _keyed_name("", key, b"tersely reader")
        name = f"{self.reader}-{_keyed_name(root, key, b'tersely index')}"
        self.in_repository = f"{root.rstrip('/')}/{INDEX_DIRECTORY}/{name}"
        self.elsewhere = f"{beside_key}/{SECOND_INDEXES}/{name}"
        self.shared = f"{beside_key}/{SHARED}"
        self.answers = f"{beside_key}/{ANSWERS}"


def index_places(root: str, environment: Environment | None = None) -> IndexPlaces:
    """The places of this user's index of a resolved root; `OSError` where no key can be kept.

    The name is a keyed hash of the root: who learns the one of one repository does not know that of
    another.
    """
    directory, key = _kept_key(os.environ if environment is None else environment)
    return IndexPlaces(root, key, directory)


def state_directory(environment: Environment) -> str:
    """`$TERSELY_HOME`, else where the user's programs keep their state; "" where the user has no
    home.
    """
    own = environment.get("TERSELY_HOME", "")
    if own:
        return own
    state = user_state(environment)
    return f"{state}/tersely" if state else ""


def temporary_directory(base: str) -> str:
    """A directory of this user's own below one that all users share."""
    return f"{base}/tersely-{user_number()}"


def make_state(directory: str) -> None:
    """Make a directory for what a user's programs keep; `OSError` where that cannot be. One that
    holds something else already, as a repository does, is not told to ignore itself.
    """
    os.makedirs(directory, 0o700, exist_ok=True)
    if not os.listdir(directory):
        ignore_itself(directory, 0o600)


def read_bounded(
    path: str | Path, most_bytes: int, flags: int = FOLLOWING, folder: int | None = None
) -> bytes:
    """The content of a regular file of at most so many bytes; `OSError` for anything else. A pipe
    would keep us waiting, and a device has no end. With the descriptor of a `folder` the path is
    one from there.
    """
    descriptor = os.open(path, flags, dir_fd=folder)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        content = b""
        while len(content) <= most_bytes >= status.st_size:
            part = os.read(descriptor, status.st_size + GROWTH_BYTES)
            if not part:
                return content
            content += part
    finally:
        os.close(descriptor)
    raise OSError(errno.EFBIG, f"larger than {most_bytes:,} bytes", path)


def ignore_itself(directory: str, mode: int = 0o644) -> None:
    """Have git pass over a directory of ours, which may lie in a repository, where that can be
    written; a file of its owner that says otherwise stays.
    """
    path = f"{directory}/{MARK}"
    try:
        descriptor = os.open(path, MAKING, mode)
    except OSError:
        return
    try:
        os.write(descriptor, b"*\n")
    except OSError:
        os.unlink(path)
    finally:
        os.close(descriptor)


def make_private(directory: str) -> None:
    """Make the directory; `OSError` if somebody else may write to it."""
    try:  # noqa: SIM105 - `contextlib` is not loaded by every command
        os.mkdir(directory, 0o700)
    except FileExistsError:
        pass
    if not is_private(directory):
        raise PermissionError(f"{directory} is not a directory of this user alone")


def make_room(directory: str, new: str, most_bytes: int) -> None:
    """Delete the files that were not used for longest, until the rest is no larger than it may be."""
    files = [(entry.stat(), entry) for entry in os.scandir(directory)]
    for status, entry in sorted(files, key=lambda file: -file[0].st_mtime_ns):
        most_bytes -= status.st_size
        if most_bytes < 0 and entry.name != new:
            os.unlink(entry)


def is_private(directory: str) -> bool:
    """True if it is a directory that this user alone may look into."""
    try:
        status = os.lstat(directory)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and is_for_user_alone(status)


def _kept_key(environment: Environment) -> tuple[str, bytes]:
    """A secret that this user has on this machine, made when it is first asked for, behind the
    directory that it lies in; `OSError` where none can be kept.

    That is `$TERSELY_HOME`, else where the user's programs keep their state, else where temporary
    files go.
    """
    failure = OSError("there is no place for a key")
    for directory, is_shared in _places(environment):
        try:
            if is_shared:
                make_private(directory)
            return directory, _key_in(directory)
        except OSError as error:
            failure = error
    raise failure


def _keyed_name(text: str, key: bytes, purpose: bytes) -> str:
    return blake2b(os.fsencode(text), key=key, digest_size=NAME_BYTES, person=purpose).hexdigest()


def _places(environment: Environment) -> Iterator[tuple[str, bool]]:
    """Directories for the key, the best first, and whether others may make one of that name too."""
    state = state_directory(environment)
    if state:
        yield state, False
    for base in temporary_places(environment):
        yield temporary_directory(base), True


def _key_in(directory: str) -> bytes:
    path = f"{directory}/{KEY_FILE}"
    try:
        return _read_key(path)
    except FileNotFoundError:
        make_state(directory)
    except ValueError:
        os.unlink(path)  # cut off, or others could read it: what it named is built anew
    _write_key(path)
    return _read_key(path)


def _read_key(path: str) -> bytes:
    """`ValueError` for a file that is not as `_write_key` makes it."""
    descriptor = os.open(path, READING)
    try:
        status = os.fstat(descriptor)
        key = (
            os.read(descriptor, KEY_BYTES + 1)
            if stat.S_ISREG(status.st_mode) and is_for_user_alone(status)
            else b""
        )
    finally:
        os.close(descriptor)
    if len(key) != KEY_BYTES:
        raise ValueError(path)
    return key


def _write_key(path: str) -> None:
    """Write a new key in one step. Of several processes that do so at once, all read what the first
    one wrote.
    """
    draft = f"{path}.{os.urandom(4).hex()}"
    descriptor = os.open(draft, MAKING, 0o600)
    try:
        os.write(descriptor, os.urandom(KEY_BYTES))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(draft)
