"""The place of the daemon of a repository: one socket, lock and log for each root, in a directory
of the user's own.

Imported by every command, so it needs `os` and hashing alone.
"""

from __future__ import annotations

import os
from _blake2 import blake2b  # what `hashlib` wraps, which loads all of OpenSSL

from tersely.foundation.storage.private import is_private, temporary_directory
from tersely.foundation.system import IS_WINDOWS, temporary_places

TYPE_CHECKING = False  # `typing` has one too, but it would have to be imported
if TYPE_CHECKING:
    from collections.abc import Mapping

SOCKET_PATH_BYTES = 103  # the shortest bound in use: macOS's, without the final zero
_NAME_BYTES = 8
_SUFFIXES = ("sock", "lock", "start", "turn", "log")


class Place:
    """The paths that belong to the daemon of one root; nothing needs to be there."""

    __slots__ = ("directory", "lock", "log", "name", "socket", "start_lock", "turn")

    def __init__(self, directory: str, name: str) -> None:
        self.directory = directory
        self.name = name
        path = f"{directory}/{name}"
        self.socket = f"{path}.sock"  # at which it listens
        self.lock = f"{path}.lock"  # held as long as it lives; says who it is
        self.start_lock = f"{path}.start"  # held from before it takes the lock until it listens
        self.turn = f"{path}.turn"  # held by a client while it has a daemon started
        self.log = f"{path}.log"

    @classmethod
    def of(cls, root: str, environment: Mapping[str, str] | None = None) -> Place:
        """The place for a resolved root."""
        name = blake2b(os.fsencode(root), digest_size=_NAME_BYTES).hexdigest()
        return cls(runtime_directory(os.environ if environment is None else environment), name)


def runtime_directory(environment: Mapping[str, str]) -> str:
    """`$XDG_RUNTIME_DIR/tersely`, or a directory named after the user where temporary files go.

    One that is there and not this user's alone is passed over where another can be; whoever makes
    it refuses it.
    """
    candidates = [temporary_directory(base) for base in temporary_places(environment)]
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/") and is_private(runtime):
        candidates.insert(0, f"{runtime}/tersely")
    longest = 2 * _NAME_BYTES + 1 + max(map(len, _SUFFIXES))
    fitting = [
        path
        for path in candidates
        if IS_WINDOWS or len(os.fsencode(path)) + 1 + longest <= SOCKET_PATH_BYTES
    ]
    for path in fitting:
        if is_private(path) or not os.path.lexists(path):
            return path
    return fitting[0]
