"""Artifacts: what agents refer to instead of sending it. Addressed by the SHA-256 of their bytes,
and never changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple
from typing import Any, NamedTuple

from msgspec import UNSET

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_BLOB_BYTES, MAX_READ_ENTRIES
from tersely.foundation.types import Strings, frozen, replace
from tersely.relay.artifacts.preview.make import (
    TYPES,
    ArtifactEnds,
    ArtifactPreview,
    is_text,
    preview,
)
from tersely.relay.encoding import decode, encode, timestamp
from tersely.relay.store.commands import (
    Attach,
    Attached,
    Command,
    Count,
    Detach,
    KeptBlob,
    StoreBatch,
)
from tersely.relay.store.store import Store
from tersely.relay.store.streams import ARTIFACT_CREATED, ARTIFACT_REMOVED, THREAD, happened
from tersely.relay.threads import threads
from tersely.relay.threads.accounting import CHARACTERS_A_TOKEN, Size, scopes, spent
from tersely.relay.wire.documents import ArtifactTold, Provenance

PREVIEW_HEAD_BYTES = 262_144  # of an artifact that a preview is made from
PREVIEW_TAIL_BYTES = 65_536
SEARCHED_BYTES = 200_000  # of an artifact that are in the index of words; the rest is read
MIN_REF_CHARACTERS = 6  # of an artifact's hash that stand for it
SCHEME = "cass://"
_HEXADECIMAL = re.compile(r"[0-9a-f]{1,64}")
_TYPE_OF_ENDING = {
    "md": "markdown", "markdown": "markdown", "json": "json", "html": "html", "htm": "html", "log": "log",
    "eml": "email", "txt": "text",
}  # fmt: skip
_MIME = {
    "json": "application/json",
    "markdown": "text/markdown",
    "html": "text/html",
    "binary": "application/octet-stream",
}

CountTokens = Callable[[str], int]


class Origin(NamedTuple):
    """The origin of an artifact. What was not made by the relay's own code is untrusted text."""

    actor: str
    capability: str = ""
    source_refs: Strings = ()


@frozen
class Artifact:
    """An artifact of a thread, without its content."""

    thread_id: str
    digest: str
    name: str
    type: str
    mime: str
    size_bytes: int
    preview: ArtifactPreview
    created_ms: int  # since 1970
    origin: Origin
    sizes: tuple[Size, Size]  # what it stands for, and its preview
    number: int = 0  # 1, 2, … in its thread; 0 before it is kept

    @property
    def created_at(self) -> str:
        """The time at which it was stored, as ISO 8601 in UTC."""
        return timestamp(self.created_ms)

    @property
    def ref(self) -> str:
        """The reference of the artifact: its SHA-256 in hexadecimal."""
        return self.digest

    def told(self, short: str = "", text: str = "") -> ArtifactTold:
        """The artifact as doors send it, with its short reference and lines of it if they are given."""
        origin = self.origin
        return ArtifactTold(
            self.ref,
            SCHEME + self.ref,
            self.thread_id,
            self.type,
            self.mime,
            self.name,
            self.size_bytes,
            self.digest,
            self.preview.told(),
            Provenance(
                origin.actor,
                self.created_at,
                "untrusted",
                list(origin.source_refs),
                origin.capability or UNSET,
            ),
            self.created_at,
            short or UNSET,
            text or UNSET,
        )


class Prepared(NamedTuple):
    """An artifact whose bytes are on the disk, with the commands that make it one of a thread's."""

    artifact: Artifact
    commands: tuple[Command, ...]
    taken: KeptBlob


class Taken(NamedTuple):
    """Bytes that are on the disk and not kept yet, with what is known of them."""

    keep: KeptBlob
    content: ArtifactEnds


def take_in(store: Store, chunks: Iterable[bytes], most_bytes: int = MAX_BLOB_BYTES) -> Taken:
    """Bring the bytes of an artifact to the disk as they come."""
    ends = _BlobEnds()
    keep = store.take_in(ends.passing(chunks), most_bytes)
    return Taken(keep, ends.content())


def described(
    thread_id: str,
    taken: Taken,
    count_tokens: CountTokens,
    created_ms: int,
    *,
    name: str = "",
    kind: str = "",
    mime: str = "",
    origin: Origin,
    replaced: Size | None = None,
    inline_bytes: int = 0,
) -> Artifact:
    """The artifact of a thread that a content is which was taken in. `replaced` is what it stands
    for, where that is not itself.

    Text of at most `inline_bytes` is sent whole with the reference, anything else by its preview.
    """
    kind = kind or _type_of(name, taken.content)
    shown = preview(taken.content, kind)
    return Artifact(
        thread_id, taken.keep.digest, name, kind, mime or _MIME.get(kind, "text/plain"), taken.keep.size_bytes, shown,
        created_ms, origin, _sizes(taken.content, shown, count_tokens, replaced, inline_bytes),
    )  # fmt: skip


