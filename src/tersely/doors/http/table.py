"""The table of endpoints: one look at a path, however many endpoints there are."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, cast
from urllib.parse import unquote_to_bytes

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tersely.doors.http.guard import PRINCIPAL
from tersely.doors.http.request_parsing import ROOM, BodyRoom
from tersely.foundation.types import Strings

Endpoint = Callable[[Request], Awaitable[Response]]
Failed = Callable[[Request, Exception], Response]


_SLASH = "\udc2f"  # in a segment: what no text in UTF-8 has


class _Leaf(NamedTuple):
    names: Strings  # of the parameters, in their order
    endpoints: Mapping[str, Endpoint]  # by method


class Table:
    """An application that answers the paths it knows, and hands all others on.

    A template such as `/threads/{thread_id}` has parameters between braces, each of which is one
    whole segment. Where both are there, a segment that is written out goes before a parameter.
    """

    def __init__(
        self, endpoints: Mapping[str, Mapping[str, Endpoint]], others: Starlette, failed: Failed
    ) -> None:
        """`endpoints` are by template and method; `failed` makes an answer of what one of them
        raises.
        """
        self._others = others
        self._failed = failed
        self._held: dict[str, int] = {}  # bytes of bodies
        self._leaves: dict[int | None, _Leaf] = {}  # by the number of the group of a whole path
        paths, number = [], 1
        for template in sorted(endpoints):  # letters come before braces
            names = tuple(re.findall(r"{(\w+)}", template))
            self._leaves[number] = _Leaf(names, endpoints[template])
            paths.append(re.sub(r"\\{\w+\\}", "([^/]+)", re.escape(template)))
            number += 1 + len(names)
        self._path = re.compile("|".join(f"({path})" for path in paths))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        found = self._path.fullmatch(_path(scope)) if scope["type"] == "http" else None
        if found is None:
            await self._others(scope, receive, send)
            return
        leaf = self._leaves[found.lastindex]
        values = [one.replace(_SLASH, "/") for one in found.groups() if one is not None]
        scope["path_params"] = dict(zip(leaf.names, values[1:], strict=True))
        scope["app"] = self._others  # whose state the endpoints share
        request = Request(scope, receive, send)
        room = scope[ROOM] = BodyRoom(self._held, scope.get(PRINCIPAL))
        try:
            response = await _endpoint(leaf, request)(request)
        except Exception as error:  # noqa: BLE001 - whoever asks is answered, whatever has happened
            response = self._failed(request, error)
        finally:
            room.let_go()
        await response(scope, receive, send)


def _path(scope: Scope) -> str:
    """The path; a slash that is written as `%2F` is part of a name, and `_SLASH` here."""
    raw: bytes = scope.get("raw_path") or b""
    if b"%2f" not in raw and b"%2F" not in raw:
        return cast("str", scope["path"])
    segments = (unquote_to_bytes(one).decode("utf-8", "replace") for one in raw.split(b"/"))
    return "/".join(one.replace("/", _SLASH) for one in segments)


def _endpoint(leaf: _Leaf, request: Request) -> Endpoint:
    method = request.method if request.method != "HEAD" else "GET"
    endpoint = leaf.endpoints.get(method)
    if endpoint is None:
        raise HTTPException(405, headers={"Allow": ", ".join(sorted(leaf.endpoints))})
    return endpoint
