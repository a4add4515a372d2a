"""The events that the agent tells whoever shows it: one stream of plain values, the same for every
front.

Each event says to which turn it belongs; turns are counted from 1 within a session.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from tersely.agent.tools.declaration import MadeChange
from tersely.foundation.types import Strings, frozen


class Decision(StrEnum):
    """The decision of somebody who was asked about a call."""

    ALLOW_ONCE = "allow_once"
    ALLOW_SESSION = "allow_session"  # this tool, in this session
    ALLOW_PATTERN = "allow_pattern"  # what fits the pattern, in this session
    DENY = "deny"


class EndReason(StrEnum):
    """The reason for which a turn has ended."""

    ANSWERED = "answered"
    LIMIT = "limit"  # of calls in one turn, or of the window
    CANCELLED = "cancelled"
    STUCK = "stuck"  # the model repeats itself: somebody has to say how to go on
    FAILED = "failed"  # the model is gone, or something else went wrong; a notice says what


class NoticeLevel(StrEnum):
    """The importance of a notice."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


class RetrievedItem(NamedTuple):
    """Something that was put into the prompt unasked: what it is and what it costs."""

    name: str
    tokens: int


@frozen
class TextDelta:
    """More of what the model says."""

    turn: int
    text: str


@frozen
class ThoughtDelta:
    """More of what the model reasons before it answers: no part of the answer, and not sent back to
    it.
    """

    turn: int
    text: str


@frozen
class AnswerRestarted:
    """The connection broke and the request was sent again: the text and thoughts of this answer so
    far are void.
    """

    turn: int


@frozen
class CallStarted:
    """A call is about to be made. `arguments` is JSON text; `preview` shows what it will change or
    run.
    """

    turn: int
    call_id: str
    tool: str
    arguments: str
    preview: str = ""


@frozen
class CallProgress:
    """A call takes its time: the last lines of what its command has printed so far, harmless and
    bounded; or the id of the editor's `terminal` that shows it.
    """

    turn: int
    call_id: str
    tail: str
    terminal: str = ""


@frozen
class CallEnded:
    """A call was made, or refused: `status` is ok, refused, denied, failed or interrupted."""

    turn: int
    call_id: str
    status: str
    observation: str
    duration_ms: int
    change: MadeChange | None = None


@frozen
class ApprovalAsked:
    """Nothing goes on until `Agent.approve` is told. `pattern` is one that would cover this call
    and those like it.
    """

    turn: int
    call_id: str
    tool: str
    what: str  # one line
    detail: str  # a diff, or the command
    pattern: str = ""


@frozen
class Unlocked:
    """The tools of a tier, and of those below, can be called from now on."""

    turn: int
    tier: int
    reason: str


@frozen
class ToolsDeclared:
    """The list of functions that every request carries has changed: their names, and our estimate
    of its tokens.

    What the server evaluates again because of it is in `Usage.reevaluated_tokens` of the next
    request.
    """

    turn: int
    tools: Strings
    tokens: int


@frozen
class Retrieved:
    """The code that was put in front of the message, and the reason."""

    turn: int
    items: tuple[RetrievedItem, ...]
    tokens: int
    why: str


@frozen
class Compacted:
    """Old turns have left the prompt; tokens before and after. `how` is by the model, or
    extractive.
    """

    turn: int
    before: int
    after: int
    how: str


@frozen
class Usage:
    """Tokens of one request as the server counted them; `cached_tokens` is None where it does not
    say.

    `window` is the size that the server reported. `reevaluated_tokens` of the prompt had been
    evaluated for the request before and were evaluated again; 0 where the server does not report
    its cache. Counts of a request that was stopped are ours (`is_estimated`).
    """

    turn: int
    prompt_tokens: int
    cached_tokens: int | None
    completion_tokens: int
    window: int
    reevaluated_tokens: int = 0
    thought_tokens: int | None = None  # of the completion
    is_estimated: bool = False


@frozen
class Notice:
    """Something that somebody should know."""

    turn: int
    level: NoticeLevel
    text: str


@frozen
class TurnEnded:
    """The last event of a turn. Where something went wrong `code`, `message` and `hint` are those
    of the error.

    Without an answer for another reason there may be a message alone.
    """

    turn: int
    reason: EndReason
    code: str = ""
    message: str = ""
    hint: str = ""


Event = (
    TextDelta | ThoughtDelta | AnswerRestarted | CallStarted | CallProgress | CallEnded | ApprovalAsked
    | Unlocked | ToolsDeclared | Retrieved | Compacted | Usage | Notice | TurnEnded
)  # fmt: skip
