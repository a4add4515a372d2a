"""The door for other machines: TLS, tokens of identities, WebSockets, tenants; a real relay process
serves it.
"""

from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Iterator

import pytest
from tests.doors.http.far import Far, said, serving

from tersely.capabilities import catalogue
from tersely.capabilities.relay.contract.operations import operations
from tersely.client import ask
from tersely.doors.http.remote import MAX_OPEN_WEBSOCKETS
from tersely.doors.listening import read_address
from tersely.doors.socket.router import _BEFORE, _DO
from tersely.foundation.errors import TerselyError
from tersely.relay.access.rules import RULES

websockets = pytest.importorskip("websockets.sync.client")
ConnectionClosedError = pytest.importorskip("websockets.exceptions").ConnectionClosedError
InvalidStatus = pytest.importorskip("websockets.exceptions").InvalidStatus


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Far]:
    with serving(tmp_path_factory.mktemp("far")) as served:
        yield served


def test_an_address_of_others_needs_tls() -> None:
    for host in ("0.0.0.0", "192.168.1.4", "relay.example", "[::]"):
        with pytest.raises(TerselyError, match="without TLS") as refused:
            read_address(f"{host}:7474")
        assert refused.value.code == "insecure_address"
    for host in ("127.0.0.1", "localhost", "[::1]"):
        assert read_address(f"{host}:7474").port == 7474


def test_nobody_is_answered_without_a_token(far: Far) -> None:
    assert far.ask("", "GET", "/status").status == 401
    assert far.ask("guessed", "GET", "/status").json["code"] == "unauthorized"
    # that of the home is local
    assert far.ask((far.home / "token").read_text(), "GET", "/status").status == 401
    assert far.ask("", "GET", "/health").status == 200
    refused = far.local(ask("audit")).refusals
    assert {"GET /status"} <= {one.asked for one in refused}


def test_a_proxy_says_where_a_request_comes_from(far: Far) -> None:
    assert far.ask("wrong", "GET", "/version", X_Forwarded_For="203.0.113.7").status == 401
    assert "203.0.113.7" in {one.address for one in far.local(ask("audit")).refusals}
    assert far.ask("wrong", "GET", "/version", X_Forwarded_For="9" * 5_000).status == 401
    assert max(len(one.address) for one in far.local(ask("audit")).refusals) <= 64
    token = far.token("proxied")
    assert far.ask(token, "GET", "/version", Host="relay.evil").json["code"] == "forbidden_origin"
    assert (
        far.ask(token, "GET", "/version", Origin="https://localhost").json["code"]
        == "forbidden_origin"
    )
    assert far.ask(token, "GET", "/version", Host="LOCALHOST:99").status == 200


def test_mail_is_read_by_its_recipient_alone(far: Far) -> None:
    ann, ben, eve = (far.token(name) for name in ("ann", "ben", "eve"))
    far.capability(ben, "agent.list")
    assert far.capability(ann, "mail.send", to="ben", body="for ben alone").status == 200
    assert [one["body"] for one in far.capability(ben, "mail.box").json["result"]["messages"]] == [
        "for ben alone"
    ]
    assert far.capability(eve, "mail.box", name="ben").json["code"] == "denied"
    assert far.capability(eve, "mail.box", agent="ben").json["code"] == "denied"
    assert far.capability(eve, "mail.search", query="alone").json["result"]["messages"] == []
    assert far.capability(ben, "mail.search", query="alone").json["result"]["messages"]
    assert far.ask(eve, "GET", "/agents/ben/inbox").status == 403


