"""The operations as a document of OpenAPI 3.1, for whoever generates a client or a test."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from tersely import __version__
from tersely.doors.http.contract import shapes
from tersely.doors.http.contract.operations import (
    IF_MATCH_PATTERN,
    KEY_PATTERN,
    PATH_CHOICES,
    PATH_PATTERNS,
    Content,
    Operation,
    Query,
)
from tersely.doors.http.failures import status_of

_FOR_ALL = (
    "malformed_request",
    "invalid_argument",
    "forbidden_origin",
    "unauthorized",
    "busy",
    "database_unavailable",
)
_SCHEMAS = "#/components/schemas/{name}"


def document(operations: Iterable[Operation]) -> dict[str, Any]:
    """The document."""
    listed = tuple(operations)
    kinds = [
        kind
        for operation in listed
        for kind in (operation.asks, operation.answers)
        if kind is not None
    ]
    _, components = msgspec.json.schema_components([*kinds, shapes.Failure], ref_template=_SCHEMAS)
    paths: dict[str, Any] = {}
    for operation in listed:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Tersely relay",
            "version": __version__,
            "license": {"name": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(operation: Operation) -> dict[str, Any]:
    parameters: list[dict[str, Any]] = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": _text(PATH_PATTERNS.get(name), PATH_CHOICES.get(name)),
        }
        for name in re.findall(r"{(\w+)}", operation.path)
    ]
    parameters += [_query(query) for query in operation.query]
    headers = [
        ("X-Relay-Agent", not operation.is_open, shapes.AGENT_PATTERN),
        ("If-Match", operation.conditional, IF_MATCH_PATTERN),
        ("Idempotency-Key", operation.repeatable, KEY_PATTERN),
    ]
    parameters += [
        {"name": name, "in": "header", "schema": _text(pattern)}
        for name, is_known, pattern in headers
        if is_known
    ]
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": parameters,
        "responses": _responses(operation),
    }
    if operation.is_open:
        described["security"] = []
    if operation.asks is not None:
        described["requestBody"] = {
            "required": True,
            "content": {Content.JSON: {"schema": _schema(operation.asks)}},
        }
    elif operation.takes is Content.BYTES:
        # nothing is content, too
        described["requestBody"] = {"content": {Content.BYTES: {"schema": {}}}}
    return described


def _responses(operation: Operation) -> dict[str, Any]:
    given: dict[str, Any] = {"description": operation.summary}
    if operation.answers is not None:
        given["content"] = {Content.JSON: {"schema": _schema(operation.answers)}}
    elif operation.gives is Content.BYTES:
        given["content"] = {kind: {"schema": {}} for kind in (Content.BYTES, Content.TEXT)}
    else:
        given["content"] = {operation.gives: {"schema": {"type": "string"}}}
    codes: dict[int, list[str]] = {}
    for code in dict.fromkeys((*_FOR_ALL, *operation.fails)):
        codes.setdefault(status_of(code), []).append(code)
    failure = {Content.JSON: {"schema": _schema(shapes.Failure)}}
    failed = {
        str(status): {"description": ", ".join(names), "content": failure}
        for status, names in sorted(codes.items())
    }
    return {str(operation.status): given, **failed}


def _query(query: Query) -> dict[str, Any]:
    schema = _text(query.pattern, query.choices)
    if query.least is not None:
        schema = {"type": "integer", "minimum": query.least, "maximum": query.most}
    if query.default is not None:
        schema["default"] = query.default
    needed = {"required": True} if query.is_required else {}
    return {
        "name": query.name,
        "in": "query",
        "description": query.help,
        **needed,
        "schema": schema,
    }


def _text(pattern: str | None = "", choices: tuple[str, ...] | None = ()) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    if pattern:
        schema["pattern"] = f"^({pattern})$"
    if choices:
        schema["enum"] = list(choices)
    return schema


def _schema(kind: Any) -> dict[str, Any]:
    (schema,), _ = msgspec.json.schema_components([kind], ref_template=_SCHEMAS)
    return schema
