"""This system with what Windows lacks hidden: `python tests/windows.py WORDS…` runs `tersely WORDS…`.

It shows that no way that Windows goes needs more than Windows has, as far as Python's library says it. It is
no Windows: paths, rights and line ends are this system's, and what Windows alone has stands in for itself here.
"""

from __future__ import annotations

import _socket
import array
import asyncio
import asyncio.unix_events
import concurrent.futures.thread
import ctypes
import fcntl
import logging.handlers
import multiprocessing
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import types
import zipfile
from typing import Any, NoReturn

_BEFORE_HIDING = (
    array,
    concurrent,
    ctypes,
    logging,
    multiprocessing,
    pathlib,
    shutil,
    tempfile,
    zipfile,
)
_MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
_HIDDEN: dict[Any, tuple[str, ...]] = {
    os: (
        "O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_PATH chown fchmod fork forkpty geteuid getgid getpgid "
        "getuid killpg mkfifo openpty pidfd_open posix_spawn pread pwrite setsid sysconf"
    ).split(),
    select: ("poll",),
    signal: ("SIGALRM", "SIGVTALRM", "alarm", "pthread_sigmask", "setitimer"),
    socket: ("AF_UNIX",),
    _socket: ("AF_UNIX",),
    asyncio: ("open_unix_connection", "start_unix_server"),
}  # type: ignore[assignment]


_OWN_PAIRS, _OWN_FAMILY, _OWN_OPEN = socket.socketpair, socket.AF_UNIX, os.open
_OWN_POPEN = subprocess.Popen.__init__


def _socketpair(*_: Any) -> tuple[socket.socket, socket.socket]:
    return _OWN_PAIRS(_OWN_FAMILY)


def _opened(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
    if dir_fd is not None:
        raise NotImplementedError("dir_fd")
    return _OWN_OPEN(path, flags, mode)


def _no_handlers(*_: Any) -> NoReturn:
    raise NotImplementedError("signal handlers")


def _popen(self: Any, args: Any, *rest: Any, **named: Any) -> None:
    named.pop("creationflags", None)
    if named.get("pass_fds"):
        raise ValueError("pass_fds not supported on Windows.")
    if "python" in str(args[0]) and args[1:2] == ["-c"]:
        own = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); import windows; windows.hide(); "
        args = [args[0], "-c", own + args[2], *args[3:]]
    _OWN_POPEN(self, args, *rest, **named)


def _share(self: socket.socket, pid: int) -> bytes:
    """Windows duplicates the socket for that process; here it is handed over at a socket of its own."""
    path = tempfile.mktemp(prefix="shared-")
    waiting = socket.socket(_OWN_FAMILY)  # type: ignore[arg-type]
    waiting.bind(path)
    waiting.listen(1)
    kept = self.dup()

    def hand_over() -> None:
        other, _ = waiting.accept()
        socket.send_fds(other, [b"x"], [kept.fileno()])

    threading.Thread(target=hand_over, daemon=True).start()
    return path.encode()


def _fromshare(told: bytes) -> socket.socket:
    taking = socket.socket(_OWN_FAMILY)  # type: ignore[arg-type]
    taking.connect(told)
    descriptor = socket.recv_fds(taking, 1, 1)[1][0]
    return socket.socket(_OWN_FAMILY, socket.SOCK_STREAM, 0, descriptor)  # type: ignore[arg-type]


def _locking(descriptor: int, mode: int, count: int) -> None:
    kinds = {0: fcntl.LOCK_UN, 2: fcntl.LOCK_EX | fcntl.LOCK_NB}
    fcntl.flock(descriptor, kinds[mode])


def _peek(descriptor: int, _: int) -> tuple[int]:
    readable = select.select([descriptor], [], [], 0)[0]
    return (1 if readable else 0,)


def hide() -> None:
    """Hide it from all that is imported afterwards, and from the processes that are started."""
    msvcrt, winapi = types.ModuleType("msvcrt"), types.ModuleType("_winapi")
    vars(msvcrt).update(
        LK_UNLCK=0, LK_NBLCK=2, locking=_locking, get_osfhandle=lambda descriptor: descriptor
    )
    vars(winapi).update(PeekNamedPipe=_peek)
    sys.modules.update(msvcrt=msvcrt, _winapi=winapi)
    subprocess.DETACHED_PROCESS = subprocess.CREATE_NEW_PROCESS_GROUP = 0  # type: ignore[attr-defined]
    subprocess.Popen.__init__ = _popen  # type: ignore[method-assign]
    socket.socketpair = _socketpair  # type: ignore[assignment]
    socket.socket.share, socket.fromshare = _share, _fromshare  # type: ignore[attr-defined]
    os.open = _opened
    shutil._use_fd_functions = False  # type: ignore[attr-defined]
    asyncio.unix_events._UnixSelectorEventLoop.add_signal_handler = _no_handlers  # type: ignore[attr-defined]
    os.O_BINARY = 0  # type: ignore[attr-defined]
    for module, names in _HIDDEN.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    for name in _MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    sys.platform = "win32"
