"""Printing: answers on standard output, errors and progress on standard error."""

from __future__ import annotations

import os
import sys
from typing import Any, TextIO

from laconic.capabilities.declaration import Capability
from laconic.capabilities.invoke import Failure, Outcome
from laconic.capabilities.projection import harmless
from laconic.capabilities.text import Style
from laconic.cli.options import Color, Options
from laconic.cli.progress import ProgressBar
from laconic.foundation.errors import EXIT_OK
from laconic.foundation.escape import json_escaped, visible, visible_line


class Output:
    """Where one command prints, and how."""

    def __init__(self, program: str, options: Options) -> None:
        self._program = program
        self._options = options

    def print_answer(self, outcome: Outcome, capability: Capability[Any, Any]) -> int:
        """Print a result on standard output."""
        if not self._options.quiet:
            _write(sys.stderr, "".join(f"note: {visible_line(note)}\n" for note in outcome.notes))
        if self._options.json:
            return self._print_json(outcome)
        result = harmless(outcome.result)
        text = capability.text(result, self.answer_style())
        _write(sys.stdout, _ended(text))
        aside = capability.aside(result, self._style(sys.stderr)) if capability.aside else ""
        if aside and not self._options.quiet:
            _write(sys.stderr, _ended(aside))
        return EXIT_OK

    def print_plain(self, outcome: Outcome) -> int:
        """Print a result that is a mapping with its `text`."""
        if self._options.json:
            return self._print_json(outcome)
        _write(sys.stdout, outcome.result["text"])
        return EXIT_OK

    def _print_json(self, outcome: Outcome) -> int:
        _write(sys.stdout, _json_line(outcome))
        return outcome.exit_status

    def print_failure(self, outcome: Outcome) -> int:
        """Print what went wrong on standard error and, with `--json`, the envelope on standard output."""
        failure = outcome.failure
        assert failure is not None
        if self._options.json:
            self._print_json(outcome)
        _write(sys.stderr, self._told(failure))
        if failure.is_defect and os.environ.get("LACONIC_DEBUG"):
            import traceback

            traceback.print_exception(failure.cause)
        return failure.exit_status

    def progress(self) -> ProgressBar | None:
        """A bar on standard error when somebody is there to see it."""
        wanted = sys.stderr.isatty() and not self._options.quiet and os.environ.get("TERM") != "dumb"
        return ProgressBar(sys.stderr) if wanted else None

    def answer_style(self) -> Style:
        """Colours of what goes to standard output."""
        return self._style(sys.stdout)

    def _style(self, stream: TextIO) -> Style:
        """Colours, as the options, the terminal and the environment will have it."""
        if self._options.color is not Color.AUTO:
            return Style(self._options.color is Color.ALWAYS)
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        return Style(stream.isatty() and not plain)

    def _told(self, failure: Failure) -> str:
        style = self._style(sys.stderr)
        lines = [f"{style.bad(failure.code)}: {visible_line(failure.message)}"]
        if failure.hint:
            lines.append(f"{style.faint('hint')}: {visible(failure.hint)}")
        return "\n".join(lines) + "\n"


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _json_line(outcome: Outcome) -> str:
    import json

    return json_escaped(json.dumps(outcome.envelope(), ensure_ascii=False, separators=(",", ":"))) + "\n"


def _write(stream: TextIO, text: str) -> None:
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
