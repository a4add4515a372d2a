"""The errors between talkers, as programs and people are told: a stable code, a sentence, details."""

from __future__ import annotations

from typing import Any

# The exit statuses of a command
EXIT_OK = 0
EXIT_NEGATIVE = 1  # the answer is no
EXIT_USAGE = 2
EXIT_SURROUNDINGS = 3  # files, processes and connections did not allow it
EXIT_INTERRUPTED = 130
EXIT_PIPE_CLOSED = 141

_CODES_OF_EXIT = {
    EXIT_NEGATIVE: "LISTENER_NOT_RUNNING UNKNOWN_NAME",
    EXIT_USAGE: "INVALID_PORT INVALID_ARGUMENT INVALID_CONFIG INVALID_MESSAGE MALFORMED_FRAME"
    " MESSAGE_TOO_LARGE",
    EXIT_SURROUNDINGS: "PORT_IN_USE NAME_IN_USE CONNECTION_REFUSED CONNECTION_TIMEOUT"
    " NOT_ACKNOWLEDGED LISTENER_FAILED INBOX_FULL INBOX_BUSY RATE_LIMITED STORAGE_FAILED"
    " UNSAFE_PATH TLS_FAILED",
}
EXIT_OF_CODE = {code: status for status, codes in _CODES_OF_EXIT.items() for code in codes.split()}


class TalkError(Exception):
    """A failure with its code, a sentence, and details that programs may read."""

    def __init__(self, code: str, message: str, /, **details: Any) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.details = code, message, details
        self.exit_status = EXIT_OF_CODE[code]


def told(error: TalkError | OSError) -> dict[str, Any]:
    """The failure as it is printed, and as it is answered to a sender."""
    if isinstance(error, OSError):
        error = TalkError("STORAGE_FAILED", str(error), path=str(error.filename or ""))
    return {
        "status": "error",
        "error_code": error.code,
        "error_message": error.message,
        "details": error.details,
    }
