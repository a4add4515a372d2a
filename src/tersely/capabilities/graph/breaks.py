"""`code.breaks`: what still uses something as it was before a change."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import PLAIN, Style
from tersely.capabilities.declaration.declaration import (
    Role,
    capability,
    frozen,
    option,
    positional,
)
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible_line
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tersely.context.lenses.diff.stale import StaleUse
    from tersely.workspace import Workspace

MAX_BROKEN_PLACES = 50  # that are looked at
LINE_PLACES = 12  # that are named in one line


@frozen
class Broken:
    """Uses that may not fit any more: in what way, and the places, `path:line`."""

    what: str
    places: Strings


@frozen
class Breaks:
    """All such uses, and the first of them in one `line`, "" for none. `cut`: there are more than
    `MAX_BROKEN_PLACES`.
    """

    uses: tuple[Broken, ...]
    line: str
    cut: bool


def text(found: Breaks, style: Style) -> str:
    """A line for each way, with its places."""
    lines = [_line(one, style) for one in found.uses]
    more = [style.faint(f"and more than these {MAX_BROKEN_PLACES}")] if found.cut else []
    return "\n".join([*lines, *more]) or "no use was found that does not fit any more"


@capability(
    "code.breaks",
    text,
    "breaks",
    "breaks src/auth.py --base main",
    cacheable=False,  # what git compares is no part of the revision
    depends_on_git=True,
)
def run(
    workspace: Workspace,
    *,
    files: Strings = positional(
        "only what changed in these files and directories",
        default=(),
        role=Role.PATH,
        metavar="FILE",
    ),
    base: str = option(
        "", "the revision that git compares the working tree with; HEAD if none", metavar="REF"
    ),
) -> Breaks:
    """Uses of what a change removed, renamed, moved, or gave another signature or result.

    The change is the difference from the last commit, staged or not, new files included, or from
    where the working tree and --base part. Uses that may mean something else are left out.
    """
    from itertools import islice

    from tersely.capabilities.files.places import normal
    from tersely.code.places import outward
    from tersely.context.lenses.diff.change import Revisions, of_git, symbols_changed, unread
    from tersely.context.lenses.diff.stale import found_uses
    from tersely.context.pack.change import sources_of

    asked = Revisions(base, worktree=not base)
    engine = workspace.engine
    change = of_git(workspace.root, engine.store, asked)
    engine.note_incomplete(unread(change))
    wanted = set(map(normal, files)) or {""}
    paths = {path for file in change.files for path in (file.diff.old_path, file.diff.path)}
    for path in wanted.difference(*map(outward, paths)):
        if not os.path.lexists(workspace.root / path):
            raise TerselyError("path_not_found", f"{path} is not there, and nothing has changed it")
    changed = [
        one for one in symbols_changed(change) if not wanted.isdisjoint(outward(one.symbol.path))
    ]
    sources = sources_of(engine, workspace.root, change)
    uses = list(islice(found_uses(change.files, changed, sources), MAX_BROKEN_PLACES + 1))
    parts = [_line(one, PLAIN) for one in _by_way(uses[:LINE_PLACES])]
    parts += ["and more"] if len(uses) > LINE_PLACES else []
    line = visible_line("; ".join(parts))
    return Breaks(_by_way(uses[:MAX_BROKEN_PLACES]), line, len(uses) > MAX_BROKEN_PLACES)


def _by_way(uses: list[StaleUse]) -> tuple[Broken, ...]:
    places: dict[str, dict[str, None]] = {}
    for one in uses:
        places.setdefault(one.what, {})[f"{one.path}:{one.line}"] = None
    return tuple(Broken(what, tuple(at)) for what, at in places.items())


def _line(one: Broken, style: Style) -> str:
    return f"{style.doubtful(one.what)}: {', '.join(one.places)}"
