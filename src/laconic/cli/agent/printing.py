"""A turn without a screen: as text, as one JSON object, or as one object an event."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import fields
from typing import Any

from laconic.agent.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Event,
    Level,
    Notice,
    Reason,
    TextDelta,
    TurnEnded,
    Unlocked,
    Usage,
)
from laconic.cli.agent.declared import OutputFormat
from laconic.cli.terminal import Terminal, write
from laconic.foundation.errors import EXIT_INTERRUPTED, EXIT_NEGATIVE, EXIT_OK, EXIT_SURROUNDINGS
from laconic.foundation.escape import json_escaped, visible, visible_line

STATUS_OF_REASON = {
    Reason.ANSWERED: EXIT_OK,
    Reason.LIMIT: EXIT_NEGATIVE,
    Reason.STUCK: EXIT_NEGATIVE,
    Reason.FAILED: EXIT_SURROUNDINGS,
    Reason.CANCELLED: EXIT_INTERRUPTED,
}


class Printer:
    """Prints the events of one turn. The answer goes to standard output, everything else beside it."""

    def __init__(self, terminal: Terminal, form: OutputFormat, session: str, *, is_quiet: bool) -> None:
        self._terminal = terminal
        self._form = form
        self._session = session
        self._is_quiet = is_quiet
        self._texts: list[str] = []  # since the last call: the answer
        self._calls: list[dict[str, Any]] = []
        self._notices: list[str] = []
        self._usage = {"requests": 0, "prompt_tokens": 0, "cached_tokens": 0, "completion_tokens": 0}
        self._is_line_open = False

    def show(self, event: Event) -> None:
        """Print an event, or keep it for the end."""
        self._take(event)
        if self._form is OutputFormat.STREAM_JSON:
            self._out(_line(event_json(event)))
        elif self._form is OutputFormat.TEXT:
            self._show_text(event)

    def end(self, reason: Reason) -> int:
        """Print what is left to print; the exit status."""
        if self._form is OutputFormat.TEXT:
            self._end_line()
        else:
            ended = {"type": "result"} if self._form is OutputFormat.STREAM_JSON else {}
            result = {"ok": reason is Reason.ANSWERED, "reason": reason.value, "session": self._session}
            told = {
                "answer": "".join(self._texts),
                "calls": self._calls,
                "usage": self._usage,
                "notices": self._notices,
            }
            self._out(_line({**ended, **result, **told}))
        return STATUS_OF_REASON[reason]

    def _take(self, event: Event) -> None:
        match event:
            case TextDelta(text=text):
                self._texts.append(text)
            case CallStarted(tool=tool, arguments=arguments):
                self._texts.clear()
                self._calls.append({"tool": tool, "arguments": json.loads(arguments), "status": "pending"})
            case CallEnded(status=status, duration_ms=duration):
                self._calls[-1].update(status=status, duration_ms=duration)
            case Usage():
                self._usage["requests"] += 1
                self._usage["prompt_tokens"] += event.prompt_tokens
                self._usage["cached_tokens"] += event.cached_tokens or 0
                self._usage["completion_tokens"] += event.completion_tokens
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
                self._aside(f"{tool} {_shortened(arguments)}")
            case CallEnded(status=status, observation=observation) if status != "ok":
                self._aside(f"  {status}: {_shortened(observation)}")
            case Unlocked(tier=tier, reason=reason):
                self._aside(f"tier {tier} unlocked: {reason}")
            case Compacted(before=before, after=after, how=how):
                self._aside(f"old turns left the prompt: {before:,} tokens to {after:,} ({how})")
            case Notice(level=level, text=text) if level is not Level.NOTE:
                self._aside(f"{level.value}: {text}", always=level is Level.ERROR)
            case TurnEnded(reason=reason) if reason is not Reason.ANSWERED:
                self._aside(f"no answer: {reason.value}")
            case _:
                pass

    def _aside(self, text: str, *, always: bool = False) -> None:
        self._end_line()
        if always or not self._is_quiet:
            write(self._terminal.err, f"{visible_line(text)}\n")

    def _end_line(self) -> None:
        if self._is_line_open:
            self._out("\n")
        self._is_line_open = False

    def _out(self, text: str) -> None:
        write(self._terminal.out, text)
        sys.stdout.flush()  # whoever reads a pipe sees words as they come


def event_json(event: Event) -> dict[str, Any]:
    """An event as JSON: its type in snake case, then its fields."""
    told: dict[str, Any] = {"type": re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()}
    for field in fields(event):
        value = getattr(event, field.name)
        if field.name == "arguments":
            value = json.loads(value)
        elif hasattr(value, "_asdict"):
            value = value._asdict()
        elif isinstance(value, tuple):
            value = [each._asdict() for each in value]
        told[field.name] = value
    return told


def _line(value: dict[str, Any]) -> str:
    return json_escaped(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) + "\n"


def _shortened(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 160 else f"{plain[:159]}…"
