"""The services of the relay, for doors that have a loop of their own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tersely.capabilities import catalogue
from tersely.capabilities.declaration import parameters_of
from tersely.cli.relay.identity import completed
from tersely.doors.mcp.services import Method
from tersely.foundation.errors import TerselyError
from tersely.foundation.escape import visible

_READS, _CONNECTED = "read", "connected"


class RelayServices:
    """Asks the relay of this user as one agent; where none runs, there are no services."""

    def __init__(self, agent: str) -> None:
        self._agent = agent

    async def methods(self) -> list[Method]:
        """What services that are connected say that it only reads. What bridges lead to is asked without them."""
        return await asyncio.to_thread(self._methods)

    async def ask(self, method: Method, arguments: Mapping[str, Any]) -> Any:
        """The result; raises what there is instead."""
        return await asyncio.to_thread(self._ask, method, arguments)

    async def answer(self, capability: str, arguments: Mapping[str, Any], budget: int) -> str:
        """What a capability of the relay answers in words; raises what there is instead."""
        return await asyncio.to_thread(self._answer, capability, arguments, budget)

    def _answer(self, capability: str, arguments: Mapping[str, Any], budget: int) -> str:
        from tersely.client import Client

        declared = parameters_of(catalogue.load(capability).parameters)
        given = completed(declared, arguments, os.environ, Path())
        with Client.local(self._agent) as relay:
            return relay.answer(capability, given, budget=budget).text

    def _methods(self) -> list[Method]:
        from tersely.client import Client, ask

        try:
            with Client.local(self._agent) as relay:
                found = relay(ask.service_list()).services
        except TerselyError:
            return []
        return [
            Method(one.name, method.name, visible(method.description), method.args_schema)
            for one in found
            if one.how == _CONNECTED
            for method in one.methods
            if method.effect == _READS
        ]

    def _ask(self, method: Method, arguments: Mapping[str, Any]) -> Any:
        from tersely.client import Client, ask

        with Client.local(self._agent) as relay:
            return relay(ask.service_call(method.service, method.name, arguments)).result
