"""Making previews. A preview is text that steers no terminal and hides nothing, and says what it
leaves out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec import UNSET

from tersely.foundation.artifact_types import ArtifactType
from tersely.foundation.limits import PREVIEW_BYTES
from tersely.foundation.text.escape import visible
from tersely.relay.artifacts.preview.documents import of_html, of_json, of_markdown
from tersely.relay.artifacts.preview.lines import of_log, of_text
from tersely.relay.wire.documents import Preview

TYPES = tuple(kind.value for kind in ArtifactType)

# The beginnings of formats that are no text, whatever they are called.
_MAGIC = {
    b"\x89PNG\r\n": "PNG image", b"\xff\xd8\xff": "JPEG image", b"GIF8": "GIF image", b"%PDF-": "PDF document",
    b"PK\x03\x04": "ZIP archive", b"\x1f\x8b": "gzip data", b"\x7fELF": "ELF program",
    b"SQLite format 3\0": "SQLite database",
    b"\xfd7zXZ": "xz data", b"(\xb5/\xfd": "zstd data", b"RIFF": "RIFF media", b"\0asm": "WebAssembly module",
}  # fmt: skip


class ArtifactEnds(NamedTuple):
    """The content of an artifact as far as its preview needs it: both ends of it, and its size."""

    head: bytes
    tail: bytes  # empty where the head is everything
    size_bytes: int


class ArtifactPreview(NamedTuple):
    """A preview, and whether it leaves anything out."""

    text: str
    truncated: bool
    size_bytes: int  # of the artifact
    line_count: int | None  # of the artifact, None where not all of it was read

    def told(self) -> Preview:
        """The preview as doors send it."""
        lines = UNSET if self.line_count is None else self.line_count
        return Preview(self.text, self.truncated, self.size_bytes, lines)


def preview(content: ArtifactEnds, kind: str) -> ArtifactPreview:
    """The preview of an artifact of a type; content that is no text is described, whatever its type
    says.
    """
    text = _text(content)
    if text is None or kind == "binary":
        return ArtifactPreview(
            _described(content), bool(content.size_bytes), content.size_bytes, None
        )
    is_whole = not content.tail
    line_count = text.count("\n") + (not text.endswith("\n") and bool(text)) if is_whole else None
    if (
        is_whole
        and len(text.encode()) <= PREVIEW_BYTES
        and len(visible(text).encode()) <= PREVIEW_BYTES
    ):
        return ArtifactPreview(visible(text), False, content.size_bytes, line_count)
    tail = content.tail.decode("utf-8", "replace").lstrip("\ufffd")
    shown = _MAKE.get(kind, of_text)(text, tail, content.size_bytes)
    return ArtifactPreview(bounded(shown), True, content.size_bytes, line_count)


def bounded(text: str, most_bytes: int = PREVIEW_BYTES) -> str:
    """A text made harmless and cut, on a whole character, to a number of bytes of UTF-8."""
    text = visible(text[:most_bytes])
    encoded = text.encode()
    if len(encoded) <= most_bytes:
        return text
    mark = "…".encode()
    return encoded[: most_bytes - len(mark)].decode("utf-8", "ignore") + "…"


def is_text(head: bytes) -> bool:
    """True if bytes are the beginning of text in UTF-8."""
    return _decoded(head, is_cut=True) is not None


def _text(content: ArtifactEnds) -> str | None:
    return _decoded(content.head, is_cut=bool(content.tail))


def _decoded(head: bytes, *, is_cut: bool) -> str | None:
    if b"\0" in head or any(head.startswith(magic) for magic in _MAGIC):
        return None
    try:
        return head.decode()
    except UnicodeDecodeError as error:
        if is_cut and error.start >= len(head) - 3:
            return head[: error.start].decode()
        return None


def _described(content: ArtifactEnds) -> str:
    kind = next(
        (name for magic, name in _MAGIC.items() if content.head.startswith(magic)), "binary data"
    )
    return f"[{kind}, {content.size_bytes:,} bytes]"


_MAKE: dict[str, Callable[[str, str, int], str]] = {
    "json": of_json,
    "markdown": of_markdown,
    "html": of_html,
    "log": of_log,
    "tool_output": of_log,
}
