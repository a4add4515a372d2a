"""Clients of the relay. What they send and read is decided by the question; they only carry it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from tersely.capabilities import catalogue
from tersely.client.request import Request, decoded, failure_of, read_answer, request
from tersely.foundation import http
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import BLOB_CHUNK_BYTES, CLIENT_SECONDS
from tersely.protocols.relay.place import home_directory
from tersely.protocols.relay.shapes import Answered, ArtifactTold, EventTold, Question, TicketTold
from tersely.protocols.socket.place import HTTP_SOCKET, socket_path

EVENT_SILENCE_SECONDS = 60.0  # of a stream of events, after which it is opened again
EVENT_STREAM_SECONDS = 1.0  # that it lasts at least; one that ends sooner is not opened again

AnswerT = TypeVar("AnswerT")
MAX_REPLY_BYTES = 2_000_000_000  # of one answer: the bundle of a thread comes whole
_FAILURES = (*http.FAILURES, http.TooLongError)
_BASE = "http://relay"  # HTTP wants a name for what is at the socket
_START = "tersely up starts one"
_LOOK = "tersely doctor says how it is"


class Client:
    """Asks the relay at one socket as one agent. May be used from several threads."""

    def __init__(self, socket: Path, agent: str = "local", seconds: float = CLIENT_SECONDS) -> None:
        self._socket = socket
        self._seconds = seconds
        self._waits = http.waits(seconds, seconds)
        self._headers = {"X-Relay-Agent": agent}
        self._pool = http.connections(socket)

    @classmethod
    def local(cls, agent: str = "local", home: Path | None = None, seconds: float = CLIENT_SECONDS) -> Self:
        """A client of this user's relay; raises `daemon_not_running` where none has been started."""
        home = home or home_directory()
        socket = socket_path(home, HTTP_SOCKET)
        try:
            is_there = socket.is_socket()
        except OSError as error:
            hint = "have TERSELY_HOME name a directory of this user"
            raise TerselyError("daemon_unavailable", f"{socket}: {error.strerror}", hint) from error
        if not is_there:
            raise TerselyError("daemon_not_running", f"no relay serves {home}", _START)
        return cls(socket, agent, seconds)

    def __call__(self, request: Request[AnswerT]) -> AnswerT:
        """Ask; raises what the relay said instead of an answer, or `daemon_unavailable`."""
        headers = {**self._headers, "Content-Type": str(request.operation.takes)}
        headers |= {name: value for name, value in request.headers.items() if value}
        reply = self._asked(request.operation.method, request.target, request.content(), headers)
        return request.answer(reply.status, reply.body)

    def ask(self, capability: str, **arguments: object) -> Any:
        """The result of a capability of the relay, as the type that it declares; raises as a call does."""
        told = self.answer(capability, {name.rstrip("_"): value for name, value in arguments.items()})
        return msgspec.convert(told.result, catalogue.load(capability).answers)

    def answer(
        self, capability: str, arguments: Mapping[str, object], *, budget: int | None = None, colored: bool = False
    ) -> Answered:
        """The result of a capability of the relay as JSON has it, and in words of at most `budget` tokens."""
        question = Question(capability, dict(arguments), budget, colored)
        headers = {**self._headers, "Content-Type": "application/json"}
        reply = self._asked("POST", "/ask", msgspec.json.encode(question), headers)
        answered: Answered = read_answer(Answered, reply.status, reply.body)
        return answered

    def tail(self, thread_id: str, after: int = 0) -> Generator[EventTold, None, None]:
        """The events of a thread after a number, and those to come, for as long as they are wanted."""
        while True:
            watch, failure = Stopwatch(), None
            try:
                with closing(self._events(thread_id, after)) as events:
                    for event in events:
                        after = event.seq
                        yield event
            except _FAILURES as error:
                failure = error
            if isinstance(failure, http.ConnectError | http.TooLongError):
                raise self._lost(failure) from failure
            if watch.seconds() < EVENT_STREAM_SECONDS:
                raise self._lost(failure or EOFError("it ends its stream of events at once")) from failure

    def upload(self, thread_id: str, file: BinaryIO, *, name: str = "", type: str = "") -> ArtifactTold:
        """Store what a file holds, from where it stands to its end, without holding it in memory."""
        query = urlencode({key: value for key, value in (("name", name), ("type", type)) if value})
        path = f"/threads/{quote(thread_id, safe='')}/artifacts?{query}"
        chunks = iter(lambda: file.read(BLOB_CHUNK_BYTES), b"")
        headers = {**self._headers, "Content-Type": "application/octet-stream"}
        try:
            reply = http.ask(
                self._pool, "PUT", _BASE + path, self._waits, MAX_REPLY_BYTES, headers=headers, content=chunks
            )
        except _FAILURES as error:
            raise self._lost(error) from error
        made: ArtifactTold = read_answer(ArtifactTold, reply.status, reply.body)
        return made

    def download(self, thread_id: str, ref: str, path: Path) -> None:
        """Write an artifact to a file, which is whole and verified afterwards, or as it was; raises its `OSError`."""
        part = path.with_name(f".{path.name}.part")
        hashed = sha256()
        target = f"/threads/{quote(thread_id, safe='')}/artifacts/{quote(ref, safe='')}/content"
        try:
            with self._stream("GET", target, self._waits) as response, part.open("wb") as file:
                for chunk in response.iter_stream():
                    hashed.update(chunk)
                    file.write(chunk)
            if hashed.hexdigest() != ref:
                raise TerselyError("artifact_damaged", f"artifact {ref} came back as something else", "try again")
            part.replace(path)
        except _FAILURES as error:
            raise self._lost(error) from error
        finally:
            part.unlink(missing_ok=True)

    def page(self, path: str) -> str:
        """The address of a page for a browser, which it signs in: it works once, and for two minutes."""
        told: TicketTold = self(request("ticket_new"))
        query = urlencode({"ticket": told.ticket, "next": f"/ui/{path}"})
        return f"{told.url}/ui/login?{query}"

    def close(self) -> None:
        """Let go of all connections. No thread may be asking any more."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _asked(self, method: str, target: str, content: bytes | None, headers: Mapping[str, str]) -> http.Reply:
        """A whole answer; raises `daemon_unavailable`."""
        # A connection that was kept may just be closed by the relay: then nothing was read, and it may be asked again.
        is_kept = any(connection.is_idle() for connection in self._pool.connections)
        url = _BASE + target
        while True:
            try:
                return http.ask(self._pool, method, url, self._waits, MAX_REPLY_BYTES, headers=headers, content=content)
            except http.DISCONNECTIONS as error:
                if not is_kept:
                    raise self._lost(error) from error
                is_kept = False
            except _FAILURES as error:
                raise self._lost(error) from error

    def _events(self, thread_id: str, after: int) -> Generator[EventTold, None, None]:
        path = f"/threads/{quote(thread_id, safe='')}/events/stream?after={after}"
        with self._stream("GET", path, http.waits(self._seconds, EVENT_SILENCE_SECONDS)) as response:
            for line in http.lines(response):
                if line.startswith(b"data: "):
                    yield decoded(EventTold, line[6:])

    @contextmanager
    def _stream(self, method: str, target: str, waits: dict[str, Any]) -> Iterator[http.Response]:
        """An answer that is read as it comes; raises what the relay said instead."""
        with http.stream(self._pool, method, _BASE + target, waits, headers=self._headers) as response:
            if response.status != 200:
                raise failure_of(response.status, http.body(response, MAX_REPLY_BYTES))
            yield response

    def _lost(self, error: Exception) -> TerselyError:
        if isinstance(error, http.ForeignPeerError):
            return TerselyError("not_a_relay", str(error), "nothing was sent to it")
        is_absent = isinstance(error, http.ConnectError) and not isinstance(error, http.ConnectTimeout)
        if is_absent:
            return TerselyError(
                "daemon_not_running", f"no relay listens at {self._socket}: {http.reason(error)}", _START
            )
        return TerselyError("daemon_unavailable", f"the relay at {self._socket}: {http.reason(error)}", _LOOK)


class AsyncClient:
    """The same for an event loop: the questions wait in threads."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @classmethod
    def local(cls, agent: str = "local", home: Path | None = None) -> Self:
        """A client of this user's relay; raises `daemon_not_running`."""
        return cls(Client.local(agent, home))

    async def __call__(self, request: Request[AnswerT]) -> AnswerT:
        """Ask, as `Client` does."""
        return await asyncio.to_thread(self._client, request)

    async def tail(self, thread_id: str, after: int = 0) -> AsyncGenerator[EventTold, None]:
        """The events of a thread after a number, and those to come."""
        done: Any = object()
        with closing(self._client.tail(thread_id, after)) as events:
            while (event := await asyncio.to_thread(next, events, done)) is not done:
                yield event

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self._client.close)
