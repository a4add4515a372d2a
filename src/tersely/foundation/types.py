"""Names for types that many modules share. To be imported for annotations alone."""

from __future__ import annotations

from typing import Any

JsonObject = dict[str, Any]  # an object of JSON, decoded
