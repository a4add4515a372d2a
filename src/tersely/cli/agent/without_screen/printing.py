"""A turn without a screen: as text, as one JSON object, or as one object an event."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from tersely.agent.events import (
    AnswerRestarted,
    CallEnded,
    CallStarted,
    Compacted,
    EndReason,
    Event,
    Notice,
    NoticeLevel,
    TextDelta,
    TurnEnded,
    Unlocked,
    Usage,
)
from tersely.capabilities.answers.reply import failure_text
from tersely.capabilities.answers.text import PLAIN, counted
from tersely.cli.agent.command_spec import OutputFormat
from tersely.cli.printing.terminal import Terminal, write
from tersely.foundation.errors import (
    EXIT_INTERRUPTED,
    EXIT_NEGATIVE,
    EXIT_OF_CODE,
    EXIT_OK,
    TerselyError,
)
from tersely.foundation.text.escape import json_escaped, visible, visible_line
from tersely.foundation.text.shortening import one_line
from tersely.foundation.types import fields, replace

if TYPE_CHECKING:
    from tersely.cli.printing.terminal import Stream
    from tersely.foundation.types import JsonObject

STATUS_OF_REASON = {
    EndReason.ANSWERED: EXIT_OK,
    EndReason.LIMIT: EXIT_NEGATIVE,
    EndReason.STUCK: EXIT_NEGATIVE,
    EndReason.CANCELLED: EXIT_INTERRUPTED,
}  # a failure has the one of its code
_COUNTED = (
    "requests", "prompt_tokens", "cached_tokens", "completion_tokens", "reevaluated_tokens", "stopped_requests",
)  # fmt: skip
MAX_ASIDE_CHARACTERS = 160  # of the arguments of a call, and of what came of it
PENDING = "pending"  # a call that has begun and not ended
DENIED = "denied"  # a call that nobody allowed; also the code of a turn with such calls
_ALLOWING = "--allow 1 allows edits, --allow 2 programs as well, --allow 3 the web as well"
_KEEPING = "--keep-session keeps a session that can go on"


class Printer:
    """Prints the events of one turn. The answer goes to standard output, everything else beside it.

    As JSON, the object at the end is the same whether a turn ended or none could begin: `session`
    is "" until there is one, and where it is not kept. `is_broken` once something could not be
    printed.
    """

    def __init__(
        self, terminal: Terminal, form: OutputFormat, *, is_quiet: bool, is_kept: bool = False
    ) -> None:
        self.session = ""
        self.is_kept = is_kept
        self.is_broken = False
        self._terminal = terminal
        self._form = form
        self._is_quiet = is_quiet
        self._texts: list[str] = []  # since the last call: the answer
        self._calls: list[JsonObject] = []
        self._notices: list[str] = []
        self._usage = dict.fromkeys(_COUNTED, 0)
        self._is_line_open = False

    def show(self, event: Event) -> None:
        """Print an event, or keep it for the end."""
        self._take(event)
        if self._form is OutputFormat.STREAM_JSON:
            self._out(_line(event_json(event)))
        elif self._form is OutputFormat.TEXT:
            self._show_text(event)

    def end(self, ended: TurnEnded) -> int:
        """Print what is left to print; the exit status. An answer with calls that were denied is no
        success.
        """
        denied = [call["tool"] for call in self._calls if call["status"] == DENIED]
        if denied and ended.reason is EndReason.ANSWERED:
            message = f"{counted(len(denied), 'call')} denied: {', '.join(dict.fromkeys(denied))}"
            ended = replace(ended, code=DENIED, message=message, hint=_ALLOWING)
            self._aside(f"{DENIED}: {message} ({_ALLOWING})", always=True)
        if self._form is OutputFormat.TEXT:
            self._end_line()
        else:
            self._result(ended.reason, ended.code, ended.message, ended.hint)
        return EXIT_OF_CODE[ended.code] if ended.code else STATUS_OF_REASON[ended.reason]

    def fail(self, error: TerselyError) -> int:
        """Print why there is no turn; the exit status."""
        if self._form is not OutputFormat.TEXT:
            self._result(EndReason.FAILED, error.code, error.message, error.hint)
        self._beside(failure_text(error, PLAIN))
        return error.exit_status

    def interrupted(self, signal: str, status: int) -> int:
        """Print that a signal has ended it, and how it goes on; the exit status."""
        if self._form is OutputFormat.TEXT:
            self._end_line()
            if self.session:
                self._aside(f"{signal}: the session goes on with --resume {self.session}")
        else:
            self._result(EndReason.CANCELLED, "", f"ended by {signal}", "")
        return status

    def say(self, text: str) -> None:
        """Tell people about it; whoever reads JSON finds it among the notices."""
        self._notices.append(text)
        self._aside(text)

    def _result(self, reason: EndReason, code: str, message: str, hint: str) -> None:
        is_answered = reason is EndReason.ANSWERED and not code
        for call in self._calls:
            if call["status"] == PENDING:
                call["status"] = "interrupted"
        why = {
            "code": code or ("" if is_answered else reason.value),
            "message": message,
            "hint": hint,
        }
        told = {
            "answer": "".join(self._texts),
            "calls": self._calls,
            "usage": self._usage,
            "notices": self._notices,
        }
        head = {
            "type": "result",
            "ok": is_answered,
            "is_error": not is_answered,
            "reason": reason.value,
        }
        self._out(_line({**head, **why, "session": self.session, **told}))

    def _take(self, event: Event) -> None:
        match event:
            case TextDelta(text=text):
                self._texts.append(text)
            case AnswerRestarted():
                self._texts.clear()
            case CallStarted(tool=tool, arguments=arguments):
                self._texts.clear()
                self._calls.append(
                    {"tool": tool, "arguments": json.loads(arguments), "status": PENDING}
                )
            case CallEnded(status=status, duration_ms=duration):
                self._calls[-1].update(status=status, duration_ms=duration)
            case Usage():
                self._usage["requests"] += 1
                self._usage["prompt_tokens"] += event.prompt_tokens
                self._usage["cached_tokens"] += event.cached_tokens or 0
                self._usage["completion_tokens"] += event.completion_tokens
                self._usage["reevaluated_tokens"] += event.reevaluated_tokens
                self._usage["stopped_requests"] += event.is_estimated
            case Notice(text=text):
                self._notices.append(text)
            case _:
                pass

    def _show_text(self, event: Event) -> None:
        match event:
            case TextDelta(text=text):
                self._out(visible(text))
                self._is_line_open = not text.endswith("\n")
            case CallStarted(tool=tool, arguments=arguments):
                self._aside(f"{tool} {one_line(arguments, MAX_ASIDE_CHARACTERS)}")
            case CallEnded(status=status, observation=observation) if status != "ok":
                self._aside(f"  {status}: {one_line(observation, MAX_ASIDE_CHARACTERS)}")
            case AnswerRestarted():
                self._aside("the connection broke: the answer begins again")
            case Unlocked(tier=tier, reason=reason):
                self._aside(f"tier {tier} unlocked: {reason}")
            case Compacted(before=before, after=after, how=how):
                self._aside(f"old turns left the prompt: {before:,} tokens to {after:,} ({how})")
            case Notice(level=level, text=text) if level is not NoticeLevel.NOTE:
                self._aside(f"{level.value}: {text}", always=level is NoticeLevel.ERROR)
            case TurnEnded(reason=reason) if reason is not EndReason.ANSWERED:
                resuming = "" if self.is_kept or reason is EndReason.CANCELLED else f" ({_KEEPING})"
                self._aside(f"no answer: {reason.value}{resuming}")
            case _:
                pass

    def _aside(self, text: str, *, always: bool = False) -> None:
        self._end_line()
        if always or not self._is_quiet:
            self._beside(f"{visible_line(text)}\n")

    def _end_line(self) -> None:
        if self._is_line_open:
            self._out("\n")
        self._is_line_open = False

    def _out(self, text: str) -> None:
        self._print(self._terminal.out, text)

    def _beside(self, text: str) -> None:
        self._print(self._terminal.err, text)

    def _print(self, stream: Stream, text: str) -> None:
        try:
            write(stream, text)
            stream.flush()  # whoever reads a pipe sees words as they come
        except OSError:
            self.is_broken = True
            raise


def print_unread(words: Sequence[str], error: TerselyError, terminal: Terminal) -> int:
    """Print why the words of `chat` cannot be read, in the form that they seem to ask for; the exit
    status.
    """
    said = " ".join(words).replace("--output-format=", "--output-format ").split()
    asked = {after for word, after in pairwise(said) if word == "--output-format"}
    form = OutputFormat.JSON if "--json" in said else OutputFormat.TEXT
    form = next((each for each in OutputFormat if each.value in asked), form)
    return Printer(terminal, form, is_quiet=False).fail(error)


def event_json(event: Event) -> JsonObject:
    """An event as JSON: its type in snake case, then its fields."""
    told: JsonObject = {"type": re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()}
    for field in fields(event):
        value = getattr(event, field.name)
        if field.name == "arguments":
            value = json.loads(value)
        elif hasattr(value, "_asdict"):
            value = value._asdict()
        elif isinstance(value, tuple):
            value = [each._asdict() if hasattr(each, "_asdict") else each for each in value]
        told[field.name] = value
    return told


def _line(value: JsonObject) -> str:
    return json_escaped(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) + "\n"
