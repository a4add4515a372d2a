"""Failures over HTTP: a status, and a body that says what to do."""

from __future__ import annotations

from tersely.foundation.errors import TerselyError
from tersely.relay.encoding import encode

_CODES_OF_STATUS = {
    400: "malformed_request invalid_argument invalid_patch invalid_envelope budget_too_small usage",
    401: "unauthorized",
    403: "forbidden_origin denied not_permitted untrusted_ancestry",
    404: "thread_not_found version_not_found artifact_not_found token_not_found "
    "service_not_found unknown_command recipient_not_found permission_not_found "
    "channel_not_found message_not_found symbol_not_found path_not_found module_not_found "
    "root_not_found no_route item_not_found",
    405: "method_not_allowed",
    409: "version_conflict ambiguous_artifact ambiguous_symbol name_taken already_claimed "
    "not_ready key_reused",
    413: "payload_too_large",
    422: "invalid_bundle patch_failed invalid_state",
    429: "hop_limit rate_limited turn_limit spending_limit",
    500: "artifact_damaged internal_error",
    502: "fetch_failed service_error",
    503: "busy database_unavailable database_locked relay_unreachable",
    504: "timed_out",
}
STATUS_OF_CODE = {
    code: status for status, codes in _CODES_OF_STATUS.items() for code in codes.split()
}


def status_of(code: str) -> int:
    """The HTTP status of an error code: 503 for environment errors, 422 for what has no status of
    its own.
    """
    from tersely.foundation.errors import EXIT_OF_CODE, EXIT_SURROUNDINGS

    return STATUS_OF_CODE.get(code) or (503 if EXIT_OF_CODE.get(code) == EXIT_SURROUNDINGS else 422)


def body_of(error: TerselyError) -> bytes:
    """The failure as JSON, in the shape of `capabilities.relay.contract.shapes.Failure`."""
    return encode(
        {"error": str(error), "code": error.code, "message": error.message, "hint": error.hint}
    )
