"""The description of a service by itself: its name, its version, and what it can be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta, Struct

from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonMapping, JsonObject, field, frozen
from tersely.relay.encoding import encode
from tersely.relay.policy import CapabilityReach
from tersely.relay.services.calls import Call, Scope
from tersely.relay.wire.documents import MethodTold, ServiceTold

MAX_SERVICE_CAPABILITIES = 100  # of one service
MAX_SERVICE_TEXT_CHARACTERS = 1_000  # of what it says of itself or of one of them
MAX_SERVICE_SCHEMA_BYTES = 10_000
CONNECTED, BRIDGE = "connected", "bridge"  # how the relay reaches a service
_ANYTHING: JsonMapping = {"type": "object"}
_TOLD = "a capability is a name, or an object with a name, a description, parameters and an effect"


class _ToldService(Struct):
    """A capability as a service says it."""

    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}\Z")]
    description: Annotated[str, Meta(max_length=MAX_SERVICE_TEXT_CHARACTERS)] = ""
    parameters: JsonObject = msgspec.field(default_factory=lambda: dict(_ANYTHING))
    effect: CapabilityReach = CapabilityReach.WRITE


class Method(NamedTuple):
    """One thing that a service can be asked. `reach` is what it touches beside its answer."""

    name: str
    description: str = ""
    parameters: JsonMapping = _ANYTHING  # a JSON Schema
    reach: CapabilityReach = CapabilityReach.WRITE  # nobody has said that it only reads


@frozen
class DeclaredService:
    """A service. One that lists no methods can be asked anything, over the socket alone."""

    name: str
    version: str = ""
    methods: Mapping[str, Method] = field(default_factory=dict)
    how: str = CONNECTED
    place: str = ""  # what a bridge leads to
    # for which state of the world an answer holds
    scope: Callable[[str, Call], Scope | None] | None = None

    def told(self, held_back: int) -> ServiceTold:
        """The service as doors list it, and the questions to it that were held back."""
        methods = [
            MethodTold(one.name, one.description, dict(one.parameters), str(one.reach))
            for one in self.methods.values()
        ]
        return ServiceTold(self.name, self.version, self.how, self.place, methods, held_back)


def capability(service: str, method: str) -> str:
    """The name under which a method of a service is called like any capability."""
    return f"{service}.{method}"


def declared(name: str, version: str, capabilities: Sequence[Any]) -> DeclaredService:
    """The declaration of a service, checked; raises `invalid_argument`."""
    if len(capabilities) > MAX_SERVICE_CAPABILITIES:
        raise _refused(
            f"a service has at most {MAX_SERVICE_CAPABILITIES} capabilities, this one {len(capabilities):,}"
        )
    methods = {method.name: method for method in map(_method, capabilities)}
    return DeclaredService(name, version[:MAX_SERVICE_TEXT_CHARACTERS], methods)


def _method(given: Any) -> Method:
    try:
        told = msgspec.convert({"name": given} if isinstance(given, str) else given, _ToldService)
    except msgspec.ValidationError as error:
        raise _refused(f"a capability is refused: {error}") from None
    if told.parameters.get("type") != "object":
        raise _refused(
            f'the parameters of {told.name} are a JSON Schema of an object: {{"type": "object", …}}'
        )
    if len(encode(told.parameters)) > MAX_SERVICE_SCHEMA_BYTES:
        raise _refused(
            f"the parameters of {told.name} take more than {MAX_SERVICE_SCHEMA_BYTES:,} bytes to describe"
        )
    return Method(told.name, told.description, told.parameters, told.effect)


def _refused(message: str) -> TerselyError:
    return TerselyError("invalid_argument", message, _TOLD)
