"""Sending a message to a port of this machine, and having it answered."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from . import inbox, place
from .failures import TalkError, failure_of
from .frames import FrameReader, encode
from .messages import RECEIPT, Message, check_size, frame_of, stored, timestamp
from .place import HOST, Place

RECEIPT_SECONDS = 1.0  # for all receipts of one check
_READ_BYTES = 65_536


class Sending(NamedTuple):
    """The way in which a message goes out."""

    home: Path
    seconds: float
    tls: bool = False  # also where the listener does not say that it speaks it
    bare: bool = False  # as a frame without an envelope, to a listener that does not answer


def send(how: Sending, message: Message, port: int) -> dict[str, Any]:
    """Send a message; what is said of it. Raises whatever kept it from being taken."""
    check_size(message.body)
    line = stored(message, timestamp())
    data = encode(message.body) if how.bare else frame_of(message)
    answer = _delivered(how, port, data)
    result = {
        "status": "sent",
        "to_port": port,
        "from_port": message.sender_port,
        "message_length": len(message.body),
        "timestamp": line["timestamp"],
        "acknowledged": answer is not None,
        **({} if how.bare else {"id": message.id}),
    }
    if answer is not None and "relay" in answer:
        result = {**result, "to": message.to, "relay": answer["relay"]}
    return {
        **result,
        **_logged(how.home, message, {**line, "to_port": port, "acknowledged": answer is not None}),
    }


def broadcast(how: Sending, message: Message, ports: Sequence[int]) -> dict[str, Any]:
    """Send to several, one after the other; the results, and the failures beside them."""
    sent, failed = [], []
    for port in ports:
        try:
            sent.append(send(how, message, port))
        except TalkError as error:
            failed.append(
                {"to_port": port, "error_code": error.code, "error_message": error.message}
            )
    state = "sent" if not failed else "partly_sent" if sent else "not_sent"
    shown = [{"to_port": one["to_port"], "timestamp": one["timestamp"]} for one in sent]
    said = {
        "status": state,
        "from_port": message.sender_port,
        "message_length": len(message.body),
        "id": message.id,
    }
    return {**said, "sent": shown, "failed": failed}


def send_receipts(home: Path, port: int, messages: Sequence[dict[str, Any]]) -> list[str]:
    """Tell the senders who asked for it that their messages were read; what could not be told, in
    words.
    """
    until, failures = time.monotonic() + RECEIPT_SECONDS, []
    for one in messages:
        to, about = one.get("sender_port"), one.get("id")
        if not (one.get("receipt") is True and isinstance(about, str) and isinstance(to, int)):
            continue
        try:
            left = until - time.monotonic()
            if left <= 0:
                raise TalkError("CONNECTION_TIMEOUT", "the receipts took too long")
            receipt = Message(b"", sender_port=port, id=new_id(), kind=RECEIPT, reply_to=about)
            _delivered(Sending(home, left), place.checked_port(to), frame_of(receipt))
        except TalkError as error:
            failures.append(f"no receipt for {about} to port {to}: {error}")
    return failures


def new_id() -> str:
    """An id for a message."""
    return os.urandom(12).hex()


def _delivered(how: Sending, port: int, data: bytes) -> dict[str, Any] | None:
    """The answer of the listener; None of a bare frame. One that takes no more just now is asked
    again in time.
    """
    until = time.monotonic() + how.seconds
    while True:
        left = until - time.monotonic()
        try:
            return _exchange(how, port, data, max(left, 0.001))
        except TalkError as error:
            wait = error.details.get("retry_after_ms") if error.code == "RATE_LIMITED" else None
            if not isinstance(wait, int) or time.monotonic() + wait / 1_000 >= until:
                raise
            time.sleep(max(wait, 1) / 1_000)


def _exchange(how: Sending, port: int, data: bytes, left: float) -> dict[str, Any] | None:
    with _connected(how, port, left) as connection:
        broken = _sent(connection, data)
        if how.bare and broken is None:
            return None
        try:
            answer = _answer(connection)
        except TimeoutError as error:
            why = f"port {port} has taken the message and not answered within {how.seconds:g} s"
            raise TalkError("NOT_ACKNOWLEDGED", why, port=port, timeout=how.seconds) from error
        except OSError as error:
            broken, answer = broken or error, None
    if answer is None and broken is not None:
        why = f"port {port} has ended the connection: {broken.strerror or broken}"
        raise TalkError("CONNECTION_LOST", why, port=port) from broken
    if answer is None:
        why = f"port {port} has not answered; a listener that never does is sent to with --bare"
        raise TalkError("NOT_ACKNOWLEDGED", why, port=port)
    if answer.get("status") != "received":
        raise failure_of(answer)
    return answer


def _connected(how: Sending, port: int, left: float) -> socket.socket:
    speaks_tls = how.tls or place.record_of(how.home / str(port)).get("tls")
    try:
        connection = socket.create_connection((HOST, port), left)
    except TimeoutError as error:
        why = f"port {port} has not answered within {how.seconds:g} s"
        raise TalkError("CONNECTION_TIMEOUT", why, port=port, timeout=how.seconds) from error
    except OSError as error:
        why = f"Could not connect to port {port}: {error.strerror or error}"
        raise TalkError("CONNECTION_REFUSED", why, port=port, timeout=how.seconds) from error
    if not speaks_tls:
        return connection
    from . import tls  # loads OpenSSL

    try:
        return tls.client_context(how.home).wrap_socket(connection)
    except OSError as error:
        raise TalkError("TLS_FAILED", f"port {port}: {error}", port=port) from error
    finally:
        connection.close()  # which TLS has taken over, if it came to that


def _sent(connection: socket.socket, data: bytes) -> OSError | None:
    """Send all of it; why that failed, for who refuses a message may have said so before it came."""
    try:
        connection.sendall(data)
        if type(connection) is socket.socket:  # TLS has no half of a connection to end
            connection.shutdown(socket.SHUT_WR)
    except OSError as error:
        return error
    return None


def _answer(connection: socket.socket) -> dict[str, Any] | None:
    """The first frame that comes; None where none does, or what came is none."""
    frames = FrameReader()
    try:
        while data := connection.recv(_READ_BYTES):
            if found := frames.feed(data):
                said = json.loads(found[0].content)
                return said if isinstance(said, dict) else None
    except (TalkError, ValueError, RecursionError):
        pass
    return None


def _logged(home: Path, message: Message, line: dict[str, Any]) -> dict[str, str]:
    """Note it in the outbox of its sender; what was sent stays sent where that fails."""
    if message.sender_port is None:
        return {}
    at = Place.of(home, message.sender_port)
    try:
        place.make(at.directory)
        inbox.log_sent(at.outbox, line)
    except TalkError as error:
        return {"outbox_error": str(error)}
    return {}
