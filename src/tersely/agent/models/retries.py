"""Requests that are sent again: after which failures, how often, and how long apart."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from tersely.foundation.errors import TerselyError
from tersely.foundation.types import Headers

MAX_MODEL_ATTEMPTS = 5  # at one answer
MAX_MODEL_RETRY_SECONDS = 120.0  # all waits for one answer together
FIRST_RETRY_SECONDS = 1.0  # where the server does not say; doubled each time
MAX_DEFECT_ATTEMPTS = 3  # where the server says that it failed itself: it may do so each time
DEFECT_STATUS = 500
RETRIED_STATUSES = frozenset({408, 429, 502, 503, 504, 529})


class TransientError(TerselyError):
    """A failure that another attempt may not meet; `wait_seconds` is what the server asks for, None
    if it does not. There are at most `attempts` at an answer.
    """

    def __init__(
        self,
        code: str,
        message: str,
        hint: str = "",
        wait_seconds: float | None = None,
        attempts: int = MAX_MODEL_ATTEMPTS,
    ) -> None:
        super().__init__(code, message, hint)
        self.wait_seconds = wait_seconds
        self.attempts = attempts


class AbsentError(TransientError):
    """Nothing listens. A server that was there may come back; where none was yet, the address is
    more likely wrong.
    """


class Retries:
    """The attempts at one answer."""

    def __init__(self) -> None:
        self._attempts = 1
        self._waited = 0.0

    def wait(self, error: TransientError) -> float:
        """The seconds to wait before the next attempt; raises the error where there is to be none."""
        seconds = (
            FIRST_RETRY_SECONDS * 2 ** (self._attempts - 1)
            if error.wait_seconds is None
            else error.wait_seconds
        )
        if self._attempts >= error.attempts:
            raise TerselyError(
                error.code, f"{error.message}, {self._attempts} times", error.hint
            ) from error
        if self._waited + seconds > MAX_MODEL_RETRY_SECONDS:
            hint = f"the server asks to wait {seconds:,.0f} s; try again then"
            raise TerselyError(error.code, error.message, hint) from error
        self._attempts += 1
        self._waited += seconds
        return seconds

    def notice(self, error: TransientError, seconds: float) -> str:
        """One line that says why the next attempt waits."""
        return f"{error.message}; attempt {self._attempts} of {error.attempts} in {seconds:.0f} s"


def seconds_to_wait(headers: Headers) -> float | None:
    """The seconds that a server asks to wait, in any of the forms in use; None where it does not
    ask.

    A date is compared with the server's own clock where it says the time.
    """
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    field = headers.get("retry-after", "")
    seconds = _seconds(field)
    if seconds is not None or not field:
        return seconds
    until, now = _moment(field), _moment(headers.get("date", ""))
    return None if until is None else max(0.0, until - (time.time() if now is None else now))


def _seconds(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _moment(text: str) -> float | None:
    """The time of an HTTP date in seconds since the epoch."""
    try:
        found: datetime = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
