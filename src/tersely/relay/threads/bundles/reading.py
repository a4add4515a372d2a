"""Reading a bundle in. Everything is looked at before anything is kept: a bundle is taken whole or
refused whole.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import IO, NamedTuple, TypeVar

import msgspec

from tersely.foundation.errors import TerselyError
from tersely.foundation.ids import new_id
from tersely.foundation.limits import (
    BLOB_CHUNK_BYTES,
    MAX_BUNDLE_BYTES,
    MAX_BUNDLE_FILES,
    MAX_BUNDLE_LINES,
    MAX_BUNDLE_STATE_BYTES,
    MAX_BUNDLE_TEXT_BYTES,
)
from tersely.relay.artifacts.artifacts import (
    CountTokens,
    Origin,
    Taken,
    described,
    keeping,
    take_in,
)
from tersely.relay.encoding import decode, encode
from tersely.relay.store.commands import Append, Command, DocumentEdit, KeptBlob, StoreBatch, Write
from tersely.relay.store.store import INLINE_BLOB_BYTES, Store
from tersely.relay.store.streams import STATE, THREAD, THREAD_IMPORTED, happened
from tersely.relay.threads import state as states
from tersely.relay.threads import threads
from tersely.relay.threads.bundles.format import (
    ARTIFACTS,
    BLOBS,
    EVENTS,
    MANIFEST,
    SCHEMA,
    TEXTS,
    VERSIONS,
    ArtifactLine,
    EventLine,
    Manifest,
    VersionLine,
)
from tersely.relay.threads.threads import Thread

BUNDLE_SLICE_COMMANDS = 500  # written in one transaction
BUNDLE_SLICE_BYTES = 4_000_000
_SAID = "@"  # before the name of an author whom a bundle alone names: no name of an agent begins so
_AUTHORS = frozenset({"by", "created_by"})  # what events call them
LineT = TypeVar("LineT")
_RESERVING = Lock()
# homes, and the ids of threads that are being read into them
_reading_in: set[tuple[Path, str]] = set()
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
    OverflowError,
)


class _Sized(NamedTuple):
    """A command, with about how many bytes it writes."""

    command: Command
    size_bytes: int


class _Bundle(NamedTuple):
    """A bundle that has been looked at. Its blobs are on the disk, but not kept."""

    manifest: Manifest
    events: list[EventLine]
    versions: list[VersionLine]
    artifacts: list[ArtifactLine]
    blobs: dict[str, Taken]  # by hash


def read(store: Store, file: IO[bytes], actor: str, count_tokens: CountTokens) -> Thread:
    """The thread of a bundle as one of this store: under its own id, or a new one where that is
    taken.

    Raises `invalid_bundle` for whatever is not exactly what its manifest says.
    """
    taken: list[KeptBlob] = []
    try:
        try:
            with zipfile.ZipFile(file) as archive:
                bundle = _looked_at(archive, store, taken)
        except _DAMAGE as error:
            raise _invalid(f"it cannot be read: {str(error) or type(error).__name__}") from error
        return _kept(store, bundle, actor, count_tokens)
    finally:
        for keep in taken:
            store.let_go(keep)


def _looked_at(archive: zipfile.ZipFile, store: Store, taken: list[KeptBlob]) -> _Bundle:
    members = archive.infolist()
    if len(members) > MAX_BUNDLE_FILES:
        raise _invalid(f"it has more than {MAX_BUNDLE_FILES:,} files")
    names = [member.filename for member in members]
    if len(set(names)) != len(names) or MANIFEST not in names:
        raise _invalid("it has no manifest, or names a file twice")
    manifest = _decoded(MANIFEST, _text(archive, MANIFEST), Manifest)
    _check_manifest(manifest, set(names))
    texts = {name: _listed_text(archive, manifest, name) for name in TEXTS}
    artifacts = list(_lines(texts[ARTIFACTS], ArtifactLine))
    if {BLOBS + one.digest for one in artifacts} != {
        name for name in names if name.startswith(BLOBS)
    }:
        raise _invalid("its artifacts are not those that it lists")
    blobs = {}
    for one in {line.digest: line for line in artifacts}.values():
        blobs[one.digest] = _blob(archive, store, one)
        taken.append(blobs[one.digest].keep)
    events = list(_lines(texts[EVENTS], EventLine))
    versions = list(_lines(texts[VERSIONS], VersionLine))
    return _Bundle(manifest, events, versions, artifacts, blobs)


def _check_manifest(manifest: Manifest, names: set[str]) -> None:
    if manifest.schema != SCHEMA:
        raise _invalid(f"its schema is not {SCHEMA}")
    if set(manifest.files) | {MANIFEST} != names:
        raise _invalid("its files are not those of its manifest")
    for name, listed in manifest.files.items():
        is_blob = name.startswith(BLOBS) and name == BLOBS + listed.sha256
        if listed.size < 0 or not (name in TEXTS or is_blob):
            raise _invalid(f"{name[:80]!r} has no place in a bundle")
    if sum(listed.size for listed in manifest.files.values()) > MAX_BUNDLE_BYTES:
        raise _invalid(f"it has more than {MAX_BUNDLE_BYTES:,} bytes")


def _listed_text(archive: zipfile.ZipFile, manifest: Manifest, name: str) -> bytes:
    listed = manifest.files.get(name)
    if listed is None:
        raise _invalid(f"{name} is missing")
    text = _text(archive, name)
    if len(text) != listed.size or sha256(text).hexdigest() != listed.sha256:
        raise _invalid(f"{name} is not what its manifest says")
    return text


def _text(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as member:
        text = member.read(MAX_BUNDLE_TEXT_BYTES + 1)
    if len(text) > MAX_BUNDLE_TEXT_BYTES:
        raise _invalid(f"{name} has more than {MAX_BUNDLE_TEXT_BYTES:,} bytes")
    return text


def _blob(archive: zipfile.ZipFile, store: Store, line: ArtifactLine) -> Taken:
    def chunks() -> Iterator[bytes]:
        with archive.open(BLOBS + line.digest) as member:
            while chunk := member.read(BLOB_CHUNK_BYTES):
                yield chunk

    try:
        # What the archive says of a file's size is somebody's word: reading stops where the
        # manifest's ends.
        taken = take_in(store, chunks(), max(line.size, 0))
    except TerselyError as error:
        if error.code == "payload_too_large":
            raise _invalid(f"artifact {line.digest[:80]} is larger than it says") from None
        raise
    if taken.keep.digest != line.digest or taken.keep.size_bytes != line.size:
        store.let_go(taken.keep)
        raise _invalid(f"artifact {line.digest[:80]} is not what it says")
    return taken


def _kept(store: Store, bundle: _Bundle, actor: str, count_tokens: CountTokens) -> Thread:
    manifest = bundle.manifest
    with _reserved(store, manifest.thread_id) as thread_id:
        try:
            for batch in _slices(_commands(bundle, thread_id, actor, count_tokens)):
                store.commit(batch)
            store.commit(_made(bundle.manifest, thread_id, actor))
        except BaseException:
            _discard(store, thread_id)
            raise
    return threads.get(store, thread_id)


@contextmanager
def _reserved(store: Store, wanted: str) -> Iterator[str]:
    """The id under which a thread is read in: the one that is wanted, unless there is such a thread
    or will be one.
    """
    with _RESERVING:
        is_free = (
            _is_id(wanted)
            and store.document(THREAD + wanted) is None
            and (store.home, wanted) not in _reading_in
        )
        thread_id = wanted if is_free else new_id(store.now_ms())
        _reading_in.add((store.home, thread_id))
    try:
        _discard(store, thread_id)  # what an import that was killed has left
        yield thread_id
    finally:
        _reading_in.discard((store.home, thread_id))


def _discard(store: Store, thread_id: str) -> None:
    """Forget what was written of a thread, unless there is one by now."""
    with suppress(TerselyError):  # the next import under this id makes up for it
        if store.document(THREAD + thread_id) is not None:
            return
        for name in (STATE + thread_id, THREAD + thread_id):
            store.discard(name)


def _author(name: str, actor: str) -> str:
    """The author that a bundle names, as a name that nobody has: whoever made it may have written
    any. Only for oneself may one speak.
    """
    is_plain = name == actor or name.startswith(_SAID)
    return name if is_plain else f"{_SAID}{name}"


def _by_author(payload: bytes, actor: str) -> bytes:
    told = decode(payload, EVENTS)
    named = told if isinstance(told, dict) else {}
    authors = {
        key: _author(value, actor)
        for key, value in named.items()
        if key in _AUTHORS and isinstance(value, str)
    }
    return encode({**named, **authors}) if authors else payload


def _slices(commands: Iterator[_Sized]) -> Iterator[StoreBatch]:
    """Batches that each take the disk for a moment, so that what others write comes between them."""
    held: list[Command] = []
    size = 0
    for one in commands:
        held.append(one.command)
        size += one.size_bytes
        if len(held) >= BUNDLE_SLICE_COMMANDS or size >= BUNDLE_SLICE_BYTES:
            yield StoreBatch(tuple(held))
            held, size = [], 0
    yield StoreBatch(tuple(held))


def _commands(
    bundle: _Bundle, thread_id: str, actor: str, count_tokens: CountTokens
) -> Iterator[_Sized]:
    """All of a thread but that it is one."""
    lines: list[VersionLine | ArtifactLine] = [*bundle.versions, *bundle.artifacts]
    for line in lines:
        line.by = _author(line.by, actor)
    yield from _state(thread_id, bundle.versions)
    for line in bundle.artifacts:
        taken = bundle.blobs[line.digest]
        origin = Origin(line.by, line.capability, tuple(line.source_refs))
        made = described(
            thread_id,
            taken,
            count_tokens,
            line.at_ms,
            name=line.name,
            kind=line.type,
            mime=line.mime,
            origin=origin,
        )
        size = min(taken.keep.size_bytes, INLINE_BLOB_BYTES)
        yield from (_Sized(command, size) for command in keeping(made, taken))
    for one in bundle.events:
        body = _by_author(bytes(one.payload), actor)
        yield _Sized(Append(THREAD + thread_id, one.type, body, one.at_ms), len(body))


def _made(manifest: Manifest, thread_id: str, actor: str) -> StoreBatch:
    """The commands that make a thread of what was written."""
    about = {
        "name": manifest.name,
        "created_at": manifest.created_at,
        "created_by": actor,
    }
    return StoreBatch((
        Write(THREAD + thread_id, lambda _: DocumentEdit(encode(about), b""), actor, expected=0),
        happened(thread_id, THREAD_IMPORTED, {"by": actor, "from": manifest.thread_id}),
    ))  # fmt: skip


def _state(thread_id: str, versions: list[VersionLine]) -> Iterator[_Sized]:
    """The versions again, each from the one before; raises `invalid_bundle` for one that does not
    follow.
    """
    if not versions or not bytes(versions[0].body):
        raise _invalid("its state has no first version")
    first = decode(bytes(versions[0].body), VERSIONS)
    body = encode(
        {
            **states.new_state(thread_id, 0),
            **(first if isinstance(first, dict) else {}),
            "thread_id": thread_id,
        }
    )
    try:
        states.check(decode(body))
    except TerselyError as error:
        raise _invalid(f"its first state is none: {error}") from None
    yield _version(thread_id, versions[0], DocumentEdit(body, b""), expected=0)
    total = len(body)
    for line in versions[1:]:
        edit = _edit(body, bytes(line.change))
        body = edit.body
        total += len(body)
        if total > 2 * MAX_BUNDLE_STATE_BYTES:  # what is exported is estimated
            raise _invalid(
                f"the versions of its state have more than {2 * MAX_BUNDLE_STATE_BYTES:,} bytes together"
            )
        yield _version(thread_id, line, edit)


def _version(
    thread_id: str, line: VersionLine, edit: DocumentEdit, expected: int | None = None
) -> _Sized:
    write = Write(STATE + thread_id, lambda _: edit, line.by, expected=expected, at_ms=line.at_ms)
    return _Sized(write, len(edit.body))


def _edit(body: bytes, change: bytes) -> DocumentEdit:
    if not change:
        raise _invalid("a version of its state does not say what changed")
    try:
        return DocumentEdit(states.replay(body, change), change)
    except (TerselyError, KeyError, TypeError) as error:
        raise _invalid(
            f"a version of its state does not follow from the one before: {error}"
        ) from None


def _lines(text: bytes, kind: type[LineT]) -> Iterator[LineT]:
    if text.count(b"\n") > MAX_BUNDLE_LINES:
        raise _invalid(f"it has more than {MAX_BUNDLE_LINES:,} lines of {kind.__name__}")
    return (_decoded(kind.__name__, line, kind) for line in text.split(b"\n") if line)


def _decoded(what: str, text: bytes, kind: type[LineT]) -> LineT:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise _invalid(f"{what}: {error}") from None


def _is_id(text: str) -> bool:
    return 8 <= len(text) <= 64 and all(character in "0123456789abcdef-" for character in text)


def _invalid(why: str) -> TerselyError:
    return TerselyError("invalid_bundle", why[:400], "nothing of it was kept; export it again")
