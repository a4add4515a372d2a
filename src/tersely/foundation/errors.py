"""Every error that Tersely reports on purpose, on one screen.

A failure has a stable `code` that scripts may test, a `message` for people, a `hint` that says what
to do next, and an exit status that follows from the code. Codes are never renamed; the exit
statuses are:

    0    answered
    1    answered, and the answer is no: nothing found, ambiguous, or a check did not hold
    2    usage error: options, settings, arguments
    3    environment error: files, disk, database, other programs
    70   a defect in Tersely
    130  interrupted
    141  output closed by its reader
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

EXIT_OK = 0
EXIT_NEGATIVE = 1
EXIT_USAGE = 2
EXIT_SURROUNDINGS = 3
EXIT_DEFECT = 70
EXIT_INTERRUPTED = 130
EXIT_PIPE_CLOSED = 141

# Above each code: its meaning, and what to do. `tools/build_errors_page.py` makes docs/errors.md of
# both.
EXIT_OF_CODE = {
    # Lookups
    # no symbol, or no name at that place, is known here | search for it; `index --report` lists
    # what is left out
    "symbol_not_found": EXIT_NEGATIVE,
    # several symbols or files have that name | use one of the ids that the answer lists
    "ambiguous_symbol": EXIT_NEGATIVE,
    # there is no such file in the repository, or at the place that is meant | check how the path is
    # written
    "path_not_found": EXIT_NEGATIVE,
    # no file imports that module | name it as an import does
    "module_not_found": EXIT_NEGATIVE,
    # the file is there, but the index skipped it; the message says why | `index --report` lists
    # what is left out
    "not_indexed": EXIT_NEGATIVE,
    # the question is not answered for this language | the page of languages says what each can do
    "unsupported_language": EXIT_NEGATIVE,
    # the report of coverage says nothing of it | record one that does, as the hint says
    "not_measured": EXIT_NEGATIVE,
    # the symbol has no statements of its own | name a function, a class or a file
    "no_statements": EXIT_NEGATIVE,
    # Questions
    # words that cannot be read as what the command takes, or that exclude each other | `--help` of
    # the command shows what it takes
    "usage": EXIT_USAGE,
    # a parameter that is missing or unknown, or a value that it does not take | the message names
    # the parameter and what it takes
    "invalid_argument": EXIT_USAGE,
    # a setting, of the environment or a file, has no such value | correct what the message names
    "invalid_setting": EXIT_USAGE,
    # not even the least answer fits into the token budget | allow at least what the message says
    "budget_too_small": EXIT_USAGE,
    # a line or body of a protocol that is no request | send what the page of that protocol shows
    "malformed_request": EXIT_USAGE,
    # there is no command, method, tool or capability of that name | use one that the hint or the
    # list names
    "unknown_command": EXIT_USAGE,
    # it would do more than this way of asking may | ask on the command line
    "not_permitted": EXIT_USAGE,
    # Surroundings
    # the directory is missing, or is no directory | name one with `--root`
    "root_not_found": EXIT_SURROUNDINGS,
    # a file cannot be read, or is not what it should be | the message says which and why
    "unreadable_file": EXIT_SURROUNDINGS,
    # git is not installed, this is no repository, or it does not answer | do what the hint says, or
    # ask without git
    "git_unavailable": EXIT_SURROUNDINGS,
    # another process writes to the database | ask again in a moment
    "database_locked": EXIT_SURROUNDINGS,
    # a database is damaged | follow the hint: an index is built anew, a relay is restored
    "database_corrupt": EXIT_SURROUNDINGS,
    # a database cannot be opened or written | check the disk and who may write there
    "database_unavailable": EXIT_SURROUNDINGS,
    # a file cannot be written, or something else is in its place | check the place that the message
    # names
    "unwritable_output": EXIT_SURROUNDINGS,
    # an editor does not do what the agent asks of it | look whether it is still open
    "editor_failed": EXIT_SURROUNDINGS,
    # the browser, or a page in it, does not do what the agent asks of it | open the page again, or
    # go on without it
    "browser_failed": EXIT_SURROUNDINGS,
    # files of Tersely are missing or changed | install it again
    "damaged_installation": EXIT_SURROUNDINGS,
    # Windows lacks what the relay, the wrapper and the chat agent need | Linux or macOS, or Windows'
    # subsystem for Linux
    "system_unsupported": EXIT_SURROUNDINGS,
    # the server that makes vectors does not answer as one | check the setting `embedder_url`
    "embedder_unavailable": EXIT_SURROUNDINGS,
    # no daemon or relay could be started, or it does not answer | its log, which the hint names,
    # says more
    "daemon_unavailable": EXIT_SURROUNDINGS,
    # the TCP port is taken, or none is open | choose another with `--port`
    "port_unavailable": EXIT_SURROUNDINGS,
    # no daemon or relay runs for this place | `daemon start`, for the relay `up`
    "daemon_not_running": EXIT_NEGATIVE,
    # no answer came in time | ask for less, or again
    "timed_out": EXIT_SURROUNDINGS,
    # the request was taken back | ask again if that was not meant
    "cancelled": EXIT_SURROUNDINGS,
    # too many requests or messages wait | ask again after a moment
    "busy": EXIT_SURROUNDINGS,
    # the answer is longer than one may be | ask for less, or for a page of it
    "answer_too_large": EXIT_SURROUNDINGS,
    # a report of coverage or of tests cannot be read | make it again in a format that is read
    "invalid_report": EXIT_SURROUNDINGS,
    # a program did not start, or left nothing to read | run it by itself to see why
    "program_failed": EXIT_SURROUNDINGS,
    # The relay
    # there is no such thread | `relay runs` lists them
    "thread_not_found": EXIT_NEGATIVE,
    # the state of the thread has no such version | ask for one up to the latest
    "version_not_found": EXIT_NEGATIVE,
    # the thread has no such artifact | `relay artifact list` lists them
    "artifact_not_found": EXIT_NEGATIVE,
    # the short name may mean several artifacts | write more of it
    "ambiguous_artifact": EXIT_NEGATIVE,
    # the bytes of an artifact are not those of its name | put it again; check the disk
    "artifact_damaged": EXIT_SURROUNDINGS,
    # it is no JSON Patch | send operations as RFC 6902 has them
    "invalid_patch": EXIT_USAGE,
    # the patch does not fit the document | read the state again, and make the patch from that
    "patch_failed": EXIT_NEGATIVE,
    # somebody else has changed it first | read it again, and try again
    "version_conflict": EXIT_NEGATIVE,
    # another agent holds what is claimed, or has taken the item | wait until it is released, or ask
    # its holder
    "already_claimed": EXIT_NEGATIVE,
    # the board has no item of that id | `board` lists its items
    "item_not_found": EXIT_NEGATIVE,
    # the item waits for others, is taken, or nothing is ready | `board` shows what each item waits
    # for
    "not_ready": EXIT_NEGATIVE,
    # the state would not be what its schema allows | the message names the member
    "invalid_state": EXIT_USAGE,
    # a body or payload is longer than one may be | put it into an artifact and send its name
    "payload_too_large": EXIT_USAGE,
    # an idempotency key was used for something else | take a new key
    "key_reused": EXIT_USAGE,
    # it is no envelope between agents, or its notes are too long | the page of the relay shows one
    "invalid_envelope": EXIT_USAGE,
    # another agent, program or file has that name | choose another
    "name_taken": EXIT_NEGATIVE,
    # the policy, or who runs it, does not allow it | ask that person; `config` shows the policy
    "denied": EXIT_NEGATIVE,
    # too many calls have led to this one | end the chain, or raise the limit in the policy
    "hop_limit": EXIT_NEGATIVE,
    # two agents have answered each other too often without a person | write to one of them, or let
    # them rest
    "turn_limit": EXIT_SURROUNDINGS,
    # the agents of a thread have started all programs that they may in a day | start the program yourself, raise the
    # limit in the policy, or wait for the next day
    "spending_limit": EXIT_NEGATIVE,
    # one agent asks more often than it may | ask again after the time that the message says
    "rate_limited": EXIT_SURROUNDINGS,
    # what was made from artifacts may not be used for this | use what was made from none
    "untrusted_ancestry": EXIT_NEGATIVE,
    # a page or file could not be fetched | check the address; private hosts are named in the policy
    "fetch_failed": EXIT_SURROUNDINGS,
    # it is no bundle of a thread, or a damaged one | export it again
    "invalid_bundle": EXIT_USAGE,
    # something is not as it should be | do what the lines say
    "doctor_found": EXIT_NEGATIVE,
    # no token, a wrong one, or another user's relay | use the token in the home, or ask as its user
    "unauthorized": EXIT_SURROUNDINGS,
    # another page sent it, or it names another host | ask as 127.0.0.1, from its own pages
    "forbidden_origin": EXIT_SURROUNDINGS,
    # what listens in its place is another user's, or answers as none | find and end it, as the hint
    # shows
    "not_a_relay": EXIT_SURROUNDINGS,
    # other users may look into the home of the relay | `chmod 700` as the hint shows
    "home_not_private": EXIT_SURROUNDINGS,
    # that is no token, and no identity that has one | `relay token list` lists them
    "token_not_found": EXIT_NEGATIVE,
    # others could read along at that address | give `--tls-cert` and `--tls-key`, or listen at 127.0.0.1 behind a proxy
    "insecure_address": EXIT_USAGE,
    # a certificate or key is missing or expired, or nobody whom this system believes signed it | do
    # what the hint says
    "invalid_certificate": EXIT_SURROUNDINGS,
    # the relay that this machine has joined cannot be reached | wait for the network; `leave` works
    # without it
    "relay_unreachable": EXIT_SURROUNDINGS,
    # this machine uses no remote relay, or uses one already | `join` one, or `leave` the other
    # first
    "join_state": EXIT_NEGATIVE,
    # there is no such address | `/openapi.json` lists those there are
    "no_route": EXIT_USAGE,
    # the address takes another method of HTTP | use one of the header `Allow`
    "method_not_allowed": EXIT_USAGE,
    # no agent has that name | `agents` lists them; `--queue` keeps it
    "recipient_not_found": EXIT_NEGATIVE,
    # no agent waits for that permission any more | `agents` shows what is waited for
    "permission_not_found": EXIT_NEGATIVE,
    # there is no such message in that mailbox | `inbox` lists them
    "message_not_found": EXIT_NEGATIVE,
    # the relay refused a message for a reason of its own | the message says which
    "message_refused": EXIT_NEGATIVE,
    # there is no such channel | subscribe to it, or check its name
    "channel_not_found": EXIT_NEGATIVE,
    # no service has that name | `services` lists them
    "service_not_found": EXIT_NEGATIVE,
    # something went wrong inside of a service | the message is the service's own
    "service_error": EXIT_SURROUNDINGS,
    # The coding agent
    # no server of models listens, or it has no such model | start it, or name another with
    # `--model`
    "model_unavailable": EXIT_SURROUNDINGS,
    # the server broke off, fell silent, or said what nobody understands | ask again; its log says
    # more
    "model_failed": EXIT_SURROUNDINGS,
    # the server takes no grammar, schema or functions | nothing: the next way of calling is tried,
    # and remembered
    "way_refused": EXIT_SURROUNDINGS,
    # the next request may take more tokens than the user allows the session | allow more with
    # `--session-tokens`
    "session_budget_spent": EXIT_NEGATIVE,
    # the prompt does not fit into the model's window | shorten it, or take a model with a larger
    # one
    "window_exceeded": EXIT_SURROUNDINGS,
    # there is no such session | `sessions` lists them
    "session_not_found": EXIT_NEGATIVE,
    # several sessions have that name | write more of its id
    "ambiguous_session": EXIT_NEGATIVE,
    # another process talks in it | end that one, or begin another session
    "session_in_use": EXIT_NEGATIVE,
    # Ourselves
    # a defect in Tersely | report it with the log
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


@contextmanager
def failing_as(code: str, place: object, hint: str = "") -> Iterator[None]:
    """What the system refuses in here is an error of that code about a place."""
    try:
        yield
    except OSError as error:
        raise TerselyError(code, f"{place}: {error.strerror}", hint) from error
