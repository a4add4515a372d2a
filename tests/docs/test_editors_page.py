"""docs/editors.md: each block of configuration is run in a real Neovim, against the programs that
it starts.

With NEOVIM_PICTURES, a folder, the pictures of the page are taken anew, which needs Chromium.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text
from tests.agent.core.conftest import root
from tests.agent.core.talking import call
from tests.agent.model_servers import Scripted, scripted
from tests.doors.http import chromium
from tests.own_tmux import Terminal
from tests.wrap.conftest import wait_for

__all__ = ["root", "scripted"]
PROJECT = Path(__file__).parents[2]
BLOCKS = re.findall(
    r"```lua\n(.*?)```", (PROJECT / "docs/editors.md").read_text("utf-8"), re.DOTALL
)
NVIM = os.environ.get("NVIM_PROGRAM", "")
# of the plugin and what it needs, separated by colons
PLUGINS = os.environ.get("CODECOMPANION_FOLDERS", "")
PICTURES = os.environ.get("NEOVIM_PICTURES", "")
COLUMNS, ROWS = 116, 30

needs_nvim = pytest.mark.skipif(not NVIM, reason="NVIM_PROGRAM names no Neovim")


def beside(root: Path) -> dict[str, str]:
    """Variables with which `tersely` is that of these sources, and what Neovim keeps is beside the
    repository.
    """
    tersely = root.parent / "bin" / "tersely"
    tersely.parent.mkdir(exist_ok=True)
    tersely.write_text(
        f'#!/bin/sh\nPYTHONPATH="{PROJECT}/src" exec "{sys.executable}" -m tersely "$@"\n'
    )
    tersely.chmod(0o755)
    return {
        "PATH": f"{tersely.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "TERSELY_DAEMON": "off",
        "XDG_STATE_HOME": str(root.parent / "state"),
        "XDG_DATA_HOME": str(root.parent / "data"),
    }


def said_by(root: Path, lua: str, plugins: str = "", **variables: str) -> dict[str, object]:
    """What a script in Neovim says, as an object."""
    script = root.parent / "init.lua"
    folders = "".join(
        f"vim.opt.runtimepath:append({json.dumps(one)})\n" for one in plugins.split(":") if one
    )
    script.write_text(
        f"{folders}local told = {{}}\n{lua}\nio.stdout:write('\\n' .. vim.json.encode(told) .. '\\n')\n"
    )
    environment = {**os.environ, **beside(root), **variables}
    ended = subprocess.run(
        [NVIM, "--clean", "--headless", "-n", "-l", str(script)], cwd=root, env=environment, capture_output=True,
        text=True, timeout=180, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    told: dict[str, object] = json.loads(ended.stdout.splitlines()[-1])
    return told


@needs_nvim
def test_the_language_server_in_neovim(root: Path) -> None:
    server, pack, *_ = BLOCKS
    told = said_by(
        root,
        f"""
