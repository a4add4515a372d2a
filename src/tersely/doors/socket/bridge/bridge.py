"""The service that code daemons are: one for each workspace, connected to and started when somebody
asks.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

import tersely
from tersely.capabilities import catalogue
from tersely.capabilities.declaration import binding
from tersely.capabilities.declaration.declaration import Capability, Effect
from tersely.daemon import lifecycle
from tersely.daemon.ndjson import answers
from tersely.daemon.ndjson.commands import TEXT_COMMAND, call
from tersely.daemon.ndjson.spellings import PREFIX, SPELLINGS, Spelling, spelling_of
from tersely.daemon.place import Place
from tersely.doors.socket.bridge.fallbacks import fallback
from tersely.doors.socket.bridge.link import BridgeLink, BridgeReply, LostError, UnreachableError
from tersely.doors.socket.services import AskedMethod
from tersely.foundation.errors import EXIT_OF_CODE, TerselyError
from tersely.foundation.limits import MAX_CLIENT_REQUESTS, MAX_REQUEST_SECONDS, REQUEST_SECONDS
from tersely.foundation.process.identity import program_identity
from tersely.foundation.settings import load
from tersely.foundation.storage.roots import find_root, resolved_directory
from tersely.foundation.types import JsonMapping, JsonObject
from tersely.relay.encoding import decode
from tersely.relay.policy import CapabilityReach
from tersely.relay.services.calls import Call, Scope
from tersely.relay.services.configuration import Bridged
from tersely.relay.services.declared import BRIDGE, DeclaredService, Method

BRIDGE_TRIES = 3  # of one question, where the connection is lost
MAX_BRIDGED_WORKSPACES = 16  # connected to at a time
# members of a reply that are no result
_FRAME = frozenset({"id", "success", "status", "revision", "notes"})
# Whose results the wire has in a form of its own, which is as short as words are.
_WITHOUT_WORDS = frozenset(
    name for name, spelling in SPELLINGS.items() if spelling.shape is not answers.whole
)
_LOG = logging.getLogger("tersely.doors.socket")


class Bridge:
    """One service. Used on one loop, but for `scope`, which the threads of calls use."""

    def __init__(self, bridged: Bridged, workspace: str, answer_words: str) -> None:
        """`workspace` is that of questions that name none; `answer_words` prints for daemons that
        are started.
        """
        self._bridged = bridged
        self._workspace = workspace
        self._answer_words = answer_words
        self._loop = asyncio.get_running_loop()
        self._places: OrderedDict[str, _Workspace] = OrderedDict()  # the one asked last at the end
        self._started: dict[str, int] = {}  # by workspace: the process of the daemon started for it
        place = bridged.socket or "the code daemon of each workspace"
        self.declared = DeclaredService(
            bridged.name, tersely.__version__, METHODS, BRIDGE, place, self.scope
        )

    async def answer(self, asked: AskedMethod) -> bytes:
        """The result of a question as JSON; raises what there is instead."""
        root, parameters = self._split(decode(asked.parameters), asked.directory)
        checked(asked.method, parameters, root)
        # What clients of the wire print themselves, and servers of others, have no words.
        has_words = (
            asked.in_words and not self._bridged.socket and asked.method not in _WITHOUT_WORDS
        )
        request = (
            _request_in_words(asked.method, parameters, root)
            if has_words
            else self._request(asked.method, parameters, root)
        )
        seconds = min(asked.seconds, self._bridged.seconds, MAX_REQUEST_SECONDS)
        if seconds != REQUEST_SECONDS:  # which servers take for granted
            request["timeout_ms"] = round(seconds * 1000)
        try:
            async with asyncio.timeout(seconds):
                reply = await self._place(root).ask(request)
        except TimeoutError:
            raise TerselyError(
                "timed_out", f"{self._bridged.name} has not answered in {seconds:g} s"
            ) from None
        except (UnreachableError, LostError) as error:
            instead = fallback(asked.method, parameters)
            message = f"{self._bridged.name} unavailable: {error}." + (
                f" Try: {instead}" if instead else ""
            )
            raise TerselyError("daemon_unavailable", message) from None
        return _words(reply) if has_words else _result(reply)

    def _request(self, method: str, parameters: JsonMapping, root: str) -> JsonObject:
        """The request for an answer as a value. Servers of others know this wire, or llm-tldr's
        names on it.
        """
        spelling = spelling_of(method) if self._bridged.socket else None
        named = (
            parameters
            if spelling is None
            else spelling.about(parameters, root).under_every_name(parameters, root)
        )
        return {"cmd": method, **named}

    def scope(self, method: str, call: Call) -> Scope | None:
        """For which revision of which workspace the answer to a call holds; None where the server
        does not say.
        """
        root, parameters = self._split(dict(call.arguments), "")
        capability, arguments = checked(method, parameters, root)
        if not (capability.cacheable and capability.is_repeatable(arguments)):
            return None
        waiting = asyncio.run_coroutine_threadsafe(self._revision(root), self._loop)
        try:
            version = waiting.result(self._bridged.seconds)
        except TimeoutError:
            waiting.cancel()
            return None
        return Scope(f"{self._bridged.name}:{root}", version) if version else None

    async def close(self) -> None:
        """Hang up, and end the daemons that were started here, but for what others have started
        since.
        """
        for place in self._places.values():
            place.close()
        self._places.clear()
        await asyncio.gather(*(asyncio.to_thread(_end, *one) for one in self._started.items()))
        self._started.clear()

    async def _revision(self, root: str) -> str:
        request = {"cmd": "revision", "program_identity": program_identity(), "root": root}
        try:
            reply = await self._place(root).ask(request)
        except (UnreachableError, LostError, TerselyError):
            return ""
        return str(decode(reply.raw).get("answers", "")) if reply.is_success else ""

    def _split(self, given: Any, directory: str) -> tuple[str, JsonObject]:
        """The workspace that a question is about, and its own parameters."""
        if not isinstance(given, dict):
            raise TerselyError("invalid_argument", "the parameters of a question are a JSON object")
        parameters = dict(given)
        named = parameters.pop(binding.ROOT, None)
        if named is None:
            is_known = directory.startswith("/")
            named = str(find_root(Path(directory))) if is_known else self._workspace
        if not isinstance(named, str) or not named.startswith("/"):
            raise TerselyError(
                "invalid_argument",
                "root: the absolute path of a workspace",
                "the question names none",
            )
        return resolved_directory(named, binding.ROOT), parameters

    def _place(self, root: str) -> _Workspace:
        key = self._bridged.socket or root
        place = self._places.pop(key, None) or _Workspace(
            self._bridged, root, self._answer_words, self._started
        )
        self._places[key] = place
        while len(self._places) > MAX_BRIDGED_WORKSPACES:
            self._places.pop(next(iter(self._places))).close()
        return place


class _Workspace:
    """The server of one workspace. One that gives back ids is asked many things at a time, any
    other one by one.
    """

    def __init__(
        self, bridged: Bridged, root: str, answer_words: str, started: dict[str, int]
    ) -> None:
        """In `started` is put the process of a daemon that is started."""
        self._bridged = bridged
        self._root = root
        self._answer_words = answer_words
        self._started = started
        self._link: BridgeLink | None = None
        self._opening = asyncio.Lock()
        self._gives_ids = not bridged.socket
        self._turn = asyncio.Lock()
        self._room = asyncio.Semaphore(MAX_CLIENT_REQUESTS)

    async def ask(self, request: JsonMapping) -> BridgeReply:
        """The reply to a request, asked again where the connection is lost; raises
        `UnreachableError`, `LostError`.
        """
        if not self._gives_ids:
            async with self._turn:
                if not self._gives_ids:
                    return await self._ask(request)
        async with self._room:
            return await self._ask(request)

    async def _ask(self, request: JsonMapping) -> BridgeReply:
        for left in reversed(range(BRIDGE_TRIES)):
            link = await self._open()
            try:
                reply = await link.ask(request)
            except LostError as error:
                if not left:
                    raise
                _LOG.info("%s of %s is asked again: %s", self._bridged.name, self._root, error)
            else:
                self._gives_ids = link.gives_ids
                return reply
        raise AssertionError("every try returns or raises")

    def close(self) -> None:
        """Hang up."""
        if self._link is not None:
            self._link.close()

    async def _open(self) -> BridgeLink:
        async with self._opening:
            if self._link is None or not self._link.is_open:
                self._link = await self._connected()
            return self._link

    async def _connected(self) -> BridgeLink:
        own = Place.of(self._root).socket
        try:
            return await BridgeLink.open(self._bridged.socket or own)
        except UnreachableError:
            settings = load(Path(self._root))
            if not self._bridged.starts or settings.daemon == "off":
                raise
        try:
            found = await asyncio.to_thread(
                lifecycle.start, self._root, self._answer_words, settings.daemon_idle_seconds
            )
        except TerselyError as error:
            raise UnreachableError(error.message) from None
        if not found.was_running:
            self._started[self._root] = found.status["pid"]
        return await BridgeLink.open(own)


def _end(root: str, pid: int) -> None:
    """End the daemon of a workspace where it is still that process."""
    found = lifecycle.status(root)
    if found is None or found.get("pid") != pid:
        return
    try:
        lifecycle.stop(root)
    except TerselyError as error:
        _LOG.warning("the daemon of %s: %s", root, error)


def checked(method: str, parameters: JsonMapping, root: str) -> tuple[Capability, JsonObject]:
    """The capability that a question means, and its arguments; raises `unknown_command`,
    `invalid_argument` or `not_permitted`.
    """
    asked = call(method, parameters, root)
    capability = catalogue.load(asked.capability)
    binding.checked(capability.parameters, asked.arguments)
    more = [one.name for one in capability.parameters if one.effect is not Effect.READ]
    if capability.effect is not Effect.READ or any(name in asked.arguments for name in more):
        raise TerselyError(
            "not_permitted", f"{method} would do more than read", "that is for its user to do"
        )
    return capability, asked.arguments


# What clients of a code daemon say, and the capabilities for which they have no word.
_SPELLED = {
    **{name.removeprefix(PREFIX): Spelling(name) for name in catalogue.CODE_NAMES},
    **{name: spelling for name, spelling in SPELLINGS.items() if "." not in name},
}


class _Methods(Mapping[str, Method]):
    """The methods of a code daemon, by name. Each is declared when it is asked for: all of them
    take longer than the rest of a relay's start.
    """

    def __getitem__(self, name: str) -> Method:
        return _method(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_SPELLED)

    def __len__(self) -> int:
        return len(_SPELLED)


METHODS: Mapping[str, Method] = _Methods()


@cache
def _method(name: str) -> Method:
    """A method with the parameters of its capability under the names that its clients use."""
    spelling = _SPELLED[name]
    capability = catalogue.load(spelling.capability)
    about = "the workspace, as a directory of this machine"
    schema = binding.rooted_schema(capability, about, spelling.shown)
    return Method(name, capability.summary, schema, CapabilityReach.READ)


def _request_in_words(method: str, parameters: JsonMapping, root: str) -> JsonObject:
    """The request for an answer in words, all of it."""
    question = {"command": method, "arguments": dict(parameters), "environment": {}, "whole": True}
    return {"cmd": TEXT_COMMAND, **question, "root": root, "program_identity": program_identity()}


def _words(reply: BridgeReply) -> bytes:
    """The words in a reply, with what is said beside them, as JSON; raises the failure in it."""
    _check(reply)
    whole = decode(reply.raw)
    return msgspec.json.encode("".join([whole["text"], *whole["asides"]]))


def _check(reply: BridgeReply) -> None:
    if not reply.is_success:
        message = str(
            reply.error or reply.message or "the service says no more than that it has failed"
        )
        raise TerselyError(
            reply.code if reply.code in EXIT_OF_CODE else "service_error", message, reply.hint
        )


def _result(reply: BridgeReply) -> bytes:
    """The result in a reply; raises the failure in it."""
    _check(reply)
    if isinstance(reply.result, msgspec.Raw):
        return bytes(reply.result)
    whole = decode(reply.raw)
    return msgspec.json.encode({name: value for name, value in whole.items() if name not in _FRAME})
