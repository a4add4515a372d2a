"""A proxy of our own on loopback, in the place of a network that drops."""

from __future__ import annotations

import contextlib
import socket
import threading
from pathlib import Path


class Link:
    """A network to a port of this machine, or to a socket in a folder, which can be cut: every
    connection passes through it.
    """

    def __init__(self, to: int | Path) -> None:
        self._to = to
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._open: list[socket.socket] = []
        self._changing = threading.Lock()
        self._is_up = True
        self._swallows = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Every connection breaks, and none is made."""
        with self._changing:
            self._is_up = False
            for one in self._open:
                _end(one)
            self._open.clear()

    def swallow(self) -> None:
        """What is sent arrives nowhere, and nobody is told."""
        self._swallows.set()

    def mend(self) -> None:
        """Connections are made again, and what is sent from now on arrives."""
        self._swallows.clear()
        with self._changing:
            self._is_up = True

    def close(self) -> None:
        """End it."""
        self.cut()
        _end(self._listening)
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            with self._changing:
                far = self._far()
                if far is None:
                    near.close()
                    continue
                self._open += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(
                    target=_pump, args=(one, other, self._swallows), daemon=True
                ).start()

    def _far(self) -> socket.socket | None:
        try:
            return _connected(self._to) if self._is_up else None
        except OSError:
            return None


def _connected(to: int | Path) -> socket.socket:
    if isinstance(to, int):
        return socket.create_connection(("127.0.0.1", to))
    made = socket.socket(socket.AF_UNIX)
    try:
        made.connect(str(to))
    except OSError:
        made.close()
        raise
    return made


def _pump(one: socket.socket, other: socket.socket, swallows: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while data := one.recv(65_536):
            if not swallows.is_set():
                other.sendall(data)
    _end(other)
    one.close()


def _end(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
