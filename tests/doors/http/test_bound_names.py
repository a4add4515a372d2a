"""Who asks under a name that is bound shows its token, whatever is asked."""

from __future__ import annotations

import re
import secrets
from typing import NamedTuple

import pytest
from tests.doors.http.conftest import Answer, Web

from tersely.capabilities import catalogue
from tersely.capabilities.relay.contract.operations import HttpOperation, operations
from tersely.relay.mail.identities import NameClaim

_GUARDED = [one for one in operations() if not one.is_open]


class Bound(NamedTuple):
    """A name, its token, and the id of its session."""

    name: str
    token: str
    session: str


@pytest.fixture(scope="module")
def bound(web: Web) -> Bound:
    name, mail = f"bea-{secrets.token_hex(3)}", web.relay.mail
    session, write = mail.identities.open(NameClaim(name, binds=True), is_live=False)
    mail.do(write)
    return Bound(name, session.token, session.identity.session)


def asked(web: Web, operation: HttpOperation, agent: str, token: str) -> Answer:
    path = re.sub(r"{\w+}", "000000", operation.path)
    body = None if operation.method == "GET" else {}
    return web.ask(operation.method, path, body, X_Relay_Agent=agent, X_Relay_Token=token)


@pytest.mark.parametrize("operation", _GUARDED, ids=[one.name for one in _GUARDED])
def test_no_operation_is_for_who_says_a_name_without_its_token(
    web: Web, bound: Bound, operation: HttpOperation
) -> None:
    for token in ("", "a-guess"):
        refused = asked(web, operation, bound.name, token)
        assert (refused.status, refused.json["code"]) == (401, "unauthorized")


@pytest.mark.parametrize("capability", sorted(catalogue.RELAY_NAMES))
def test_each_capability_is_asked_under_a_bound_name_with_its_token(
    web: Web, bound: Bound, capability: str
) -> None:
    question = {"capability": capability, "arguments": {"": ""}}  # is refused, but not for its name
    agent = {"X_Relay_Agent": bound.name}
    assert web.ask("POST", "/ask", question, **agent).json["code"] == "unauthorized"
    for token in (bound.token, bound.session):
        answer = web.ask("POST", "/ask", question, **agent, X_Relay_Token=token)
        assert answer.json["code"] == "invalid_argument"


def test_an_envelope_is_from_who_shows_the_token_of_its_sender(web: Web, bound: Bound) -> None:
    envelope = {
        "msg_id": "1", "thread_id": web.thread(), "from": bound.name, "to_capability": "nothing",
        "type": "request", "schema": "com.relay.a2a.envelope.v1", "payload": {},
    }  # fmt: skip
    for token, code in (("", "unauthorized"), (bound.token, "unknown_command")):
        answer = web.ask("POST", "/cap/invoke", envelope, X_Relay_Agent="ann", X_Relay_Token=token)
        assert answer.json["code"] == code


def test_a_bound_name_is_retired_by_who_shows_its_token(web: Web) -> None:
    mail = web.relay.mail
    session, write = mail.identities.open(NameClaim("gone", binds=True), is_live=False)
    mail.do(write)
    for token, status in (("", 401), ("a-guess", 401), (session.token, 200)):
        answer = web.ask("DELETE", "/agents/gone", X_Relay_Agent="cli", X_Relay_Token=token)
        assert answer.status == status
