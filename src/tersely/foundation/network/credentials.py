"""The process that a Unix socket leads to."""

from __future__ import annotations

import socket
import struct
import sys

from tersely.foundation.system import user_number

_LINUX = struct.Struct("3i")  # process, user, group
_MAC = struct.Struct("2I")  # version, user; groups follow
_MAC_BYTES = 76
_MAC_LEVEL, _MAC_OPTION, _MAC_PROCESS = 0, 1, 2  # SOL_LOCAL, LOCAL_PEERCRED, LOCAL_PEERPID


def is_same_user(connected: socket.socket) -> bool:
    """True if the other end runs as this user; where the system does not say, the socket's
    directory has to do.
    """
    platform: str = sys.platform
    if platform == "linux":
        told = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _LINUX.size)  # type: ignore[attr-defined,unused-ignore]
        return bool(_LINUX.unpack(told)[1] == user_number())
    if platform == "darwin":
        told = connected.getsockopt(_MAC_LEVEL, _MAC_OPTION, _MAC_BYTES)
        return bool(_MAC.unpack_from(told)[1] == user_number())
    return True


def process_of(connected: socket.socket) -> int:
    """The process at the other end; 0 where the system does not say."""
    platform: str = sys.platform
    if platform == "linux":
        told = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _LINUX.size)  # type: ignore[attr-defined,unused-ignore]
        return int(_LINUX.unpack(told)[0])
    if platform == "darwin":
        return connected.getsockopt(_MAC_LEVEL, _MAC_PROCESS)
    return 0
