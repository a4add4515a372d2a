"""Asking a daemon. Imported by every command, so it loads next to nothing before somebody answers.

`_socket` is what `socket` wraps; the wrapper takes as long to import as Python takes to start.
"""

from __future__ import annotations

import _socket
import sys

from tersely.daemon.endpoint import connect
from tersely.daemon.place import Place
from tersely.foundation.limits import (
    DAEMON_CONNECT_SECONDS,
    DAEMON_RECEIPT_SECONDS,
    MAX_REQUEST_SECONDS,
)
from tersely.foundation.system import user_number

TYPE_CHECKING = False  # `typing` has one too, but it would have to be imported
if TYPE_CHECKING:
    from typing import Self

    from tersely.foundation.types import JsonObject

_RECEIVED_BYTES = 262_144
_PEER_CREDENTIALS = 17  # SO_PEERCRED of Linux
_CREDENTIALS_BYTES = 12  # process, user, group


class Client:
    """A connection to the daemon at a place; `OSError` where there is none, or another user's.
    Close it.
    """

    def __init__(self, place: Place) -> None:
        self._socket = connect(place.socket, DAEMON_CONNECT_SECONDS)
        self._received = b""
        try:
            self._check_owner()
        except OSError:
            self._socket.close()
            raise

    def _check_owner(self) -> None:
        if sys.platform.startswith("linux"):
            told = self._socket.getsockopt(
                _socket.SOL_SOCKET, _PEER_CREDENTIALS, _CREDENTIALS_BYTES
            )
            if int.from_bytes(told[4:8], sys.byteorder) != user_number():
                raise PermissionError("the daemon belongs to another user")

    def ask(
        self,
        request: JsonObject,
        *,
        awaits_receipt: bool = False,
        seconds: float = MAX_REQUEST_SECONDS,
    ) -> JsonObject:
        """The reply to one request. `OSError` if none comes; `ValueError` if it is not one.

        With `awaits_receipt` the daemon has to say at once that it has read the request, as it does
        to words.
        """
        import json  # takes longer than finding out that there is no daemon

        self._socket.settimeout(DAEMON_RECEIPT_SECONDS if awaits_receipt else seconds)
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        if awaits_receipt and (early := self._line()).strip():
            reply = json.loads(early)
        else:
            self._socket.settimeout(seconds)
            reply = json.loads(self._line())
        if not isinstance(reply, dict):
            raise ValueError("a reply is a JSON object")
        return reply

    def wait_until_closed(self, seconds: float) -> None:
        """Return when the daemon hangs up."""
        self._socket.settimeout(seconds)
        while self._socket.recv(_RECEIVED_BYTES):
            pass

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _line(self) -> bytes:
        parts = [self._received]
        while b"\n" not in parts[-1]:
            part = self._socket.recv(_RECEIVED_BYTES)
            if not part:
                raise ConnectionResetError("the daemon has hung up")
            parts.append(part)
        whole, _, self._received = b"".join(parts).partition(b"\n")
        return whole
