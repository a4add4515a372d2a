"""A talk listener that is joined to the relay: what is sent to its name there lands in its inbox,
and its owner's messages to names of the relay go out through it.

Any process of the machine may connect to a port, and only this user's to the relay. So what is
passed on has to show a key that stands in the listener's own files.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from tersely.ai_talk import commands, lifecycle, place, process
from tersely.ai_talk.failures import EXIT_OK, TalkError
from tersely.ai_talk.inbox import peek
from tersely.ai_talk.listener import MAX_REMEMBERED_IDS, Keep, inbox_keeper
from tersely.ai_talk.messages import BINARY, JSON, Message, value_of
from tersely.ai_talk.place import Limits, Listening
from tersely.ai_talk.process import Held
from tersely.client.peer import Busy, Delivery, Peer
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import CLIENT_SECONDS

REJOIN_SECONDS = 1.0  # until a lost relay is looked for again


def main(words: Sequence[str], program: str, show: commands.Show) -> int:
    """`talk join`: start a listener that is joined, and show what it says of itself; the exit
    status.
    """

    def join() -> int:
        show(_start(words, program))
        return EXIT_OK

    return commands.answered(join, show)


def _start(words: Sequence[str], program: str) -> dict[str, Any]:
    parser = commands.Parser(
        prog=program, allow_abbrev=False, description="A listener that is joined to the relay."
    )
    parser.add_argument("--name", required=True, help="what it is called, here and there")
    parser.add_argument("--port", help="where it listens; any free port will do")
    commands.add_json(parser)
    given = parser.parse_args(list(words))
    port = 0 if given.port is None else place.checked_port(given.port)
    asked = Listening(place.home(), port, name=commands.checked_name(given.name), relay=True)
    return lifecycle.start(asked, __name__, [path for path in sys.path if path])


def run(words: str, ready: int) -> None:
    """Be such a listener."""
    process.run(words, ready, keeping_joined)


@asynccontextmanager
async def keeping_joined(held: Held, limits: Limits) -> AsyncIterator[Keep]:
    """Messages go into the inbox, or to the relay; while it lives, what the relay delivers goes
    into the inbox.
    """
    joint = _Joint(held, inbox_keeper(held.place, limits))
    await joint.connect()
    receiving = asyncio.create_task(joint.receive())
    try:
        yield joint.keep
    finally:
        receiving.cancel()
        await joint.peer.close()


class _Joint:
    """One listener and its connection to the relay."""

    def __init__(self, held: Held, keep_here: Keep) -> None:
        self._held, self._keep_here = held, keep_here
        self._name, self._key = held.record["name"], held.record["relay_key"]
        self._loop = asyncio.get_running_loop()
        kept = (one.message.get("id") for one in peek(held.place.inbox_shelf))
        self._known: dict[str, None] = dict.fromkeys(one for one in kept if isinstance(one, str))
        self.peer: Peer

    async def connect(self) -> None:
        """Raises `CONNECTION_REFUSED` where no relay listens, `RELAY_REFUSED`."""
        try:
            self.peer = await Peer.connect(self._name, program="talk")
        except TerselyError as error:
            code = "CONNECTION_REFUSED" if error.code == "daemon_not_running" else "RELAY_REFUSED"
            raise TalkError(code, error.message, relay_code=error.code) from error

    def keep(self, message: Message) -> dict[str, Any]:
        """Called by a thread: keep a message, or pass it on and wait for what the relay says."""
        if not message.key:
            return self._keep_here(message)
        if not hmac.compare_digest(message.key.encode(), self._key.encode()):
            raise TalkError("RELAY_REFUSED", "that is not the key of this listener")
        return asyncio.run_coroutine_threadsafe(self._pass_on(message), self._loop).result(
            CLIENT_SECONDS
        )

    async def _pass_on(self, message: Message) -> dict[str, Any]:
        if message.type == BINARY:
            raise TalkError("INVALID_MESSAGE", "the relay takes text and JSON")
        value = value_of(message)
        data = value if message.type == JSON and isinstance(value, dict) else None
        to, body, thread = message.to, message.body.decode(), message.thread
        try:
            if to.startswith("#"):
                sent = await self.peer.post(to, body, thread=thread, id=message.id)
            else:
                about = message.reply_to
                sent = await self.peer.send(
                    to, body, data=data, thread=thread, reply_to=about, id=message.id
                )
        except Busy as error:
            raise TalkError(
                "RATE_LIMITED", str(error), retry_after_ms=round(error.retry_seconds * 1_000)
            ) from error
        except TerselyError as error:
            raise TalkError("RELAY_REFUSED", error.message, relay_code=error.code) from error
        told = {"id": sent.message_id, "durability": sent.durability, "recipients": sent.recipients}
        return {"status": "received", "relay": told}

    async def receive(self) -> None:
        """Take what comes; where the relay has gone, look for it until it is there again."""
        while True:
            try:
                async for delivery in self.peer.deliveries():
                    await self._take(delivery)
            except TerselyError:
                await self._connect_again()

    async def _connect_again(self) -> None:
        self.peer.drop()
        while True:
            await asyncio.sleep(REJOIN_SECONDS)
            try:
                await self.connect()
            except TalkError:
                continue
            return

    async def _take(self, delivery: Delivery) -> None:
        """Keep a delivery, then acknowledge it. One that comes again and is known is only
        acknowledged.
        """
        if delivery.id not in self._known:
            try:
                await asyncio.to_thread(self._keep_here, _message(delivery, self._name))
            except TalkError as error:
                await self.peer.nack(delivery, "BUSY", str(error))
                return
            self._known[delivery.id] = None
            while len(self._known) > MAX_REMEMBERED_IDS:
                del self._known[next(iter(self._known))]
        await self.peer.ack(delivery)


def _message(delivery: Delivery, name: str) -> Message:
    """A delivery as a message; one with data is JSON of both."""
    bare = Message(
        delivery.body.encode(),
        sender=delivery.sender,
        to=delivery.to or name,
        id=delivery.id,
        thread=delivery.thread,
        reply_to=delivery.reply_to,
    )
    if delivery.data is None:
        return bare
    both = json.dumps({"body": delivery.body, "data": delivery.data}).encode()
    return replace(bare, body=both, type=JSON)
