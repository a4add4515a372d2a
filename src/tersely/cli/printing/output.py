"""Printing: answers on standard output, errors and progress on standard error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tersely.capabilities.answers.reply import answer_text, aside_text, failure_text, notes_text
from tersely.capabilities.answers.text import Style
from tersely.capabilities.declaration.declaration import Capability
from tersely.capabilities.invoke import Outcome
from tersely.cli.options import Color, DrawingForm, Options
from tersely.cli.printing.progress import ProgressBar
from tersely.cli.printing.terminal import Terminal, write
from tersely.foundation.errors import EXIT_OK
from tersely.foundation.text.escape import json_escaped, visible_line

if TYPE_CHECKING:
    from tersely.cli.printing.terminal import Stream


class Output:
    """The streams to which one command prints, and the form."""

    def __init__(self, program: str, options: Options, terminal: Terminal) -> None:
        self._program = program
        self._options = options
        self._terminal = terminal

    def print_answer(
        self, outcome: Outcome, capability: Capability, drawing: DrawingForm | None = None
    ) -> int:
        """Print a result on standard output: as JSON, drawn, or in words."""
        if not self._options.quiet:
            write(self._terminal.err, notes_text(outcome))
        if self._options.json:
            return self._print_json(outcome)
        style = self.answer_style()
        if drawing:
            from tersely.cli.printing.drawing import drawn

            text = drawn(outcome.result, drawing)
        else:
            text = answer_text(capability, outcome, style)
        if style.colored:
            from tersely.cli.printing.painting import painted

            text = painted(text, style)
        write(self._terminal.out, text)
        if not self._options.quiet:
            write(
                self._terminal.err, aside_text(capability, outcome, self._style(self._terminal.err))
            )
        return outcome.exit_status

    def print_kept(self, outcome: Outcome) -> int:
        """Print the reference of an answer that is kept elsewhere, and beside it what it is."""
        if not self._options.quiet:
            write(self._terminal.err, notes_text(outcome))
            summary = self._style(self._terminal.err).faint(outcome.result["summary"])
            write(self._terminal.err, "" if self._options.json else f"{summary}\n")
        return self.print_plain(outcome)

    def print_note(self, note: str) -> None:
        """Print a line on standard error, before the answer comes, when somebody is there to see it."""
        if self._is_watched():
            write(self._terminal.err, f"note: {visible_line(note)}\n")

    def print_plain(self, outcome: Outcome) -> int:
        """Print a result that is a mapping with its `text`."""
        if self._options.json:
            return self._print_json(outcome)
        write(self._terminal.out, outcome.result["text"])
        return EXIT_OK

    def _print_json(self, outcome: Outcome) -> int:
        write(self._terminal.out, _json_line(outcome))
        return outcome.exit_status

    def print_failure(self, outcome: Outcome) -> int:
        """Print what went wrong on standard error and, with `--json`, the envelope on standard
        output.
        """
        failure = outcome.failure
        assert failure is not None
        if self._options.json:
            self._print_json(outcome)
        write(self._terminal.err, failure_text(failure, self._style(self._terminal.err)))
        if failure.is_defect and self._terminal.environment.get("TERSELY_DEBUG"):
            import traceback

            write(self._terminal.err, "".join(traceback.format_exception(failure.cause)))
        return failure.exit_status

    def progress(self) -> ProgressBar | None:
        """A bar on standard error when somebody is there to see it."""
        is_plain = self._terminal.environment.get("TERM") == "dumb"
        return ProgressBar(sys.stderr) if self._is_watched() and not is_plain else None

    def _is_watched(self) -> bool:
        return sys.stderr.isatty() and not self._options.quiet

    def answer_style(self) -> Style:
        """Colours of what goes to standard output."""
        return self._style(self._terminal.out)

    def _style(self, stream: Stream) -> Style:
        """Colours, as the options, the terminal and the environment will have it."""
        if self._options.color is not Color.AUTO:
            return Style(self._options.color is Color.ALWAYS)
        environment = self._terminal.environment
        plain = environment.get("NO_COLOR") or environment.get("TERM") == "dumb"
        return Style(stream.isatty() and not plain)


def _json_line(outcome: Outcome) -> str:
    import json

    return (
        json_escaped(json.dumps(outcome.envelope(), ensure_ascii=False, separators=(",", ":")))
        + "\n"
    )