def keeping(artifact: Artifact, taken: Taken, *, is_searched: bool = True) -> Iterator[Command]:
    """The commands that make what was taken in an artifact, with its figures. What is not searched
    is not found by its words, as what a search has found must not be by the next.
    """
    is_searched = is_searched and is_text(taken.content.head)
    text = taken.content.head[:SEARCHED_BYTES].decode("utf-8", "replace") if is_searched else ""
    yield taken.keep
    yield from _attachment(artifact, text)
    where = scopes(
        artifact.thread_id, artifact.origin.actor, artifact.origin.capability, artifact.created_ms
    )
    yield from spent(where, *artifact.sizes, artifacts=1)


def prepare(
    store: Store,
    thread_id: str,
    chunks: Iterable[bytes],
    count_tokens: CountTokens,
    *,
    name: str = "",
    kind: str = "",
    is_searched: bool = True,
    most_bytes: int = MAX_BLOB_BYTES,
    **about: Any,
) -> Prepared:
    """A new artifact of a thread; nothing is kept before the commands are committed. `about` as of
    `described`.
    """
    _check(name, kind)
    threads.get(store, thread_id)
    taken = take_in(store, chunks, most_bytes)
    try:
        artifact = described(
            thread_id, taken, count_tokens, store.now_ms(), name=name, kind=kind, **about
        )
    except BaseException:
        store.let_go(taken.keep)
        raise
    commands = (
        *keeping(artifact, taken, is_searched=is_searched),
        _created(artifact, artifact.origin.actor),
    )
    return Prepared(artifact, commands, taken.keep)


def put(
    store: Store,
    thread_id: str,
    chunks: Iterable[bytes],
    count_tokens: CountTokens,
    key: str = "",
    **about: Any,
) -> Artifact:
    """Store an artifact of a thread and tell so.

    The same bytes again are the artifact that there is already, unless they come under another
    name.
    """
    prepared = prepare(store, thread_id, chunks, count_tokens, **about)
    artifact = prepared.artifact
    there = _same_artifact(store, artifact)
    if there is not None:
        store.let_go(prepared.taken)
        return there
    full_key = f"artifact/{artifact.origin.actor}/{key}" if key else ""
    store.commit(
        StoreBatch(
            prepared.commands,
            full_key,
            f"{artifact.digest} {artifact.name}".encode() if key else b"",
        )
    )
    return _same_artifact(store, artifact) or get(store, thread_id, artifact.digest)


def get(store: Store, thread_id: str, ref: str) -> Artifact:
    """The artifact of a thread that a reference means, under the first of its names.

    Raises `artifact_not_found` or `ambiguous_artifact`.
    """
    found = store.attached(_owner(thread_id), resolve(store, ref))
    if not found:
        threads.get(store, thread_id)
        raise TerselyError(
            "artifact_not_found", f"the thread has no artifact {ref[:80]}", "list those it has"
        )
    return _artifact(thread_id, found[0])


def listed(
    store: Store, thread_id: str, after: int = 0, limit: int = MAX_READ_ENTRIES
) -> list[Artifact]:
    """The artifacts of a thread, the oldest first."""
    found = store.attachments(_owner(thread_id), after, limit)
    if not found:
        threads.get(store, thread_id)
    return [_artifact(thread_id, one) for one in found]


def content(store: Store, thread_id: str, ref: str) -> Iterator[bytes]:
    """The bytes of an artifact of a thread in chunks, verified when the last has been read."""
    return store.blob(get(store, thread_id, ref).digest)


def shared(store: Store, artifact: Artifact, thread_id: str, actor: str) -> Artifact:
    """The same artifact as one of another thread, which then keeps it by itself."""
    if not store.attached(_owner(thread_id), artifact.digest):
        here = replace(artifact, thread_id=thread_id, created_ms=store.now_ms())
        text = "" if artifact.type == "binary" else _searched(store, artifact.digest)
        store.commit(StoreBatch((*_attachment(here, text), _created(here, actor))))
    return get(store, thread_id, artifact.digest)


def remove(store: Store, thread_id: str, ref: str, actor: str) -> Artifact:
    """Take an artifact out of a thread, under all its names. Its bytes go when no thread refers to
    them.
    """
    artifact = get(store, thread_id, ref)
    told = {"ref": artifact.ref, "by": actor}
    owner = _owner(thread_id)
    detached = [Detach(owner, one.name) for one in store.attached(owner, artifact.digest)]
    store.commit(StoreBatch((*detached, happened(thread_id, ARTIFACT_REMOVED, told))))
    return artifact


def searched_in(thread_id: str) -> str:
    """The scope of the counter of what can be searched in a thread."""
    return f"searched in {thread_id}"


