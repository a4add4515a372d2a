"""The pages over HTTP: who may see them, what is sent with them, and what agents' text becomes in
them.
"""

from __future__ import annotations

import http.client
import json
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urlencode

import pytest
from tests.doors.http import hostile
from tests.doors.http.conftest import Answer, Web
from tests.own_terminal import IS_TOLD_APART, at_terminal

from tersely.client import Client, ask
from tersely.doors.http.ui import routes
from tersely.doors.http.ui.routes import POLICY
from tersely.foundation.errors import TerselyError

FORM = "application/x-www-form-urlencoded"


class Visitor(NamedTuple):
    """Somebody with a browser: no token, only what cookies they were given."""

    web: Web
    cookie: str = ""

    def get(self, path: str, **headers: str) -> Answer:
        return self.web.ask(
            "GET", path, Authorization="", X_Relay_Agent="", Cookie=self.cookie, **headers
        )

    def post(self, path: str, fields: dict[str, str], **headers: str) -> Answer:
        headers = {"Origin": f"http://127.0.0.1:{self.web.port}", "Content-Type": FORM, **headers}
        body = urlencode(fields).encode()
        return self.web.ask(
            "POST", path, body, Authorization="", X_Relay_Agent="", Cookie=self.cookie, **headers
        )


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
def test_pages_are_for_who_has_signed_in(
    web: Web, stranger: Visitor, path: str, shown: str
) -> None:
    cookie = f"tersely-{web.port}={'x' * 43}" if shown == "cookie" else ""
    answer = web.ask(
        "GET", path, Cookie=cookie, Authorization=f"Bearer {web.token}" if shown == "token" else ""
    )
    assert (answer.status, answer.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert b"Sign in first" in answer.content
    assert answer.headers["content-security-policy"] == POLICY


def test_a_session_opens_the_pages_and_nothing_else(web: Web, owner: Visitor) -> None:
    assert owner.get("/ui/").status == 200
    for path in ("/threads", "/config", "/uix", "//ui/", "/openapi.json"):
        assert owner.get(path).status == 401
    assert owner.post("/tickets", {}).status == 401


@pytest.mark.parametrize(
    "origin", ["", "null", "http://evil.example", "http://127.0.0.1:1", "http://127.0.0.1"]
)
def test_forms_of_other_pages_do_nothing(
    web: Web, stranger: Visitor, owner: Visitor, origin: str
) -> None:
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


def test_signing_out_needs_a_form_of_ours_and_ends_the_session(
    web: Web, owner: Visitor, stranger: Visitor
) -> None:
    cookie = (
        stranger.post("/ui/login", {"ticket": ticket(web)}).headers["set-cookie"].partition(";")[0]
    )
    of_another = form_token(Visitor(web, cookie))
    for wrong in ("", "x", of_another, "\xe4"):
        assert owner.post("/ui/logout", {"form_token": wrong}).status == 403
    answer = owner.post("/ui/logout", {"form_token": form_token(owner)})
    assert (answer.status, answer.headers["location"]) == (303, "/ui/login")
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert owner.get("/ui/").status == 401


def followed(visitor: Visitor, path: str) -> Iterator[str]:
    """A page as its script is sent it, whenever it is another."""
    connection = visitor.web.connect()
    connection.request(
        "GET", path, headers={"Cookie": visitor.cookie, "Accept": "text/event-stream"}
    )
    stream = connection.getresponse()
    assert (stream.status, stream.getheader("content-type")) == (
        200,
        "text/event-stream; charset=utf-8",
    )
    try:
        for line in iter(stream.readline, b""):
            if line.startswith(b"data: "):
                yield json.loads(line[6:])
    except http.client.IncompleteRead:
        return
    finally:
        connection.close()


def test_a_page_is_sent_again_when_it_is_another_until_the_session_ends(
    web: Web, owner: Visitor
) -> None:
    thread = web.thread()
    pages = followed(owner, f"/ui/threads/{thread}")
    assert "before" not in next(pages)
    web.ask("POST", f"/threads/{thread}/checkpoints", {"name": "before"})
    assert "before" in next(pages)
    owner.post("/ui/logout", {"form_token": form_token(owner)})
    web.ask("POST", f"/threads/{thread}/checkpoints", {"name": "after"})
    assert "after" not in "".join(pages)


def test_only_so_many_pages_are_live(
    web: Web, owner: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "MAX_EVENT_STREAMS", 0)
    answer = owner.get("/ui/", Accept="text/event-stream")
    assert (answer.status, b"0 pages are looked at" in answer.content) == (503, True)
    assert owner.get("/ui/").status == 200


def test_a_page_of_what_does_not_change_is_sent_once(web: Web, owner: Visitor) -> None:
    thread = web.thread()
    assert len(list(followed(owner, f"/ui/threads/{thread}/state?version=1"))) == 1


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


@pytest.mark.parametrize(
    "body", [b"\xff\xfe", b"x" * 200_000, b"&".join(b"a=b" for _ in range(100))]
)
def test_forms_that_are_none_are_refused(web: Web, stranger: Visitor, body: bytes) -> None:
    headers = {"Origin": f"http://127.0.0.1:{web.port}", "Content-Type": FORM, "Authorization": ""}
    assert web.ask("POST", "/ui/login", body, **headers).status in {400, 413}


def test_what_is_sent_with_every_page(web: Web, owner: Visitor) -> None:
    thread = web.thread()
    for path in (
        "/ui/",
        f"/ui/threads/{thread}",
        "/ui/threads/none",
        "/ui/nothing",
        "/ui/login",
        "/ui/static/ui.css",
    ):
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
        ("/ui/graph", 404), ("/ui/threads?before=%ff%00", 200), ("/ui/agent?name=", 404),
        ("/ui/agent?name=nobody", 200),
    ],
)  # fmt: skip
def test_what_is_not_there_is_said_on_a_page(
    web: Web, owner: Visitor, path: str, status: int
) -> None:
    thread = web.thread()
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
    for path in hostile.pages(web, hostile_thread, hostile.MESSAGES):
        answer = owner.get(path)
        assert answer.status == 200, path
        page = Structure(answer.content)
        assert {tag for tag, _ in page.elements} & {
            "iframe",
            "base",
            "style",
            "object",
            "embed",
        } == set()
        for tag, attributes in page.elements:
            assert not [
                name for name in attributes if name.startswith("on") or name in {"style", "srcdoc"}
            ]
            for name in ("href", "src", "action"):
                assert re.match(r"/ui/|[?#]|$", attributes.get(name) or ""), attributes
            assert tag != "meta" or "http-equiv" not in attributes
        assert [text for text in page.scripts if text] == []
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200b\u2028\u202a-\u202e\u2066-\u2069\ufeff\U000e0041]",
                             answer.content.decode())  # fmt: skip


