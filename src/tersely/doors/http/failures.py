"""Failures over HTTP: a status, and a body that says what to do."""

from __future__ import annotations

from tersely.foundation.errors import TerselyError
from tersely.relay.encoding import encode

STATUS_OF_CODE = {
    "malformed_request": 400,
    "invalid_argument": 400,
    "invalid_patch": 400,
    "invalid_envelope": 400,
    "budget_too_small": 400,
    "usage": 400,
    "unauthorized": 401,
    "forbidden_origin": 403,
    "denied": 403,
    "not_permitted": 403,
    "untrusted_ancestry": 403,
    "thread_not_found": 404,
    "version_not_found": 404,
    "artifact_not_found": 404,
    "token_not_found": 404,
    "service_not_found": 404,
    "unknown_command": 404,
    "recipient_not_found": 404,
    "permission_not_found": 404,
    "channel_not_found": 404,
    "message_not_found": 404,
    "symbol_not_found": 404,
    "path_not_found": 404,
    "module_not_found": 404,
    "root_not_found": 404,
    "no_route": 404,
    "method_not_allowed": 405,
    "version_conflict": 409,
    "ambiguous_artifact": 409,
    "ambiguous_symbol": 409,
    "name_taken": 409,
    "already_claimed": 409,
    "not_ready": 409,
    "item_not_found": 404,
    "key_reused": 409,
    "payload_too_large": 413,
    "invalid_bundle": 422,
    "patch_failed": 422,
    "invalid_state": 422,
    "hop_limit": 429,
    "rate_limited": 429,
    "turn_limit": 429,
    "spending_limit": 429,
    "artifact_damaged": 500,
    "internal_error": 500,
    "fetch_failed": 502,
    "service_error": 502,
    "busy": 503,
    "database_unavailable": 503,
    "database_locked": 503,
    "relay_unreachable": 503,
    "timed_out": 504,
}


def status_of(code: str) -> int:
    """The HTTP status of an error code: 503 for environment errors, 422 for what has no status of
    its own.
    """
    from tersely.foundation.errors import EXIT_OF_CODE, EXIT_SURROUNDINGS

    return STATUS_OF_CODE.get(code) or (503 if EXIT_OF_CODE.get(code) == EXIT_SURROUNDINGS else 422)


def body_of(error: TerselyError) -> bytes:
    """The failure as JSON, in the shape of `doors.http.contract.shapes.Failure`."""
    return encode(
        {"error": str(error), "code": error.code, "message": error.message, "hint": error.hint}
    )
