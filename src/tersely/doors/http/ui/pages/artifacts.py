"""The artifacts of a thread, and one of them: what is known of it, its preview, and its text as it is.

Nothing of an artifact is ever markup: Markdown and HTML are shown as their source.
"""

from __future__ import annotations

import json
from itertools import islice

from tersely.doors.http.ui.layout import (
    Column,
    Shown,
    Visit,
    actor,
    address,
    badge,
    by_agents,
    figures,
    older,
    section,
    short,
    table,
    untrusted,
    when,
)
from tersely.doors.http.ui.markup import Child, Element, e
from tersely.doors.http.ui.pages.frame import framed
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import BLOB_CHUNK_BYTES, MAX_UI_SHOWN_BYTES, UI_PAGE_ROWS
from tersely.relay import artifacts
from tersely.relay.artifacts import SCHEME, Artifact
from tersely.relay.store.store import Store

MAX_UI_IMAGE_BYTES = 5_000_000

# Formats of images that are drawn and cannot do anything else, by how they begin.
_IMAGES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF87a": "image/gif",
           b"GIF89a": "image/gif"}  # fmt: skip


def artifacts_page(visit: Visit) -> Shown:
    """One page of the list, the oldest first."""
    thread_id = visit.path["thread_id"]
    after = visit.query.get("after", "")
    start = int(after) if after.isascii() and after.isdigit() and len(after) <= 15 else 0
    found = artifacts.listed(visit.relay.store, thread_id, start, UI_PAGE_ROWS)
    columns = (
        Column("Artifact"), Column("Type"), Column("Bytes", True), Column("Tokens", True, True),
        Column("In the preview", True, True), Column("From", is_wide=True), Column("Stored", is_wide=True),
    )  # fmt: skip
    rows = [_row(one) for one in found]
    listed = table("Artifacts, the oldest first", columns, rows, "There are no artifacts here.")
    target = address("threads", thread_id, "artifacts", after=found[-1].number) if found else ""
    more = older(target, "Newer") if len(found) == UI_PAGE_ROWS else None
    return framed(visit, "Artifacts", section("Artifacts", listed, more, note=by_agents("the oldest first")))


def _row(one: Artifact) -> list[Child]:
    target = address("threads", one.thread_id, "artifacts", one.ref)
    naive, actual = one.sizes
    origin: Child = [actor(one.origin.actor), " ", e("code", one.origin.capability) if one.origin.capability else None]
    return [
        [e("a", e("bdi", one.name or "unnamed"), href=target), e("small", short(one.ref), class_="id")],
        one.type, f"{one.size_bytes:,}", f"{naive.tokens:,}", f"{actual.tokens:,}", origin, when(one.created_at),
    ]  # fmt: skip


def artifact_page(visit: Visit) -> Shown:
    """One artifact."""
    store = visit.relay.store
    found = artifacts.get(store, visit.path["thread_id"], visit.path["ref"])
    naive, actual = found.sizes
    numbers = figures(
        [("Type", found.type), ("Bytes", f"{found.size_bytes:,}"), ("Tokens it stands for", f"{naive.tokens:,}"),
         ("Tokens of its preview", f"{actual.tokens:,}")]
    )  # fmt: skip
    sources = [e("li", e("bdi", ref)) for ref in found.origin.source_refs]
    about = section(
        found.name or "unnamed",
        untrusted(found.origin.actor, found.origin.capability),
        numbers,
        e("p", e("code", SCHEME + found.ref, class_="whole-ref")),
        [e("h3", "Made from"), e("ul", sources, class_="plain")] if sources else None,
        e("p", e("a", "Download", href=_below(found, "content"), class_="more"), e("small", "as plain bytes")),
        note=["stored ", when(found.created_at)],
        id="artifact",
    )
    cut = badge("shortened", "muted") if found.preview.truncated else badge("whole", "good")
    preview = section("Preview", _text(found.preview.text, "Preview"), note=[cut, " what agents are sent in its place"])
    has_more = found.preview.truncated or found.type in {"binary", "json"}
    content = _content(store, found) if has_more else None
    return framed(visit, "Artifacts", e("div", about, preview, content), is_below=True)


def image(visit: Visit) -> tuple[bytes, str]:
    """The bytes of an artifact that is an image, and its type; raises `artifact_not_found` for what is none."""
    found = artifacts.get(visit.relay.store, visit.path["thread_id"], visit.path["ref"])
    kind = _image_type(_head(visit.relay.store, found, 16)) if found.size_bytes <= MAX_UI_IMAGE_BYTES else None
    if kind is None:
        raise TerselyError("artifact_not_found", "this artifact is not an image that is shown", "download it")
    return b"".join(visit.relay.store.blob(found.digest)), kind


def _content(store: Store, found: Artifact) -> Element | None:
    head = _head(store, found, MAX_UI_SHOWN_BYTES)
    is_cut = len(head) < found.size_bytes
    left = [badge("shortened", "muted"), f" the first {len(head):,} of {found.size_bytes:,} bytes"] if is_cut else None
    if found.type != "binary":
        text = head.decode("utf-8", "replace")
        return section("Content", _text(text if is_cut else _laid_out(found.type, text), "Content"), note=left)
    if _image_type(head) is None or found.size_bytes > MAX_UI_IMAGE_BYTES:
        return None
    named = f"Image of the artifact {found.name or found.ref[:12]}"
    picture = e("img", src=_below(found, "image"), alt=named, class_="artifact-image", loading="lazy")
    return section("Content", e("p", picture))


def _laid_out(kind: str, text: str) -> str:
    """JSON with a member a line; as it is where that fails."""
    if kind != "json":
        return text
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text


def _text(text: str, name: str) -> Element:
    return e("pre", text, class_="text", tabindex=0, role="region", aria_label=name)


def _head(store: Store, found: Artifact, most_bytes: int) -> bytes:
    """The beginning of an artifact; no more than a chunk beyond it is read."""
    chunks = islice(store.blob(found.digest), most_bytes // BLOB_CHUNK_BYTES + 1)
    return b"".join(chunks)[:most_bytes]


def _image_type(head: bytes) -> str | None:
    return next((kind for magic, kind in _IMAGES.items() if head.startswith(magic)), None)


def _below(found: Artifact, part: str) -> str:
    return address("threads", found.thread_id, "artifacts", found.ref, part)
