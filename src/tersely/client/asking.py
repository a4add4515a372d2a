"""Clients of the relay. What they send and read is decided by the question; they only carry it."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Generator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from tersely.capabilities import catalogue
from tersely.capabilities.relay.contract.operations import AGENT_TOKEN, Content
from tersely.capabilities.relay.contract.shapes import Answered, Question, TicketTold
from tersely.client.hops import passed_on
from tersely.client.request import RelayRequest, ask, decoded, failure_of, read_answer
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError, failing_as
from tersely.foundation.limits import BLOB_CHUNK_BYTES, CLIENT_SECONDS
from tersely.foundation.network import http
from tersely.foundation.process.ancestry import TOKEN_VARIABLE
from tersely.foundation.text.agent_names import agent_name
from tersely.foundation.types import Closing, Headers, JsonMapping, JsonObject
from tersely.relay.wire.documents import ArtifactTold, EventTold
from tersely.relay.wire.home import HTTP_SOCKET, home_directory, socket_path

EVENT_SILENCE_SECONDS = 60.0  # of a stream of events, after which it is opened again
EVENT_STREAM_SECONDS = 1.0  # that it lasts at least; one that ends sooner is not opened again

AnswerT = TypeVar("AnswerT")
ResultT = TypeVar("ResultT")
MAX_REPLY_BYTES = 2_000_000_000  # of one answer: the bundle of a thread comes whole
_FAILURES = (*http.FAILURES, http.TooLongError)
_BASE = "http://relay"  # HTTP wants a name for what is at the socket
_START = "tersely up starts one"
_LOOK = "tersely doctor says how it is"
_SERVICE_CALL = "service.call"  # the capability that asks services
_DATA = b"data: "  # begins the line of an event


class _RelayCall(NamedTuple):
    """One request as it goes out."""

    method: str
    target: str
    headers: Headers
    content: Any = None  # bytes, or an iterator of them

    @property
    def url(self) -> str:
        return _BASE + self.target


def own_socket(home: Path | None = None) -> Path:
    """The socket of this user's relay; raises `daemon_not_running` where none has been started."""
    home = home or home_directory()
    socket = socket_path(home, HTTP_SOCKET)
    with failing_as(
        "daemon_unavailable", socket, "have TERSELY_HOME name a directory of this user"
    ):
        is_there = socket.is_socket()
    if not is_there:
        raise TerselyError("daemon_not_running", f"no relay serves {home}", _START)
    return socket


