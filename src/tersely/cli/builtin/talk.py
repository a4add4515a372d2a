"""`tersely talk`: the commands of `scripts/`, answered in words like every other command, and in
JSON with `--json`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import chain

from tersely.ai_talk import commands
from tersely.cli.help.overview import TALK
from tersely.cli.printing.terminal import write
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible, visible_line
from tersely.foundation.types import JsonMapping

# of the options that stand before a command
_TAKEN = frozenset({"--json", "--quiet", "--help", "-h"})


def run_talk(program: str, leading: Sequence[str], words: Sequence[str]) -> int:
    """Run a command of talk, `leading` being the options before it; the exit status. Raises
    `usage`.
    """
    others = [word for word in leading if word not in _TAKEN]
    if others:
        raise TerselyError(
            "usage", f"{TALK} takes no {others[0]}", f"{program} {TALK} --help lists the commands"
        )
    help_words = [word for word in leading if word in {"--help", "-h"}]
    show = commands.print_json if "--json" in (*leading, *words) else _print_words
    return commands.main([*help_words, *words], f"{program} {TALK}", show)


def _print_words(result: JsonMapping) -> None:
    """Print a result and flush: what counts as printed has left this process."""
    stream = sys.stderr if result.get("status") == "error" else sys.stdout
    write(stream, _words(result))
    stream.flush()


def _words(result: JsonMapping) -> str:
    """A result as lines: what it says of all, then what it lists."""
    if "error_code" in result:
        return f"{result['error_code']}: {visible_line(result['error_message'])}\n"
    lists = [value for value in result.values() if isinstance(value, list)]
    lines = [_line(result), *(line for one in chain(*lists) for line in _entry(one))]
    return "".join(f"{line}\n" for line in lines if line) or "none\n"


def _entry(one: JsonMapping) -> list[str]:
    """What is said of a message or listener, then a message's text, indented so that none looks
    like another's head.
    """
    text = one.get("message", "")
    body = text if isinstance(text, str) else commands.json_line(text)
    return [f"- {_line(one)}", *(f"    {line}" for line in visible(body).split("\n") if body)]


def _line(said: JsonMapping) -> str:
    about = [
        f"{key.replace('_', ' ')} {value}"
        for key, value in said.items()
        if key != "message" and not isinstance(value, list)
    ]
    return visible_line(", ".join(about))
