"""A thread as files that people can read: a copy of what the database knows, made when it is asked
for, never read.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from tersely.foundation.errors import TerselyError
from tersely.foundation.ids import new_id
from tersely.foundation.limits import MAX_READ_ENTRIES
from tersely.relay.artifacts import artifacts
from tersely.relay.artifacts.artifacts import Artifact
from tersely.relay.encoding import encode
from tersely.relay.store.store import Store, paged
from tersely.relay.store.streams import THREAD, event
from tersely.relay.threads import threads

MAX_MIRRORED_EVENTS = 100_000  # the latest of a thread
MAX_MIRRORED_BYTES = 1_000_000_000  # of the artifacts of one thread
_FOLDER = "threads"
_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_CHARACTERS = 60
_REF_CHARACTERS = 32


class MirrorFolder(NamedTuple):
    """The folder that was written, and the number of artifacts that were left out because they were
    too many bytes together.
    """

    path: Path
    events: int
    artifacts: int
    left_out: int


def write(store: Store, home: Path, thread_id: str) -> MirrorFolder:
    """Write `state.json`, `events.log` and the artifacts of a thread; all of the folder is new, or
    as it was.
    """
    threads.get(store, thread_id)
    if not _SAFE_ID.fullmatch(thread_id):
        raise TerselyError("invalid_argument", f"{thread_id[:40]!r} is not a name for a folder")
    folder = home / _FOLDER / thread_id
    part = folder.with_name(f".{new_id()}.part")
    try:
        (part / "artifacts").mkdir(mode=0o700, parents=True)
        state = msgspec.json.format(encode(threads.state(store, thread_id)), indent=2)
        (part / "state.json").write_bytes(state + b"\n")
        events = _write_events(store, thread_id, part / "events.log")
        kept, left_out = _write_artifacts(store, thread_id, part / "artifacts")
        _replace(part, folder)
    except OSError as error:
        raise TerselyError(
            "unwritable_output", f"{folder}: {error.strerror}", "check its disk and owner"
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return MirrorFolder(folder, events, kept, left_out)


def _write_events(store: Store, thread_id: str, path: Path) -> int:
    """The latest events, one JSON object a line."""
    last = store.last(THREAD + thread_id)
    after = max(0, last - MAX_MIRRORED_EVENTS)
    written = 0
    with path.open("wb") as file:
        for entry in paged(store.entries, THREAD + thread_id, after):
            file.write(encode(event(thread_id, entry).told()) + b"\n")
            written += 1
    return written


def _write_artifacts(store: Store, thread_id: str, folder: Path) -> tuple[int, int]:
    room, kept, left_out, after = MAX_MIRRORED_BYTES, 0, 0, 0
    while found := artifacts.listed(store, thread_id, after):
        for artifact in found:
            if artifact.size_bytes > room:
                left_out += 1
                continue
            with (folder / file_name(artifact)).open("xb") as file:
                file.writelines(store.blob(artifact.digest))
            room, kept = room - artifact.size_bytes, kept + 1
        after = found[-1].number
        if len(found) < MAX_READ_ENTRIES:
            break
    return kept, left_out


def file_name(artifact: Artifact) -> str:
    """The beginning of its hash, and of its name what is harmless in a path."""
    harmless = _UNSAFE.sub("-", artifact.name).strip("-.")[-_NAME_CHARACTERS:].lstrip("-.")
    return (
        f"{artifact.digest[:_REF_CHARACTERS]}-{harmless}"
        if harmless
        else artifact.digest[:_REF_CHARACTERS]
    )


def _replace(part: Path, folder: Path) -> None:
    """Put a folder in the place of another: who looks meanwhile sees one of both, or for a moment
    none.
    """
    old = part.with_suffix(".old")
    with suppress(FileNotFoundError):
        os.rename(folder, old)
    os.rename(part, folder)
    shutil.rmtree(old, ignore_errors=True)