def test_a_thread_is_read_by_its_members(far: Far) -> None:
    ann, ben, eve = (far.token(name) for name in ("tom", "tim", "tod"))
    thread = far.capability(ann, "thread.new", name="secret").json["result"]["thread_id"]
    made = far.capability(
        ann, "artifact.put", content="a secret text of theirs", thread=thread
    ).json["result"]
    paths = (
        "",
        "/state",
        "/state/header",
        "/state/history",
        "/artifacts",
        "/events",
        "/bundle",
        "/events/stream",
    )
    for path in (*(f"/threads/{thread}{one}" for one in paths), f"/cassettes/{made['ref'][:8]}"):
        assert far.ask(eve, "GET", path).status == 404, path
    assert far.ask(eve, "GET", f"/threads/{thread}/artifacts/{made['ref']}/content").status == 404
    call = {"capability": "retrieval.search", "thread_id": thread, "args": {"query": "secret"}}
    assert far.ask(eve, "POST", "/cap/invoke", call).status == 404
    assert far.ask(ann, "POST", "/cap/invoke", call).status == 200
    assert far.capability(eve, "thread.list").json["result"]["threads"] == []
    assert far.capability(eve, "artifact.search", query="secret").json["result"]["results"] == []
    # Nobody lets himself in; a member who writes of it lets others in.
    assert (
        far.capability(eve, "mail.send", to="tod", body="me too", thread=thread, queue=True).status
        == 404
    )
    far.capability(ben, "agent.list")
    assert far.ask(ben, "GET", f"/threads/{thread}").status == 404
    assert (
        far.capability(ann, "mail.send", to="tim", body="look at this", thread=thread).status == 200
    )
    assert far.ask(ben, "GET", f"/threads/{thread}").json["name"] == "secret"


def test_scopes_bound_what_a_token_is_good_for(far: Far) -> None:
    reader = far.token("reader", level="read")
    assert far.capability(reader, "agent.list").status == 200
    assert far.capability(reader, "thread.new").json["code"] == "denied"
    assert far.ask(reader, "GET", "/metrics").status == 403
    narrow = far.token("narrow", channels=["#build*"], projects=["shop"])
    assert far.capability(narrow, "channel.join", channel="#build-main").status == 200
    assert far.capability(narrow, "channel.join", channel="#board").json["code"] == "denied"
    assert far.capability(narrow, "claim.take", targets=["a.py"], project="shop").status == 200
    assert (
        far.capability(narrow, "claim.take", targets=["a.py"], project="bank").json["code"]
        == "denied"
    )
    chief = far.token("chief", level="admin")
    assert far.ask(chief, "GET", "/config").status == 200
    for method, path in (
        ("GET", "/tokens"),
        ("GET", "/audit"),
        ("POST", "/tickets"),
        ("DELETE", "/tokens/ann"),
    ):
        assert far.ask(chief, method, path).status == 403, path


def test_the_disk_of_the_relay_is_not_read_from_elsewhere(far: Far) -> None:
    ann = far.token("reader-of-code")
    thread = far.capability(ann, "thread.new").json["result"]["thread_id"]
    call = {"capability": "code.tree", "thread_id": thread, "args": {"root": "/"}}
    assert far.ask(ann, "POST", "/cap/invoke", call).json["code"] == "denied"
    assert (
        far.capability(
            ann, "service.call", service="tldr", method="tree", params={"root": "/"}
        ).status
        == 403
    )
    assert (
        far.capability(ann, "claim.take", targets=["a"], root="/etc").json["code"]
        == "invalid_argument"
    )


def test_the_pages_are_not_there(far: Far) -> None:
    chief = far.token("page-reader", level="admin")
    for path in ("/ui", "/ui/", "/ui/threads", "/ui/login", "/ui%2Fthreads", "/ui/static/page.css"):
        assert far.ask(chief, "GET", path).json["code"] == "unauthorized", path


