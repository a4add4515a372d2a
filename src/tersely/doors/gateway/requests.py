"""Requests at the socket of a home, passed on to the relay that its machine has joined.

What names a directory of this machine is said in words that the relay understands. Messages that
cannot be sent are kept, and sent in their order as soon as the relay is there again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tersely.capabilities.relay.answers.results import result_text
from tersely.capabilities.relay.contract.operations import AGENT_TOKEN
from tersely.capabilities.relay.contract.shapes import Answered, Question
from tersely.capabilities.relay.teams.claims import Where
from tersely.client.joining import JoinedRelay, unreachable
from tersely.client.outbox import Outbox, Unsent
from tersely.doors.gateway.code import LocalCode
from tersely.doors.http.failures import body_of, status_of
from tersely.doors.http.request_parsing import PEER, PERSON_HEADER
from tersely.doors.socket.services import AskedMethod
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.project import portable_mark
from tersely.foundation.ids import new_id
from tersely.foundation.limits import MAX_WEB_BODY_BYTES, UPLOAD_CHUNK_SECONDS
from tersely.foundation.network import http
from tersely.foundation.network.http import HttpReply
from tersely.foundation.process.ancestry import is_of_person
from tersely.foundation.types import JsonMapping, JsonObject, frozen
from tersely.relay.wire.documents import RelayTold, ServiceAnswer

SEND_AGAIN_SECONDS = 3.0  # between two tries to send what is kept
GATEWAY_ANSWER_SECONDS = 660.0  # of silence of the relay: longer than any question may take
GATEWAY_REACH_SECONDS = 10.0  # for a connection
OUTBOX_NAME = "@joined"  # which no agent can have
_SEND, _CALL = "mail.send", "service.call"
_LOG = logging.getLogger("tersely.doors.gateway")
_NOT_PASSED_ON = frozenset(
    {b"host", b"connection", b"authorization", b"transfer-encoding", PERSON_HEADER.encode()}
)
_NOT_PASSED_BACK = frozenset({b"connection", b"transfer-encoding", b"keep-alive", b"date"})


@frozen
class Kept:
    """A message of an agent that waits for the relay: the arguments of `mail.send`, and what shows
    that the name is the agent's own.
    """

    agent: str
    arguments: JsonMapping
    token: str = ""


class Requests:
    """An application that passes requests on. Used on one loop; close it."""

    def __init__(
        self, home: Path, membership: JoinedRelay, told: RelayTold, code: LocalCode
    ) -> None:
        self._membership = membership
        self._told = told
        self._code = code
        self._pool = http.async_secured_connections()
        self._outbox = Outbox(home, OUTBOX_NAME, _read_kept)
        self._sending = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            return
        try:
            reply = await self._answered_here(scope, receive, send)
        except TerselyError as error:
            reply = HttpReply(status_of(error.code), body_of(error))
        if reply is not None:
            answer = Response(reply.body, reply.status, media_type="application/json")
            await answer(scope, receive, send)

    async def send_later(self) -> None:
        """Send what is kept whenever the relay is there, until cancelled."""
        while True:
            await asyncio.sleep(SEND_AGAIN_SECONDS)
            try:
                await self._send_kept()
            except TerselyError as error:
                _LOG.info("%d messages wait: %s", len(self._outbox), error)

    async def close(self) -> None:
        """Hang up."""
        await self._pool.aclose()

    async def _answered_here(self, scope: Scope, receive: Receive, send: Send) -> HttpReply | None:
        """The answer where it is made here, None where it has been passed back already."""
        asked = (scope["method"], scope["path"])
        if asked == ("GET", "/status"):
            return HttpReply(200, msgspec.json.encode(self._told))
        if asked != ("POST", "/ask"):
            await self._pass_on(scope, _chunks(receive), send)
            return None
        body = b"".join([chunk async for chunk in _bounded(_chunks(receive))])
        try:
            question = msgspec.json.decode(body, type=Question)
        except msgspec.MsgspecError:  # the relay says what is wrong with it
            question = Question("")
        if question.capability == _CALL and question.arguments.get("service") in self._code.names:
            return await self._ask_code(question)
        if question.capability:
            question.arguments = await asyncio.to_thread(_for_others, question.arguments)
            body = msgspec.json.encode(question)
        if question.capability == _SEND:
            return await self._send(scope, question)
        await self._pass_on(scope, body, send)
        return None

    async def _pass_on(
        self, scope: Scope, content: bytes | AsyncIterator[bytes], send: Send
    ) -> None:
        query = scope["query_string"].decode("latin-1")
        target = scope["raw_path"].decode("latin-1") + (f"?{query}" if query else "")
        method, headers = scope["method"], self._headers(scope, content)
        sent = None if method in {"GET", "DELETE", "HEAD"} else content
        has_begun = False
        try:
            async with http.async_stream(
                self._pool, method, self._membership.url + target, _WAITS, headers=headers, content=sent
            ) as response:  # fmt: skip
                given = [one for one in response.headers if one[0].lower() not in _NOT_PASSED_BACK]
                await send(
                    {"type": "http.response.start", "status": response.status, "headers": given}
                )
                has_begun = True
                async for piece in response.aiter_stream():
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
        except http.FAILURES as error:
            if has_begun:  # it ends early, so that whoever reads it sees that it is not whole
                _LOG.info("an answer has broken off: %s", http.reason(error))
                return
            raise unreachable(self._membership.url, error) from error
        await send({"type": "http.response.body", "body": b""})

    def _headers(self, scope: Scope, content: bytes | AsyncIterator[bytes]) -> dict[str, str]:
        is_whole = isinstance(content, bytes)
        headers = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope["headers"]
            if name not in _NOT_PASSED_ON and not (is_whole and name == b"content-length")
        }
        headers["authorization"] = f"Bearer {self._membership.token}"
        if is_of_person(scope.get("state", {}).get(PEER, 0)):
            headers[PERSON_HEADER] = "1"
        return headers

    async def _ask_code(self, question: Question) -> HttpReply:
        given, watch = question.arguments, Stopwatch()
        asked = AskedMethod(
            str(given.get("method")), msgspec.json.encode(given.get("params") or {}),
            float(given.get("timeout_ms") or 30_000) / 1000, in_words=given.get("format") == "text",
        )  # fmt: skip
        result = msgspec.json.decode(await self._code.answer(given["service"], asked))
        told = ServiceAnswer(given["service"], asked.method, result, int(watch.seconds() * 1000))
        answered = Answered(_CALL, told, f"{result_text(result)}\n")
        return HttpReply(200, msgspec.json.encode(answered))

    # Messages

    async def _send(self, scope: Scope, question: Question) -> HttpReply:
        """Send a message behind those that wait; where the relay cannot be reached, keep it."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        arguments = {**question.arguments}
        arguments["id"] = arguments.get("id") or headers.get(b"idempotency-key") or new_id()
        agent, token = (
            headers.get(b"x-relay-agent", "cli"),
            headers.get(AGENT_TOKEN.name.lower().encode(), ""),
        )
        message = Kept(agent, arguments, token)
        question.arguments = arguments
        try:
            await self._send_kept()
            return await self._sent(message, question)
        except TerselyError as error:
            if error.code != "relay_unreachable":
                raise
            self._outbox.put(message)
            return self._kept_reply(error, arguments["id"])

    async def _send_kept(self) -> None:
        """Send what waits, the oldest first; raises `relay_unreachable`."""
        async with self._sending:
            for unsent in list(self._outbox):
                kept = unsent.message
                reply = await self._sent(kept, Question(_SEND, dict(kept.arguments)))
                self._settle(unsent, reply)

    def _settle(self, unsent: Unsent[Kept], reply: HttpReply) -> None:
        """The relay has a message, or never takes it; what it refuses for now stays."""
        if reply.status in {401, 429} or reply.status >= 500:
            raise TerselyError(
                "relay_unreachable", f"it takes no messages now (status {reply.status})"
            )
        if reply.status >= 400:
            _LOG.warning(
                "a message to %s is refused: %s",
                unsent.message.arguments.get("to"),
                reply.body[:500],
            )
        self._outbox.remove(unsent)

    async def _sent(self, message: Kept, question: Question) -> HttpReply:
        """The answer to the question that sends a message."""
        headers = {
            "authorization": f"Bearer {self._membership.token}", "content-type": "application/json",
            "x-relay-agent": quote(message.agent, safe="@/:%"),
            **({AGENT_TOKEN.name: message.token} if message.token else {}),
        }  # fmt: skip
        try:
            async with http.async_stream(
                self._pool, "POST", f"{self._membership.url}/ask", _WAITS, headers=headers,
                content=msgspec.json.encode(question),
            ) as response:  # fmt: skip
                body = await http.async_body(response.aiter_stream(), MAX_WEB_BODY_BYTES)
                return HttpReply(response.status, body)
        except http.FAILURES as error:
            raise unreachable(self._membership.url, error) from error

    def _kept_reply(self, error: TerselyError, sent_id: str) -> HttpReply:
        told = {
            "id": sent_id, "message_id": "", "seq": 0, "durability": "here", "recipients": 0, "refused": [],
            "repeated": False,
        }  # fmt: skip
        text = f"kept on this machine, {len(self._outbox)} wait: {error.message}; it is sent when the relay is there\n"
        return HttpReply(200, msgspec.json.encode(Answered(_SEND, told, text)))


