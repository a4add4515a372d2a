"""Services that are connected to a relay, or that it leads to: who they are, and a question to one."""

from __future__ import annotations

from enum import StrEnum

from tersely.capabilities.answers.later import Later
from tersely.capabilities.answers.text import Style, aligned
from tersely.capabilities.declaration.declaration import (
    Effect,
    option,
    positional,
    relay_capability,
)
from tersely.capabilities.relay.answers.results import result_text
from tersely.capabilities.relay.context import RelayContext
from tersely.capabilities.relay.foreign import neutral
from tersely.foundation.limits import (
    MAX_HOPS,
    MAX_NAME_CHARACTERS,
    MAX_SERVICE_SECONDS,
    REQUEST_SECONDS,
)
from tersely.foundation.text.escape import visible_line
from tersely.foundation.types import JsonObject
from tersely.relay.wire.documents import (
    MethodTold,
    ServiceAnswer,
    Services,
)

_SHOWN_PARAMETERS = 6


class Form(StrEnum):
    """The forms in which a service gives its answers that has words for them."""

    JSON = "json"
    TEXT = "text"


def _services_text(found: Services, style: Style) -> str:
    lines: list[str] = []
    for one in found.services:
        held = f"{one.held_back:,} held back" if one.held_back else ""
        about = " ".join(part for part in (one.version, one.how, one.place, held) if part)
        lines.append(f"{style.symbol(visible_line(one.name))} {style.faint(visible_line(about))}")
        rows = [
            (visible_line(f"  {_signature(method)}"), visible_line(method.description))
            for method in one.methods
        ]
        lines += aligned(rows)
    return "\n".join(lines or ["there are no services"])


@relay_capability("service.list", _services_text, "services")
def services(context: RelayContext) -> Services:
    """List services and their methods."""
    known = context.relay.services
    return Services([one.told(known.held[one.name]) for one in known.listed()])


def _answer_text(answer: ServiceAnswer, style: Style) -> str:
    return neutral(result_text(answer.result)).rstrip("\n")


@relay_capability(
    "service.call",
    _answer_text,
    'services call tldr semantic "read the settings"',
    effect=Effect.WRITE,
    fails=(
        "service_not_found",
        "service_error",
        "unknown_command",
        "timed_out",
        "denied",
        "not_permitted",
        "busy",
        "hop_limit",
        "rate_limited",
        "answer_too_large",
        "payload_too_large",
        "daemon_unavailable",
        "root_not_found",
        "symbol_not_found",
        "ambiguous_symbol",
        "path_not_found",
    ),
)
def call(
    context: RelayContext,
    *,
    service: str = positional(
        "its name, as services lists it", minimum=1, maximum=MAX_NAME_CHARACTERS
    ),
    method: str = positional("what it is to do", minimum=1, maximum=MAX_NAME_CHARACTERS),
    params: JsonObject | None = option(None, "what it is given, by name", metavar="JSON"),
    timeout_ms: int = option(
        REQUEST_SECONDS * 1000, "for the answer", minimum=1, maximum=MAX_SERVICE_SECONDS * 1000
    ),
    format: Form = option(
        Form.JSON, "text: in words, as a command prints it, where the service has words"
    ),
    hops: int = option(
        0,
        "questions that led to this one, of a service that asks under another name than its own",
        minimum=0,
        maximum=MAX_HOPS,
        hidden=True,
    ),
    traceparent: str = option(
        "", "the trace that it is part of (W3C)", maximum=MAX_NAME_CHARACTERS, hidden=True
    ),
) -> Later[ServiceAnswer]:
    """Ask a service."""
    from tersely.foundation.clock import Stopwatch
    from tersely.relay.encoding import decode, encode
    from tersely.relay.services.services import ServiceCall

    watch, given = Stopwatch(), params or {}
    question = ServiceCall(
        service,
        method,
        encode(given),
        format.value,
        hops,
        traceparent,
    )
    answer = context.relay.services.ask(context.agent, question, timeout_ms / 1000)

    def told(result: bytes) -> ServiceAnswer:
        took_ms = int(watch.seconds() * 1000)
        return ServiceAnswer(service, method, decode(result), took_ms)

    return Later(answer, told)


def _signature(method: MethodTold) -> str:
    names = list(method.args_schema.get("properties", {}))
    shown = [*names[:_SHOWN_PARAMETERS], *(["…"] if names[_SHOWN_PARAMETERS:] else [])]
    return f"{method.name}({', '.join(shown)})"
