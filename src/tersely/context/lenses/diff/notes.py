"""The changes of a file beside its lines: it was renamed, is binary, has another mode, or is
another repository.
"""

from __future__ import annotations

from tersely.code.index.history.patch import LINK_MODE, FileDiff
from tersely.code.symbols import Kind, Symbol

COMMIT_DIGITS = 10


def note_of(diff: FileDiff) -> str:
    """Words about a file, "" where its lines say all."""
    words = []
    if diff.is_missing:
        words.append("differs; git has not fetched what it was")
    elif diff.is_submodule:
        words.append(f"submodule {_commit(diff, old=True)} → {_commit(diff, old=False)}")
    elif diff.is_binary:
        side = "" if diff.old_path and diff.path else "new, " if diff.path else "deleted, "
        is_gone = diff.is_large and not diff.path
        words.append(
            "deleted" if is_gone else f"{side}{'too large' if diff.is_large else 'binary'}"
        )
    elif LINK_MODE in {diff.old_mode, diff.mode}:
        words.append("symbolic link")
    if diff.old_path and diff.path and diff.old_path != diff.path:
        words.append(f"renamed from {diff.old_path}")
    if diff.old_mode and diff.mode and diff.old_mode != diff.mode:
        words.append(f"mode {diff.old_mode} → {diff.mode}")
    if not words and not diff.hunks:
        words.append(
            "new, empty" if not diff.old_path else "deleted" if not diff.path else "unchanged"
        )
    return ", ".join(words)


def without_text(symbol: Symbol) -> Symbol:
    """A symbol whose offsets mean nothing in the files of today."""
    return symbol._replace(
        kind=Kind.NAMESPACE,
        start_byte=0,
        end_byte=0,
        signature_end_byte=0,
        doc_start_byte=0,
        doc_end_byte=0,
    )


def _commit(diff: FileDiff, *, old: bool) -> str:
    """The commit of a submodule on one side, shortened."""
    lines = [line for hunk in diff.hunks for line in (hunk.removed if old else hunk.added)]
    commit = lines[0].decode("ascii", "replace").rpartition(" ")[2].strip() if lines else ""
    return commit[:COMMIT_DIGITS] or "none"
