"""The values that go to the relay and that come back. JSON members have the names of the fields.

Members that are not named here may be added in later versions; whoever reads skips them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from tersely.foundation.limits import (
    DEFAULT_NOTE_CHARACTERS,
    MAX_BUDGET_TOKENS,
    MAX_HOPS,
    MAX_PATCH_OPERATIONS,
)
from tersely.foundation.types import JsonObject
from tersely.relay.wire.documents import Preview

MAX_ENVELOPE_SECONDS = 86_400

# what is said of names: `foundation/text/agent_names.py` takes those of other scripts too
AGENT_PATTERN = "[A-Za-z0-9_][A-Za-z0-9._:@/-]{0,63}"
Name = Annotated[str, Meta(max_length=200)]
Given = Annotated[str, Meta(min_length=1, max_length=200)]


# The store of threads refuses what is no pointer; here it is described.
Pointer = Annotated[str, Meta(extra_json_schema={"pattern": "^(/([^/~]|~[01])*)*$"})]

# Asked


class Operation(Struct):
    """One operation of a JSON Patch (RFC 6902)."""

    op: Literal["add", "remove", "replace", "move", "copy", "test"]
    path: Pointer
    value: Any = UNSET
    from_: Pointer | UnsetType = field(default=UNSET, name="from")


# What an operation has beside its path depends on what it does.
_MEMBERS = (("value", ["add", "replace", "test"]), ("from", ["move", "copy"]), ("path", ["remove"]))
_BY_OP = [{"properties": {"op": {"enum": ops}}, "required": [member]} for member, ops in _MEMBERS]
JsonPatch = Annotated[
    list[Annotated[Operation, Meta(extra_json_schema={"anyOf": _BY_OP})]],
    Meta(max_length=MAX_PATCH_OPERATIONS),
]


class NewCall(Struct, forbid_unknown_fields=True):
    """A capability to be called on behalf of a thread."""

    capability: Name
    thread_id: Name
    args: JsonObject = field(default_factory=dict)
    idempotency_key: Name = ""
    hops: Annotated[int, Meta(ge=0, le=MAX_HOPS)] = 0
    source_refs: Annotated[list[str], Meta(max_length=100)] = field(default_factory=list)


class Envelope(Struct, forbid_unknown_fields=True, rename={"from_": "from"}):
    """A call as one agent sends it to another: `payload` has the arguments. Its type is `request`."""

    msg_id: Given
    thread_id: Given
    # `$` alone lets a newline pass
    from_: Annotated[str, Meta(extra_json_schema={"pattern": f"^{AGENT_PATTERN}$(?!\\n)"})]
    to_capability: Given
    type: Literal["request"]
    schema: Literal["com.relay.a2a.envelope.v1"]
    payload: JsonObject
    idempotency_key: str = ""
    timestamp: str = ""
    # the policy decides
    notes: Annotated[str, Meta(extra_json_schema={"maxLength": DEFAULT_NOTE_CHARACTERS})] = ""
    ttl: Annotated[int, Meta(ge=1, le=MAX_ENVELOPE_SECONDS)] = 1
    hops: Annotated[int, Meta(ge=0)] = 0


def _schema_of(kind: type) -> JsonObject:
    return dict(msgspec.json.schema(kind)["$defs"][kind.__name__])


# Told apart by the member `schema`, which only envelopes have.
CallOrEnvelope = Annotated[
    JsonObject, Meta(extra_json_schema={"anyOf": [_schema_of(NewCall), _schema_of(Envelope)]})
]


class Question(Struct, forbid_unknown_fields=True):
    """A question to a capability of the relay. Its answer in words has at most `budget` tokens,
    where there is one.
    """

    capability: Name
    arguments: JsonObject = field(default_factory=dict)
    budget: Annotated[int, Meta(ge=1, le=MAX_BUDGET_TOKENS)] | None = None
    colored: bool = False  # as a terminal shows it


class NewDecision(Struct, forbid_unknown_fields=True):
    """The person's answer to an agent that waits for permission."""

    allows: bool


