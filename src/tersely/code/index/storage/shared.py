"""The bases that the indexes of a user share: whole indexes that nobody writes any more.

A worktree or clone of what was indexed before keeps of its index what differs from such a base. A
base is found by the contents of files, and what it knows is taken for files alone that have the
same content at the same path from the root. It lies in a folder that its user alone may look into,
may be deleted at any time, and the one that was not used for longest goes first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from time import sleep

from tersely.code.index.fingerprint import extraction_fingerprint
from tersely.code.index.storage.schema import ENCODING
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.database import IN_MEMORY, Database, Schema
from tersely.foundation.storage.hashing import content_hash
from tersely.foundation.storage.private import index_places, make_private, make_room

MAX_SHARED_BYTES = 2_000_000_000  # of all bases of a user
MAX_SAMPLE_FILES = 64  # by which a base is chosen
ADOPTED_PERCENT = 90  # of them that are in a base which is taken as it is
STARTED_PERCENT = 20  # likewise in one that is copied to make another
MAX_WAIT_SECONDS = 300  # for another process that makes a base of the same files
RETRY_SECONDS = 0.2

Sample = Sequence[tuple[str, bytes]]  # (path, hash of the content) of some files of a tree
Build = Callable[[Path], None]  # bring the index at a path up to date


def base_for(sample: Sample, build: Build) -> str:
    """The name of a base that knows most of a tree, made where there is none; "" where that cannot be.

    Of several processes that want a base for like trees one makes it, the others wait for it.
    """
    from tersely.foundation.process.lockfile import held  # only who looks for a base needs it

    watch = Stopwatch()
    while watch.seconds() < MAX_WAIT_SECONDS:
        try:
            folder = Path(index_places("/").shared)
            make_private(str(folder))
            with held(f"{folder}/lock-{sample[0][1][:1].hex()}"):
                return _found_or_made(folder, sample, build)
        except BlockingIOError:
            sleep(RETRY_SECONDS)
        except (OSError, TerselyError):
            break
    return ""


def _found_or_made(folder: Path, sample: Sample, build: Build) -> str:
    program = f"{content_hash(extraction_fingerprint().encode()).hex()} {ENCODING}"
    ours = [(_likeness(base, sample), base) for base in folder.glob(f"{program} *")]
    percent, best = max(ours, default=(0, folder))
    if percent >= ADOPTED_PERCENT:
        return best.name
    name = f"{program} {os.urandom(8).hex()}"
    draft = folder / f"draft-{name}"
    try:
        if percent >= STARTED_PERCENT:
            from shutil import copyfile

            copyfile(best, draft)
        build(draft)
        draft.replace(folder / name)
    finally:
        draft.unlink(missing_ok=True)
    make_room(str(folder), name, MAX_SHARED_BYTES)
    return name


def _likeness(base: Path, sample: Sample) -> int:
    """The percentage of a sample that a base knows."""
    known = "select 1 from base.file where path = ? and hash = ?"
    try:
        with Database.open_derived(IN_MEMORY, Schema(0, "")) as database:
            database.attach(base, "base")
            found = database.row_each(known, sample)
    except TerselyError:  # damaged, or gone by now
        base.unlink(missing_ok=True)
        return 0
    return 100 * sum(map(bool, found)) // len(found)
