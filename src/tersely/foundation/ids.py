"""Identifiers enter the program here: unique, sorted by the time at which they were made."""

from __future__ import annotations

import os
from uuid import UUID

from tersely.foundation.clock import wall_ms


def new_id(now_ms: int | None = None) -> str:
    """A new UUID of version 7 (RFC 9562): its first 48 bits are the time in ms since 1970, the rest
    is random.
    """
    stamp = wall_ms() if now_ms is None else now_ms
    drawn = bytearray(stamp.to_bytes(6, "big") + os.urandom(10))
    drawn[6] = 0x70 | drawn[6] & 0x0F
    drawn[8] = 0x80 | drawn[8] & 0x3F
    return str(UUID(bytes=bytes(drawn)))
