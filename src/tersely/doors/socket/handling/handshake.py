"""Clients that come and go: who they are, and the sessions that they open or take up again."""

from __future__ import annotations

from functools import partial
from typing import Any

from tersely.capabilities.relay.context import PERSON, USER, no_person
from tersely.doors.socket.clients import Clients
from tersely.doors.socket.connection import SocketConnection
from tersely.foundation.activity import PERMISSION
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.project import project_name
from tersely.foundation.limits import (
    MAX_FRAME_BYTES,
    MAX_INFLIGHT_MESSAGES,
    SOCKET_HEARTBEAT_SECONDS,
)
from tersely.foundation.process.ancestry import is_of_agent
from tersely.foundation.text.agent_names import agent_name
from tersely.foundation.types import JsonObject
from tersely.relay.access.principals import PrincipalKind
from tersely.relay.mail.identities import NameClaim, NameSession
from tersely.relay.wire import envelopes
from tersely.relay.wire.envelopes import MalformedError, SocketEnvelope, payload_of


def hello(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """Let a client in under its name, or say why not."""
    said: envelopes.Hello = payload_of(envelope, envelopes.Hello)
    try:
        said.agent = agent_name(said.agent)
    except TerselyError as error:
        raise MalformedError(f"HELLO: {error}") from error
    refusal = clients.services.refusal(said)
    if refusal is not None:
        connection.fail("UNAUTHORIZED", refusal.message, about=envelope.id, reason=refusal.code)
        return
    auth = said.auth or envelopes.Auth()
    directory = said.workingDirectory or ""
    details = {
        name: getattr(said, name)
        for name in (
            "program",
            "cli",
            "model",
            "task",
            "workingDirectory",
            "displayName",
            "avatarUrl",
        )
        if getattr(said, name)
    }
    project = said.project or (project_name(directory) if directory else "")
    token = said.session.resume_token if said.session else ""
    claim = NameClaim(
        said.agent, said.entityType or "agent", project, details, auth.token, auth.bind, token
    )
    _open(clients, connection, envelope, claim, said.capabilities, said)


def resume(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """Take a session up again by its token alone."""
    said: envelopes.Resume = payload_of(envelope, envelopes.Resume)
    name = clients.mail.identities.by_resume(said.resume_token)
    if name is None:
        connection.fail("RESUME_TOO_OLD", "nobody has this resume token", about=envelope.id)
        return
    _open(
        clients,
        connection,
        envelope,
        NameClaim(name, resume=said.resume_token),
        said.capabilities,
        said,
    )


def bye(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """Let a client go."""
    connection.close()


def state(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """Note what a client does, and what its terminal shows where it is one of this machine."""
    said: envelopes.ToldActivity = payload_of(envelope, envelopes.ToldActivity)
    if connection.activity == PERMISSION and said.state != PERMISSION:
        clients.permissions.end_of(connection.name)
    connection.activity = said.state
    if said.screen and connection.principal is None:
        clients.note_screen(connection.name, said.screen)


def _open(
    clients: Clients,
    connection: SocketConnection,
    envelope: SocketEnvelope,
    claim: NameClaim,
    can: envelopes.HelloCapabilities,
    declared: Any,
) -> None:
    before = clients.names.get(claim.name)
    is_elsewhere = clients.mail.is_elsewhere(claim.name)
    try:
        _check_person(connection, claim)
        if connection.principal is not None:
            clients.access.act_as(connection.principal, claim.name)
        session, write = clients.mail.identities.open(
            claim, is_live=before is not None or is_elsewhere
        )
    except TerselyError as error:
        if connection.principal is not None:
            clients.access.refused(connection.principal, f"HELLO {claim.name}", error, "socket")
        connection.fail("UNAUTHORIZED", error.message, about=envelope.id, reason=error.code)
        return
    if before is not None:
        before.fail(
            "UNAUTHORIZED", "the owner of the name has connected again", reason="taken_over"
        )
        clients.forget(before)
    clients.names[claim.name] = connection
    connection.kind, connection.session = session.identity.kind, session.identity.session
    connection.acks, connection.acks_channels = can.ack, can.channel_ack
    connection.window = min(can.max_inflight, MAX_INFLIGHT_MESSAGES)
    connection.declared = declared
    connection.since_ms = session.identity.last_ms
    connection.join()
    is_refused = bool(claim.resume) and not session.is_resumed
    then = partial(_welcome, clients, connection, session, envelope.id, is_refused)
    clients.mail.admit(write, claim.name, connection.kind, then, takes_over=is_elsewhere)
    clients.mail.flush()


def _check_person(connection: SocketConnection, claim: NameClaim) -> None:
    """Raise `not_permitted` for an agent that says to be the person, or a person at all; from
    elsewhere nobody is the person that the relay belongs to.
    """
    principal = connection.principal
    if claim.name != PERSON and claim.kind != USER:
        return
    if principal is None:
        is_other = is_of_agent(connection.process_id)
    else:
        is_other = claim.name == PERSON or principal.kind is PrincipalKind.AGENT
    if is_other:
        raise no_person()


def _welcome(
    clients: Clients,
    connection: SocketConnection,
    session: NameSession,
    about: str,
    is_refused: bool,
    given: Any,
) -> None:
    name = session.identity.name
    if connection.is_closing or clients.names.get(name) is not connection:
        return
    if isinstance(given, TerselyError) and given.code == "name_taken":
        clients.mail.identities.reload([name])
        connection.fail("UNAUTHORIZED", given.message, about=about, reason=given.code)
        return
    if isinstance(given, Exception):
        connection.fail("INTERNAL", str(given))
        return
    if is_refused:
        connection.error(
            "RESUME_TOO_OLD", "the resume token is none of this name's; this is a new session"
        )
    told: JsonObject = {
        "session_id": session.identity.session,
        "resume_token": session.resume,
        "server": {
            "max_frame_bytes": MAX_FRAME_BYTES,
            "heartbeat_ms": SOCKET_HEARTBEAT_SECONDS * 1000,
            "screens": connection.principal is None,
        },
        "resumed": session.is_resumed,
    }
    if session.token:
        told["token"] = session.token
    connection.name = name
    connection.send("WELCOME", told, to=name)
    if connection.kind == "service":
        clients.services.joined(connection)
    connection.admit()
