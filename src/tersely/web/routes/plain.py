"""The operations that are a question and an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from tersely import __version__
from tersely.foundation.errors import TerselyError
from tersely.protocols.relay.shapes import Envelope, NewCall
from tersely.relay import artifacts, cassettes, reports, sessions, threads
from tersely.relay import mirror as mirrors
from tersely.relay.accounting import ALL, savings
from tersely.relay.artifacts import Origin
from tersely.relay.bundles import replay as replays
from tersely.relay.calls import Call
from tersely.relay.encoding import encode
from tersely.relay.policy import Policy
from tersely.relay.relay import Relay
from tersely.relay.streams import STATE
from tersely.web.asked import Asked

Handler = Callable[[Relay, Asked], Any]


def health(relay: Relay, asked: Asked) -> Any:
    """That there is an answer is the answer."""
    return {"status": "ok"}


def version(relay: Relay, asked: Asked) -> Any:
    """The program."""
    return {"version": __version__, "commit": "", "built": ""}


def settings(relay: Relay, asked: Asked) -> Any:
    """The policy in force."""
    return {"home": str(relay.home), "policy": relay.policy.told(), "services": relay.services.settings}


def thread_new(relay: Relay, asked: Asked) -> Any:
    """A new thread."""
    return thread_told(relay, threads.create(relay.store, asked.body.name, asked.agent))


def thread_list(relay: Relay, asked: Asked) -> Any:
    """The newest threads."""
    found = threads.recent(relay.store, asked.query["before"] or "", asked.query["limit"])
    return {"threads": [thread_told(relay, thread) for thread in found]}


def thread_get(relay: Relay, asked: Asked) -> Any:
    """One thread."""
    return thread_told(relay, threads.get(relay.store, asked.path["thread_id"]))


def state_full(relay: Relay, asked: Asked) -> Any:
    """The state at a version."""
    wanted = asked.query["version"]
    return threads.state(relay.store, asked.path["thread_id"], threads.read_state_ref(wanted) if wanted else None)


def state_header(relay: Relay, asked: Asked) -> Any:
    """The header."""
    return threads.header(relay.store, asked.path["thread_id"])


def state_patch(relay: Relay, asked: Asked) -> Any:
    """A patch."""
    operations = msgspec.to_builtins(asked.body)
    relay.policy.check_payload(len(msgspec.json.encode(operations)))
    expected = threads.read_state_ref(asked.expected) if asked.expected else None
    thread_id = asked.path["thread_id"]
    return threads.patch_state(relay.store, thread_id, operations, asked.agent, expected=expected, key=asked.key).told()


def state_history(relay: Relay, asked: Asked) -> Any:
    """Who changed what."""
    found = threads.history(relay.store, asked.path["thread_id"], asked.query["before"], asked.query["limit"])
    return {"versions": found}


def artifact_put(relay: Relay, asked: Asked) -> Any:
    """A text as an artifact."""
    body = asked.body
    return artifacts.put(
        relay.store, asked.path["thread_id"], [body.content.encode("utf-8", "surrogatepass")], relay.count_tokens,
        asked.key, name=body.name, kind=body.type or "", mime=body.mime,
        origin=Origin(asked.agent, source_refs=tuple(body.source_refs)), most_bytes=relay.policy.artifact_bytes,
    ).told()  # fmt: skip


def artifact_list(relay: Relay, asked: Asked) -> Any:
    """The artifacts of a thread."""
    after, limit = asked.query["after"], asked.query["limit"]
    found = artifacts.listed(relay.store, asked.path["thread_id"], after, limit)
    next_after = found[-1].number if len(found) == limit else None
    return {"artifacts": [one.told() for one in found], "next_after": next_after}


def artifact_get(relay: Relay, asked: Asked) -> Any:
    """One artifact."""
    return artifacts.get(relay.store, asked.path["thread_id"], asked.path["ref"]).told()


def artifact_remove(relay: Relay, asked: Asked) -> Any:
    """An artifact less."""
    removed = artifacts.remove(relay.store, asked.path["thread_id"], asked.path["ref"], asked.agent)
    return {"ref": removed.ref}


def events(relay: Relay, asked: Asked) -> Any:
    """What happened."""
    found = threads.events(relay.store, asked.path["thread_id"], asked.query["after"], asked.query["limit"])
    return {"events": [event.told() for event in found]}


def cap_list(relay: Relay, asked: Asked) -> Any:
    """List capabilities."""
    return {"capabilities": [offer.told() for offer in relay.calls.offers()]}


def cap_invoke(relay: Relay, asked: Asked) -> Any:
    """A call, or one in an envelope."""
    call = _enveloped(relay.policy, asked) if "schema" in asked.body else _plain(asked)
    return relay.calls.invoke(call).told()


def _plain(asked: Asked) -> Call:
    try:
        body = msgspec.convert(asked.body, NewCall)
    except msgspec.ValidationError as error:
        raise TerselyError("invalid_argument", str(error), "see cap_invoke in /openapi.json") from None
    key = asked.key or body.idempotency_key
    return Call(body.thread_id, body.capability, body.args, asked.agent, body.hops, tuple(body.source_refs), key)


def _enveloped(policy: Policy, asked: Asked) -> Call:
    try:
        body = msgspec.convert(asked.body, Envelope)
    except msgspec.ValidationError as error:
        raise TerselyError("invalid_envelope", str(error), "docs/relay.md shows one") from None
    policy.check_payload(len(encode(body.payload)))
    policy.check_notes(body.notes)
    policy.check_hops(body.hops)
    key = asked.key or body.idempotency_key
    return Call(body.thread_id, body.to_capability, body.payload, body.from_, body.hops, key=key)


def cassette_put(relay: Relay, asked: Asked) -> Any:
    """A text of no thread."""
    body = asked.body
    return cassettes.put(
        relay.store, body.content.encode("utf-8", "surrogatepass"), relay.count_tokens, asked.agent,
        name=body.name, kind=body.type or "", most_bytes=relay.policy.artifact_bytes,
    ).told()  # fmt: skip


def cassette_get(relay: Relay, asked: Asked) -> Any:
    """An artifact, wherever it is."""
    return cassettes.get(relay.store, asked.path["ref"]).told()


def mirror(relay: Relay, asked: Asked) -> Any:
    """A thread as files."""
    written = mirrors.write(relay.store, relay.home, asked.path["thread_id"])
    return {**written._asdict(), "path": str(written.path)}


def stats_all(relay: Relay, asked: Asked) -> Any:
    """The figures of everybody."""
    return {"scope": ALL, "token_savings": savings(relay.store, ALL).told()}


def stats(relay: Relay, asked: Asked) -> Any:
    """The figures of somebody."""
    kind, name = asked.path["kind"], asked.path["name"]
    if kind not in {"thread", "capability", "agent"}:
        raise TerselyError("invalid_argument", f"there are no figures of a {kind[:40]!r}", "thread, capability, agent")
    if kind == "thread":
        threads.get(relay.store, name)
    scope = f"{kind}/{name}"
    return {"scope": scope, "token_savings": savings(relay.store, scope).told()}


def report(relay: Relay, asked: Asked) -> Any:
    """A report."""
    thread_id = asked.path["thread_id"]
    made, text, figures = reports.write(relay.store, thread_id, asked.body.format, asked.agent, relay.count_tokens)
    return {
        "artifact_ref": made.ref,
        "format": asked.body.format,
        "size": made.size_bytes,
        "thread_id": thread_id,
        "text": text,
        "token_savings": figures,
    }


def checkpoint(relay: Relay, asked: Asked) -> Any:
    """A mark."""
    return replays.checkpoint(relay.store, asked.path["thread_id"], asked.body.name, asked.agent)


def session_end(relay: Relay, asked: Asked) -> Any:
    """A summary."""
    body = asked.body
    ended = sessions.Session(body.program, body.description, body.summary, body.exit_status)
    return sessions.leave(relay.store, asked.path["thread_id"], ended, asked.agent, relay.count_tokens, asked.key)


def replay(relay: Relay, asked: Asked) -> Any:
    """The calls again."""
    thread_id = asked.path["thread_id"]
    found = replays.replay(relay.store, relay.calls, thread_id, asked.agent, asked.body.after)
    return {"calls": found}


HANDLERS: dict[str, Handler] = {
    handler.__name__: handler
    for handler in (
        health, version, settings, thread_new, thread_list, thread_get, state_full, state_header, state_patch,
        state_history, artifact_put, artifact_list, artifact_get, artifact_remove, events, cap_list, cap_invoke,
        cassette_put, cassette_get, mirror, stats_all, stats, report, checkpoint, session_end, replay,
    )
}  # fmt: skip


def thread_told(relay: Relay, thread: threads.Thread) -> dict[str, Any]:
    """A thread with the figures that lists show."""
    found = relay.store.document(STATE + thread.thread_id)
    figures = savings(relay.store, f"thread/{thread.thread_id}").told()
    counts = {"hop_count": figures["hops"], "artifact_count": figures["artifacts"]}
    return {**thread.told(found[0] if found else 1), **counts}
