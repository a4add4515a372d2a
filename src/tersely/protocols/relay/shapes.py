"""What goes to the relay and what comes back, as values. JSON members have the names of the fields.

Members that are not named here may be added in later versions; whoever reads skips them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from tersely.foundation.limits import (
    DEFAULT_NOTE_CHARACTERS,
    MAX_BUDGET_TOKENS,
    MAX_ENVELOPE_SECONDS,
    MAX_PATCH_OPERATIONS,
)

AGENT_PATTERN = "[A-Za-z0-9][A-Za-z0-9._:@/-]{0,63}"
Name = Annotated[str, Meta(max_length=200)]
Given = Annotated[str, Meta(min_length=1, max_length=200)]
Type = Literal["text", "markdown", "json", "html", "log", "tool_output", "email", "code", "binary"]

# The store of threads refuses what is no pointer; here it is described.
Pointer = Annotated[str, Meta(extra_json_schema={"pattern": "^(/([^/~]|~[01])*)*$"})]

# Asked


class NewThread(Struct, forbid_unknown_fields=True):
    """A thread to be made."""

    name: Name = ""


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
    list[Annotated[Operation, Meta(extra_json_schema={"anyOf": _BY_OP})]], Meta(max_length=MAX_PATCH_OPERATIONS)
]


class NewArtifact(Struct, forbid_unknown_fields=True):
    """A text to be stored. What is large or no text is sent as it is, see `artifact_upload`."""

    content: str
    name: Name = ""
    type: Type | UnsetType = UNSET
    mime: Annotated[str, Meta(max_length=100)] = ""
    source_refs: Annotated[list[str], Meta(max_length=100)] = field(default_factory=list)


class NewCall(Struct, forbid_unknown_fields=True):
    """A capability to be called on behalf of a thread."""

    capability: Name
    thread_id: Name
    args: dict[str, Any] = field(default_factory=dict)
    idempotency_key: Name = ""
    hops: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    source_refs: Annotated[list[str], Meta(max_length=100)] = field(default_factory=list)


class Envelope(Struct, forbid_unknown_fields=True, rename={"from_": "from"}):
    """A call as one agent sends it to another: `payload` has the arguments. Its type is `request`."""

    msg_id: Given
    thread_id: Given
    from_: Annotated[str, Meta(pattern=f"^{AGENT_PATTERN}$(?!\\n)")]  # `$` alone lets a newline pass
    to_capability: Given
    type: Literal["request"]
    schema: Literal["com.relay.a2a.envelope.v1"]
    payload: dict[str, Any]
    idempotency_key: str = ""
    timestamp: str = ""
    notes: Annotated[str, Meta(extra_json_schema={"maxLength": DEFAULT_NOTE_CHARACTERS})] = ""  # the policy decides
    ttl: Annotated[int, Meta(ge=1, le=MAX_ENVELOPE_SECONDS)] = 1
    hops: Annotated[int, Meta(ge=0)] = 0


def _schema_of(kind: type) -> dict[str, Any]:
    return dict(msgspec.json.schema(kind)["$defs"][kind.__name__])


# Told apart by the member `schema`, which only envelopes have.
CallOrEnvelope = Annotated[
    dict[str, Any], Meta(extra_json_schema={"anyOf": [_schema_of(NewCall), _schema_of(Envelope)]})
]


class Question(Struct, forbid_unknown_fields=True):
    """A question to a capability of the relay. Its answer in words has at most `budget` tokens, where there is one."""

    capability: Name
    arguments: dict[str, Any] = field(default_factory=dict)
    budget: Annotated[int, Meta(ge=1, le=MAX_BUDGET_TOKENS)] | None = None
    colored: bool = False  # as a terminal shows it


class NewReport(Struct, forbid_unknown_fields=True):
    """A report to be written."""

    format: Literal["md", "json"] = "md"


class NewCheckpoint(Struct, forbid_unknown_fields=True):
    """A checkpoint to be made."""

    name: Name = ""


class NewSession(Struct, forbid_unknown_fields=True):
    """A session that has ended: what ran, one line about it, and its summary in Markdown."""

    program: Name
    description: Annotated[str, Meta(min_length=1, max_length=1_000)]
    summary: str
    exit_status: Annotated[int, Meta(ge=0, le=255)] = 0


class NewReplay(Struct, forbid_unknown_fields=True):
    """The calls of a thread to be made again, those after an event."""

    after: Annotated[int, Meta(ge=0)] = 0


# Answered


class Failure(Struct):
    """Why there is no answer. Codes never change; messages may."""

    error: str  # `code: message`, for people
    code: str
    message: str
    hint: str


class Answered(Struct):
    """What a capability answers: as a value, and in words."""

    capability: str
    result: Any
    text: str


class Health(Struct):
    """Whether the relay answers."""

    status: str


class VersionTold(Struct):
    """Which program answers."""

    version: str
    commit: str
    built: str


class RelayTold(Struct):
    """The relay that runs."""

    home: str
    pid: int
    url: str  # of its TCP port, empty where that is closed
    version: str
    program: str  # the identity of the code that runs
    started: int  # seconds since 1970
    workspace: str  # the repository that calls are about which name none
    wanted_port: int = 0  # that was taken when it started, so that it listens at another


class ThreadTold(Struct):
    """A thread without what is in it."""

    thread_id: str
    name: str
    created_at: str
    created_by: str
    state_ref: str
    state_version: int
    hop_count: int = 0
    artifact_count: int = 0


class Threads(Struct):
    """Threads, the newest first; more are asked for with `before`."""

    threads: list[ThreadTold]


class Metrics(Struct):
    """What a thread has cost and been spared, in tokens and calls."""

    cache_hits: int
    cache_misses: int
    tokens_estimate: int
    tokens_avoided: int
    hop_count: int


class State(Struct):
    """The whole state of a thread at one version."""

    schema: str = field(name="$schema")
    version: int
    thread_id: str
    updated_at: str
    facts: list[dict[str, Any]]
    constraints: list[dict[str, Any]]
    open_questions: list[dict[str, Any]]
    decisions: list[dict[str, Any]]
    plan: list[dict[str, Any]]
    artifacts: list[dict[str, Any]]
    last_actions: list[dict[str, Any]]
    metrics: Metrics


class Header(Struct):
    """The bounded view of a state, at most 2,048 bytes of JSON."""

    schema: str = field(name="$schema")
    thread_id: str
    version: int
    top_facts: list[dict[str, Any]]
    top_constraints: list[dict[str, Any]]
    open_questions: list[dict[str, Any]]
    next_steps: list[dict[str, Any]]
    artifact_refs: list[dict[str, Any]]
    last_actions: list[dict[str, Any]]
    metrics: Metrics
    truncated: bool = False


class Patched(Struct):
    """The version that a patch has made."""

    version: int
    state_ref: str
    updated_at: str


class VersionOfState(Struct):
    """One version of a state, and the patch that led to it."""

    version: int
    state_ref: str
    by: str
    at: str
    operations: list[dict[str, Any]]


class History(Struct):
    """Versions, the newest first; more are asked for with `before`."""

    versions: list[VersionOfState]


class Preview(Struct):
    """At most 2,048 bytes of an artifact. Text of somebody else's: untrusted."""

    text: str
    truncated: bool
    size: int
    line_count: int | UnsetType = UNSET


