"""The question that is asked without a screen: the words of the command line, and what comes
through standard input.
"""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Callable

from tersely.cli.agent.command_spec import STANDARD_INPUT
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_ARTIFACT_BYTES
from tersely.foundation.text.escape import fenced
from tersely.foundation.text.shortening import KeptOutput
from tersely.foundation.text.tokens import well_formed

MAX_PIPED_KEPT_BYTES = MAX_ARTIFACT_BYTES  # half of it from the end

MAX_PIPED_BYTES = 1_000_000_000  # that are read, most of them to be left out
PIPED_PATIENCE_SECONDS = 3.0  # until it is said what is waited for
_CHUNK_BYTES = 1_000_000
_LOOKED_AT_BYTES = 8_000  # for a NUL, which text does not have: as git tells one from the other
_PLACE = 0  # the descriptor of standard input


def is_for_screen(prompt: str | None) -> bool:
    """True if to open the screen: there is no prompt, and a person types at standard input."""
    return (
        prompt is None
        and not _comes_from_elsewhere()
        and sys.stdin is not None
        and sys.stdin.isatty()
    )


def message_of(prompt: str | None, say: Callable[[str], None]) -> str:
    """The question; raises `usage` for nothing, and `invalid_argument` for what is no text.

    What takes time, and what is left out, is told with `say`.
    """
    asked = "" if prompt in (None, STANDARD_INPUT) else well_formed(str(prompt)).strip()
    given = ""
    if prompt == STANDARD_INPUT or _comes_from_elsewhere():
        given = _text(_read(say)).strip()
    if not asked and not given:
        raise TerselyError(
            "usage",
            "there is no message",
            'tersely -p "what does main do?", or text on standard input',
        )
    if asked and given:
        given = fenced(given)  # others may have written it: what is quoted asks for no tools
    return "\n\n".join(filter(None, [asked, given]))


def _comes_from_elsewhere() -> bool:
    """True if standard input is a pipe or a file: what comes through it is meant to be read."""
    if sys.stdin is None:  # the caller has closed it, and the descriptor may be any file by now
        return False
    try:
        mode = os.fstat(_PLACE).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _read(say: Callable[[str], None]) -> bytes:
    """All of standard input; of much the beginning and the end, which say most of a log."""
    if sys.stdin is None:
        return b""
    kept, size = KeptOutput(MAX_PIPED_KEPT_BYTES), 0
    try:
        if not select.select([_PLACE], [], [], PIPED_PATIENCE_SECONDS)[0]:
            say("waiting for standard input to end (with `< /dev/null` there is none)")
        while piece := os.read(_PLACE, _CHUNK_BYTES):
            size += len(piece)
            if size > MAX_PIPED_BYTES:
                message = f"standard input has more than {MAX_PIPED_BYTES:,} bytes"
                raise TerselyError("invalid_argument", message, "say less: head, tail, grep")
            kept.add(piece)
    except OSError as error:
        raise TerselyError(
            "unreadable_file", f"standard input cannot be read: {error.strerror}"
        ) from error
    gap = f"{kept.left_out:,} bytes of {size:,} are left out"
    if kept.left_out:
        say(f"standard input is long: {gap} in the middle")
    return kept.content(f"\n[{gap} here]\n")


def _text(content: bytes) -> str:
    if b"\0" in content[:_LOOKED_AT_BYTES]:
        hint = "have it written as text first, for example: strings, iconv -f UTF-16, xxd"
        raise TerselyError(
            "invalid_argument", "standard input is not a text: it has NUL bytes", hint
        )
    return content.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
