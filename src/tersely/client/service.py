"""A service in a few lines: functions that anybody who is connected to the relay may ask.

    from tersely.client.service import Service

    service = Service("weather", version="1.0")

    @service.method(effect="read")
    def now(city: str, days: int = 1) -> dict[str, object]:
        '''The weather of a city.'''
        return {"city": city, "days": days, "sky": "clear"}

    service.run()

What a function takes is told to whoever lists capabilities, and checked before it is called. A
function that is no coroutine runs in a thread. What it raises is the answer: a `TerselyError` as it
is, anything else as `SERVICE_ERROR`. What it asks of services by a `Peer` or a `Client`, under any
name, is known to come of what it is asked itself.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from tersely.client import hops
from tersely.client.peer import Peer
from tersely.foundation.background import Background
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_SERVICE_REQUESTS, MAX_SERVICE_RESULT_BYTES
from tersely.foundation.types import JsonMapping, JsonObject, frozen
from tersely.relay.wire.envelopes import ServiceFailure
from tersely.relay.wire.failures import failure_of

# the longest pause of a service between two tries to reach the relay
SERVICE_RECONNECT_SECONDS = 5.0
_FIRST_PAUSE_SECONDS = 0.2
_LOST = frozenset({"daemon_unavailable", "daemon_not_running", "timed_out"})

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


@frozen
class _Method:
    function: Callable[..., Any]
    parameters: type[msgspec.Struct]  # what it takes
    told: JsonObject


class Service:
    """A service of one name: its methods, and the connection at which it answers."""

    def __init__(
        self, name: str, *, version: str = "", home: Path | None = None, token: str = ""
    ) -> None:
        """`home` is that of the relay, this user's without; `token` is needed where the name is
        bound to one.
        """
        self.name = name
        self._version = version
        self._home = home
        self._token = token
        self._methods: dict[str, _Method] = {}
        self._running = Background()

    def method(self, *, name: str = "", effect: str = "write") -> Callable[[FunctionT], FunctionT]:
        """Have a function asked. `effect` is what it touches beside its answer: read, write,
        network or execute.
        """

        def added(function: FunctionT) -> FunctionT:
            called = name or getattr(function, "__name__", "")
            parameters = _parameters(called, function)
            schema = msgspec.json.schema_components([parameters])[1][parameters.__name__]
            paragraph, _, _ = (inspect.getdoc(function) or "").partition("\n\n")
            summary = " ".join(paragraph.split())
            described = {
                "type": "object",
                **{key: schema[key] for key in ("properties", "required") if key in schema},
            }
            told = {
                "name": called,
                "description": summary,
                "parameters": described,
                "effect": effect,
            }
            self._methods[called] = _Method(function, parameters, told)
            return function

        return added

    def run(self) -> None:
        """Answer until interrupted; standard error says when it waits for a relay."""
        try:
            asyncio.run(self.serve(waits=self._say_why))
        except KeyboardInterrupt:
            return

    def _say_why(self, error: TerselyError) -> None:
        sys.stderr.write(f"{self.name} waits for a relay: {error}\n")
        sys.stderr.flush()

    async def serve(
        self,
        ready: Callable[[], None] = lambda: None,
        waits: Callable[[TerselyError], None] = lambda error: None,
    ) -> None:
        """Answer for as long as this is awaited, connected again whenever the relay was gone.
        `ready` is called with every connection, `waits` with why there is none, once until there is
        one again. Raises why the relay does not let the service in.
        """
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                async with await self._connect() as peer:
                    pause = _FIRST_PAUSE_SECONDS
                    ready()
                    await _refuse_messages(peer)
            except TerselyError as error:
                if error.code not in _LOST:
                    raise
                if pause == _FIRST_PAUSE_SECONDS:
                    waits(error)
            await asyncio.sleep(pause)
            pause = min(pause * 2, SERVICE_RECONNECT_SECONDS)

    def offered(self) -> list[JsonObject]:
        """The descriptions of what it can be asked, as the relay reads them."""
        return [method.told for method in self._methods.values()]

    async def result(self, payload: JsonMapping) -> Any:
        """The result of a question, as a `SERVICE_REQUEST` has it; raises what there is instead."""
        result = await self._called(str(payload.get("method")), payload.get("params", {}))
        size = len(msgspec.json.encode(result))
        if size > MAX_SERVICE_RESULT_BYTES:
            message = (
                f"the result has {size:,} bytes, at most {MAX_SERVICE_RESULT_BYTES:,} are sent"
            )
            raise TerselyError("answer_too_large", message)
        return result

    async def _connect(self) -> Peer:
        told = {"name": self.name, "version": self._version, "capabilities": self.offered()}
        peer = await Peer.connect(
            self.name, home=self._home, kind="service", token=self._token, service=told
        )
        peer.on_request = lambda request_id, sender, payload: self._begin(peer, request_id, payload)
        return peer

    def _begin(self, peer: Peer, request_id: str, payload: JsonMapping) -> None:
        if len(self._running) >= MAX_SERVICE_REQUESTS:
            busy = f"{MAX_SERVICE_REQUESTS:,} questions are being answered"
            peer.answer(request_id, error=ServiceFailure("BUSY", busy))
            return
        self._running.begin(self._answer(peer, request_id, payload))

    async def _answer(self, peer: Peer, request_id: str, payload: JsonMapping) -> None:
        hops.answering(payload.get("hops", 0), payload.get("traceparent", ""))
        result, error = None, None
        try:
            result = await self.result(payload)
        except TerselyError as refused:
            error = failure_of(refused)
        except Exception as raised:  # noqa: BLE001 - whatever a function does, whoever asked is answered
            error = ServiceFailure("SERVICE_ERROR", f"{type(raised).__name__}: {raised}")
        try:
            peer.answer(request_id, result, error)
        except TerselyError:  # the connection is lost, and with it whoever waits
            return

    async def _called(self, name: str, given: Any) -> Any:
        method = self._methods.get(name)
        if method is None:
            hint = f"it has {', '.join(sorted(self._methods))}"
            raise TerselyError(
                "unknown_command", f"{self.name} has no method {name[:80]!r}; {hint}"
            )
        try:
            taken = msgspec.convert(given, method.parameters)
        except msgspec.ValidationError as error:
            raise TerselyError("invalid_argument", f"{name}: {error}") from None
        arguments = {field: getattr(taken, field) for field in method.parameters.__struct_fields__}
        if inspect.iscoroutinefunction(method.function):
            return await method.function(**arguments)
        return await asyncio.to_thread(method.function, **arguments)


def _parameters(name: str, function: Callable[..., Any]) -> type[msgspec.Struct]:
    """The parameters of a function as a struct that is read from JSON strictly."""
    hints = inspect.get_annotations(function, eval_str=True)
    fields: list[tuple[str, type] | tuple[str, type, Any]] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}:
            raise TerselyError("usage", f"{name}: a method takes parameters that have names")
        kind = hints.get(parameter.name, Any)
        has_default = parameter.default is not parameter.empty
        fields.append(
            (parameter.name, kind, parameter.default) if has_default else (parameter.name, kind)
        )
    return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)


async def _refuse_messages(peer: Peer) -> None:
    """Answer messages for as long as the connection lasts: nobody reads them here."""
    async for delivery in peer.deliveries():
        await peer.nack(
            delivery, "INVALID", f"{peer.name} is a service: ask it with SERVICE_REQUEST"
        )
