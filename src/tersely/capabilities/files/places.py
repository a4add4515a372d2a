"""From a path that somebody wrote to files of the index."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tersely.capabilities.declaration.declaration import Role, positional
from tersely.code.symbols import Kind
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_LISTED_FILES

if TYPE_CHECKING:
    from tersely.code.index.storage.schema import IndexedFile
    from tersely.workspace import Workspace

ANYWHERE = positional(
    "a directory or file; without it the whole repository", default="", role=Role.PATH
)


def normal(path: str) -> str:
    """A path from the root without `./` and trailing slashes, empty for the root; raises
    `path_not_found`.
    """
    parts = PurePosixPath(path).parts
    if path.startswith("/") or ".." in parts:
        raise TerselyError(
            "path_not_found",
            f"{path!r} is outside the repository",
            "paths are written from its root",
        )
    return "/".join(parts)


def files_below(workspace: Workspace, path: str) -> list[IndexedFile]:
    """All indexed files in a directory at any depth, or the one file that `path` names."""
    path = normal(path)
    files = workspace.engine.store.files()
    if not path:
        return files
    found = [file for file in files if file.path == path or file.path.startswith(f"{path}/")]
    return found or [indexed_file(workspace, path)]


def indexed_file(workspace: Workspace, path: str) -> IndexedFile:
    """The file that `path`, or the end of its path, names; raises when there is none or more than
    one.
    """
    store = workspace.engine.store
    path = normal(path)
    file = store.file(path)
    if file is not None:
        return file
    named = [symbol.path for symbol in store.find(path, {Kind.MODULE})] if path else []
    if len(named) > 1:
        raise ambiguous(path, named)
    if named and (file := store.file(named[0])):
        return file
    raise _not_found(workspace, path)


def ambiguous(text: str, paths: Sequence[str]) -> TerselyError:
    """The error for a text that may mean several files."""
    left = len(paths) - MAX_LISTED_FILES
    shown = "\n  ".join([*paths[:MAX_LISTED_FILES], *([f"and {left} more"] if left > 0 else [])])
    return TerselyError(
        "ambiguous_symbol", f"{text!r} may mean {len(paths)} files", f"Name one of them:\n  {shown}"
    )


def _not_found(workspace: Workspace, path: str) -> TerselyError:
    hint = "tersely index --report lists what is left out"
    why = why_not_indexed(workspace, path)
    if why:
        return TerselyError("not_indexed", f"{path} is not indexed: {why}", hint)
    if (workspace.root / path).is_dir():
        shown = path or "the root"
        if workspace.engine.store.holds_directory(path):
            return TerselyError(
                "invalid_argument", f"{shown} is a directory, not a file", "name a file in it"
            )
        return TerselyError("not_indexed", f"no file below {shown} is indexed", hint)
    return TerselyError(
        "path_not_found", f"no {path!r} in the repository", "tersely tree lists the indexed files"
    )


def why_not_indexed(workspace: Workspace, path: str) -> str:
    """The reason, in words, for which a file that is there is not in the index; "" where it is in
    it, and where there is no such file.
    """
    store = workspace.engine.store
    reason = store.why_skipped(path)
    if reason is not None:
        return reason.value.replace("_", " ")
    is_left_out = store.file(path) is None and (workspace.root / path).is_file()
    return _why_unknown(workspace, path) if is_left_out else ""


def _why_unknown(workspace: Workspace, path: str) -> str:
    """The reason for which the index knows nothing of a file that is there."""
    from tersely.code.languages.registry import language_of_path

    for parent in PurePosixPath(path).parents:
        reason = workspace.engine.store.why_skipped(parent.as_posix())
        if reason is not None:
            return f"{parent} is left out ({reason.value.replace('_', ' ')})"
    if language_of_path(path) is None:
        suffix = PurePosixPath(path).suffix
        return f"unsupported file type {f'`{suffix}`' if suffix else 'without a suffix'}"
    return "an ignore file excludes it"
