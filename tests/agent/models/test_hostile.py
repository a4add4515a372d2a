"""Servers that send anything: what comes of it is chunks, or one error that is meant."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.models.answering import HELLO, PLAIN

from tersely.agent.models import refusals
from tersely.agent.models.dialects.anthropic import AnthropicMessages
from tersely.agent.models.dialects.ollama import OllamaChat
from tersely.agent.models.dialects.openai import ChatCompletions
from tersely.agent.models.known_servers.server_records import Interface
from tersely.agent.models.protocol import Chunk, Constraint, RawCall, RequestUsage
from tersely.agent.models.recognition import ModelListing, choose_model, window_in
from tersely.agent.models.served import Dialect, ModelRequest
from tersely.agent.models.wire import WholeReply, endpoint
from tersely.foundation.errors import TerselyError

PLACE = endpoint("http://127.0.0.1:1")
DIALECTS: list[Dialect] = [ChatCompletions(), AnthropicMessages(), OllamaChat(4_096)]
KINDS = ["message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop", "tool_use",
         "thinking", "input_json_delta", "signature_delta", "error", "x"]  # fmt: skip
NAMES = ["type", "message", "usage", "delta", "index", "content_block", "choices", "finish_reason", "tool_calls",
         "function", "name", "arguments", "id", "content", "text", "thinking", "done", "error", "stop_reason",
         "partial_json", "input_tokens"]  # fmt: skip
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=4),
        st.sampled_from(KINDS),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=12,
)
EVENTS = st.lists(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=5), max_size=6)


def check(chunk: Chunk) -> None:
    """That a chunk is what it says: nothing else of what a server sent comes further."""
    assert isinstance(chunk.text, str)
    assert isinstance(chunk.thought, str)
    assert chunk.stop in {"", "end", "length", "calls"}
    assert all(isinstance(part, str) for call in chunk.calls for part in call)
    assert all(isinstance(call, RawCall) for call in chunk.calls)
    if chunk.usage is not None:
        assert isinstance(chunk.usage, RequestUsage)
        assert all(figure is None or type(figure) is int for figure in chunk.usage)
    json.dumps(chunk)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: type(dialect).__name__)
@given(EVENTS)
def test_anything_in_a_stream_is_chunks_or_an_error(dialect: Dialect, events: list[Any]) -> None:
    reader = dialect.reader(PLACE, ModelRequest(HELLO, None, 64))
    with suppress(TerselyError):
        for event in events:
            prefix, end = ("", "\n") if isinstance(dialect, OllamaChat) else ("data: ", "\n\n")
            for chunk in reader.feed(f"{prefix}{json.dumps(event)}{end}".encode()):
                check(chunk)
        check(reader.last())


@given(VALUES, st.sampled_from([400, 401, 404, 422, 429, 500, 503, 529]))
def test_any_refusal_is_an_error_that_is_meant(body: Any, status: int) -> None:
    reply = WholeReply(status, body, json.dumps(body))
    assert isinstance(refusals.refusal_error(PLACE, "m", reply), TerselyError)
    assert refusals.ability_in_refusal(Constraint(grammar="x"), reply) in {"", "grammar"}
    assert refusals.parameter_in_refusal({"strict": "strict"}, reply) in {"", "strict"}
    assert 0 <= refusals.output_limit(64_000, reply) < 64_000
    assert isinstance(refusals.stream_error(PLACE, body, reply.text), TerselyError)


@given(
    st.lists(
        st.dictionaries(st.sampled_from(["id", "name", "meta", "context_length"]), VALUES),
        max_size=3,
    )
)
def test_any_list_of_models_has_names_and_windows(entries: list[Any]) -> None:
    listing = ModelListing(Interface("openai", "/v1"), entries)
    with suppress(TerselyError):
        assert isinstance(choose_model(PLACE, "m", listing), str)
    assert all(type(window_in(entry)) is int for entry in entries)
    assert PLAIN.model in {*listing.names(), "m"}
