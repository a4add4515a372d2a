"""Questions to services: who answers them, and the answers on their way back."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from msgspec import Raw

from tersely.doors.socket.connection import SocketConnection
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.ids import new_id
from tersely.foundation.limits import (
    MAX_SERVICE_REQUESTS,
    MAX_SERVICE_RESULT_BYTES,
    MAX_SERVICE_SECONDS,
    REQUEST_SECONDS,
)
from tersely.foundation.types import JsonMapping, record
from tersely.relay.services import services as relays
from tersely.relay.services.declared import DeclaredService, declared
from tersely.relay.services.figures import OTHER
from tersely.relay.wire.envelopes import (
    Hello,
    HelloService,
    ServiceFailure,
    ServiceRequest,
    ServiceResponse,
)
from tersely.relay.wire.failures import CODES, error_of, failure_of

MAX_ASKED_REQUESTS = 64  # of those, of one asker

Answer = Callable[[ServiceResponse], None]
_LOG = logging.getLogger("tersely.doors.socket")


class AskedMethod(NamedTuple):
    """A question to a service of our own."""

    method: str
    parameters: bytes  # JSON
    seconds: float
    directory: str = ""  # where whoever asks works
    in_words: bool = False  # as a command prints it, where there are words


class Own(Protocol):
    """A service that the relay brings itself."""

    @property
    def declared(self) -> DeclaredService:
        """The service as it was declared."""

    async def answer(self, asked: AskedMethod) -> bytes:
        """The result as JSON; raises what there is instead."""


@record
class _Open:
    """A question that is not answered yet."""

    service: str
    method: str
    sender: str
    request_id: str  # as whoever asks calls it
    hops: int  # questions and calls that led to it
    answer: Answer
    watch: Stopwatch
    timer: asyncio.TimerHandle | None = None
    connection: SocketConnection | None = None
    task: asyncio.Task[None] | None = None


class SocketServices:
    """The services of one relay. Used on the router's loop alone."""

    def __init__(self, known: relays.KnownServices) -> None:
        self._known = known
        self._declared: dict[str, DeclaredService] = {}
        self._connected: dict[str, SocketConnection] = {}
        self._own: dict[str, Own] = {}
        self._open: dict[str, _Open] = {}
        self._asked: Counter[str] = Counter()  # open questions of each service
        self._asked_by: Counter[tuple[str, str]] = Counter()  # of a service and an asker

    def bring(self, service: Own) -> None:
        """Have a service of our own asked from now on."""
        name = service.declared.name
        self._own[name] = service
        self._declared[name] = service.declared
        for taken in self._known.joined(service.declared):
            _LOG.warning("%s is a capability of somebody else", taken)

    def refusal(self, hello: Hello) -> TerselyError | None:
        """The error for somebody who cannot be let in with this name and these capabilities, else
        None.
        """
        if hello.agent in self._own:
            instead = 'connect under another name, or start the relay with "enabled": false for it in services.json'
            return TerselyError(
                "name_taken", f"{hello.agent} is a service of the relay itself; {instead}"
            )
        told = hello.service or HelloService()
        if told.name not in {"", hello.agent}:
            return TerselyError(
                "invalid_argument", f"the service {told.name[:80]} says to be {hello.agent}"
            )
        try:
            declared(hello.agent, told.version, told.capabilities)
        except TerselyError as error:
            return error
        return None

    def joined(self, service: SocketConnection) -> None:
        """A client that is a service has been let in; `service.declared` is what it said of itself."""
        told = getattr(service.declared, "service", None) or HelloService()
        found = declared(service.name, told.version, told.capabilities)
        self._connected[service.name] = service
        self._declared[service.name] = found
        taken = self._known.joined(found)
        if taken:
            message = f"{', '.join(taken)} is called by others already; over the socket it is there"
            service.error("BAD_REQUEST", message, reason="name_taken")

    def left(self, service: SocketConnection) -> None:
        """It is gone, and what it was asked fails."""
        if self._connected.get(service.name) is service:
            del self._connected[service.name]
            del self._declared[service.name]
            self._known.left(service.name)
        for sent_id, one in list(self._open.items()):
            if one.connection is service:
                self._fail(
                    sent_id, TerselyError("service_error", f"the service {service.name} has gone")
                )

    def ask(
        self,
        sender: str,
        request_id: str,
        request: ServiceRequest,
        answer: Answer,
        directory: str = "",
    ) -> None:
        """Have a question answered: `answer` is called once, now or later. `directory` is where who
        asks works.
        """
        request.hops = max(request.hops, self._known.hops_of(sender))
        try:
            service = self._admitted(sender, request)
        except TerselyError as error:
            if request.service in self._declared:
                self._measure(request.service, request.method, 0.0, failure_of(error).code)
            answer(ServiceResponse(request_id, False, error=failure_of(error)))
            return
        seconds = min((request.timeout_ms or REQUEST_SECONDS * 1000) / 1000, MAX_SERVICE_SECONDS)
        sent_id = new_id()
        one = _Open(
            service.name, request.method, sender, request_id, request.hops, answer, Stopwatch()
        )
        self._known.begins(service.name, request.hops)
        late = TerselyError("timed_out", f"{service.name} has not answered in {seconds:g} s")
        one.timer = asyncio.get_running_loop().call_later(seconds, self._fail, sent_id, late)
        self._open[sent_id] = one
        self._asked[service.name] += 1
        self._asked_by[service.name, sender] += 1
        own = self._own.get(service.name)
        if own is not None:
            asked = AskedMethod(
                request.method, bytes(request.params), seconds, directory, request.format == "text"
            )
            one.task = asyncio.get_running_loop().create_task(
                self._have_answered(sent_id, own, asked)
            )
            return
        one.connection = self._connected[service.name]
        one.connection.send("SERVICE_REQUEST", request, id=sent_id, from_=sender, to=service.name)

    def put(
        self, actor: str, question: relays.ServiceCall, seconds: float, answer: relays.Answer
    ) -> None:
        """A question from another door; its answer is given to a future."""

        def answered(response: ServiceResponse) -> None:
            if not answer.set_running_or_notify_cancel():
                return
            if response.success:
                answer.set_result(
                    bytes(response.result) if isinstance(response.result, Raw) else b"null"
                )
            else:
                answer.set_exception(error_of(response.error))

        timeout_ms = max(1, round(seconds * 1000))
        parameters = Raw(question.parameters)
        request = ServiceRequest(
            question.service,
            question.method,
            parameters,
            timeout_ms,
            question.format,
            question.hops,
            question.traceparent,
        )
        self.ask(actor, "", request, answered)

    def answered(self, service: SocketConnection, response: ServiceResponse) -> bool:
        """A service has answered; whether it was asked that."""
        one = self._open.get(response.request_id)
        if one is None or one.connection is not service:
            return False
        self._settle(response.request_id, response)
        return True

    def close(self) -> None:
        """Answer nothing any more."""
        for one in self._open.values():
            self._known.ends(one.service, one.hops)
            if one.timer is not None:
                one.timer.cancel()
            if one.task is not None:
                one.task.cancel()
        self._open.clear()

    def _admitted(self, sender: str, request: ServiceRequest) -> DeclaredService:
        """The service that is asked; raises why it is not."""
        service = self._declared.get(request.service)
        if service is None:
            known = ", ".join(sorted(self._declared)) or "none"
            raise TerselyError(
                "service_not_found", f"no service is called {request.service!r}; there is {known}"
            )
        self._known.check(sender, service, request.method, request.hops)
        connection = self._connected.get(service.name)
        is_full = connection is not None and connection.is_full
        if is_full or self._asked[service.name] >= MAX_SERVICE_REQUESTS:
            raise TerselyError(
                "busy", f"{service.name} has more questions than it answers", "try again later"
            )
        if self._asked_by[service.name, sender] >= MAX_ASKED_REQUESTS:
            message = f"{service.name} has not answered {MAX_ASKED_REQUESTS} questions of yours yet"
            raise TerselyError("busy", message, "wait for answers")
        return service

    async def _have_answered(self, sent_id: str, own: Own, asked: AskedMethod) -> None:
        try:
            result = await own.answer(asked)
        except TerselyError as error:
            self._fail(sent_id, error)
        except Exception:  # noqa: BLE001 - a defect in one answer must not end the others
            _LOG.exception("%s of %s has failed", asked.method, own.declared.name)
            self._fail(
                sent_id, TerselyError("internal_error", "a defect in Tersely; the log has more")
            )
        else:
            if sent_id in self._open:
                self._settle(sent_id, ServiceResponse("-", True, Raw(result)))

    def _fail(self, sent_id: str, error: TerselyError) -> None:
        if sent_id in self._open:
            self._settle(sent_id, ServiceResponse("-", False, error=failure_of(error)))

    def _settle(self, sent_id: str, response: ServiceResponse) -> None:
        one = self._open.pop(sent_id)
        if one.timer is not None:
            one.timer.cancel()
        if one.task is not None and one.task is not asyncio.current_task():
            one.task.cancel()
        self._known.ends(one.service, one.hops)
        _less(self._asked, one.service)
        _less(self._asked_by, (one.service, one.sender))
        size = memoryview(response.result).nbytes if isinstance(response.result, Raw) else 0
        if size > MAX_SERVICE_RESULT_BYTES:
            message = (
                f"the result has {size:,} bytes, at most {MAX_SERVICE_RESULT_BYTES:,} are sent"
            )
            error = TerselyError(
                "answer_too_large", message, "ask for less: limit, depth or budget"
            )
            response = ServiceResponse("-", False, error=failure_of(error))
        failure = (
            "" if response.success else (response.error or ServiceFailure("SERVICE_ERROR", "")).code
        )
        self._measure(one.service, one.method, one.watch.seconds(), failure)
        response.request_id = one.request_id
        one.answer(response)

    def _measure(self, service: str, method: str, seconds: float, failure: str) -> None:
        declared_methods: JsonMapping = (
            self._declared[service].methods if service in self._declared else {}
        )
        # a service may make up as many as it likes
        code = failure if failure in CODES or not failure else OTHER
        self._known.figures.answered(
            service, method if method in declared_methods else OTHER, seconds, code
        )


def _less(counter: Counter[Any], key: Any) -> None:
    """One open question less; who has none is forgotten."""
    counter[key] -= 1
    if counter[key] <= 0:
        del counter[key]
