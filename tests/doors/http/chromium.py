"""A real browser, driven by the protocol of WebDriver (W3C) over plain HTTP: no package is needed
for it.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

from tersely.foundation.clock import Stopwatch

_PAGE_SECONDS = 60  # for what a page is to show
_SECONDS = 2 * _PAGE_SECONDS  # for an answer of the driver
_LOOK_SECONDS = 0.02
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # how the protocol names an element
# Without these, a browser calls its maker at every start.
_QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--force-prefers-reduced-motion",
)  # fmt: skip


def missing() -> str:
    """What is missing for tests in a browser, empty if nothing is."""
    found = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    lacking = [name for name, path in found.items() if path is None]
    return (
        f"no {' and no '.join(lacking)}: apt-get install chromium chromium-driver"
        if lacking
        else ""
    )


class Browser:
    """One session of a browser."""

    def __init__(self, port: int, folder: Path) -> None:
        self._port = port
        options = {
            "binary": shutil.which("chromium"),
            "args": [*_QUIET, f"--user-data-dir={folder}"],
        }
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
            "timeouts": {"script": 1000 * _SECONDS},
        }
        made = self._send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/session/{made['sessionId']}"

    def go(self, url: str) -> None:
        self._ask("POST", "/url", {"url": url})

    @property
    def url(self) -> str:
        return str(self._ask("GET", "/url"))

    def window(self) -> str:
        """The window that is asked."""
        return str(self._ask("GET", "/window"))

    def open_window(self) -> str:
        """A new window, which is asked from now on."""
        made = self._ask("POST", "/window/new", {"type": "window"})["handle"]
        self.turn_to(made)
        return str(made)

    def turn_to(self, window: str) -> None:
        """Ask another window from now on."""
        self._ask("POST", "/window", {"handle": window})

    def close_window(self) -> None:
        self._ask("DELETE", "/window")

    @property
    def title(self) -> str:
        return str(self._ask("GET", "/title"))

    def run(self, script: str, *arguments: Any) -> Any:
        """What a function body gives in the page. Scripts of the driver are not bound by the policy
        of the page.
        """
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait_for(self, condition: str, *arguments: Any) -> None:
        """Wait until an expression holds in the page, as observed by the page itself."""
        script = (
            "const [seconds, done] = [arguments[0], arguments[arguments.length - 1]];"
            f"const holds = () => {{ if ({condition}) {{ done(true); return true; }} return false; }};"
            "if (!holds()) { const watch = new MutationObserver(() => { if (holds()) watch.disconnect(); });"
            "watch.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});"
            "setTimeout(() => done(false), seconds * 1000); }"
        )
        held = self._ask(
            "POST", "/execute/async", {"script": script, "args": [_PAGE_SECONDS, *arguments]}
        )
        assert held, f"never: {condition}\n{self.text}"

    def wait_for_title(self, beginning: str) -> None:
        """Wait for a page by its title: the driver tells it of pages without scripts, too."""
        watch, nothing = Stopwatch(), Event()
        while not self.title.startswith(beginning):
            assert watch.seconds() < _PAGE_SECONDS, f"never: {beginning}\n{self.text}"
            nothing.wait(_LOOK_SECONDS)

    @property
    def text(self) -> str:
        return str(self.run("return document.body.innerText"))

    def find(self, selector: str) -> str:
        found = self._ask("POST", "/element", {"using": "css selector", "value": selector})
        return str(found[_ELEMENT])

    def count(self, selector: str) -> int:
        return int(self.run("return document.querySelectorAll(arguments[0]).length", selector))

    def click(self, selector: str) -> None:
        self._ask("POST", f"/element/{self.find(selector)}/click", {})

    def type(self, selector: str, text: str) -> None:
        self._ask("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def press(self, key: str) -> None:
        """A key of the keyboard, wherever the focus is."""
        self.act([{"type": kind, "value": key} for kind in ("keyDown", "keyUp")])

    def act(self, presses: list[dict[str, str]]) -> None:
        """Keys that go down and up, in this order."""
        self._ask(
            "POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": presses}]}
        )

    def cookies(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._ask("GET", "/cookie")
        return found

    def forget_cookies(self) -> None:
        self._ask("DELETE", "/cookie")

    def complaints(self) -> list[str]:
        """What the browser has written to its console since it was last asked."""
        return [entry["message"] for entry in self._ask("POST", "/se/log", {"type": "browser"})]

    def has_dialog(self) -> bool:
        """Whether a script has opened a dialog."""
        try:
            self._ask("GET", "/alert/text")
        except AssertionError:
            return False
        return True

    def look(self, width: int, scheme: str, height: int = 900) -> None:
        """From now on a window of this size, and pages in `light` or `dark`."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.devtools("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.devtools("Emulation.setEmulatedMedia", {"features": features})

    def picture(self, path: Path) -> None:
        """The whole page as a PNG file."""
        taken = self.devtools(
            "Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True}
        )
        path.write_bytes(base64.b64decode(taken["data"]))

    def devtools(self, command: str, parameters: Mapping[str, Any]) -> Any:
        return self._ask("POST", "/goog/cdp/execute", {"cmd": command, "params": dict(parameters)})

    def close(self) -> None:
        self._ask("DELETE", "")

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        return self._send(method, self._session + path, body)

    def _send(self, method: str, path: str, body: Any) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_SECONDS)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            value = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        assert not (isinstance(value, dict) and "error" in value), value
        return value


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """A browser of one's own, whose files are below a folder."""
    environment = {**os.environ, "HOME": str(folder)}
    driver = subprocess.Popen(
        ["chromedriver", "--port=0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )
    try:
        assert driver.stdout is not None
        ports = (re.search(r"started successfully on port (\d+)", line) for line in driver.stdout)
        port = int(next(found[1] for found in ports if found))
        session = Browser(port, folder / "profile")
        try:
            yield session
        finally:
            session.close()
    finally:
        driver.terminate()
        driver.wait(_SECONDS)
        if driver.stdout is not None:
            driver.stdout.close()
