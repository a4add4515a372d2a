"""The pages over HTTP: who may see them, what is sent with them, and what agents' text becomes in them."""

from __future__ import annotations

import http.client
import json
import re
import sys
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urlencode

import pytest
from tests.doors.http import hostile
from tests.doors.http.conftest import Answer, Web
from tests.own_terminal import IS_TOLD_APART, at_terminal

from tersely.client import Client, ask
from tersely.doors.http.ui.routes import POLICY
from tersely.foundation.errors import TerselyError

FORM = "application/x-www-form-urlencoded"


class Visitor(NamedTuple):
    """Somebody with a browser: no token, only what cookies they were given."""

    web: Web
    cookie: str = ""

    def get(self, path: str, **headers: str) -> Answer:
        return self.web.ask("GET", path, Authorization="", X_Relay_Agent="", Cookie=self.cookie, **headers)

    def post(self, path: str, fields: dict[str, str], **headers: str) -> Answer:
        headers = {"Origin": f"http://127.0.0.1:{self.web.port}", "Content-Type": FORM, **headers}
        body = urlencode(fields).encode()
        return self.web.ask("POST", path, body, Authorization="", X_Relay_Agent="", Cookie=self.cookie, **headers)


@pytest.fixture
def stranger(web: Web) -> Visitor:
    return Visitor(web)


def ticket(web: Web) -> str:
    made: str = web.ask("POST", "/tickets").json["ticket"]
    return made


@pytest.fixture
def owner(web: Web, stranger: Visitor) -> Visitor:
    answer = stranger.post("/ui/login", {"ticket": ticket(web)})
    assert answer.status == 303
    return Visitor(web, answer.headers["set-cookie"].partition(";")[0])


def test_the_token_makes_a_ticket_which_makes_a_session(web: Web, stranger: Visitor) -> None:
    fields = {"ticket": ticket(web), "next": "/ui/threads/x"}
    answer = stranger.post("/ui/login", fields)
    assert (answer.status, answer.headers["location"]) == (303, "/ui/threads/x")
    cookie, *attributes = answer.headers["set-cookie"].split("; ")
    assert cookie.startswith(f"tersely-{web.port}=")
    assert attributes == ["Path=/ui", "Max-Age=43200", "HttpOnly", "SameSite=Strict"]
    assert Visitor(web, cookie).get("/ui/").status == 200
    again = stranger.post("/ui/login", fields)
    assert (again.status, "set-cookie" in again.headers) == (401, False)


def test_looking_at_the_way_in_does_not_use_the_ticket_up(web: Web, stranger: Visitor) -> None:
    with Client(web.socket, "ann") as client:
        url = client.page("threads/x")
    path = url.removeprefix(f"http://127.0.0.1:{web.port}")
    shown = [stranger.get(path) for _ in range(2)]
    assert [answer.status for answer in shown] == [200, 200]
    found = re.search(rb'name="ticket" value="([\w-]+)"', shown[1].content)
    assert found is not None
    answer = stranger.post("/ui/login", {"ticket": found[1].decode()})
    assert answer.status == 303


