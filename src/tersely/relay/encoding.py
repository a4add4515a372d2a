"""JSON as the relay keeps and sends it: compact, UTF-8, and strict about what it takes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from tersely.foundation.errors import TerselyError

_ENCODER = msgspec.json.Encoder()
_SORTED = msgspec.json.Encoder(order="deterministic")
_DECODER = msgspec.json.Decoder()


def encode(value: Any) -> bytes:
    """A value as compact JSON."""
    return _ENCODER.encode(value)


def canonical(value: Any) -> bytes:
    """The same for equal values, whatever the order of their members."""
    return _SORTED.encode(value)


def decode(body: bytes, what: str = "the request") -> Any:
    """The value of a JSON text; raises `malformed_request` for what is none or is nested too deep."""
    try:
        return _DECODER.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise TerselyError(
            "malformed_request", f"{what} is not JSON: {error}", "send JSON in UTF-8"
        ) from None


def timestamp(at_ms: int) -> str:
    """A time in ms since 1970 as ISO 8601 in UTC, to the millisecond."""
    return (
        datetime.fromtimestamp(at_ms / 1000, UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )
