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

EXIT_OF_CODE = {
    "PORT_IN_USE": EXIT_SURROUNDINGS,
    "NAME_IN_USE": EXIT_SURROUNDINGS,
    "CONNECTION_REFUSED": EXIT_SURROUNDINGS,
    "CONNECTION_TIMEOUT": EXIT_SURROUNDINGS,
    "CONNECTION_LOST": EXIT_SURROUNDINGS,
    "NOT_ACKNOWLEDGED": EXIT_SURROUNDINGS,  # all was sent and nothing was answered
    "INVALID_PORT": EXIT_USAGE,
    "INVALID_ARGUMENT": EXIT_USAGE,
    "INVALID_CONFIG": EXIT_USAGE,
    "INVALID_MESSAGE": EXIT_USAGE,  # not what its type says
    "MALFORMED_FRAME": EXIT_USAGE,
    "MESSAGE_TOO_LARGE": EXIT_USAGE,
    "LISTENER_NOT_RUNNING": EXIT_NEGATIVE,
    "UNKNOWN_NAME": EXIT_NEGATIVE,
    "LISTENER_FAILED": EXIT_SURROUNDINGS,  # it did not start, or does not end
    "INBOX_FULL": EXIT_SURROUNDINGS,
    "INBOX_BUSY": EXIT_SURROUNDINGS,  # another process holds it
    "RATE_LIMITED": EXIT_SURROUNDINGS,
    "STORAGE_FAILED": EXIT_SURROUNDINGS,
    "UNSAFE_PATH": EXIT_SURROUNDINGS,  # a link, or a place where others may write
    "RELAY_REFUSED": EXIT_SURROUNDINGS,  # the message says why
    "TLS_REQUIRED": EXIT_SURROUNDINGS,
    "TLS_FAILED": EXIT_SURROUNDINGS,
    "TLS_UNAVAILABLE": EXIT_SURROUNDINGS,  # no certificate, and no program that makes one
}


class TalkError(Exception):
    """A failure with its code, a sentence, and details that programs may read."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.details = details
        self.exit_status = EXIT_OF_CODE[code]

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


def told(error: TalkError) -> dict[str, Any]:
    """The failure as it is printed, and as it is answered to a sender."""
    return {
        "status": "error",
        "error_code": error.code,
        "error_message": error.message,
        "details": error.details,
    }


def failure_of(answer: dict[str, Any]) -> TalkError:
    """The failure that a listener has answered; one of a code that we do not know counts as not
    acknowledged.
    """
    code, details = answer.get("error_code"), answer.get("details")
    message = str(answer.get("error_message", ""))
    if code not in EXIT_OF_CODE:
        return TalkError(
            "NOT_ACKNOWLEDGED", f"the listener refused the message: {message}", answer=answer
        )
    return TalkError(code, message, **(details if isinstance(details, dict) else {}))
