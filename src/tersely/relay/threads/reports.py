"""Reports of threads: what was decided and done, and what it cost, for a person or a program."""

from __future__ import annotations

from tersely.foundation.text.templates import from_template
from tersely.relay.artifacts import artifacts
from tersely.relay.artifacts.artifacts import Artifact, CountTokens, Origin
from tersely.relay.encoding import encode
from tersely.relay.store.commands import StoreBatch
from tersely.relay.store.store import Store
from tersely.relay.store.streams import REPORT_GENERATED, happened
from tersely.relay.threads import threads
from tersely.relay.threads.accounting import savings
from tersely.relay.wire.documents import Savings

_LISTED_ARTIFACTS = 50


def write(
    store: Store, thread_id: str, kind: str, actor: str, count_tokens: CountTokens
) -> tuple[Artifact, str, Savings]:
    """A report as an artifact of its thread, with its text and the figures in it. `kind` is md or
    json.
    """
    thread = threads.get(store, thread_id)
    state = threads.state(store, thread_id)
    figures = savings(store, f"thread/{thread_id}")
    found = artifacts.listed(store, thread_id, limit=_LISTED_ARTIFACTS)
    if kind == "json":
        listed = [
            {"ref": one.ref, "name": one.name, "type": one.type, "size": one.size_bytes}
            for one in found
        ]
        about = thread.told(state["version"])
        text = encode(
            {"thread": about, "state": state, "artifacts": listed, "token_savings": figures}
        ).decode()
    else:
        text = from_template(
            "relay/threads/report.jinja",
            thread=thread,
            state=state,
            artifacts=found,
            figures=figures,
        )
    prepared = artifacts.prepare(
        store, thread_id, [text.encode()], count_tokens, name=f"report.{kind}",
        kind="json" if kind == "json" else "markdown", origin=Origin(actor, "report"), is_searched=False,
    )  # fmt: skip
    told = {"artifact_ref": prepared.artifact.ref, "format": kind, "by": actor}
    store.commit(StoreBatch((*prepared.commands, happened(thread_id, REPORT_GENERATED, told))))
    return artifacts.get(store, thread_id, prepared.artifact.ref), text, figures
