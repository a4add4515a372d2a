"""JSON Patch (RFC 6902) over JSON Pointers (RFC 6901), on plain values as a JSON decoder gives them.

    apply({"facts": []}, [{"op": "add", "path": "/facts/-", "value": "tea"}]) == {"facts": ["tea"]}

All operations succeed or none has happened: containers are copied on the way to what changes and shared elsewhere, so
the document that was given is never touched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_DOCUMENT_BYTES, MAX_JSON_LEVELS, MAX_PATCH_OPERATIONS

_ABSENT = object()
_END = "-"  # of an array, in a pointer to where something is added


class _RefusedError(Exception):
    """Why one operation cannot be done to this document."""


class _Operation(NamedTuple):
    op: str
    path: tuple[str, ...]
    source: tuple[str, ...]  # of `move` and `copy`
    value: Any


def apply(document: Any, operations: object) -> Any:
    """The document after all operations.

    Raises `invalid_patch` for what is no JSON Patch at all, and `patch_failed`, with the operation that did not fit,
    for one that cannot be applied to this document.
    """
    parsed = parse(operations)
    copied_bytes = 0
    for number, operation in enumerate(parsed):
        try:
            if operation.op == "copy":
                copied_bytes += _copied_bytes(document, operation, copied_bytes)
            document = _DO[operation.op](document, operation)
        except _RefusedError as refusal:
            raise _failed(number, operation, str(refusal)) from None
    return document


def parse(operations: object) -> list[_Operation]:
    """The operations, checked for what a patch has to be whatever it is applied to; raises `invalid_patch`."""
    if not isinstance(operations, Sequence) or isinstance(operations, str | bytes):
        raise TerselyError("invalid_patch", "a patch is an array of operations", 'as [{"op": "add", …}]')
    if len(operations) > MAX_PATCH_OPERATIONS:
        message = f"a patch has at most {MAX_PATCH_OPERATIONS:,} operations, this one {len(operations):,}"
        raise TerselyError("invalid_patch", message, "send it in parts")
    return [_parsed(number, operation) for number, operation in enumerate(operations)]


def same(one: Any, other: Any) -> bool:
    """Equality of JSON values: numbers by value, and `true` is no number."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict):
        if not isinstance(other, dict) or one.keys() != other.keys():
            return False
        return all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        if not isinstance(other, list) or len(one) != len(other):
            return False
        return all(map(same, one, other))
    return bool(one == other)


def weight(value: Any, most_bytes: int) -> int:
    """About how many bytes a value takes as JSON; stops counting above `most_bytes`."""
    total = 0
    waiting = [value]
    while waiting and total <= most_bytes:
        value = waiting.pop()
        total += 2
        if isinstance(value, dict):
            total += sum(map(len, value))
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, str):
            total += len(value)
    return total


def levels(value: Any) -> int:
    """How deep containers are nested in a value: 0 for a plain one; at most one more than `MAX_JSON_LEVELS`."""
    depth = 0
    level = [value]
    while depth <= MAX_JSON_LEVELS:
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner.extend(one.values())
            elif isinstance(one, list):
                inner.extend(one)
        if not any(isinstance(one, dict | list) for one in level):
            return depth
        depth += 1
        level = inner
    return depth


def pointer(text: str) -> tuple[str, ...]:
    """The reference tokens of a JSON Pointer; `ValueError` if it is none."""
    if not text:
        return ()
    if not text.startswith("/"):
        raise ValueError("a pointer begins with / or is empty")
    tokens = text[1:].split("/")
    for token in tokens:
        if "~" in token.replace("~0", "").replace("~1", ""):
            raise ValueError("in a pointer ~ is written ~0, and / is written ~1")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in tokens)


def _copied_bytes(document: Any, operation: _Operation, so_far: int) -> int:
    """What one copy adds. A few copies of a few bytes each could double a document again and again."""
    added = weight(_found(document, operation.source), MAX_DOCUMENT_BYTES)
    if so_far + added > MAX_DOCUMENT_BYTES:
        raise _RefusedError(f"the copies come to more than {MAX_DOCUMENT_BYTES:,} bytes")
    return added


def _parsed(number: int, operation: object) -> _Operation:
    if not isinstance(operation, Mapping):
        raise _invalid(number, "an operation is an object")
    op = operation.get("op")
    if not isinstance(op, str) or op not in _DO:
        raise _invalid(number, f"op is one of {', '.join(_DO)}")
    path = _pointer_of(number, operation, "path")
    source = _pointer_of(number, operation, "from") if op in {"move", "copy"} else ()
    value = operation.get("value", _ABSENT)
    if op in {"add", "replace", "test"}:
        if value is _ABSENT:
            raise _invalid(number, f"{op} needs a value")
        if levels(value) > MAX_JSON_LEVELS:
            raise _invalid(number, f"the value is nested more than {MAX_JSON_LEVELS} levels deep")
    return _Operation(op, path, source, value)


