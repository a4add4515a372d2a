"""Taking back what was changed: the files of the latest step are, to the byte, what they were
before it.

A file that somebody has changed since is left, and named; the others are restored all the same.
Whoever insists gets those back too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tersely.agent.tools.checkpoint_store import LEFT, UNDONE, Checkpoint, CheckpointStore
from tersely.agent.tools.files import places, replacing
from tersely.agent.tools.files.places import FileState
from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.hashing import content_hash
from tersely.foundation.types import JsonObject

_LINK = b"\0link\0"  # no file that is a text begins so


class Restored(NamedTuple):
    """A file that is as it was, and what it was until now."""

    checkpoint: Checkpoint
    was: FileState | None


class Undone(NamedTuple):
    """The outcome of taking back a step; `left` are paths that were not, each with the reason."""

    restored: tuple[Restored, ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    note: JsonObject = {}  # noqa: RUF012 - of a command, never changed


def digest(state: FileState | None) -> bytes:
    """By which it is seen that a file is still what it was made."""
    if state is None:
        return b""
    return content_hash(_LINK + state.data if state.is_link else state.data)


def undo(root: Path, kept: CheckpointStore, *, insists: bool = False) -> Undone:
    """Take back the latest step that changed anything. Who insists gets back what was left,
    whatever is there now.
    """
    if insists and (left := kept.left()):
        return _restored(root, kept, left, insists=True)
    while steps := kept.last_step():
        undone = _restored(root, kept, steps, insists=insists)
        if undone.restored or undone.left:
            return undone
    return Undone()


def _restored(
    root: Path, kept: CheckpointStore, changes: Sequence[Checkpoint], *, insists: bool
) -> Undone:
    """Restore files, those first that give their place to others."""
    restored: list[Restored] = []
    left: list[tuple[str, str]] = []
    becomes: dict[int, int] = {}
    note = json.loads(changes[0].note) if changes[0].note else {}
    for change in _in_order(changes):
        try:
            done = _restore(root, change, insists=insists)
        except TerselyError as error:
            becomes[change.id] = LEFT
            left.append((change.path, error.message))
            continue
        becomes[change.id] = UNDONE
        restored += [done] if done else []
    kept.mark(becomes)  # once: what is restored and not marked is found to be so the next time
    return Undone(tuple(restored), tuple(left), note)


def _in_order(changes: Iterable[Checkpoint]) -> list[Checkpoint]:
    """As they are to be taken back: steps from the last to the first; in each, what is removed
    before what is made.
    """
    return sorted(
        changes, key=lambda one: (-one.step, one.before is not None, -one.path.count("/"), one.path)
    )


def _restore(root: Path, change: Checkpoint, *, insists: bool) -> Restored | None:
    """Put back one file; None where it is as it was already. Raises `version_conflict` and what
    writing raises.
    """
    wanted = None if change.before is None else FileState(change.mode, change.before)
    now = places.state(root, change.path)
    if _is_alike(now, wanted, change):  # it never came to pass, or somebody has taken it back
        return None
    if digest(now) != change.after and not insists:
        raise TerselyError("version_conflict", "it was changed since")
    if wanted is not None:
        replacing.put(root, change.path, now, wanted)
    elif now is not None:
        replacing.remove(root, change.path, now, change.folders)
    return Restored(change, now)


def _is_alike(now: FileState | None, wanted: FileState | None, change: Checkpoint) -> bool:
    if now is None or wanted is None:
        return now is wanted
    is_same = now.data == wanted.data and now.is_link == wanted.is_link
    # an edit leaves permissions alone
    return is_same and (not change.note or now.mode == wanted.mode)
