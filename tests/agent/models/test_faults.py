"""Every protocol through faults: refusals for a time, cut streams, errors in streams, loading
servers.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.models.answering import HELLO
from tests.agent.models.provider import Provider, Refuse, Say, Step, listed, serving

from tersely.agent.models import retries, served
from tersely.agent.models.connecting import connect
from tersely.agent.models.protocol import Chunk, Constraint, Prompt, RawCall, RequestUsage
from tersely.agent.models.retries import Retries, TransientError, seconds_to_wait
from tersely.foundation.errors import TerselyError

KINDS = ("openai", "anthropic", "ollama")
READ = {
    "name": "read",
    "description": "read(path)",
    "parameters": {"type": "object", "properties": {}},
}
BEFORE = {"openai": 0, "anthropic": 3, "ollama": 0}  # events before the first word
TOOLS = Constraint(tools=(READ,))
LISTS = {
    "/v1/models": listed("m", max_model_len=8_192),
    "/api/tags": {"models": [{"name": "m"}]},
}


async def hear(provider: Provider, kind: str, prompt: Prompt = HELLO) -> list[Chunk]:
    """The chunks of one answer, without those of tries before it."""
    provider.lists = LISTS
    model = await connected(provider, kind)
    return [chunk async for chunk in model.stream(prompt, TOOLS, 64)]


async def connected(provider: Provider, kind: str) -> Any:
    """The model; a server that has to be tried out is asked for nothing but what is scripted."""
    steps, provider.steps = provider.steps, (Say("tersely"),)
    if kind == "ollama":
        provider.lists = {
            **provider.lists,
            "/api/show": {"capabilities": ["tools", "completion"], "model_info": {}},
        }
    model = await connect(provider.url, "m", kind)
    provider.steps = steps
    provider.sent.clear()
    return model


def heard(kind: str, *steps: Step) -> list[Chunk]:
    async def one() -> list[Chunk]:
        async with serving(*steps) as provider:
            return await hear(provider, kind)

    return asyncio.run(one())


def answer(chunks: list[Chunk]) -> str:
    """What the user has in the end: what was said since the answer began anew for the last time."""
    text = ""
    for chunk in chunks:
        text = chunk.text if chunk.restarts else text + chunk.text
    return text


def notices(chunks: list[Chunk]) -> list[str]:
    return [chunk.notice for chunk in chunks if chunk.notice]


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_has_text_thought_figures_and_an_end(kind: str) -> None:
    chunks = heard(kind, Say("Hello over there", thought="hm"))
    assert answer(chunks) == "Hello over there"
    assert "".join(chunk.thought for chunk in chunks) == "hm"
    assert chunks[-1].stop == "end"
    expected = {
        "openai": RequestUsage(9, 6, 4, 1),  "anthropic": RequestUsage(9, 6, 4, 1), "ollama": RequestUsage(9, None, 4),
    }  # fmt: skip
    assert chunks[-1].usage == expected[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_calls_come_whole(kind: str) -> None:
    calls = (RawCall("read", '{"path": "a.py"}', "c1"), RawCall("read", '{"path": "b.py"}', "c2"))
    chunks = heard(kind, Say("I read.", calls))
    assert [(call.name, call.arguments) for call in chunks[-1].calls] == [
        call[:2] for call in calls
    ]
    assert chunks[-1].stop == "calls"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [408, 429, 502, 503, 504, 529])
def test_a_refusal_for_a_time_is_waited_for(kind: str, status: int) -> None:
    chunks = heard(kind, Refuse(status, "not now"), Refuse(status, "not now"), Say("Hello."))
    assert answer(chunks) == "Hello."
    assert [notice.partition(" refused: ")[2] for notice in notices(chunks)] == [
        f"not now (status {status}); attempt 2 of 5 in 0 s",
        f"not now (status {status}); attempt 3 of 5 in 0 s",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_there_is_an_end_of_attempts(kind: str) -> None:
    async def one() -> int:
        async with serving(Refuse(503, "loading")) as provider:
            with pytest.raises(
                TerselyError, match=r"model_unavailable: .* \(status 503\), 5 times"
            ):
                await hear(provider, kind)
            return len(provider.asked())

    assert asyncio.run(one()) == retries.MAX_MODEL_ATTEMPTS


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        (
            Refuse(
                429,
                "You exceeded your current quota",
                body='{"error": {"code": "insufficient_quota"}}',
            ),
            "429",
        ),
        (Refuse(429, "no", {"X-Should-Retry": "false"}), "429"),
        (Refuse(500, "no", {"X-Should-Retry": "false"}), "500"),
        (Refuse(401, "no"), "401"),
        (Refuse(503, "no", {"Retry-After": "3600"}), "503"),
    ],
)
def test_what_time_does_not_mend_is_not_tried_again(refusal: Refuse, words: str) -> None:
    async def one() -> int:
        async with serving(refusal) as provider:
            with pytest.raises(TerselyError, match=f"status {words}"):
                await hear(provider, "anthropic")
            return len(provider.asked())

    assert asyncio.run(one()) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_fails_itself_is_asked_three_times(kind: str) -> None:
    chunks = heard(kind, Refuse(500, "oops"), Refuse(500, "oops"), Say("Hello."))
    assert answer(chunks) == "Hello."
    assert [notice.rpartition("; ")[2] for notice in notices(chunks)] == [
        "attempt 2 of 3 in 0 s",
        "attempt 3 of 3 in 0 s",
    ]

    async def attempts() -> int:
        async with serving(Refuse(500, "oops")) as provider:
            with pytest.raises(TerselyError, match=r"model_failed: .* \(status 500\), 3 times"):
                await hear(provider, kind)
            return len(provider.asked())

    assert asyncio.run(attempts()) == retries.MAX_DEFECT_ATTEMPTS


def test_a_server_that_does_not_begin_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "LATE_ANSWER_SECONDS", 0.0)
    chunks = heard("anthropic", Say("Hello over there"))
    assert answer(chunks) == "Hello over there"
    (notice,) = notices(chunks)
    assert "http://127.0.0.1:" in notice
    assert "has not begun to answer" in notice


PAGES = [
    "<!doctype html>\n<html><body>It works!</body></html>",
    "\n<!-- a proxy -->\n<HTML><head></head></HTML>",
]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("status", [200, 404])
def test_a_page_is_not_a_model_server(page: str, status: int) -> None:
    async def one() -> str:
        lists = {"/v1/models": Refuse(status, body=page), "/models": Refuse(status, body=page)}
        async with serving(lists=lists) as provider:
            with pytest.raises(TerselyError) as raised:
                await connect(provider.url, "m")
            return raised.value.message

    assert asyncio.run(one()).endswith("is not a model server: it answers with a web page")


@pytest.mark.parametrize("status", [200, 404])
def test_a_page_in_place_of_an_answer_is_not_a_model_server(status: int) -> None:
    page = Refuse(status, headers={"Content-Type": "text/html"}, body=PAGES[0])
    with pytest.raises(TerselyError, match="is not a model server"):
        heard("anthropic", page)


def test_a_page_of_a_proxy_whose_server_is_gone_for_a_moment_is_waited_for() -> None:
    chunks = heard("anthropic", Refuse(502, body=PAGES[0]), Say("Hello."))
    assert answer(chunks) == "Hello."
    assert "refused: a web page (status 502)" in notices(chunks)[0]


def test_a_server_is_waited_for_as_long_as_it_asks() -> None:
    moment, later = "Mon, 23 Nov 2026 10:00:00 GMT", "Mon, 23 Nov 2026 10:00:07 GMT"
    assert seconds_to_wait({"retry-after": "3"}) == 3
    assert seconds_to_wait({"retry-after": "1.5"}) == 1.5
    assert seconds_to_wait({"retry-after-ms": "250", "retry-after": "3"}) == 0.25
    assert seconds_to_wait({"retry-after": later, "date": moment}) == 7
    assert seconds_to_wait({"retry-after": moment, "date": later}) == 0
    now = seconds_to_wait({"retry-after": formatdate(time.time() + 60, usegmt=True)})
    assert now is not None
    assert 0 < now <= 61
    far = f"Mon, 01 Jan {10**20} 00:00:00 GMT"  # a year that no clock has
    for nothing in (
        {},
        {"retry-after": "soon"},
        {"retry-after": "-1"},
        {"retry-after": "inf"},
        {"retry-after": far},
    ):
        assert seconds_to_wait(nothing) is None


@given(st.lists(st.one_of(st.none(), st.floats(0, 1e6)), max_size=20))
def test_attempts_and_seconds_are_bounded(asked: list[float | None]) -> None:
    attempts, waited = Retries(), 0.0
    made = 1
    for seconds in asked:
        try:
            waited += attempts.wait(TransientError("model_failed", "no", wait_seconds=seconds))
        except TerselyError as error:
            assert "no" in error.message
            break
        made += 1
    assert made <= retries.MAX_MODEL_ATTEMPTS
    assert waited <= retries.MAX_MODEL_RETRY_SECONDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_stream_begins_anew(kind: str) -> None:
    whole = Say("one two three four")
    for cut in range(9):
        chunks = heard(kind, whole._replace(cut=cut), whole)
        assert answer(chunks) == whole.text, "and nothing was said twice"
        if cut < 4:
            assert any("broke off" in notice for notice in notices(chunks))


@pytest.mark.parametrize("kind", KINDS)
def test_a_connection_that_breaks_behind_the_end_is_no_fault(kind: str) -> None:
    chunks = heard(kind, Say("one two", cut=99), Say("another"))
    assert "".join(chunk.text for chunk in chunks) == "one two"
    assert notices(chunks) == []


@pytest.mark.parametrize("kind", KINDS)
def test_another_answer_after_a_cut_begins_anew_and_says_so(kind: str) -> None:
    chunks = heard(kind, Say("one two three four", cut=BEFORE[kind] + 3), Say("one other answer"))
    assert [chunk.restarts for chunk in chunks].count(True) == 1
    assert answer(chunks) == "one other answer"


@pytest.mark.parametrize("kind", KINDS)
def test_a_shorter_answer_after_a_cut_is_the_answer(kind: str) -> None:
    assert answer(heard(kind, Say("one two three four", cut=BEFORE[kind] + 3), Say("one"))) == "one"


ERRORS = {
    "openai": {"error": {"message": "try later", "code": 502}},
    "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "try later"}},
}


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_in_a_stream_is_tried_again_where_it_passes(kind: str) -> None:
    chunks = heard(kind, Say("one two", cut=3, broken=ERRORS[kind]), Say("one two"))
    assert answer(chunks) == "one two"
    assert "broke off: try later" in notices(chunks)[0]


@pytest.mark.parametrize("kind", KINDS)
def test_an_event_that_is_none_is_met_by_another_attempt(kind: str) -> None:
    chunks = heard(kind, Say("one two", cut=3, broken=["no object"]), Say("one two"))
    assert answer(chunks) == "one two"
    if kind != "ollama":  # which has ended before
        assert "sent what is no JSON" in notices(chunks)[0]


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("openai", {"error": {"message": "bad thing", "type": "invalid_request_error"}}),
        ("anthropic", {"type": "error", "error": {"type": "invalid_request_error", "message": "bad thing"}}),
    ],
)  # fmt: skip
def test_any_other_error_in_a_stream_ends_it(kind: str, error: dict[str, Any]) -> None:
    with pytest.raises(TerselyError, match=r"model_failed: .* broke off: bad thing"):
        heard(kind, Say("one two", cut=2, broken=error), Say("one two"))


def test_a_server_that_is_gone_for_a_moment_is_waited_for() -> None:
    async def one() -> list[Chunk]:
        async with serving() as provider:
            provider.lists = LISTS
            model = await connected(provider, "anthropic")
        chunks: list[Chunk] = []
        async with AsyncExitStack() as started:
            async for chunk in model.stream(HELLO, None, 64):
                chunks.append(chunk)
                if len(chunks) == 2:
                    await started.enter_async_context(serving(Say("Hello."), port=provider.port))
        return chunks

    chunks = asyncio.run(one())
    assert answer(chunks) == "Hello."
    assert "no server of models listens" in notices(chunks)[0]


def test_whoever_stops_listening_ends_the_wait() -> None:
    async def one() -> list[str]:
        async with serving(Refuse(503, "loading", {"Retry-After": "100"})) as provider:
            provider.lists = LISTS
            model = await connected(provider, "anthropic")
            stream = model.stream(HELLO, None, 64)
            first = await anext(stream)
            waiting = asyncio.ensure_future(anext(stream))
            await asyncio.wait([waiting], timeout=0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await stream.aclose()
            return [first.notice]

    (notice,) = asyncio.run(one())
    assert notice.endswith("attempt 2 of 5 in 100 s")


@pytest.mark.parametrize(
    ("kind", "stop", "meaning"),
    [
        ("openai", "length", "length"), ("openai", "content_filter", "end"),
        ("anthropic", "max_tokens", "length"), ("anthropic", "model_context_window_exceeded", "length"),
        ("anthropic", "stop_sequence", "end"), ("ollama", "length", "length"),
    ],
)  # fmt: skip
def test_an_answer_says_why_it_ended(kind: str, stop: str, meaning: str) -> None:
    assert heard(kind, Say("Hello.", stop=stop))[-1].stop == meaning


def test_a_model_that_declines_is_no_answer() -> None:
    with pytest.raises(TerselyError, match="declined"):
        heard("anthropic", Say("", stop="refusal"))
