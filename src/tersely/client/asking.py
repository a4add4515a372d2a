"""Clients of the relay. What they send and read is decided by the question; they only carry it."""

from __future__ import annotations

import asyncio
import http.client
from collections.abc import AsyncGenerator, Generator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from threading import local
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, Self, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from tersely.client.request import Request, failure_of, read_answer, request
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import BLOB_CHUNK_BYTES, CLIENT_SECONDS, EVENT_SILENCE_SECONDS
from tersely.protocols.relay.place import home_directory, owner
from tersely.protocols.relay.shapes import ArtifactTold, EventTold, TicketTold

AnswerT = TypeVar("AnswerT")
_TOKEN = "token"  # noqa: S105 - the name of the file


class Address(NamedTuple):
    """Where a relay listens, and the secret that it wants to see."""

    host: str
    port: int
    token: str

    @classmethod
    def local(cls, home: Path | None = None) -> Self:
        """The relay of this user; raises `daemon_not_running` where none has been started."""
        home = home or home_directory()
        found = owner(home)
        try:
            secret = (home / _TOKEN).read_text().strip()
        except OSError:
            found, secret = None, ""
        if found is None:
            raise TerselyError("daemon_not_running", f"no relay serves {home}", "tersely up starts one")
        return cls("127.0.0.1", found.port, secret)


class Client:
    """Asks one relay as one agent. May be used from several threads, each of which has a connection of its own."""

    def __init__(self, address: Address, agent: str = "local", seconds: float = CLIENT_SECONDS) -> None:
        self._address = address
        self._seconds = seconds
        self._headers = {"Authorization": f"Bearer {address.token}", "X-Relay-Agent": agent}
        self._mine = local()
        self._all: list[http.client.HTTPConnection] = []  # of every thread

    @classmethod
    def local(cls, agent: str = "local", home: Path | None = None) -> Self:
        """A client of this user's relay; raises `daemon_not_running`."""
        return cls(Address.local(home), agent)

    def __call__(self, request: Request[AnswerT]) -> AnswerT:
        """Ask; raises what the relay said instead of an answer, or `daemon_unavailable`."""
        content = request.content()
        headers = {**self._headers, "Content-Type": str(request.operation.takes)}
        headers |= {name: value for name, value in request.headers.items() if value}
        # A connection that was kept may have been closed meanwhile: then nothing was read, and it may be asked again.
        for is_kept in (True, False):
            connection = self._connection(is_kept=is_kept)
            try:
                connection.request(request.operation.method, request.target, content, headers)
                response = connection.getresponse()
                return request.answer(response.status, response.read())
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError) as error:
                self._drop(connection)
                if not is_kept:
                    raise self._lost(error) from error
            except (OSError, http.client.HTTPException) as error:
                self._drop(connection)
                raise self._lost(error) from error
        raise AssertionError("unreachable")

    def tail(self, thread_id: str, after: int = 0) -> Generator[EventTold, None, None]:
        """The events of a thread after a number, and those to come, for as long as they are wanted."""
        while True:
            try:
                with closing(self._stream(thread_id, after)) as events:
                    for event in events:
                        after = event.seq
                        yield event
            except (OSError, http.client.HTTPException) as error:
                if isinstance(error, ConnectionRefusedError):
                    raise self._lost(error) from error

    def upload(self, thread_id: str, file: BinaryIO, *, name: str = "", type: str = "") -> ArtifactTold:
        """Store what a file holds, from where it stands to its end, without holding it in memory."""
        query = urlencode({key: value for key, value in (("name", name), ("type", type)) if value})
        path = f"/threads/{quote(thread_id, safe='')}/artifacts?{query}"
        chunks = iter(lambda: file.read(BLOB_CHUNK_BYTES), b"")
        headers = {**self._headers, "Content-Type": "application/octet-stream"}
        with closing(self._fresh(self._seconds)) as connection:
            try:
                connection.request("PUT", path, chunks, headers, encode_chunked=True)
                response = connection.getresponse()
                made: ArtifactTold = read_answer(ArtifactTold, response.status, response.read())
                return made
            except (ConnectionError, TimeoutError, http.client.HTTPException) as error:
                raise self._lost(error) from error

    def download(self, thread_id: str, ref: str, path: Path) -> None:
        """Write an artifact to a file, which is whole and verified afterwards, or as it was; raises its `OSError`."""
        part = path.with_name(f".{path.name}.part")
        hashed = sha256()
        with closing(self._fresh(self._seconds)) as connection:
            try:
                target = f"/threads/{quote(thread_id, safe='')}/artifacts/{quote(ref, safe='')}/content"
                connection.request("GET", target, headers=self._headers)
                response = connection.getresponse()
                if response.status != 200:
                    raise failure_of(response.status, response.read())
                with part.open("wb") as file:
                    while chunk := response.read(BLOB_CHUNK_BYTES):
                        hashed.update(chunk)
                        file.write(chunk)
                if hashed.hexdigest() != ref:
                    raise TerselyError("artifact_damaged", f"artifact {ref} came back as something else", "try again")
                part.replace(path)
            except (ConnectionError, TimeoutError, http.client.HTTPException) as error:
                raise self._lost(error) from error
            finally:
                part.unlink(missing_ok=True)

    def page(self, path: str) -> str:
        """The address of a page for a browser, which it signs in: it works once, and for two minutes."""
        told: TicketTold = self(request("ticket_new"))
        query = urlencode({"ticket": told.ticket, "next": f"/ui/{path}"})
        return f"http://{self._address.host}:{self._address.port}/ui/login?{query}"

    def close(self) -> None:
        """Let go of all connections. No thread may be asking any more."""
        while self._all:
            self._all.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connection(self, *, is_kept: bool) -> http.client.HTTPConnection:
        kept: http.client.HTTPConnection | None = getattr(self._mine, "connection", None)
        if kept is None or not is_kept:
            kept = self._fresh(self._seconds)
            self._mine.connection = kept
            self._all.append(kept)
        return kept

    def _fresh(self, seconds: float) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._address.host, self._address.port, timeout=seconds)

    def _drop(self, connection: http.client.HTTPConnection) -> None:
        connection.close()
        self._all.remove(connection)
        self._mine.connection = None

    def _stream(self, thread_id: str, after: int) -> Generator[EventTold, None, None]:
        with closing(self._fresh(EVENT_SILENCE_SECONDS)) as connection:
            path = f"/threads/{quote(thread_id, safe='')}/events/stream?after={after}"
            connection.request("GET", path, headers=self._headers)
            response = connection.getresponse()
            if response.status != 200:
                raise failure_of(response.status, response.read())
            for line in iter(response.readline, b""):
                if line.startswith(b"data: "):
                    yield msgspec.json.decode(line[6:], type=EventTold)

    def _lost(self, error: Exception) -> TerselyError:
        where = f"{self._address.host}:{self._address.port}"
        why = str(error) or type(error).__name__
        return TerselyError("daemon_unavailable", f"the relay at {where}: {why}", "tersely up starts one")


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
