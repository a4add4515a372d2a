"""The pages in a real browser, against a relay in a process of its own. Skipped where there is no
Chromium.
"""

from __future__ import annotations

import http.server
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.doors.http import chromium, hostile
from tests.doors.http.chromium import Browser
from tests.doors.http.conftest import Web, serve
from tests.own_terminal import IS_TOLD_APART, at_terminal

from tersely.client import Client

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(chromium.missing()), reason=chromium.missing()),
]

CODE = """
def parse(text):
    return text.split()

def load(path):
    return parse(open(path).read())

def main():
    return load("a") + load("b")
"""
# whether all that some selectors find is within the width of the window and hides nothing
INSIDE = """return arguments[0] !== undefined && [...arguments].every((selector) =>
  [...document.querySelectorAll(selector)].every((one) => {
    const { left, right, width } = one.getBoundingClientRect();
    return width > 0 && left >= 0 && right <= innerWidth && one.scrollWidth <= one.clientWidth + 1
      && one.scrollHeight <= one.clientHeight + 1;
  })) && document.documentElement.scrollWidth <= innerWidth"""
TAB, ENTER = "\ue004", "\ue007"
SCHEMES = ("light", "dark")


class Signed(NamedTuple):
    """A browser that has signed in to a relay, with the client that let it in."""

    browser: Browser
    client: Client
    base: str  # of the addresses
    socket: Path

    def thread(self, name: str = "first") -> str:
        return self.client.ask("thread.new", name=name).thread_id

    def see(self, path: str) -> None:
        self.browser.go(self.base + path)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium.browser(tmp_path_factory.mktemp("browser")) as made:
        yield made


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    yield from serve(tmp_path_factory.mktemp("home"))


@pytest.fixture
def signed(browser: Browser, web: Web) -> Iterator[Signed]:
    with Client(web.socket, "ann") as client:
        browser.look(1280, "light")
        browser.go(client.page(""))
        browser.wait_for("document.title.startsWith('Now')")
        browser.complaints()
        yield Signed(browser, client, f"http://127.0.0.1:{web.port}", web.socket)


def test_a_ticket_signs_in_and_leaves_no_trace(browser: Browser, web: Web) -> None:
    with Client(web.socket) as client:
        browser.go(f"http://127.0.0.1:{web.port}/ui/login")
        browser.forget_cookies()
        thread = client.ask("thread.new", name="first").thread_id
        url = client.page(f"threads/{thread}")
        browser.go(url)
        browser.wait_for("location.pathname === arguments[1]", f"/ui/threads/{thread}")
        (cookie,) = (
            browser.cookies() or browser.devtools("Network.getCookies", {"urls": [url]})["cookies"]
        )
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/ui")
        assert browser.run("return document.cookie") == ""
        browser.go(url)
        browser.wait_for("document.querySelector('h1').textContent === 'Sign in first'")
        assert "used before" in browser.text
        assert "ticket=" not in browser.url


def test_signing_in_works_without_scripts(browser: Browser, web: Web) -> None:
    with Client(web.socket) as client:
        browser.go(f"http://127.0.0.1:{web.port}/ui/login")
        browser.forget_cookies()
        browser.devtools("Emulation.setScriptExecutionDisabled", {"value": True})
        try:
            browser.go(client.page(""))
            browser.click("main form button")
            browser.wait_for_title("Now")
        finally:
            browser.devtools("Emulation.setScriptExecutionDisabled", {"value": False})


def test_signing_out(signed: Signed) -> None:
    signed.browser.click("header button")
    signed.browser.wait_for("location.pathname === '/ui/login'")
    signed.see("/ui/")
    assert signed.browser.run("return document.querySelector('h1').textContent") == "Sign in first"


def is_live(browser: Browser) -> None:
    browser.wait_for("document.getElementById('live').textContent === 'Live'")


