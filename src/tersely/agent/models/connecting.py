"""Finding out who serves at a URL and what it can do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tersely.agent.models import ollama, openai
from tersely.agent.models.ollama import OLLAMA, OllamaModel
from tersely.agent.models.openai import LLAMA_CPP, OpenAIModel, number
from tersely.agent.models.parted import PartedModel
from tersely.agent.models.protocol import Abilities, Message, Model
from tersely.agent.models.wire import Endpoint, Reply, endpoint, parsed, refused, told
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import DEFAULT_MODEL_WINDOW_TOKENS

MODEL_PROBE_TOKENS = 160  # of an answer that shows what a server can do

__all__ = ["KINDS", "Finding", "Model", "Report", "connect", "family_of", "names", "probe"]

OPENAI = "openai"
KINDS = ("auto", OPENAI, OLLAMA)
# What names of models contain, and whose they are. The first that is found counts: a distilled model is called by both.
_FAMILIES = (
    "deepseek",
    "qwen",
    "codestral",
    "devstral",
    "mistral",
    "gemma",
    "granite",
    "phi",
    "glm",
    "gpt-oss",
    "llama",
)
_CODE_WORD = "tersely"
_SHOWN_CHARACTERS = 60  # of what somebody else's server says
_READY = {
    "name": "ready",
    "description": "Says that you are ready.",
    "parameters": {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]},
}


class Finding(NamedTuple):
    """One thing that was tried: whether it works, and what was seen."""

    what: str
    works: bool
    detail: str = ""


class Report(NamedTuple):
    """What `tersely doctor` tells of a server: what it says of itself, corrected by what was tried."""

    url: str
    abilities: Abilities
    findings: tuple[Finding, ...]


async def connect(url: str, model: str = "", kind: str = "auto", key: str = "", window: int = 0) -> Model:
    """The model of a server, the first it has where none is named.

    `kind` is auto, openai or ollama. `window` in tokens is what Ollama is to load the model with; elsewhere the server
    decides, and a smaller one is kept to. Raises `model_unavailable` where nobody serves that model there.
    """
    place, abilities = await _recognised(url, model, kind, key, window)
    if abilities.server == OPENAI:
        abilities = _corrected(abilities, await _tried(place, abilities))
    return _model(place, abilities)


async def probe(url: str, model: str = "", kind: str = "auto", key: str = "", window: int = 0) -> Report:
    """Try everything that the agent makes use of; takes the time of a few short answers."""
    place, abilities = await _recognised(url, model, kind, key, window)
    tried = await _tried(place, abilities)
    size = f"{abilities.window:,} tokens" if abilities.window else "not told"
    findings = (await _try_streaming(place, abilities), *tried, Finding("window", abilities.window > 0, size))
    return Report(place.url, _corrected(abilities, tried), findings)


async def names(url: str, kind: str = "auto", key: str = "") -> list[str]:
    """The names of the models that a server has; raises `model_unavailable` where nobody serves any."""
    place = endpoint(url, key)
    is_ollama = kind == OLLAMA or (kind == "auto" and await _is_ollama(place))
    reply = await told(place, "GET", "/api/tags" if is_ollama else "/v1/models")
    if reply.status != 200:
        raise refused(place, "", reply)
    entries = _entries(reply.body, "models" if is_ollama else "data")
    return [str(each.get("name" if is_ollama else "id")) for each in entries]


def _model(place: Endpoint, abilities: Abilities) -> Model:
    return PartedModel((OllamaModel if abilities.server == OLLAMA else OpenAIModel)(place, abilities))


async def _recognised(url: str, model: str, kind: str, key: str, window: int) -> tuple[Endpoint, Abilities]:
    """Where the server is, and what it says of itself."""
    if kind not in KINDS:
        raise TerselyError("invalid_argument", f"{kind!r} is no kind of server", f"one of {', '.join(KINDS)}")
    place = endpoint(url, key)
    if kind == OLLAMA or (kind == "auto" and await _is_ollama(place)):
        return place, await _ollama(place, model, window)
    return place, await _openai(place, model, window)


async def _is_ollama(place: Endpoint) -> bool:
    """llama.cpp's server has some of Ollama's paths too, but not its version."""
    reply = await told(place, "GET", "/api/version")
    return reply.status == 200 and isinstance(reply.body, dict) and isinstance(reply.body.get("version"), str)


async def _ollama(place: Endpoint, model: str, window: int) -> Abilities:
    tags = await told(place, "GET", "/api/tags")
    names = [str(each.get("name")) for each in _entries(tags.body, "models")]
    chosen = _chosen(place, model, names)
    shown = await told(place, "POST", "/api/show", {"model": chosen})
    if shown.status != 200 or not isinstance(shown.body, dict):
        raise refused(place, chosen, shown)
    can = shown.body.get("capabilities")
    can = can if isinstance(can, list) else []
    details = shown.body.get("model_info")
    details = details if isinstance(details, dict) else {}
    trained = next((number(value) for name, value in details.items() if name.endswith(".context_length")), 0)
    wanted = window or DEFAULT_MODEL_WINDOW_TOKENS
    return Abilities(
        grammar=False, schema=True, tools="tools" in can, window=min(wanted, trained or wanted),
        model=chosen, family=family_of(chosen), server=OLLAMA,
    )  # fmt: skip


async def _openai(place: Endpoint, model: str, window: int) -> Abilities:
    listed = await told(place, "GET", "/v1/models")
    if listed.status != 200:
        raise refused(place, model, listed)
    if not isinstance(listed.body, dict) or not isinstance(listed.body.get("data"), list):
        said = " ".join(listed.text.split())[:_SHOWN_CHARACTERS]
        message = f"{place.url} serves no models: it answers {said!r} to /v1/models"
        raise TerselyError("model_unavailable", message, "is it the right port, and the URL without a path?")
    entries = _entries(listed.body, "data")
    chosen = _chosen(place, model, [str(each.get("id")) for each in entries])
    properties = await told(place, "GET", "/props")
    props = properties.body if properties.status == 200 and isinstance(properties.body, dict) else {}
    is_llama_cpp = "default_generation_settings" in props
    entry = next((each for each in entries if str(each.get("id")) == chosen), {})
    served = _window(props, entry)
    caps = props.get("chat_template_caps")
    return Abilities(
        grammar=is_llama_cpp, schema=is_llama_cpp,
        tools=isinstance(caps, dict) and bool(caps.get("supports_tools")),
        window=min(window or served, served or window), model=chosen, family=family_of(chosen),
        server=LLAMA_CPP if is_llama_cpp else OPENAI,
    )  # fmt: skip


def _window(props: Mapping[str, Any], entry: Mapping[str, Any]) -> int:
    """The tokens of the window: as llama.cpp says it, vLLM, or LM Studio; 0 where nobody does."""
    settings, meta = props.get("default_generation_settings"), entry.get("meta")
    told_sizes = [
        settings.get("n_ctx") if isinstance(settings, dict) else None,
        meta.get("n_ctx") if isinstance(meta, dict) else None,
        entry.get("max_model_len"),
        entry.get("loaded_context_length"),
        entry.get("context_length"),
    ]
    return next((size for size in map(number, told_sizes) if size), 0)


def _entries(body: Any, name: str) -> list[Mapping[str, Any]]:
    listed = body.get(name) if isinstance(body, dict) else None
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _chosen(place: Endpoint, model: str, names: list[str]) -> str:
    """The model that is meant: by its name, or its name without a tag; the first where none is named."""
    if not model and names:
        return names[0]
    if model in names:
        return model
    alike = [name for name in names if name.partition(":")[0] == model or name.rpartition("/")[2] == model]
    if len(alike) == 1:
        return alike[0]
    if not names:
        raise TerselyError("model_unavailable", f"{place.url} has no model", "load one first, for example: ollama pull")
    raise TerselyError("model_unavailable", f"{place.url} has no model {model!r}", f"it has {', '.join(names[:8])}")


def family_of(model: str) -> str:
    """Whose model it is by its name, "" where that says nothing."""
    return next((family for family in _FAMILIES if family in model.lower()), "")


async def _tried(place: Endpoint, abilities: Abilities) -> tuple[Finding, ...]:
    """What happens when the server is asked for each form of calls; a refusal is a finding, a dead server an error."""
    findings = [await _try_schema(place, abilities), await _try_tools(place, abilities)]
    if abilities.server != OLLAMA:
        findings.insert(0, await _try_grammar(place, abilities))
    return tuple(findings)


def _corrected(abilities: Abilities, findings: tuple[Finding, ...]) -> Abilities:
    works = {finding.what: finding.works for finding in findings}
    return abilities._replace(grammar=works.get("grammar", False), schema=works["schema"], tools=works["tools"])


async def _try_streaming(place: Endpoint, abilities: Abilities) -> Finding:
    chunks = 0
    model = _model(place, abilities)
    try:
        async for chunk in model.stream((Message("user", "Say hello."),), None, MODEL_PROBE_TOKENS):
            chunks += 1
            usage = chunk.usage
    except TerselyError as error:
        if error.code == "model_unavailable":
            raise
        return Finding("streaming", works=False, detail=error.message)
    cached = (
        "" if usage is None else f", {'tells' if usage.cached_tokens is not None else 'does not tell'} what is cached"
    )
    return Finding("streaming", works=True, detail=f"{chunks} parts{cached}")


async def _ask(place: Endpoint, abilities: Abilities, words: str, **more: Any) -> Reply:
    """One short answer that is not streamed."""
    messages = [{"role": "user", "content": words}]
    body: dict[str, Any] = {"model": abilities.model, "messages": messages, "stream": False}
    if abilities.server == OLLAMA:
        body["options"] = {"num_ctx": abilities.window, "num_predict": MODEL_PROBE_TOKENS}
        return await told(place, "POST", ollama.CHAT, {**body, **more})
    return await told(place, "POST", openai.CHAT, {**body, "max_tokens": MODEL_PROBE_TOKENS, **more})


def _said(reply: Reply) -> Mapping[str, Any]:
    """The message of an answer, empty where there is none."""
    body = reply.body if isinstance(reply.body, dict) else {}
    choices = body.get("choices")
    within = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else body
    message = within.get("message")
    return message if isinstance(message, dict) else {}


def _refusal(what: str, place: Endpoint, model: str, reply: Reply) -> Finding:
    return Finding(what, works=False, detail=refused(place, model, reply).message)


async def _try_grammar(place: Endpoint, abilities: Abilities) -> Finding:
    reply = await _ask(place, abilities, "Say hello.", grammar=f'root ::= "{_CODE_WORD}"')
    if reply.status != 200:
        return _refusal("grammar", place, abilities.model, reply)
    is_kept = _said(reply).get("content") == _CODE_WORD
    return Finding("grammar", is_kept, "kept" if is_kept else "accepted, not kept")


async def _try_schema(place: Endpoint, abilities: Abilities) -> Finding:
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": False,
    }
    asked: dict[str, Any] = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
    more = {"format": schema} if abilities.server == OLLAMA else {"response_format": asked}
    reply = await _ask(place, abilities, "Are you ready?", **more)
    if reply.status != 200:
        return _refusal("schema", place, abilities.model, reply)
    answer = parsed(str(_said(reply).get("content")))
    is_kept = isinstance(answer, dict) and isinstance(answer.get("ok"), bool)
    return Finding("schema", is_kept, "kept" if is_kept else "accepted, not kept")


async def _try_tools(place: Endpoint, abilities: Abilities) -> Finding:
    tools = [{"type": "function", "function": _READY}]
    reply = await _ask(place, abilities, "Call the function `ready` with ok = true.", tools=tools)
    if reply.status != 200:
        return _refusal("tools", place, abilities.model, reply)
    calls = _said(reply).get("tool_calls")
    first = calls[0].get("function") if isinstance(calls, list) and calls and isinstance(calls[0], dict) else None
    is_called = isinstance(first, dict) and first.get("name") == "ready"
    return Finding("tools", is_called, "called" if is_called else "accepted, not called")
