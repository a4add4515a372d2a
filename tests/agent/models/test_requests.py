"""Every request against the types of the providers' own clients, which know each field that may be
sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

import ollama
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from tests.depth import examples

from tersely.agent.models.connecting import address
from tersely.agent.models.dialects.anthropic import AnthropicMessages
from tersely.agent.models.dialects.ollama import OllamaChat
from tersely.agent.models.dialects.openai import LLAMA_CPP, ChatCompletions
from tersely.agent.models.protocol import (
    Abilities,
    Constraint,
    ModelMessage,
    Prompt,
    RawCall,
    Thinking,
)  # fmt: skip
from tersely.agent.models.served import Dialect, KnownModel, ModelRequest
from tersely.agent.models.wire import endpoint
from tersely.agent.tool_calling.schema import envelope, functions
from tersely.agent.tools.table import TOOLS

DIALECTS: dict[str, type[Any]] = {
    "openai": ChatCompletions, "anthropic": AnthropicMessages, "ollama": OllamaChat,
}  # fmt: skip
TEXTS = st.text(max_size=20)
IDS = st.sampled_from(["call_1", "toolu_01", "read#", "a b", "x", ""])
CALLS = st.builds(
    RawCall,
    st.sampled_from(["read", "edit"]),
    st.sampled_from(["{}", '{"path": "a"}', "{oops"]),
    IDS,
)
SEVERAL = st.lists(CALLS, max_size=2, unique_by=lambda call: call.id).map(tuple)
PICTURES = st.sampled_from([(), ("iVBORw0KGgo=",), ("iVBORw0KGgo=", "iVBORw0KGg4=")])
MESSAGES = st.one_of(
    st.tuples(TEXTS, PICTURES).map(lambda parts: ModelMessage("user", parts[0], pictures=parts[1])),
    st.tuples(TEXTS, SEVERAL).map(lambda parts: ModelMessage("assistant", *parts)),
    st.tuples(TEXTS, IDS, PICTURES).map(
        lambda parts: ModelMessage("tool", parts[0], (), *parts[1:])
    ),
)
PROMPTS = st.lists(MESSAGES, max_size=8).map(
    lambda rest: (ModelMessage("system", "Be brief."), *rest, ModelMessage("user", "go"))
)
FUNCTIONS = functions(TOOLS)
CONSTRAINTS = st.sampled_from([
    None, Constraint(tools=FUNCTIONS), Constraint(schema=envelope(TOOLS)),
])  # fmt: skip
OPTIONS = st.sampled_from(Thinking)
LEARNT = ["stream_options", "parallel_tool_calls", "max_completion_tokens",
          "adaptive", "thinking", "think"]  # fmt: skip
REFUSED = st.frozensets(st.sampled_from(LEARNT))


def known(server: str, refused: frozenset[str] = frozenset()) -> KnownModel:
    can = Abilities(
        grammar=False, schema=True, tools=True, window=8_192, model="m", family="", server=server, thinking=True,
    )  # fmt: skip
    return KnownModel(can, refused)


def dialect(server: str) -> Dialect:
    made: Dialect = OllamaChat(8_192) if server == "ollama" else DIALECTS[server]()
    return made


def unknown_fields(value: Any, described: Any) -> Iterator[str]:
    """The fields of what was sent that the type has not, wherever they are."""
    if isinstance(value, dict) and isinstance(described, dict):
        for name, each in value.items():
            if name not in described:
                yield name
            else:
                yield from unknown_fields(each, described[name])
    elif isinstance(value, list) and isinstance(described, list):
        for each, other in zip(value, described, strict=True):
            yield from unknown_fields(each, other)


@cache
def request_type(server: str) -> TypeAdapter[Any]:
    """The type of a request in the provider's own client. The clients take most of the time in
    which all tests are collected, so whoever checks a request imports them.
    """
    if server == "anthropic":
        from anthropic.types.message_create_params import MessageCreateParamsStreaming

        return TypeAdapter(MessageCreateParamsStreaming, config=None)
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

    return TypeAdapter(CompletionCreateParamsStreaming, config=None)


def check(server: str, body: Mapping[str, Any]) -> None:
    """That a provider's client could have sent this: every field is one that it knows, with such a
    value.
    """
    if server == "ollama":
        parse_json = ollama._types.ChatRequest(
            **{name: each for name, each in body.items() if name not in OLLAMA_ONLY}
        )
        assert set(body) - set(parse_json.model_dump()) <= OLLAMA_ONLY
        return
    validated = whole(request_type(server).validate_python(dict(body)))
    assert list(unknown_fields(dict(body), validated)) == []


OLLAMA_ONLY = {"truncate", "shift"}  # of the server's API, later than its client


def whole(value: Any) -> Any:
    """A validated value with its lazy parts read."""
    if isinstance(value, dict):
        return {name: whole(each) for name, each in value.items()}
    if (
        isinstance(value, list | tuple)
        or hasattr(value, "__next__")
        or type(value).__name__ == "ValidatorIterator"
    ):
        return [whole(each) for each in value]
    return value


@pytest.mark.parametrize("server", DIALECTS)
@given(PROMPTS, CONSTRAINTS, OPTIONS, REFUSED)
@settings(max_examples=examples(60), deadline=None)
def test_every_request_is_one_of_the_provider_s(
    server: str,
    prompt: Prompt,
    constraint: Constraint | None,
    thinking: Thinking,
    refused: frozenset[str],
) -> None:
    body = dialect(server).body(
        known(server, refused), ModelRequest(prompt, constraint, 64, thinking)
    )
    check(server, json.loads(json.dumps(body)))


@given(PROMPTS)
def test_anthropic_gets_two_sides_that_take_turns_and_calls_with_their_answers(
    prompt: Prompt,
) -> None:
    body = AnthropicMessages().body(known("anthropic"), ModelRequest(prompt, None, 64))
    roles = [turn["role"] for turn in body["messages"]]
    assert all(one != other for one, other in pairwise(roles))
    assert roles[-1] == "user"
    blocks = [block for turn in body["messages"] for block in turn["content"]]
    made = {block["id"] for block in blocks if block["type"] == "tool_use"}
    answered = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
    assert made == answered
    assert all(block["text"].strip() for block in blocks if block["type"] == "text")
    marked = [block for block in (*body["system"], *blocks) if "cache_control" in block]
    assert marked == [body["system"][0], blocks[-1]]


@given(PROMPTS)
def test_calls_of_a_stopped_turn_are_not_sent(prompt: Prompt) -> None:
    messages = ChatCompletions().body(known("openai"), ModelRequest(prompt, None, 64))["messages"]
    made = {call["id"] for message in messages for call in message.get("tool_calls", ())}
    assert made == {message["tool_call_id"] for message in messages if "tool_call_id" in message}


URL = "data:image/png;base64,iVBORw0KGgo="


@pytest.mark.parametrize(
    ("server", "field", "shown"),
    [
        ("openai", "messages", {"type": "image_url", "image_url": {"url": URL}}),
        ("anthropic", "messages",
         {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}),
        ("ollama", "messages", "iVBORw0KGgo="),
    ],
)  # fmt: skip
def test_a_picture_goes_with_the_answer_to_a_call(server: str, field: str, shown: Any) -> None:
    prompt = (
        ModelMessage("user", "look"),
        ModelMessage("assistant", "", (RawCall("read", "{}", "a"), RawCall("read", "{}", "b"))),
        ModelMessage("tool", "one", (), "a", ("iVBORw0KGgo=",)),
        ModelMessage("tool", "two", (), "b"),
    )
    body = dialect(server).body(known(server), ModelRequest(prompt, None, 64))
    sent = json.dumps(body[field])
    assert sent.count(json.dumps(shown)) == 1
    # where two answers belong together, nothing stands between them
    later = [message.get("role") for message in body[field]][-2:]
    assert server != "openai" or later == ["tool", "user"]


@pytest.mark.parametrize("server", ["openai", "anthropic", "ollama"])
def test_arguments_that_are_no_json_object_are_not_sent_back(server: str) -> None:
    calls = (
        RawCall("read", '{"unended', "a"),
        RawCall("read", "[7]", "b"),
        RawCall("read", '{"p": 1}', "c"),
    )
    answers = [ModelMessage("tool", "cannot be made", (), call.id) for call in calls]
    prompt = (ModelMessage("user", "look"), ModelMessage("assistant", "", calls), *answers)
    sent = json.dumps(dialect(server).body(known(server), ModelRequest(prompt, None, 64)))
    assert "unended" not in sent
    assert "[7]" not in sent
    assert sent.count("cannot be made") == len(calls)
    assert json.dumps('{"p": 1}') in sent or '{"p": 1}' in sent


def test_llama_cpp_is_told_of_its_cache_and_the_thinking() -> None:
    request = ModelRequest((ModelMessage("user", "go"),), None, 64, Thinking.OFF)
    body = ChatCompletions().body(known(LLAMA_CPP), request)
    assert body["cache_prompt"]
    assert body["chat_template_kwargs"] == {"enable_thinking": False}


@pytest.mark.parametrize(
    ("server", "thinking", "field", "value"),
    [
        ("ollama", Thinking.OFF, "think", False),
        ("anthropic", Thinking.OFF, "thinking", {"type": "disabled"}),
        ("anthropic", Thinking.ON, "thinking", {"type": "adaptive", "display": "summarized"}),
    ],
)
def test_thinking_is_asked_for_as_the_provider_has_it(
    server: str, thinking: Thinking, field: str, value: Any
) -> None:
    request = ModelRequest((ModelMessage("user", "go"),), None, 64, thinking)
    assert dialect(server).body(known(server), request)[field] == value


@pytest.mark.parametrize("most_tokens", [64, 1_024, 2_047, 2_048, 30_000])
def test_thinking_takes_no_more_than_an_answer_may_have(most_tokens: int) -> None:
    request = ModelRequest((ModelMessage("user", "go"),), None, most_tokens, Thinking.ON)
    abilities = Abilities(
        grammar=False,
        schema=True,
        tools=True,
        window=200_000,
        model="m",
        family="",
        server="anthropic",
        thinking=True,
    )
    body = AnthropicMessages().body(KnownModel(abilities, frozenset({"adaptive"})), request)
    assert body["max_tokens"] == most_tokens
    budget = body["thinking"].get("budget_tokens")
    assert budget is None or 1_024 <= budget < most_tokens
    assert (budget is None) is (most_tokens < 2_048)


def test_what_is_secret_in_a_url_is_no_part_of_the_address() -> None:
    assert address("https://me:secret@host/v1?key=secret") == "https://host:443/v1"


def test_an_address_of_ipv6_is_written_as_the_field_wants_it() -> None:
    assert endpoint("http://[::1]:8080/v1").fields()["Host"] == "[::1]:8080"
