"""The tool `mcp`: tools of servers of the Model Context Protocol that the user has set up.

The file is `mcp.json` in `$TERSELY_HOME`, else in `~/.config/tersely`, in the form that other
programs use as well: `{"mcpServers": {"name": {"command": "…", "args": ["…"], "env": {}}}}`, or
`{"url": "…"}` for one that runs already. A repository's own file is not read: it would name
programs to run.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tersely.agent.tools.declaration import Observation
from tersely.agent.tools.observation import failed
from tersely.agent.tools.others.relay import read_arguments
from tersely.agent.tools.others.tool_server import ToolServer
from tersely.agent.tools.toolbox import Toolbox
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_SETTINGS_BYTES
from tersely.foundation.storage.private import read_bounded
from tersely.foundation.text.escape import visible
from tersely.foundation.types import Environment, JsonMapping

if TYPE_CHECKING:
    from tersely.agent.tool_servers import ToolAnswer
    from tersely.foundation.types import JsonObject

MAX_TOOL_SERVERS = 20  # of the Model Context Protocol
FILE = "mcp.json"
_UNCONFINED = (
    "(the server runs as you and is not confined: it reads, writes and sends what you can)"
)


async def mcp(toolbox: Toolbox, arguments: JsonMapping) -> Observation:
    """Call a tool of a server; without a tool, tell which it has."""
    try:
        name, tool = str(arguments["server"]), str(arguments.get("tool") or "")
        answer = await _asked(
            toolbox, name, tool, read_arguments(str(arguments.get("arguments") or ""))
        )
    except TerselyError as error:
        return failed(error)
    return await toolbox.observed(answer.text or "(nothing)", "failed" if answer.is_error else "ok")


def preview(toolbox: Toolbox, arguments: JsonMapping) -> str:
    """The server, the tool and what it is given; and that nothing confines a server that is started
    for it.
    """
    words = [str(arguments.get(name) or "") for name in ("server", "tool", "arguments")]
    called = visible(" ".join(filter(None, words)))
    server = toolbox.choices.servers.get(words[0])
    return f"{called}\n{_UNCONFINED}" if server is not None and server.command else called


def configured(environment: Environment) -> dict[str, ToolServer]:
    """The servers of this user; raises `invalid_setting` for a file that cannot be."""
    folder = environment.get("TERSELY_HOME") or os.path.expanduser("~/.config/tersely")
    path = Path(folder) / FILE
    try:
        servers = json.loads(read_bounded(path, MAX_SETTINGS_BYTES))["mcpServers"]
        return {str(name): _read(one) for name, one in list(servers.items())[:MAX_TOOL_SERVERS]}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TerselyError(
            "invalid_setting", f"{path} cannot be read: {error}", "see docs/agent-tools.md"
        ) from error


def _read(one: Any) -> ToolServer:
    words = [one["command"], *one.get("args", [])] if "command" in one else []
    url = one.get("url", "")
    if bool(words) == bool(url) or not all(isinstance(word, str) for word in [*words, url]):
        raise ValueError("a server has either a command or a url")
    return ToolServer(
        tuple(words), url, {str(name): str(value) for name, value in one.get("env", {}).items()}
    )


def _server(toolbox: Toolbox, name: str) -> ToolServer:
    if name not in toolbox.choices.servers:
        known = ", ".join(toolbox.choices.servers) or f"none; {FILE} lists them"
        raise TerselyError(
            "service_not_found", f"there is no server {name!r}", f"there is: {known}"
        )
    return toolbox.choices.servers[name]


async def _asked(toolbox: Toolbox, name: str, tool: str, arguments: JsonObject) -> ToolAnswer:
    server = _server(toolbox, name)
    # whose SDK takes a second to load
    from tersely.agent.tool_servers import ServerPlace, ToolAnswer, ToolServers

    servers = toolbox.tool_servers = toolbox.tool_servers or ToolServers()
    place = ServerPlace(server, toolbox.root)
    if not tool:
        return ToolAnswer(await servers.described(name, place))
    return await servers.call(name, place, tool, arguments)