class NewSession(Struct, forbid_unknown_fields=True):
    """A session that has ended: what ran, one line about it, and its summary in Markdown."""

    program: Name
    description: Annotated[str, Meta(min_length=1, max_length=1_000)]
    summary: str
    exit_status: Annotated[int, Meta(ge=0, le=255)] = 0


Patterns = Annotated[list[Name], Meta(max_length=100)]


class NewToken(Struct, forbid_unknown_fields=True):
    """An identity, and what its token is to be good for: patterns of threads, channels and
    projects, all of those without any. Without `bearer` it is a code that a machine joins with.
    """

    identity: Given
    kind: Literal["person", "agent"] = "person"
    tenant: Given = "default"
    level: Literal["read", "write", "admin"] = "write"
    threads: Patterns = field(default_factory=list)
    channels: Patterns = field(default_factory=list)
    projects: Patterns = field(default_factory=list)
    days: Annotated[int, Meta(ge=0, le=36_500)] = 0  # until it expires; 0: never
    bearer: bool = False


class NewMachine(Struct, forbid_unknown_fields=True):
    """A machine that joins, with the code that it was given."""

    code: Annotated[str, Meta(min_length=1, max_length=100)]
    machine: Name = ""


# Answered


class Failure(Struct):
    """The error in the place of an answer. Codes never change; messages may."""

    error: str  # `code: message`, for people
    code: str
    message: str
    hint: str


class Answered(Struct):
    """The answer of a capability: as a value, and in words."""

    capability: str
    result: Any
    text: str


class Health(Struct):
    """The answer of a relay that works."""

    status: str


class VersionTold(Struct):
    """The version of the program that answers."""

    version: str
    commit: str
    built: str


class AnswerTold(Struct):
    """The result of a call: an artifact, shown by its preview, and whole in `text` where that is
    short.
    """

    capability: str
    preview: Preview
    artifact_ref: str
    artifact: JsonObject
    cache_hit: bool
    cache_key: str
    duration_ms: int
    trust: str
    text: str | UnsetType = UNSET


class TicketTold(Struct):
    """A ticket that signs one browser in to the pages, at `/ui/login` of `url`: once, and soon."""

    ticket: str
    url: str


class DecisionTold(Struct):
    """The decision about a permission: what the agent may do now, or may not."""

    id: str
    agent: str
    tool: str
    what: str
    decision: str


class SessionTold(Struct):
    """The records that a session has left: its summary as an artifact, and the version of the state
    that names it.
    """

    artifact_ref: str
    state_ref: str


class TokenTold(Struct):
    """A token without its secret; its secret is known to nobody but whoever was given it. Times are
    ISO 8601 in UTC.
    """

    id: str
    identity: str
    kind: str
    tenant: str
    level: str
    threads: list[str]
    channels: list[str]
    projects: list[str]
    created_at: str
    expires_at: str  # empty: never
    code_until: str  # of a code that was not used yet
    machine: str


class TokenMade(Struct):
    """A new token with its secret, or a code, which is told this once."""

    token: TokenTold
    secret: str
    is_code: bool


class TokensTold(Struct):
    """Tokens that are in force, or that were ended."""

    tokens: list[TokenTold]


class Joined(Struct):
    """The identity and the token of a machine that has joined."""

    identity: str
    kind: str
    tenant: str
    secret: str
    token_id: str


class RefusalTold(Struct):
    """A request that was refused. `not_written` counts those of the minute before that were left
    out.
    """

    number: int
    at: str
    code: str
    message: str
    asked: str
    door: str
    identity: str
    tenant: str
    token_id: str
    address: str
    not_written: int


class AuditTold(Struct):
    """Requests that were refused, the oldest first."""

    refusals: list[RefusalTold]
