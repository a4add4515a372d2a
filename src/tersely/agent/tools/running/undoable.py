"""Commands whose changes can be taken back: the files are noted before a command runs, and compared
after it.

The state before is on the disk first. If the program is killed while a command runs, everything
that differs from that state when the session goes on counts as done by the command.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from tersely.agent.tools.checkpoint_store import CheckpointStore, Recorded
from tersely.agent.tools.files import snapshots
from tersely.agent.tools.files.snapshots import Snapshot, Stamp
from tersely.agent.tools.files.undoing import digest
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.runner import GitUnavailableError

MAX_SNAPSHOT_STEP_BYTES = 100_000_000  # of files that one command has changed
COMMAND, SKIPPED, HEADS = "command", "skipped", "heads"  # what the note of a step has
_SHORT = 12  # characters of a commit that name it


def begin(root: Path, kept: CheckpointStore, command: str) -> str:
    """Note the files before a command; the reason if that fails, else ""."""
    snapshots.shed(kept.snapshots)
    try:
        before = snapshots.take(root, kept.snapshots)
    except (OSError, GitUnavailableError) as error:
        return _why(error)
    kept.begin_command(command, json.dumps(before))
    return ""


def end(root: Path, kept: CheckpointStore) -> str:
    """Write down what the command that has begun has changed; the reason if that fails, else ""."""
    begun = kept.running_command()
    if begun is None:
        return ""
    command, said = begun
    before = _snapshot(json.loads(said))
    try:
        after = snapshots.take(root, kept.snapshots)
        heads = [before.head[:_SHORT], after.head[:_SHORT]] if before.head != after.head else []
        note = {COMMAND: command, SKIPPED: snapshots.skipped_changes(before, after), HEADS: heads}
        kept.end_command(list(_recorded(root, kept.snapshots, before, after)), json.dumps(note))
    except (OSError, GitUnavailableError) as error:
        kept.end_command((), "")
        return _why(error)
    return ""


def recover(root: Path, kept: CheckpointStore) -> None:
    """Write down what a command has changed that was running when the program was killed."""
    if kept.running_command() is not None:
        with suppress(TerselyError):
            end(root, kept)


def _recorded(root: Path, store: Path, before: Snapshot, after: Snapshot) -> Iterator[Recorded]:
    left = MAX_SNAPSHOT_STEP_BYTES
    for path, was, now, folders in snapshots.changes(root, store, before, after):
        left -= len(was.data) if was else 0
        if left < 0:
            raise GitUnavailableError(f"it changed more than {MAX_SNAPSHOT_STEP_BYTES:,} bytes")
        mode = was.mode if was else 0
        own = tuple(folder for folder in folders if "\n" not in folder) if was is None else ()
        yield Recorded(path, was.data if was else None, mode, digest(now), own)


def _snapshot(said: Any) -> Snapshot:
    tree, modes, skipped, head = said
    return Snapshot(tree, modes, {path: Stamp(*stamp) for path, stamp in skipped.items()}, head)


def _why(error: Exception) -> str:
    return str(error) or "git is not there to remember the files"
