"""The artifacts of a thread, and one of them: what is known of it, its preview, and its text as it
is.

Nothing of an artifact is ever markup: Markdown and HTML are shown as their source.
"""

from __future__ import annotations

import json
from itertools import islice

from tersely.doors.http.ui.pages.of_thread.frame import of_thread
from tersely.doors.http.ui.rendering import ShownPage, Visit
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import BLOB_CHUNK_BYTES, MAX_UI_SHOWN_BYTES, UI_PAGE_ROWS
from tersely.relay.artifacts import artifacts
from tersely.relay.artifacts.artifacts import SCHEME, Artifact
from tersely.relay.store.store import Store

MAX_UI_IMAGE_BYTES = 5_000_000

# Formats of images that are drawn and cannot do anything else, by how they begin.
_IMAGES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF87a": "image/gif",
           b"GIF89a": "image/gif"}  # fmt: skip


def artifacts_page(visit: Visit) -> ShownPage:
    """One page of the list, the oldest first."""
    thread_id, after = visit.path["thread_id"], visit.number("after")
    found = artifacts.listed(visit.relay.store, thread_id, after or 0, UI_PAGE_ROWS)
    has_newer = len(found) == UI_PAGE_ROWS
    newer = (
        (("threads", thread_id, "artifacts"), {"after": found[-1].number}) if has_newer else None
    )
    return of_thread(visit, "Artifacts", {"found": found, "newer": newer})


def _found(visit: Visit) -> Artifact:
    return artifacts.get(visit.relay.store, visit.path["thread_id"], visit.path["ref"])


def artifact_page(visit: Visit) -> ShownPage:
    """One artifact."""
    found = _found(visit)
    head = _head(visit.relay.store, found, MAX_UI_SHOWN_BYTES)
    is_binary = found.type == "binary"
    is_text_left = not is_binary and (found.preview.truncated or found.type == "json")
    is_image = (
        is_binary and _image_type(head) is not None and found.size_bytes <= MAX_UI_IMAGE_BYTES
    )
    values = {
        "found": found,
        "scheme": SCHEME,
        "content": _text(found, head) if is_text_left else None,
        "shown_bytes": len(head),
        "is_image": is_image,
    }
    return of_thread(visit, "Artifacts", values, template="artifact", is_live=False)


def image(visit: Visit) -> tuple[bytes, str]:
    """The bytes of an artifact that is an image, and its type; raises `artifact_not_found` for what
    is none.
    """
    found = _found(visit)
    kind = (
        _image_type(_head(visit.relay.store, found, 16))
        if found.size_bytes <= MAX_UI_IMAGE_BYTES
        else None
    )
    if kind is None:
        raise TerselyError(
            "artifact_not_found", "this artifact is not an image that is shown", "download it"
        )
    return b"".join(visit.relay.store.blob(found.digest)), kind


def _text(found: Artifact, head: bytes) -> str:
    text = head.decode("utf-8", "replace")
    return text if len(head) < found.size_bytes else _laid_out(found.type, text)


def _laid_out(kind: str, text: str) -> str:
    """JSON with a member a line; as it is where that fails."""
    if kind != "json":
        return text
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text


def _head(store: Store, found: Artifact, most_bytes: int) -> bytes:
    """The beginning of an artifact; no more than a chunk beyond it is read."""
    chunks = islice(store.blob(found.digest), most_bytes // BLOB_CHUNK_BYTES + 1)
    return b"".join(chunks)[:most_bytes]


def _image_type(head: bytes) -> str | None:
    return next((kind for magic, kind in _IMAGES.items() if head.startswith(magic)), None)
