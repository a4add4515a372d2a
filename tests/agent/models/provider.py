"""A provider that answers as told in any of the protocols, and fails on demand. It keeps what it
was sent.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tersely.agent.models.protocol import RawCall

ANSWERS = {
    "/chat/completions": "openai",
    "/messages": "anthropic",
    "/api/chat": "ollama",
}


class Say(NamedTuple):
    """An answer. It is cut after so many events where `cut` is not negative."""

    text: str = ""
    calls: tuple[RawCall, ...] = ()
    thought: str = ""
    stop: str = ""  # as the protocol says it, where that is another than usual
    cut: int = -1
    broken: Any = None  # what is sent as an event where it is cut


class Refuse(NamedTuple):
    """A refusal."""

    status: int
    message: str = "no"
    headers: Mapping[str, str] = {}
    param: str = ""
    body: str = ""


class Sent(NamedTuple):
    """One request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


Step = Say | Refuse
Lists = Mapping[str, Any] | None


@dataclass
class Provider:
    """`steps` are the answers to requests for one, the last for ever; `lists` is what other paths
    answer.
    """

    steps: Sequence[Step]
    lists: Mapping[str, Any] = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def asked(self, ending: str = "") -> list[Sent]:
        """The requests for an answer, or those whose path ends so."""
        endings = (ending,) if ending else tuple(ANSWERS)
        return [each for each in self.sent if each.method == "POST" and each.path.endswith(endings)]

    def fetched(self) -> list[str]:
        """The paths of the other requests."""
        return [each.path for each in self.sent if each not in self.asked()]

    def answer(self, sent: Sent) -> Iterator[bytes]:
        self.sent.append(sent)
        protocol = next(
            (name for ending, name in ANSWERS.items() if sent.path.endswith(ending)), ""
        )
        if sent.method == "GET" or not protocol or not sent.body:
            yield from self._listed(sent)
            return
        position = min(len(self.asked()), len(self.steps)) - 1
        step = self.steps[position]
        if isinstance(step, Refuse):
            error = {"message": step.message, "param": step.param or None}
            yield _whole(step.status, step.body or {"error": error}, step.headers)
            return
        yield from _streamed(step, list(_EVENTS[protocol](step)))

    def _listed(self, sent: Sent) -> Iterator[bytes]:
        said = self.lists.get(sent.path)
        if isinstance(said, Refuse):
            yield _whole(
                said.status, said.body or {"error": {"message": said.message}}, said.headers
            )
        elif said is None:
            yield _whole(404, {"error": {"message": f"no route {sent.path}"}})
        else:
            yield _whole(200, said)


def listed(*names: str, **more: Any) -> dict[str, Any]:
    """A list of models, as OpenAI has it."""
    return {"object": "list", "data": [{"id": name, "object": "model", **more} for name in names]}


def _whole(status: int, body: Any, headers: Mapping[str, str] = {}) -> bytes:
    content = (body if isinstance(body, str) else json.dumps(body)).encode()
    head = f"HTTP/1.1 {status} Status\r\nContent-Length: {len(content)}\r\n"
    return (
        head + "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n"
    ).encode() + content


def _streamed(step: Say, events: Sequence[str]) -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    for event in events if step.cut < 0 else events[: step.cut]:
        yield _chunk(event)
    if step.broken is not None:
        yield _chunk(f"data: {json.dumps(step.broken)}\n\n")
    if step.cut < 0:
        yield b"0\r\n\r\n"


def _chunk(event: str) -> bytes:
    content = event.encode()
    return b"%x\r\n%s\r\n" % (len(content), content)


def _event(value: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(value)}\n\n"


def _words(text: str) -> list[str]:
    """The words of a text, each with the space behind it."""
    return re.findall(r"\S*\s|\S+", text)


