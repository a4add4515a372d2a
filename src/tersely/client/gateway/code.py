"""Questions about the code of this machine: from its own tools, and from other machines by the
relay in between.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tersely.client.gateway.joining import Membership
from tersely.client.peer import Peer
from tersely.doors.socket.bridge.bridge import METHODS, Bridge
from tersely.doors.socket.envelopes import ServiceFailure
from tersely.doors.socket.failures import failure_of
from tersely.doors.socket.services import Asked
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_SERVICE_REQUESTS, MAX_SERVICE_SECONDS, REQUEST_SECONDS
from tersely.relay.services import configuration
from tersely.relay.services.configuration import Bridged

if TYPE_CHECKING:
    from tersely.foundation.types import JsonObject

MAX_PART_CHARACTERS = 30  # of the name of a service: that of the directory, and that of the machine
SHARE_AGAIN_SECONDS = 5.0  # until a service that was lost is offered again
_LOG = logging.getLogger("tersely.client.gateway")


class LocalCode:
    """The services that a relay of this machine would bring. Used on one loop."""

    def __init__(self, workspace: str, answer_words: str) -> None:
        found = [one for one in configuration.load(os.environ) if one.is_enabled]
        self._bridges = {one.name: Bridge(one, workspace, answer_words) for one in found}

    @property
    def names(self) -> frozenset[str]:
        """Their names."""
        return frozenset(self._bridges)

    async def response(self, request_id: str, payload: Mapping[str, Any]) -> JsonObject:
        """The answer to a question as a service gives it."""
        return await _response(self._bridges[payload["service"]], request_id, payload)

    async def answer(self, service: str, asked: Asked) -> bytes:
        """The result of a question as JSON; raises what there is instead."""
        return await self._bridges[service].answer(asked)

    async def close(self) -> None:
        """Hang up, and end what was started here."""
        await asyncio.gather(*(bridge.close() for bridge in self._bridges.values()))


async def share(home: Path, membership: Membership, root: str, answer_words: str) -> None:
    """Answer questions of other machines about one repository, and about no other, until cancelled."""
    name = service_name(root, membership.machine)
    bridge = Bridge(Bridged(name), root, answer_words)
    try:
        while True:
            try:
                await _offer(home, name, bridge, root)
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


async def _offer(home: Path, name: str, bridge: Bridge, root: str) -> None:
    told = {
        "name": name,
        "version": bridge.declared.version,
        "capabilities": [_without_root(one) for one in METHODS.values()],
    }
    async with await Peer.connect(name, home=home, kind="service", service=told) as peer:
        running: set[asyncio.Task[None]] = set()

        def asked(request_id: str, sender: str, payload: Mapping[str, Any]) -> None:
            if len(running) >= MAX_SERVICE_REQUESTS:
                busy = ServiceFailure("BUSY", "too many questions are being answered")
                peer.answer(request_id, error=busy)
                return
            task = asyncio.create_task(_answer(peer, bridge, root, request_id, payload))
            running.add(task)
            task.add_done_callback(running.discard)

        peer.on_request = asked
        async for delivery in peer.deliveries():
            await peer.nack(
                delivery, "INVALID", f"{name} is a service: ask it with SERVICE_REQUEST"
            )


async def _answer(
    peer: Peer, bridge: Bridge, root: str, request_id: str, payload: Mapping[str, Any]
) -> None:
    parameters = payload.get("params")
    if isinstance(parameters, dict):  # whoever asks does not choose what is read
        payload = {**payload, "params": {**parameters, "root": root}}
    response = await _response(bridge, request_id, payload)
    error = response.get("error")
    try:
        if error is None:
            peer.answer(request_id, response["result"])
        else:
            peer.answer(request_id, error=error)
    except TerselyError:  # the connection is lost, and with it whoever waits
        return


async def _response(bridge: Bridge, request_id: str, payload: Mapping[str, Any]) -> JsonObject:
    milliseconds = payload.get("timeout_ms")
    seconds = (
        milliseconds / 1000
        if isinstance(milliseconds, int) and milliseconds > 0
        else REQUEST_SECONDS
    )
    asked = Asked(
        str(payload.get("method")), msgspec.json.encode(payload.get("params", {})), min(seconds, MAX_SERVICE_SECONDS),
        in_words=payload.get("format") == "text",
    )  # fmt: skip
    try:
        result = await bridge.answer(asked)
    except TerselyError as error:
        return {"request_id": request_id, "success": False, "error": failure_of(error)}
    return {"request_id": request_id, "success": True, "result": msgspec.Raw(result)}


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
