"""`/undo`: what the latest step of a session changed is taken back, and people and the model are
told what was not.
"""

from __future__ import annotations

from collections.abc import Sequence

from tersely.agent.tools.declaration import INSIST, MadeChange, Observation
from tersely.agent.tools.files import undoing
from tersely.agent.tools.files.content import read_content
from tersely.agent.tools.files.diffs import difference
from tersely.agent.tools.files.undoing import Restored, Undone
from tersely.agent.tools.observation import clipped, failed
from tersely.agent.tools.running.undoable import COMMAND, HEADS, SKIPPED
from tersely.agent.tools.toolbox import Toolbox
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible_line
from tersely.foundation.text.shortening import listed
from tersely.foundation.types import JsonMapping

_MOST_NAMED = 8


async def undo(toolbox: Toolbox, *, insists: bool = False) -> Observation:
    """Take back the latest step, an edit or a command: its files are, to the byte, what they were
    before it.
    """
    try:
        return await toolbox.apart(lambda: _undo(toolbox, insists=insists))
    except TerselyError as error:
        return failed(error)


def _undo(toolbox: Toolbox, *, insists: bool) -> Observation:
    undone = undoing.undo(toolbox.root, toolbox.kept, insists=insists)
    for restored in undone.restored:
        toolbox.shown.forget(restored.checkpoint.path)
    if not undone.restored and not undone.left:
        return Observation("there is nothing to undo", "refused")
    change = _change(undone.restored[0]) if len(undone.restored) == 1 else None
    return Observation(_report(undone), "ok" if undone.restored else "refused", change)


def _report(undone: Undone) -> str:
    paths = sorted({one.checkpoint.path for one in undone.restored})
    verb = "is" if len(paths) == 1 else "are"
    last = (
        f"`{visible_line(clipped(undone.note[COMMAND]))}`"
        if COMMAND in undone.note
        else "the last change"
    )
    lines = [f"{_named(paths)} {verb} as before {last}"] if paths else []
    if undone.left:
        left = _named([f"{path} ({why})" for path, why in undone.left])
        lines.append(f"left as they are: {left}; /undo {INSIST} takes them back all the same")
    return "\n".join([*lines, *_not_kept(undone.note)])


def _not_kept(note: JsonMapping) -> list[str]:
    """The paths that a command changed and nobody can take back."""
    lines = (
        [f"too large to be kept, and changed: {_named(note[SKIPPED])}"] if note.get(SKIPPED) else []
    )
    if note.get(HEADS):
        was, now = (head or "no commit" for head in note[HEADS])
        lines.append(f"git's history stays: the commit was {was} and is {now}")
    return (
        [*lines, "files that git ignores, and repositories inside, stay"]
        if COMMAND in note
        else lines
    )


def _named(names: Sequence[str]) -> str:
    return listed([visible_line(clipped(name)) for name in names], _MOST_NAMED)


def _change(restored: Restored) -> MadeChange | None:
    """The diff of one file, where both of its versions are text."""
    checkpoint, was = restored
    try:
        before, after = (read_content(data or b"", checkpoint.path).shown
                         for data in (was.data if was else None, checkpoint.before))  # fmt: skip
    except TerselyError:
        return None
    diff = difference(checkpoint.path, before, after)
    return MadeChange(
        checkpoint.path, diff.text, diff.added_lines, diff.removed_lines, checkpoint.id
    )