def test_a_channel_of_a_scope_is_one_however_it_is_said(far: Far) -> None:
    narrow = far.token("slim", channels=["#build"])
    with far.socket(narrow) as one:
        assert said(one, "HELLO", {"agent": "slim", "capabilities": {}})["type"] == "WELCOME"
        for channel in ("#board", "board", "general"):
            for asked in ("CHANNEL_JOIN", "CHANNEL_MESSAGE", "CHANNEL_MEMBERS", "CHANNEL_INFO"):
                answer = said(one, asked, {"channel": channel, "body": "x"})
                assert "not for the channel" in answer["payload"]["message"], (asked, channel)
        assert said(one, "CHANNEL_JOIN", {"channel": "#build"})["type"] == "ACK"


def test_a_code_works_once_and_becomes_a_token(far: Far) -> None:
    code = far.local(ask("token_new", identity="machine")).secret
    assert far.ask(code, "GET", "/status").status == 401  # a code is no token
    joined = far.ask(
        "", "POST", "/join", {"code": code.lower().replace("-", " "), "machine": "laptop"}
    )
    assert joined.status == 201
    assert far.ask(joined.json["secret"], "GET", "/status").status == 200
    assert far.ask("", "POST", "/join", {"code": code}).status == 401
    kept = b"".join(path.read_bytes() for path in far.home.glob("relay.db*"))
    assert joined.json["secret"].encode() not in kept
    assert code.replace("-", "").encode() not in kept


def test_a_rotated_token_opens_nothing(far: Far) -> None:
    made = far.local(ask("token_new", identity="wheel", bearer=True))
    other = far.local(ask("token_rotate", name=made.token.id))
    assert far.ask(made.secret, "GET", "/status").status == 401
    assert far.ask(other.secret, "GET", "/status").status == 200
    with pytest.raises(TerselyError, match="no token"):
        far.local(ask("token_revoke", name=made.token.id))


def test_revocation_ends_what_is_open(far: Far) -> None:
    token = far.token("brief")
    thread = far.capability(token, "thread.new").json["result"]["thread_id"]
    connection = far.connect()
    connection.request(
        "GET", f"/threads/{thread}/events/stream", headers={"Authorization": f"Bearer {token}"}
    )
    stream = connection.getresponse()
    assert stream.status == 200
    stream.readline()
    with far.socket(token) as socket:
        assert said(socket, "HELLO", {"agent": "brief", "capabilities": {}})["type"] == "WELCOME"
        far.local(ask("token_revoke", name="brief"))
        with pytest.raises(ConnectionClosedError, match="token has ended"):
            list(socket)
    with contextlib.suppress(http.client.IncompleteRead):
        assert b"thread.created" in stream.read()
    connection.close()
    assert far.ask(token, "GET", "/status").status == 401


def test_envelopes_over_a_websocket(far: Far) -> None:
    ann, ben = far.token("ada"), far.token("bob")
    with far.socket(ann) as one, far.socket(ben) as two:
        assert said(one, "HELLO", {"agent": "ada", "capabilities": {}})["type"] == "WELCOME"
        assert (
            said(two, "HELLO", {"agent": "ada", "capabilities": {}})["payload"]["reason"]
            == "denied"
        )
    with far.socket(ann) as one, far.socket(ben) as two:
        said(one, "HELLO", {"agent": "ada", "capabilities": {}})
        said(two, "HELLO", {"agent": "bob", "capabilities": {}})
        sent = said(one, "SEND", {"kind": "message", "body": "hello"}, to="bob")
        assert (sent["type"], sent["payload"]["recipients"]) == ("ACK", 1)
        came = json.loads(two.recv(60))
        assert (came["type"], came["from"], came["payload"]["body"]) == ("DELIVER", "ada", "hello")
        thread = far.capability(ann, "thread.new").json["result"]["thread_id"]
        refused = said(two, "SEND", {"kind": "message", "body": "in", "thread": thread}, to="ada")
        assert refused["type"] == "NACK"
        assert said(two, "SUBSCRIBE", {}, topic="logs")["type"] != "ACK"
        assert said(two, "CHANNEL_JOIN", {"channel": "#x", "member": "ada"})["type"] != "ACK"


