"""The envelope in which one agent asks a capability on behalf of a thread: `com.relay.a2a.envelope.v1`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_ENVELOPE_SECONDS, MAX_NAME_CHARACTERS
from tersely.relay.calls import Call
from tersely.relay.encoding import encode
from tersely.relay.policy import Policy

SCHEMA = "com.relay.a2a.envelope.v1"
_TYPES = ("request", "response", "event", "error")
_REQUIRED = ("msg_id", "thread_id", "from", "to_capability", "type", "schema", "payload")
_AGENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@/-]{0,63}")
_OPTIONAL = {"idempotency_key": str, "timestamp": str, "notes": str, "ttl": int, "hops": int}


def call_of(envelope: object, policy: Policy, key: str = "") -> Call:
    """The call that a request asks for; raises as `check` does, and for envelopes that ask for nothing."""
    checked = check(envelope, policy)
    if checked["type"] != "request":
        raise _invalid(f"a {checked['type']} asks for nothing", "send one of the type request")
    if not _AGENT.fullmatch(checked["from"]):
        raise _invalid("from is the name of an agent", "letters, digits and . _ : @ / -")
    key = key or checked.get("idempotency_key", "")
    return Call(
        checked["thread_id"], checked["to_capability"], checked["payload"], checked["from"], checked.get("hops", 0),
        key=key,
    )  # fmt: skip


def check(envelope: object, policy: Policy) -> Mapping[str, Any]:
    """An envelope that is one, as it is; raises `invalid_envelope`, `payload_too_large` or `hop_limit`."""
    if not isinstance(envelope, dict):
        raise _invalid("an envelope is an object")
    missing = [name for name in _REQUIRED if name not in envelope]
    if missing:
        raise _invalid(f"{', '.join(missing)} is missing")
    unknown = [name for name in envelope if name not in _REQUIRED and name not in _OPTIONAL]
    if unknown:
        raise _invalid(f"there is no member {unknown[0][:80]!r}")
    _check_texts(envelope)
    if not isinstance(envelope["payload"], dict):
        raise _invalid("payload is an object")
    policy.check_payload(len(encode(envelope["payload"])))
    if len(envelope.get("notes", "")) > policy.note_characters:
        raise _invalid(f"notes have at most {policy.note_characters} characters", "put more into an artifact")
    if not 0 < envelope.get("ttl", 1) <= MAX_ENVELOPE_SECONDS:
        raise _invalid(f"ttl is a number of seconds up to {MAX_ENVELOPE_SECONDS:,}")
    if envelope.get("hops", 0) < 0:
        raise _invalid("hops is not negative")
    policy.check_hops(envelope.get("hops", 0))
    return envelope


def _check_texts(envelope: dict[str, Any]) -> None:
    for name in _REQUIRED[:-1]:
        if not isinstance(envelope[name], str) or not 0 < len(envelope[name]) <= MAX_NAME_CHARACTERS:
            raise _invalid(f"{name} is text of at most {MAX_NAME_CHARACTERS} characters")
    for name, kind in _OPTIONAL.items():
        if name in envelope and type(envelope[name]) is not kind:
            raise _invalid(f"{name} is {'text' if kind is str else 'a whole number'}")
    if envelope["schema"] != SCHEMA:
        raise _invalid(f"the schema is {SCHEMA}")
    if envelope["type"] not in _TYPES:
        raise _invalid(f"the type is one of {', '.join(_TYPES)}")


def _invalid(why: str, hint: str = "docs/relay.md shows one") -> TerselyError:
    return TerselyError("invalid_envelope", why, hint)
