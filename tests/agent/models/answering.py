"""Servers that misbehave as told: they answer any request with the bytes that they were given, then
close or wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing

from tersely.agent.models.dialects.openai import ChatCompletions
from tersely.agent.models.protocol import Abilities, Chunk, Constraint, Model, ModelMessage
from tersely.agent.models.served import Dialect, KnownModel, ServedModel
from tersely.agent.models.wire import endpoint

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
HELLO = (ModelMessage("user", "hello"),)
PLAIN = Abilities(grammar=False, schema=False, tools=False, window=4_096, model="m", family="")


def model_at(url: str, dialect: Dialect | None = None) -> ServedModel:
    """A model without any ability; it speaks OpenAI's chat completions where no other dialect is
    named.
    """
    return ServedModel(endpoint(url), KnownModel(PLAIN), dialect or ChatCompletions())


def chunked(*parts: bytes, ends: bool = True) -> list[bytes]:
    """An answer in chunks, each sent by itself."""
    return [
        HEAD,
        *(b"%x\r\n%s\r\n" % (len(part), part) for part in parts),
        *([b"0\r\n\r\n"] if ends else []),
    ]


def refusal(status: str, body: bytes) -> list[bytes]:
    """An answer with another status."""
    return [f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body]


@asynccontextmanager
async def answering(parts: Sequence[bytes], stays: bool = False) -> AsyncIterator[str]:
    """A server that sends these parts to whoever asks; with `stays` it neither goes on nor closes.
    Gives its URL.
    """
    leaving = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer):
            head = await reader.readuntil(b"\r\n\r\n")
            size = next(
                (
                    int(line[15:])
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length:")
                ),
                0,
            )
            await reader.readexactly(size)
            for part in parts:
                writer.write(part)
                await writer.drain()
            if stays:
                await leaving.wait()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        leaving.set()
        server.close()
        await server.wait_closed()


async def everything(
    model: Model, constraint: Constraint | None = None, most_tokens: int = 64
) -> list[Chunk]:
    """All chunks of an answer to hello."""
    return [chunk async for chunk in model.stream(HELLO, constraint, most_tokens)]
