"""The repository that the questions of a client are about."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from tersely.doors.mcp.jsonrpc import RpcError
from tersely.doors.mcp.session import OpenRequest
from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.roots import enclosing_root, find_root, holds_home, is_repository

ROOTS_SECONDS = 5  # for a client to say where it works
MAX_ROOTS = 100  # that are looked at


# by which clients that start servers elsewhere name the project: Claude Code, Cursor
PROJECT_VARIABLES = ("CLAUDE_PROJECT_DIR", "WORKSPACE_FOLDER_PATHS")


class Roots:
    """The directory that was named; else the first that the client works in, as it is; else the
    repository around our own, or else the project that the client has set.
    """

    def __init__(self, named: Path | None) -> None:
        self._named = named
        self._found: Path | None = None

    async def root(self, request: OpenRequest) -> Path:
        """The resolved directory; raises `root_not_found`."""
        if self._found is None:
            self._found = self._named or await _of_client(request) or _around_us()
        return self._found

    def forget(self) -> None:
        """The client works somewhere else now."""
        self._found = None


def _around_us() -> Path:
    """The repository around our own directory, else the project that the client has set in our
    environment, else our own directory; raises `root_not_found`.
    """
    if not is_repository(enclosing_root(os.path.realpath("."))):
        for name in PROJECT_VARIABLES:
            # several folders of a workspace stand with commas between them
            first = os.environ.get(name, "").partition(",")[0]
            if os.path.isabs(first) and os.path.isdir(first):
                return find_root(Path(first))
    return find_root(Path())


async def _of_client(request: OpenRequest) -> Path | None:
    if not request.has_roots:
        return None
    try:
        result = await request.session.ask("roots/list", ROOTS_SECONDS)
    except (RpcError, TimeoutError):  # a client that does not answer has not said where it works
        return None
    return _directory(_uris(result))


def _uris(result: Any) -> list[str]:
    roots = result.get("roots") if isinstance(result, dict) else None
    listed = roots[:MAX_ROOTS] if isinstance(roots, list) else []
    uris = [root.get("uri") for root in listed if isinstance(root, dict)]
    return [uri for uri in uris if isinstance(uri, str)]


def _directory(uris: Sequence[str]) -> Path | None:
    """The first directory of this machine among some URIs, None if there are none; raises
    `root_not_found`.
    """
    for uri in uris:
        with suppress(ValueError, OSError):  # no URI, or no path that the system takes
            parts = urlsplit(uri)
            place = Path(unquote(parts.path)).resolve()
            is_here = parts.scheme == "file" and parts.netloc in {"", "localhost"}
            if is_here and place.is_dir() and not holds_home(str(place)):
                return place
    if uris:
        message = f"none of the client's roots is the directory of a project: {', '.join(uris)}"
        raise TerselyError("root_not_found", message, "name a directory with --root")
    return None
