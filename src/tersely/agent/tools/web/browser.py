"""One page in a browser of the user's, asked through Playwright's client; nothing is started before
the first page.

The browser is started for the session, with a profile of its own that ends with it, and reaches the
world through a `foundation.gate.Gate` alone. Pages may only be of hosts that were opened: one that
leads elsewhere is left. Windows, downloads, uploads and service workers are refused, and dialogs
dismissed; what was is noted.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from tersely.agent.tools.running.variables import environment
from tersely.agent.tools.web.accessible_text import PageText, page_text
from tersely.agent.tools.web.browser_folder import BrowserFolder
from tersely.agent.tools.web.page_memory import watch_memory
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.network.fetch import checked_place, netloc, port_of, url_parts
from tersely.foundation.network.gate import Gate

if TYPE_CHECKING:
    from playwright.async_api import Browser as BrowserProcess
    from playwright.async_api import BrowserContext, ConsoleMessage, Dialog, Page, Request, Response

BROWSER_START_SECONDS = 30
BROWSER_PAGE_SECONDS = 20  # for a page to come
BROWSER_ACT_SECONDS = 5  # for an element to be there and usable
BROWSER_READ_SECONDS = 8  # for a page to be read or drawn
BROWSER_SETTLE_SECONDS = 3  # for what an act has set off to end
BROWSER_CLOSE_SECONDS = 5
MAX_BROWSER_NOTES = 100  # of the log of a page; the oldest give way
MAX_BROWSER_NOTE_CHARACTERS = 300
MAX_SCREENSHOTS = 20  # that are kept; the oldest give way
_QUIET_SECONDS = 0.3  # without a request, after which a page counts as settled
_LOOK_SECONDS = 0.05
_VIEWPORT: Any = {"width": 1280, "height": 800}
_BLANK = "about:blank"
_ARGUMENTS = (
    "--disable-quic",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # as older ones call it
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # names are resolved by the gate
)
_NOT_DEFAULT = ("--disable-popup-blocking", "--disable-ipc-flooding-protection")
# What Chromium, Chrome and Edge ask for themselves: sign-in, autofill, hints, updates, lists of bad
# sites.
_OF_THEMSELVES = frozenset({
    "accounts.google.com", "clients2.google.com", "content-autofill.googleapis.com", "edge.microsoft.com",
    "optimizationguide-pa.googleapis.com", "safebrowsing.googleapis.com", "update.googleapis.com",
})  # fmt: skip
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
ResultT = TypeVar("ResultT")


class Shown(NamedTuple):
    """A page as it was read."""

    url: str
    title: str
    page: PageText


class Browser:
    """One page at a time, for one event loop; close it. `program` is the browser's, "" where there
    is none.
    """

    def __init__(self, program: str, private_hosts: tuple[str, ...]) -> None:
        self._program = program
        self._gate = Gate(_OF_THEMSELVES)
        self._gate.private_places.update(private_hosts)
        self._hosts: set[str] = set()  # that pages may be of
        self._opened: AsyncExitStack | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._page: Page | None = None
        self._folder: BrowserFolder | None = None
        self._has_crashed = False  # the process that shows the page has ended
        self._pictures: deque[str] = deque()
        self._makes_page = False
        self._waiting = 0  # requests that are not answered
        self.notes: deque[str] = deque(maxlen=MAX_BROWSER_NOTES)
        self.noted = 0  # in all
        self.elements: dict[str, str] = {}  # that the model was shown, by their number
        self.url = ""  # of the page that it was shown

    def is_unasked(self, url: str) -> bool:
        """True if a URL leads to a port of this machine that nobody has named or allowed yet."""
        try:
            parts = url_parts(url.strip())
        except TerselyError:
            return False
        host = parts.hostname or ""
        named = self._gate.private_places
        return host in _LOOPBACK and not {host, netloc(host, port_of(parts))} & named

    async def open(self, url: str) -> Shown:
        """Go to a URL; a port of this machine is reached from now on."""
        parts = url_parts(url.strip())
        host = parts.hostname or ""
        place = {netloc(host, port_of(parts))} if host in _LOOPBACK else set()
        await asyncio.to_thread(checked_place, parts, self._gate.private_places | place)
        page = await self._usable_page()
        self._gate.private_places |= place
        self._hosts.add(host)
        self.url, self.elements = "", {}
        self._forget()
        wait = BROWSER_PAGE_SECONDS * 1000
        try:
            await self._acted(
                lambda: page.goto(url.strip(), wait_until="domcontentloaded", timeout=wait)
            )
        except TerselyError:  # the browser may still be on its way to a page of its own about it
            await self._renew()
            raise
        return await self.read()

    async def read(self) -> Shown:
        """The page as it is now."""
        page = await self._checked()

        async def reading() -> Shown:
            tree = await page.aria_snapshot(mode="ai", timeout=BROWSER_READ_SECONDS * 1000)
            return Shown(
                page.url, (await page.title())[:MAX_BROWSER_NOTE_CHARACTERS], page_text(tree)
            )

        shown = await self._answered(reading)
        await self._checked()
        self.url, self.elements = shown.url, shown.page.elements
        return shown

    async def click(self, ref: str) -> Shown:
        """Click an element."""
        return await self._use(
            ref, lambda element: element.click(timeout=BROWSER_ACT_SECONDS * 1000)
        )

    async def type(self, ref: str, text: str) -> Shown:
        """Fill in a text in the place of what is there, or choose an option by its name."""
        wait = BROWSER_ACT_SECONDS * 1000

        async def filling(element: Any) -> None:
            if await element.evaluate("each => each.tagName === 'SELECT'", timeout=wait):
                await element.select_option(label=text, timeout=wait)
            else:
                await element.fill(text, timeout=wait)

        return await self._use(ref, filling)

    async def press(self, ref: str, key: str) -> Shown:
        """Press a key, on an element or where the page has it."""
        if ref:
            return await self._use(
                ref, lambda element: element.press(key, timeout=BROWSER_ACT_SECONDS * 1000)
            )
        page = await self._checked()
        await self._acted(lambda: page.keyboard.press(key))
        return await self.read()

    async def screenshot(self) -> str:
        """The path of a picture of what the page shows, which ends with the session."""
        page = await self._checked()
        folder = self._folder.path if self._folder else ""
        path = f"{folder}/screenshot-{self.noted}-{len(self._pictures)}.png"
        self._note(f"a picture was taken: {path}")
        await self._answered(
            lambda: page.screenshot(path=path, timeout=BROWSER_READ_SECONDS * 1000)
        )
        await self._checked()
        self._pictures.append(path)
        if len(self._pictures) > MAX_SCREENSHOTS:
            Path(self._pictures.popleft()).unlink(missing_ok=True)
        return path

    def log(self) -> list[str]:
        """The log of the page and the refusals of the gate since it was opened."""
        lost = self.noted - len(self.notes)
        before = [f"({lost:,} older lines are not kept)"] if lost > 0 else []
        return [*before, *self.notes, *(f"refused: {each}" for each in self._gate.refusals)]

    async def close(self) -> None:
        """End the browser, and forget its profile."""
        opened, self._opened, self._page = self._opened, None, None
        self.url, self.elements = "", {}
        if opened is not None and self._loop is asyncio.get_running_loop():
            with suppress(Exception):
                await asyncio.wait_for(opened.aclose(), BROWSER_CLOSE_SECONDS)
        if self._folder is not None:
            self._folder.remove()
            self._folder = None

    async def _usable_page(self) -> Page:
        if self._loop is not None and self._loop is not asyncio.get_running_loop():
            await self.close()
        if self._has_crashed:
            await self._renew()
        if self._page is None or self._page.is_closed():
            await self.close()
            await self._start()
        if self._page is None:
            raise TerselyError("browser_failed", "the browser has ended", "open the page again")
        return self._page

    async def _start(self) -> None:
        """Start the browser with an empty profile, a page of which is ours."""
        if not self._program:
            raise TerselyError(
                "browser_failed",
                "there is no browser",
                "pip install 'tersely[browser]', and Chromium",
            )
        from playwright.async_api import Error, async_playwright

        self._folder = await asyncio.to_thread(BrowserFolder)
        self._loop = asyncio.get_running_loop()
        self._opened = AsyncExitStack()
        try:
            async with asyncio.timeout(BROWSER_START_SECONDS):
                await self._opened.enter_async_context(self._gate)
                playwright = await self._opened.enter_async_context(async_playwright())
                browser = await playwright.chromium.launch(
                    executable_path=self._program,
                    chromium_sandbox=os.geteuid() != 0,
                    proxy={
                        "server": f"http://127.0.0.1:{self._gate.port}",
                        "bypass": "<-loopback>",
                    },
                    args=_ARGUMENTS,
                    ignore_default_args=list(_NOT_DEFAULT),
                    env={**environment(self._folder.path)},
                    artifacts_dir=self._folder.path,
                    handle_sigint=False,
                    timeout=BROWSER_START_SECONDS * 1000,
                )
                self._opened.push_async_callback(browser.close)
                watching = asyncio.create_task(self._watch(browser))
                self._opened.callback(watching.cancel)
                context = await browser.new_context(
                    accept_downloads=False,
                    service_workers="block",
                    viewport=_VIEWPORT,
                    permissions=[],
                )
                context.on("page", self._refuse_window)
                await self._make_page(context)
        except (Error, OSError, TimeoutError) as error:
            await self.close()
            message = f"{self._program} does not start: {_first_line(error)}"
            raise TerselyError("browser_failed", message, "start it by hand to see why") from error

    async def _watch(self, browser: BrowserProcess) -> None:
        from playwright.async_api import Error

        with suppress(Error):  # the browser has ended
            session = await browser.new_browser_cdp_session()
            await watch_memory(lambda: session.send("SystemInfo.getProcessInfo"), self._note)

    async def _make_page(self, context: BrowserContext) -> None:
        self._makes_page = True
        try:
            self._page = await context.new_page()
        finally:
            self._makes_page = False
        self._has_crashed = False
        self._listen(self._page)

    async def _renew(self) -> None:
        """Go on with an empty page in the place of one that failed; with no browser where it does
        not answer.
        """
        if self._page is None:
            return
        context = self._page.context
        try:
            async with asyncio.timeout(BROWSER_CLOSE_SECONDS):
                old = context.pages
                await self._make_page(context)
                for page in old:
                    await page.close()
        except Exception:  # noqa: BLE001 - whatever is wrong with it, the next page begins with another browser
            await self.close()

    def _listen(self, page: Page) -> None:
        """Note what happens on a page besides what was asked for."""
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self._note(f"uncaught: {error}"))
        page.on("crash", self._crash)
        page.on("dialog", self._dismiss)
        page.on(
            "download",
            lambda each: self._note(f"a download was refused: {each.suggested_filename}"),
        )
        page.on(
            "filechooser", lambda _: self._note("the page asked for a file, and was given none")
        )
        page.on("request", lambda _: self._count(1))
        page.on("requestfinished", lambda _: self._count(-1))
        page.on("requestfailed", self._failed)
        page.on("response", self._look_at)

    def _crash(self, page: Page) -> None:
        self._note("the page crashed")
        self._has_crashed = self._has_crashed or page == self._page

    def _hear(self, said: ConsoleMessage) -> None:
        # which is noted with its URL
        is_of_network = said.text.startswith("Failed to load resource")
        if said.type in {"error", "warning"} and not is_of_network:
            self._note(f"{said.type}: {said.text}")

    def _look_at(self, response: Response) -> None:
        if response.status >= 400:
            self._note(f"{response.status} {response.url}")

    def _count(self, more: int) -> None:
        self._waiting = max(0, self._waiting + more)

    def _failed(self, request: Request) -> None:
        self._count(-1)
        if request.failure != "net::ERR_ABORTED":  # by the page itself
            self._note(f"{request.failure} {request.url}")

    async def _dismiss(self, dialog: Dialog) -> None:
        is_leaving = dialog.type == "beforeunload"
        self._note(f"{dialog.type} {dialog.message!r} was {'left' if is_leaving else 'dismissed'}")
        with suppress(Exception):  # the page may be gone
            await (dialog.accept() if is_leaving else dialog.dismiss())

    async def _refuse_window(self, page: Page) -> None:
        if self._makes_page:
            return
        with suppress(Exception):  # it may close itself
            self._note(f"a window was refused: {page.url}")
            await page.close()

    def _note(self, text: str) -> None:
        line = " ".join(text[: 2 * MAX_BROWSER_NOTE_CHARACTERS].split())
        is_long = len(line) > MAX_BROWSER_NOTE_CHARACTERS
        self.noted += 1
        self.notes.append(f"{line[:MAX_BROWSER_NOTE_CHARACTERS]}…" if is_long else line)

    def _forget(self) -> None:
        self.notes.clear()
        self.noted = self._waiting = 0
        self._gate.refusals.clear()

    async def _use(self, ref: str, act: Callable[[Any], Awaitable[object]]) -> Shown:
        page = await self._checked()
        if ref not in self.elements:
            raise TerselyError(
                "invalid_argument", f"the page has no element {ref}", "read it again: browser(read)"
            )
        await self._acted(lambda: act(page.locator(f"aria-ref={ref}")))
        return await self.read()

    async def _acted(self, act: Callable[[], Awaitable[object]]) -> None:
        """Do something, and wait for what it sets off."""
        await self._answered(act)
        watch, quiet = Stopwatch(), Stopwatch()
        while watch.seconds() < BROWSER_SETTLE_SECONDS and quiet.seconds() < _QUIET_SECONDS:
            await asyncio.sleep(_LOOK_SECONDS)
            if self._waiting:
                quiet = Stopwatch()
        await self._checked()

    async def _answered(self, ask: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """The answer of the page; one that does not answer is closed."""
        from playwright.async_api import Error
        from playwright.async_api import TimeoutError as Late

        try:
            async with asyncio.timeout(BROWSER_PAGE_SECONDS + BROWSER_ACT_SECONDS):
                return await ask()
        except (Late, TimeoutError) as error:
            raise await self._late(error) from error
        except Error as error:
            why = _first_line(error)
            if self._gate.refusals:
                why = f"{why} ({self._gate.refusals[-1]})"
            raise TerselyError(
                "browser_failed", why, "see browser(log), or open the page again"
            ) from error

    async def _late(self, error: Exception) -> TerselyError:
        """The error that is raised where something took too long: a page that still answers stays."""
        if self._page is not None:
            with suppress(Exception):  # whatever it says, it does not answer
                await asyncio.wait_for(self._page.evaluate("1"), 1)
                return TerselyError(
                    "timed_out", _first_line(error), "read the page: it may have changed"
                )
        await self.close()
        return TerselyError("timed_out", "the page did not answer, and was closed", "open another")

    async def _checked(self) -> Page:
        """The page, where it is of a host that was opened; else it is left."""
        page = self._page
        is_open = (
            page is not None and not page.is_closed() and self._loop is asyncio.get_running_loop()
        )
        if page is None or not is_open or page.url == _BLANK:
            raise TerselyError("browser_failed", "no page is open", "open one: browser(open, url)")
        if self._has_crashed:
            raise TerselyError(
                "browser_failed", "the page crashed; it may have run out of memory", "open another"
            )
        parts = urlsplit(page.url)
        if parts.scheme in {"http", "https"} and parts.hostname in self._hosts:
            return page
        led = page.url[:MAX_BROWSER_NOTE_CHARACTERS]
        self.url, self.elements = "", {}
        try:
            await page.goto(_BLANK, timeout=BROWSER_ACT_SECONDS * 1000)
        except Exception:  # noqa: BLE001 - whatever holds it there
            await self.close()
        if led.startswith("chrome-error:"):
            raise TerselyError("browser_failed", "the page could not be shown", "see browser(log)")
        raise TerselyError(
            "denied", f"the page led to {led}, which nobody has opened", "open it if it is wanted"
        )


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).partition("\n")[0][:MAX_BROWSER_NOTE_CHARACTERS]
