"""Artifacts as the doors of questions use them: what a reference means, and answers that are kept."""

from __future__ import annotations

from tersely.capabilities.declaration.references import Referred
from tersely.client.asking import Client
from tersely.client.request import ask
from tersely.foundation.limits import MAX_REFERRED_BYTES
from tersely.foundation.types import JsonObject


def referred(relay: Client, ref: str) -> Referred:
    """The artifact that `cass://` and a hash, or the beginning of one, means; the text of what is
    long is its preview.
    """
    found = relay.ask("artifact.get", ref=ref)
    is_whole = found.type != "binary" and found.size <= MAX_REFERRED_BYTES
    text = found.preview.text
    if is_whole:
        text = relay(ask("artifact_content", thread=found.thread_id, ref=found.ref)).decode(
            "utf-8", "replace"
        )
    return Referred(found.ref, found.name, found.type, found.size, text, is_whole)


def kept(relay: Client, text: str, name: str, tokens: int) -> JsonObject:
    """Keep an answer: its reference, what it is in one line, and its preview. `text` is the
    reference.
    """
    made = relay.ask("artifact.put", content=text, name=name, type="code")
    lines = text.count("\n")
    return {
        "uri": made.uri,
        "short": made.short,
        "ref": made.ref,
        "name": name,
        "tokens": tokens,
        "size": made.size,
        "preview": made.preview.text,
        "summary": f"{name}: {tokens:,} tokens on {lines:,} line{'s' * (lines != 1)}",
        "text": f"{made.uri}\n",
    }