class Provenance(Struct):
    """Where an artifact comes from."""

    created_by: str
    created_at: str
    trust: str
    source_refs: list[str]
    capability: str | UnsetType = UNSET


class ArtifactTold(Struct):
    """An artifact without its content. `ref` is the SHA-256 of its bytes."""

    ref: str
    uri: str
    thread_id: str
    type: str
    mime: str
    name: str
    size: int
    hash: str
    preview: Preview
    provenance: Provenance
    created_at: str


class Artifacts(Struct):
    """Artifacts of a thread, the oldest first; more are asked for with `after`."""

    artifacts: list[ArtifactTold]
    next_after: int | None


class Removed(Struct):
    """What was taken out of a thread."""

    ref: str


class EventTold(Struct):
    """One thing that happened in a thread; `seq` counts without gaps."""

    id: str
    seq: int
    thread_id: str
    type: str
    payload: Any
    timestamp: str


class Events(Struct):
    """Events, the oldest first; more are asked for with `after`."""

    events: list[EventTold]


class CapabilityTold(Struct):
    """A capability that can be called."""

    name: str
    description: str
    args_schema: dict[str, Any]
    cacheable: bool
    effect: str
    cache_ttl_sec: int | UnsetType = UNSET


class Capabilities(Struct):
    """List capabilities, by name."""

    capabilities: list[CapabilityTold]


class AnswerTold(Struct):
    """What came of a call: an artifact, shown by its preview, and whole in `text` where that is short."""

    capability: str
    preview: Preview
    artifact_ref: str
    artifact: dict[str, Any]
    cache_hit: bool
    cache_key: str
    duration_ms: int
    trust: str
    text: str | UnsetType = UNSET


class Estimate(Struct):
    """The same figures as characters divided by four."""

    naive_tokens: int
    actual_tokens: int
    avoided_tokens: int


class Savings(Struct):
    """Tokens that would have been sent by pasting, that were sent, and the difference."""

    naive_tokens: int
    actual_tokens: int
    avoided_tokens: int
    estimate: Estimate
    artifacts: int
    invocations: int
    cache_hits: int
    cache_misses: int
    hops: int


class Stats(Struct):
    """The figures of one thread, capability or agent."""

    scope: str
    token_savings: Savings


class ReportTold(Struct):
    """A report, which is an artifact of its thread."""

    artifact_ref: str
    format: str
    size: int
    thread_id: str
    text: str
    token_savings: Savings


class TicketTold(Struct):
    """What signs one browser in to the pages, at `/ui/login` of `url`: once, and soon."""

    ticket: str
    url: str


class Mirrored(Struct):
    """A thread as files. Artifacts are left out where they were too many bytes together."""

    path: str
    events: int
    artifacts: int
    left_out: int


class Settings(Struct):
    """What the owner has decided: what agents may do, and which services the relay brings itself."""

    home: str
    policy: dict[str, Any]
    services: list[dict[str, Any]]


class CheckpointTold(Struct):
    """Where a thread was."""

    name: str
    state_ref: str
    seq: int


class SessionTold(Struct):
    """What a session has left: its summary as an artifact, and the version of the state that names it."""

    artifact_ref: str
    state_ref: str


class Compared(Struct):
    """One call that was made again: `same`, `differs`, `failed`, or `gone` where the answer is not kept any more."""

    event: int
    capability: str
    was: str
    now: str
    outcome: str
    changes: str


class Replayed(Struct):
    """What the calls of a thread give now."""

    calls: list[Compared]