def resolve(store: Store, ref: str) -> str:
    """The whole hash that `cass://` and a hash or the beginning of one means, of at least six
    characters.
    """
    digits = ref.removeprefix(SCHEME).lower()
    if not _HEXADECIMAL.fullmatch(digits) or len(digits) < MIN_REF_CHARACTERS:
        hint = f"write {SCHEME} and at least {MIN_REF_CHARACTERS} digits of its hash"
        raise TerselyError(
            "invalid_argument", f"{ref[:80]!r} is not a reference to an artifact", hint
        )
    found = store.digests(digits, 2)
    if not found:
        raise TerselyError(
            "artifact_not_found", f"there is no artifact {ref[:80]}", "it may have been swept away"
        )
    if len(found) > 1:
        raise TerselyError(
            "ambiguous_artifact", f"{ref[:80]} may mean several artifacts", "write more of its hash"
        )
    return found[0]


def short(store: Store, digest: str) -> str:
    """`cass://` and as many digits of a hash as mean no other artifact now, at least
    `MIN_REF_CHARACTERS`.
    """
    length = MIN_REF_CHARACTERS
    while length < len(digest) and len(store.digests(digest[:length], 2)) > 1:
        length += 1
    return SCHEME + digest[:length]


class _BlobEnds:
    """Both ends of what passes."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = b""
        self._size = 0

    def passing(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            room = PREVIEW_HEAD_BYTES - len(self._head)
            self._head += chunk[:room]
            self._tail = (self._tail + chunk[max(room, 0) :])[-PREVIEW_TAIL_BYTES:]
            self._size += len(chunk)
            yield chunk

    def content(self) -> ArtifactEnds:
        return ArtifactEnds(bytes(self._head), self._tail, self._size)


def _owner(thread_id: str) -> str:
    return THREAD + thread_id


def _same_artifact(store: Store, artifact: Artifact) -> Artifact | None:
    """The artifact of a thread that has the same bytes and, if a name is wanted, the same name."""
    found = [
        _artifact(artifact.thread_id, one)
        for one in store.attached(_owner(artifact.thread_id), artifact.digest)
    ]
    return next((one for one in found if artifact.name in {"", one.name}), None)


def _check(name: str, kind: str) -> None:
    threads.check_name(name)
    if kind and kind not in TYPES:
        raise TerselyError(
            "invalid_argument", f"there is no type {kind[:40]!r}", f"one of {', '.join(TYPES)}"
        )


def _type_of(name: str, content: ArtifactEnds) -> str:
    if not is_text(content.head):
        return "binary"
    return _TYPE_OF_ENDING.get(name.rpartition(".")[2].lower(), "text")


def _sizes(
    content: ArtifactEnds,
    shown: ArtifactPreview,
    count_tokens: CountTokens,
    replaced: Size | None,
    inline_bytes: int,
) -> tuple[Size, Size]:
    """The size of what the artifact stands for, and of what is sent of it. Of a long one, the
    beginning is counted and scaled.
    """
    is_whole = content.size_bytes <= inline_bytes and is_text(content.head)
    sent = content.head.decode("utf-8", "replace") if is_whole else shown.text
    actual = Size(count_tokens(sent), len(sent))
    if replaced is not None:
        return replaced, actual
    if not is_text(content.head):
        return Size(content.size_bytes // CHARACTERS_A_TOKEN, content.size_bytes), actual
    text = content.head.decode("utf-8", "replace")
    read = max(len(content.head), 1)
    naive = Size(
        count_tokens(text) * content.size_bytes // read, len(text) * content.size_bytes // read
    )
    return naive, actual


def _attachment(artifact: Artifact, text: str) -> Iterator[Command]:
    about = {
        "name": artifact.name,
        "type": artifact.type,
        "mime": artifact.mime,
        "preview": list(artifact.preview),
        "origin": [
            artifact.origin.actor,
            artifact.origin.capability,
            list(artifact.origin.source_refs),
        ],
        "sizes": [list(astuple(size)) for size in artifact.sizes],
    }
    words = f"{artifact.name}\n{text}" if text else ""
    place = f"{artifact.digest} {artifact.name}" if artifact.name else artifact.digest
    yield Attach(
        _owner(artifact.thread_id),
        place,
        artifact.digest,
        encode(about),
        words,
        artifact.created_ms,
    )
    if words:
        yield Count(searched_in(artifact.thread_id), "artifacts")


def _created(artifact: Artifact, actor: str) -> Command:
    told = {
        "ref": artifact.ref,
        "name": artifact.name,
        "type": artifact.type,
        "size": artifact.size_bytes,
    }
    return happened(artifact.thread_id, ARTIFACT_CREATED, {**told, "by": actor})


def _searched(store: Store, digest: str) -> str:
    head = bytearray()
    for chunk in store.blob(digest):
        head += chunk
        if len(head) >= SEARCHED_BYTES:
            break
    return head[:SEARCHED_BYTES].decode("utf-8", "replace")


def _artifact(thread_id: str, found: Attached) -> Artifact:
    about = decode(found.body)
    actor, capability, source_refs = about["origin"]
    naive, actual = (Size(*size) for size in about["sizes"])
    return Artifact(
        thread_id, found.digest, about["name"], about["type"], about["mime"], found.size_bytes,
        ArtifactPreview(*about["preview"]), found.at_ms, Origin(actor, capability, tuple(source_refs)),
        (naive, actual), found.number,
    )  # fmt: skip
