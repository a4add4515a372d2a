"""The files of a bundle. A bundle is a ZIP archive whose manifest names every file with its size
and SHA-256.

    manifest.json       schema, what the thread is, and the files
    events.jsonl        one event a line, in order
    versions.jsonl      one version of the state a line: the first in full, the others by the patch
                        that led to them
    artifacts.jsonl     one artifact a line: what is known of it
    blobs/<sha256>      their bytes

The same thread gives the same bytes: names are sorted and times in the archive are fixed.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from msgspec import Meta, Raw, Struct

from tersely.foundation.limits import MAX_NAME_CHARACTERS, MAX_REFS

Type = Literal["text", "markdown", "json", "html", "log", "tool_output", "email", "code", "binary"]

SCHEMA = "com.relay.bundle.v1"
MANIFEST = "manifest.json"
EVENTS = "events.jsonl"
VERSIONS = "versions.jsonl"
ARTIFACTS = "artifacts.jsonl"
BLOBS = "blobs/"
TEXTS = (EVENTS, VERSIONS, ARTIFACTS)


class ListedFile(NamedTuple):
    """One file as the manifest has it."""

    size: int
    sha256: str


class Manifest(Struct, forbid_unknown_fields=True):
    """The description of a bundle and of what it holds."""

    schema: str
    thread_id: str
    name: str
    created_at: str
    created_by: str
    files: dict[str, ListedFile]


class EventLine(Struct, forbid_unknown_fields=True):
    """One event."""

    type: str
    at_ms: int
    payload: Raw


class VersionLine(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One version of the state. `body` is there for the first, `change` for the others."""

    at_ms: int
    by: str
    body: Raw = Raw()
    change: Raw = Raw()


class ArtifactLine(Struct, forbid_unknown_fields=True):
    """One artifact: its hash, and what its thread was told of it. Its preview is made again from
    its bytes.
    """

    digest: str
    size: int
    name: Annotated[str, Meta(max_length=MAX_NAME_CHARACTERS)]
    type: Type
    mime: Annotated[str, Meta(max_length=100)]
    at_ms: int
    by: Annotated[str, Meta(max_length=MAX_NAME_CHARACTERS)]
    capability: Annotated[str, Meta(max_length=MAX_NAME_CHARACTERS)]
    source_refs: Annotated[list[str], Meta(max_length=MAX_REFS)]