def test_a_page_is_live_and_can_be_paused(signed: Signed) -> None:
    browser, thread = signed.browser, signed.thread()
    signed.see(f"/ui/threads/{thread}")
    is_live(browser)
    assert browser.count(".events li") == 1
    signed.client.ask("artifact.put", thread=thread, content="text", name="<b>note</b>.txt")
    browser.wait_for("document.querySelectorAll('.events li').length === 2")
    newest = browser.run("return document.querySelector('.events li').innerText")
    assert "artifact.created" in newest
    assert "<b>note</b>.txt" in newest
    browser.wait_for("document.getElementById('live').textContent.includes('Latest events')")
    browser.click("#pause")
    for number in range(3):
        signed.client.ask("thread.checkpoint", thread=thread, name=f"mark {number}")
    assert browser.count(".events li") == 2
    browser.click("#pause")
    browser.wait_for("document.querySelectorAll('.events li').length === 5")
    numbers = browser.run(
        "return [...document.querySelectorAll('.events .seq')].map(one => one.textContent)"
    )
    assert numbers == ["5", "4", "3", "2", "1"]
    browser.click(".events a")
    assert "/artifacts/" in browser.url
    assert browser.complaints() == []


def test_a_window_without_a_connection_is_live(signed: Signed) -> None:
    browser, first = signed.browser, signed.browser.window()
    windows = []
    try:
        for _ in range(3):  # the first has a connection as well
            windows.append(browser.open_window())
            signed.see("/ui/messages")
            browser.wait_for("document.getElementById('live').textContent.startsWith('Live')")
        browser.wait_for(
            "document.getElementById('live').textContent === 'Live, every few seconds'"
        )
        with Client(signed.socket, "uma") as client:
            client.ask("mail.send", to="pia", body="seen in the last window", queue=True)
        browser.wait_for(
            "document.getElementById('content').innerText.includes('seen in the last window')"
        )
    finally:
        for window in windows:
            browser.turn_to(window)
            browser.close_window()
        browser.turn_to(first)
    signed.see("/ui/messages")
    is_live(browser)  # by a connection that one of them has given back


def test_messages_and_agents_are_live(signed: Signed) -> None:
    browser = signed.browser
    for path, sender, said in (
        ("/ui/messages", "ann", "the kettle whistles"), ("/ui/agents", "olga", "olga"), ("/ui/", "ann", "Is it hot?"),
    ):  # fmt: skip
        signed.see(path)
        is_live(browser)
        assert said not in browser.text
        with Client(signed.socket, sender) as client:
            client.ask("mail.send", to="pia", body=said, queue=True)
        browser.wait_for(
            "document.getElementById('content').innerText.includes(arguments[1])", said
        )


def test_the_focus_and_what_is_open_outlive_a_change(signed: Signed) -> None:
    browser, thread = signed.browser, signed.thread()
    signed.client.ask("artifact.put", thread=thread, content="words " * 50, name="first.txt")
    signed.see(f"/ui/threads/{thread}")
    is_live(browser)
    browser.run(
        "document.querySelector('.events a').focus(); document.querySelector('details').open = true"
    )
    href = browser.run("return document.activeElement.href")
    signed.client.ask("artifact.put", thread=thread, content="more " * 50, name="second.txt")
    browser.wait_for("document.querySelectorAll('.events li').length === 3")
    assert browser.run("return document.activeElement.href") == href
    assert browser.run("return document.querySelector('details').open") is True


def test_times_are_those_of_the_reader(signed: Signed) -> None:
    browser = signed.browser
    signed.thread()
    try:
        for zone, hours in (("Asia/Tokyo", 9), ("America/Phoenix", -7)):
            browser.devtools("Emulation.setTimezoneOverride", {"timezoneId": zone})
            signed.see("/ui/threads")
            assert (
                browser.run("return document.getElementById('zone').textContent")
                == f"{zone}, yours"
            )
            stamp, shown, exact = browser.run("const one = document.querySelector('time'); "
                                              "return [one.dateTime, one.textContent, one.title]")  # fmt: skip
            local = datetime.fromisoformat(stamp) + timedelta(hours=hours)
            assert exact == f"{local:%Y-%m-%d %H:%M:%S}"
            assert re.fullmatch(r"just now|\d+m ago", shown)
    finally:
        browser.devtools("Emulation.setTimezoneOverride", {"timezoneId": ""})


