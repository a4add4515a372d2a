"""Where the socket of a home's relay is."""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path

from tersely.foundation.private import temporary_directory

SOCKET = "relay.sock"
_PATH_BYTES = 100  # the least that systems take, of an address
_NAME_BYTES = 12


def socket_path(home: Path) -> Path:
    """The socket of a home directory: in it, or in this user's temporary directory where its path is too long."""
    path = home.absolute() / SOCKET
    if len(os.fsencode(path)) <= _PATH_BYTES:
        return path
    name = blake2b(os.fsencode(path), digest_size=_NAME_BYTES).hexdigest()
    return Path(temporary_directory("/tmp")) / f"relay-{name}.sock"  # noqa: S108 - a directory of this user alone