@pytest.mark.parametrize(
    "path",
    [
        "/ui", "/ui/", "/ui/threads/x", "/ui/threads/x/state", "/ui/threads/x/artifacts", "/ui/threads/x/calls",
        "/ui/threads/x/events", "/ui/threads/x/events/stream", "/ui/threads/x/artifacts/abcdef/content",
        "/ui/threads/x/artifacts/abcdef/image", "/ui/graph", "/ui/nothing", "/ui/login/x", "/ui/loginx",
        "/ui/static", "/ui/%2e%2e/threads", "/ui//static/", "/ui/threads/..%2f..%2fstatic/ui.css",
    ],
)  # fmt: skip
@pytest.mark.parametrize("shown", ["nothing", "token", "cookie"])
def test_pages_are_for_who_has_signed_in(web: Web, stranger: Visitor, path: str, shown: str) -> None:
    cookie = f"tersely-{web.port}={'x' * 43}" if shown == "cookie" else ""
    answer = web.ask("GET", path, Cookie=cookie, Authorization=f"Bearer {web.token}" if shown == "token" else "")
    assert (answer.status, answer.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert b"Sign in first" in answer.content
    assert answer.headers["content-security-policy"] == POLICY


def test_a_session_opens_the_pages_and_nothing_else(web: Web, owner: Visitor) -> None:
    assert owner.get("/ui/").status == 200
    for path in ("/threads", "/config", "/uix", "//ui/", "/openapi.json"):
        assert owner.get(path).status == 401
    assert owner.post("/tickets", {}).status == 401


@pytest.mark.parametrize("origin", ["", "null", "http://evil.example", "http://127.0.0.1:1", "http://127.0.0.1"])
def test_forms_of_other_pages_do_nothing(web: Web, stranger: Visitor, owner: Visitor, origin: str) -> None:
    fields = {"ticket": ticket(web)}
    assert stranger.post("/ui/login", fields, Origin=origin).status == 403
    assert stranger.post("/ui/login", fields).status == 303
    token = form_token(owner)
    assert owner.post("/ui/logout", {"form_token": token}, Origin=origin).status == 403
    assert owner.get("/ui/").status == 200


def form_token(visitor: Visitor) -> str:
    found = re.search(rb'name="form_token" value="([\w-]+)"', visitor.get("/ui/").content)
    assert found is not None
    return found[1].decode()


def test_signing_out_needs_a_form_of_ours_and_ends_the_session(web: Web, owner: Visitor, stranger: Visitor) -> None:
    cookie = stranger.post("/ui/login", {"ticket": ticket(web)}).headers["set-cookie"].partition(";")[0]
    of_another = form_token(Visitor(web, cookie))
    for wrong in ("", "x", of_another, "\xe4"):
        assert owner.post("/ui/logout", {"form_token": wrong}).status == 403
    answer = owner.post("/ui/logout", {"form_token": form_token(owner)})
    assert (answer.status, answer.headers["location"]) == (303, "/ui/login")
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert owner.get("/ui/").status == 401


def test_a_stream_ends_with_its_session(web: Web, owner: Visitor) -> None:
    thread = web.thread()
    connection = web.connect()
    connection.request("GET", f"/ui/threads/{thread}/events/stream", headers={"Cookie": owner.cookie})
    stream = connection.getresponse()
    assert next(line for line in iter(stream.readline, b"") if line.startswith(b"data:"))
    owner.post("/ui/logout", {"form_token": form_token(owner)})
    web.ask("POST", f"/threads/{thread}/checkpoints", {"name": "after"})
    try:
        rest = stream.read()
    except http.client.IncompleteRead as error:
        rest = error.partial
    assert b"after" not in rest
    connection.close()


@pytest.mark.parametrize(
    "place",
    [
        "https://evil.example/",
        "//evil.example/",
        "/ui/../threads",
        "/threads",
        "/ui//evil.example",
        "javascript:1",
        "/ui/\r\nx: y",
    ],
)
def test_signing_in_leads_nowhere_else(web: Web, stranger: Visitor, place: str) -> None:
    answer = stranger.post("/ui/login", {"ticket": ticket(web), "next": place})
    assert (answer.status, answer.headers["location"]) == (303, "/ui/")


@pytest.mark.parametrize("body", [b"\xff\xfe", b"x" * 20_000, b"&".join(b"a=b" for _ in range(100))])
def test_forms_that_are_none_are_refused(web: Web, stranger: Visitor, body: bytes) -> None:
    headers = {"Origin": f"http://127.0.0.1:{web.port}", "Content-Type": FORM, "Authorization": ""}
    assert web.ask("POST", "/ui/login", body, **headers).status in {400, 413}


def test_what_is_sent_with_every_page(web: Web, owner: Visitor) -> None:
    thread = web.thread()
    for path in ("/ui/", f"/ui/threads/{thread}", "/ui/threads/none", "/ui/nothing", "/ui/login", "/ui/static/ui.css"):
        headers = owner.get(path).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/ui/threads/none", 404), ("/ui/threads/none/calls", 404), ("/ui/threads/{}/state?version=99", 404),
        ("/ui/threads/{}/state?version=x", 400), ("/ui/threads/{}/artifacts/zzz", 400), ("/ui/nothing", 404),
        ("/ui/threads/{}/artifacts/abcdef/image", 404), ("/ui/static/../ui.css", 404), ("/ui/static/x.css", 404),
        ("/ui/threads/{}/events?before=99999999999999999999", 200), ("/ui/threads/{}/events?before=-1", 200),
        ("/ui/threads/{}/events/stream?after=x", 200), ("/ui/graph", 404), ("/ui/?before=%ff%00", 200),
    ],
)  # fmt: skip
def test_what_is_not_there_is_said_on_a_page(web: Web, owner: Visitor, path: str, status: int) -> None:
    thread = web.thread()
    if "stream" in path:
        connection = web.connect()
        connection.request("GET", path.format(thread), headers={"Cookie": owner.cookie})
        assert connection.getresponse().status == status
        connection.close()
        return
    answer = owner.get(path.format(thread))
    assert (answer.status, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")


class Structure(HTMLParser):
    """What a page consists of."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(content.decode())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] == "script":
            self.scripts.append(data.strip())


@pytest.fixture(scope="module")
def hostile_thread(web: Web) -> str:
    return hostile.fill(web)


def test_hostile_text_is_never_markup(web: Web, owner: Visitor, hostile_thread: str) -> None:
    for path in hostile.pages(web, hostile_thread):
        answer = owner.get(path)
        assert answer.status == 200, path
        page = Structure(answer.content)
        assert {tag for tag, _ in page.elements} & {"iframe", "base", "style", "object", "embed"} == set()
        for tag, attributes in page.elements:
            assert not [name for name in attributes if name.startswith("on") or name in {"style", "srcdoc"}]
            for name in ("href", "src", "action"):
                assert re.match(r"/ui/|[?#]|$", attributes.get(name) or ""), attributes
            assert tag != "meta" or "http-equiv" not in attributes
        assert [text for text in page.scripts if text] == []
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200b\u2028\u202a-\u202e\u2066-\u2069\ufeff\U000e0041]",
                             answer.content.decode())  # fmt: skip


def test_events_are_sent_as_text_and_addresses_of_pages(web: Web, owner: Visitor, hostile_thread: str) -> None:
    connection = web.connect()
    connection.request("GET", f"/ui/threads/{hostile_thread}/events/stream", headers={"Cookie": owner.cookie})
    stream = connection.getresponse()
    last = web.ask("GET", f"/threads/{hostile_thread}/events?after=0&limit=1000").json["events"][-1]["seq"]
    numbers = []
    for line in iter(stream.readline, b""):
        assert re.match(rb"(: |id: \d+$|data: \{|$)", line.strip()), line
        if line.startswith(b"data: "):
            told = json.loads(line[6:])
            assert set(told) == {"seq", "at", "type", "by", "text", "href"}
            assert told["href"] == "" or told["href"].startswith(f"/ui/threads/{hostile_thread}/")
            numbers.append(told["seq"])
            if numbers[-1] == last:
                break
    assert numbers == list(range(1, last + 1))
    connection.close()


def test_tokens_over_time_end_at_what_the_relay_counts(web: Web, owner: Visitor) -> None:
    first, second = web.thread("first"), web.thread("second")
    web.ask("POST", f"/threads/{first}/artifacts", {"name": "a.txt", "content": "some words of text\n" * 500})
    for thread in (first, first, second, first):
        call = {"capability": "retrieval.search", "thread_id": thread, "args": {"query": "words"}}
        assert web.ask("POST", "/cap/invoke", call).status == 200
    for thread in (first, second):
        told = web.ask("GET", f"/stats/thread/{thread}").json["token_savings"]
        page = owner.get(f"/ui/threads/{thread}").content.decode()
        assert f"{told['naive_tokens']:,} if all had been pasted" in page
        rows = re.findall(r"<tr><th scope=\"row\"><time.*?</tr>", page)
        assert len(rows) >= 2 or thread == second
        for row, figure in zip(rows[:1], (told,), strict=False):
            cells = re.findall(r'<td class="number">([\d,-]+)', row)
            assert cells == [f"{figure[f'{name}_tokens']:,}" for name in ("naive", "actual", "avoided")]
        if rows:
            earliest = re.findall(r'<td class="number">([\d,-]+)', rows[-1])
            assert earliest[0] == "0" or int(earliest[0].replace(",", "")) > 0


def test_an_image_is_shown_from_here_and_a_drawing_is_not(web: Web, owner: Visitor) -> None:
    thread = web.thread()
    png = bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010806000000 1f15c4890000000d49444154789c6360606060000000050001"
        "a5f645400000000049454e44ae426082"
    )
    svg = b"\x00<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"
    refs = []
    for name, content in (("dot.png", png), ("dot.svg", svg)):
        stored = web.ask(
            "PUT",
            f"/threads/{thread}/artifacts?name={name}&type=binary",
            content,
            Content_Type="application/octet-stream",
        )
        refs.append(stored.json["ref"])
    base = f"/ui/threads/{thread}/artifacts"
    shown = owner.get(f"{base}/{refs[0]}/image")
    assert (shown.status, shown.headers["content-type"], shown.content) == (200, "image/png", png)
    assert shown.headers["content-security-policy"] == "sandbox"
    assert b"<img " in owner.get(f"{base}/{refs[0]}").content
    assert owner.get(f"{base}/{refs[1]}/image").status == 404
    assert b"<img " not in owner.get(f"{base}/{refs[1]}").content
    sent = owner.get(f"{base}/{refs[1]}/content")
    assert (sent.headers["content-disposition"], sent.content) == ("attachment", svg)


def test_what_versions_changed_is_shown(web: Web, owner: Visitor) -> None:
    thread = web.thread()
    for value in ("old", "new"):
        web.ask("POST", f"/threads/{thread}/state/patch", [{"op": "add", "path": "/facts/0", "value": {"key": value}}])
    page = owner.get(f"/ui/threads/{thread}/state").content.decode()
    (patched,) = re.findall(r'<ul class="operations".*?</ul>', page, re.DOTALL)
    assert "/facts/0" in patched
    assert "&quot;key&quot;: &quot;new&quot;" in patched
    earlier = owner.get(f"/ui/threads/{thread}/state?version=v2").content.decode()
    assert "new" not in re.findall(r'<section[^>]*"version-title".*?</section>', earlier, re.DOTALL)[0]
    assert re.findall(r">(v\d)</a>", earlier) == ["v3", "v2", "v1"]


def test_lists_go_on_where_they_end(web: Web, owner: Visitor) -> None:
    thread = web.thread()
    for number in range(60):
        web.ask("POST", f"/threads/{thread}/checkpoints", {"name": f"mark {number}"})
    first = owner.get(f"/ui/threads/{thread}/events").content.decode()
    address = re.search(r'href="(/ui/threads/[\w-]+/events\?before=\d+)"', first)
    assert address is not None
    second = owner.get(address[1]).content.decode()
    numbers = [int(one) for page in (first, second) for one in re.findall(r'<span class="seq">(\d+)', page)]
    assert numbers == list(range(61, 0, -1))


def test_the_work_of_all_projects_is_on_one_page(web: Web, owner: Visitor) -> None:
    def ask(capability: str, **arguments: object) -> None:
        told = {"capability": capability, "arguments": {"project": "tea", **arguments}}
        assert web.ask("POST", "/ask", told).status == 200

    ask("board.add", step="parse dates")
    ask("board.add", step="format dates", needs=["b1"])
    ask("board.take")
    ask("claim.take", targets=["src/dates.py"], why="new grammar")
    page = owner.get("/ui/work").content.decode()
    for said in ("Board of tea", "parse dates", "taken", "src/dates.py", "new grammar", "0 of 2 done"):
        assert said in page


def asked_for(web: Web, what: str) -> str:
    """The id of a permission that an agent waits for."""
    made: str = web.relay.permissions.ask("ann", "Bash", what, "", 0).id
    return made


@pytest.mark.skipif(not IS_TOLD_APART, reason="persons cannot be told from agents here")
def test_the_person_answers_agents_on_their_page(web: Web, stranger: Visitor) -> None:
    source = "import sys; from pathlib import Path; from tersely.client import Client, ask; "
    source += "print(Client(Path(sys.argv[1]))(ask.ticket_new()).ticket)"
    shown = at_terminal(sys.executable, "-c", source, str(web.socket))
    cookie = stranger.post("/ui/login", {"ticket": shown}).headers["set-cookie"].partition(";")[0]
    person = Visitor(web, cookie)
    allowed, denied = asked_for(web, "touch <b>made"), asked_for(web, "rm x")
    page = person.get("/ui/agents").content
    assert b"touch &lt;b&gt;made" in page
    for asked, answer in ((allowed, "allow"), (denied, "deny")):
        assert f'action="/ui/permissions/{asked}"'.encode() in page
        told = person.post(f"/ui/permissions/{asked}", {"form_token": form_token(person), "answer": answer})
        assert (told.status, told.headers["location"]) == (303, "/ui/agents")
        assert web.relay.permissions.ask("ann", "Bash", "", asked, 0).decision == answer
    again = person.post(f"/ui/permissions/{allowed}", {"form_token": form_token(person), "answer": "deny"})
    assert again.status == 404


def test_nobody_else_answers_agents(web: Web, owner: Visitor) -> None:
    asked = asked_for(web, "touch made")
    page = owner.get("/ui/agents").content
    assert b"touch made" in page
    assert f"/ui/permissions/{asked}".encode() not in page  # its ticket was not made by a person at a terminal
    refused = owner.post(f"/ui/permissions/{asked}", {"form_token": form_token(owner), "answer": "allow"})
    assert (refused.status, b"not_permitted" in refused.content) == (403, True)
    assert web.ask("POST", f"/permissions/{asked}", {"allows": True}).json["code"] == "not_permitted"
    with Client(web.socket, "ann") as client, pytest.raises(TerselyError, match="allowed nothing by another"):
        client(ask.permission_answer(asked, allows=True))
    assert web.relay.permissions.ask("ann", "Bash", "", asked, 0).decision == ""
