"""One page in a browser, asked through a server of the Model Context Protocol that the user names,
as `npx @playwright/mcp`; nothing is started before the first page.

The browser has a profile of its own that ends with the session, and reaches the world through a
`foundation.gate.Gate` alone. Pages may only be of hosts that were opened: one that leads elsewhere
is left. Downloads, uploads and service workers are refused, and dialogs dismissed.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from tersely.agent.tools.others.tool_server import ToolServer
from tersely.foundation.errors import TerselyError
from tersely.foundation.network.fetch import checked_place, netloc, port_of, url_parts
from tersely.foundation.network.gate import Gate
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tersely.agent.tool_servers import ServerPlace, ToolAnswer, ToolServers
    from tersely.foundation.types import JsonObject

BROWSER_PAGE_SECONDS = 20  # for a page to come
BROWSER_ACT_SECONDS = 5  # for an element to be there and usable
BROWSER_ANSWER_SECONDS = 40  # for the server to start, act and tell
MAX_BROWSER_DIALOGS = 10  # of a page, that are dismissed one after the other
MAX_BROWSER_MESSAGE_CHARACTERS = 300  # of what the server says went wrong
MAX_PICTURES_BYTES = 20_000_000  # that are kept; the oldest give way
_SERVER = "browser"
_BLANK = "about:blank"
_ARGUMENTS = (
    "--disable-quic",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # as older ones call it
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # names are resolved by the gate
)
# What Chromium, Chrome and Edge ask for themselves: sign-in, autofill, hints, updates, lists of bad
# sites.
_OF_THEMSELVES = frozenset({
    "accounts.google.com", "clients2.google.com", "content-autofill.googleapis.com", "edge.microsoft.com",
    "optimizationguide-pa.googleapis.com", "safebrowsing.googleapis.com", "update.googleapis.com",
})  # fmt: skip
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
# The parts of an answer. What a page says of itself comes after its URL, or on one line.
_PAGE = re.compile(
    r"(?:^|\n)### Page\n- Page URL: (.*)(?:\n- Page Title: (.*))?(?:\n- (Console: .*))?"
)
_TREE = re.compile(r"\n### Snapshot\n```yaml\n(.*)\n```", re.DOTALL)
_DIALOG = re.compile(r'^- \["(\w+)" dialog', re.MULTILINE)
_IS_WAITING = "### Modal state"
_FILE = re.compile(r"\]\((.+\.png)\)")
_ERROR = re.compile(r"^### Error\n(?:Error: )?(?:browserBackend\.callTool: )?(?:Error: )?")
_COLOR = re.compile(r"\x1b?\[\d+m")


class BrowsedPage(NamedTuple):
    """A page as it was read: its accessibility tree, and the number of its errors and warnings."""

    url: str
    title: str = ""
    log: str = ""
    text: str = ""


class PagePicture(NamedTuple):
    """A picture of what a page shows, as a file that ends with the session and in Base64."""

    path: str
    png: str


class Browser:
    """One page at a time, for one event loop; close it. `command` starts the server, () where there
    is none.
    """

    def __init__(self, command: Strings, private_hosts: Strings) -> None:
        self._command = command
        self._gate = Gate(_OF_THEMSELVES)
        self._gate.private_places.update(private_hosts)
        self._hosts: set[str] = set()  # that pages may be of
        self._opened: AsyncExitStack | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._servers: ToolServers | None = None
        self._place: ServerPlace | None = None
        self.shown = BrowsedPage("")  # to the model

    def is_unasked(self, url: str) -> bool:
        """True if a URL leads to a port of this machine that nobody has named or allowed yet."""
        with suppress(TerselyError):
            host = url_parts(url.strip()).hostname
            return host in _LOOPBACK and not self._gate.is_named(url.strip())
        return False

    def element(self, ref: str) -> str:
        """The line of the page that the model was shown with this number, "" without one."""
        found = re.search(rf"^ *- (.*) \[ref={re.escape(ref)}\]", self.shown.text, re.MULTILINE)
        return found[1] if found else ""

    async def open(self, url: str) -> BrowsedPage:
        """Go to a URL; a port of this machine is reached from now on."""
        parts = url_parts(url.strip())
        host = parts.hostname or ""
        place = {netloc(host, port_of(parts))} if host in _LOOPBACK else set()
        await asyncio.to_thread(checked_place, parts, self._gate.private_places | place)
        await self._start()
        self._gate.private_places |= place
        self._gate.refusals.clear()
        self._hosts.add(host)
        self.shown = BrowsedPage("")
        try:
            await self._do("browser_navigate", url=url.strip())
        except TerselyError:  # the browser may still be on its way to a page of its own about it
            if self._opened is not None:
                await self._ask("browser_tabs", {"action": "new"})
                await self._ask("browser_tabs", {"action": "close", "index": 0})
            raise
        return await self.read()

    async def read(self) -> BrowsedPage:
        """The page as it is now."""
        self.shown = await self._looked()
        return self.shown

    async def click(self, ref: str) -> BrowsedPage:
        """Click an element."""
        await self._use("browser_click", ref)
        return await self.read()

    async def type(self, ref: str, text: str) -> BrowsedPage:
        """Fill in a text in the place of what is there, or choose an option by its name."""
        try:
            await self._use("browser_type", ref, text=text)
        except TerselyError:
            await self._do("browser_select_option", target=ref, values=[text])
        return await self.read()

    async def press(self, ref: str, key: str) -> BrowsedPage:
        """Press a key, on an element or where the page has it."""
        if ref:
            await self._use("browser_evaluate", ref, function="element => element.focus()")
        else:
            await self._looked()
        await self._do("browser_press_key", key=key)
        return await self.read()

    async def screenshot(self) -> PagePicture:
        """A picture of what the page shows."""
        await self._looked()
        answer = await self._do("browser_take_screenshot", scale="css")
        file = _FILE.search(answer.text)
        return PagePicture(file[1] if file else "", answer.picture)

    async def log(self) -> str:
        """The errors and warnings of the page, and what was refused by the gate since it was opened."""
        await self._looked()
        answer = await self._do("browser_console_messages", level="warning")
        refused = [f"refused: {each.message}" for each in self._gate.refusals]
        return "\n".join([answer.text.removeprefix("### Result\n").strip(), *refused])

    async def close(self) -> None:
        """End the browser, and forget its profile."""
        opened, self._opened = self._opened, None
        self.shown = BrowsedPage("")
        if opened is not None and self._loop is asyncio.get_running_loop():
            await opened.aclose()

    async def _start(self) -> None:
        """Have a proxy, a folder and a conversation; the server starts with the first question."""
        if self._opened is not None and self._loop is asyncio.get_running_loop():
            return
        if not self._command:
            raise TerselyError("browser_failed", "there is no browser", "set TERSELY_CHAT_BROWSER")
        # its SDK takes a second to load
        from tersely.agent.tool_servers import ServerPlace, ToolServers

        self._loop = asyncio.get_running_loop()
        opened = AsyncExitStack()
        gate = await opened.enter_async_context(self._gate)
        folder = opened.enter_context(tempfile.TemporaryDirectory(prefix="tersely-browser-"))
        Path(folder, "config.json").write_text(json.dumps(_configuration(gate.port, folder)))
        command = (*self._command, "--config", f"{folder}/config.json")
        # launchers look into the working directory first: not into the repository
        self._place = ServerPlace(ToolServer(command), Path(folder))
        self._servers = ToolServers()
        opened.push_async_callback(self._servers.close)
        self._opened = opened

    async def _ask(self, tool: str, arguments: JsonObject) -> ToolAnswer:
        if self._servers is None or self._place is None or self._opened is None:
            raise TerselyError("browser_failed", "no page is open", "open one: browser(open, url)")
        try:
            async with asyncio.timeout(BROWSER_ANSWER_SECONDS):
                return await self._servers.call(_SERVER, self._place, tool, arguments)
        except TimeoutError as error:
            await self.close()
            message = "the page did not answer, and was closed"
            raise TerselyError("timed_out", message, "open another") from error
        except TerselyError as error:
            await self.close()
            hint = f"start it by hand to see why: {' '.join(self._command)}"
            raise TerselyError("browser_failed", f"{error.message}; it was closed", hint) from error

    async def _do(self, tool: str, **arguments: Any) -> ToolAnswer:
        """The answer of one of the server's tools; raises `browser_failed` where it says so."""
        answer = await self._ask(tool, arguments)
        if not answer.is_error:
            return answer
        said = _COLOR.sub("", _ERROR.sub("", answer.text)).partition("\n")[0]
        refused = f" ({self._gate.refusals[-1].message})" if self._gate.refusals else ""
        message = f"{said[:MAX_BROWSER_MESSAGE_CHARACTERS]}{refused}"
        raise TerselyError("browser_failed", message, "see browser(log), or open the page again")

    async def _use(self, tool: str, ref: str, **arguments: str) -> None:
        """Do something with an element of the page that the model was shown."""
        await self._looked()
        if not self.element(ref):
            raise TerselyError(
                "invalid_argument", f"the page has no element {ref}", "read it again: browser(read)"
            )
        await self._do(tool, target=ref, **arguments)

    async def _looked(self) -> BrowsedPage:
        """The page as it is, without a dialog, where it is of a host that was opened; else it is
        left.
        """
        answer = await self._ask("browser_snapshot", {})
        for _ in range(MAX_BROWSER_DIALOGS):
            if not answer.is_error or _IS_WAITING not in answer.text:
                break
            await self._dismiss(answer.text)
            answer = await self._ask("browser_snapshot", {})
        page = _PAGE.search(answer.text)
        if answer.is_error or page is None:
            await self.close()
            raise TerselyError("browser_failed", "the page cannot be read", "open another")
        url, title, log = page.groups(default="")
        parts = urlsplit(url)
        if parts.scheme in {"http", "https"} and parts.hostname in self._hosts:
            tree = _TREE.search(answer.text, page.end())
            return BrowsedPage(
                url, title, log, tree[1].replace(" [cursor=pointer]", "") if tree else ""
            )
        raise await self._left(url)

    async def _dismiss(self, said: str) -> None:
        """Answer a dialog that holds the page: no, unless it asks whether the page may be left."""
        if (dialog := _DIALOG.search(said)) is not None:
            await self._ask("browser_handle_dialog", {"accept": dialog[1] == "beforeunload"})
        else:
            await self._ask("browser_file_upload", {})

    async def _left(self, url: str) -> TerselyError:
        """Leave a page, and tell why."""
        self.shown = BrowsedPage("")
        if url == _BLANK:
            return TerselyError("browser_failed", "no page is open", "open one: browser(open, url)")
        await self._ask("browser_navigate", {"url": _BLANK})
        if url.startswith("chrome-error:"):
            return TerselyError("browser_failed", "the page could not be shown", "open another")
        led = url[:MAX_BROWSER_MESSAGE_CHARACTERS]
        return TerselyError(
            "denied", f"the page led to {led}, which nobody has opened", "open it if it is wanted"
        )


def _configuration(port: int, folder: str) -> JsonObject:
    """The settings of the server: an empty profile, the gate at a port as the only way out."""
    launched = {
        "headless": True,
        "chromiumSandbox": os.geteuid() != 0,  # which it refuses to start with
        "proxy": {"server": f"http://127.0.0.1:{port}", "bypass": "<-loopback>"},
        "args": _ARGUMENTS,
    }
    context = {
        "viewport": {"width": 1280, "height": 800},
        "acceptDownloads": False,
        "serviceWorkers": "block",
        "permissions": (),
    }
    waits = {"action": BROWSER_ACT_SECONDS * 1000, "navigation": BROWSER_PAGE_SECONDS * 1000}
    return {
        "browser": {
            "browserName": "chromium",
            "isolated": True,
            "launchOptions": launched,
            "contextOptions": context,
        },
        "timeouts": waits,
        "outputDir": folder,
        "outputMaxSize": MAX_PICTURES_BYTES,
        "filePaths": "absolute",
        "snapshot": {"mode": "none"},
        "codegen": "none",
    }
