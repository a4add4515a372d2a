"""Ollama's protocol: asked with its official client, then with ours; its window, and prompts that
it cuts silently.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import ollama
import pytest
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
from tests.agent.ollama import Front

from tersely.agent.models.connecting import connect, probe
from tersely.agent.models.dialects.ollama import OllamaChat, PromptSizes
from tersely.agent.models.protocol import Chunk, Constraint, Model, ModelMessage, Prompt, RawCall
from tersely.foundation.errors import TerselyError

WORDS = "some words that take room "


def line(**fields: Any) -> bytes:
    return json.dumps({"model": "m", "done": False, **fields}).encode() + b"\n"


def said(chunks: Sequence[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks)


async def ask(model: Model, prompt: Prompt, constraint: Constraint | None = None) -> list[Chunk]:
    return [chunk async for chunk in model.stream(prompt, constraint, 64)]


def test_the_official_client_finds_an_ollama(scripted: Scripted) -> None:
    with Front(scripted(["Hello there.", "Bye."])) as front:
        client = ollama.Client(front.url)
        assert [model.model for model in client.list().models] == ["scripted:latest"]
        assert client.show("scripted:latest").capabilities == ["completion"]
        messages = [{"role": "user", "content": "hello"}]
        parts = list(
            client.chat("scripted:latest", messages, stream=True, options={"num_ctx": 2_048})
        )
        assert "".join(part.message.content or "" for part in parts) == "Hello there."
        assert parts[-1].done_reason == "stop"
        assert parts[-1].prompt_eval_count
        whole = client.chat("scripted:latest", messages)
        assert whole.message.content == "Hello there."
        with pytest.raises(ollama.ResponseError, match="does not support tools"):
            client.chat(
                "scripted:latest", messages, tools=[{"type": "function", "function": {"name": "f"}}]
            )
        with pytest.raises(ollama.ResponseError):
            client.show("other")


def test_the_window_is_asked_for_in_every_request_and_stays(scripted: Scripted) -> None:
    with Front(scripted(["One.", "Two."])) as front:

        async def talk() -> list[str]:
            model = await connect(front.url, "scripted", window=2_048)
            assert model.abilities.window == 2_048
            later = (*HELLO, ModelMessage("assistant", "One."), ModelMessage("user", "go"))
            return [said(await ask(model, HELLO)), said(await ask(model, later))]

        assert asyncio.run(talk()) == ["One.", "Two."]
        assert [body["options"]["num_ctx"] for body in front.asked] == [2_048, 2_048]


def test_it_is_found_out_what_it_can_do(scripted: Scripted) -> None:
    with Front(scripted(["Hello."])) as front:
        report = asyncio.run(probe(front.url))
    works = {finding.what: finding.works for finding in report.findings}
    assert works == {"streaming": True, "schema": True, "tools": False, "window": True}
    assert (report.abilities.server, report.abilities.window, report.abilities.grammar) == (
        "ollama",
        8_192,
        False,
    )


def test_an_answer_is_held_to_a_schema(scripted: Scripted) -> None:
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    with Front(scripted(['{"ok": true}'])) as front:

        async def talk() -> str:
            return said(await ask(await connect(front.url), HELLO, Constraint(schema=schema)))

        assert json.loads(asyncio.run(talk())) == {"ok": True}


@pytest.mark.parametrize("knows_truncate", [True, False])
def test_a_prompt_that_is_cut_is_an_error_that_the_user_sees(
    scripted: Scripted, knows_truncate: bool
) -> None:
    history = tuple(
        ModelMessage("user" if number % 2 else "assistant", WORDS * 40) for number in range(5)
    )
    prompt = (ModelMessage("system", "Be brief."), *history, ModelMessage("user", "and now?"))
    with Front(scripted([]), knows_truncate=knows_truncate) as front:

        async def talk() -> None:
            model = await connect(front.url, window=512)
            await ask(model, prompt)

        with pytest.raises(TerselyError) as raised:
            asyncio.run(talk())
    assert raised.value.code == "window_exceeded"


def test_a_prompt_that_has_grown_cannot_be_smaller() -> None:
    sizes = PromptSizes(4_096)
    short = (ModelMessage("user", WORDS * 100),)
    sizes.check(short, 600)
    longer = (*short, ModelMessage("user", "more"))
    with pytest.raises(TerselyError, match="and 599 of them"):
        sizes.check(longer, 599)


def test_what_surrounds_messages_does_not_count() -> None:
    sizes = PromptSizes(4_096)
    prompt: Prompt = ()
    for times in (1, 10, 100):
        prompt += (ModelMessage("user", WORDS * times),)
        sizes.check(prompt, 200 + 5 * sum(len(message.content) for message in prompt) // len(WORDS))
    with pytest.raises(TerselyError, match="cut the prompt"):
        sizes.check((*prompt, ModelMessage("user", WORDS * 100)), 900)


def heard(parts: Sequence[bytes]) -> list[Chunk]:
    async def listen() -> list[Chunk]:
        async with answering(parts) as url:
            return await everything(model_at(url, OllamaChat(PLAIN.window)))

    return asyncio.run(listen())


DONE = line(
    message={"role": "assistant", "content": ""},
    done=True,
    done_reason="stop",
    prompt_eval_count=9,
    eval_count=2,
)


def test_lines_are_read_however_the_network_cuts_them() -> None:
    whole = (
        line(message={"content": "ü✓", "thinking": "hm"})
        + b"\n"
        + line(message={"content": "!"})
        + DONE
    )
    for cut in range(1, len(whole), 11):
        chunks = heard(chunked(whole[:cut], whole[cut:]))
        assert said(chunks) == "ü✓!"
        assert "".join(chunk.thought for chunk in chunks) == "hm"


def test_calls_come_whole() -> None:
    call = {"function": {"name": "read", "arguments": {"path": "a.py"}}}
    chunks = heard(chunked(line(message={"tool_calls": [call]}), DONE))
    assert chunks[-1].calls == (RawCall("read", '{"path": "a.py"}', "read#"),)
    assert chunks[-1].stop == "calls"


@pytest.mark.parametrize("calls", [7, "x", {"function": {}}, [7], [{"function": 7}]])
def test_calls_that_are_none_are_passed_over(calls: object) -> None:
    (chunk,) = heard(chunked(line(message={"content": "Hi", "tool_calls": calls}, done=True)))
    assert (chunk.text, chunk.calls, chunk.stop) == ("Hi", (), "end")


@pytest.mark.parametrize(
    ("parts", "code", "words"),
    [
        (
            chunked(line(message={"content": "Hel"}), ends=False),
            "model_failed",
            "broke off in the middle",
        ),
        (chunked(line(message={"content": "Hel"})), "model_failed", "broke off in the middle"),
        (chunked(b"{oops\n"), "model_failed", "no JSON: '{oops'"),
        (
            chunked(line(error="model runner has stopped")),
            "model_failed",
            "model runner has stopped",
        ),
        (chunked(line(error="exceeds the context")), "window_exceeded", "exceeds the context"),
        (chunked(b"x" * 2_000_000), "model_failed", "more than 1,000,000 bytes"),
        (
            refusal("404 No", b'{"error": "model \'m\' not found"}'),
            "model_unavailable",
            "not found",
        ),
    ],
)
def test_what_goes_wrong_is_one_clear_error(parts: Sequence[bytes], code: str, words: str) -> None:
    with pytest.raises(TerselyError) as raised:
        heard(parts)
    assert raised.value.code == code
    assert words in raised.value.message
