"""`code.importers`: which files import a module."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
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
from tersely.capabilities.files.places import ambiguous
from tersely.code.symbols import Import, Kind
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_NAMES_CHARACTERS
from tersely.foundation.types import Numbers, Strings

if TYPE_CHECKING:
    from tersely.workspace import Workspace


@frozen
class Importing:
    """The names that one file imports of the module under one spelling of it. `names` is empty for
    the module as a whole.
    """

    path: str
    lines: Numbers
    module: str  # as written there
    names: Strings


@frozen
class Importers:
    """The files that import `module`; `path` is its file, empty for a module outside the
    repository.
    """

    module: str
    path: str
    files: int
    imports: Page[Importing]


def text(importers: Importers, style: Style) -> str:
    """One line for each statement."""
    what = importers.path or importers.module
    by = counted(importers.files, "file")
    head = f"{style.heading(what)}  {style.faint(f'imported by {by}')}"
    rows = [
        (
            f"{one.path}:{one.lines[0]}",
            one.module,
            clipped(", ".join(one.names), MAX_NAMES_CHARACTERS),
        )
        for one in importers.imports.items
    ]
    lines = indented(rows, [None, style.symbol])
    return "\n".join([head, *lines, *rest_line(importers.imports, "import", style)])


@capability(
    "code.importers", text, "importers src/app.py", "importers app.helpers", "importers os.path"
)
def run(
    workspace: Workspace,
    *,
    module: str = positional("a module as it is written in imports, or a file", role=Role.MODULE),
    limit: int = limit_option(200, "imports"),
    offset: int = offset_option("imports"),
) -> Importers:
    """Files that import a module.

    A file of the repository is found under every name by which it is imported, relative or
    absolute. A module from outside is found by its name.
    """
    if not module.strip():
        hint = "write it as an import does, or as the path of a file"
        raise TerselyError("invalid_argument", "no module is named", hint)
    path = _file_of(workspace, module)
    every = workspace.engine.store.every_import
    if path:
        found = list(workspace.engine.imports.importers(path, every))
    else:
        is_written = re.compile(rf"{re.escape(module)}(?:$|\W)").match
        found = [
            pair for pair in every() if is_written(pair[1].module) or _is_name(module, pair[1])
        ]
    name = PurePosixPath(path).stem or re.split(r"\W+", module)[-1]
    file = workspace.engine.store.file(path)
    importers = {importer for importer, _ in found}
    unread = workspace.engine.unread_with(name, file.language if file else "", importers)
    if not found and not path:
        raise _not_imported(module, unread)
    workspace.engine.note_incomplete(unread)
    imports = _by_spelling(found)
    files = len({one.path for one in imports})
    return Importers(module, path, files, page_of(imports, limit, offset))


def _not_imported(module: str, unread: Sequence[str]) -> TerselyError:
    """The error for a module that no file imports which was read."""
    from tersely.code.index.unread import first_of

    hint = "`imports FILE` shows what a file imports"
    if unread:
        hint += f"; not complete: {first_of(unread)} may import it"
    return TerselyError("module_not_found", f"no file imports {module!r}", hint)


def _by_spelling(found: list[tuple[str, Import]]) -> list[Importing]:
    groups: dict[tuple[str, str], list[Import]] = {}
    for importer, item in found:
        groups.setdefault((importer, item.module), []).append(item)
    return [
        Importing(
            path,
            tuple(sorted({item.line for item in items})),
            module,
            tuple(dict.fromkeys(item.name for item in items if item.name)),
        )
        for (path, module), items in groups.items()
    ]


def _file_of(workspace: Workspace, module: str) -> str:
    """The one file of the repository that the module is, empty for none; raises when there are
    several.
    """
    store = workspace.engine.store
    if store.file(module):
        return module
    found = workspace.engine.imports.module_anywhere(module)
    if not found:
        found = [symbol.path for symbol in store.find(module, {Kind.MODULE})]
    if len(found) > 1:
        raise ambiguous(module, found)
    return found[0] if found else ""


def _is_name(module: str, item: Import) -> bool:
    """True if a module is imported as a name of what is around it."""
    return module == f"{item.module}.{item.name}"
