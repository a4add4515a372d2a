"""The rules for each question: one table for all doors. What is not in it, the owner alone may ask.

A question is a capability, an operation of HTTP that is none, or a type of envelope of the socket.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonMapping
from tersely.relay.access.principals import Level, Principal, is_meant
from tersely.relay.store.streams import no_thread

if TYPE_CHECKING:
    from tersely.relay.access.access import Access

Arguments = JsonMapping
Check = Callable[["Access", Principal, Arguments], Arguments]


class Rule(NamedTuple):
    """The level that is needed, and what else is looked at; the arguments are answered as they are
    to be used.
    """

    level: Level
    check: Check


def _anything(access: Access, principal: Principal, given: Arguments) -> Arguments:
    return given


def _in_thread(access: Access, principal: Principal, given: Arguments) -> Arguments:
    thread_id = given.get("thread") or ""
    if thread_id and not access.is_member(principal, thread_id):
        raise no_thread(thread_id)
    return given


def _own_name(access: Access, principal: Principal, given: Arguments) -> Arguments:
    name = given.get("name") or ""
    if name and not access.owns(principal, name):
        raise _denied(f"{name[:80]} is no name of {principal.name}")
    return given


def _in_channel(access: Access, principal: Principal, given: Arguments) -> Arguments:
    channel, member = given.get("channel") or "", given.get("member") or ""
    if not is_meant(principal.scopes.channels, channel):
        raise _denied(f"the token is not for the channel {channel[:80]}")
    if member and not access.owns(principal, member):
        raise _denied(f"{member[:80]} is no name of {principal.name}")
    return given


def _message(access: Access, principal: Principal, given: Arguments) -> Arguments:
    to = given.get("to") or ""
    channel = given.get("channel") or (to if to.startswith("#") else "")
    if channel:
        _in_channel(access, principal, {"channel": channel})
    return _in_thread(access, principal, given)


def _topic(access: Access, principal: Principal, given: Arguments) -> Arguments:
    kind, _, name = (given.get("topic") or "").partition(":")
    if kind == "logs" and not access.owns(principal, name):
        raise _denied("what others log is theirs")
    return given


def _in_project(access: Access, principal: Principal, given: Arguments) -> Arguments:
    if given.get("thread"):
        return _in_thread(access, principal, given)
    project = given.get("project") or ""
    if given.get("root"):
        raise TerselyError(
            "invalid_argument",
            "root: that is no directory of the asker's machine",
            "say the project",
        )
    if not is_meant(principal.scopes.projects, project):
        raise _denied(f"the token is not for the project {project[:80]!r}")
    return given


def _artifact(access: Access, principal: Principal, given: Arguments) -> Arguments:
    if given.get("thread"):
        return _in_thread(access, principal, given)
    return {**given, "thread": access.thread_of(principal, str(given.get("ref", "")))}


def _call(access: Access, principal: Principal, given: Arguments) -> Arguments:
    capability = str(given.get("capability", ""))
    if access.reads_machine(capability) and not principal.may(Level.ADMIN):
        raise _denied(f"{capability[:80]} reads the disk of the relay's machine")
    return _in_thread(access, principal, given)


def _service(access: Access, principal: Principal, given: Arguments) -> Arguments:
    service = str(given.get("service", ""))
    if access.is_of_machine(service) and not principal.may(Level.ADMIN):
        raise _denied(f"{service[:80]} reads the disk of the relay's machine")
    return given


def _permission(access: Access, principal: Principal, given: Arguments) -> Arguments:
    if not access.waits_for_permission(principal, str(given.get("name", ""))):
        raise TerselyError(
            "permission_not_found", f"no agent of {principal.name} waits for that", "see agents"
        )
    return given


def _own_token(access: Access, principal: Principal, given: Arguments) -> Arguments:
    if given.get("name") != principal.token_id:
        raise _denied("only the user that the relay belongs to ends the tokens of others")
    return given


def _denied(message: str) -> TerselyError:
    return TerselyError("denied", message, "ask whoever runs the relay")


def _rules(level: Level, check: Check, *names: str) -> dict[str, Rule]:
    return {name: Rule(level, check) for name in names}


_READ, _WRITE, _ADMIN = Level.READ, Level.WRITE, Level.ADMIN
RULES: Mapping[str, Rule] = {
    # Capabilities
    **_rules(
        _READ, _anything, "agent.list", "channel.list", "thread.list", "mail.search", "mail.dead",
        "service.list", "relay.status", "cap.list",
    ),
    **_rules(_READ, _own_name, "mail.box"),
    **_rules(
        _READ, _in_thread, "thread.get", "thread.show", "state.header", "state.get", "state.history", "event.list",
        "artifact.list", "artifact.search", "token.savings",
    ),
    **_rules(_READ, _artifact, "artifact.get"),
    **_rules(_READ, _in_project, "agent.introduction", "claim.list", "board.show", "board.ready"),
    **_rules(_WRITE, _message, "mail.send"),
    **_rules(_WRITE, _own_name, "mail.inbox", "agent.retire"),
    **_rules(_WRITE, _anything, "mail.receipt", "permission.ask", "thread.new"),
    **_rules(_WRITE, _in_channel, "channel.join", "channel.leave"),
    **_rules(
        _WRITE, _in_thread, "thread.spend", "thread.report", "thread.checkpoint", "state.patch", "artifact.put",
        "artifact.remove",
    ),
    **_rules(
        _WRITE, _in_project, "claim.take", "claim.release", "board.add", "board.take", "board.done", "board.block",
        "board.reopen",
    ),
    **_rules(_WRITE, _service, "service.call"),
    **_rules(_ADMIN, _anything, "mail.resend", "thread.replay", "thread.mirror", "relay.config"),
    # Operations of HTTP
    **_rules(_READ, _anything, "health", "version", "ask", "stats", "stats_all"),
    **_rules(_READ, _in_thread, "artifact_content", "event_stream", "thread_export"),
    **_rules(_WRITE, _in_thread, "artifact_upload", "cassette_upload", "session_end", "thread_import"),
    **_rules(_WRITE, _call, "cap_invoke"),
    **_rules(_WRITE, _permission, "permission_answer"),
    **_rules(_READ, _own_token, "token_revoke"),
    **_rules(_ADMIN, _anything, "metrics", "event_stream_all"),
    # Envelopes
    **_rules(
        _READ, _anything, "HELLO", "RESUME", "PING", "PONG", "BYE", "ACK", "NACK", "SYNC", "STATE", "UNSUBSCRIBE",
    ),
    **_rules(_READ, _topic, "SUBSCRIBE"),
    **_rules(_READ, _in_channel, "CHANNEL_INFO", "CHANNEL_MEMBERS"),
    **_rules(_WRITE, _message, "SEND"),
    **_rules(_WRITE, _in_channel, "CHANNEL_JOIN", "CHANNEL_LEAVE", "CHANNEL_TYPING"),
    **_rules(_WRITE, _message, "CHANNEL_MESSAGE"),
    **_rules(_WRITE, _service, "SERVICE_REQUEST"),
    **_rules(_WRITE, _anything, "LOG", "SERVICE_RESPONSE"),
}  # fmt: skip