class _Asking:
    """Asks the relay at one socket as one agent. How requests go out, a client says."""

    _pool: Any  # of connections

    def __init__(
        self, socket: Path, agent: str = "local", seconds: float = CLIENT_SECONDS, token: str = ""
    ) -> None:
        """`token` shows that the name is the agent's own; without, that of the environment. Raises
        `invalid_argument` for what is no name of an agent.
        """
        shown = token or os.environ.get(TOKEN_VARIABLE, "")
        self._socket = socket
        self._headers = {
            "X-Relay-Agent": quote(agent_name(agent), safe="@/:"),
            **({AGENT_TOKEN.name: shown} if shown else {}),
        }
        self._waits = http.waits(seconds, seconds)
        self._stream_waits = http.waits(seconds, EVENT_SILENCE_SECONDS)
        self._open()

    def _open(self) -> None:
        """Have connections."""
        raise NotImplementedError

    def _stream(
        self, call: _RelayCall, waits: JsonObject
    ) -> AbstractAsyncContextManager[http.Response]:
        """An answer that is read as it comes."""
        raise NotImplementedError

    def _pieces(self, response: http.Response) -> AsyncIterator[bytes]:
        """The body of an answer."""
        raise NotImplementedError

    @classmethod
    def local(
        cls,
        agent: str = "local",
        home: Path | None = None,
        seconds: float = CLIENT_SECONDS,
        token: str = "",
    ) -> Self:
        """A client of this user's relay; raises `daemon_not_running` where none has been started."""
        return cls(own_socket(home), agent, seconds, token)

    async def _request(self, request: RelayRequest[AnswerT]) -> AnswerT:
        """The answer to a request; raises what the relay said instead, or `daemon_unavailable`."""
        given = {name: value for name, value in request.headers.items() if value}
        headers = {**self._headers, "Content-Type": str(request.operation.takes), **given}
        call = _RelayCall(request.operation.method, request.target, headers, request.content())
        reply = await self._reply(call)
        return request.answer(reply.status, reply.body)

    async def _result(self, capability: str, arguments: JsonMapping, key: str) -> Any:
        """The result of a capability as the type that it declares; once for the same key."""
        # some names of parameters are words of Python
        given = {name.rstrip("_"): value for name, value in arguments.items()}
        answered = await self._answer(Question(capability, given), key)
        return msgspec.convert(answered.result, catalogue.load(capability).answers)

    async def _answer(self, question: Question, key: str = "") -> Answered:
        """The answer to a question in both forms, once for the same key."""
        repeated = {"Idempotency-Key": key} if key else {}
        headers = {**self._headers, "Content-Type": str(Content.JSON), **repeated}
        content = msgspec.json.encode(_with_hops(question))
        reply = await self._reply(_RelayCall("POST", "/ask", headers, content))
        answered: Answered = read_answer(Answered, reply.status, reply.body)
        return answered

    async def _reply(self, call: _RelayCall) -> http.HttpReply:
        """A whole answer; raises `daemon_unavailable`."""
        # A connection that was kept may just be closed by the relay: then nothing was read, and it
        # may be asked again.
        is_kept = any(connection.is_idle() for connection in self._pool.connections)
        while True:
            try:
                return await self._reply_once(call)
            except http.DISCONNECTIONS as error:
                if not is_kept:
                    raise self._lost(error) from error
                is_kept = False
            except _FAILURES as error:
                raise self._lost(error) from error

    async def _reply_once(self, call: _RelayCall) -> http.HttpReply:
        async with self._stream(call, self._waits) as response:
            body = await http.async_body(self._pieces(response), MAX_REPLY_BYTES)
            return http.HttpReply(response.status, body)

    async def _tail(self, thread_id: str, after: int) -> AsyncGenerator[EventTold, None]:
        while True:
            watch, failure = Stopwatch(), None
            try:
                async with aclosing(self._events(thread_id, after)) as events:
                    async for event in events:
                        after = event.seq
                        yield event
            except _FAILURES as error:
                failure = error
            self._check_stream(watch, failure)

    async def _events(self, thread_id: str, after: int) -> AsyncGenerator[EventTold, None]:
        """The events of a thread, as they happen, until the stream of them ends."""
        target = f"/threads/{quote(thread_id, safe='')}/events/stream?after={after}"
        call = _RelayCall("GET", target, self._headers)
        async with self._stream(call, self._stream_waits) as response:
            pieces = self._pieces(response)
            if response.status != 200:
                body = await http.async_body(pieces, MAX_REPLY_BYTES)
                raise failure_of(response.status, body)
            async for line in http.async_lines(pieces):
                if line.startswith(_DATA):
                    yield decoded(EventTold, line.removeprefix(_DATA))

    def _check_stream(self, watch: Stopwatch, failure: Exception | None) -> None:
        """Raise `daemon_unavailable` where a stream of events that has ended is not to be opened
        again.
        """
        if isinstance(failure, http.ConnectError | http.TooLongError):
            raise self._lost(failure) from failure
        if watch.seconds() < EVENT_STREAM_SECONDS:
            raise self._lost(
                failure or EOFError("it ends its stream of events at once")
            ) from failure

    def _lost(self, error: Exception) -> TerselyError:
        """The error of a connection that gave no answer."""
        if isinstance(error, http.ForeignPeerError):
            return TerselyError("not_a_relay", str(error), "nothing was sent to it")
        is_absent = isinstance(error, http.ConnectError) and not isinstance(
            error, http.ConnectTimeout
        )
        if is_absent:
            return TerselyError(
                "daemon_not_running",
                f"no relay listens at {self._socket}: {http.reason(error)}",
                _START,
            )
        return TerselyError(
            "daemon_unavailable", f"the relay at {self._socket}: {http.reason(error)}", _LOOK
        )


