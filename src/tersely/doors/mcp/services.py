"""Services of a relay as tools: `more_tools` lists them behind the capabilities, and `call` asks
them.

Those alone that say of themselves that they only read: what `call` does, clients may do without
asking their user.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple, Protocol

from tersely.capabilities.declaration.toolset import tool_name
from tersely.foundation.types import JsonMapping


class ServiceMethod(NamedTuple):
    """One thing that a service can be asked."""

    service: str
    name: str
    description: str
    parameters: JsonMapping  # a JSON Schema

    @property
    def tool(self) -> str:
        """Its name as a tool."""
        return tool_name(f"{self.service}.{self.name}")


class OfferedServices(Protocol):
    """Whoever knows the relay."""

    async def introduction(self) -> str:
        """The name of the agent to others, and how it works with them, in words; "" where no relay
        runs.
        """

    async def methods(self) -> list[ServiceMethod]:
        """The methods that can be asked; none where no relay runs."""

    async def ask(self, method: ServiceMethod, arguments: JsonMapping, traceparent: str) -> Any:
        """The result, asked as part of a trace or of none; raises what there is instead."""

    async def answer(self, capability: str, arguments: JsonMapping, budget: int) -> str:
        """The answer of a capability of the relay in words of at most `budget` tokens; raises what
        there is instead.
        """


async def named(services: OfferedServices, tool: str) -> ServiceMethod | None:
    """The method that is called as a tool by this name, None where there is none."""
    return next(
        (method for method in await services.methods() if method.tool == tool_name(tool)), None
    )


async def listing(services: OfferedServices) -> str:
    """The methods, a line each, as `more_tools` lists capabilities."""
    return "".join(
        f"{_signature(method)}  {method.description}\n" for method in await services.methods()
    )


def page(method: ServiceMethod) -> str:
    """All that there is to be known of one."""
    about = json.dumps(method.parameters, ensure_ascii=False, indent=1)
    return f"{method.tool}: {method.description}\n\nA service of the relay. Its arguments, as a JSON Schema:\n{about}\n"


def text(result: Any) -> str:
    """A result to be read."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, indent=1)


def _signature(method: ServiceMethod) -> str:
    needed = method.parameters.get("required", ())
    names = [
        name if name in needed else f"{name}?" for name in method.parameters.get("properties", {})
    ]
    return f"{method.tool}({', '.join(names)})"
