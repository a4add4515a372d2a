"""The server at a URL: its interface, the path of that, its models, and what it says of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from tersely.agent.models.dialects import anthropic
from tersely.agent.models.dialects.answers import number, table, text
from tersely.agent.models.dialects.anthropic import ANTHROPIC
from tersely.agent.models.dialects.ollama import OLLAMA
from tersely.agent.models.dialects.openai import LLAMA_CPP
from tersely.agent.models.known_servers.model_table import family_of, figures_of, host_of
from tersely.agent.models.known_servers.server_records import Interface
from tersely.agent.models.protocol import Abilities
from tersely.agent.models.refusals import is_web_page, not_a_model_server, refusal_error
from tersely.agent.models.retries import TransientError
from tersely.agent.models.wire import Endpoint, WholeReply, request_json
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import DEFAULT_MODEL_WINDOW_TOKENS
from tersely.foundation.storage.hashing import content_hash
from tersely.foundation.types import JsonMapping

OPENAI = "openai"
KINDS = ("auto", OPENAI, ANTHROPIC, OLLAMA)
_METHODS = {OPENAI: "/chat/completions", ANTHROPIC: "/messages"}
_EXCERPT_CHARACTERS = 60  # of what somebody else's server says
_KEY_STATUSES = {401, 403}
_NO_SUCH_PATH = {404, 405}
_WINDOW_FIELDS = (
    "max_model_len", "loaded_context_length", "context_length", "context_window", "max_context_length",
    "max_input_tokens",
)  # fmt: skip
# Of an entry in a list of models: they change while the model stays.
_VOLATILE_FIELDS = frozenset(
    {"created", "permission", "status", "state", "expires_at", "size_vram"}
)
_OUTPUT_FIELDS = ("max_completion_tokens", "max_output_tokens", "max_output_length", "max_tokens")

Entry = JsonMapping


class ModelListing(NamedTuple):
    """A server's interface, and its models as it lists them; `entries` are None where it has no
    list.
    """

    interface: Interface
    entries: list[Entry] | None

    def names(self) -> list[str]:
        """The names of the models."""
        key = "name" if self.interface.kind == OLLAMA else "id"
        return [str(each.get(key)) for each in self.entries or ()]

    def entry(self, model: str) -> Entry:
        """The entry of a model in the list."""
        return next(
            (each for each in self.entries or () if model in (each.get("id"), each.get("name"))), {}
        )

    def fingerprint(self, model: str) -> str:
        """The identity of a model among others of the same name, by all that the list has of it; ""
        without an entry.

        llama.cpp lists its sizes, Ollama a digest, others at least who made it and what fits in.
        """
        entry = {
            field: value
            for field, value in self.entry(model).items()
            if field not in _VOLATILE_FIELDS
        }
        return content_hash(json.dumps(entry, sort_keys=True).encode()).hex() if entry else ""


def at(place: Endpoint, interface: Interface) -> Endpoint:
    """The endpoint of an interface, with the fields that it wants in the head of a request."""
    place = place._replace(prefix=interface.prefix)
    if interface.kind != ANTHROPIC:
        return place
    return place._replace(key_header=anthropic.KEY_HEADER, headers=(anthropic.VERSION,))


async def recognise(place: Endpoint, kind: str, model: str) -> ModelListing:
    """The interface of a server, by what it answers; raises `model_unavailable` where nobody serves
    models.
    """
    if kind == "auto":
        kind = _kind_of_url(place)
    if kind == OLLAMA or (not kind and await _is_ollama(place)):
        return await list_models(place, Interface(OLLAMA, _root(place.prefix)))
    refusal: WholeReply | None = None
    for prefix in _prefixes(place.prefix):
        tried = Interface(kind or OPENAI, prefix)
        reply = await request_json(at(place, tried), "GET", "/models")
        if not kind and _is_anthropic(reply.body):
            return await recognise(place, ANTHROPIC, model)
        entries = _entries(reply, "data")
        if entries is not None:
            return ModelListing(tried, entries)
        _raise_transient(place, reply)
        if refusal is None or reply.status in _KEY_STATUSES:
            refusal = reply
    if refusal is not None and refusal.status in _KEY_STATUSES:
        raise refusal_error(place, model, refusal)
    unlisted = await _unlisted(place, kind or OPENAI) if model else None
    if unlisted is not None:
        return unlisted
    raise _serves_none(place, refusal)


def _kind_of_url(place: Endpoint) -> str:
    """The kind of interface that a URL tells by itself, "" where it does not."""
    if ANTHROPIC in place.prefix.split("/"):
        return ANTHROPIC
    host = host_of(place.host)
    return host.kind if host else ""


async def list_models(place: Endpoint, interface: Interface) -> ModelListing:
    """The models of a server whose interface is known; raises what a refusal means."""
    is_ollama = interface.kind == OLLAMA
    reply = await request_json(at(place, interface), "GET", "/api/tags" if is_ollama else "/models")
    if reply.status not in _NO_SUCH_PATH and reply.status != 200:
        raise refusal_error(place, "", reply)
    return ModelListing(interface, _entries(reply, "models" if is_ollama else "data"))


def choose_model(place: Endpoint, model: str, listing: ModelListing) -> str:
    """The model that is meant: by its name, or its name without a tag; the first where none is
    named.

    A host has models of all kinds and prices, so that one of several has to be named.
    """
    names = listing.names()
    if model and listing.entries is None:
        return model
    if not names:
        raise TerselyError(
            "model_unavailable",
            f"{place.url} has no model",
            "load one first, for example: ollama pull",
        )
    if not model and len(names) > 1 and host_of(place.host) is not None:
        raise TerselyError(
            "model_unavailable", f"{place.host} has many models", f"name one: --model {names[0]}"
        )
    if not model or model in names:
        return model or names[0]
    alike = [
        name
        for name in names
        if name.partition(":")[0] == model or name.rpartition("/")[2] == model
    ]
    if len(alike) == 1:
        return alike[0]
    raise TerselyError(
        "model_unavailable", f"{place.url} has no model {model!r}", f"it has {', '.join(names[:8])}"
    )


async def abilities_of(
    place: Endpoint, model: str, listing: ModelListing
) -> tuple[Abilities, bool]:
    """The abilities of a model by what its server says, and whether they are to be tried out."""
    if listing.interface.kind == OLLAMA:
        return await _of_ollama(at(place, listing.interface), model), False
    entry, kind = listing.entry(model), listing.interface.kind
    is_hosted = host_of(place.host) is not None or kind != OPENAI
    figures = figures_of(model, is_hosted=is_hosted)
    reported = Abilities(
        grammar=False, schema=kind != ANTHROPIC, tools=True, window=window_in(entry) or figures.window, model=model,
        family=family_of(model), server=kind, output=_output_in(entry) or figures.output,
        returns_reasoning=kind == ANTHROPIC,
        thinking=_thinks(entry, figures.thinks), sees=_sees(entry, figures.sees),
    )  # fmt: skip
    if is_hosted:
        return reported, False
    root = place._replace(prefix=_root(listing.interface.prefix))
    properties = await request_json(root, "GET", "/props")
    props = table(properties.body) if properties.status == 200 else {}
    if "default_generation_settings" in props:
        return _of_llama_cpp(reported, props), False
    loaded = await _of_lm_studio(root, model)
    window = reported.window or number(loaded.get("loaded_context_length"))
    sees = reported.sees or loaded.get("type") == "vlm"
    untried = reported._replace(tools=False, schema=False, thinking=False)
    return untried._replace(window=window, sees=sees), True


async def window_now(place: Endpoint, abilities: Abilities, listing: ModelListing) -> int:
    """The window of a model that is known from before: its server may have been started anew with
    another one.
    """
    window = window_in(listing.entry(abilities.model))
    if window or abilities.server != LLAMA_CPP:
        return window or abilities.window
    properties = await request_json(
        place._replace(prefix=_root(listing.interface.prefix)), "GET", "/props"
    )
    return _slot_window(table(properties.body)) or abilities.window


def window_in(entry: Entry) -> int:
    """The tokens of the window as a list of models has them, 0 where it does not."""
    loaded = table(entry.get("meta")).get("n_ctx")
    return _first_number([loaded, *(entry.get(field) for field in _WINDOW_FIELDS)])


def _output_in(entry: Entry) -> int:
    provider = table(entry.get("top_provider"))
    return _first_number(
        [each.get(field) for each in (entry, provider) for field in _OUTPUT_FIELDS]
    )


def _first_number(values: list[Any]) -> int:
    return next((size for size in map(number, values) if size), 0)


def _thinks(entry: Entry, otherwise: bool) -> bool:
    supported = table(table(entry.get("capabilities")).get("thinking")).get("supported")
    return supported if isinstance(supported, bool) else otherwise


def _sees(entry: Entry, otherwise: bool) -> bool:
    """True if a model sees, as Anthropic and OpenRouter list it."""
    supported = table(table(entry.get("capabilities")).get("image_input")).get("supported")
    modalities = table(entry.get("architecture")).get("input_modalities")
    if isinstance(modalities, list):
        return "image" in modalities
    return supported if isinstance(supported, bool) else otherwise


def _of_llama_cpp(reported: Abilities, props: Entry) -> Abilities:
    template = text(props.get("chat_template"))
    return reported._replace(
        grammar=True, schema=True, tools=bool(table(props.get("chat_template_caps")).get("supports_tools")),
        window=_slot_window(props) or reported.window,
        server=LLAMA_CPP, thinking="enable_thinking" in template,
        sees=table(props.get("modalities")).get("vision") is True,
    )  # fmt: skip


def _slot_window(props: Entry) -> int:
    return number(table(props.get("default_generation_settings")).get("n_ctx"))


async def _of_lm_studio(root: Endpoint, model: str) -> Entry:
    """The entry of a model in LM Studio's own list, with the window that it is loaded with; empty
    for every other server.
    """
    reply = await request_json(root, "GET", "/api/v0/models")
    entries = _entries(reply, "data") or []
    return next((each for each in entries if each.get("id") == model), {})


async def _of_ollama(place: Endpoint, model: str) -> Abilities:
    reply = await request_json(place, "POST", "/api/show", {"model": model})
    if reply.status != 200 or not isinstance(reply.body, dict):
        raise refusal_error(place, model, reply)
    can = reply.body.get("capabilities")
    can = can if isinstance(can, list) else []
    details = table(reply.body.get("model_info"))
    trained = next(
        (number(value) for name, value in details.items() if name.endswith(".context_length")), 0
    )
    return Abilities(
        grammar=False, schema=True, tools="tools" in can, window=trained, model=model, family=family_of(model),
        server=OLLAMA, thinking="thinking" in can, sees="vision" in can,
    )  # fmt: skip


def window_for(abilities: Abilities, wanted: int) -> int:
    """The tokens of the window to work in: what the user wants, as far as the model has them.

    Ollama loads a model with the window that it is asked for, so a large one has to be wanted.
    """
    most = abilities.window
    if abilities.server == OLLAMA:
        wanted = wanted or DEFAULT_MODEL_WINDOW_TOKENS
    return min(wanted or most, most or wanted)


async def _is_ollama(place: Endpoint) -> bool:
    """llama.cpp's server has some of Ollama's paths too, but not its version."""
    reply = await request_json(place._replace(prefix=_root(place.prefix)), "GET", "/api/version")
    return reply.status == 200 and isinstance(table(reply.body).get("version"), str)


def _is_anthropic(body: Any) -> bool:
    """True if an answer, or an error, has the form of Anthropic's API."""
    answer = table(body)
    is_error = answer.get("type") == "error" and isinstance(answer.get("error"), dict)
    return is_error or ("has_more" in answer and "object" not in answer)


