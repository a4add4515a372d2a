"""The questions to the relay beside its capabilities: one function an operation, each of which
makes a question and asks nothing yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from tersely.capabilities.relay.answers import documents
from tersely.client.hops import led_here
from tersely.client.request import Request, request
from tersely.doors.http.contract import shapes
from tersely.foundation.artifact_types import ArtifactType


def health() -> Request[shapes.Health]:
    """The request whether the relay answers."""
    return request("health")


def version() -> Request[shapes.VersionTold]:
    """The request for the version of the program that answers."""
    return request("version")


def ticket_new() -> Request[shapes.TicketTold]:
    """Make a ticket that signs a browser in to the pages."""
    return request("ticket_new")


def artifact_upload(
    thread_id: str, content: bytes, *, name: str = "", type: ArtifactType | None = None
) -> Request[documents.ArtifactTold]:
    """Store bytes as they are."""
    query = {"name": name or None, "type": type}
    return request("artifact_upload", path={"thread": thread_id}, query=query, body=content)


def artifact_content(thread_id: str, ref: str) -> Request[bytes]:
    """All bytes of an artifact."""
    return request("artifact_content", path={"thread": thread_id, "ref": ref})


def cap_invoke(
    thread_id: str, capability: str, args: Mapping[str, Any], *, key: str = "", hops: int = 0,
    source_refs: Sequence[str] = (),
) -> Request[shapes.AnswerTold]:  # fmt: skip
    """Call a capability on behalf of a thread."""
    led = max(hops, led_here())
    body = shapes.NewCall(capability, thread_id, dict(args), key, led, list(source_refs))
    return request("cap_invoke", body=body)


def permission_answer(name: str, *, allows: bool) -> Request[shapes.DecisionTold]:
    """Answer an agent that waits for permission, as the person."""
    return request("permission_answer", path={"name": name}, body=shapes.NewDecision(allows))


def metrics() -> Request[bytes]:
    """The figures of services and calls, in the text format of Prometheus."""
    return request("metrics")


def session_end(
    thread_id: str,
    program: str,
    description: str,
    summary: str,
    exit_status: int = 0,
    *,
    key: str = "",
) -> Request[shapes.SessionTold]:
    """Leave the summary of a session in a thread."""
    body = shapes.NewSession(program, description, summary, exit_status)
    return request(
        "session_end", path={"thread": thread_id}, body=body, headers={"Idempotency-Key": key}
    )


def thread_export(thread_id: str) -> Request[bytes]:
    """Everything that a thread consists of, as a ZIP archive."""
    return request("thread_export", path={"thread": thread_id})


def thread_import(bundle: bytes) -> Request[documents.ThreadTold]:
    """The thread of a bundle as one of this relay."""
    return request("thread_import", body=bundle)


def token_new(
    identity: str,
    *,
    kind: Literal["person", "agent"] = "person",
    tenant: str = "default",
    level: Literal["read", "write", "admin"] = "write",
    threads: Sequence[str] = (),
    channels: Sequence[str] = (),
    projects: Sequence[str] = (),
    days: int = 0,
    bearer: bool = False,
) -> Request[shapes.TokenMade]:
    """Make a token of an identity, or a code that a machine joins with."""
    body = shapes.NewToken(
        identity, kind, tenant, level, list(threads), list(channels), list(projects), days, bearer
    )
    return request("token_new", body=body)


def token_list() -> Request[shapes.TokensTold]:
    """List the tokens of identities."""
    return request("token_list")


def token_revoke(name: str) -> Request[shapes.TokensTold]:
    """End a token, or all of an identity, at once."""
    return request("token_revoke", path={"name": name})


def token_rotate(name: str) -> Request[shapes.TokenMade]:
    """Give a token a new secret."""
    return request("token_rotate", path={"name": name})


def join(code: str, machine: str = "") -> Request[shapes.Joined]:
    """The token of a machine, for a code that works once."""
    return request("join", body=shapes.NewMachine(code, machine))


def audit(limit: int = 100) -> Request[shapes.AuditTold]:
    """The latest requests that were refused."""
    return request("audit", query={"limit": limit})
