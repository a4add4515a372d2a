"""Questions to services: who answers them, and the answers on their way back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from laconic.foundation.ids import new_id
from laconic.foundation.limits import MAX_SERVICE_SECONDS, REQUEST_SECONDS
from laconic.protocols.socket.envelopes import ServiceFailure, ServiceRequest, ServiceResponse
from laconic.router.connection import Connection

Answer = Callable[[ServiceResponse], None]


class _Asked(NamedTuple):
    service: Connection
    request_id: str  # as whoever asks calls it
    answer: Answer
    timer: asyncio.TimerHandle


class Services:
    """The services that are connected. Used on the router's loop alone."""

    def __init__(self) -> None:
        self._connected: dict[str, Connection] = {}
        self._asked: dict[str, _Asked] = {}

    def joined(self, service: Connection) -> None:
        """A client that is a service has been let in; `service.declared` is what it said of itself."""
        self._connected[service.name] = service

    def left(self, service: Connection) -> None:
        """It is gone, and what it was asked fails."""
        if self._connected.get(service.name) is service:
            del self._connected[service.name]
        for sent_id, asked in list(self._asked.items()):
            if asked.service is service:
                self._fail(sent_id, "SERVICE_ERROR", f"the service {service.name} has gone")

    def ask(self, sender: str, request_id: str, request: ServiceRequest, answer: Answer) -> None:
        """Have a question answered: `answer` is called once, now or later."""
        service = self._connected.get(request.service)
        if service is None:
            failure = ServiceFailure("SERVICE_NOT_FOUND", f"no service is called {request.service!r}")
            answer(ServiceResponse(request_id, False, error=failure))
            return
        seconds = min((request.timeout_ms or REQUEST_SECONDS * 1000) / 1000, MAX_SERVICE_SECONDS)
        sent_id = new_id()
        late = f"{request.service} has not answered in {seconds:g} s"
        timer = asyncio.get_running_loop().call_later(seconds, self._fail, sent_id, "TIMEOUT", late)
        self._asked[sent_id] = _Asked(service, request_id, answer, timer)
        service.send("SERVICE_REQUEST", request, id=sent_id, from_=sender, to=request.service)

    def answered(self, service: Connection, response: ServiceResponse) -> bool:
        """A service has answered; whether it was asked that."""
        asked = self._asked.get(response.request_id)
        if asked is None or asked.service is not service:
            return False
        self._end(response.request_id)
        response.request_id = asked.request_id
        asked.answer(response)
        return True

    def _fail(self, sent_id: str, code: str, message: str) -> None:
        asked = self._end(sent_id)
        asked.answer(ServiceResponse(asked.request_id, False, error=ServiceFailure(code, message)))

    def _end(self, sent_id: str) -> _Asked:
        asked = self._asked.pop(sent_id)
        asked.timer.cancel()
        return asked