def test_tokens_over_time_end_at_what_the_relay_counts(web: Web, owner: Visitor) -> None:
    first, second = web.thread("first"), web.thread("second")
    web.ask(
        "POST",
        f"/threads/{first}/artifacts",
        {"name": "a.txt", "content": "some words of text\n" * 500},
    )
    for thread in (first, first, second, first):
        call = {"capability": "retrieval.search", "thread_id": thread, "args": {"query": "words"}}
        assert web.ask("POST", "/cap/invoke", call).status == 200
    for thread in (first, second):
        told = web.ask("GET", f"/stats/thread/{thread}").json["token_savings"]
        page = owner.get(f"/ui/threads/{thread}").content.decode()
        assert f"{told['naive_tokens']:,} if all had been pasted" in page
        rows = re.findall(r"<tr>\s*<th scope=\"row\"><time.*?</tr>", page, re.DOTALL)
        assert len(rows) >= 2 or thread == second
        for row, figure in zip(rows[:1], (told,), strict=False):
            cells = re.findall(r'<td class="number">([\d,-]+)', row)
            assert cells == [
                f"{figure[f'{name}_tokens']:,}" for name in ("naive", "actual", "avoided")
            ]
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
        web.ask(
            "POST",
            f"/threads/{thread}/state/patch",
            [{"op": "add", "path": "/facts/0", "value": {"key": value}}],
        )
    page = owner.get(f"/ui/threads/{thread}/state").content.decode()
    (patched,) = re.findall(r'<ul class="operations".*?</ul>', page, re.DOTALL)
    assert "/facts/0" in patched
    assert "&#34;key&#34;: &#34;new&#34;" in patched
    earlier = owner.get(f"/ui/threads/{thread}/state?version=v2").content.decode()
    assert (
        "new" not in re.findall(r'<section[^>]*"version-title".*?</section>', earlier, re.DOTALL)[0]
    )
    assert re.findall(r">(v\d)</a>", earlier) == ["v3", "v2", "v1"]


