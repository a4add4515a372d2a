"""Every error that Tersely reports on purpose, on one screen.

A failure has a stable `code` that scripts may test, a `message` for people, a `hint` that says what to do next,
and an exit status that follows from the code. Codes are never renamed; the exit statuses are:

    0    answered
    1    answered, and the answer is no: nothing found, ambiguous, or a check did not hold
    2    usage error: options, settings, arguments
    3    environment error: files, disk, database, a missing grammar
    70   a defect in Tersely
    130  interrupted
    141  output closed by its reader
"""

from __future__ import annotations

EXIT_OK = 0
EXIT_NEGATIVE = 1
EXIT_USAGE = 2
EXIT_SURROUNDINGS = 3
EXIT_DEFECT = 70
EXIT_INTERRUPTED = 130
EXIT_PIPE_CLOSED = 141

EXIT_OF_CODE = {
    # Lookups
    "symbol_not_found": EXIT_NEGATIVE,
    "ambiguous_symbol": EXIT_NEGATIVE,
    "path_not_found": EXIT_NEGATIVE,
    "module_not_found": EXIT_NEGATIVE,
    "not_indexed": EXIT_NEGATIVE,  # the file exists but the index skipped it; the message says why
    "unsupported_language": EXIT_NEGATIVE,  # the question is not answered for this language
    "not_measured": EXIT_NEGATIVE,  # a report of coverage says nothing of it
    "no_statements": EXIT_NEGATIVE,  # the symbol has none of its own
    # Questions
    "usage": EXIT_USAGE,
    "invalid_argument": EXIT_USAGE,
    "invalid_setting": EXIT_USAGE,
    "budget_too_small": EXIT_USAGE,
    "malformed_request": EXIT_USAGE,  # a line of a protocol that is no request
    "unknown_command": EXIT_USAGE,  # of a protocol
    "not_permitted": EXIT_USAGE,  # through this door
    # Surroundings
    "root_not_found": EXIT_SURROUNDINGS,
    "unreadable_file": EXIT_SURROUNDINGS,
    "missing_grammar": EXIT_SURROUNDINGS,
    "git_unavailable": EXIT_SURROUNDINGS,
    "database_locked": EXIT_SURROUNDINGS,
    "database_corrupt": EXIT_SURROUNDINGS,
    "database_unavailable": EXIT_SURROUNDINGS,
    "unwritable_output": EXIT_SURROUNDINGS,
    "damaged_installation": EXIT_SURROUNDINGS,
    "embedder_unavailable": EXIT_SURROUNDINGS,
    "daemon_unavailable": EXIT_SURROUNDINGS,  # none could be started, or it does not answer
    "port_unavailable": EXIT_SURROUNDINGS,
    "daemon_not_running": EXIT_NEGATIVE,
    "timed_out": EXIT_SURROUNDINGS,
    "cancelled": EXIT_SURROUNDINGS,
    "busy": EXIT_SURROUNDINGS,  # too many requests are waiting
    "answer_too_large": EXIT_SURROUNDINGS,
    "invalid_report": EXIT_SURROUNDINGS,  # of coverage or of tests
    "program_failed": EXIT_SURROUNDINGS,  # one that was to be run did not start, or left no coverage
    # The relay
    "thread_not_found": EXIT_NEGATIVE,
    "version_not_found": EXIT_NEGATIVE,
    "artifact_not_found": EXIT_NEGATIVE,
    "ambiguous_artifact": EXIT_NEGATIVE,
    "artifact_damaged": EXIT_SURROUNDINGS,  # its bytes are not those of its name
    "invalid_patch": EXIT_USAGE,  # no JSON Patch
    "patch_failed": EXIT_NEGATIVE,  # one that does not fit the document
    "version_conflict": EXIT_NEGATIVE,  # somebody else was quicker
    "invalid_state": EXIT_USAGE,  # not what the schema of thread states allows
    "payload_too_large": EXIT_USAGE,
    "key_reused": EXIT_USAGE,  # an idempotency key, for something else
    "invalid_envelope": EXIT_USAGE,
    "unknown_capability": EXIT_NEGATIVE,
    "name_taken": EXIT_NEGATIVE,
    "denied": EXIT_NEGATIVE,  # the policy says so
    "hop_limit": EXIT_NEGATIVE,
    "rate_limited": EXIT_SURROUNDINGS,
    "untrusted_ancestry": EXIT_NEGATIVE,
    "fetch_failed": EXIT_SURROUNDINGS,
    "invalid_bundle": EXIT_USAGE,
    "doctor_found": EXIT_NEGATIVE,
    "unauthorized": EXIT_SURROUNDINGS,
    "forbidden_origin": EXIT_SURROUNDINGS,
    "not_a_relay": EXIT_SURROUNDINGS,  # what listens in its place is another user's, or answers as none
    "home_not_private": EXIT_SURROUNDINGS,  # other users may look into the relay's directory
    "no_route": EXIT_USAGE,
    "method_not_allowed": EXIT_USAGE,
    "recipient_not_found": EXIT_NEGATIVE,
    "message_not_found": EXIT_NEGATIVE,
    "message_refused": EXIT_NEGATIVE,  # by the relay: NACK with another reason
    "channel_not_found": EXIT_NEGATIVE,
    "service_not_found": EXIT_NEGATIVE,
    "service_error": EXIT_SURROUNDINGS,  # what a service says went wrong in it
    # The coding agent
    "model_unavailable": EXIT_SURROUNDINGS,  # no server listens, or it has no such model
    "model_failed": EXIT_SURROUNDINGS,  # the server broke off, fell silent, or said what nobody understands
    "way_refused": EXIT_SURROUNDINGS,  # the server takes no grammar, schema or functions; there are other ways
    "window_exceeded": EXIT_SURROUNDINGS,  # the prompt does not fit into the model's window, or was cut to fit
    "session_not_found": EXIT_NEGATIVE,
    "ambiguous_session": EXIT_NEGATIVE,
    "session_in_use": EXIT_NEGATIVE,  # another process talks in it
    "session_budget_spent": EXIT_NEGATIVE,  # the next request may take more tokens than the user allows a session
    "no_task": EXIT_NEGATIVE,  # no commit of the history can be made a task
    # Ourselves
    "internal_error": EXIT_DEFECT,
}


class TerselyError(Exception):
    """A failure that somebody is meant to read: `str(error)` is `code: message`."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(code, message, hint)
        self.code = code
        self.message = message
        self.hint = hint
        self.exit_status = EXIT_OF_CODE[code]

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"
