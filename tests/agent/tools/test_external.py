"""Tools of other servers: our own server, started as any other one."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.agent.tools.box import call, opened, tool
from tests.depth import mostly_slow

from tersely.agent.tool_servers import ServerPlace, ToolServers
from tersely.agent.tools.declaration import Observation
from tersely.agent.tools.others import external
from tersely.agent.tools.toolbox import ToolServer
from tersely.daemon import lifecycle
from tersely.foundation.errors import TerselyError

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

    async def talk() -> None:
        with opened(root, tmp_path / "kept", servers={"numbers": server}) as toolbox:

            async def mcp(**arguments: str) -> Observation:
                return await tool("mcp").run(toolbox, {"server": "numbers", **arguments})

            assert (await mcp()).text.startswith("add(first, second) Add two numbers.\nfail()")
            assert (
                await mcp(tool="add", arguments='{"first": 1, "second": 2}')
            ).text == "3\\x1b[31m"
            assert (await mcp(tool="fail")).status == "failed"
            assert "no JSON" in (await mcp(tool="add", arguments="{")).text
            await toolbox.end_conversations()

    asyncio.run(talk())


def test_who_is_asked_reads_that_a_server_is_not_confined(root: Path, tmp_path: Path) -> None:
    servers = {"own": ToolServer(("own-server",)), "far": ToolServer(url="http://127.0.0.1:1/mcp")}
    with opened(root, tmp_path / "kept", servers=servers) as toolbox:
        assert "is not confined" in tool("mcp").preview(toolbox, {"server": "own", "tool": "add"})
        assert "confined" not in tool("mcp").preview(toolbox, {"server": "far"})


COUNTING = """
import os
from mcp.server import MCPServer
server = MCPServer("counting")
calls = 0
open(os.environ["STARTED"], "a").write(f"{os.getpid()}\\n")

@server.tool()
def count() -> str:
    global calls
    calls += 1
    return str(calls)

@server.tool()
def leave() -> None:
    os._exit(3)

@server.tool()
async def hang() -> None:
    import asyncio
    await asyncio.sleep(600)

