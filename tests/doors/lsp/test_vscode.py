"""The extension in a real code-server: CODE_SERVER_PROGRAM names it, and `make vsix` has built the
extension.

With VSCODE_PICTURES, a folder, the pictures of docs/editors.md are taken anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from tests.agent.core.conftest import FILES
from tests.agent.core.talking import call
from tests.agent.model_servers import Scripted, scripted
from tests.doors.http import chromium
from tests.doors.lsp.code_server import PROGRAM, Window, code_server

__all__ = ["scripted"]
VSIX = Path(str(files("tersely.integrations") / "files" / "tersely.vsix"))
PICTURES = os.environ.get("VSCODE_PICTURES", "")
SOURCES = Path(__file__).parents[2] / "src"
QUIET = {
    "workbench.startupEditor": "none", "chat.disableAIFeatures": True, "git.enabled": False,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "terminal.integrated.gpuAcceleration": "off",  # its text is in the page then
}  # fmt: skip
TEXT = ".xterm-rows"

pytestmark = pytest.mark.skipif(
    not PROGRAM or not VSIX.is_file() or bool(chromium.missing()),
    reason="CODE_SERVER_PROGRAM names no code-server, there is no extension, or no Chromium",
)


class Shop:
    """A repository, its user's home, and the window in which it is open."""

    def __init__(self, root: Path, home: Path, environment: dict[str, str]) -> None:
        self.root = root
        self.home = home
        self.environment = environment
        self.window: Window

    def tersely(self, *words: str) -> str:
        """What a command prints."""
        return subprocess.run(
            [str(self.home / "bin/tersely"), *words], cwd=self.root, env=self.environment, check=True, text=True,
            capture_output=True, timeout=180,
        ).stdout  # fmt: skip

    def picture(self, name: str) -> None:
        """A picture for the page, where they are taken."""
        if PICTURES:
            self.window.browser.picture(Path(PICTURES) / f"{name}.png")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    base = tmp_path_factory.mktemp("vs")
    root, home = base / "shop", base / "home"
    for name, text in {**FILES, "conftest.py": ""}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "shop"]):
        subprocess.run([*git, *words], check=True)
    home.mkdir()
    (home / ".bashrc").write_text("PS1='$ '\n")
    program = home / "bin/tersely"
    program.parent.mkdir(parents=True)
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH="{SOURCES}" exec "{sys.executable}" -m tersely "$@"\n'
    )
    program.chmod(0o755)
    (home / "bin/code-server").symlink_to(PROGRAM)
    settings = home / ".local/share/code-server/User/settings.json"
    settings.parent.mkdir(parents=True)
    variables = {
        "HOME": str(home), "TERSELY_HOME": str(home / "state"), "TMPDIR": str(base), "XDG_RUNTIME_DIR": "",
        "PATH": f"{home}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "TERSELY_DAEMON_IDLE_SECONDS": "60", "TERSELY_DAEMON": "start",
    }  # fmt: skip
    in_terminals = {"terminal.integrated.env.linux": variables}
    settings.write_text(json.dumps({**QUIET, **in_terminals, "tersely.program": str(program)}))
    made = Shop(root, home, {**os.environ, **variables})
    made.tersely("install", "code-server", "--user", "--yes")
    with code_server(home, made.environment) as url, chromium.browser(base / "browser") as browser:
        made.window = Window(browser, f"{url}/?folder={root}")
        made.window.wait_for_text("Tersely", ".statusbar")
        yield made
    words = [str(home / "bin/tersely"), "daemon", "stop", "--root", str(root)]
    subprocess.run(words, env=made.environment, check=False, capture_output=True)


def test_callers_impact_and_packs_in_the_window(shop: Shop) -> None:
    window = shop.window
    window.open("shop/prices.py", 6)
    window.wait_for_text("2 callers, 1 test", ".codelens-decoration")
    window.command("Tersely: Show Impact")
    window.wait_for_text("4 symbols in 3 files", ".pane-body")
    window.wait_for_text("invoice", ".pane-body")
    shop.picture("vscode-impact")
    window.command("Tersely: Copy Context for")
    window.wait_for_text("where it probably has to be done", ".quick-input-list")
    window.choose("A symbol")
    window.wait_for_text("at the cursor", ".quick-input-list")
    window.choose("total", first_type="tota")
    window.wait_for_text("characters of context copied", ".statusbar")


def test_the_agent_edits_what_the_user_sees_and_the_tests_are_run(
    shop: Shop, scripted: Scripted
) -> None:
    window = shop.window
    window.open("shop/prices.py", 5)
    new = "    return 2 * item['price'] * item['count']\n"
    replies = [
        call("read", path="shop/prices.py"),
        call("editor_open", path="shop/prices.py", line=6),
        call("editor_open"),
        call("editor_edit", f"--- body\n{new}", path="shop/prices.py", start=6, end=6),
        call("editor_terminal", command="cat shop/prices.py | tail -1"),
        call("editor_diagnostics"),
        "price doubles now.",
    ]
    server = scripted(replies)
    window.command("Terminal: Create New Terminal")
    window.wait("document.querySelector('.terminal.focus, .xterm.focus')")
    window.type(
        f"tersely chat -p 'Change price to double, and run it' --allow 2 --url {server.url}"
    )
    window.press("Enter")
    window.wait_for_text("2 * item", ".editor-instance .view-lines")
    window.wait_for_text("tail -1", TEXT)  # in a terminal of its own
    window.wait_for_text("return 2 * item", TEXT)
    assert (shop.root / "shop/prices.py").read_text().endswith(new)
    shop.picture("vscode-agent")
    window.command("Tersely: Run Affected Tests")
    window.wait_for_text("The 1 most likely", ".quick-input-list")
    shop.picture("vscode-tests")
    window.press("Enter")
    window.wait_for_text("1 failed", TEXT)
    shop.picture("vscode-failed")
    window.command("View: Focus Active Editor Group")
    window.press("Control", "z")
    shown = "[...document.querySelectorAll('.view-lines')].some(one => one.innerText.includes(arguments[1]))"
    window.wait(f"!{shown}", "2 *")
