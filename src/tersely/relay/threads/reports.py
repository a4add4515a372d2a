"""Reports of threads: what was decided and done, and what it cost, for a person or a program."""

from __future__ import annotations

from typing import Any

from tersely.foundation.types import JsonObject
from tersely.relay.artifacts import artifacts
from tersely.relay.artifacts.artifacts import Artifact, CountTokens, Origin
from tersely.relay.encoding import encode
from tersely.relay.store.commands import StoreBatch
from tersely.relay.store.store import Store
from tersely.relay.store.streams import REPORT_GENERATED, happened
from tersely.relay.threads import threads
from tersely.relay.threads.accounting import savings

_LISTED_ARTIFACTS = 50


def write(
    store: Store, thread_id: str, kind: str, actor: str, count_tokens: CountTokens
) -> tuple[Artifact, str, JsonObject]:
    """A report as an artifact of its thread, with its text and the figures in it. `kind` is md or
    json.
    """
    thread = threads.get(store, thread_id)
    state = threads.state(store, thread_id)
    figures = savings(store, f"thread/{thread_id}").told()
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
        text = _markdown(thread, state, found, figures)
    prepared = artifacts.prepare(
        store, thread_id, [text.encode()], count_tokens, name=f"report.{kind}",
        kind="json" if kind == "json" else "markdown", origin=Origin(actor, "report"), is_searched=False,
    )  # fmt: skip
    told = {"artifact_ref": prepared.artifact.ref, "format": kind, "by": actor}
    store.commit(StoreBatch((*prepared.commands, happened(thread_id, REPORT_GENERATED, told))))
    return artifacts.get(store, thread_id, prepared.artifact.ref), text, figures


def _markdown(
    thread: threads.Thread, state: JsonObject, found: list[Artifact], figures: JsonObject
) -> str:
    lines = [
        f"# {_plain(thread.name) or thread.thread_id}",
        "",
        f"Thread {thread.thread_id}, state v{state['version']}",
    ]
    lines += _section(
        "Facts", [f"{_plain(one.get('key'))}: {_plain(one.get('value'))}" for one in state["facts"]]
    )
    lines += _section(
        "Constraints", [_plain(one.get("description")) for one in state["constraints"]]
    )
    lines += _section("Decisions", [_plain(one.get("description")) for one in state["decisions"]])
    questions = [
        f"[{one.get('status', 'open')}] {_plain(one.get('question'))}"
        for one in state["open_questions"]
    ]
    lines += _section("Questions", questions)
    lines += _section(
        "Plan",
        [f"[{one.get('status', 'pending')}] {_plain(one.get('step'))}" for one in state["plan"]],
    )
    listed = [
        f"`{one.ref[:12]}` {_plain(one.name)} ({one.type}, {one.size_bytes:,} bytes)"
        for one in found
    ]
    lines += _section("Artifacts", listed)
    lines += ["", "## Tokens", "", "| | tokens | characters / 4 |", "|---|---:|---:|"]
    for name in ("naive", "actual", "avoided"):
        lines.append(
            f"| {name} | {figures[name + '_tokens']:,} | {figures['estimate'][name + '_tokens']:,} |"
        )
    hits = (
        f"{figures['invocations']:,} calls, {figures['cache_hits']:,} of them answered from memory"
    )
    return "\n".join([*lines, "", hits, ""])


def _section(title: str, items: list[str]) -> list[str]:
    return ["", f"## {title}", "", *(f"- {item}" for item in items)] if items else []


def _plain(value: Any) -> str:
    """A value of somebody else's on one line."""
    return " ".join(str("" if value is None else value).split())
