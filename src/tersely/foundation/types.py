"""The same names, to be imported for annotations alone."""

from __future__ import annotations

from tersely.foundation import JsonMapping, JsonObject

__all__ = ["JsonMapping", "JsonObject"]
