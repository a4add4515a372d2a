"""The names that all rooms use for objects of JSON, what is given to programs and servers, and plain values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar, dataclass_transform

JsonObject = dict[str, Any]  # an object of JSON, decoded
JsonMapping = Mapping[str, Any]  # the same, where it is only read
Environment = Mapping[str, str]  # the variables of a process, by name
Headers = Mapping[str, str]  # the fields of a head of HTTP
ValueT = TypeVar("ValueT")


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def frozen(made: type[ValueT]) -> type[ValueT]:
    """A class as a plain value: parameters, results and what they consist of."""
    return dataclasses.dataclass(frozen=True, slots=True)(made)
