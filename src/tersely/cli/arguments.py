"""Arguments as a command line means them: paths from where it is typed as paths from the root, and
texts from the files that are named, or as `-` from standard input.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tersely.capabilities.declaration.declaration import Parameter, Role
from tersely.capabilities.declaration.references import SCHEME
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_CONTENT_BYTES
from tersely.foundation.types import JsonMapping

STANDARD_INPUT = "-"
_ROLES = frozenset({Role.PATH, Role.FILE, Role.PLACE, Role.SOURCE, Role.SYMBOL, Role.MODULE})


def from_root(
    root: Path, declared: Sequence[Parameter], arguments: JsonMapping, directory: Path
) -> dict[str, object]:
    """The same arguments, with every path that exists from a directory written from the root.

    `root` is resolved. What names nothing here is left as it is: it may be a path from the root
    already, or a symbol.
    """
    roles = {parameter.name: parameter.role for parameter in declared}
    return {
        name: _rewritten(root, value, directory)
        if roles.get(name) in _ROLES
        else _report(root, value, directory)
        if roles.get(name) is Role.REPORT
        else value
        for name, value in arguments.items()
    }


def _rewritten(root: Path, value: object, directory: Path) -> object:
    if isinstance(value, tuple):
        return tuple(_rewritten(root, element, directory) for element in value)
    if not isinstance(value, str) or value.startswith(SCHEME):
        return value
    whole = _path_from_root(root, value, directory)
    if whole is not None:
        return whole
    path, colon, rest = value.partition(":")
    start = _path_from_root(root, path, directory) if colon and path else None
    return value if start is None else f"{start}:{rest}"


def _report(root: Path, value: object, directory: Path) -> object:
    """The report that a tool wrote, which may be outside of the repository, if it is not a link in
    it that leads there.
    """
    if isinstance(value, tuple):
        return tuple(_report(root, element, directory) for element in value)
    if not isinstance(value, str) or not value:
        return value
    inside = _path_from_root(root, value, directory)
    if inside is None and Path(os.path.normpath(directory.resolve() / value)).is_relative_to(root):
        return value
    try:
        return inside if inside is not None else str((directory / value).resolve(strict=True))
    except (OSError, ValueError, RuntimeError):
        return value


def _path_from_root(root: Path, text: str, directory: Path) -> str | None:
    try:
        if not text or not (directory / text).exists():
            return None
        return (directory / text).resolve().relative_to(root).as_posix()
    except (OSError, ValueError):  # too long or odd to be a path, or one that leads elsewhere
        return None


def with_content(
    declared: Sequence[Parameter], arguments: JsonMapping, directory: Path
) -> dict[str, object]:
    """The same arguments, with the texts in the place of the files that hold them; raises
    `unreadable_file`.
    """
    roles = {parameter.name: parameter.role for parameter in declared}
    given = dict(arguments)
    for name, value in arguments.items():
        if isinstance(value, str) and _is_place(roles.get(name), value):
            given[name] = _content(value, directory)
    return given


def _is_place(role: Role | None, value: str) -> bool:
    """True if a value says where a text is to be read."""
    return role is Role.CONTENT or (role is Role.PROSE and value == STANDARD_INPUT)


def _content(name: str, directory: Path) -> str:
    if "\n" in name:
        return name  # the text itself
    try:
        if name == STANDARD_INPUT:
            text = sys.stdin.buffer.read(MAX_CONTENT_BYTES + 1)
        else:
            with (directory / name).open("rb") as file:
                text = file.read(MAX_CONTENT_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "its name is none of a file"
        raise TerselyError(
            "unreadable_file",
            f"{name} cannot be read: {why}",
            "check the path, and who may read it",
        ) from error
    if len(text) > MAX_CONTENT_BYTES:
        raise TerselyError(
            "unreadable_file",
            f"{name} is larger than {MAX_CONTENT_BYTES:,} bytes",
            "give a part of it",
        )
    return text.decode("utf-8", "surrogateescape") or "\n"
