"""Sending a message to a port of this machine, and having it answered."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from . import inbox
from .failures import EXIT_OF_CODE, TalkError, told
from .messages import RECEIPT, Message, cut, encode, frame_of, parsed_object, stored
from .place import HOST, TalkPlace, checked_port

SEND_SECONDS = 10.0  # for a message to be taken, where nothing else is said
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
    line = stored(message)
    acknowledged = {"to_port": port, "acknowledged": _deliver(how, port, message)}
    result = {
        "status": "sent",
        "from_port": line["sender_port"],
        "message_length": len(message.body),
        "timestamp": line["timestamp"],
        "id": line["id"],
        **acknowledged,
    }
    outbox = how.home / str(line["sender_port"]) / "outbox.jsonl"
    try:
        inbox.log_sent(outbox, {**line, **acknowledged})
    except (OSError, TalkError) as error:  # what was sent stays sent
        result["outbox_error"] = str(error)
    return result


def broadcast(how: Sending, message: Message, ports: Sequence[int]) -> dict[str, Any]:
    """Send to several, one after the other; the results, and the failures beside them."""
    sent, failed = [], []
    for port in ports:
        try:
            sent.append(send(how, message, port))
        except TalkError as error:
            failed.append({"to_port": port, **told(error)})
    status = "sent" if not failed else "partly_sent" if sent else "not_sent"
    return {"status": status, "id": message.header["id"], "sent": sent, "failed": failed}


def send_receipts(home: Path, port: int, messages: Sequence[dict[str, Any]]) -> list[str]:
    """Tell the senders who asked for it that their messages were read; what could not be told, in
    words.
    """
    until, failures = time.monotonic() + RECEIPT_SECONDS, []
    for one in messages:
        if one.get("receipt") is not True:
            continue
        receipt = {"from_port": port, "type": RECEIPT, "reply_to": one.get("id")}
        how = Sending(home, max(until - time.monotonic(), 0.001))
        try:
            _deliver(how, checked_port(str(one.get("sender_port"))), Message(b"", receipt))
        except TalkError as error:
            failures.append(f"no receipt for {one.get('id')}: {error}")
    return failures


def new_id() -> str:
    """An id for a message."""
    return os.urandom(12).hex()


def _deliver(how: Sending, port: int, message: Message) -> bool:
    """True when the listener has said that it has the message; False where it was not asked. Raises
    what it said instead, `NOT_ACKNOWLEDGED`.
    """
    data = encode(message.body) if how.bare else frame_of(message)
    with _connected(how, port) as connection:
        with suppress(OSError):  # who refuses a message may have said so before it came
            connection.sendall(data)
            if type(connection) is socket.socket:  # TLS has no half of a connection to end
                connection.shutdown(socket.SHUT_WR)
        answer = {} if how.bare else _answer(connection)
    if answer.get("status") != "received" and not how.bare:
        code, why = str(answer.get("error_code")), answer.get("error_message", "no answer in time")
        known, details = code if code in EXIT_OF_CODE else "NOT_ACKNOWLEDGED", answer.get("details")
        about = details if isinstance(details, dict) else {}
        raise TalkError(known, f"port {port}: {why}", **{**about, "port": port})
    return not how.bare


def _connected(how: Sending, port: int) -> socket.socket:
    speaks_tls = how.tls or TalkPlace(how.home, port).public.get("tls")
    if speaks_tls:
        from . import tls  # loads OpenSSL, for which no listener is to wait
    try:
        connection = socket.create_connection((HOST, port), how.seconds)
    except OSError as error:
        code = "CONNECTION_TIMEOUT" if isinstance(error, TimeoutError) else "CONNECTION_REFUSED"
        why = f"Could not connect to port {port}: {error.strerror or error}"
        raise TalkError(code, why, port=port, timeout=how.seconds) from error
    return tls.wrapped(connection, how.home) if speaks_tls else connection


def _answer(connection: socket.socket) -> dict[str, Any]:
    """The first frame that comes; empty where none does, or what came is none."""
    held = bytearray()
    with suppress(OSError, TalkError):
        while (frame := cut(held)) is None and (data := connection.recv(_READ_BYTES)):
            held += data
        return parsed_object(frame.content) if frame else {}
    return {}
