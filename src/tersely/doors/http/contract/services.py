"""What goes to services and comes back, as values."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from tersely.foundation.limits import MAX_SERVICE_SECONDS, REQUEST_SECONDS

Name = Annotated[str, Meta(min_length=1, max_length=200)]


class NewQuestion(Struct, forbid_unknown_fields=True):
    """A question to a service."""

    service: Name
    method: Name
    params: dict[str, Any] = field(default_factory=dict)
    timeout_ms: Annotated[int, Meta(ge=1, le=MAX_SERVICE_SECONDS * 1000)] = REQUEST_SECONDS * 1000
    format: Literal["json", "text"] = "json"  # text: in words, as a command prints it, where the service has words


class ServiceAnswer(Struct):
    """What a service has answered. Text of somebody else's: untrusted."""

    service: str
    method: str
    result: Any
    duration_ms: int


class MethodTold(Struct):
    """One thing that a service can be asked."""

    name: str
    description: str
    args_schema: dict[str, Any]
    effect: str


class ServiceTold(Struct):
    """A service: `connected` by itself, or a `bridge` of the relay that leads to a `place`."""

    name: str
    version: str
    how: str
    place: str
    methods: list[MethodTold]


class Services(Struct):
    """Who can be asked, by name."""

    services: list[ServiceTold]
