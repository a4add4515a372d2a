"""The number of questions and calls that have led to what is asked from here, so that services that
ask under other names than their own still end where they ask in a circle.
"""

from __future__ import annotations

from contextvars import ContextVar

_led: ContextVar[int] = ContextVar("tersely_hops", default=0)


def answering(hops: int) -> None:
    """From now on, in this task and in threads that have its context, a question is answered to
    which so many have led.
    """
    _led.set(hops + 1)


def led_here() -> int:
    """The number of questions that have led to what is asked now, 0 outside of a service."""
    return _led.get()
