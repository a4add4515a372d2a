"""The tool `relay`: everything that the catalogue has of the relay, by the names that other doors
use as well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from tersely.agent.tools.declaration import Observation
from tersely.agent.tools.observation import failed
from tersely.agent.tools.toolbox import Toolbox
from tersely.capabilities import catalogue
from tersely.capabilities.declaration.declaration import Effect
from tersely.capabilities.declaration.toolset import OFFERED, call_line, tool_name
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_BUDGET_TOKENS
from tersely.foundation.text.escape import visible
from tersely.foundation.text.suggestion import suggestion
from tersely.foundation.types import JsonMapping, JsonObject

_NAMES: Mapping[str, str] = {
    tool_name(name): name for name in OFFERED if name in catalogue.RELAY_NAMES
}


async def relay(toolbox: Toolbox, arguments: JsonMapping) -> Observation:
    """Ask the relay; without a tool, tell what it can be asked."""
    try:
        named = str(arguments.get("tool") or "")
        if not named:
            return await toolbox.observed(_listing())
        capability = _capability(named)
        given = read_arguments(str(arguments.get("arguments") or ""))
        # what is long is kept here
        text = await toolbox.choices.relay(capability, given, MAX_BUDGET_TOKENS)
    except TerselyError as error:
        return failed(error)
    return await toolbox.observed(text)


def preview(toolbox: Toolbox, arguments: JsonMapping) -> str:
    """The tool that is asked, and what it is given."""
    return visible(
        " ".join(filter(None, (str(arguments.get(name) or "") for name in ("tool", "arguments"))))
    )


def effect_of(arguments: JsonMapping) -> Effect:
    """The effect: what only reads needs nobody's approval; all else reaches other agents."""
    name = _NAMES.get(tool_name(str(arguments.get("tool") or "")))
    is_listing = not arguments.get("tool")
    only_reads = name is not None and catalogue.load(name).effect is Effect.READ
    return Effect.READ if is_listing or only_reads else Effect.NETWORK


def read_arguments(text: str) -> JsonObject:
    """The arguments that a model writes for a tool of others; raises `invalid_argument`."""
    if not text.strip():
        return {}
    try:
        given = json.loads(text)
    except ValueError as error:
        raise TerselyError(
            "invalid_argument", f"arguments is no JSON: {error}", 'as {"name": "value"}'
        ) from None
    if not isinstance(given, dict):
        raise TerselyError(
            "invalid_argument", "arguments is no JSON object", 'as {"name": "value"}'
        )
    return given


def _listing() -> str:
    every = (catalogue.load(name) for name in _NAMES.values())
    return "".join(f"{call_line(one)}  {one.summary}\n" for one in every)


def _capability(named: str) -> str:
    found = _NAMES.get(tool_name(named))
    if found is None:
        hint = suggestion(tool_name(named), _NAMES, "relay without tool lists them")
        raise TerselyError("unknown_command", f"the relay has no tool {named[:80]!r}", hint)
    return found
