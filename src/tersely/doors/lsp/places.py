"""Places as editors have them, in their units, and as the index has them, which is of the saved
files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace.position_codec import PositionCodec

from tersely.foundation.storage.roots import find_root
from tersely.foundation.types import JsonMapping

MAX_READ_BYTES = 10_000_000  # of a file in which places are looked for
MAX_READ_FILES = 64  # whose lines are kept between answers, as long as the files are the same
_NAME = re.compile(r"\w*")
_KINDS: Mapping[str, types.SymbolKind] = {
    "module": types.SymbolKind.Module, "class": types.SymbolKind.Class, "function": types.SymbolKind.Function,
    "method": types.SymbolKind.Method, "variable": types.SymbolKind.Variable, "constant": types.SymbolKind.Constant,
    "field": types.SymbolKind.Field, "interface": types.SymbolKind.Interface, "enum": types.SymbolKind.Enum,
    "struct": types.SymbolKind.Struct, "property": types.SymbolKind.Property,
}  # fmt: skip


class OpenDocument(NamedTuple):
    """A file of an editor: the repository that it belongs to, and its path there."""

    root: Path
    path: str


def document_of(uri: str, folders: Sequence[Path]) -> OpenDocument | None:
    """The file of a URI, None for one outside of the repositories around the editor's folders."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    if not path:
        return None
    real = Path(os.path.realpath(path))
    root = next((root for root in map(find_root, folders) if real.is_relative_to(root)), None)
    return OpenDocument(root, real.relative_to(root).as_posix()) if root else None


def kind_of(kind: str) -> types.SymbolKind:
    """The name of editors for a kind of symbol."""
    return _KINDS.get(kind, types.SymbolKind.Object)


def column_of(document: OpenDocument, position: types.Position, codec: PositionCodec) -> int:
    """The column of a position in the saved file, in characters from 1."""
    lines = _lines(document.root / document.path)
    if position.line >= len(lines):
        return 1
    return codec.position_from_client_units(lines, position).character + 1


def location(root: Path, path: str, line: int, name: str, codec: PositionCodec) -> types.Location:
    """The place of a name on a line, counted from 1; the line's beginning where it does not stand
    there, or there is no file.
    """
    return types.Location(uri_of(root, path), range_of(root, path, line, name, codec))


def named_at(root: Path, reference: JsonMapping, codec: PositionCodec) -> types.Location:
    """The place of a name that means a symbol, under which name ever."""
    path, line, start = reference["path"], reference["line"], reference["column"] - 1
    lines = _lines(root / path)
    text = lines[line - 1] if line <= len(lines) else ""
    name = _NAME.match(text, start)
    end = name.end() if name is not None else start
    found = types.Range(types.Position(line - 1, start), types.Position(line - 1, end))
    return types.Location(
        uri_of(root, path), codec.range_to_client_units(lines, found) if text else found
    )


def uri_of(root: Path, path: str) -> str:
    """The URI of a file."""
    return from_fs_path(str(root / path)) or ""


def range_of(root: Path, path: str, line: int, name: str, codec: PositionCodec) -> types.Range:
    """The range of the same."""
    lines = _lines(root / path)
    text = lines[line - 1] if 1 <= line <= len(lines) else ""
    start = max(0, text.find(name))
    end = start + len(name) if text[start:].startswith(name) else start
    found = types.Range(
        types.Position(max(0, line - 1), start), types.Position(max(0, line - 1), end)
    )
    return codec.range_to_client_units(lines, found) if text else found


def lines_range(line: int, end_line: int) -> types.Range:
    """Whole lines, counted from 1, both included."""
    return types.Range(types.Position(line - 1, 0), types.Position(end_line, 0))


def name_of(symbol: str) -> str:
    """The last name of a symbol id."""
    return symbol.rpartition(":")[2].rpartition(".")[2].partition("#")[0]


def path_of(symbol: str) -> str:
    """The path of a symbol id."""
    return symbol.rpartition(":")[0]


def _lines(path: Path) -> list[str]:
    """The lines of a saved file, none for one that cannot be read or is too large."""
    try:
        status = path.stat()
        return _read(path, status.st_mtime_ns, status.st_size)
    except OSError:
        return []


@lru_cache(MAX_READ_FILES)
def _read(path: Path, changed_ns: int, size: int) -> list[str]:
    if size > MAX_READ_BYTES:
        return []
    return path.read_bytes().decode("utf-8", "replace").split("\n")


def items(page: JsonMapping | None) -> Sequence[Any]:
    """The items of a page of an answer."""
    return page["items"] if page else []