async def _unlisted(place: Endpoint, kind: str) -> ModelListing | None:
    """The interface of a server without a list of models: a path that is there refuses an empty
    request.
    """
    for prefix in _prefixes(place.prefix):
        tried = Interface(kind, prefix)
        reply = await request_json(at(place, tried), "POST", _METHODS[kind], {})
        if reply.status not in _NO_SUCH_PATH and isinstance(reply.body, dict):
            return ModelListing(tried, None)
    return None


def _prefixes(path: str) -> Iterator[str]:
    """The bases that a URL may mean, the likeliest first: as it was written, then with and without
    /v1.
    """
    if path:
        yield path
    yield path.removesuffix("/v1") if path.endswith("/v1") else f"{path}/v1"
    if not path:
        yield path


def _root(path: str) -> str:
    """The part of a URL before the base of an interface."""
    return path.removesuffix("/v1").removesuffix("/api")


def _entries(reply: WholeReply, name: str) -> list[Entry] | None:
    """The models that an answer lists, None where it is no list of models."""
    entries = table(reply.body).get(name)
    if reply.status != 200 or not isinstance(entries, list):
        return None
    return [each for each in entries if isinstance(each, dict)]


def _raise_transient(place: Endpoint, reply: WholeReply) -> None:
    error = refusal_error(place, "", reply)
    if isinstance(error, TransientError):
        raise error


def _serves_none(place: Endpoint, reply: WholeReply | None) -> TerselyError:
    if reply is not None and is_web_page(reply.text):
        return not_a_model_server(place)
    answer = " ".join(reply.text.split())[:_EXCERPT_CHARACTERS] if reply else ""
    message = f"{place.url} serves no models: it answers {answer!r} to /models"
    return TerselyError(
        "model_unavailable",
        message,
        "is it the right port and path? --model names one without a list",
    )