def test_lists_go_on_where_they_end(web: Web, owner: Visitor) -> None:
    thread = web.thread()
    for number in range(60):
        web.ask("POST", f"/threads/{thread}/checkpoints", {"name": f"mark {number}"})
    first = owner.get(f"/ui/threads/{thread}/events").content.decode()
    address = re.search(r'href="(/ui/threads/[\w-]+/events\?before=\d+)"', first)
    assert address is not None
    second = owner.get(address[1]).content.decode()
    numbers = [
        int(one) for page in (first, second) for one in re.findall(r'<span class="seq">(\d+)', page)
    ]
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
    for said in (
        "Board of tea",
        "parse dates",
        "taken",
        "src/dates.py",
        "new grammar",
        "0 of 2 done",
    ):
        assert said in page


def asked_for(web: Web, what: str) -> str:
    """The id of a permission that an agent waits for."""
    made: str = web.relay.permissions.ask("ann", "Bash", what, "").id
    return made


@pytest.fixture
def person(web: Web, stranger: Visitor) -> Visitor:
    """A browser whose ticket was made by a person at a terminal."""
    if not IS_TOLD_APART:
        pytest.skip("persons cannot be told from agents here")
    source = "import sys; from pathlib import Path; from tersely.client import Client, ask; "
    source += "print(Client(Path(sys.argv[1]))(ask('ticket_new')).ticket)"
    shown = at_terminal(sys.executable, "-c", source, str(web.socket))
    return Visitor(
        web, stranger.post("/ui/login", {"ticket": shown}).headers["set-cookie"].partition(";")[0]
    )


def test_the_person_answers_agents_on_pages(web: Web, person: Visitor) -> None:
    allowed, denied = asked_for(web, "touch <b>made"), asked_for(web, "rm x")
    token = form_token(person)
    for path in ("/ui/", "/ui/agents", "/ui/agent?name=ann"):
        page = person.get(path).content
        assert b"touch &lt;b&gt;made" in page
        assert f'name="next" value="{path}"'.encode() in page
    for asked, answer in ((allowed, "allow"), (denied, "deny")):
        assert f'action="/ui/permissions/{asked}"'.encode() in page
        fields = {"form_token": token, "answer": answer, "next": "/ui/agent?name=ann"}
        told = person.post(f"/ui/permissions/{asked}", fields)
        assert (told.status, told.headers["location"]) == (303, "/ui/agent?name=ann")
        assert web.relay.permissions.ask("ann", "Bash", "", asked).decision == answer
    repeated = person.post(f"/ui/permissions/{allowed}", {"form_token": token, "answer": "allow"})
    assert repeated.status == 303  # as by a double click
    other = person.post(f"/ui/permissions/{allowed}", {"form_token": token, "answer": "deny"})
    assert (other.status, b"answered already: allow" in other.content) == (404, True)


def test_the_first_answer_to_an_agent_stands(web: Web) -> None:
    permissions = web.relay.permissions
    asked = permissions.ask("ivo", "Bash", "rm -r build", "").id
    with pytest.raises(TerselyError, match="nobody waits"):
        permissions.answer("ivo", allows=True)  # who may wait for something else by now
    assert permissions.answer(asked, allows=False).id == asked
    with pytest.raises(TerselyError, match="answered already: deny"):
        permissions.answer(asked, allows=True)
    assert permissions.ask("ivo", "Bash", "", asked).decision == "deny"
    assert asked not in {one.id for one in permissions.listed()}


def questions(visitor: Visitor) -> str:
    """The list of those without an answer, on the first page."""
    page = visitor.get("/ui/").content.decode()
    (found,) = re.findall(r'<ul class="plain questions">.*?</ul>', page, re.DOTALL)
    return str(found)


