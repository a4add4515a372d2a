"""Questions about the code of this machine: from its own tools, and from other machines by the
relay in between.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from pathlib import Path
from typing import Any

import msgspec

from tersely.client.joining import JoinedRelay
from tersely.client.service import Service
from tersely.doors.socket.bridge.bridge import METHODS, Bridge
from tersely.doors.socket.services import AskedMethod
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_SERVICE_SECONDS, REQUEST_SECONDS
from tersely.foundation.types import JsonMapping, JsonObject
from tersely.relay.services import configuration
from tersely.relay.services.configuration import Bridged
from tersely.relay.wire.failures import failure_of

MAX_PART_CHARACTERS = 30  # of the name of a service: that of the directory, and that of the machine
SHARE_AGAIN_SECONDS = 5.0  # until a service that was lost is offered again
_LOG = logging.getLogger("tersely.doors.gateway")


class LocalCode:
    """The services that a relay of this machine would bring. Used on one loop."""

    def __init__(self, workspace: str, answer_words: str) -> None:
        found = [one for one in configuration.load(os.environ) if one.is_enabled]
        self._bridges = {one.name: Bridge(one, workspace, answer_words) for one in found}

    @property
    def names(self) -> frozenset[str]:
        """Their names."""
        return frozenset(self._bridges)

    async def response(self, request_id: str, payload: JsonMapping) -> JsonObject:
        """The answer to a question as a service gives it."""
        try:
            result = await self.answer(payload["service"], _asked(payload))
        except TerselyError as error:
            return {"request_id": request_id, "success": False, "error": failure_of(error)}
        return {"request_id": request_id, "success": True, "result": msgspec.Raw(result)}

    async def answer(self, service: str, asked: AskedMethod) -> bytes:
        """The result of a question as JSON; raises what there is instead."""
        return await self._bridges[service].answer(asked)

    async def close(self) -> None:
        """Hang up, and end what was started here."""
        await asyncio.gather(*(bridge.close() for bridge in self._bridges.values()))


class _SharedCode(Service):
    """The code of one repository, and of no other, as other machines ask about it."""

    def __init__(self, name: str, home: Path, bridge: Bridge, root: str) -> None:
        super().__init__(name, version=bridge.declared.version, home=home)
        self._bridge = bridge
        self._root = root

    def offered(self) -> list[JsonObject]:
        """The methods of a code daemon, without the parameter that names a repository."""
        return [_without_root(one) for one in METHODS.values()]

    async def result(self, payload: JsonMapping) -> Any:
        """The answer of the daemon; whoever asks does not choose what is read."""
        parameters = payload.get("params")
        if isinstance(parameters, dict):
            payload = {**payload, "params": {**parameters, "root": self._root}}
        return msgspec.Raw(await self._bridge.answer(_asked(payload)))


async def share(home: Path, membership: JoinedRelay, root: str, answer_words: str) -> None:
    """Answer questions of other machines about one repository, until cancelled."""
    name = service_name(root, membership.machine)
    bridge = Bridge(Bridged(name), root, answer_words)
    try:
        while True:
            try:
                await _SharedCode(name, home, bridge, root).serve()
            except TerselyError as error:
                _LOG.info("%s is not offered: %s", name, error)
            await asyncio.sleep(SHARE_AGAIN_SECONDS)
    finally:
        await bridge.close()


def service_name(root: str, machine: str) -> str:
    """The name of the service that answers for the code of a repository on a machine:
    `shop@laptop`.
    """
    name = re.sub(r"[^A-Za-z0-9._-]", "-", Path(root).name).lstrip(".-") or "code"
    return f"{name[:MAX_PART_CHARACTERS]}@{machine[:MAX_PART_CHARACTERS]}"


def _asked(payload: JsonMapping) -> AskedMethod:
    milliseconds = payload.get("timeout_ms")
    seconds = (
        milliseconds / 1000
        if isinstance(milliseconds, int) and milliseconds > 0
        else REQUEST_SECONDS
    )
    return AskedMethod(
        str(payload.get("method")), msgspec.json.encode(payload.get("params", {})), min(seconds, MAX_SERVICE_SECONDS),
        in_words=payload.get("format") == "text",
    )  # fmt: skip


def _without_root(method: Any) -> JsonObject:
    schema = dict(method.parameters)
    schema["properties"] = {
        name: about for name, about in schema.get("properties", {}).items() if name != "root"
    }
    return {
        "name": method.name,
        "description": method.description,
        "parameters": schema,
        "effect": str(method.reach),
    }
