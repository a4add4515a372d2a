"""Writing a thread out as a bundle."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from hashlib import sha256
from typing import IO

from msgspec import Raw

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import (
    MAX_BUNDLE_BYTES,
    MAX_BUNDLE_FILES,
    MAX_BUNDLE_LINES,
    MAX_BUNDLE_STATE_BYTES,
    MAX_BUNDLE_TEXT_BYTES,
    MAX_READ_ENTRIES,
    SNAPSHOT_VERSIONS,
)
from tersely.relay.encoding import canonical, decode, encode
from tersely.relay.store.commands import Attached
from tersely.relay.store.store import Store, paged
from tersely.relay.store.streams import STATE, THREAD
from tersely.relay.threads import threads
from tersely.relay.threads.bundles.format import (
    ARTIFACTS,
    BLOBS,
    EVENTS,
    MANIFEST,
    SCHEMA,
    VERSIONS,
    ArtifactLine,
    EventLine,
    ListedFile,
    Manifest,
    VersionLine,
)

_FIXED_TIME = (1980, 1, 1, 0, 0, 0)


def write(store: Store, thread_id: str, file: IO[bytes]) -> Manifest:
    """Write everything that a thread consists of as a ZIP archive; raises `payload_too_large`."""
    thread = threads.get(store, thread_id)
    kept = list(paged(store.attachments, THREAD + thread_id))
    lines = {
        ARTIFACTS: (encode(_artifact(one)) for one in kept),
        EVENTS: _events(store, thread_id),
        VERSIONS: _versions(store, thread_id),
    }
    texts = {name: _joined(name, found) for name, found in lines.items()}
    files = {name: ListedFile(len(text), sha256(text).hexdigest()) for name, text in texts.items()}
    files |= {BLOBS + one.digest: ListedFile(one.size_bytes, one.digest) for one in kept}
    _check_size(files)
    manifest = Manifest(SCHEMA, thread_id, thread.name, thread.created_at, thread.created_by, files)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_member(MANIFEST), canonical(manifest))
        for name in sorted(texts):
            archive.writestr(_member(name), texts[name])
        for digest in sorted({one.digest for one in kept}):
            with archive.open(_member(BLOBS + digest), "w", force_zip64=True) as member:
                for chunk in store.blob(digest):
                    member.write(chunk)
    return manifest


def _events(store: Store, thread_id: str) -> Iterator[bytes]:
    for entry in paged(store.entries, THREAD + thread_id):
        yield encode(EventLine(entry.kind, entry.at_ms, Raw(entry.body)))


def _versions(store: Store, thread_id: str) -> Iterator[bytes]:
    name = STATE + thread_id
    if store.snapshot_bytes(name) * SNAPSHOT_VERSIONS > MAX_BUNDLE_STATE_BYTES:
        message = f"the versions of its state have over {MAX_BUNDLE_STATE_BYTES:,} bytes together"
        raise TerselyError(
            "payload_too_large", message, "the relay's home can be copied while no relay runs"
        )
    first = store.version(name, 1, lambda body, change: body)
    assert first is not None
    yield encode(VersionLine(first.at_ms, first.author, body=Raw(first.body)))
    found = store.document(name)
    last = found[0] if found else 1
    for start in range(2, last + 1, MAX_READ_ENTRIES):
        end = min(last + 1, start + MAX_READ_ENTRIES)
        for one in reversed(store.versions(name, end, end - start)):
            yield encode(VersionLine(one.at_ms, one.author, change=Raw(one.change)))


def _artifact(one: Attached) -> ArtifactLine:
    about = decode(one.body)
    actor, capability, source_refs = about["origin"]
    return ArtifactLine(
        one.digest, one.size_bytes, about["name"], about["type"], about["mime"], one.at_ms, actor, capability,
        source_refs,
    )  # fmt: skip


def _joined(name: str, lines: Iterator[bytes]) -> bytes:
    held = bytearray()
    for number, line in enumerate(lines, 1):
        held += line + b"\n"
        if number > MAX_BUNDLE_LINES:
            raise TerselyError(
                "payload_too_large",
                f"{name} of the bundle would have over {MAX_BUNDLE_LINES:,} lines",
            )
        if len(held) > MAX_BUNDLE_TEXT_BYTES:
            raise TerselyError(
                "payload_too_large",
                f"{name} of the bundle would be above {MAX_BUNDLE_TEXT_BYTES:,} bytes",
            )
    return bytes(held)


def _check_size(files: dict[str, ListedFile]) -> None:
    size = sum(one.size for one in files.values())
    if size > MAX_BUNDLE_BYTES or len(files) > MAX_BUNDLE_FILES:
        message = f"a bundle has at most {MAX_BUNDLE_FILES:,} files of {MAX_BUNDLE_BYTES:,} bytes together"
        raise TerselyError("payload_too_large", message, "remove artifacts that are not needed")


def _member(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, _FIXED_TIME)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.external_attr = 0o600 << 16
    return member