def test_the_person_answers_questions_on_the_first_page(web: Web, person: Visitor) -> None:
    with Client(web.socket, "eva") as eva:
        sent = eva.ask("mail.send", to="cli", body="May I <b>merge?", queue=True)
    question = questions(person)
    assert "May I &lt;b&gt;merge?" in question
    fields = dict(
        re.findall(
            r'name="(form_token|form_key|to|thread|reply_to|next)" value="([^"]*)"', question
        )
    )
    assert (fields["to"], fields["reply_to"]) == ("eva", sent.message_id)
    assert person.post("/ui/messages", {**fields, "body": " \n"}).status == 400
    for _ in range(2):  # as by a double click
        told = person.post("/ui/messages", {**fields, "body": "Yes: \u00e4\u202e<i>"})
        assert (told.status, told.headers["location"]) == (303, "/ui/")
    assert person.post("/ui/messages", {**fields, "body": "No", "form_key": ""}).status == 403
    assert "merge?" not in questions(person)
    with Client(web.socket, "eva") as eva:
        (came,) = eva.ask("mail.box", name="eva").messages
    assert (came.sender, came.body, came.reply_to) == (
        "cli",
        "Yes: \u00e4\u202e<i>",
        sent.message_id,
    )


def test_nobody_else_writes_on_pages(web: Web, owner: Visitor) -> None:
    fields = {"form_token": form_token(owner), "to": "ben", "body": "I am the person"}
    with Client(web.socket, "fay") as fay:
        sent = fay.ask("mail.send", to="cli", body="Who is there?", queue=True)
    number = sent.message_id.rpartition("-")[2]
    for path in ("/ui/", "/ui/agent?name=fay", f"/ui/messages/{number}"):
        assert b"<textarea" not in owner.get(path).content
    refused = owner.post("/ui/messages", fields)
    assert (refused.status, b"not_permitted" in refused.content) == (403, True)
    assert owner.post("/ui/messages", {**fields, "form_token": "x"}).status == 403
    assert b"I am the person" not in owner.get("/ui/messages").content


def test_the_first_page_shows_what_goes_on(web: Web, owner: Visitor) -> None:
    call = {"capability": "retrieval.search", "thread_id": web.thread(), "args": {"query": "words"}}
    assert web.ask("POST", "/cap/invoke", call).status == 200
    for sender, to, body in (
        ("gus", "hal", "Where is the kettle?"),
        ("hal", "ivy", "Any tea?"),
        ("ivy", "hal", "Yes."),
    ):
        with Client(web.socket, sender) as client:
            client.ask("mail.send", to=to, body=body, queue=True)
            client.ask("claim.take", targets=[f"src/{sender}.py"], project="teapot")
            client.ask("board.add", step=f"warm {sender}", project="teapot")
    page = owner.get("/ui/").content.decode()
    assert "Where is the kettle?" in page
    assert "Any tea?" not in page  # it was answered
    for shown in ("src/gus.py", "warm hal", "0 of 3 done", "<title>Now ", 'role="img"'):
        assert shown in page
    talk = re.findall(r"Messages of the last hour</caption>.*?</table>", page, re.DOTALL)[0]
    for pair in ("gus", "hal"), ("hal", "ivy"), ("ivy", "hal"):
        assert re.search(rf">{pair[0]}<.*?>{pair[1]}<.*?>1<", talk)
    counted = web.ask("GET", "/stats").json["token_savings"]["avoided_tokens"]
    assert f"<dt>Tokens avoided today (UTC)</dt><dd>{counted:,}</dd>" in page


def test_nobody_else_answers_agents(web: Web, owner: Visitor) -> None:
    asked = asked_for(web, "touch made")
    page = owner.get("/ui/agents").content
    assert b"touch made" in page
    # its ticket was not made by a person at a terminal
    assert f"/ui/permissions/{asked}".encode() not in page
    refused = owner.post(
        f"/ui/permissions/{asked}", {"form_token": form_token(owner), "answer": "allow"}
    )
    assert (refused.status, b"not_permitted" in refused.content) == (403, True)
    assert (
        web.ask("POST", f"/permissions/{asked}", {"allows": True}).json["code"] == "not_permitted"
    )
    with (
        Client(web.socket, "ann") as client,
        pytest.raises(TerselyError, match="allowed nothing by another"),
    ):
        client(ask("permission_answer", name=asked, allows=True))
    assert web.relay.permissions.ask("ann", "Bash", "", asked).decision == ""
