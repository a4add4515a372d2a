"""What has led to what is asked from here: the number of questions and calls, so that services that
ask under other names than their own still end where they ask in a circle, and the trace that they
are part of (W3C Trace Context).
"""

from __future__ import annotations

from contextvars import ContextVar

from tersely.foundation.types import JsonObject

_led: ContextVar[int] = ContextVar("tersely_hops", default=0)
_trace: ContextVar[str] = ContextVar("tersely_trace", default="")


def answering(hops: int, traceparent: str) -> None:
    """From now on, in this task and in threads that have its context, a question is answered to
    which so many have led, as part of a trace, or of none.
    """
    _led.set(hops + 1)
    _trace.set(traceparent)


def led_here() -> int:
    """The number of questions that have led to what is asked now, 0 outside of a service."""
    return _led.get()


def passed_on(hops: int = 0) -> JsonObject:
    """What a question to a service says of what has led to it, at least so many; empty outside of a
    service.
    """
    said = {"hops": max(hops, _led.get()), "traceparent": _trace.get()}
    return {name: value for name, value in said.items() if value}