def test_the_websockets_of_a_token_are_bounded(far: Far) -> None:
    ann, ben = far.token("many"), far.token("few")
    thread = far.capability(ann, "thread.new").json["result"]["thread_id"]
    with contextlib.ExitStack() as stack:
        for _ in range(MAX_OPEN_WEBSOCKETS):  # which nobody need say a word at
            stack.enter_context(far.socket(ann, of_thread(thread)))
        with pytest.raises(InvalidStatus):
            far.socket(ann)
        assert far.ask(ann, "GET", "/status").status == 200
        far.socket(ben).close()


def test_nobody_from_elsewhere_is_the_person_nor_an_agent_a_person(far: Far) -> None:
    robot, sam = far.token("robot", kind="agent"), far.token("sam")
    for token, hello in (
        (robot, {"agent": "cli"}),
        (sam, {"agent": "cli", "entityType": "user"}),
        (robot, {"agent": "robot", "entityType": "user"}),
    ):
        with far.socket(token) as socket:
            refused = said(socket, "HELLO", {**hello, "capabilities": {}})
            assert refused["payload"]["reason"] == "not_permitted", hello
    with far.socket(sam) as socket:
        person = {"agent": "sam", "entityType": "user", "capabilities": {}}
        assert said(socket, "HELLO", person)["type"] == "WELCOME"


def test_events_over_a_websocket_are_those_of_the_stream(far: Far) -> None:
    chief, ann, eve = far.token("warden", level="admin"), far.token("amy"), far.token("eli")
    thread = far.capability(ann, "thread.new").json["result"]["thread_id"]
    with (
        far.socket(chief, "/events/stream?after=0-0-x") as everything,
        far.socket(ann, of_thread(thread)) as one,
    ):
        far.capability(ann, "thread.checkpoint", thread=thread, name="a mark")
        created, marked = (json.loads(one.recv(60)) for _ in range(2))
        assert (created["id"], created["event"], marked["id"]) == ("1", "thread.created", "2")
        assert marked["data"]["payload"]["name"] == "a mark"
        of_all = next(
            told for text in everything if (told := json.loads(text))["data"] == marked["data"]
        )
        one.send("what is said is not listened to")
    with far.socket(chief, f"/events/stream?after={of_all['id']}") as everything:
        far.capability(ann, "thread.checkpoint", thread=thread, name="another")
        assert json.loads(everything.recv(60))["data"]["payload"]["name"] == "another"
    with far.socket(ann, f"{of_thread(thread)}?after=2") as one:
        assert json.loads(one.recv(60))["id"] == "3"
        far.local(ask("token_revoke", name="amy"))
        with pytest.raises(ConnectionClosedError, match="token has ended"):
            list(one)
    for token, path, status, code in (
        (eve, "/events/stream", 403, "denied"), (eve, of_thread(thread), 404, "thread_not_found"),
        (chief, "/events/stream?after=x", 400, "invalid_argument"),
    ):  # fmt: skip
        with pytest.raises(InvalidStatus) as refused, far.socket(token, path):
            pass
        assert (
            refused.value.response.status_code,
            json.loads(refused.value.response.body)["code"],
        ) == (status, code)
    for path in ("/threads", "/events/stream/x", "/status"):
        with pytest.raises(InvalidStatus), far.socket(chief, path):
            pass


def of_thread(thread: str) -> str:
    """The address of the events of a thread."""
    return f"/threads/{thread}/events/stream"


def test_every_question_has_a_rule_or_is_the_owners() -> None:
    of_owner = {"token_new", "token_list", "token_rotate", "audit", "ticket_new"}
    questions = {*catalogue.RELAY_NAMES, *_BEFORE, *_DO}
    questions |= {one.name for one in operations() if not one.capability and not one.is_open}
    assert questions - of_owner - set(RULES) == set()
    assert set(RULES) - questions - {"health"} == set()
