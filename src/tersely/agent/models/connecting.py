"""Connecting to the model of a server: who serves there, what it can do, and what is remembered of
it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import NamedTuple

from tersely.agent.models.dialects.anthropic import ANTHROPIC, AnthropicMessages
from tersely.agent.models.dialects.ollama import OLLAMA, OllamaChat
from tersely.agent.models.dialects.openai import ChatCompletions
from tersely.agent.models.known_servers.api_keys import with_key
from tersely.agent.models.known_servers.model_table import family_of
from tersely.agent.models.known_servers.server_records import Interface, ServerRecords
from tersely.agent.models.probing import Finding, correct_abilities, try_call_formats, try_streaming
from tersely.agent.models.protocol import Abilities, Model
from tersely.agent.models.recognition import (
    KINDS,
    ModelListing,
    abilities_of,
    at,
    choose_model,
    list_models,
    recognise,
    window_for,
    window_now,
)  # fmt: skip
from tersely.agent.models.retries import AbsentError, Retries, TransientError
from tersely.agent.models.served import Dialect, KnownModel, ServedModel
from tersely.agent.models.template_escaping import EscapedModel
from tersely.agent.models.wire import Endpoint, endpoint
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import frozen

__all__ = [
    "KINDS",
    "Finding",
    "Model",
    "Notify",
    "ServerReport",
    "address",
    "connect",
    "family_of",
    "is_same_server",
    "key_for",
    "names",
    "probe",
]

Notify = Callable[[str], None]


class ServerReport(NamedTuple):
    """The report of `tersely doctor` on a server: what it says of itself, corrected by what was
    tried.
    """

    url: str
    abilities: Abilities
    findings: tuple[Finding, ...]


async def connect(
    url: str,
    model: str = "",
    kind: str = "auto",
    key: str = "",
    window: int = 0,
    *,
    notify: Notify | None = None,
) -> Model:
    """The model of a server, the first it has where none is named.

    `kind` is one of KINDS. `window` in tokens is what Ollama is to load the model with; elsewhere
    the server decides, and a smaller one is kept to. A server that is loading or has no room is
    waited for where `notify` can say so. Raises `model_unavailable` where nobody serves that model
    there.
    """
    server = _Server.named(url, kind, key)
    retries = Retries()
    while True:
        try:
            return EscapedModel(await server.model(model, window))
        except TransientError as error:
            if notify is None or isinstance(error, AbsentError):
                raise
            seconds = retries.wait(error)
            notify(retries.notice(error, seconds))
            await asyncio.sleep(seconds)


async def probe(
    url: str, model: str = "", kind: str = "auto", key: str = "", window: int = 0
) -> ServerReport:
    """Try everything that the agent makes use of, and remember that; takes the time of a few short
    answers.
    """
    return await _Server.named(url, kind, key).report(model, window)


def address(url: str) -> str:
    """The name that people call a server by: its URL without a name, a password and a query;
    `invalid_argument` for none.
    """
    return endpoint(url).url


def is_same_server(url: str, other: str) -> bool:
    """True if two URLs have the same scheme, host and port; raises `invalid_argument` for one that
    is none.
    """
    return endpoint(url).origin == endpoint(other).origin


def key_for(url: str, key: str = "") -> str:
    """The key that a server is sent: this one, else that of the user's file or of its provider; ""
    for none.

    Raises `invalid_argument` for a URL that is none, `invalid_setting` for a file of keys that is
    not private.
    """
    return with_key(endpoint(url, key), os.environ).key


async def names(url: str, kind: str = "auto", key: str = "") -> list[str]:
    """The names of the models that a server has; raises `model_unavailable` where nobody serves
    any.
    """
    return (await _Server.named(url, kind, key).listing("")).names()


@frozen
class _Server:
    """A server as the user names it."""

    place: Endpoint
    kind: str
    records: ServerRecords

    @classmethod
    def named(cls, url: str, kind: str, key: str) -> _Server:
        """Raises `invalid_argument` for a URL or a kind that is none."""
        if kind not in KINDS:
            raise TerselyError(
                "invalid_argument", f"{kind!r} is no kind of server", f"one of {', '.join(KINDS)}"
            )
        return cls(with_key(endpoint(url, key), os.environ), kind, ServerRecords.load(os.environ))

    @property
    def id(self) -> str:
        """The key under which it is remembered."""
        return f"{self.kind} {self.place.target('')}"

    async def model(self, model: str, window: int) -> ServedModel:
        """A model, tried out where that is not remembered."""
        listing = await self.listing(model)
        name = choose_model(self.place, model, listing)
        fingerprint = listing.fingerprint(name)
        known = self.records.known(self.id, name)
        if known is not None and known.fingerprint == fingerprint:
            now = await window_now(self.place, known.abilities, listing)
            return self._serve(
                listing.interface,
                known._replace(abilities=known.abilities._replace(window=now)),
                window,
            )
        abilities, is_to_be_tried = await abilities_of(self.place, name, listing)
        found = KnownModel(abilities, fingerprint=fingerprint)
        served = self._serve(listing.interface, found, window)
        if is_to_be_tried:
            served.correct(correct_abilities(served.abilities, await try_call_formats(served)))
        else:
            self.records.keep(self.id, listing.interface, found)
        return served

    async def report(self, model: str, window: int) -> ServerReport:
        """The report as it is found out anew, whatever is remembered."""
        listing = await recognise(self.place, self.kind, model)
        name = choose_model(self.place, model, listing)
        abilities, _ = await abilities_of(self.place, name, listing)
        found_now = KnownModel(abilities, fingerprint=listing.fingerprint(name))
        served = self._serve(listing.interface, found_now, window)
        streaming, tried = await try_streaming(served), await try_call_formats(served)
        served.correct(correct_abilities(served.abilities, tried))
        found = served.abilities
        size = f"{found.window:,} tokens" if found.window else "not told"
        return ServerReport(
            self.place.url, found, (streaming, *tried, Finding("window", found.window > 0, size))
        )

    async def listing(self, model: str) -> ModelListing:
        """Its models, by one request where its interface is remembered."""
        interface = self.records.interface(self.id)
        if interface is not None:
            listing = await list_models(self.place, interface)
            if listing.entries is not None or self.records.known(self.id, model) is not None:
                return listing
        return await recognise(self.place, self.kind, model)

    def _serve(self, interface: Interface, known: KnownModel, window: int) -> ServedModel:
        """The model, with the window that is wanted; what it learns is remembered with the one that
        it has.
        """
        own = known.abilities.window
        abilities = known.abilities._replace(window=window_for(known.abilities, window))

        def remember(learnt: KnownModel) -> None:
            abilities = learnt.abilities._replace(window=own)
            self.records.keep(self.id, interface, learnt._replace(abilities=abilities))

        place = at(self.place, interface)
        return ServedModel(
            place,
            known._replace(abilities=abilities),
            _dialect(interface.kind, abilities),
            remember,
        )


def _dialect(kind: str, abilities: Abilities) -> Dialect:
    if kind == OLLAMA:
        return OllamaChat(abilities.window)
    return AnthropicMessages() if kind == ANTHROPIC else ChatCompletions()
