"""The output of a daemon for a command line: the same as the command would print by itself, written
down in order.
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from tersely.capabilities.declaration.declaration import Repeats, Tier
from tersely.capabilities.declaration.references import has_references
from tersely.cli import run
from tersely.cli.printing.output import Output
from tersely.cli.printing.terminal import Terminal
from tersely.daemon.processes.analysis import OpenWorkspace, Printed, Words
from tersely.foundation.errors import EXIT_OK, TerselyError
from tersely.foundation.settings import load


class _Recorded:
    """A stream that writes down what is printed on it, among what is printed on another."""

    encoding = "utf-8"

    def __init__(self, number: int, is_terminal: bool, parts: list[tuple[int, str]]) -> None:
        self._number = number
        self._is_terminal = is_terminal
        self._parts = parts

    def write(self, text: str, /) -> int:
        """Print."""
        if text:
            self._parts.append((self._number, text))
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""

    def isatty(self) -> bool:
        """True if the client's stream is a terminal."""
        return self._is_terminal


def answer(words: Words, root: Path, open_workspace: OpenWorkspace) -> Printed | None:
    """The output for these words, None if only a process in the client's place can tell."""
    parts: list[tuple[int, str]] = []
    out = _Recorded(1, words.is_out_terminal, parts)
    err = _Recorded(2, words.is_error_terminal, parts)
    terminal = Terminal(out, err, words.environment)
    leading, rest = run.split(words.words)
    if run.is_own(words.words, rest):
        return None
    try:
        request = run.read_request(leading, rest, words.environment)
    except TerselyError as error:
        return Printed(
            parts, run.print_unread(words.program, words.words, error, terminal), Repeats.NEVER
        )
    directory = Path(words.directory)
    options = request.options
    capability = request.command.capability()
    try:
        is_here = run.root_of(options, directory).resolve(strict=True) == root
    except (TerselyError, OSError, RuntimeError):
        return None
    if (
        not is_here
        or not capability.checks_freshness
        or load(root, words.environment).daemon == "off"
    ):
        return None
    needs_trust = capability.tier_of(request.arguments) > Tier.READ
    if needs_trust or has_references(request.arguments) or options.output is not None:
        return None  # what needs more trust is done by the process of whoever is trusted
    output = Output(words.program, options, terminal)
    workspace = nullcontext(open_workspace(words.environment, options.refresh))
    status = run.answer(request, output, directory, lambda: workspace)
    return Printed(
        parts, status, capability.repeats(request.arguments) if status == EXIT_OK else Repeats.NEVER
    )
