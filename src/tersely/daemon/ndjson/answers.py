"""A result as clients of the daemon are written it: as it is, but for search, whose hits such
clients print.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tersely.foundation.types import JsonObject

Shape = Callable[[Any], Any]  # from the JSON value of a result to the `result` of a reply


def whole(value: Any) -> Any:
    """The result as it is."""
    return value


def hits(value: Any) -> list[JsonObject]:
    """The hits of `code.search`, the best first; `score` is from 0 to 1."""
    return [
        {
            "file": hit["path"],
            "line": hit["line"],
            "signature": hit["signature"],
            "score": hit["share"],
        }
        for hit in value["hits"]
    ]
