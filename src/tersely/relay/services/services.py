"""The services of a relay as the doors see them that live on threads: listed, asked, and called
like any capability.

Whoever is connected, and the bridges, live on one loop, which attaches itself as a `Desk`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from functools import partial
from threading import BoundedSemaphore, Lock
from typing import Literal, NamedTuple, Protocol

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_SERVICE_SECONDS, REQUEST_SECONDS
from tersely.foundation.types import JsonObject
from tersely.relay.encoding import decode, encode
from tersely.relay.policy import HeldBack, Policy, Rates
from tersely.relay.services.calls import Call, Given, Invocations, Offer
from tersely.relay.services.declared import DeclaredService, capability
from tersely.relay.services.figures import Figures, Sample, family
from tersely.relay.store.store import Store

MAX_SERVICE_CALLS = 32  # calls that wait for services at a time, so that others have threads left

Answer = Future[bytes]  # JSON, or the error that is raised instead
_GRACE_SECONDS = 5.0  # for the loop to say that there is no answer


class ServiceCall(NamedTuple):
    """A question to a service: its parameters are JSON."""

    service: str
    method: str
    parameters: bytes
    format: Literal["json", "text"] = "json"
    hops: int = 0  # questions and calls that led to this one
    traceparent: str = ""  # the trace that it is part of, which the service is told


class ServiceDesk(Protocol):
    """Whoever asks services. Used on its loop."""

    def put(self, actor: str, question: ServiceCall, seconds: float, answer: Answer) -> None:
        """Have a question answered, now or later."""


class KnownServices:
    """The services that can be asked, and their calls."""

    def __init__(self, store: Store, calls: Invocations, policy: Policy) -> None:
        self._store = store
        self._calls = calls
        self._policy = policy
        self._rates = Rates(policy.messages_per_minute)
        self._offered: dict[str, list[str]] = {}  # the capabilities of each
        self._known: dict[str, DeclaredService] = {}
        self._desk: ServiceDesk | None = None
        self._call_soon: Callable[..., object] = lambda *_: None
        self._waiting = BoundedSemaphore(MAX_SERVICE_CALLS)
        self._asked: dict[str, Counter[int]] = {}  # by service: the hops of its open questions
        self._asking = Lock()
        self.held = HeldBack()  # questions, by their services
        calls.hops_of = self.hops_of
        self.figures = Figures()
        # the bridges as their owner has decided, for whoever shows settings
        self.settings: list[JsonObject] = []

    def attach(self, call_soon: Callable[..., object], desk: ServiceDesk) -> None:
        """Have a desk asked from now on; `call_soon` has its loop call something."""
        self._call_soon, self._desk = call_soon, desk

    def detach(self) -> None:
        """Nobody is asked any more."""
        self._desk = None
        for name in list(self._known):
            self.left(name)

    def joined(self, service: DeclaredService) -> list[str]:
        """A service can be asked now. What is returned are the names that others have already,
        under which it is not called as a capability.
        """
        self._known[service.name] = service
        offered, taken = self._offered.setdefault(service.name, []), []
        for method in service.methods:
            name = capability(service.name, method)
            try:
                self._calls.offer_later(name, partial(self._offer, service, method))
            except TerselyError:
                taken.append(name)
            else:
                offered.append(name)
        return taken

    def left(self, name: str) -> None:
        """A service cannot be asked any more."""
        self._known.pop(name, None)
        for offered in self._offered.pop(name, ()):
            self._calls.withdraw(offered)

    def listed(self) -> list[DeclaredService]:
        """The services that can be asked, by name."""
        return [service for _, service in sorted(self._known.items())]

    def hops_of(self, actor: str) -> int:
        """The number of questions that have led to what an actor asks now: a service asks because
        it is asked.
        """
        with self._asking:
            return max(self._asked.get(actor, ()), default=-1) + 1

    def begins(self, service: str, hops: int) -> None:
        """A question to a service is open, to which so many have led."""
        with self._asking:
            self._asked.setdefault(service, Counter())[hops] += 1

    def ends(self, service: str, hops: int) -> None:
        """It is answered."""
        with self._asking:
            hopping = self._asked[service]
            hopping[hops] -= 1
            if not hopping[hops]:
                del hopping[hops]
            if not hopping:
                del self._asked[service]

    def check(self, actor: str, service: DeclaredService, method: str, hops: int) -> None:
        """Raise `unknown_command` for what it has not declared, `denied`, `rate_limited` or
        `hop_limit` where it may not be.
        """
        try:
            self._rates.take(f"{actor} to {service.name}")
            self._policy.check_hops(hops)
        except TerselyError as error:
            self.held.note(error, [service.name])
            raise
        known = service.methods.get(method)
        if known is not None:
            self._policy.check_call(capability(service.name, method), known.reach, actor)
        elif service.methods:
            hint = f"it has {', '.join(sorted(service.methods))}"
            raise TerselyError(
                "unknown_command", f"{service.name} has no method {method[:80]!r}", hint
            )

    def ask(self, actor: str, question: ServiceCall, seconds: float = REQUEST_SECONDS) -> Answer:
        """Put a question, from any thread."""
        answer: Answer = Future()
        self._policy.check_payload(len(question.parameters))
        desk = self._desk
        if desk is None:
            raise TerselyError(
                "service_not_found", f"no service is called {question.service[:80]!r}"
            )
        self._call_soon(desk.put, actor, question, min(seconds, MAX_SERVICE_SECONDS), answer)
        return answer

    def text(self) -> Iterator[str]:
        """The figures for Prometheus, with those that the calls have."""
        about = "Services that can be asked"
        yield from family("tersely_services", "gauge", about, [("", {}, len(self._known))])
        yield from self.figures.text()
        yield from self._calls_text()

    def hits(self, name: str) -> tuple[int, int]:
        """The calls of a capability, and those of them that were answered from memory."""
        counts = self._store.counts(f"capability/{name}")
        return counts.get("invocations", 0), counts.get("cache_hits", 0)

    def _calls_text(self) -> Iterator[str]:
        called: list[Sample] = []
        remembered: list[Sample] = []
        for name in self._calls.names():
            labels = {"capability": name}
            for samples, count in zip((called, remembered), self.hits(name), strict=True):
                samples.append(("", labels, count))
        yield from family(
            "tersely_capability_calls_total", "counter", "Calls of capabilities, answered", called
        )
        about = "Of those, answered from memory"
        yield from family("tersely_capability_cache_hits_total", "counter", about, remembered)

    def _offer(self, service: DeclaredService, method: str) -> Offer:
        known = service.methods[method]
        scope = partial(service.scope, method) if service.scope else None
        return Offer(
            capability(service.name, method), known.description or f"{method} of the service {service.name}",
            known.parameters, partial(self._run, service.name, method), reach=known.reach, scope=scope,
        )  # fmt: skip

    def wait(self, actor: str, question: ServiceCall, seconds: float = REQUEST_SECONDS) -> bytes:
        """The answer of a service; raises what it says instead, and `busy` where too many wait
        already.
        """
        if not self._waiting.acquire(blocking=False):
            raise TerselyError(
                "busy", f"{MAX_SERVICE_CALLS} calls wait for services", "try again later"
            )
        try:
            return self.ask(actor, question, seconds).result(seconds + _GRACE_SECONDS)
        except (TimeoutError, CancelledError):
            raise TerselyError(
                "timed_out", f"{question.service} has not answered in {seconds:g} s"
            ) from None
        finally:
            self._waiting.release()

    def _run(self, service: str, method: str, call: Call) -> Given:
        question = ServiceCall(service, method, encode(call.arguments), hops=call.hops)
        content = self.wait(call.actor, question)
        if content.startswith(b'"'):  # a text is kept as it reads
            return Given([decode(content).encode("utf-8", "surrogatepass")], name=call.capability)
        return Given([content], "json", call.capability)
