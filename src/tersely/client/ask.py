"""What can be asked of the relay: one function an operation, each of which makes a question and asks nothing yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET

from tersely.client.request import Request, request
from tersely.foundation.limits import REQUEST_SECONDS
from tersely.protocols.relay import shapes
from tersely.protocols.relay.services import NewQuestion, ServiceAnswer, Services


def health() -> Request[shapes.Health]:
    """Whether the relay answers."""
    return request("health")


def version() -> Request[shapes.VersionTold]:
    """Which program answers."""
    return request("version")


def status() -> Request[shapes.RelayTold]:
    """Where the relay listens, and since when."""
    return request("status")


def ticket_new() -> Request[shapes.TicketTold]:
    """Make a ticket that signs a browser in to the pages."""
    return request("ticket_new")


def settings() -> Request[shapes.Settings]:
    """What the owner has decided."""
    return request("settings")


def thread_new(name: str = "") -> Request[shapes.ThreadTold]:
    """Make a thread."""
    return request("thread_new", body=shapes.NewThread(name))


def thread_list(before: str | None = None, limit: int = 100) -> Request[shapes.Threads]:
    """Threads, the newest first, those older than `before`."""
    return request("thread_list", query={"before": before, "limit": limit})


def thread_get(thread_id: str) -> Request[shapes.ThreadTold]:
    """One thread."""
    return request("thread_get", path={"thread_id": thread_id})


def state_full(thread_id: str, version: int | str | None = None) -> Request[shapes.State]:
    """The whole state, at any version."""
    return request("state_full", path={"thread_id": thread_id}, query={"version": version})


def state_header(thread_id: str) -> Request[shapes.Header]:
    """The bounded view of the state."""
    return request("state_header", path={"thread_id": thread_id})


def state_patch(
    thread_id: str, operations: Sequence[Mapping[str, Any]], *, expected: int | None = None, key: str = ""
) -> Request[shapes.Patched]:
    """Change the state by JSON Patch; only at version `expected`, if given; once for the same `key`."""
    headers = {"If-Match": f'"v{expected}"' if expected is not None else "", "Idempotency-Key": key}
    return request("state_patch", path={"thread_id": thread_id}, body=list(operations), headers=headers)


def state_history(thread_id: str, before: int | None = None, limit: int = 100) -> Request[shapes.History]:
    """The patches that led to the state, the newest first."""
    return request("state_history", path={"thread_id": thread_id}, query={"before": before, "limit": limit})


def artifact_put(
    thread_id: str, content: str, *, name: str = "", type: shapes.Type | None = None, mime: str = "", key: str = "",
    source_refs: Sequence[str] = (),
) -> Request[shapes.ArtifactTold]:  # fmt: skip
    """Store a text; what comes back is its reference and preview."""
    body = shapes.NewArtifact(content, name, UNSET if type is None else type, mime, list(source_refs))
    headers = {"Idempotency-Key": key}
    return request("artifact_put", path={"thread_id": thread_id}, body=body, headers=headers)


def artifact_upload(
    thread_id: str, content: bytes, *, name: str = "", type: shapes.Type | None = None
) -> Request[shapes.ArtifactTold]:
    """Store bytes as they are."""
    query = {"name": name or None, "type": type}
    return request("artifact_upload", path={"thread_id": thread_id}, query=query, body=content)


def artifact_list(thread_id: str, after: int = 0, limit: int = 100) -> Request[shapes.Artifacts]:
    """Artifacts, the oldest first."""
    return request("artifact_list", path={"thread_id": thread_id}, query={"after": after, "limit": limit})


def artifact_get(thread_id: str, ref: str) -> Request[shapes.ArtifactTold]:
    """One artifact and its preview, by its hash or the beginning of it."""
    return request("artifact_get", path={"thread_id": thread_id, "ref": ref})


def artifact_content(thread_id: str, ref: str) -> Request[bytes]:
    """All bytes of an artifact."""
    return request("artifact_content", path={"thread_id": thread_id, "ref": ref})


def artifact_remove(thread_id: str, ref: str) -> Request[shapes.Removed]:
    """Take an artifact out of the thread."""
    return request("artifact_remove", path={"thread_id": thread_id, "ref": ref})


def cassette_put(content: str, *, name: str = "", type: shapes.Type | None = None) -> Request[shapes.ArtifactTold]:
    """Store a text that belongs to no thread."""
    return request("cassette_put", body=shapes.NewArtifact(content, name, UNSET if type is None else type))


def cassette_get(ref: str) -> Request[shapes.ArtifactTold]:
    """The artifact that `cass://` and a hash, or the beginning of one, means."""
    return request("cassette_get", path={"ref": ref.removeprefix("cass://")})


def mirror(thread_id: str) -> Request[shapes.Mirrored]:
    """Write a thread to files that people can read."""
    return request("mirror", path={"thread_id": thread_id})


def stats_all() -> Request[shapes.Stats]:
    """The tokens that everybody has been spared."""
    return request("stats_all")


def events(thread_id: str, after: int = 0, limit: int = 100) -> Request[shapes.Events]:
    """What happened after a number, the oldest first."""
    return request("events", path={"thread_id": thread_id}, query={"after": after, "limit": limit})


def cap_list() -> Request[shapes.Capabilities]:
    """List capabilities."""
    return request("cap_list")


def cap_invoke(
    thread_id: str, capability: str, args: Mapping[str, Any], *, key: str = "", hops: int = 0,
    source_refs: Sequence[str] = (),
) -> Request[shapes.AnswerTold]:  # fmt: skip
    """Call a capability on behalf of a thread."""
    body = shapes.NewCall(capability, thread_id, dict(args), key, hops, list(source_refs))
    return request("cap_invoke", body=body)


def service_list() -> Request[Services]:
    """The services that can be asked."""
    return request("service_list")


def service_call(
    service: str, method: str, params: Mapping[str, Any], timeout_ms: int = REQUEST_SECONDS * 1000
) -> Request[ServiceAnswer]:
    """Ask a service."""
    return request("service_call", body=NewQuestion(service, method, dict(params), timeout_ms))


def metrics() -> Request[bytes]:
    """The figures of services and calls, in the text format of Prometheus."""
    return request("metrics")


def stats(kind: str, name: str) -> Request[shapes.Stats]:
    """The tokens that a thread, capability or agent has been spared."""
    return request("stats", path={"kind": kind, "name": name})


def report(thread_id: str, format: str = "md") -> Request[shapes.ReportTold]:
    """Write a report of a thread."""
    return request("report", path={"thread_id": thread_id}, body={"format": format})


def checkpoint(thread_id: str, name: str = "") -> Request[shapes.CheckpointTold]:
    """Mark where a thread is now."""
    return request("checkpoint", path={"thread_id": thread_id}, body=shapes.NewCheckpoint(name))


def session_end(
    thread_id: str, program: str, description: str, summary: str, exit_status: int = 0, *, key: str = ""
) -> Request[shapes.SessionTold]:
    """Leave the summary of a session in a thread."""
    body = shapes.NewSession(program, description, summary, exit_status)
    return request("session_end", path={"thread_id": thread_id}, body=body, headers={"Idempotency-Key": key})


def replay(thread_id: str, after: int = 0) -> Request[shapes.Replayed]:
    """Make the calls of a thread again and compare."""
    return request("replay", path={"thread_id": thread_id}, body=shapes.NewReplay(after))


def thread_export(thread_id: str) -> Request[bytes]:
    """Everything that a thread consists of, as a ZIP archive."""
    return request("thread_export", path={"thread_id": thread_id})


def thread_import(bundle: bytes) -> Request[shapes.ThreadTold]:
    """The thread of a bundle as one of this relay."""
    return request("thread_import", body=bundle)