@pytest.mark.skipif(not IS_TOLD_APART, reason="persons cannot be told from agents here")
@pytest.mark.parametrize("width", [1280, 390])
def test_a_permission_is_seen_whole_and_one_click_allows_nothing(
    signed: Signed, width: int
) -> None:
    browser, client = signed.browser, signed.client
    source = "import sys; from pathlib import Path; from tersely.client import Client; "
    source += "print(Client(Path(sys.argv[1])).page(''))"
    command = "cd /srv/shop && " + "npm run build -- --mode production --sourcemap && " * 12
    name = f"reviewer-of-{'the-' * 6}checkout"
    with Client(signed.socket, name) as agent:
        agent.ask("agent.introduction")
        asked = agent.ask("permission.ask", tool="Bash", what=command)
        browser.look(width, "light")
        browser.go(at_terminal(sys.executable, "-c", source, str(signed.socket)))
        browser.wait_for("document.querySelector('.permissions summary')")
        assert browser.run(
            INSIDE, ".permissions button[value=deny]", ".permissions summary", ".wanted"
        )
        assert (
            browser.run(
                "return document.querySelector('.permissions .actor').getClientRects().length"
            )
            == 1
        )
        browser.click(".permissions summary")
        browser.wait_for(
            "document.querySelector('.permissions button[value=allow]').offsetWidth > 0"
        )
        assert browser.run(INSIDE, ".permissions button[value=allow]")
        assert client.ask("agent.list").permissions != []
        browser.click(".permissions button[value=allow]")
        browser.wait_for("!document.querySelector('.permissions')")
        told = agent.ask("permission.ask", tool="Bash", what=command, id=asked.id)
        assert told.decision == "allow"


@pytest.fixture(scope="module")
def hostile_thread(web: Web) -> str:
    return hostile.fill(web)


def test_hostile_text_never_runs_and_nothing_is_loaded_from_elsewhere(
    signed: Signed, web: Web, hostile_thread: str
) -> None:
    browser = signed.browser
    for path in hostile.pages(web, hostile_thread, messages=2):
        signed.see(path)
        if path == f"/ui/threads/{hostile_thread}":
            browser.wait_for("document.getElementById('live').textContent === 'Live'")
            client = signed.client
            for payload in hostile.PAYLOADS:
                client.ask(
                    "artifact.put",
                    thread=hostile_thread,
                    content=payload + " live",
                    name=payload[:200],
                )
            browser.wait_for("document.querySelector('.events').innerText.includes('{{7*7}}')")
        assert not browser.has_dialog()
        assert browser.run("return document.documentElement.dataset.owned") is None
        loaded = browser.run("return performance.getEntriesByType('resource').map(one => one.name)")
        assert [url for url in loaded if not url.startswith(f"{signed.base}/ui/")] == []
        assert browser.complaints() == [], path  # a violation of the policy would be one
        assert browser.count("iframe, object, embed, style, base, main script, main img") == 0


def test_the_policy_holds_should_markup_ever_get_in(signed: Signed) -> None:
    signed.see("/ui/")
    signed.browser.run(
        "const one = document.createElement('div'); one.innerHTML = arguments[0]; document.body.append(one);"
        "const script = document.createElement('script'); script.textContent = arguments[1];"
        "document.body.append(script);",
        f'<img src=x onerror="{hostile.RUN}"><img src="https://evil.example/x.png"><p style="color:red">x</p>',
        hostile.RUN,
    )
    complaints = "\n".join(signed.browser.complaints())
    assert signed.browser.run("return document.documentElement.dataset.owned") is None
    for directive in ("script-src", "style-src", "img-src"):
        assert directive in complaints


