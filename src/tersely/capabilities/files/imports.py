"""`code.imports`: what a file imports, and where that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.capabilities.answers.paging import (
    Page,
    limit_option,
    offset_option,
    page_of,
    rest_line,
)
from tersely.capabilities.answers.text import Style, clipped, counted, indented
from tersely.capabilities.declaration.declaration import Role, capability, frozen, positional
from tersely.capabilities.files.places import indexed_file
from tersely.foundation.limits import MAX_NAMES_CHARACTERS

if TYPE_CHECKING:
    from tersely.workspace import Workspace


@frozen
class Imported:
    """One imported name. `name` is empty for a whole module and `*` for all names of it, `alias`
    what it binds.
    """

    module: str
    name: str
    alias: str
    line: int
    target: str  # the file it is taken from, empty outside the repository

    @property
    def spelled(self) -> str:
        """The name with its alias, empty for a whole module under its own name."""
        own = self.name or self.module.split(".")[0]
        return self.name if self.alias in {"", own} else f"{self.name} as {self.alias}".strip()


@frozen
class Imports:
    """All imports of a file."""

    path: str
    imports: Page[Imported]


def text(imports: Imports, style: Style) -> str:
    """One line for each module and place it comes from."""
    groups: dict[tuple[str, str], list[Imported]] = {}
    for imported in imports.imports.items:
        groups.setdefault((imported.module, imported.target), []).append(imported)
    rows = [
        (
            str(group[0].line),
            module,
            clipped(
                ", ".join(dict.fromkeys(one.spelled for one in group if one.spelled)),
                MAX_NAMES_CHARACTERS,
            ),
            target,
        )
        for (module, target), group in groups.items()
    ]
    head = f"{style.heading(imports.path)}  {style.faint(counted(imports.imports.total, 'imported name'))}"
    lines = indented(rows, [style.faint, style.symbol, None, style.good], right=(0,))
    return "\n".join([head, *lines, *rest_line(imports.imports, "name", style)])


@capability("code.imports", text, "imports src/app.py")
def run(
    workspace: Workspace,
    *,
    file: str = positional("the file", role=Role.FILE),
    limit: int = limit_option(500, "imported names"),
    offset: int = offset_option("imported names"),
) -> Imports:
    """Imports of a file, and the files of the repository that they resolve to.

    Names without a file come from outside the repository.
    """
    path = indexed_file(workspace, file).path
    return Imports(path, page_of(imports_of(workspace, path), limit, offset))


def imports_of(workspace: Workspace, path: str) -> list[Imported]:
    """The imports of the file at `path`, in order of lines."""
    found = []
    imports = workspace.engine.imports
    for item in workspace.engine.store.imports(path):
        targets = imports.targets(path, item)
        found.append(
            Imported(item.module, item.name, item.alias, item.line, targets[0] if targets else "")
        )
    return found
