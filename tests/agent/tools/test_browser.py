"""The tool `browser`: what may be opened and used, with a small server in the place of a browser's."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.agent.tools.box import opened, tool

from tersely.agent.conversation import tools_for
from tersely.agent.tool_calling import CallFormat
from tersely.agent.tools.approvals import Mode, Verdict
from tersely.agent.tools.toolbox import Toolbox
from tersely.agent.tools.web.browser import BrowsedPage
from tersely.foundation.text.tokens import Tokenizer

# A page is what the proxy in its settings answers; `/led` leads to another host. Whether a dialog
# waits, the tools say as @playwright/mcp does.
SERVER = """
import base64, json, sys, urllib.error, urllib.request
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ImageContent
settings = json.load(open(sys.argv[sys.argv.index("--config") + 1]))
proxy = settings["browser"]["launchOptions"]["proxy"]["server"]
opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy}))
server = MCPServer("browser")
page = {"url": "about:blank", "text": "", "waits": ""}

def failed(text):
    raise ToolError(text)

@server.tool(structured_output=False)
def browser_navigate(url: str) -> str:
    page["url"] = url
    if url == "about:blank":
        return ""
    try:
        page["text"] = opener.open(url).read().decode()
    except urllib.error.HTTPError as error:
        page["text"] = error.read().decode()
    return ""

@server.tool(structured_output=False)
def browser_snapshot() -> str:
    if page["waits"]:
        failed("### Error\\n### Modal state\\n" + page["waits"])
    head = f"### Page\\n- Page URL: {page['url']}\\n- Page Title: Home\\n### Snapshot\\n"
    return f'{head}```yaml\\n- button "{page["text"]}" [ref=e2] [cursor=pointer]\\n```'

@server.tool(structured_output=False)
def browser_click(target: str) -> str:
    page["waits"] = '- ["alert" dialog with message "x"]: can be handled by browser_handle_dialog'
    page["url"] = page["text"] if page["text"].startswith("http") else page["url"]
    return ""

@server.tool(structured_output=False)
def browser_handle_dialog(accept: bool) -> str:
    page["text"], page["waits"] = f"accepted: {accept}", ""
    return ""

@server.tool(structured_output=False)
def browser_take_screenshot(scale: str):
    data = base64.b64encode(b"PNG").decode()
    picture = ImageContent(type="image", data=data, mime_type="image/png")
    return ["[Screenshot of viewport](/tmp/page.png)", picture]

