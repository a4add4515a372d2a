"""Tools of other servers: our own server, started as any other one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.agent.tools.box import call, opened

from laconic.agent.tools import external
from laconic.agent.tools.toolbox import ToolServer
from laconic.foundation.errors import LaconicError

SERVER = """
from mcp.server import MCPServer
server = MCPServer("numbers")

@server.tool()
def add(first: int, second: int) -> str:
    "Add two numbers."
    return f"{first + second}\\x1b[31m"

@server.tool()
def fail() -> str:
    raise ValueError("it cannot")

server.run()
"""


def test_a_tool_of_a_server_is_called(root: Path, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    server = ToolServer((sys.executable, str(tmp_path / "server.py")))
    with opened(root, tmp_path / "kept", servers={"numbers": server}) as toolbox:
        assert call(toolbox, "mcp", server="numbers").text.startswith("add(first, second) Add two numbers.\nfail()")
        told = call(toolbox, "mcp", server="numbers", tool="add", arguments='{"first": 1, "second": 2}')
        assert told.text == "3\\x1b[31m"
        assert call(toolbox, "mcp", server="numbers", tool="fail").status == "failed"
        assert "no JSON" in call(toolbox, "mcp", server="numbers", tool="add", arguments="{").text


def test_a_server_that_does_not_start_is_told(root: Path, tmp_path: Path) -> None:
    broken = {"ended": ToolServer((sys.executable, "-c", "")), "none": ToolServer(("no-such-program",))}
    with opened(root, tmp_path / "kept", servers=broken) as toolbox:
        for name in broken:
            assert "service_error" in call(toolbox, "mcp", server=name).text
        assert "there is: ended, none" in call(toolbox, "mcp", server="other").text


def test_servers_are_read_from_the_users_file(tmp_path: Path) -> None:
    assert external.configured({"LACONIC_HOME": str(tmp_path)}) == {}
    servers = {"a": {"command": "x", "args": ["y"], "env": {"Z": "1"}}, "b": {"url": "http://127.0.0.1:1/mcp"}}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    found = external.configured({"LACONIC_HOME": str(tmp_path)})
    assert found == {"a": ToolServer(("x", "y"), "", {"Z": "1"}), "b": ToolServer((), "http://127.0.0.1:1/mcp")}


@pytest.mark.parametrize("text", ["", "[]", '{"mcpServers": {"a": {}}}', '{"mcpServers": {"a": {"command": 1}}}', "{}"])
def test_a_file_that_cannot_be_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "mcp.json").write_text(text)
    with pytest.raises(LaconicError, match="invalid_setting"):
        external.configured({"LACONIC_HOME": str(tmp_path)})