_WAITS = http.waits(GATEWAY_REACH_SECONDS, GATEWAY_ANSWER_SECONDS)


def waiting(home: Path) -> int:
    """The number of messages that wait for the relay that a machine has joined."""
    return len(Outbox(home, OUTBOX_NAME, _read_kept))


def _for_others(arguments: JsonObject) -> JsonObject:
    """Arguments as another machine understands them: a project for a directory, and paths from its
    root.
    """
    root = arguments.get("root")
    if not isinstance(root, str) or not root:
        return arguments
    where = Where(str(arguments.get("project") or ""), root)
    given = {name: value for name, value in arguments.items() if name != "root"}
    given["project"] = where.project or portable_mark(root)
    targets = given.get("targets")
    if isinstance(targets, list):
        given["targets"] = [
            where.from_root(one) if isinstance(one, str) else one for one in targets
        ]
    return given


def _read_kept(kept: JsonMapping) -> Kept:
    agent, arguments, token = kept["agent"], kept["arguments"], kept.get("token", "")
    are_texts = isinstance(agent, str) and isinstance(token, str)
    if not (are_texts and isinstance(arguments, dict)):
        raise TypeError("that is no message")
    return Kept(agent, arguments, token)


async def _chunks(receive: Receive) -> AsyncIterator[bytes]:
    while True:
        async with asyncio.timeout(UPLOAD_CHUNK_SECONDS):
            message = await receive()
        if message["type"] != "http.request":
            raise TerselyError("malformed_request", "the request ended before its body did")
        yield message.get("body", b"")
        if not message.get("more_body"):
            return


async def _bounded(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        if size > MAX_WEB_BODY_BYTES:
            raise TerselyError(
                "payload_too_large", f"a body has at most {MAX_WEB_BODY_BYTES:,} bytes"
            )
        yield chunk
