"""A question to the relay as a value, and what its answer becomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from tersely.capabilities.relay.contract.operations import (
    IDEMPOTENCY_KEY,
    Content,
    HttpOperation,
    operation,
)
from tersely.capabilities.relay.contract.shapes import Failure
from tersely.client.hops import led_here
from tersely.foundation.errors import EXIT_OF_CODE, TerselyError
from tersely.foundation.types import Headers, JsonMapping, field, frozen, without_none

AnswerT = TypeVar("AnswerT")
_CALL = "cap_invoke"  # the operation that counts what has led to it
_FOREIGN = "or one of another version: tersely down, then tersely up"


@frozen
class RelayRequest(Generic[AnswerT]):
    """One question. `path` and `query` are its parameters, `body` what is sent."""

    operation: HttpOperation
    path: Mapping[str, str] = field(default_factory=dict)
    query: JsonMapping = field(default_factory=dict)
    body: Any = None
    headers: Headers = field(default_factory=dict)

    @property
    def target(self) -> str:
        """The path and what is behind the question mark."""
        path = self.operation.path.format(
            **{name: quote(value, safe="") for name, value in self.path.items()}
        )
        given = without_none(self.query)
        return f"{path}?{urlencode(given)}" if given else path

    def content(self) -> bytes | None:
        """The encoded body, None without one."""
        if self.operation.takes is Content.BYTES:
            return bytes(self.body)
        return None if self.operation.asks is None else msgspec.json.encode(self.body)

    def answer(self, status: int, content: bytes) -> AnswerT:
        """The value of an answer; raises what the relay said instead."""
        answer: AnswerT = read_answer(self.operation.answers, status, content)
        return answer


def ask(
    name: str, content: bytes | None = None, /, *, key: str = "", **given: Any
) -> RelayRequest[Any]:
    """A question beside those that capabilities answer, by the name of its operation; nothing is
    asked yet. What is given by name stands in its path, its query or its body, which is else the
    `content` as it is. With the same key it happens once.
    """
    asked = operation(name)
    path = {one.name: given.pop(one.name) for one in asked.in_path}
    query = {one.name: given.pop(one.name) for one in asked.query if one.name in given}
    if name == _CALL:
        given["hops"] = max(given.get("hops", 0), led_here())
    if given and asked.asks is None:
        raise TypeError(f"{name} takes no {', '.join(given)}")
    body = given if content is None else content
    return RelayRequest(asked, path, query, body, {IDEMPOTENCY_KEY.name: key})


def read_answer(kind: Any, status: int, content: bytes) -> Any:
    """The value of an answer of some kind, its bytes where that is None; raises what the relay said
    instead.
    """
    if status >= 400:
        raise failure_of(status, content)
    return content if kind is None else decoded(kind, content)


def decoded(kind: Any, content: bytes) -> Any:
    """The relay's answer as a value; raises `not_a_relay` where it is none."""
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise TerselyError("not_a_relay", f"what answers is no relay: {error}", _FOREIGN) from None


def failure_of(status: int, content: bytes) -> TerselyError:
    """The error that the relay answered with."""
    try:
        told = msgspec.json.decode(content, type=Failure)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return TerselyError("not_a_relay", f"what answers is no relay: status {status}", _FOREIGN)
    if told.code not in EXIT_OF_CODE:  # of a newer relay
        return TerselyError("daemon_unavailable", told.error, told.hint)
    return TerselyError(told.code, told.message, told.hint)