vim.g.mapleader = ","
{server}
{pack}
vim.cmd("filetype on")
vim.cmd("edit shop/prices.py")
told.started = vim.wait(60000, function() return #vim.lsp.get_clients({{ name = "tersely" }}) > 0 end)
local client = vim.lsp.get_clients({{ name = "tersely" }})[1]
vim.wait(60000, function() return client.initialized end)
local function at_total()
  vim.cmd("cclose | buffer shop/prices.py")
  vim.api.nvim_win_set_cursor(0, {{ 1, 5 }})
end
local function quickfix(ask)
  at_total()
  vim.fn.setqflist({{}})
  ask()
  vim.wait(60000, function() return #vim.fn.getqflist() > 0 end)
  local found = {{}}
  for _, one in ipairs(vim.fn.getqflist()) do
    table.insert(found, vim.fn.fnamemodify(vim.fn.bufname(one.bufnr), ":.") .. ":" .. one.lnum)
  end
  return found
end
told.symbols = quickfix(function() vim.lsp.buf.workspace_symbol("total") end)
told.references = quickfix(function() vim.lsp.buf.references() end)
told.callers = quickfix(function() vim.lsp.buf.incoming_calls() end)
at_total()
vim.wait(60000, function()
  local lenses = vim.lsp.codelens.get(0)
  return #lenses == 2 and lenses[1].command and lenses[2].command and true or false
end)
told.lenses = vim.tbl_map(function(lens) return lens.command and lens.command.title end, vim.lsp.codelens.get(0))
vim.api.nvim_feedkeys(",tc", "xt", false)
vim.wait(60000, function() return vim.fn.getreg("t") ~= "" end)
told.pack = vim.fn.getreg("t")
for _, each in ipairs(vim.lsp.get_clients()) do each.stop(true) end
""",
    )
    assert told["started"] is True
    assert told["symbols"] == ["shop/prices.py:1"]
    assert told["references"] == [
        "shop/orders.py:1",
        "shop/orders.py:5",
        "shop/orders.py:9",
        "shop/prices.py:1",
    ]
    assert sorted(told["callers"]) == ["shop/orders.py:5", "shop/orders.py:9"]  # type: ignore[call-overload]
    assert told["lenses"] == ["2 callers, 0 tests", "2 callers, 1 test"]
    assert "def total" in str(told["pack"])


@needs_nvim
@pytest.mark.skipif(not PLUGINS, reason="CODECOMPANION_FOLDERS names no plugin")
def test_the_agent_in_neovim(root: Path, scripted: Scripted) -> None:
    edit = call(
        "edit",
        "--- body\n    return sum(price(each) for each in items)\n",
        path="shop/prices.py",
        start=2,
        end=2,
    )
    server = scripted([call("read", path="shop/prices.py"), edit, "It is done."])
    *_, agent = BLOCKS
    told = said_by(
        root,
        f"""
{agent}
vim.cmd("edit shop/prices.py")
local buffer = vim.api.nvim_get_current_buf()
local acp = require("codecompanion.acp")
local adapter = require("codecompanion.adapters").resolve("tersely")
local connection = acp.new({{ adapter = adapter }})
told.connected = connection:connect_and_initialize() ~= nil
told.session = connection.session_id
local said, asked, stop = {{}}, nil, nil
connection:session_prompt({{ {{ role = "user", content = "change total", _meta = {{ cycle = 1 }} }} }})
  :on_message_chunk(function(text) table.insert(said, text) end)
  :on_permission_request(function(request)
    asked = request.tool_call.title
    local first = request.options[1]
    request.respond(first.optionId, false)
  end)
  :on_complete(function(reason) stop = reason end)
  :on_error(function(error) stop = "error: " .. vim.inspect(error) end)
  :send()
vim.wait(120000, function() return stop ~= nil end)
told.said, told.asked, told.stop = table.concat(said), asked, stop
told.lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
connection:disconnect()
""",
        PLUGINS,
        TERSELY_CHAT_URL=server.url,
        TERSELY_HOME=str(root.parent / "home"),
    )
    assert told["connected"] is True
    assert told["stop"] == "end_turn", told
    assert "It is done." in str(told["said"])
    assert told["asked"] == "edit shop/prices.py"
    lines = told["lines"]
    assert isinstance(lines, list)
    assert "    return sum(price(each) for each in items)" in lines


def picture(terminal: Terminal, name: str, folder: Path) -> None:
    """The screen of the terminal for the page, where pictures are taken."""
    if not PICTURES:
        return
    console = Console(file=StringIO(), record=True, width=COLUMNS, legacy_windows=False)
    console.print(Text.from_ansi(terminal.coloured(), no_wrap=True))
    drawn = folder / f"{name}.svg"
    drawn.write_text(console.export_svg(title="nvim"), "utf-8")
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawn.read_text("utf-8"))
    assert box is not None
    with chromium.browser(folder / "browser") as browser:
        browser.look(round(float(box[1])), "dark", round(float(box[2])))
        browser.go(drawn.as_uri())
        browser.picture(Path(PICTURES) / f"{name}.png")


@contextmanager
def in_tmux(root: Path, configuration: str, path: str) -> Iterator[Terminal]:
    """Neovim with a file, on a screen of tmux."""
    init, socket = root.parent / "init.lua", root.parent / "nvim"
    init.write_text(f'vim.g.mapleader = ","\n{configuration}')
    variables = {**beside(root), "COLORTERM": "truecolor", "SHELL": "/bin/sh"}
    terminal = Terminal(root.parent, **variables)
    words = [NVIM, "-n", "-u", str(init), "-i", "NONE", "--headless", "--listen", str(socket), path]
    with subprocess.Popen(words, cwd=root, env=terminal.environment) as process:
        try:
            wait_for(socket.exists)
            screen = shlex.join([NVIM, "--remote-ui", "--server", str(socket)])
            terminal.start(screen, root, COLUMNS, ROWS)
            yield terminal
        finally:
            process.kill()
            terminal.tmux("kill-server")


@needs_nvim
@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux")
def test_the_walk_in_neovim(root: Path, scripted: Scripted, tmp_path: Path) -> None:
    (root / "conftest.py").touch()
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["add", "."], ["commit", "-qm", "shop"]):
        subprocess.run([*git, *words], check=True)
    new = "    return 2 * item['price'] * item['count']\n"
    edit = call("editor_edit", f"--- body\n{new}", path="shop/prices.py", start=6, end=6)
    server = scripted([call("read", path="shop/prices.py"), edit, "It doubles now."])
    with in_tmux(root, "".join(BLOCKS[:3]), "shop/prices.py") as terminal:
        terminal.shows("def price")
        terminal.keys("5Gw")
        terminal.shows("2 callers, 1 test")
        terminal.keys(":lua vim.lsp.buf.incoming_calls()", "Enter")
        terminal.shows("tests/test_prices.py|5")
        picture(terminal, "neovim-callers", tmp_path)

        chat = shlex.join(["tersely", "chat", "--url", server.url])
        terminal.keys(":cclose", "Enter", f":botright vsplit | terminal {chat}", "Enter", "i")
        terminal.shows("Ask about this repository")
        terminal.keys("change price so that it doubles", "Enter")
        terminal.shows("Allow editor_edit?")
        wait_for(lambda: "takes keys after" not in terminal.text())
        terminal.keys("y")
        terminal.shows("It doubles now.")
        terminal.shows("return 2 * item")
        picture(terminal, "neovim-agent", tmp_path)
        assert (root / "shop/prices.py").read_text().endswith(new)

        terminal.keys("C-\\", "C-n", "C-w", "h", ",tt")
        terminal.shows("1 failed")
        picture(terminal, "neovim-failed", tmp_path)