ATTACK = """<!doctype html><title>attack</title><body><script>
const target = "{target}", found = {{}};
const settled = [];
const note = (name, promise) => settled.push(promise.then(v => found[name] = v, e => found[name] = "failed"));
note("page", fetch(target + "/ui/", {{credentials: "include"}}).then(r => r.text()));
note("opaque", fetch(target + "/ui/", {{credentials: "include", mode: "no-cors"}}).then(r => r.text()));
note("threads", fetch(target + "/threads", {{credentials: "include"}}).then(r => r.text()));
note("logout", fetch(target + "/ui/logout", {{method: "POST", credentials: "include", mode: "no-cors",
  headers: {{"Content-Type": "application/x-www-form-urlencoded"}}, body: "form_token=x"}}).then(r => r.type));
note("stream", new Promise((yes, no) => {{ const s = new EventSource(target + "/ui/", {{withCredentials: true}});
  s.onmessage = () => yes("read"); s.onerror = () => no(); }}));
for (const [name, tag, path] of [["script", "script", "{content}"], ["image", "img", "{content}"]]) {{
  note(name, new Promise((yes, no) => {{ const one = document.createElement(tag); one.onload = () => yes("loaded");
    one.onerror = no; one.src = target + path; document.body.append(one); }}));
}}
const frame = document.createElement("iframe");
note("frame", new Promise(yes => {{ frame.onload = () => {{ try {{
  yes(String(frame.contentDocument && frame.contentDocument.title)); }} catch (e) {{ yes("failed"); }} }}; }}));
frame.src = target + "/ui/";
document.body.append(frame);
Promise.all(settled).then(() => {{ document.body.dataset.found = JSON.stringify(found); }});
</script>"""


@contextmanager
def page_of_another_origin(content: bytes) -> Iterator[int]:
    class Answering(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            serving.join()


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost"]
)  # the same site, whose requests bear the cookie; and another
def test_a_page_of_another_origin_reads_and_changes_nothing(signed: Signed, host: str) -> None:
    thread = signed.thread("a secret name")
    ref = signed.client.ask("artifact.put", thread=thread, content=hostile.RUN, name="x.js").ref
    content = f"/ui/threads/{thread}/artifacts/{ref}/content"
    page = ATTACK.format(target=signed.base, content=content)
    with page_of_another_origin(page.encode()) as port:
        signed.browser.go(f"http://{host}:{port}/")
        signed.browser.wait_for("document.body.dataset.found !== undefined")
        found = signed.browser.run("return JSON.parse(document.body.dataset.found)")
        assert signed.browser.run("return document.documentElement.dataset.owned") is None
    assert {
        name
        for name in ("page", "threads", "stream", "script", "image", "frame")
        if found[name] == "failed"
    } | {name for name in ("frame",) if found[name] in {"null", "undefined"}} == {
        "page",
        "threads",
        "stream",
        "script",
        "image",
        "frame",
    }, found
    assert "secret" not in str(found)
    signed.see("/ui/")
    assert signed.browser.title.startswith("Now")  # still signed in


def test_a_keyboard_suffices_and_everything_has_a_name(signed: Signed, hostile_thread: str) -> None:
    browser = signed.browser
    signed.see(f"/ui/threads/{hostile_thread}")
    browser.press(TAB)
    assert browser.run("return document.activeElement.textContent") == "Skip to the content"
    browser.press(ENTER)
    assert browser.run("return document.activeElement.id") == "main"
    for path in every_page(hostile_thread):
        signed.see(path)
        nodes = browser.devtools("Accessibility.getFullAXTree", {})["nodes"]
        named = [
            (one["role"]["value"], one.get("name", {}).get("value", ""))
            for one in nodes
            if not one["ignored"]
        ]
        roles = [role for role, _ in named]
        assert [roles.count(role) for role in ("main", "banner", "contentinfo")] == [1, 1, 1]
        assert [role for role, name in named if role in {"link", "button", "textbox", "table", "region", "image"} and
                not name.strip()] == []  # fmt: skip
        levels = browser.run(
            "return [...document.querySelectorAll('h1,h2,h3')].map(one => +one.tagName[1])"
        )
        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))


def every_page(thread: str) -> list[str]:
    """One of each kind, full of hostile text."""
    tabs = ("", "/events", "/state", "/artifacts", "/calls", "/messages")
    below = [f"/ui/threads/{thread}{tab}" for tab in tabs]
    others = (
        "/ui/",
        "/ui/threads",
        "/ui/services",
        "/ui/messages/1",
        "/ui/agent?name=ann",
        "/ui/nothing",
        "/ui/login",
    )
    return [*below, *hostile.MESSAGE_PAGES, *others]