def _pointer_of(number: int, operation: Mapping[Any, Any], member: str) -> tuple[str, ...]:
    text = operation.get(member)
    if not isinstance(text, str):
        raise _invalid(number, f"{member} is a JSON Pointer")
    try:
        return pointer(text)
    except ValueError as error:
        raise _invalid(number, f"{member}: {error}") from None


def _invalid(number: int, why: str) -> TerselyError:
    return TerselyError("invalid_patch", f"operation {number}: {why}", "RFC 6902 says how patches are written")


def _failed(number: int, operation: _Operation, why: str) -> TerselyError:
    path = "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in operation.path)
    message = f"operation {number} ({operation.op} {path[:200]}): {why}"
    return TerselyError("patch_failed", message, "nothing was changed; read the state and send a patch that fits it")


# What each operation does to a document


def _add(document: Any, operation: _Operation) -> Any:
    return _put(document, operation.path, operation.value)


def _remove(document: Any, operation: _Operation) -> Any:
    return _taken(document, operation.path)


def _replace(document: Any, operation: _Operation) -> Any:
    _found(document, operation.path)
    return _changed(document, operation.path, lambda container, key: _set(container, key, operation.value))


def _move(document: Any, operation: _Operation) -> Any:
    value = _found(document, operation.source)
    if operation.source == operation.path:
        return document
    if operation.path[: len(operation.source)] == operation.source:
        raise _RefusedError("nothing moves into itself")
    return _put(_taken(document, operation.source), operation.path, value)


def _copy(document: Any, operation: _Operation) -> Any:
    return _put(document, operation.path, _found(document, operation.source))


def _test(document: Any, operation: _Operation) -> Any:
    if not same(_found(document, operation.path), operation.value):
        raise _RefusedError("the value is another")
    return document


_DO: dict[str, Callable[[Any, _Operation], Any]] = {
    "add": _add, "remove": _remove, "replace": _replace, "move": _move, "copy": _copy, "test": _test,
}  # fmt: skip


# Ways into a document


def _found(document: Any, path: tuple[str, ...]) -> Any:
    for token in path:
        document = _child(document, token)
    return document


def _child(container: Any, token: str) -> Any:
    if isinstance(container, dict):
        if token not in container:
            raise _RefusedError(f"there is no member {token[:80]!r}")
        return container[token]
    if isinstance(container, list):
        return container[_position(token, len(container) - 1)]
    raise _RefusedError(f"what is there has no {token[:80]!r}: it is neither object nor array")


def _position(token: str, last: int) -> int:
    # RFC 6901: digits of ASCII without a leading zero.
    if not (token.isascii() and token.isdigit()) or (len(token) > 1 and token.startswith("0")):
        raise _RefusedError(f"{token[:80]!r} is no index of an array")
    if len(token) > 9 or int(token) > last:
        raise _RefusedError(f"the array has no place {token[:80]}")
    return int(token)


def _put(document: Any, path: tuple[str, ...], value: Any) -> Any:
    return _changed(document, path, lambda container, token: _inserted(container, token, value)) if path else value


def _taken(document: Any, path: tuple[str, ...]) -> Any:
    return _changed(document, path, _without) if path else None


def _changed(document: Any, path: tuple[str, ...], change: Callable[[Any, str], Any]) -> Any:
    """The document with the container that the path ends in changed; containers on the way are copied."""
    if not path:
        return change({"": document}, "")[""]
    way = [document]
    for token in path[:-1]:
        way.append(_child(way[-1], token))
    if len(way) > MAX_JSON_LEVELS:
        raise _RefusedError(f"documents are nested at most {MAX_JSON_LEVELS} levels deep")
    new = change(way[-1], path[-1])
    for container, token in zip(reversed(way[:-1]), reversed(path[:-1]), strict=True):
        new = _set(container, token, new)
    return new


def _set(container: Any, token: str, value: Any) -> Any:
    copied = container.copy()
    copied[int(token) if isinstance(container, list) else token] = value
    return copied


def _inserted(container: Any, token: str, value: Any) -> Any:
    if isinstance(container, dict):
        return {**container, token: value}
    if isinstance(container, list):
        at = len(container) if token == _END else _position(token, len(container))
        return [*container[:at], value, *container[at:]]
    raise _RefusedError("what is there is neither object nor array")


def _without(container: Any, token: str) -> Any:
    _child(container, token)
    copied = container.copy()
    del copied[int(token) if isinstance(container, list) else token]
    return copied