class Client(_Asking, Closing):
    """Asks the relay at one socket as one agent. May be used from several threads."""

    def _open(self) -> None:
        self._pool = http.connections(self._socket)

    @asynccontextmanager
    async def _stream(self, call: _RelayCall, waits: JsonObject) -> AsyncIterator[http.Response]:
        with http.stream(
            self._pool, call.method, call.url, waits, headers=call.headers, content=call.content
        ) as response:
            yield response

    async def _pieces(self, response: http.Response) -> AsyncIterator[bytes]:
        for piece in response.iter_stream():
            yield piece

    def __call__(self, request: RelayRequest[AnswerT]) -> AnswerT:
        """Ask; raises what the relay said instead of an answer, or `daemon_unavailable`."""
        return _done(self._request(request))

    def ask(self, capability: str, /, *, idempotency_key: str = "", **arguments: object) -> Any:
        """The result of a capability of the relay, as the type that it declares; raises as a call
        does.

        With the same key it happens once.
        """
        return _done(self._result(capability, arguments, idempotency_key))

    def answer(
        self,
        capability: str,
        arguments: JsonMapping,
        *,
        budget: int | None = None,
        colored: bool = False,
    ) -> Answered:
        """The result of a capability of the relay as JSON has it, and in words of at most `budget`
        tokens.
        """
        return _done(self._answer(Question(capability, dict(arguments), budget, colored)))

    def tail(self, thread_id: str, after: int = 0) -> Generator[EventTold, None, None]:
        """The events of a thread after a number, and those to come, for as long as they are wanted."""
        events = self._tail(thread_id, after)
        try:
            while True:
                yield _done(anext(events))
        finally:
            _done(events.aclose())

    def upload(
        self, thread_id: str, file: BinaryIO, *, name: str = "", type: str = ""
    ) -> ArtifactTold:
        """Store what a file holds, from where it stands to its end, without holding it in memory.

        It belongs to no thread where none is named.
        """
        query = urlencode({key: value for key, value in (("name", name), ("type", type)) if value})
        place = f"/threads/{quote(thread_id, safe='')}/artifacts" if thread_id else "/cassettes"
        chunks = iter(lambda: file.read(BLOB_CHUNK_BYTES), b"")
        headers = {**self._headers, "Content-Type": str(Content.BYTES)}
        try:
            reply = _done(self._reply_once(_RelayCall("PUT", f"{place}?{query}", headers, chunks)))
        except _FAILURES as error:
            raise self._lost(error) from error
        made: ArtifactTold = read_answer(ArtifactTold, reply.status, reply.body)
        return made

    def download(self, thread_id: str, ref: str, path: Path) -> None:
        """Write an artifact to a file, which is whole and verified afterwards, or as it was; raises
        its `OSError`.
        """
        part = path.with_name(f".{path.name}.part")
        hashed = sha256()
        target = f"/threads/{quote(thread_id, safe='')}/artifacts/{quote(ref, safe='')}/content"
        url = _BASE + target
        try:
            with (
                http.stream(self._pool, "GET", url, self._waits, headers=self._headers) as response,
                part.open("wb") as file,
            ):
                if response.status != 200:
                    raise failure_of(response.status, http.body(response, MAX_REPLY_BYTES))
                for chunk in response.iter_stream():
                    hashed.update(chunk)
                    file.write(chunk)
            if hashed.hexdigest() != ref:
                raise TerselyError(
                    "artifact_damaged", f"artifact {ref} came back as something else", "try again"
                )
            part.replace(path)
        except _FAILURES as error:
            raise self._lost(error) from error
        finally:
            part.unlink(missing_ok=True)

    def page(self, path: str) -> str:
        """The address of a page for a browser, which it signs in: it works once, and for two
        minutes.
        """
        told: TicketTold = self(ask("ticket_new"))
        query = urlencode({"ticket": told.ticket, "next": f"/ui/{path}"})
        return f"{told.url}/ui/login?{query}"

    def close(self) -> None:
        """Let go of all connections. No thread may be asking any more."""
        self._pool.close()


class AsyncClient(_Asking):
    """The same for an event loop, with connections of its own: its questions wait in no thread."""

    def _open(self) -> None:
        self._pool = http.async_connections(self._socket)

    def _stream(
        self, call: _RelayCall, waits: JsonObject
    ) -> AbstractAsyncContextManager[http.Response]:
        return http.async_stream(
            self._pool, call.method, call.url, waits, headers=call.headers, content=call.content
        )

    def _pieces(self, response: http.Response) -> AsyncIterator[bytes]:
        return response.aiter_stream()

    async def __call__(self, request: RelayRequest[AnswerT]) -> AnswerT:
        """Ask, as `Client` does."""
        return await self._request(request)

    async def ask(
        self, capability: str, /, *, idempotency_key: str = "", **arguments: object
    ) -> Any:
        """The result of a capability of the relay, as `Client.ask` gives it."""
        return await self._result(capability, arguments, idempotency_key)

    async def answer(
        self,
        capability: str,
        arguments: JsonMapping,
        *,
        budget: int | None = None,
        colored: bool = False,
    ) -> Answered:
        """The result of a capability of the relay in both forms, as `Client.answer` gives it."""
        return await self._answer(Question(capability, dict(arguments), budget, colored))

    def tail(self, thread_id: str, after: int = 0) -> AsyncGenerator[EventTold, None]:
        """The events of a thread after a number, and those to come, for as long as they are wanted."""
        return self._tail(thread_id, after)

    async def close(self) -> None:
        """Let go of all connections. Nothing may be asking any more."""
        await self._pool.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _done(asking: Awaitable[ResultT]) -> ResultT:
    """The result of what waits for no event loop, since all that it waits for blocks."""
    try:
        next(asking.__await__())
    except StopIteration as ended:
        result: ResultT = ended.value
        return result
    raise AssertionError("a client of threads has waited for a loop")


def _with_hops(asked: Question) -> Question:
    """A question to a service with what has led to it; any other as it is."""
    if asked.capability != _SERVICE_CALL:
        return asked
    return msgspec.structs.replace(asked, arguments={**passed_on(), **asked.arguments})
