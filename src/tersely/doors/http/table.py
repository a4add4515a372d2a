"""The table of endpoints: a walk down the segments of a path, however many endpoints there are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import NamedTuple, cast
from urllib.parse import unquote_to_bytes

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tersely.doors.http.guard import PRINCIPAL
from tersely.doors.http.request_parsing import ROOM, BodyRoom

Endpoint = Callable[[Request], Awaitable[Response]]
Failed = Callable[[Request, Exception], Response]


class _Node:
    """The segments that may follow those so far, and the endpoint where none follows."""

    def __init__(self) -> None:
        self.next: dict[str, _Node] = {}
        self.any: _Node | None = None
        self.leaf: _Leaf | None = None


class _Leaf(NamedTuple):
    names: tuple[str, ...]  # of the parameters, in their order
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
        self._root = _Node()
        self._others = others
        self._failed = failed
        self._held: dict[str, int] = {}  # bytes of bodies
        for template, by_method in endpoints.items():
            self._add(template, by_method)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        found = self._find(_segments(scope)) if scope["type"] == "http" else None
        if found is None:
            await self._others(scope, receive, send)
            return
        leaf, values = found
        scope["path_params"] = dict(zip(leaf.names, values, strict=True))
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

    def _add(self, template: str, by_method: Mapping[str, Endpoint]) -> None:
        node, names = self._root, []
        for segment in template.split("/"):
            if segment.startswith("{"):
                names.append(segment.strip("{}"))
                node.any = node.any or _Node()
                node = node.any
            else:
                node = node.next.setdefault(segment, _Node())
        node.leaf = _Leaf(tuple(names), by_method)

    def _find(self, segments: Iterable[str]) -> tuple[_Leaf, list[str]] | None:
        node, values = self._root, []
        for segment in segments:
            following = node.next.get(segment)
            if following is None:
                following = node.any if segment else None
                values.append(segment)
            if following is None:
                return None
            node = following
        return (node.leaf, values) if node.leaf is not None else None


def _segments(scope: Scope) -> list[str]:
    """Those of the path; a slash that is written as `%2F` is part of a name."""
    raw: bytes = scope.get("raw_path") or b""
    if b"%2f" not in raw and b"%2F" not in raw:
        return cast("str", scope["path"]).split("/")
    return [unquote_to_bytes(segment).decode("utf-8", "replace") for segment in raw.split(b"/")]


def _endpoint(leaf: _Leaf, request: Request) -> Endpoint:
    method = request.method if request.method != "HEAD" else "GET"
    endpoint = leaf.endpoints.get(method)
    if endpoint is None:
        raise HTTPException(405, headers={"Allow": ", ".join(sorted(leaf.endpoints))})
    return endpoint
