"""The document of OpenAPI says what the relay takes and gives: requests made from it are answered
as it says.
"""

from __future__ import annotations

import re
import string
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.depth import examples
from tests.doors.http.conftest import Answer, Web

from tersely.capabilities.declaration.binding import checked
from tersely.capabilities.relay.contract import shapes
from tersely.capabilities.relay.contract.operations import Content, HttpOperation, operations
from tersely.doors.http.openapi import document
from tersely.foundation.errors import TerselyError

DOCUMENT = document(operations())
ASKED = [one for one in operations() if one.gives is not Content.EVENTS]
UNDERSTOOD = {400: "what fits its description is understood", 405: "every operation has its route"}
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


def described(operation: HttpOperation) -> dict[str, Any]:
    found: dict[str, Any] = DOCUMENT["paths"][operation.path][operation.method.lower()]
    return found


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that fit a schema, of the words that the document uses."""
    if "$ref" in schema:
        named = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return fitting(both(named, without(schema, "$ref")))
    if "anyOf" in schema:
        return st.one_of([fitting(both(without(schema, "anyOf"), one)) for one in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case [*types]:
            return st.one_of([fitting({**schema, "type": one}) for one in types])
        case "object":
            return objects(schema)
        case "array":
            return st.lists(fitting(schema.get("items", {})), max_size=3)
        case "string" if "pattern" in schema:
            return st.from_regex(schema["pattern"].replace("$", r"\Z"), alphabet=string.printable)
        case "string":
            return TEXTS.filter(lambda text: len(text) >= schema.get("minLength", 0))
        case "integer":
            return st.integers(schema.get("minimum", 0), schema.get("maximum", 10**6))
        case "number":
            return st.floats(allow_nan=False, allow_infinity=False)
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case _:
            return ANYTHING


def without(schema: dict[str, Any], word: str) -> dict[str, Any]:
    return {name: rule for name, rule in schema.items() if name != word}


def both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """A schema of what fits two."""
    properties = {**one.get("properties", {}), **other.get("properties", {})}
    required = [*one.get("required", ()), *other.get("required", ())]
    return {
        **one,
        **other,
        **({"properties": properties, "required": required} if properties else {}),
    }


def objects(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    members = {name: fitting(member) for name, member in schema.get("properties", {}).items()}
    needed = {name: one for name, one in members.items() if name in schema.get("required", ())}
    return st.fixed_dictionaries(
        needed, optional={name: members[name] for name in members.keys() - needed.keys()}
    )


def sent(web: Web, operation: HttpOperation, data: st.DataObject, body: Any) -> Answer:
    """A request with path, query and headers as they are described, and this body."""
    path, query, headers = operation.path, {}, {}
    for one in described(operation)["parameters"]:
        is_there = one.get("required") or data.draw(st.booleans())
        if not is_there:
            continue
        value = str(
            data.draw(
                st.sampled_from([web.known])
                if one["name"] == "thread_id"
                else fitting(one["schema"])
            )
        )
        if one["in"] == "path":
            path = path.replace(f"{{{one['name']}}}", quote(value, safe="") or "-")
        elif one["in"] == "query":
            query[one["name"]] = value
        else:
            headers[one["name"].replace("-", "_")] = value
    return web.ask(operation.method, f"{path}?{urlencode(query)}", body, **headers)


@pytest.fixture(scope="module")
def asked(web: Web) -> Web:
    """The relay with a thread that requests are about."""
    web.known = web.thread()  # type: ignore[attr-defined]
    return web


@pytest.mark.parametrize("operation", ASKED, ids=lambda operation: operation.name)
@settings(max_examples=examples(fast=4), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_fits_is_answered_as_described(
    asked: Web, operation: HttpOperation, data: st.DataObject
) -> None:
    body = data.draw(st.binary(max_size=20)) if operation.takes is Content.BYTES else None
    if operation.asks is not None:
        content = described(operation)["requestBody"]["content"]
        body = data.draw(fitting(content[Content.JSON]["schema"]))
    answer = sent(asked, operation, data, body)
    assert str(answer.status) in described(operation)["responses"], answer.content
    assert answer.status not in UNDERSTOOD, answer.content
    assert answer.status != 500, answer.content
    if answer.status >= 400:
        msgspec.convert(answer.json, shapes.Failure)
    elif operation.answers is not None:
        assert answer.status == operation.status
        msgspec.convert(answer.json, operation.answers)


@pytest.mark.parametrize(
    "operation",
    [one for one in ASKED if one.asks is not None],
    ids=lambda operation: operation.name,
)
@settings(max_examples=examples(fast=4), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), body=ANYTHING)
def test_what_does_not_fit_is_refused(
    asked: Web, operation: HttpOperation, data: st.DataObject, body: Any
) -> None:
    try:
        msgspec.convert(body, operation.asks)
        checked(operation.given, body if operation.given else {})
    except (msgspec.ValidationError, TerselyError):
        answer = sent(asked, operation, data, body)
        assert answer.status in {400, 404, 413}, answer.content


def test_a_path_tells_its_methods(asked: Web) -> None:
    for path in sorted({operation.path for operation in operations()}):
        answer = asked.ask("OPTIONS", re.sub(r"{\w+}", "x", path))
        methods = {operation.method for operation in operations() if operation.path == path}
        assert answer.status == 405
        assert set(answer.headers["allow"].split(", ")) - {"HEAD"} == methods


def test_every_operation_can_be_asked() -> None:
    names = [one["operationId"] for path in DOCUMENT["paths"].values() for one in path.values()]
    assert sorted(names) == sorted(one.name for one in operations())
