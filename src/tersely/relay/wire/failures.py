"""Failures of services as they travel, and as errors."""

from __future__ import annotations

from tersely.foundation.errors import EXIT_OF_CODE, TerselyError
from tersely.relay.wire.envelopes import ServiceFailure

_DEFAULT_CODE, _DEFAULT = "SERVICE_ERROR", "service_error"
ERROR_OF_CODE = {
    "SERVICE_NOT_FOUND": "service_not_found",
    "SERVICE_UNAVAILABLE": "daemon_unavailable",
    "INVALID_REQUEST": "invalid_argument",
    "METHOD_NOT_FOUND": "unknown_command",
    "FORBIDDEN": "denied",
    "TIMEOUT": "timed_out",
    "BUSY": "busy",
    "RATE_LIMITED": "rate_limited",
    "HOP_LIMIT": "hop_limit",
    "RESULT_TOO_LARGE": "answer_too_large",
}
CODES = frozenset({*ERROR_OF_CODE, _DEFAULT_CODE})  # a service may have others
_CODE_OF_ERROR = {error: code for code, error in ERROR_OF_CODE.items()}
_CODE_OF_ERROR |= {"not_permitted": "FORBIDDEN", "root_not_found": "INVALID_REQUEST"}


def failure_of(error: TerselyError) -> ServiceFailure:
    """An error as whoever asked is told."""
    code = _CODE_OF_ERROR.get(error.code, _DEFAULT_CODE)
    is_told_by_code = ERROR_OF_CODE.get(code, _DEFAULT) == error.code
    return ServiceFailure(code, error.message, error.hint, "" if is_told_by_code else error.code)


def error_of(failure: ServiceFailure | None) -> TerselyError:
    """The error that was told; whoever told it may be a program that knows other codes."""
    if failure is None:
        return TerselyError(_DEFAULT, "the service says no more than that it has failed")
    code = failure.error if failure.error in EXIT_OF_CODE else ERROR_OF_CODE.get(failure.code)
    return TerselyError(code or _DEFAULT, failure.message, failure.hint)
