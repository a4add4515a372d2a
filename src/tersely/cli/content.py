"""Texts that are handed to a command: from a file that is named, or as `-` from standard input, as
prose may come.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tersely.capabilities.declaration.declaration import Parameter, Role
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_CONTENT_BYTES
from tersely.foundation.types import JsonMapping

STANDARD_INPUT = "-"


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
