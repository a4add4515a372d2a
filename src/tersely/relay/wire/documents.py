"""Threads, their state, artifacts and events as values. JSON members have the fields' names.

Members that are not named here may be added in later versions; whoever reads skips them.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType, field

from tersely.foundation.types import JsonObject

Entries = list[JsonObject]  # of a thread, objects of JSON
VERSION = "v?[1-9][0-9]{0,11}"  # of a state, as it is written
# the codes of what asks about a thread, and about an artifact
THREAD_ERRORS = ("thread_not_found",)
ARTIFACT_ERRORS = (*THREAD_ERRORS, "artifact_not_found", "ambiguous_artifact", "invalid_argument")


class SpentTold(Struct):
    """The programs that a thread's agents have started today (UTC), and the most that they may."""

    programs: int
    most_programs: int


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
    spent: SpentTold | None = None  # by its agents


class Threads(Struct):
    """Threads, the newest first; more are asked for with `before`."""

    threads: list[ThreadTold]


class Metrics(Struct):
    """The tokens and calls that a thread has cost and been spared."""

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
    facts: Entries
    constraints: Entries
    open_questions: Entries
    decisions: Entries
    plan: Entries
    artifacts: Entries
    last_actions: Entries
    metrics: Metrics


class Header(Struct):
    """The bounded view of a state, at most 2,048 bytes of JSON."""

    schema: str = field(name="$schema")
    thread_id: str
    version: int
    top_facts: Entries
    top_constraints: Entries
    open_questions: Entries
    next_steps: Entries
    artifact_refs: Entries
    last_actions: Entries
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
    operations: Entries


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
    """The origin of an artifact."""

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
    short: str | UnsetType = UNSET  # `cass://` and as many digits as are unique now
    text: str | UnsetType = UNSET  # the lines that were asked for, each behind its number


class Artifacts(Struct):
    """Artifacts of a thread, the oldest first; more are asked for with `after`."""

    artifacts: list[ArtifactTold]
    next_after: int | None


class Removed(Struct):
    """The artifact that was taken out of a thread."""

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
    args_schema: JsonObject
    cacheable: bool
    effect: str
    cache_ttl_sec: int | UnsetType = UNSET
    held_back: int = 0  # calls, of who calls too often, or to which too many had led


class Capabilities(Struct):
    """List capabilities, by name."""

    capabilities: list[CapabilityTold]


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


class SavingsOf(Savings, kw_only=True):
    """The same of one thread, capability or agent, or of all."""

    scope: str


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


class Mirrored(Struct):
    """A thread as files. Artifacts are left out where they were too many bytes together."""

    path: str
    events: int
    artifacts: int
    left_out: int


class Settings(Struct):
    """The decisions of the owner: what agents may do, and which services the relay brings itself."""

    home: str
    policy: JsonObject
    services: Entries


class CheckpointTold(Struct):
    """The versions of a thread at a checkpoint."""

    name: str
    state_ref: str
    seq: int


class Compared(Struct):
    """One call that was made again: `same`, `differs`, `failed`, or `gone` where the answer is not
    kept any more. `was` is the artifact that it gave, `now` the hash of what it gives, empty where
    it fails; `changes` are the first lines of a diff, or why it failed.
    """

    event: int
    capability: str
    was: str
    now: str
    outcome: str
    changes: str


class Replayed(Struct):
    """The results that the calls of a thread have now."""

    calls: list[Compared]


class MethodTold(Struct):
    """One thing that a service can be asked."""

    name: str
    description: str
    args_schema: JsonObject
    effect: str


class ServiceTold(Struct):
    """A service: `connected` by itself, or a `bridge` of the relay that leads to a `place`."""

    name: str
    version: str
    how: str
    place: str
    methods: list[MethodTold]
    # questions that did not reach it: its asker asks too often, or too many questions led to one
    held_back: int = 0


class Services(Struct):
    """The services that can be asked, by name."""

    services: list[ServiceTold]


class ServiceAnswer(Struct):
    """The answer of a service. Text of somebody else's: untrusted."""

    service: str
    method: str
    result: Any
    duration_ms: int


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
    uptime: int = 0  # seconds
    remote_url: str = ""  # at which other machines find it, empty where it listens for none
