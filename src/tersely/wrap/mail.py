"""One name at the relay: what comes for it, and what it says; connected again whenever the
connection is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tersely.client.cassettes import kept
from tersely.client.peer import Busy, Delivery, Peer, Sent
from tersely.foundation.errors import TerselyError
from tersely.foundation.ids import new_id
from tersely.foundation.types import JsonMapping
from tersely.wrap.inline.commands import OutgoingMessage

RECONNECT_SECONDS = 20.0  # for which a question waits for the relay
UNDELIVERED = "undelivered"  # the message that a state is about
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.2, 5.0

# codes: the relay takes nothing now
AWAY = frozenset({"daemon_unavailable", "daemon_not_running", "busy"})

ResultT = TypeVar("ResultT")


class Who(NamedTuple):
    """As whom the relay knows a program."""

    name: str
    home: Path
    program: str
    task: str = ""
    directory: str = ""  # in which it works


class RunMail:
    """The connection of one name."""

    def __init__(self, who: Who, peer: Peer) -> None:
        self.who = who
        self._peer: Peer | None = peer
        self.session = peer.session_id  # which shows that somebody acts for this run
        self._resume_token = peer.resume_token
        self._token = peer.token
        self._channels: set[str] = set()  # that were joined
        self._connected = asyncio.Event()
        self._connected.set()

    @classmethod
    async def open(cls, who: Who) -> RunMail:
        """Connect; raises `daemon_not_running`, `name_taken`, `unauthorized`."""
        return cls(who, await _connect(who, ""))

    async def receive(self, take: Callable[[Delivery], Awaitable[None]]) -> None:
        """Hand over all that comes, for as long as this is awaited."""
        pause = _FIRST_PAUSE_SECONDS
        while True:
            if self._peer is None:
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
                try:
                    self._peer = await _connect(self.who, self._token, self._resume_token)
                except (TerselyError, OSError):
                    continue
                self._connected.set()
            pause = _FIRST_PAUSE_SECONDS
            try:
                async for delivery in self._peer.deliveries():
                    await take(delivery)
            except TerselyError:  # the connection is lost
                self._lose()

    async def send(self, message: OutgoingMessage, id: str) -> Sent:
        """Say something, and go on trying until the relay answers; its receipt. Raises what refuses
        it.

        Said again with the same `id`, it is accepted once.
        """
        while True:
            try:
                return await self._with_peer(lambda peer: self._say(peer, message, id))
            except Busy as busy:
                await asyncio.sleep(busy.retry_seconds)
            except TerselyError as error:
                if error.code not in AWAY and error.code != "timed_out":
                    raise
                await asyncio.sleep(_FIRST_PAUSE_SECONDS)

    async def _say(self, peer: Peer, message: OutgoingMessage, id: str) -> Sent:
        if message.to.startswith("#"):
            if message.to not in self._channels:
                await peer.join(message.to)
                self._channels.add(message.to)
            return await peer.post(message.to, message.body, thread=message.thread, id=id)
        return await peer.send(
            message.to, message.body, kind=message.kind, thread=message.thread, topic=message.topic,
            data=message.data or None, id=id,
        )  # fmt: skip

    async def ask(self, service: str, method: str, parameters: JsonMapping) -> Any:
        """Ask a service, for words where it has them; raises `service_not_found`, `service_error`,
        `timed_out`.
        """
        return await self._with_peer(
            lambda peer: peer.ask(service, method, parameters, in_words=True)
        )

    async def took(self, delivery: Delivery) -> None:
        """A message has been typed in and taken."""
        await self._with_peer(lambda peer: _took(peer, delivery))

    async def read(self, delivery: Delivery) -> None:
        """A message has come that is not to be typed in, or was before."""
        await self._with_peer(lambda peer: peer.ack(delivery))

    async def not_taken(self, delivery: Delivery, why: str) -> None:
        """Tell the sender of a message why it is not taken; it waits on."""
        data = {UNDELIVERED: delivery.id}
        await self.send(
            OutgoingMessage(delivery.sender, why, delivery.thread, delivery.topic, "state", data),
            new_id(),
        )

    def tell_state(self, state: str, screen: str = "") -> bool:
        """Have others see what the program does, and its screen; whether the relay is there to hear
        it.
        """
        if self._peer is None or not self.is_connected:
            return False
        try:
            self._peer.tell_state(state, screen)
        except TerselyError:
            return False
        return True

    async def keep(self, text: str, name: str) -> str:
        """Keep a long text as an artifact; its reference, as short as it is unique."""
        return await asyncio.to_thread(_kept, text, name, self.who.name)

    @property
    def is_connected(self) -> bool:
        """True if the relay is there."""
        return self._connected.is_set()

    async def close(self) -> None:
        """Say goodbye."""
        if self._peer is not None:
            await self._peer.close()

    async def _with_peer(self, do: Callable[[Peer], Awaitable[ResultT]]) -> ResultT:
        try:
            async with asyncio.timeout(RECONNECT_SECONDS):
                await self._connected.wait()
        except TimeoutError:
            raise TerselyError(
                "daemon_not_running", "the relay does not answer", "tersely up starts it"
            ) from None
        assert self._peer is not None
        return await do(self._peer)

    def _lose(self) -> None:
        peer, self._peer = self._peer, None
        self._connected.clear()
        if peer is not None:
            self._resume_token = peer.resume_token
            peer.drop()


async def _took(peer: Peer, delivery: Delivery) -> None:
    await peer.receipt(delivery, "injected")
    await peer.ack(delivery)


async def _connect(who: Who, token: str, resume_token: str = "") -> Peer:
    return await Peer.connect(
        who.name,
        home=who.home,
        token=token,
        resume_token=resume_token,
        program=who.program,
        task=who.task,
        directory=who.directory,
    )


def _kept(text: str, name: str, agent: str) -> str:
    from tersely.client import Client

    with Client.local(agent) as relay:
        return str(kept(relay, text, name, 0)["short"])
