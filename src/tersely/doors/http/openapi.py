"""The operations as a document of OpenAPI 3.1, for whoever generates a client or a test."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from tersely import __version__
from tersely.capabilities.declaration.binding import closed_object, required_names, schema_of
from tersely.capabilities.declaration.declaration import Parameter
from tersely.capabilities.relay.contract import shapes
from tersely.capabilities.relay.contract.operations import (
    AGENT_TOKEN,
    IDEMPOTENCY_KEY,
    IF_MATCH,
    Content,
    HttpOperation,
)
from tersely.doors.http.failures import status_of
from tersely.foundation.types import JsonObject

_FOR_ALL = (
    "malformed_request",
    "invalid_argument",
    "forbidden_origin",
    "unauthorized",
    "busy",
    "database_unavailable",
)
_AGENT = Parameter(
    "X-Relay-Agent",
    help="the agent that asks; letters may be of any one script",
    required=False,
    pattern=shapes.AGENT_PATTERN,
)
_SCHEMAS = "#/components/schemas/{name}"


def document(operations: Iterable[HttpOperation]) -> JsonObject:
    """The document."""
    listed = tuple(operations)
    kinds = [
        kind
        for operation in listed
        for kind in (operation.asks, operation.answers)
        if kind is not None
    ]
    _, components = msgspec.json.schema_components([*kinds, shapes.Failure], ref_template=_SCHEMAS)
    paths: JsonObject = {}
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


def _operation(operation: HttpOperation) -> JsonObject:
    headers = [
        *(() if operation.is_open else (_AGENT, AGENT_TOKEN)),
        *((IF_MATCH,) if operation.conditional else ()),
        *((IDEMPOTENCY_KEY,) if operation.repeatable else ()),
    ]
    parameters = [
        *(_parameter(one, "path") for one in operation.in_path),
        *(_parameter(one, "query") for one in operation.query),
        *(_parameter(one, "header") for one in headers),
    ]
    described: JsonObject = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": parameters,
        "responses": _responses(operation),
    }
    if operation.is_open:
        described["security"] = []
    if operation.asks is not None:
        schema = _members(operation) if operation.given else _schema(operation.asks)
        described["requestBody"] = {"required": True, "content": {Content.JSON: {"schema": schema}}}
    elif operation.takes is Content.BYTES:
        # nothing is content, too
        described["requestBody"] = {"content": {Content.BYTES: {"schema": {}}}}
    return described


def _responses(operation: HttpOperation) -> JsonObject:
    given: JsonObject = {"description": operation.summary}
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


def _parameter(declared: Parameter, place: str) -> JsonObject:
    schema = schema_of(declared)
    about = schema.pop("description")
    if schema.get("default") is None:
        schema.pop("default", None)
    needed = {"required": True} if declared.required else {}
    return {"name": declared.name, "in": place, "description": about, **needed, "schema": schema}


def _members(operation: HttpOperation) -> JsonObject:
    properties = {one.name: schema_of(one) for one in operation.given}
    return closed_object(properties, required_names(operation.given))


def _schema(kind: Any) -> JsonObject:
    (schema,), _ = msgspec.json.schema_components([kind], ref_template=_SCHEMAS)
    return schema
