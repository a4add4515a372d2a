"""Messages over HTTP: the same mail as through the socket, for who has no connection."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Any
from urllib.parse import quote

import pytest
from tests.doors.http.conftest import Answer, Web

from tersely.capabilities.declaration.binding import checked
from tersely.capabilities.relay.mail import send
from tersely.client import Client
from tersely.foundation.errors import TerselyError
from tersely.relay.mail.identities import NameClaim


def sent(web: Web, to: str, body: str, agent: str = "ann", token: str = "", **more: Any) -> Any:
    message = {"to": to, "body": body, "queue": True, **more}
    answer = web.ask("POST", "/messages", message, X_Relay_Agent=agent, X_Relay_Token=token)
    assert answer.status == 201, answer
    return answer.json


def inbox(web: Web, name: str, query: str = "") -> Any:
    return web.ask("GET", f"/agents/{name}/inbox{query}").json["messages"]


def test_a_message_from_its_sending_to_its_being_seen(web: Web) -> None:
    told = sent(web, "ben", "hello", thread="t1", data={"n": 1}, reply_to="x")
    assert (told["seq"], told["recipients"], told["durability"], told["repeated"]) == (
        1,
        1,
        "process",
        False,
    )
    [got] = inbox(web, "ben", "?waiting=1")
    assert (got["sender"], got["body"], got["thread"], got["data"], got["reply_to"]) == (
        "ann", "hello", "t1", {"n": 1}, "x",
    )  # fmt: skip
    path = f"/messages/{told['message_id']}/receipts"
    for stage in ("delivered", "injected", "seen", "delivered"):
        answer = web.ask("POST", path, {"stage": stage}, X_Relay_Agent="ben").json
    assert answer == {"message_id": told["message_id"], "mailbox": "ben", "stage": "seen"}
    assert inbox(web, "ben", "?waiting=1") == inbox(web, "ben", "?waiting=true") == []
    for wrong in ("?waiting=2", "?after=-1", "?after=1_0", "?limit=1001", "?limits=5"):
        assert web.ask("GET", f"/agents/ben/inbox{wrong}").json["code"] == "invalid_argument"
    [got] = inbox(web, "ben")
    assert got["delivered_at"] <= got["injected_at"] <= got["seen_at"]
    assert web.ask("POST", path, {}, X_Relay_Agent="eve").json["code"] == "message_not_found"


def test_a_message_says_something_in_utf_8(web: Web) -> None:
    sent(web, "ann", "hello", agent="ann")
    for body in ("", " \n\t"):
        refused = web.ask("POST", "/messages", {"to": "ann", "body": body})
        assert (refused.status, refused.json["code"]) == (400, "invalid_argument")
    refused = web.ask("POST", "/messages", b'{"to": "ann", "body": "\xff"}')
    assert (refused.json["code"], refused.json["hint"]) == (
        "malformed_request",
        "send JSON in UTF-8",
    )
    with pytest.raises(TerselyError) as raised:  # as bytes of a command line arrive
        checked(send.parameters, {"to": "ann", "body": "\udcff"})
    assert raised.value.hint == "write UTF-8"


def test_bodies_that_wait_for_their_end_have_so_much_room_together(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tersely.doors.http.request_parsing.MAX_HELD_BODY_BYTES", 200)
    asked = {"capability": "agent.list"}
    with closing(web.connect()) as held:
        held.putrequest("POST", "/ask")
        for name, value in {**web.headers(), "Content-Length": "199"}.items():
            held.putheader(name, value)
        held.endheaders(b" " * 190)
        until = time.monotonic() + 60
        while (answer := web.ask("POST", "/ask", asked)).status == 200:  # it has not come yet
            assert time.monotonic() < until
        assert answer.json["code"] == "busy"
        held.send(b" " * 9)
        assert held.getresponse().status == 400
    assert web.ask("POST", "/ask", asked).status == 200


def test_an_agent_may_have_a_name_of_any_script(web: Web) -> None:
    with Client(web.socket, "Анна") as anna:
        anna.ask("mail.send", to="Анна", body="мне")
    assert web.ask("GET", "/agents", X_Relay_Agent="%D0%90%D0%BD%D0%BD%D0%B0").status == 200
    assert "Анна" in {one["name"] for one in web.ask("GET", "/agents").json["agents"]}
    assert [one["body"] for one in inbox(web, quote("Анна"))] == ["мне"]


def test_a_name_is_spoken_for_by_who_has_it_alone(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = web.relay.mail
    session, write = mail.identities.open(NameClaim("bea", binds=True), is_live=False)
    mail.do(write)
    body = {"to": "ben", "body": "I am bea", "queue": True}
    for token in ("", "a-guess"):
        shown = {"X_Relay_Agent": "bea", "X_Relay_Token": token}
        refused = web.ask("POST", "/messages", body, **shown)
        assert (refused.status, refused.json["code"]) == (401, "unauthorized")
    sent(web, "bea", "for bea", agent="bea", token=session.token)
    sent(web, "ben", "I am dan", agent="dan")
    monkeypatch.setattr(mail.presence, "connected", lambda: {"dan"})
    refused = web.ask("POST", "/messages", body, X_Relay_Agent="dan")
    assert (refused.status, refused.json["code"]) == (409, "name_taken")


def test_an_inbox_is_read_on_from_where_one_was(web: Web) -> None:
    for number in range(5):
        sent(web, "cleo", str(number))
    first = web.ask("GET", "/agents/cleo/inbox?limit=3").json
    rest = web.ask("GET", f"/agents/cleo/inbox?limit=3&after={first['next_after']}").json
    assert [one["body"] for one in [*first["messages"], *rest["messages"]]] == [
        "0",
        "1",
        "2",
        "3",
        "4",
    ]
    assert rest["next_after"] is None


def test_what_was_sent_is_found_by_whom_and_by_words(web: Web) -> None:
    sent(web, "dan", "the parser drops trailing commas", agent="search-a", thread="bugs")
    sent(web, "dan", "the lexer is fine", agent="search-a")
    found = web.ask("GET", "/messages?query=trailing%20parser").json["messages"]
    assert [(one["sender"], one["recipients"]) for one in found] == [
        ("search-a", {"dan": "accepted"})
    ]
    assert len(web.ask("GET", "/messages?with=search-a").json["messages"]) == 2
    assert [
        one["thread"] for one in web.ask("GET", "/messages?with=dan&thread=bugs").json["messages"]
    ] == ["bugs"]
    assert web.ask("GET", '/messages?query="').json["messages"] == []


def test_a_message_is_accepted_once(web: Web) -> None:
    body = {"to": "ben", "body": "once", "queue": True}
    first, again = (web.ask("POST", "/messages", body, Idempotency_Key="k1").json for _ in range(2))
    assert (again["repeated"], again["message_id"]) == (True, first["message_id"])
    other = web.ask("POST", "/messages", {**body, "body": "another"}, Idempotency_Key="k1")
    assert (other.status, other.json["code"]) == (409, "key_reused")


def test_who_is_unknown_is_refused_and_who_has_sent_is_known(web: Web) -> None:
    refused = web.ask("POST", "/messages", {"to": "nobody", "body": "x"})
    assert (refused.status, refused.json["code"]) == (404, "recipient_not_found")
    sent(web, "ben", "x", agent="newcomer")
    agents = {one["name"]: one for one in web.ask("GET", "/agents").json["agents"]}
    assert (agents["newcomer"]["kind"], agents["newcomer"]["connected"]) == ("user", False)
    assert web.ask("GET", "/agents?connected=1").json == {"agents": [], "permissions": []}
    assert web.ask("GET", "/channels").json == {"channels": []}


def test_who_has_joined_a_channel_gets_what_is_said_there(web: Web) -> None:
    assert (
        web.ask("POST", "/messages", {"to": "#dev", "body": "x"}).json["code"]
        == "channel_not_found"
    )
    joined = [
        web.ask("POST", "/channels/join", {"channel": "#dev"}, X_Relay_Agent=name).json
        for name in ("una", "vic", "vic")
    ]
    assert joined[1] == joined[2] == {"channel": "#dev", "members": ["una", "vic"]}
    sent(web, "#dev", "to all of us", agent="una")
    assert [one["body"] for one in inbox(web, "vic")] == ["to all of us"]
    assert inbox(web, "una") == []
    assert [one["members"] for one in web.ask("GET", "/channels").json["channels"]] == [
        ["una", "vic"]
    ]
    left = [
        web.ask("POST", "/channels/leave", {"channel": "#dev"}, X_Relay_Agent=name).json
        for name in ("una", "vic", "vic")
    ]
    assert [one["members"] for one in left] == [["vic"], [], []]
    assert web.ask("GET", "/channels").json == {"channels": []}


@pytest.mark.parametrize("channel", ["dev", "#", "#a b", "#dev\n", "", "#" + "a" * 100])
def test_what_is_no_channel_cannot_be_joined(web: Web, channel: str) -> None:
    assert web.ask("POST", "/channels/join", {"channel": channel}).status == 400


def test_a_name_may_have_a_slash(web: Web) -> None:
    sent(web, "team/zoe", "for one of a team")
    assert [one["body"] for one in inbox(web, "team%2Fzoe")] == ["for one of a team"]
    assert [one["body"] for one in inbox(web, "team%2fzo%65", "?waiting=1")] == [
        "for one of a team"
    ]
    assert inbox(web, "%2F") == []
    assert web.ask("GET", "/agents/team/zoe/inbox").json["code"] == "no_route"


def test_a_dead_letter_is_listed_and_sent_again(web: Web) -> None:
    told = sent(web, "late", "too late", ttl_ms=1)
    due_ms = web.relay.mail.store.now_ms() + 1
    while web.relay.mail.store.now_ms() < due_ms:
        # a quick disk has written it before its time is over
        pass
    web.relay.mail.expire()
    web.relay.mail.do(lambda tables: None)  # which is written after it
    [dead] = [
        one for one in web.ask("GET", "/dead-letters").json["messages"] if one["mailbox"] == "late"
    ]
    assert (dead["message_id"], dead["note"], dead["stage"]) == (
        told["message_id"],
        "expired",
        "dead",
    )
    again = web.ask("POST", f"/dead-letters/{told['message_id']}/resend", {}).json
    assert again["mailboxes"] == 1
    assert [one["stage"] for one in inbox(web, "late", "?waiting=1")] == ["accepted"]
    assert web.ask("POST", f"/dead-letters/{told['message_id']}/resend", {}).status == 404


def test_an_agent_that_is_gone_is_retired(web: Web) -> None:
    def ask(agent: str, capability: str, **arguments: object) -> Answer:
        told = {"capability": capability, "arguments": arguments}
        return web.ask("POST", "/ask", told, X_Relay_Agent=agent)

    for agent in ("gil", "hal"):
        assert ask(agent, "agent.introduction").status == 200
    assert ask("gil", "claim.take", targets=["a.py"], project="retired").status == 200
    assert ask("gil", "board.add", step="brew", project="retired").status == 200
    assert ask("gil", "board.take", project="retired").status == 200
    assert ask("gil", "channel.join", channel="#tea").status == 200
    assert ask("hal", "mail.send", to="gil", body="hello").status == 200
    # an agent takes no claims from another, which may be there still
    assert ask("hal", "agent.retire", name="gil").json["code"] == "not_permitted"
    told = ask("cli", "agent.retire", name="gil").json["result"]
    assert told == {"name": "gil", "released": ["a.py"], "returned": ["b1"], "dead_letters": 1}
    assert "gil" not in {one["name"] for one in web.ask("GET", "/agents").json["agents"]}
    assert ask("hal", "claim.take", targets=["a.py"], project="retired").status == 200
    assert ask("hal", "board.ready", project="retired").json["result"]["items"][0]["id"] == "b1"
    assert ask("hal", "agent.retire", name="gil").json["code"] == "recipient_not_found"
    assert ask("hal", "mail.send", to="gil", body="hello").json["code"] == "recipient_not_found"


def test_agents_that_answer_each_other_without_end_are_held_back(web: Web) -> None:
    def send(sender: str, to: str) -> Answer:
        told = {"capability": "mail.send", "arguments": {"to": to, "body": "and you?"}}
        return web.ask("POST", "/ask", told, X_Relay_Agent=sender)

    for agent in ("ida", "jon"):
        web.ask(
            "POST",
            "/ask",
            {"capability": "agent.introduction", "arguments": {}},
            X_Relay_Agent=agent,
        )
    pair = [("ida", "jon"), ("jon", "ida")]
    answers = [send(*pair[number % 2]) for number in range(102)]
    assert [one.status for one in answers[:101]] == [200] * 101
    assert (answers[101].status, answers[101].json["code"]) == (429, "turn_limit")
    held = {one["name"]: one["held_back"] for one in web.ask("GET", "/agents").json["agents"]}
    assert (held["ida"], held["jon"]) == (1, 0)
    assert send("cli", "ida").status == 200  # a person
    assert send("jon", "ida").status == 200
