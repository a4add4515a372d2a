"""Pages as text, from a real server on this machine that the user has named."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.tools.box import call, opened, tokens

from tersely.agent.tools.toolbox import Toolbox
from tersely.agent.tools.web.html_to_text import page_text
from tersely.foundation.limits import OBSERVATION_TOKENS

PAGE = (
    "<html><head><title>Guide</title><style>p{}</style></head><body><h2>Use</h2><p>One <b>two</b>\n three</p>"
    "<script>x()</script><ul><li>a</li><li>b</li></ul><pre>  x = 1\n    y</pre><a href='/next#a'>Next page</a>"
    "<a href='javascript:x'>no</a><p>\u202ehidden\x1b[31m</p></body></html>"
)
SHOWN = "title: Guide\n## Use\nOne two three\n- a\n- b\n  x = 1\n    y\nNext pageno\n"


class Pages(BaseHTTPRequestHandler):
    BODIES: ClassVar = {
        "/page": ("text/html; charset=utf-8", PAGE.encode()),
        "/data": ("application/json", b'{"a": [1, 2]}'),
        "/long": ("text/html", b"<p>word</p>" * 100_000),
        "/bytes": ("application/octet-stream", b"\0\1"),
    }

    def do_GET(self) -> None:
        mime, body = self.BODIES[self.path]
        self.send_response(200)
        self.send_header("Content-Type", mime)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def reaching(root: Path, tmp_path: Path) -> Iterator[Toolbox]:
    with opened(root, tmp_path / "kept", private_hosts=("127.0.0.1",)) as made:
        yield made


def test_a_page_is_read_as_text(reaching: Toolbox, site: str) -> None:
    told = call(reaching, "fetch", url=f"{site}/page")
    assert told.text == f"{SHOWN}\\u202ehidden\\x1b[31m\nlinks:\nNext page: {site}/next"


def test_what_is_no_page_comes_as_it_is(reaching: Toolbox, site: str) -> None:
    assert call(reaching, "fetch", url=f"{site}/data").text == '{"a": [1, 2]}'
    assert call(reaching, "fetch", url=f"{site}/page", form="source").text.startswith("<html>")
    assert call(reaching, "fetch", url=f"{site}/bytes").status == "failed"


def test_a_long_page_is_bounded(reaching: Toolbox, site: str) -> None:
    told = call(reaching, "fetch", url=f"{site}/long")
    assert tokens(reaching, told) <= OBSERVATION_TOKENS
    assert told.ref


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/page",
        "http://[::1]/",
        "file:///etc/passwd",
        "http://",
        "x",
        "http://2130706433:{port}/",
        "http://0177.1:{port}/page",
        "http://[::ffff:127.0.0.1]:{port}/page",
        "http://[64:ff9b:1::7f00:1]:{port}/",
        "http://[::127.0.0.1]:{port}/",
        "http://169.254.169.254/",
        "http://10.0.0.1/",
        "http://user@127.0.0.1/",
    ],
)
def test_nothing_but_the_internet_is_reached_unasked(toolbox: Toolbox, site: str, url: str) -> None:
    assert call(toolbox, "fetch", url=url.format(port=site.rpartition(":")[2])).status == "failed"


@pytest.mark.parametrize(
    "unseen",
    [
        "<div hidden>no<div>no</div>no<br>no</div>", "<p hidden>no<p>", "<span style='Display : none'>no</span>",
        "<b style='color:red;visibility:hidden'>no</b>", "<i style='font-size:0px'>no</i>", "<!-- no -->",
        "<i style='opacity: 0;'>no</i>", "<input hidden value=no>",
    ],
)  # fmt: skip
def test_what_a_page_hides_is_left_out(unseen: str) -> None:
    assert (
        page_text(f"<p>one</p>{unseen}<p style='opacity:0.5'>two</p>", "https://a.b/") == "one\ntwo"
    )


@given(st.text(alphabet="<>/apreli h1&;=\"'!-\n", max_size=200))
def test_any_page_has_a_text(html: str) -> None:
    assert isinstance(page_text(html, "https://a.b/"), str)
