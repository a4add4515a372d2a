"""The addresses at which a relay listens: two sockets in its home, a TCP port of this machine, and
one for other machines.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tersely.foundation.errors import TerselyError
from tersely.relay.wire.addresses import Address, is_loopback
from tersely.relay.wire.home import (
    DEFAULT_PORT,
    HTTP_SOCKET,
    NO_PORT,
    PORT,
    SOCKET_BACKLOG,
    listen,
    socket_path,
)

RELAY_PORTS = 100  # that are tried, from the one that was asked for
_HOST = "127.0.0.1"
_MAX_PORT = 65_535
_PORT_CHARACTERS = 10


class ListeningSockets(NamedTuple):
    """The sockets that are listened at; `tcp` and `remote` where those are wanted."""

    frames: socket.socket
    http: socket.socket
    tcp: socket.socket | None
    remote: socket.socket | None
    wanted_port: int  # that was taken, 0 if it was not

    @property
    def url(self) -> str:
        """The address of the TCP port, empty without one."""
        return "" if self.tcp is None else f"http://{_HOST}:{self.tcp.getsockname()[1]}"


def read_address(text: str, certificate: str = "", key: str = "") -> Address:
    """The address that HOST:PORT means; raises `usage`, and `insecure_address` where others could
    read along.
    """
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isascii() or not port.isdigit() or int(port) > _MAX_PORT:
        raise TerselyError(
            "usage", f"--listen takes HOST:PORT, not {text[:80]!r}", "as --listen 0.0.0.0:7474"
        )
    if not certificate and not is_loopback(host):
        hint = "give --tls-cert and --tls-key; behind a proxy that speaks TLS, listen at 127.0.0.1"
        raise TerselyError("insecure_address", f"{host}: others could read along without TLS", hint)
    return Address(host, int(port), certificate, key)


@contextlib.contextmanager
def listening(home: Path, port: str, address: Address | None) -> Iterator[ListeningSockets]:
    """Listen for a home whose lock this process holds. `port` is as `doors.relay_process.main` has
    it.
    """
    with contextlib.ExitStack() as stack:
        frames = stack.enter_context(listen(home))
        http = stack.enter_context(listen(home, HTTP_SOCKET))
        stack.callback(socket_path(home, HTTP_SOCKET).unlink, missing_ok=True)
        remote = None if address is None else stack.enter_context(_listen_remote(address))
        if port == NO_PORT:
            yield ListeningSockets(frames, http, None, remote, 0)
            return
        wanted = int(port) if port else _last_port(home)
        tcp = stack.enter_context(_listen_tcp(wanted))
        found = tcp.getsockname()[1]
        _keep_port(home, found)
        yield ListeningSockets(frames, http, tcp, remote, wanted if wanted not in {0, found} else 0)


def _listen_remote(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server(
            (address.host, address.port), family=family, backlog=SOCKET_BACKLOG
        )
    except OSError as error:
        hint = "free it, or name another with --listen"
        message = f"{address.host}:{address.port} cannot be used: {error.strerror or error}"
        raise TerselyError("port_unavailable", message, hint) from error


def _last_port(home: Path) -> int:
    """The port at which the home was last served, so that addresses which were noted down stay
    right.
    """
    try:
        with open(os.open(home / PORT, os.O_RDONLY | os.O_NONBLOCK)) as file:
            # a pipe would keep the relay waiting
            port = int(file.read(_PORT_CHARACTERS))
    except (OSError, ValueError):
        return DEFAULT_PORT
    return port if 0 < port <= _MAX_PORT else DEFAULT_PORT


def _keep_port(home: Path, port: int) -> None:
    """Write it into a new file, whatever is in its place."""
    (home / PORT).unlink(missing_ok=True)
    with (home / PORT).open("x") as file:
        file.write(f"{port}\n")


def _listen_tcp(port: int) -> socket.socket:
    """Listen on this machine alone: at the port, or the next that is free."""
    last = min(port + RELAY_PORTS - 1, _MAX_PORT)
    for candidate in range(port, last + 1) if port else (0,):
        try:
            return socket.create_server((_HOST, candidate), backlog=SOCKET_BACKLOG)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    hint = "free one, choose another with --port, or do without with --no-tcp"
    raise TerselyError("port_unavailable", f"ports {port} to {last} are taken", hint)
