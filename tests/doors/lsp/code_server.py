"""VS Code in a browser: a real code-server, and what a user does there with keys."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

from tests.doors.http.chromium import Browser

PROGRAM = os.environ.get("CODE_SERVER_PROGRAM", "")
START_SECONDS = 60
WAITS = 4  # of the browser's, for one condition
_KEYS = {
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "F1": "\ue031",
    "Down": "\ue015",
    "Control": "\ue009",
    "Shift": "\ue008",
}
_INPUT = ".quick-input-widget:not([style*='display: none']) input[type=text]"


class Window:
    """A window with a folder open."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.browser = browser
        browser.look(1280, "dark", 760)
        browser.go(url)
        self.wait("document.querySelector('.monaco-workbench .statusbar')")

    def wait(self, condition: str, *arguments: object) -> None:
        """Wait until an expression holds in the page: a window is slow to come up."""
        for _ in range(WAITS - 1):
            with suppress(AssertionError):
                self.browser.wait_for(condition, *arguments)
                return
        self.browser.wait_for(condition, *arguments)

    def wait_for_text(self, text: str, selector: str = "body") -> None:
        """Wait until an element shows a text."""
        self.wait(
            "[...document.querySelectorAll(arguments[1])]"
            ".some(one => one.innerText.replace(/\\u00a0/g, ' ').includes(arguments[2]))",
            selector, text,
        )  # fmt: skip

    def press(self, *keys: str) -> None:
        """Keys that are held together, as Control and z."""
        named = [_KEYS.get(key, key) for key in keys]
        downs = [{"type": "keyDown", "value": key} for key in named]
        ups = [{"type": "keyUp", "value": key} for key in reversed(named)]
        self.browser.act([*downs, *ups])

    def type(self, text: str) -> None:
        """Characters, one after the other."""
        self.browser.act(
            [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        )

    def command(self, title: str) -> None:
        """Run a command by its title in the palette."""
        self.press("F1")
        self.wait("document.querySelector(arguments[1])", _INPUT)
        self.type(title)
        self.wait_for_text(title, ".quick-input-list .monaco-list-row.focused")
        self.press("Enter")

    def choose(self, text: str, *, first_type: str = "") -> None:
        """Take the entry of a picker that shows a text."""
        self.wait("document.querySelector(arguments[1])", _INPUT)
        if first_type:
            self.type(first_type)
        self.wait_for_text(text, ".quick-input-list .monaco-list-row")
        while text not in self.browser.run(
            "return document.querySelector('.quick-input-list .monaco-list-row.focused')?.innerText ?? ''"
        ):
            self.press("Down")
        self.press("Enter")

    def open(self, file: str, line: int = 1) -> None:
        """Open a file by its path, and put the cursor on a line."""
        self.press("Control", "p")
        self.wait("document.querySelector(arguments[1])", _INPUT)
        self.type(file)
        self.wait_for_text(file.rpartition("/")[2], ".quick-input-list .monaco-list-row.focused")
        self.press("Enter")
        self.wait(
            f"document.querySelector('.tab.active[data-resource-name=\"{file.rpartition('/')[2]}\"]')"
        )
        if line > 1:
            self.press("Control", "g")
            self.wait("document.querySelector(arguments[1])", _INPUT)
            self.type(str(line))
            self.press("Enter")
            self.wait_for_text(f"Ln {line},", ".statusbar")


@contextmanager
def code_server(home: Path, variables: Mapping[str, str]) -> Iterator[str]:
    """The address of a code-server with a home of its own; extensions and settings are those below
    the home.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, "HOME": str(home), **variables}
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "VSCODE_IPC_HOOK_CLI"):
        environment.pop(name, None)
    words = [
        PROGRAM, "--auth", "none", "--bind-addr", f"127.0.0.1:{port}", "--disable-telemetry", "--disable-update-check",
        "--disable-workspace-trust",
    ]  # fmt: skip
    with (home / "code-server.log").open("wb") as log:
        process = subprocess.Popen(
            words, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment
        )
    try:
        _wait_for(f"http://127.0.0.1:{port}/healthz", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + START_SECONDS
    while True:
        try:
            with urlopen(url, timeout=5):
                return
        except OSError:
            assert process.poll() is None, "code-server has ended"
            assert time.monotonic() < ends, "code-server does not answer"
            time.sleep(0.1)
