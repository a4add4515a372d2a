"""The relay as one agent asks it, for doors that have a loop of their own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tersely.capabilities import catalogue
from tersely.cli.relay.identity import completed
from tersely.doors.mcp.services import ServiceMethod
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible
from tersely.foundation.types import JsonMapping
from tersely.relay.wire.home import HTTP_SOCKET, home_directory, socket_path

# for the relay to say who is there, while a client waits for its server to begin
INTRODUCTION_SECONDS = 3.0
_WITHOUT_RELAY = (
    "Once `tersely up` has been run, other agents can be written to: send, inbox, claim."
)
_READS, CONNECTED = "read", "connected"  # what a service does, and how it is reached


class RelayServices:
    """Asks the relay of this user as one agent in a directory; where none runs, there are no
    services.
    """

    def __init__(self, agent: str, directory: Path | None = None) -> None:
        self._agent = agent
        self._directory = directory or Path()

    async def introduction(self) -> str:
        """The agent's introduction to others and to working with them by tools; else the way to get
        one.
        """
        if not socket_path(home_directory(), HTTP_SOCKET).exists():
            return _WITHOUT_RELAY  # nothing is loaded to find nobody
        from tersely.capabilities.relay.introduction import TOOLS, introduction
        from tersely.client import AsyncClient

        try:
            async with (
                asyncio.timeout(INTRODUCTION_SECONDS),
                AsyncClient.local(self._agent) as relay,
            ):
                told = await relay.ask("agent.introduction", root=str(self._directory.absolute()))
        except TimeoutError:
            return introduction(self._agent, [], words=TOOLS)
        except TerselyError:
            return _WITHOUT_RELAY
        return introduction(told.name, told.peers, told.left_out, TOOLS)

    async def methods(self) -> list[ServiceMethod]:
        """The methods of connected services that, by what these say, only read. What bridges lead
        to is asked without them.
        """
        from tersely.client import AsyncClient

        try:
            async with AsyncClient.local(self._agent) as relay:
                found = (await relay.ask("service.list")).services
        except TerselyError:
            return []
        return [
            ServiceMethod(one.name, method.name, visible(method.description), method.args_schema)
            for one in found
            if one.how == CONNECTED
            for method in one.methods
            if method.effect == _READS
        ]

    async def ask(self, method: ServiceMethod, arguments: JsonMapping, traceparent: str) -> Any:
        """The result, asked as part of a trace or of none; raises what there is instead."""
        from tersely.client import AsyncClient

        async with AsyncClient.local(self._agent) as relay:
            asked = {"service": method.service, "method": method.name, "traceparent": traceparent}
            return (await relay.ask("service.call", **asked, params=dict(arguments))).result

    async def answer(self, capability: str, arguments: JsonMapping, budget: int) -> str:
        """The answer of a capability of the relay in words; raises what there is instead."""
        from tersely.client import AsyncClient

        declared = catalogue.load(capability).parameters
        given = completed(declared, arguments, self._directory)
        async with AsyncClient.local(self._agent) as relay:
            return (await relay.answer(capability, given, budget=budget)).text