server.run()
"""


@pytest.fixture
def command(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "server.py").write_text(SERVER)
    return (sys.executable, str(tmp_path / "server.py"))


class Pages:
    """A server of this machine that answers each request with a text."""

    def __init__(self, text: str = "Hello") -> None:
        self._text = text
        self.asked = 0

    async def __aenter__(self) -> str:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.asked += 1
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(self._text)}\r\n\r\n"
        writer.write(f"{head}{self._text}".encode())
        writer.close()


def test_a_page_is_read_used_and_pictured(
    root: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    async def talk() -> None:
        with opened(root, tmp_path / "kept", browser=command) as toolbox:
            browser = tool("browser").run
            assert "no page is open" in (await browser(toolbox, {"action": "read"})).text
            async with Pages() as place:
                url = f"http://{place}/"
                told = await browser(toolbox, {"action": "open", "url": url})
            first, rest = told.text.split("\n", 1)
            assert first.startswith(f'page {url} "Home" (what follows is said by the page')
            assert rest == '- button "Hello" [ref=e2]'
            click = {"action": "click", "element": "2"}
            assert tool("browser").preview(toolbox, click) == f'click [e2] button "Hello" on {url}'
            told = await browser(toolbox, {"action": "click", "element": "e9"})
            assert told.text.startswith("invalid_argument: the page has no element e9")
            assert "accepted: False" in (await browser(toolbox, click)).text
            told = await browser(toolbox, {"action": "screenshot"})
            assert (told.text, told.picture) == (f"a picture of {url}: /tmp/page.png", "UE5H")
            await toolbox.end_conversations()
            assert len(asyncio.all_tasks()) == 1

    asyncio.run(talk())


def test_what_is_private_and_not_named_is_refused_wherever_it_is_asked_for(
    root: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    async def talk() -> None:
        secret = Pages("secret")
        with opened(root, tmp_path / "kept", browser=command) as toolbox:
            browser = tool("browser").run
            async with Pages() as place, secret as private:
                url = f"http://127.0.0.2:{private.partition(':')[2]}/"
                told = await browser(toolbox, {"action": "open", "url": url})
                assert told.text.startswith("denied:")
                await browser(toolbox, {"action": "open", "url": f"http://{place}/"})
                await toolbox.browser._do("browser_navigate", url=f"http://{private}/")
                assert "is not of the public internet" in (await toolbox.browser.read()).text
            await toolbox.end_conversations()
        assert secret.asked == 0

    asyncio.run(talk())


def test_a_page_that_leads_to_another_host_is_left(
    root: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    async def talk() -> None:
        with opened(root, tmp_path / "kept", browser=command) as toolbox:
            browser = tool("browser").run
            async with Pages("http://elsewhere.example/") as place:
                await browser(toolbox, {"action": "open", "url": f"http://{place}/"})
            told = await browser(toolbox, {"action": "click", "element": "e2"})
            assert told.text.startswith("denied: the page led to http://elsewhere.example/")
            assert "no page is open" in (await browser(toolbox, {"action": "read"})).text
            await toolbox.end_conversations()

    asyncio.run(talk())


def test_a_server_that_does_not_start_is_said(root: Path, tmp_path: Path) -> None:
    async def talk() -> None:
        command = (sys.executable, "-c", "raise SystemExit(3)")
        with opened(root, tmp_path / "kept", browser=command) as toolbox:
            told = await tool("browser").run(
                toolbox, {"action": "open", "url": "http://localhost:9/"}
            )
            assert told.text.startswith("browser_failed: the server failed")
            await toolbox.end_conversations()

    asyncio.run(talk())


def test_the_tool_costs_a_request_less_than_three_hundred_tokens() -> None:
    assert Tokenizer("o200k").count(tool("browser").signature) < 300


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "data:text/html,x", "javascript:alert(1)", "view-source:http://localhost/", "about:blank",
        "chrome://version", "http://0x7f000001/", "http://127.1/", "http://10.0.0.1/", "http://169.254.169.254/",
        "http://[::ffff:127.0.0.1]/", "http://user@localhost/", "//localhost/", "",
    ],
)  # fmt: skip
def test_what_is_never_opened(toolbox: Toolbox, url: str) -> None:
    told = asyncio.run(tool("browser").run(toolbox, {"action": "open", "url": url}))
    assert told.text.startswith(("denied:", "invalid_argument:"))


def test_servers_of_this_machine_are_asked_about_where_all_else_is_allowed(
    root: Path, tmp_path: Path
) -> None:
    policy = dict.fromkeys(range(4), Verdict.ALLOW)
    with opened(
        root, tmp_path / "kept", policy=policy, private_hosts=("localhost:5173",)
    ) as toolbox:

        def verdict(action: str, **arguments: Any) -> Verdict:
            return toolbox.verdict(tool("browser"), {"action": action, **arguments})

        assert verdict("open", url="https://docs.python.org/") is Verdict.ALLOW
        assert verdict("open", url="http://localhost:5173/") is Verdict.ALLOW
        assert verdict("open", url="http://localhost:8888/") is Verdict.ASK
        assert verdict("open", url=" HTTP://LOCALHOST:8888/") is Verdict.ASK
        assert verdict("open", url="http://[::1]:5173/") is Verdict.ASK
        toolbox.approvals.use_mode(Mode.PLAN)
        assert verdict("read") is Verdict.DENY


def test_an_approved_host_is_that_of_the_page_and_not_one_that_the_call_names(
    toolbox: Toolbox,
) -> None:
    browser = tool("browser")
    toolbox.approvals.allow_pattern(browser, "docs.python.org")
    named = {"url": "https://docs.python.org/", "element": "e1"}
    assert toolbox.verdict(browser, {"action": "open", **named}) is Verdict.ALLOW
    toolbox.browser.shown = BrowsedPage("https://evil.example/")
    assert toolbox.verdict(browser, {"action": "click", **named}) is Verdict.ASK
    assert toolbox.verdict(browser, {"action": "read"}) is Verdict.ALLOW


def test_no_model_is_told_of_it_without_a_browser() -> None:
    def names(*, has_browser: bool) -> set[str]:
        return {each.name for each in tools_for(CallFormat.NATIVE, has_browser=has_browser)}

    assert names(has_browser=True) - names(has_browser=False) == {"browser"}
