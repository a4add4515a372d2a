"""JSON Patch (RFC 6902) within bounds: `jsonpatch` applies the operations, this module limits what
they may cost.

apply(b'{"facts": []}', [{"op": "add", "path": "/facts/-", "value": "tea"}]) == {"facts": ["tea"]}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jsonpatch import (
    InvalidJsonPatch,
    JsonPatch,
    JsonPatchException,
    JsonPatchPathNotFound,
    JsonPatchTestFailed,
)
from jsonpointer import EndOfList, JsonPointer, JsonPointerException

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_DOCUMENT_BYTES, MAX_JSON_LEVELS, MAX_PATCH_OPERATIONS
from tersely.foundation.types import JsonMapping
from tersely.relay.encoding import decode, encode

# of all values together that one patch copies or moves: each is read whole
MAX_CARRIED_BYTES = 10 * MAX_DOCUMENT_BYTES
MAX_REASON_CHARACTERS = 200  # of a path or an explanation in a message: both may quote the document

_NEEDED = {"add": "value", "replace": "value", "test": "value", "move": "from", "copy": "from"}
_CONTAINERS = (dict, list)


def apply(body: bytes, operations: object) -> Any:
    """The document of a JSON text after all operations; a document is never nested more than
    `MAX_JSON_LEVELS`.

    Raises `invalid_patch` for what is no JSON Patch at all, and `patch_failed`, with the operation
    that did not fit, for one that cannot be applied to this document.
    """
    steps = _steps(operations)
    document = decode(body)
    copied_bytes = carried_bytes = 0
    for number, step in enumerate(steps):
        (operation,) = step
        try:
            size = _carried_bytes(document, operation)
            copied_bytes += size if operation["op"] == "copy" else 0
            if copied_bytes > MAX_DOCUMENT_BYTES:
                raise JsonPatchException(
                    f"the copies come to more than {MAX_DOCUMENT_BYTES:,} bytes"
                )
            carried_bytes += size
            if carried_bytes > MAX_CARRIED_BYTES:
                raise JsonPatchException(
                    f"what is copied and moved comes to more than {MAX_CARRIED_BYTES:,} bytes"
                )
            document = step.apply(document, in_place=True)
        except (JsonPatchException, JsonPointerException) as error:
            raise _failed(number, operation, error) from None
    return document


def _steps(operations: object) -> list[JsonPatch]:
    """A patch of one operation each, checked for what an operation has to be whatever it is applied
    to.
    """
    if not isinstance(operations, Sequence) or isinstance(operations, str | bytes):
        raise TerselyError(
            "invalid_patch", "a patch is an array of operations", 'as [{"op": "add", …}]'
        )
    if len(operations) > MAX_PATCH_OPERATIONS:
        message = (
            f"a patch has at most {MAX_PATCH_OPERATIONS:,} operations, this one {len(operations):,}"
        )
        raise TerselyError("invalid_patch", message, "send it in parts")
    steps = []
    for number, operation in enumerate(operations):
        try:
            steps.append(_step(operation))
        except (JsonPatchException, JsonPointerException) as error:
            message = f"operation {number}: {str(error)[:MAX_REASON_CHARACTERS]}"
            raise TerselyError(
                "invalid_patch", message, "RFC 6902 says how patches are written"
            ) from None
    return steps


def _step(operation: Any) -> JsonPatch:
    step = JsonPatch([operation])
    needed = _NEEDED.get(operation["op"])
    if needed is not None and needed not in operation:
        raise InvalidJsonPatch(f"{operation['op']} needs {needed!r}")
    if needed == "from":
        if not isinstance(operation["from"], str):
            raise InvalidJsonPatch("'from' is a JSON Pointer")
        JsonPointer(operation["from"])
        _check_levels(operation["from"], None)
    _check_levels(operation["path"], operation.get("value"))
    return step


def _carried_bytes(document: Any, operation: JsonMapping) -> int:
    """The size of the value that is copied or moved, 0 for other operations; raises where it would
    be too deep.

    A few copies of a few bytes each could double a document again and again, and a thousand moves
    read all of it again.
    """
    if operation["op"] not in {"copy", "move"}:
        return 0
    value = JsonPointer(operation["from"]).resolve(document)
    if isinstance(value, EndOfList):
        raise JsonPatchPathNotFound(operation["from"])
    _check_levels(operation["path"], value)
    return len(encode(value))


def _check_levels(path: str, value: Any) -> None:
    """Refuse a value that would be too deep in the document at this path, whatever the document."""
    if path.count("/") + _levels(value) > MAX_JSON_LEVELS:
        raise JsonPatchException(f"documents are nested at most {MAX_JSON_LEVELS} levels deep")


def _levels(value: Any) -> int:
    """The depth of nested containers in a value: 0 for a plain one; at most one more than
    `MAX_JSON_LEVELS`.
    """
    depth = 0
    level = [value] if isinstance(value, _CONTAINERS) else []
    while level and depth <= MAX_JSON_LEVELS:
        depth += 1
        inner: list[Any] = []
        for one in level:
            inner.extend(one.values() if isinstance(one, dict) else one)
        level = [one for one in inner if isinstance(one, _CONTAINERS)]
    return depth


def _failed(number: int, operation: JsonMapping, error: Exception) -> TerselyError:
    path = operation["path"][:MAX_REASON_CHARACTERS]
    message = f"operation {number} ({operation['op']} {path}): {_reason(error)}"
    return TerselyError(
        "patch_failed", message, "nothing was changed; read the state and send a patch that fits it"
    )


def _reason(error: Exception) -> str:
    if isinstance(error, JsonPatchTestFailed):
        return "the value is another"
    if isinstance(error, JsonPatchPathNotFound):
        return "there is no such member or element"
    return str(error)[:MAX_REASON_CHARACTERS]