def _chat(say: Say) -> Iterator[str]:
    def delta(stop: str | None = None, **fields: Any) -> str:
        return _event({"choices": [{"index": 0, "delta": fields, "finish_reason": stop}]})

    if say.thought:
        yield delta(reasoning_content=say.thought)
    for word in _words(say.text):
        yield delta(content=word)
    for position, call in enumerate(say.calls):
        function = {"name": call.name, "arguments": call.arguments}
        yield delta(
            tool_calls=[
                {"index": position, "id": call.id, "type": "function", "function": function}
            ]
        )
    yield delta(say.stop or ("tool_calls" if say.calls else "stop"))
    details = {"cached_tokens": 6, "cache_write_tokens": 2}
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": details,
             "completion_tokens_details": {"reasoning_tokens": 1}}  # fmt: skip
    yield _event({"choices": [], "usage": usage})
    yield "data: [DONE]\n\n"


def _anthropic(say: Say) -> Iterator[str]:
    usage = {
        "input_tokens": 1,
        "cache_read_input_tokens": 6,
        "cache_creation_input_tokens": 2,
        "output_tokens": 1,
    }
    yield _event(
        {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": usage}}
    )
    yield _event({"type": "ping"})
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if say.thought:
        parts = [
            {"type": "thinking_delta", "thinking": say.thought},
            {"type": "signature_delta", "signature": "sig"},
        ]
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, parts))
    if say.text:
        parts = [{"type": "text_delta", "text": word} for word in _words(say.text)]
        blocks.append(({"type": "text", "text": ""}, parts))
    for call in say.calls:
        half = len(call.arguments) // 2
        parts = [{"type": "input_json_delta", "partial_json": part}
                 for part in (call.arguments[:half], call.arguments[half:])]  # fmt: skip
        blocks.append(({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}, parts))
    for position, (block, parts) in enumerate(blocks):
        yield _event({"type": "content_block_start", "index": position, "content_block": block})
        for part in parts:
            yield _event({"type": "content_block_delta", "index": position, "delta": part})
        yield _event({"type": "content_block_stop", "index": position})
    stop = say.stop or ("tool_use" if say.calls else "end_turn")
    spent = {"output_tokens": 4, "output_tokens_details": {"thinking_tokens": 1}}
    yield _event({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": spent})
    yield _event({"type": "message_stop"})


def _ollama(say: Say) -> Iterator[str]:
    def line(**fields: Any) -> str:
        return json.dumps({"model": "m", "done": False, **fields}) + "\n"

    if say.thought:
        yield line(message={"role": "assistant", "content": "", "thinking": say.thought})
    for word in _words(say.text):
        yield line(message={"role": "assistant", "content": word})
    calls = [
        {"function": {"name": call.name, "arguments": json.loads(call.arguments)}}
        for call in say.calls
    ]
    if calls:
        yield line(message={"role": "assistant", "content": "", "tool_calls": calls})
    counts = {"prompt_eval_count": 9, "eval_count": 4}
    yield line(
        message={"role": "assistant", "content": ""},
        done=True,
        done_reason=say.stop or "stop",
        **counts,
    )


_EVENTS: Mapping[str, Callable[[Say], Iterator[str]]] = {
    "openai": _chat, "anthropic": _anthropic, "ollama": _ollama,
}  # fmt: skip


@asynccontextmanager
async def serving(
    *steps: Step, lists: Mapping[str, Any] | None = None, port: int = 0
) -> AsyncIterator[Provider]:
    """A running provider; it lists no model at any path where `lists` does not say so."""
    provider = Provider(steps, lists or {})

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer):
            lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            method, path, _ = lines[0].split(" ")
            pairs = (line.partition(": ") for line in lines[1:] if line)
            headers = {name.lower(): value for name, _, value in pairs}
            content = await reader.readexactly(int(headers.get("content-length", 0)))
            for part in provider.answer(
                Sent(method, path, headers, json.loads(content) if content else None)
            ):
                writer.write(part)
            await writer.drain()

    server = await asyncio.start_server(answer, "127.0.0.1", port)
    provider.port = server.sockets[0].getsockname()[1]
    try:
        yield provider
    finally:
        server.close()
        await server.wait_closed()
