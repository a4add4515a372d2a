"""The operations that are a question and an answer, and no capability."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from tersely import __version__
from tersely.capabilities.relay.contract.shapes import Envelope, NewCall
from tersely.doors.http.request_parsing import AskedOperation
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.agent_names import agent_name
from tersely.relay.encoding import encode
from tersely.relay.relay import Relay
from tersely.relay.services.calls import Call
from tersely.relay.threads import sessions

Handler = Callable[[Relay, AskedOperation], Any]


def health(relay: Relay, asked: AskedOperation) -> Any:
    """The answer is that there is one."""
    return {"status": "ok"}


def version(relay: Relay, asked: AskedOperation) -> Any:
    """The program."""
    return {"version": __version__, "commit": "", "built": ""}


def cap_invoke(relay: Relay, asked: AskedOperation) -> Any:
    """A call, or one in an envelope."""
    call = _enveloped(relay, asked) if "schema" in asked.body else _plain(asked)
    return relay.calls.invoke(call).told()


def _plain(asked: AskedOperation) -> Call:
    try:
        body = msgspec.convert(asked.body, NewCall)
    except msgspec.ValidationError as error:
        raise TerselyError(
            "invalid_argument", str(error), "see cap_invoke in /openapi.json"
        ) from None
    key = asked.key or body.idempotency_key
    return Call(
        body.thread_id,
        body.capability,
        body.args,
        asked.agent,
        body.hops,
        tuple(body.source_refs),
        key,
    )


def _enveloped(relay: Relay, asked: AskedOperation) -> Call:
    try:
        body = msgspec.convert(asked.body, Envelope)
        named = agent_name(body.from_)
    except (msgspec.ValidationError, TerselyError) as error:
        raise TerselyError("invalid_envelope", str(error), "docs/relay.md shows one") from None
    actor = named if asked.principal is None else asked.agent
    relay.mail.identities.check_shown(actor, asked.token)
    policy = relay.policy
    policy.check_payload(len(encode(body.payload)))
    policy.check_notes(body.notes)
    policy.check_hops(body.hops)
    key = asked.key or body.idempotency_key
    return Call(body.thread_id, body.to_capability, body.payload, actor, body.hops, key=key)


def session_end(relay: Relay, asked: AskedOperation) -> Any:
    """A summary."""
    body = asked.body
    ended = sessions.SessionSummary(body.program, body.description, body.summary, body.exit_status)
    return sessions.leave(
        relay.store, asked.path["thread"], ended, asked.agent, relay.count_tokens, asked.key
    )


def permission_answer(relay: Relay, asked: AskedOperation) -> Any:
    """The decision of the person, who asks at the socket in the home; raises `not_permitted` for
    everybody else.
    """
    if not asked.is_typed():
        hint = "the person types it at a terminal that no agent was started in, or answers on the page of agents"
        raise TerselyError("not_permitted", "an agent is allowed nothing by another", hint)
    answered = relay.permissions.answer(asked.path["name"], allows=asked.body.allows)
    return {name: getattr(answered, name) for name in ("id", "agent", "tool", "what", "decision")}


HANDLERS: dict[str, Handler] = {
    handler.__name__: handler
    for handler in (health, version, cap_invoke, session_end, permission_answer)
}