@pytest.mark.skipif("AXE_CORE" not in os.environ, reason="AXE_CORE names no axe.min.js")
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_no_error(signed: Signed, hostile_thread: str, width: int) -> None:
    browser, axe = signed.browser, Path(os.environ["AXE_CORE"]).read_text()
    refs = [
        one.ref for one in signed.client.ask("artifact.list", thread=hostile_thread).artifacts[:1]
    ]
    for path in [
        *every_page(hostile_thread),
        *(f"/ui/threads/{hostile_thread}/artifacts/{ref}" for ref in refs),
    ]:
        browser.look(width, SCHEMES[0])
        signed.see(path)
        browser.run(f"{axe}; window.axe = axe;")
        for scheme in SCHEMES:
            browser.look(width, scheme)
            found = browser.run(
                "return axe.run().then(one => one.violations.map(v => [v.id, v.nodes[0].html]))"
            )
            assert found == [], (path, scheme)


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_fit_and_can_be_read(signed: Signed, hostile_thread: str, width: int) -> None:
    browser = signed.browser
    for path in every_page(hostile_thread):
        browser.look(width, SCHEMES[0])
        signed.see(path)
        for scheme in SCHEMES:
            browser.look(width, scheme)
            assert browser.run("return document.documentElement.scrollWidth") <= width, path
            assert browser.run(CONTRASTS) == [], (path, scheme)


# The kinds of text whose contrast with what is behind them is below 4.5, as WCAG 2.1 counts it.
CONTRASTS = r"""
const parse = text => text.match(/[\d.]+/g).map(Number);
const linear = v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const light = color => color.slice(0, 3).map(v => linear(v / 255))
  .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
const behind = one => { for (; one; one = one.parentElement) { const c = parse(getComputedStyle(one).backgroundColor);
  if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
const bad = new Set();
const seen = new Set();
for (const one of document.querySelectorAll("body *:not(svg *)")) {
  const kind = [one, one.parentElement].map(each => each.tagName + each.className).join();
  const hasText = [...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
  if (seen.has(kind) || !hasText || !one.offsetParent) continue;
  seen.add(kind);
  const [a, b] = [light(parse(getComputedStyle(one).color)), light(behind(one))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < 4.5) bad.add(one.tagName + "." + one.className + " " + ratio.toFixed(2));
}
return [...bad];
"""


def test_messages_are_followed(signed: Signed) -> None:
    browser, client = signed.browser, signed.client
    thread = signed.thread("mail")
    sent = client.ask("mail.send", to="mia", body="the kettle sings", thread=thread, queue=True)
    client.ask("mail.send", to="nora", body="the teapot waits", queue=True)
    signed.see(f"/ui/messages?thread={thread}")
    assert browser.count(".messages li") == 1
    assert (
        browser.run("return document.querySelector('.messages .badge').textContent") == "accepted"
    )
    assert (
        browser.run("return document.querySelector('.messages .actor').textContent")
        == "ann to  → mia"
    )
    browser.click(".messages a")
    browser.wait_for("document.title.startsWith('Message ')")
    assert "the kettle sings" in browser.text
    with Client(signed.socket, "mia") as mia:
        for stage in ("delivered", "injected", "seen"):
            mia.ask("mail.receipt", message_id=sent.message_id, stage=stage)
            browser.go(browser.url)
            assert browser.run("return document.querySelector('td .badge').textContent") == stage
    assert browser.count("td time") == 3
    signed.see(f"/ui/threads/{thread}/messages")
    assert browser.count(".messages li") == 1
    signed.see("/ui/messages?with=nora")
    assert "the teapot waits" in browser.text
    assert "the kettle sings" not in browser.text
    signed.see("/ui/agents")
    assert "mia" in browser.text
    signed.see("/ui/messages/999999")
    assert "There is no message 999999" in browser.text
    assert browser.complaints() != []  # it was not found, which browsers note
