"""Paths as the editor has them, and as the agent has them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit


class EditorPlaces(NamedTuple):
    """The place of the repository for the editor: it may know it by a link."""

    base: str
    root: str

    @classmethod
    def of(cls, folder: str, root: Path) -> EditorPlaces:
        """Those of an editor that works in a folder."""
        return cls(
            os.path.normpath(folder) if os.path.realpath(folder) == str(root) else str(root),
            str(root),
        )

    def absolute(self, inside: str) -> str:
        """The path for the editor; "" for one that leads out of the repository."""
        path = os.path.normpath(os.path.join(self.base, inside.strip()))
        return path if any(path.startswith(f"{top.rstrip('/')}/") for top in self) else ""

    def inside(self, uri: str) -> str:
        """The path from the root of a `file:` URI, with the lines that it names; the URI itself for
        anything else.
        """
        parts = urlsplit(uri)
        path = os.path.normpath(unquote(parts.path))
        if parts.scheme != "file":
            return uri
        for top in self:
            if path.startswith(f"{top.rstrip('/')}/"):
                return f"@{os.path.relpath(path, top)}{f' ({parts.fragment})' if parts.fragment else ''}"
        return path