server.run()
"""


@pytest.mark.slow
def test_a_server_is_talked_to_as_long_as_it_is_needed(root: Path, tmp_path: Path) -> None:
    started = tmp_path / "started"
    (tmp_path / "server.py").write_text(COUNTING)
    server = ToolServer(
        (sys.executable, str(tmp_path / "server.py")), environment={"STARTED": str(started)}
    )

    async def talk() -> None:
        with opened(root, tmp_path / "kept", servers={"c": server}) as toolbox:
            mcp = tool("mcp").run
            counts = [(await mcp(toolbox, {"server": "c", "tool": "count"})).text for _ in range(3)]
            assert counts == ["1", "2", "3"]
            assert "hang()" in (await mcp(toolbox, {"server": "c"})).text
            assert "service_error" in (await mcp(toolbox, {"server": "c", "tool": "leave"})).text
            assert (await mcp(toolbox, {"server": "c", "tool": "count"})).text == "1"
            hanging = asyncio.ensure_future(mcp(toolbox, {"server": "c", "tool": "hang"}))
            await asyncio.wait([hanging], timeout=0.01)
            hanging.cancel()
            await asyncio.wait([hanging])
            assert (await mcp(toolbox, {"server": "c", "tool": "count"})).text == "1"
            await toolbox.end_conversations()
            assert len(asyncio.all_tasks()) == 1

    asyncio.run(talk())
    pids = started.read_text().split()
    assert len(pids) == 3
    assert not [pid for pid in pids if is_running(int(pid))]


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_a_server_that_is_not_needed_is_let_go_of(root: Path, tmp_path: Path) -> None:
    started = tmp_path / "started"
    (tmp_path / "server.py").write_text(COUNTING)
    words = (sys.executable, str(tmp_path / "server.py"))
    place = ServerPlace(ToolServer(words, environment={"STARTED": str(started)}), root)

    async def talk() -> None:
        servers = ToolServers(idle_seconds=0)
        assert await servers.call("c", place, "count", {}) == ("1", False, "")
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.wait(others)
        assert await servers.call("c", place, "count", {}) == ("1", False, "")
        await servers.close()

    asyncio.run(talk())
    assert len(started.read_text().split()) == 2


def test_our_own_server_is_one(root: Path, tmp_path: Path) -> None:
    passed = ("PATH", "PYTHONPATH", "HOME", "XDG_RUNTIME_DIR")
    environment = {name: os.environ[name] for name in passed if name in os.environ}
    server = ToolServer(
        (sys.executable, "-m", "tersely", "mcp", "--root", str(root)), environment=environment
    )

    async def talk() -> list[str]:
        with opened(root, tmp_path / "kept", servers={"tersely": server}) as toolbox:
            mcp = tool("mcp").run
            listed = await mcp(toolbox, {"server": "tersely"})
            (root / "shop.py").write_text("def total(items):\n    return sum(items)\n")
            found = await mcp(
                toolbox,
                {"server": "tersely", "tool": "symbol_get", "arguments": '{"symbol": "total"}'},
            )
            await toolbox.end_conversations()
            return [listed.text, found.text]

    try:
        listed, found = asyncio.run(talk())
    finally:
        was_running = lifecycle.stop(str(root))
    assert "symbol_get(symbol, budget?)" in listed
    assert "return sum(items)" in found
    assert was_running


@pytest.mark.slow
def test_no_module_of_the_repository_is_taken_for_a_server(root: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    for name in ("numbers_server.py", "mcp.py"):
        (root / name).write_text(f"open({str(ran)!r}, 'w')\n")
    (tmp_path / "installed").mkdir()
    (tmp_path / "installed/numbers_server.py").write_text(SERVER)
    words = (sys.executable, "-m", "numbers_server")
    server = ToolServer(words, environment={"PYTHONPATH": str(tmp_path / "installed")})
    with opened(root, tmp_path / "kept", servers={"numbers": server}) as toolbox:

        async def listed() -> Observation:
            told = await tool("mcp").run(toolbox, {"server": "numbers"})
            await toolbox.end_conversations()
            return told

        assert asyncio.run(listed()).text.startswith("add(first, second)")
    assert not ran.exists()


def test_a_server_that_does_not_start_is_told(root: Path, tmp_path: Path) -> None:
    broken = {
        "ended": ToolServer((sys.executable, "-c", "")),
        "none": ToolServer(("no-such-program",)),
    }
    with opened(root, tmp_path / "kept", servers=broken) as toolbox:
        for name in broken:
            assert "service_error" in call(toolbox, "mcp", server=name).text
        assert "there is: ended, none" in call(toolbox, "mcp", server="other").text


def test_servers_are_read_from_the_users_file(tmp_path: Path) -> None:
    assert external.configured({"TERSELY_HOME": str(tmp_path)}) == {}
    servers = {
        "a": {"command": "x", "args": ["y"], "env": {"Z": "1"}},
        "b": {"url": "http://127.0.0.1:1/mcp"},
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    found = external.configured({"TERSELY_HOME": str(tmp_path)})
    assert found == {
        "a": ToolServer(("x", "y"), "", {"Z": "1"}),
        "b": ToolServer((), "http://127.0.0.1:1/mcp"),
    }


@pytest.mark.parametrize(
    "text", ["", "[]", '{"mcpServers": {"a": {}}}', '{"mcpServers": {"a": {"command": 1}}}', "{}"]
)
def test_a_file_that_cannot_be_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "mcp.json").write_text(text)
    with pytest.raises(TerselyError, match="invalid_setting"):
        external.configured({"TERSELY_HOME": str(tmp_path)})


GUARDED = """
import socket, sys
import uvicorn
from mcp.server import MCPServer
server = MCPServer("guarded")

@server.tool()
def add(first: int, second: int) -> int:
    return first + second

app = server.sse_app() if sys.argv[1] == "sse" else server.streamable_http_app()

async def guarded(scope, receive, send):
    if scope["type"] == "http" and (b"x-key", b"right") not in scope["headers"]:
        await send({"type": "http.response.start", "status": 403, "headers": []})
        await send({"type": "http.response.body", "body": b"no"})
        return
    await app(scope, receive, send)

listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(guarded, log_level="error")).run(sockets=[listening])
"""


@pytest.mark.parametrize("form", mostly_slow(["sse", "mcp"], "mcp"))
def test_a_server_of_http_is_sent_its_headers(root: Path, tmp_path: Path, form: str) -> None:
    (tmp_path / "guarded.py").write_text(GUARDED)
    words = [sys.executable, str(tmp_path / "guarded.py"), form]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = f"http://127.0.0.1:{process.stdout.readline().strip()}/{form}"
        kept = ToolServer(url=url, headers={"X-Key": "right"}, sends_events=form == "sse")

        async def talk() -> None:
            servers = {"kept": kept, "bare": replace(kept, headers={})}
            with opened(root, tmp_path / "kept", servers=servers) as toolbox:
                asked = {"tool": "add", "arguments": '{"first": 1, "second": 2}'}
                assert (await tool("mcp").run(toolbox, {"server": "kept", **asked})).text == "3"
                assert (
                    await tool("mcp").run(toolbox, {"server": "bare", **asked})
                ).status == "failed"
                await toolbox.end_conversations()

        try:
            asyncio.run(talk())
        finally:
            process.kill()
