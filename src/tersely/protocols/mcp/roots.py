"""Which repository the questions of a client are about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import CLIENT_ROOTS_SECONDS
from tersely.workspace import find_root


class Roots:
    """The directory that was named; else the first that the client works in, as it is; else that around our own.

    Over HTTP anybody on this machine may be the client, so there `follows_client` is false.
    """

    def __init__(self, named: Path | None, *, follows_client: bool) -> None:
        self._named = named
        self._follows_client = follows_client
        self._found: Path | None = None

    async def root(self, context: ServerRequestContext[Any]) -> Path:
        """The resolved directory; raises `root_not_found`."""
        if self._found is None:
            self._found = self._named or await self._of_client(context) or find_root(Path())
        return self._found

    def forget(self) -> None:
        """The client works somewhere else now."""
        self._found = None

    async def _of_client(self, context: ServerRequestContext[Any]) -> Path | None:
        session = context.session
        able = session.client_capabilities
        if not self._follows_client or able is None or able.roots is None or not session.can_send_request:
            return None
        try:
            told = await session.send_request(
                types.ListRootsRequest(), types.ListRootsResult, request_read_timeout_seconds=CLIENT_ROOTS_SECONDS
            )
        except MCPError:  # a client that does not answer has not said where it works
            return None
        return _directory([str(root.uri) for root in told.roots])


def _directory(uris: Sequence[str]) -> Path | None:
    """The first directory of this machine among some URIs, None if there are none; raises `root_not_found`."""
    for uri in uris:
        parts = urlsplit(uri)
        place = Path(unquote(parts.path))
        if parts.scheme == "file" and parts.netloc in {"", "localhost"} and place.is_dir():
            return place.resolve()
    if uris:
        message = f"none of the client's roots is a directory: {', '.join(uris)}"
        raise TerselyError("root_not_found", message, "name a directory with --root")
    return None
