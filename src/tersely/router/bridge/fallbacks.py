"""What to try where the code service cannot be asked: commands that every machine has, safe to be pasted."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from tersely.foundation.escape import visible_line

MAX_FALLBACK_CHARACTERS = 200  # of what somebody asked for, in a command to try instead
_PLACES = ("target", "query", "symbol", "symbols", "path", "file", "place", "pattern", "entry", "func", "function")
_LINE = re.compile(r":(\d{1,9})(?::\d{1,9})?\Z")
_FILE = re.compile(r"/|\w\.\w{1,8}\Z")
_AROUND_LINES = 15


def fallback(method: str, parameters: Mapping[str, Any]) -> str:
    """What to try instead of a question, empty where there is nothing like it."""
    make = _FALLBACKS.get(method)
    return make(_meant(parameters)) if make else ""


def _meant(parameters: Mapping[str, Any]) -> str:
    """What a question is about, on one line, as somebody may paste it."""
    for name in _PLACES:
        value = parameters.get(name)
        value = value[0] if isinstance(value, list) and value else value
        if isinstance(value, str) and value.strip():
            return visible_line(" ".join(value.split()))[:MAX_FALLBACK_CHARACTERS]
    return ""


def _grep(meant: str) -> str:
    return f"grep -rnI --exclude-dir=.git -e {shlex.quote(meant)} ." if meant else ""


def _name(meant: str) -> str:
    """Where the last name of a target is written: `src/auth.py:Session.open` is `open`."""
    last = re.split(r"[:.]", meant.rstrip(":."))[-1]
    return f"grep -rnIw --exclude-dir=.git -e {shlex.quote(last)} ." if last else ""


def _file(meant: str) -> str:
    """The file of a target, or where its name is written if it names none."""
    path = meant.partition(":")[0]
    return f"cat -- {shlex.quote(path)}" if _FILE.search(path) else _name(meant)


def _lines(meant: str) -> str:
    found = _LINE.search(meant)
    if found is None:
        return _file(meant)
    line = int(found[1])
    around = f"{max(1, line - _AROUND_LINES)},{line + _AROUND_LINES}p"
    return f"sed -n -- {around} {shlex.quote(meant[: found.start()])}"


def _listing(meant: str) -> str:
    return f"ls -R -- {shlex.quote(meant)}" if meant else "git ls-files"


_FALLBACKS: Mapping[str, Callable[[str], str]] = {
    "semantic": _grep,
    "search": _grep,
    "context": _file,
    "impact": _name,
    "calls": _name,
    "structure": _listing,
    "tree": _listing,
    "extract": _name,
    "cfg": _file,
    "dfg": _file,
    "slice": _lines,
}
