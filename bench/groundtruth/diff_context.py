"""What `laconic diff-context` answers, in the form in which published cases of cut commits are scored.

Run in a work tree in which half of a commit is applied, with the file that holds this half:

    python -m bench.groundtruth.diff_context BUDGET GIVEN.diff

A slice is a run of lines that the pack shows, numbered as in the parent commit, since cases number the lines that they
hide so. Blank lines next to what is shown count as shown: there is nothing to show of them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from laconic.capabilities.invoke import ask
from laconic.code.index.patch import Hunk, read_patch
from laconic.workspace import Workspace


def in_parent(line: int, hunks: Sequence[Hunk]) -> int:
    """The line of the parent commit that a line of the work tree stands for."""
    shift = 0
    for hunk in hunks:
        if line < hunk.new_first:
            break
        if line < hunk.new_first + len(hunk.added):
            return hunk.old_first + min(line - hunk.new_first, max(0, len(hunk.removed) - 1))
        shift = hunk.old_first + len(hunk.removed) - hunk.new_first - len(hunk.added)
    return line + shift


def widened(first: int, last: int, lines: Sequence[str]) -> tuple[int, int]:
    """A range of lines with the blank ones around it."""
    while first > 1 and not lines[first - 2].strip():
        first -= 1
    while last < len(lines) and not lines[last].strip():
        last += 1
    return first, last


def runs(ranges: Sequence[tuple[int, int]], lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Ranges of lines as they meet."""
    wide = sorted(widened(first, min(last, len(lines)), lines) for first, last in ranges if first <= len(lines))
    if not wide:
        return
    start, end = wide[0]
    for _, (first, last) in pairwise(wide):
        if first > end + 1:
            yield start, end
            start = first
        end = max(end, last)
    yield start, end


def answer(root: Path, budget: int, patch: bytes) -> dict[str, Any]:
    """The pack of the uncommitted change in a work tree."""
    hunks = {diff.path: diff.hunks for diff in read_patch(patch)}
    with Workspace.open(root) as workspace:
        pack = ask(workspace, "code.diff_context", worktree=True, budget=budget)
    shown: dict[str, list[tuple[int, int]]] = {}
    for item in pack.items:
        if item.detail == "body" and item.reason != "deleted":
            ranges = [(first, min(last, item.end_line)) for first, last in item.shown if first <= item.end_line]
            shown.setdefault(item.id.partition(":")[0], []).extend(ranges or [(item.line, item.end_line)])
    for path in pack.whole_files:
        shown[path] = [(1, sys.maxsize)]
    slices = []
    for path, ranges in shown.items():
        lines = (root / path).read_text("utf-8", "replace").split("\n") if (root / path).is_file() else []
        for first, last in runs(ranges, lines):
            place = [in_parent(first, hunks.get(path, ())), in_parent(last, hunks.get(path, ()))]
            slices.append({"id": f"{path}:{first}", "code": "shown", "lines": place})
    names = [item.id for item in pack.items]
    return {"slices": slices, "signatures_only": names, "budget_used": pack.used}


if __name__ == "__main__":
    print(json.dumps(answer(Path.cwd(), int(sys.argv[1]), Path(sys.argv[2]).read_bytes())))
