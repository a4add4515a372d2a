"""Models behind OpenAI's protocol: llama.cpp's server as it is, and servers that break off, lie or
fall silent.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from bench.modelserver.scripts import write_scripted
from bench.modelserver.server import Server
from tests.agent.model_servers import Scripted
from tests.agent.models.answering import (
    HELLO,
    PLAIN,
    answering,
    chunked,
    everything,
    model_at,
    refusal,
)

from tersely.agent.models import wire
from tersely.agent.models.connecting import connect, probe
from tersely.agent.models.dialects.openai import ChatCompletions
from tersely.agent.models.protocol import (
    Chunk,
    Constraint,
    ModelMessage,
    Prompt,
    RawCall,
    RequestUsage,
)
from tersely.agent.models.served import KnownModel, ModelRequest
from tersely.foundation.errors import TerselyError

LONG = "word " * 3_000


def event(**fields: object) -> bytes:
    return b"data: " + json.dumps(fields).encode() + b"\n\n"


def delta(stop: str | None = None, **fields: object) -> bytes:
    return event(choices=[{"index": 0, "delta": fields, "finish_reason": stop}])


DONE = b"data: [DONE]\n\n"


def heard(parts: Sequence[bytes], stays: bool = False) -> list[Chunk]:
    async def listen() -> list[Chunk]:
        async with answering(parts, stays) as url:
            return await everything(model_at(url))

    return asyncio.run(listen())


def said(chunks: Sequence[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks)


def test_an_answer_streams_from_a_real_server(scripted: Scripted) -> None:
    server = scripted(["Hello there.", "Bye."])

    async def talk() -> tuple[list[Chunk], list[Chunk]]:
        model = await connect(server.url)
        first = await everything(model)
        later = (*HELLO, ModelMessage("assistant", "Hello there."), ModelMessage("user", "go"))
        return first, [chunk async for chunk in model.stream(later, None, 64)]

    first, second = asyncio.run(talk())
    assert said(first) == "Hello there."
    assert len([chunk for chunk in first if chunk.text]) > 2
    assert first[-1].stop == "end"
    assert said(second) == "Bye."
    before, usage = first[-1].usage, second[-1].usage
    assert before is not None
    assert usage is not None
    assert usage.cached_tokens is not None
    assert usage.cached_tokens >= before.prompt_tokens + before.completion_tokens - 1


def test_a_server_is_asked_what_it_can_do(scripted: Scripted) -> None:
    server = scripted(["Hello."], window=2_048)
    model = asyncio.run(connect(server.url))
    can = model.abilities
    assert (can.server, can.grammar, can.schema, can.window, can.model) == (
        "llama.cpp",
        True,
        True,
        2_048,
        "scripted0",
    )
    report = asyncio.run(probe(server.url))
    works = {finding.what: finding.works for finding in report.findings}
    assert works == {
        "streaming": True,
        "grammar": True,
        "schema": True,
        "tools": False,
        "window": True,
    }
    assert report.abilities == can


def test_an_answer_is_held_to_its_constraint(model_server: Server) -> None:
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}

    async def ask(constraint: Constraint) -> str:
        return said(await everything(await connect(model_server.url), constraint))

    assert asyncio.run(ask(Constraint(grammar='root ::= "yes" | "no"'))) in {"yes", "no"}
    assert isinstance(json.loads(asyncio.run(ask(Constraint(schema=schema))))["ok"], bool)


def test_a_real_server_calls_functions_and_keeps_its_cache(tmp_path: Path) -> None:
    path = tmp_path / "caller.gguf"
    script = [
        '<tool_call>\n{"name": "read", "arguments": {"path": "a.py"}}\n</tool_call>',
        "It has x.",
    ]
    write_scripted(path, script, has_tools=True)
    parameters = {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
    }
    tools = Constraint(
        tools=({"name": "read", "description": "numbered lines", "parameters": parameters},)
    )
    prompt: Prompt = (ModelMessage("system", "Be brief."), ModelMessage("user", "What is in a.py?"))

    async def talk(url: str) -> tuple[Chunk, Chunk, str]:
        model = await connect(url)
        assert model.abilities.tools
        *_, called = [chunk async for chunk in model.stream(prompt, tools, 200)]
        answered = (
            *prompt, ModelMessage("assistant", "", called.calls), ModelMessage("tool", "x = 1", (), called.calls[0].id)
        )  # fmt: skip
        chunks = [chunk async for chunk in model.stream(answered, tools, 200)]
        return called, chunks[-1], said(chunks)

    with Server(path, window=16_384, slots=2) as server:
        called, ended, text = asyncio.run(talk(server.url))
    assert [call[:2] for call in called.calls] == [("read", '{"path": "a.py"}')]
    assert (called.stop, text, ended.stop) == ("calls", "It has x.", "end")
    before, usage = called.usage, ended.usage
    assert before is not None
    assert usage is not None
    assert usage.cached_tokens is not None
    assert usage.cached_tokens >= before.prompt_tokens, "the tools and the call are as they were"


def test_a_prompt_beyond_the_window_is_told_so(scripted: Scripted) -> None:
    server = scripted(["Hello."], window=512)

    async def ask() -> None:
        model = await connect(server.url)
        async for _ in model.stream((ModelMessage("user", LONG),), None, 8):
            pass

    with pytest.raises(TerselyError) as raised:
        asyncio.run(ask())
    assert raised.value.code == "window_exceeded"
    assert "512" in raised.value.message


def test_a_server_that_is_killed_in_the_middle_is_told(scripted: Scripted) -> None:
    server = scripted([LONG])

    async def ask() -> None:
        model = await connect(server.url)
        async for _ in model.stream(HELLO, None, 5_000):
            server.kill()

    with pytest.raises(TerselyError) as raised:
        asyncio.run(ask())
    assert raised.value.code == "model_unavailable"
    assert "no server of models listens" in raised.value.message


def test_a_stream_that_is_left_stops_the_model(scripted: Scripted) -> None:
    server = scripted([LONG, "Hello."])

    async def ask() -> str:
        model = await connect(server.url)
        stream = model.stream(HELLO, None, 5_000)
        await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]
        later = (*HELLO, ModelMessage("assistant", "word"), ModelMessage("user", "go"))
        return said([chunk async for chunk in model.stream(later, None, 64)])

    assert asyncio.run(ask()) == "Hello."  # there is one slot, which had to become free


def test_nobody_listens() -> None:
    with pytest.raises(TerselyError) as raised:
        asyncio.run(connect("http://127.0.0.1:9"))
    assert raised.value.code == "model_unavailable"
    assert "llama-server" in raised.value.hint


def test_a_model_that_is_not_there_is_told_with_those_that_are(scripted: Scripted) -> None:
    server = scripted(["Hello."])
    with pytest.raises(TerselyError) as raised:
        asyncio.run(connect(server.url, "qwen3"))
    assert raised.value.code == "model_unavailable"
    assert "scripted0" in raised.value.hint


def test_calls_and_thoughts_are_put_together_from_their_parts() -> None:
    first = {
        "index": 0,
        "id": "c1",
        "type": "function",
        "function": {"name": "read", "arguments": ""},
    }
    second = {"index": 0, "function": {"arguments": '{"path": '}}
    third = {"index": 0, "function": {"arguments": '"a.py"}'}}
    parts = [
        delta(reasoning_content="hm"),
        delta(content="I look."),
        *(delta(tool_calls=[each]) for each in (first, second, third)),
    ]
    usage = event(
        choices=[],
        usage={
            "prompt_tokens": 9,
            "completion_tokens": 4,
            "prompt_tokens_details": {"cached_tokens": 8},
        },
    )
    chunks = heard(chunked(*parts, delta("tool_calls"), usage, DONE))
    assert [chunk.thought for chunk in chunks] == ["hm", "", ""]
    assert said(chunks) == "I look."
    assert chunks[-1] == Chunk(
        calls=(RawCall("read", '{"path": "a.py"}', "c1"),),
        usage=RequestUsage(9, 8, 4),
        stop="calls",
    )


def test_what_cannot_be_written_down_is_not_let_in() -> None:
    usage = event(choices=[], usage={"prompt_tokens": 10**30, "completion_tokens": 4})
    calls = [delta(tool_calls=7), delta(tool_calls=[{"index": [], "function": {"name": "read"}}])]
    chunks = heard(
        chunked(delta(content="half \ud83d, whole \U0001f600"), *calls, delta("stop"), usage, DONE)
    )
    assert said(chunks) == "half \ufffd, whole \U0001f600"
    (call,) = chunks[-1].calls
    assert (call.name, call.arguments) == ("read", "")
    assert call.id, "an answer to it has to name it"
    assert chunks[-1].usage == RequestUsage(0, None, 4)


def test_events_are_read_however_the_network_cuts_them() -> None:
    whole = delta(content="ü✓") + delta(content="!") + delta("stop") + DONE
    for cut in range(1, len(whole), 7):
        assert said(heard(chunked(whole[:cut], whole[cut:]))) == "ü✓!"


GOOD = delta(content="Hel")
ENDLESS = [delta(tool_calls=[{"index": number, "function": {"name": "x"}}]) for number in range(99)]


@pytest.mark.parametrize(
    ("parts", "code", "words"),
    [
        (chunked(GOOD, ends=False), "model_failed", "broke off in the middle"),
        (chunked(GOOD), "model_failed", "broke off in the middle"),
        (chunked(GOOD, b"data: {oops\n\n"), "model_failed", "no JSON: '{oops'"),
        (chunked(GOOD, b"data: [" + b"9" * 999 + b"]\n\n"), "model_failed", "no JSON"),
        (chunked(GOOD, b"data: 7\n\n"), "model_failed", "no JSON"),
        (chunked(GOOD, event(choices=[3])), "model_failed", "without a choice"),
        (chunked(GOOD, event(error={"message": "out of\nmemory"})), "model_failed", "broke off: out of memory"),
        (chunked(GOOD, event(error="exceeds the available context size")), "window_exceeded", "context size"),
        (chunked(delta(tool_calls=["x"])), "model_failed", "a call that is none"),
        (chunked(*ENDLESS), "model_failed", "without an end"),
        (chunked(b"data: " + b"x" * 2_000_000), "model_failed", "more than 1,000,000 bytes"),
        ([], "model_failed", "broke off before it answered"),
        ([b"what?\r\n\r\n"], "model_failed", "broke off"),
        ([b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 9_000], "model_failed", "broke off"),
        (refusal("500 Oops", b"<html>no</html>"), "model_failed", "refused: a web page (status 500), 3 times"),
        (refusal("400 No", b'{"error": {"message": "maximum context length"}}'), "window_exceeded", "maximum"),
        (refusal("401 No", b'{"error": {"message": "bad key"}}'), "model_unavailable", "bad key"),
        (refusal("404 No", b'{"error": "model not found"}'), "model_unavailable", "model not found"),
        (refusal("503 No", b'{"error": {"message": "Loading model"}}'), "model_unavailable", "Loading model"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_one_clear_error(parts: Sequence[bytes], code: str, words: str) -> None:
    with pytest.raises(TerselyError) as raised:
        heard(parts)
    assert raised.value.code == code
    assert words in raised.value.message
    assert "\n" not in raised.value.message
    assert len(raised.value.message) < 500


@pytest.mark.parametrize("said", [b"Welcome!", b"[]", b'{"data": 7}', b""])
def test_what_serves_no_models_is_told_from_a_server_without_one(said: bytes) -> None:
    async def one() -> None:
        async with answering(refusal("200 OK", said)) as url:
            with pytest.raises(
                TerselyError, match=r"model_unavailable: .* serves no models: it answers"
            ):
                await connect(url)

    asyncio.run(one())


def test_silence_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MODEL_SILENCE_SECONDS", 0.05)
    with pytest.raises(TerselyError, match="said nothing for") as raised:
        heard(chunked(GOOD, ends=False), stays=True)
    assert raised.value.code == "model_failed"


@pytest.mark.parametrize(
    ("constraint", "field"),
    [(Constraint(grammar="root ::= [a]"), "grammar"), (Constraint(schema={"type": "null"}), "response_format"),
     (Constraint(tools=({"name": "f", "parameters": {}},)), "tools"), (None, "")],
)  # fmt: skip
def test_one_constraint_is_sent(constraint: Constraint | None, field: str) -> None:
    body = ChatCompletions().body(KnownModel(PLAIN), ModelRequest(HELLO, constraint, 8))
    assert {"grammar", "response_format", "tools"} & set(body) == ({field} if field else set())


@pytest.mark.parametrize("url", ["", "ftp://x", "http://", "http://[", "http://x:port"])
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(TerselyError) as raised:
        wire.endpoint(url)
    assert raised.value.code == "invalid_argument"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://h/a b", ""),
        ("http://h/\u00e9", ""),
        ("http://b\u00fccher", ""),
        ("h", "k\u00e9y"),
        ("h", "secret\nX: y"),
    ],
)
def test_what_no_request_can_carry_is_refused_and_no_key_is_told(url: str, key: str) -> None:
    with pytest.raises(TerselyError, match="invalid_argument") as raised:
        wire.endpoint(url, key)
    assert "secret" not in str(raised.value)


def test_urls_are_taken_as_people_write_them() -> None:
    assert wire.endpoint("localhost:8080/v1/") == wire.Endpoint("http", "localhost", 8080, "/v1")
    assert wire.endpoint("https://api.example.org/v1", "k\n") == wire.Endpoint(
        "https", "api.example.org", 443, "/v1", "k"
    )
    assert wire.endpoint("http://[::1]:80/proxy").url == "http://[::1]:80/proxy"
