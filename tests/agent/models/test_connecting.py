"""Connecting: URLs as people have them, servers that are remembered, keys, ways and parameters that
are refused.
"""

from __future__ import annotations

import asyncio
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests import certificate
from tests.agent.models.answering import HELLO, everything
from tests.agent.models.provider import Provider, Refuse, Say, Step, listed, serving
from tests.foundation.serving import serving as serving_over

from tersely.agent.models.connecting import connect, names, probe
from tersely.agent.models.known_servers import model_table, server_records
from tersely.agent.models.known_servers.api_keys import with_key
from tersely.agent.models.known_servers.model_table import figures_of
from tersely.agent.models.protocol import (
    Chunk,
    Constraint,
    Model,
    ModelMessage,
    Prompt,
    RawCall,
    Thinking,
)  # fmt: skip
from tersely.agent.models.wire import endpoint
from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.roots import MARK

READ = {"name": "read", "description": "read(path)",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}  # fmt: skip
WAYS = {
    "grammar": Constraint(grammar="root ::= [a]"),
    "schema": Constraint(schema={"type": "object", "properties": {}}),
    "tools": Constraint(tools=(READ,)),
}
ANTHROPIC_LIST = {"data": [{"type": "model", "id": "claude-x", "max_input_tokens": 100_000, "max_tokens": 9_000,
                            "capabilities": {"thinking": {"supported": True}}}], "has_more": False}  # fmt: skip


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where what is found out is kept; no test knows what another one found."""
    monkeypatch.setenv("TERSELY_HOME", str(tmp_path))
    return tmp_path


async def ask(
    model: Model,
    constraint: Constraint | None = None,
    thinking: Thinking = Thinking.DEFAULT,
    prompt: Prompt = HELLO,
) -> list[Chunk]:
    return [chunk async for chunk in model.stream(prompt, constraint, 64, thinking)]


@pytest.mark.parametrize(
    ("path", "base"),
    [
        ("", "/v1"), ("", ""), ("/v1", "/v1"), ("/v1/", "/v1"), ("/v1", ""), ("/api/v1", "/api/v1"),
        ("/api", "/api/v1"),
        ("/v1beta/openai", "/v1beta/openai"), ("/v1beta/openai/", "/v1beta/openai"),
        ("/api/paas/v4", "/api/paas/v4"), ("/api/paas/v4/chat/completions", "/api/paas/v4"),
        ("/v1/models", "/v1"), ("/proxy", "/proxy/v1"),
    ],
)  # fmt: skip
def test_a_url_is_used_as_it_is_given(path: str, base: str) -> None:
    async def one() -> list[str]:
        async with serving(Say("Hello."), lists={f"{base}/models": listed("m")}) as provider:
            model = await connect(provider.url + path)
            await ask(model)
            return [sent.path for sent in provider.asked()]

    assert set(asyncio.run(one())) == {f"{base}/chat/completions"}


def test_a_path_may_say_the_kind() -> None:
    async def one() -> tuple[str, list[str]]:
        lists = {"/api/anthropic/v1/messages": Refuse(400, "messages are missing")}
        async with serving(Say("Hello."), lists=lists) as provider:
            model = await connect(f"{provider.url}/api/anthropic", "m")
            provider.sent.clear()
            await ask(model)
            return model.abilities.server, [sent.path for sent in provider.sent]

    assert asyncio.run(one()) == ("anthropic", ["/api/anthropic/v1/messages"])


def test_a_host_with_many_models_wants_one_to_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_table, "_hosts", lambda: (model_table.Host("127.0.0.1", "NO_KEY"),))

    async def one() -> str:
        async with serving(Say("x"), lists={"/v1/models": listed("a", "b")}) as provider:
            with pytest.raises(TerselyError, match="many models"):
                await connect(provider.url)
            return (await connect(provider.url, "b")).abilities.model

    assert asyncio.run(one()) == "b"


@pytest.mark.parametrize(
    ("kind", "path", "method"),
    [
        ("openai", "/v1/chat/completions", "/chat/completions"),
        ("anthropic", "/v1/messages", "/messages"),
    ],
)  # fmt: skip
def test_a_server_without_a_list_is_found_by_its_method(kind: str, path: str, method: str) -> None:
    async def one() -> list[str]:
        lists = {path: Refuse(400, "messages are missing")}
        async with serving(Say("Hello."), lists=lists) as provider:
            provider_paths = provider.url
            await ask(await connect(f"{provider_paths}/v1", "m", kind))
            with pytest.raises(TerselyError, match="serves no models"):
                await connect(f"{provider_paths}/v1", "", kind)
            return [sent.path for sent in provider.asked()]

    assert path in asyncio.run(one())


def test_an_api_version_stays_in_the_url() -> None:
    async def one() -> list[str]:
        lists = {"/openai/models?api-version=1": listed("m")}
        async with serving(Say("Hello."), lists=lists) as provider:
            with pytest.raises(TerselyError):
                await connect(f"{provider.url}/openai?api-version=1", "n")
            return provider.fetched()

    assert "/openai/models?api-version=1" in asyncio.run(one())


def test_anthropic_s_api_is_recognised_by_its_answer() -> None:
    async def one() -> tuple[Model, Mapping[str, str]]:
        async with serving(Say("Hello."), lists={"/v1/models": ANTHROPIC_LIST}) as provider:
            model = await connect(provider.url, key="secret")
            await ask(model)
            return model, provider.asked()[0].headers

    model, headers = asyncio.run(one())
    can = model.abilities
    assert (can.server, can.model, can.window, can.output) == (
        "anthropic",
        "claude-x",
        100_000,
        9_000,
    )
    assert (can.tools, can.schema, can.grammar, can.thinking) == (True, False, False, True)
    assert (headers["x-api-key"], headers["anthropic-version"]) == ("secret", "2023-06-01")
    assert "authorization" not in headers


def requests_of(
    starts: int, kind: str, lists: Mapping[str, Any], *steps: Step
) -> list[tuple[int, int]]:
    """For each start: requests for an answer, and others."""

    async def all_starts() -> list[tuple[int, int]]:
        counts = []
        async with serving(*steps, lists=lists) as provider:
            for _ in range(starts):
                provider.sent.clear()
                await connect(provider.url, kind=kind)
                counts.append((len(provider.asked()), len(provider.fetched())))
        return counts

    return asyncio.run(all_starts())


def test_a_second_start_asks_one_question() -> None:
    first, second = requests_of(
        2, "auto", {"/v1/models": listed("m", max_model_len=4_096)}, Say('{"ok": true}')
    )
    assert first[0] == 3
    assert second == (0, 1)
    ollama = {"/api/version": {"version": "1"}, "/api/tags": {"models": [{"name": "m"}]},
              "/api/show": {"capabilities": []}}  # fmt: skip
    assert requests_of(2, "auto", ollama, Say("x"))[1] == (0, 1)
    assert requests_of(2, "auto", {"/v1/models": ANTHROPIC_LIST}, Say("x"))[1] == (0, 1)


@pytest.mark.parametrize(
    ("field", "before", "after", "is_another"),
    [
        ("max_model_len", 4_096, 8_192, True),
        (
            "meta",
            {"n_params": 7_000_000_000, "size": 4},
            {"n_params": 7_000_000_000, "size": 8},
            True,
        ),
        ("digest", "a", "b", True),
        ("created", 1, 2, False),
        ("permission", [{"id": "a"}], [{"id": "b"}], False),
    ],
)
def test_what_is_known_of_another_model_of_the_same_name_is_forgotten(
    field: str, before: Any, after: Any, is_another: bool
) -> None:
    lists = {"/v1/models": listed("m", **{field: before})}

    async def both() -> tuple[int, int]:
        async with serving(Say('{"ok": true}'), lists=lists) as provider:
            await connect(provider.url)
            provider.sent.clear()
            await connect(provider.url)
            same = len(provider.asked())
            lists["/v1/models"] = listed("m", **{field: after})
            await connect(provider.url)
            return same, len(provider.asked())

    same, swapped = asyncio.run(both())
    assert same == 0
    assert bool(swapped) is is_another  # asked anew what it can do


def test_what_is_remembered_is_the_user_s_alone(home: Path) -> None:
    requests_of(1, "anthropic", {"/v1/models": listed("m")}, Say("x"))
    path = home / server_records.FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {each.name for each in home.iterdir()} == {server_records.FILE, MARK}


DAMAGED = [
    "",
    "{",
    "[]",
    '{"version": 1}',
    '{"version": 99, "servers": {}}',
    '{"version": 1, "servers": 7}',
    "[" * 10_000,
]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_memory_is_as_none(home: Path, content: str) -> None:
    (home / server_records.FILE).write_text(content)
    assert requests_of(2, "anthropic", {"/v1/models": listed("m")}, Say("x")) == [(0, 1), (0, 1)]


@pytest.mark.parametrize(
    "entry", [7, {}, {"models": 7}, {"models": {"m": {"abilities": {"x": 1}, "refused": 7}}}]
)
def test_a_damaged_entry_is_as_none(home: Path, entry: Any) -> None:
    async def one() -> None:
        async with serving(Say("x"), lists={"/v1/models": listed("m")}) as provider:
            server = f"anthropic {provider.url}"
            kept = {"version": 1, "servers": {server: entry}}
            (home / server_records.FILE).write_text(json.dumps(kept))
            assert (await connect(provider.url, kind="anthropic")).abilities.model == "m"

    asyncio.run(one())


def test_memory_is_bounded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_records, "MAX_SERVERS", 2)
    monkeypatch.setattr(server_records, "MAX_SERVER_MODELS", 2)
    for _ in range(3):
        requests_of(1, "anthropic", {"/v1/models": listed("m")}, Say("x"))
    kept = json.loads((home / server_records.FILE).read_text())["servers"]
    assert len(kept) == 2


REFUSALS = {
    "grammar": Refuse(400, "Unknown field: grammar is not supported"),
    "schema": Refuse(400, "'response_format.type' must be 'json_schema' and is not supported"),
    "tools": Refuse(500, "tools param requires --jinja flag"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_refused_way_is_an_error_of_its_own_and_is_remembered(way: str) -> None:
    async def one() -> tuple[Model, Model]:
        async with serving(Say("x"), lists={"/v1/models": listed("m")}) as provider:
            model = await connect(provider.url, kind="anthropic")
            provider.steps = (REFUSALS[way],)
            with pytest.raises(TerselyError) as raised:
                await ask(model, WAYS[way])
            assert raised.value.code == "way_refused"
            return model, await connect(provider.url, kind="anthropic")

    model, later = asyncio.run(one())
    assert getattr(model.abilities, way) is False
    assert getattr(later.abilities, way) is False
    assert later.abilities == model.abilities


SEEN = (ModelMessage("user", "what is this?", pictures=("iVBORw0KGgo=",)),)


@pytest.mark.parametrize(
    ("kind", "lists"),
    [
        ("anthropic", {"/v1/models": listed("m", capabilities={"image_input": {"supported": True}})}),
        ("auto", {"/v1/models": listed("m", architecture={"input_modalities": ["text", "image"]})}),
        ("auto", {"/v1/models": listed("m"), "/api/v0/models": listed("m", type="vlm")}),
        ("auto", {"/v1/models": listed("m"),
                  "/props": {"default_generation_settings": {"n_ctx": 8_192}, "modalities": {"vision": True}}}),
        ("ollama", {"/api/version": {"version": "1"}, "/api/tags": {"models": [{"name": "m"}]},
                    "/api/show": {"capabilities": ["vision", "tools"]}}),
    ],
)  # fmt: skip
def test_a_model_that_sees_is_sent_pictures_until_it_refuses_one(
    kind: str, lists: Mapping[str, Any]
) -> None:
    async def sent() -> list[bool]:
        async with serving(Say('{"ok": true}'), lists=lists) as provider:
            model = await connect(provider.url, kind=kind)
            assert model.abilities.sees
            provider.sent.clear()
            provider.steps = (Say("x"), Refuse(400, "image input is not supported"), Say("x"))
            await ask(model, prompt=SEEN)
            await ask(model, prompt=SEEN)
            assert not (await connect(provider.url, kind=kind)).abilities.sees
            return ["iVBORw0KGgo=" in json.dumps(each.body) for each in provider.asked()]

    assert asyncio.run(sent()) == [True, True, False]


def test_a_model_of_which_nobody_says_that_it_sees_is_sent_none() -> None:
    async def sent() -> str:
        async with serving(Say("x"), lists={"/v1/models": listed("m")}) as provider:
            await ask(await connect(provider.url, kind="anthropic"), prompt=SEEN)
            return json.dumps(provider.asked()[-1].body)

    assert "iVBORw0KGgo=" not in asyncio.run(sent())


def test_a_refusal_of_something_else_is_no_refusal_of_a_way() -> None:
    async def one() -> None:
        refusal = Refuse(400, "messages with role 'tool' must follow a message with 'tool_calls'")
        async with serving(refusal, lists={"/v1/models": listed("m")}) as provider:
            model = await connect(provider.url, kind="anthropic")
            with pytest.raises(TerselyError) as raised:
                await ask(model, WAYS["tools"])
            assert raised.value.code == "model_failed"
            assert model.abilities.tools

    asyncio.run(one())


@pytest.mark.parametrize(
    ("kind", "message", "thinking", "gone", "there"),
    [
        ("openai", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", Thinking.DEFAULT,
         "max_tokens", "max_completion_tokens"),
        ("openai", "Extra inputs are not permitted: stream_options", Thinking.DEFAULT, "stream_options", "max_tokens"),
        ("openai", "unknown field parallel_tool_calls", Thinking.DEFAULT, "parallel_tool_calls", "tools"),
        ("anthropic", '"thinking.type.enabled" is not supported for this model', Thinking.OFF, "thinking", "tools"),
    ],
)  # fmt: skip
def test_a_refused_parameter_is_left_out_and_remembered(
    kind: str,
    message: str,
    thinking: Thinking,
    gone: str,
    there: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        model_table, "_figures", lambda: {"m": model_table.FamilyFigures(thinks=True)}
    )

    async def one() -> list[dict[str, Any]]:
        async with serving(Say("x"), lists={"/v1/models": listed("m")}) as provider:
            model = await connect(provider.url, kind=kind)
            provider.sent.clear()
            provider.steps = (Refuse(400, message), Say("x"))
            assert (await ask(model, WAYS["tools"], thinking))[-1].stop == "end"
            again = await connect(provider.url, kind=kind)
            await ask(again, WAYS["tools"], thinking)
            return [sent.body for sent in provider.asked()]

    first, second, third = asyncio.run(one())
    assert gone in first
    for later in (second, third):
        assert gone not in later
        assert there in later


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (
            "anthropic",
            "max_tokens: 9000 > 5000, which is the maximum allowed number of output tokens for m",
        ),
        (
            "openai",
            "max_tokens is too large: 9000. This model supports at most 5000 completion tokens",
        ),
    ],
)
def test_a_limit_of_the_output_is_learnt_from_a_refusal(kind: str, message: str) -> None:
    async def one() -> list[int]:
        async with serving(Say("x"), lists={"/v1/models": listed("m")}) as provider:
            model = await connect(provider.url, kind=kind)
            provider.sent.clear()
            provider.steps = (Refuse(400, message), Say("x"))
            async for _ in model.stream(HELLO, None, 9_000):
                pass
            return [sent.body["max_tokens"] for sent in provider.asked()]

    assert asyncio.run(one()) == [9_000, 5_000]


def test_a_server_that_refuses_everything_is_given_up() -> None:
    async def one() -> int:
        async with serving(
            Refuse(400, "stream_options parallel_tool_calls"),
            lists={"/v1/models": listed("m")},
        ) as it:
            model = await connect(it.url, "m", "openai")
            it.sent.clear()
            with pytest.raises(TerselyError, match="model_failed"):
                await ask(model, WAYS["tools"])
            return len(it.asked())

    assert asyncio.run(one()) <= 4


def test_sealed_reasoning_goes_back_with_its_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        model_table, "_figures", lambda: {"m": model_table.FamilyFigures(thinks=True)}
    )
    call = RawCall("read", '{"path": "a.py"}', "call_1")

    async def one() -> str:
        async with serving(
            Say("I read.", (call,), "hm"), Say("Done."), lists={"/v1/models": listed("m")}
        ) as provider:
            model = await connect(provider.url, kind="anthropic")
            first = await ask(model, WAYS["tools"])
            assert first[-1].calls == (call,)
            prompt: Prompt = (
                *HELLO,
                ModelMessage("assistant", "I read.", (call,)),
                ModelMessage("tool", "x = 1", (), "call_1"),
            )
            async for _ in model.stream(prompt, WAYS["tools"], 64):
                pass
            return json.dumps(provider.asked()[-1].body["messages"])

    sent = asyncio.run(one())
    sealed = '"signature": "sig"'
    assert sealed in sent
    assert sent.index(sealed) < sent.index("call_1")


KEYS = {"OPENAI_API_KEY": "sk-o", "ANTHROPIC_API_KEY": "sk-a", "AZURE_OPENAI_API_KEY": "az"}


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://api.openai.com/v1", "sk-o"), ("https://api.anthropic.com", "sk-a"),
        ("https://mine.openai.azure.com/openai/v1", "az"), ("http://api.openai.com/v1", ""),
        ("https://api.openai.com.example.org/v1", ""), ("https://notapi.openai.com", ""), ("http://127.0.0.1:8080", ""),
        ("https://openai.azure.com.evil.org", ""),
    ],
)  # fmt: skip
def test_a_key_goes_to_its_own_host(url: str, key: str, home: Path) -> None:
    assert with_key(endpoint(url), {**KEYS, "TERSELY_HOME": str(home)}).key == key


def test_keys_of_the_file_are_by_host_and_the_user_s_word_is_first(home: Path) -> None:
    path = home / "model-keys.toml"
    path.write_text('"api.openai.com" = "filed"\n"llm.example.org:8443" = "mine"\n')
    path.chmod(0o600)
    environment = {**KEYS, "TERSELY_HOME": str(home)}
    assert with_key(endpoint("https://api.openai.com"), environment).key == "filed"
    assert with_key(endpoint("https://llm.example.org:8443/v1"), environment).key == "mine"
    assert with_key(endpoint("https://llm.example.org"), environment).key == ""
    assert with_key(endpoint("https://api.openai.com", "given"), environment).key == "given"
    assert with_key(endpoint("http://api.openai.com:9999"), environment).key == ""


@pytest.mark.parametrize(
    ("content", "mode", "words"),
    [('"h" = "secret"', 0o644, "others can read"), ("secret", 0o600, "no")],
)
def test_a_file_of_keys_that_cannot_be_used_is_refused_without_its_text(
    home: Path, content: str, mode: int, words: str
) -> None:
    path = home / "model-keys.toml"
    path.write_text(content)
    path.chmod(mode)
    with pytest.raises(TerselyError, match="invalid_setting") as raised:
        with_key(endpoint("https://api.openai.com"), {"TERSELY_HOME": str(home)})
    assert words in raised.value.message
    assert "secret" not in f"{raised.value}{raised.value.hint}"


def test_azure_has_a_field_of_its_own_for_keys(home: Path) -> None:
    place = with_key(
        endpoint("https://mine.openai.azure.com/openai/v1"), {**KEYS, "TERSELY_HOME": str(home)}
    )
    assert place.fields()["api-key"] == "az"
    assert "Authorization" not in place.fields()


@pytest.mark.parametrize(
    ("model", "is_hosted", "window", "output"),
    [
        ("gpt-4o-mini", True, 128_000, 4_096), ("openai/gpt-5", False, 272_000, 128_000),
        ("claude-sonnet-4-5", True, 200_000, 64_000),
        ("claude-opus-4-6-20260205", True, 1_000_000, 128_000), ("glm-4.6", True, 200_000, 128_000),
        ("glm-4.6", False, 0, 0), ("qwen3-coder-30b", False, 0, 0), ("my-own", True, 0, 0),
    ],
)  # fmt: skip
def test_families_have_figures_where_the_server_has_none(
    model: str, is_hosted: bool, window: int, output: int
) -> None:
    found = figures_of(model, is_hosted=is_hosted)
    assert (found.window, found.output) == (window, output)


def test_the_server_s_window_counts_before_the_table_and_the_user_s_before_both() -> None:
    async def one(window: int, **more: int) -> int:
        async with serving(Say("x"), lists={"/v1/models": listed("gpt-5", **more)}) as provider:
            return (await connect(provider.url, kind="anthropic", window=window)).abilities.window

    assert asyncio.run(one(0)) == 272_000
    assert asyncio.run(one(0, context_length=64_000)) == 64_000
    assert asyncio.run(one(16_000, context_length=64_000)) == 16_000
    assert asyncio.run(one(0, context_length=64_000)) == 64_000, "and a wish is not remembered"


def test_lm_studio_s_own_list_has_the_window_that_is_loaded() -> None:
    lists = {"/v1/models": listed("m"), "/api/v0/models": listed("m", loaded_context_length=5_000)}

    async def one() -> int:
        async with serving(Say("x"), lists=lists) as provider:
            return (await connect(provider.url)).abilities.window

    assert asyncio.run(one()) == 5_000


def test_a_server_that_is_loading_is_waited_for_where_that_is_told() -> None:
    notices: list[str] = []

    async def one() -> str:
        async with serving(
            Say("x"), lists={"/v1/models": Refuse(503, "Loading model")}
        ) as provider:

            def notify(line: str) -> None:
                notices.append(line)
                provider.lists = {"/v1/models": listed("m")}

            with pytest.raises(TerselyError, match="Loading model"):
                await connect(provider.url, kind="anthropic")
            return (await connect(provider.url, kind="anthropic", notify=notify)).abilities.model

    assert asyncio.run(one()) == "m"
    assert len(notices) == 1
    assert "Loading model" in notices[0]


def test_names_and_what_doctor_finds() -> None:
    async def one() -> None:
        lists = {"/v1/models": listed("a", "b")}
        async with serving(Say('{"ok": true}'), lists=lists) as provider:
            assert await names(provider.url) == ["a", "b"]
            report = await probe(provider.url)
            works = {finding.what: finding.works for finding in report.findings}
            assert works == {
                "streaming": True,
                "grammar": False,
                "schema": True,
                "tools": False,
                "window": False,
            }
            assert (await connect(provider.url)).abilities == report.abilities

    asyncio.run(one())


def test_a_wrong_key_is_told_as_such() -> None:
    async def one(provider: Provider) -> None:
        with pytest.raises(TerselyError, match="bad key") as raised:
            await connect(provider.url)
        assert raised.value.hint == "the server wants another key"

    async def run() -> None:
        async with serving(Say("x"), lists={"/v1/models": Refuse(401, "bad key")}) as provider:
            await one(provider)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("store", "told"),
    [
        ("missing.pem", "no trust store can be read"),
        ("server.key", "no trust store can be read"),
        ("", "shows a certificate that is not believed"),
    ],
)
def test_trust_that_is_missing_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str, told: str
) -> None:
    made = certificate.make(tmp_path, "127.0.0.1")
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    if store:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / store))
    with (
        serving_over(b"", shows=made) as server,
        pytest.raises(TerselyError, match=told) as raised,
    ):
        asyncio.run(probe(server.url))
    assert raised.value.code == "invalid_certificate"
    assert "SSL_CERT_FILE" in raised.value.hint


def test_no_path_of_a_request_is_doubled(home: Path) -> None:
    async def one() -> list[str]:
        async with serving(Say("x"), lists={"/v1/models": listed("m")}) as provider:
            await everything(await connect(f"{provider.url}/v1/chat/completions"))
            return [sent.path for sent in provider.sent]

    assert not [
        path
        for path in asyncio.run(one())
        if "/v1/v1" in path or path.count("chat/completions") > 1
    ]
    assert set(os.listdir(home)) == {server_records.FILE, MARK}
