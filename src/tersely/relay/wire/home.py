"""The home directory of a user's relay, the names of what it keeps there, and its sockets."""

from __future__ import annotations

import os
import socket
import stat
from hashlib import blake2b
from pathlib import Path

from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.private import make_private, temporary_directory
from tersely.foundation.storage.roots import RELAY_LOCK, relay_home

DEFAULT_PORT = 7_474
LOCK = RELAY_LOCK
LOG = "relay.log"
PORT = "port"  # at which the relay of the home last listened
NO_PORT = "none"  # in the place of a port: TCP stays closed
SOCKET = "relay.sock"
HTTP_SOCKET = "http.sock"
SOCKET_BACKLOG = 512  # connections that wait to be accepted
_PATH_BYTES = 100  # the least that systems take, of an address
_NAME_BYTES = 12


def home_directory() -> Path:
    """`$TERSELY_HOME`, else `~/.tersely`."""
    return Path(relay_home())


def socket_path(home: Path, name: str = SOCKET) -> Path:
    """A socket of a home directory: in it, or in this user's temporary directory where its path is
    too long.
    """
    path = home.resolve() / name
    if len(os.fsencode(path)) <= _PATH_BYTES:
        return path
    hashed = blake2b(os.fsencode(path), digest_size=_NAME_BYTES).hexdigest()
    return Path(temporary_directory("/tmp")) / f"relay-{hashed}.sock"  # noqa: S108 - a directory of this user alone


def listen(home: Path, name: str = SOCKET) -> socket.socket:
    """Listen at a socket of a home whose lock this process holds, in the place of what an earlier
    process has left.

    Raises `unwritable_output` where something that is no socket is in its place, `OSError`.
    """
    path = socket_path(home, name)
    if path.parent != home.resolve():
        make_private(str(path.parent))
    if os.path.lexists(path):
        _remove_socket(path)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listening.bind(str(path))
        os.chmod(path, 0o600)
        listening.listen(SOCKET_BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def _remove_socket(path: Path) -> None:
    if not stat.S_ISSOCK(path.lstat().st_mode):
        what = "a directory" if path.is_dir() and not path.is_symlink() else "no socket"
        raise TerselyError(
            "unwritable_output", f"{path} is {what}", "move it away: the relay's socket goes there"
        )
    path.unlink()
