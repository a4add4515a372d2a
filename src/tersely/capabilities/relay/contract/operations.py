"""The operations of the relay over HTTP: one line each, in the order in which they are documented."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

from tersely.capabilities import catalogue
from tersely.capabilities.declaration.declaration import Capability, Parameter, Role
from tersely.capabilities.relay.contract import shapes
from tersely.foundation.artifact_types import ArtifactType
from tersely.foundation.limits import MAX_NAME_CHARACTERS
from tersely.foundation.types import JsonMapping, JsonObject, Strings, frozen, replace
from tersely.relay.wire import documents
from tersely.relay.wire.documents import ARTIFACT_ERRORS, THREAD_ERRORS, VERSION

MAX_KEY_CHARACTERS = 200  # of idempotency
MAX_TOKEN_CHARACTERS = 200  # of the name of an agent
MAX_QUERY_NUMBER = 10**14  # behind the question mark


class Content(StrEnum):
    """The media types of bodies."""

    JSON = "application/json"
    BYTES = "application/octet-stream"
    EVENTS = "text/event-stream"
    TEXT = "text/plain"


class SavingsKind(StrEnum):
    """The kinds of those whose spared tokens are counted."""

    THREAD = "thread"
    CAPABILITY = "capability"
    AGENT = "agent"


@frozen
class HttpOperation:
    """One thing that can be asked. `asks` and `answers` are the values of the bodies, None where
    there is none.
    """

    name: str
    method: str
    path: str
    summary: str
    answers: Any
    asks: Any = None
    query: tuple[Parameter, ...] = ()  # behind the question mark
    given: tuple[Parameter, ...] = ()  # the members of an object that is asked for
    takes: Content = Content.JSON
    gives: Content = Content.JSON
    status: int = 200
    fails: Strings = ()  # the codes that this operation has beside those of all
    waits: bool = False  # reading takes so long that it is done by a thread
    is_open: bool = False  # answered without a token
    conditional: bool = False  # `If-Match` names the version of the state that a change is for
    repeatable: bool = False  # `Idempotency-Key` makes a repeated request happen once
    is_call: bool = False  # takes as long as what is called takes
    capability: str = ""  # that answers it, "" for what is asked over HTTP alone
    body: str = ""  # the parameter that the body is, where it has no others

    @property
    def writes(self) -> bool:
        """True if it changes anything."""
        return self.method != "GET"

    @property
    def in_path(self) -> list[Parameter]:
        """The parameters that stand in its path."""
        return [_IN_PATH.get(name, Parameter(name)) for name in re.findall(r"{(\w+)}", self.path)]


_ANY = r"[^\x00]+"
_IN_PATH = {
    one.name: one
    for one in (
        Parameter("message_id", help="a message", pattern="[0-9a-f]{8}-[0-9]{1,18}"),
        Parameter("ref", help="an artifact, by its hash or how that begins", pattern="[0-9A-Fa-f]{6,64}"),
        Parameter("thread", help="a thread, by its id", pattern=_ANY),
        Parameter("name", help="a name", pattern=_ANY),
        Parameter("kind", SavingsKind, "the kind of those who were spared tokens"),
    )
}  # fmt: skip
IF_MATCH = Parameter(
    "If-Match", help="the version of the state that the change is for", required=False,
    pattern=f'"?{VERSION}"?',
)  # fmt: skip
AGENT_TOKEN = Parameter(
    "X-Relay-Token", help="the token that the name of the agent is bound to, or the id of its session",
    required=False, pattern=f"[!-~]{{1,{MAX_TOKEN_CHARACTERS}}}",
)  # fmt: skip
IDEMPOTENCY_KEY = Parameter(
    "Idempotency-Key", help="with the same key it happens once", required=False,
    pattern=f"[!-~]([ -~]{{0,{MAX_KEY_CHARACTERS - 2}}}[!-~])?",
)  # fmt: skip
_OF_HEADERS = {"state_patch": ("version",)}  # parameters that a header says

# of an event of any thread: time in ms, number, thread
CURSOR_PATTERN = r"[0-9]{1,15}-[0-9]{1,15}-[^\x00]{1,200}"
_AFTER = Parameter(
    "after", int, "those behind this number", 0, required=False, minimum=0, maximum=MAX_QUERY_NUMBER
)
_THREAD = THREAD_ERRORS
_ARTIFACT = ARTIFACT_ERRORS
_CALL = (
    *_ARTIFACT, "unknown_command", "denied", "hop_limit", "rate_limited", "payload_too_large", "key_reused",
    "untrusted_ancestry", "fetch_failed", "timed_out", "busy", "symbol_not_found", "ambiguous_symbol",
    "path_not_found", "module_not_found", "root_not_found", "not_indexed", "not_permitted", "budget_too_small",
)  # fmt: skip


class _CapabilityOperation(NamedTuple):
    """A capability of the relay as an operation: what is not in its path stands in the query or the
    body. `more` are further fields of the operation.
    """

    name: str
    method: str
    path: str
    capability: str
    more: JsonMapping

    def declared(self) -> HttpOperation:
        """The operation, for which the capability is loaded."""
        capability = catalogue.load(self.capability)
        answered = {
            "summary": capability.summary,
            "answers": capability.answers,
            "fails": capability.fails,
        }
        given = {**answered, **self._parameters(capability), **self.more}
        return HttpOperation(self.name, self.method, self.path, capability=self.capability, **given)

    def _parameters(self, capability: Capability) -> JsonObject:
        elsewhere = _OF_HEADERS.get(self.name, ())
        declared = [
            one
            for one in capability.parameters
            if f"{{{one.name}}}" not in self.path and one.name not in elsewhere
        ]
        if self.method != "POST":
            return {"query": tuple(map(_query, declared))}
        if not declared or "body" in self.more:
            return {}
        return {"asks": JsonObject, "given": tuple(map(_exact, declared))}


def _exact(parameter: Parameter) -> Parameter:
    """A parameter whose schema says of a text that is no prose which characters it may have."""
    is_open = parameter.type is str and parameter.role is not Role.PROSE
    if not is_open or parameter.pattern:
        return parameter
    least = 0 if parameter.many else parameter.minimum or 0
    return replace(parameter, pattern=f"[^\\x00]{{{least},{parameter.longest}}}")


def _query(parameter: Parameter) -> Parameter:
    """A parameter as it is written behind a question mark, where there is no null. Its default is
    None where what is left out is not said to the capability.
    """
    plain = replace(_exact(parameter), nullable=False)
    if parameter.type is int:
        most = parameter.maximum or MAX_QUERY_NUMBER
        return replace(plain, minimum=parameter.minimum or 0, maximum=most)
    return replace(plain, default=None) if parameter.type is str else plain


_BEHIND = Parameter(
    "after", help="those behind the event of this id; those from now on without", required=False,
    pattern=CURSOR_PATTERN,
)  # fmt: skip
_LATEST = Parameter("limit", int, "how many at most", 100, required=False, minimum=1, maximum=1_000)
_UPLOAD = (
    Parameter(
        "name", help="as of a file", required=False, pattern=rf"[\s\S]{{0,{MAX_NAME_CHARACTERS}}}"
    ),
    Parameter("type", ArtifactType, "as it looks without", required=False),
)
_OWN: tuple[HttpOperation, ...] = (
    HttpOperation("health", "GET", "/health", "Whether the relay answers", shapes.Health, is_open=True),
    HttpOperation("version", "GET", "/version", "Which program answers", shapes.VersionTold),
    HttpOperation(
        "ticket_new", "POST", "/tickets", "Make a ticket that signs a browser in to the pages", shapes.TicketTold,
        status=201, fails=("port_unavailable",),
    ),
    HttpOperation(
        "artifact_upload", "PUT", "/threads/{thread}/artifacts", "Store bytes as they come", documents.ArtifactTold,
        takes=Content.BYTES, status=201, fails=(*_ARTIFACT, "payload_too_large"), query=_UPLOAD,
    ),
    HttpOperation(
        "artifact_content", "GET", "/threads/{thread}/artifacts/{ref}/content", "The bytes of an artifact", None,
        gives=Content.BYTES, fails=(*_ARTIFACT, "artifact_damaged"),
    ),
    HttpOperation(
        "event_stream", "GET", "/threads/{thread}/events/stream",
        "What happens, as server-sent events; `Last-Event-ID` resumes", None, gives=Content.EVENTS,
        query=(_AFTER,), fails=_THREAD,
    ),
    HttpOperation(
        "event_stream_all", "GET", "/events/stream",
        "What happens in all threads, as server-sent events; `Last-Event-ID` resumes", None, gives=Content.EVENTS,
        query=(_BEHIND,),
    ),
    HttpOperation(
        "cassette_upload", "PUT", "/cassettes", "Store bytes of no thread", documents.ArtifactTold,
        takes=Content.BYTES, status=201, fails=(*_ARTIFACT, "payload_too_large"), query=_UPLOAD,
    ),
    HttpOperation(
        "ask", "POST", "/ask", "Ask any capability of the relay, by its name", shapes.Answered, shapes.Question,
        is_call=True, repeatable=True,
        fails=(*_CALL, "message_not_found", "recipient_not_found", "channel_not_found", "name_taken"),
    ),
    HttpOperation(
        "cap_invoke", "POST", "/cap/invoke", "Call a capability on behalf of a thread", shapes.AnswerTold,
        shapes.CallOrEnvelope, repeatable=True, is_call=True, fails=(*_CALL, "invalid_envelope"),
    ),
    HttpOperation(
        "session_end", "POST", "/threads/{thread}/sessions", "Leave the summary of a session in a thread",
        shapes.SessionTold, shapes.NewSession, status=201, repeatable=True,
        fails=(*_ARTIFACT, "patch_failed", "invalid_state", "payload_too_large", "key_reused"),
    ),
    HttpOperation(
        "thread_export", "GET", "/threads/{thread}/bundle", "Everything that a thread consists of, as a ZIP archive",
        None, gives=Content.BYTES, fails=(*_THREAD, "payload_too_large", "artifact_damaged"),
    ),
    HttpOperation(
        "thread_import", "POST", "/bundles", "The thread of a bundle as one of this relay", documents.ThreadTold,
        takes=Content.BYTES, status=201, fails=("invalid_bundle", "payload_too_large"),
    ),
    HttpOperation(
        "permission_answer", "POST", "/permissions/{name}", "Answer an agent that waits for permission, as the person",
        shapes.DecisionTold, shapes.NewDecision, fails=("permission_not_found", "not_permitted"),
    ),
    HttpOperation(
        "metrics", "GET", "/metrics", "The figures of services, calls and mail, for Prometheus", None,
        gives=Content.TEXT
    ),
    HttpOperation("stats_all", "GET", "/stats", "The tokens that everybody has been spared", documents.Stats),
    HttpOperation(
        "stats", "GET", "/stats/{kind}/{name}", "The tokens that a thread, capability or agent has been spared",
        documents.Stats, fails=("invalid_argument", *_THREAD),
    ),
    HttpOperation(
        "token_new", "POST", "/tokens", "Make a token of an identity, or a code that a machine joins with",
        shapes.TokenMade, shapes.NewToken, status=201, fails=("invalid_argument", "busy", "name_taken"),
    ),
    HttpOperation("token_list", "GET", "/tokens", "List the tokens of identities", shapes.TokensTold),
    HttpOperation(
        "token_revoke", "DELETE", "/tokens/{name}", "End a token, or all of an identity, at once", shapes.TokensTold,
        fails=("token_not_found",),
    ),
    HttpOperation(
        "token_rotate", "POST", "/tokens/{name}/rotate", "Give a token a new secret", shapes.TokenMade, status=201,
        fails=("token_not_found",),
    ),
    HttpOperation(
        "join", "POST", "/join", "The token of a machine, for a code that works once", shapes.Joined, shapes.NewMachine,
        status=201, is_open=True, fails=("unauthorized", "rate_limited", "denied"),
    ),
    HttpOperation(
        "audit", "GET", "/audit", "The latest requests that were refused", shapes.AuditTold,
        query=(_LATEST,),
    ),
)  # fmt: skip

# All operations, in the order in which they are documented: the name; and of those that ask a
# capability the method, the path, the capability, and what else is true of them.
_TABLE = """
health
version
status             GET    /status                           relay.status
ticket_new
settings           GET    /config                           relay.config
thread_new         POST   /threads                          thread.new created
thread_list        GET    /threads                          thread.list
thread_get         GET    /threads/{thread}                 thread.get
state_full         GET    /threads/{thread}/state           state.get
state_header       GET    /threads/{thread}/state/header    state.header
state_patch        POST   /threads/{thread}/state/patch     state.patch conditional repeatable
state_history      GET    /threads/{thread}/state/history   state.history
artifact_put       POST   /threads/{thread}/artifacts       artifact.put created repeatable
artifact_upload
artifact_list      GET    /threads/{thread}/artifacts       artifact.list
artifact_get       GET    /threads/{thread}/artifacts/{ref} artifact.get waits
artifact_content
artifact_remove    DELETE /threads/{thread}/artifacts/{ref} artifact.remove
artifact_search    GET    /artifacts                        artifact.search waits
events             GET    /threads/{thread}/events          event.list
event_stream
event_stream_all
cassette_put       POST   /cassettes                        artifact.put created
cassette_upload
cassette_get       GET    /cassettes/{ref}                  artifact.get waits
ask
cap_list           GET    /cap/list                         cap.list
cap_invoke
checkpoint         POST   /threads/{thread}/checkpoints     thread.checkpoint created
session_end
replay             POST   /threads/{thread}/replay          thread.replay is_call
thread_export
thread_import
mirror             POST   /threads/{thread}/mirror          thread.mirror
agent_list         GET    /agents                           agent.list
agent_retire       DELETE /agents/{name}                    agent.retire
permission_answer
message_send       POST   /messages                         mail.send created repeatable
message_list       GET    /messages                         mail.search waits
receipt_new        POST   /messages/{message_id}/receipts   mail.receipt
inbox              GET    /agents/{name}/inbox              mail.box
channel_list       GET    /channels                         channel.list
channel_join       POST   /channels/join                    channel.join
channel_leave      POST   /channels/leave                   channel.leave
dead_letters       GET    /dead-letters                     mail.dead
dead_letter_resend POST   /dead-letters/{message_id}/resend mail.resend
service_list       GET    /services                         service.list
service_call       POST   /services/call                    service.call is_call
metrics
stats_all
stats
token_new
token_list
token_revoke
token_rotate
join
audit
report             POST   /reports/{thread}                 thread.report
"""


def _listed() -> Iterator[HttpOperation | _CapabilityOperation]:
    own = {one.name: one for one in _OWN}
    for line in _TABLE.strip().splitlines():
        name, *asking = line.split()
        yield _asking(name, *asking) if asking else own[name]


def _asking(name: str, method: str, path: str, capability: str, *true: str) -> _CapabilityOperation:
    more: JsonObject = dict.fromkeys(true, True)
    if more.pop("created", False):
        more["status"] = 201
    if "conditional" in true:  # the patch of a state
        more |= {"asks": shapes.JsonPatch, "body": "patch"}
    return _CapabilityOperation(name, method, path, capability, more)


_BY_NAME = {one.name: one for one in _listed()}


@cache
def operation(name: str) -> HttpOperation:
    """The operation of a name. One that asks a capability loads that alone."""
    found = _BY_NAME[name]
    return found.declared() if isinstance(found, _CapabilityOperation) else found


def operations() -> tuple[HttpOperation, ...]:
    """All operations, in the order in which they are documented."""
    return tuple(map(operation, _BY_NAME))
