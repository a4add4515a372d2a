"""Clients of the relay. What they send and read is decided by the question; they only carry it."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import AsyncGenerator, Generator
from contextlib import closing
from pathlib import Path
from threading import local
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar
from urllib.parse import quote

import msgspec

from laconic.client.request import Request
from laconic.foundation.errors import LaconicError
from laconic.foundation.limits import CLIENT_SECONDS, EVENT_SILENCE_SECONDS
from laconic.protocols.relay.place import home_directory, owner
from laconic.protocols.relay.shapes import EventTold

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
            raise LaconicError("daemon_not_running", f"no relay serves {home}", "laconic up starts one")
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
            kept = http.client.HTTPConnection(self._address.host, self._address.port, timeout=self._seconds)
            self._mine.connection = kept
            self._all.append(kept)
        return kept

    def _drop(self, connection: http.client.HTTPConnection) -> None:
        connection.close()
        self._all.remove(connection)
        self._mine.connection = None

    def _stream(self, thread_id: str, after: int) -> Generator[EventTold, None, None]:
        connection = http.client.HTTPConnection(self._address.host, self._address.port, timeout=EVENT_SILENCE_SECONDS)
        with closing(connection):
            path = f"/threads/{quote(thread_id, safe='')}/events/stream?after={after}"
            connection.request("GET", path, headers=self._headers)
            response = connection.getresponse()
            if response.status != 200:
                told = json.loads(response.read())
                raise LaconicError(told["code"], told["message"], told["hint"])
            for line in iter(response.readline, b""):
                if line.startswith(b"data: "):
                    yield msgspec.json.decode(line[6:], type=EventTold)

    def _lost(self, error: Exception) -> LaconicError:
        where = f"{self._address.host}:{self._address.port}"
        why = str(error) or type(error).__name__
        return LaconicError("daemon_unavailable", f"the relay at {where}: {why}", "laconic up starts one")


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
