"""The ways out where the code service cannot be asked: commands that every machine has, safe to be
pasted.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping

from tersely.foundation.text.escape import visible_line
from tersely.foundation.types import JsonMapping

MAX_FALLBACK_CHARACTERS = 200  # of what somebody asked for, in a command to try instead
_FILE = re.compile(r"/|\w\.\w{1,8}\Z")


def fallback(method: str, parameters: JsonMapping) -> str:
    """A sentence about what to try instead of a question, empty where there is nothing like it."""
    make = _FALLBACKS.get(method)
    asked = parameters.get("query" if method == "semantic" else "target")
    if make is None or not isinstance(asked, str):
        return ""
    shown = visible_line(" ".join(asked.split()))[:MAX_FALLBACK_CHARACTERS]
    return make(shown) if shown else ""


def _text(query: str) -> str:
    return f"grep -rnI --exclude-dir=.git -e {shlex.quote(query)} ."


def _name(target: str) -> str:
    """The last name of a target: `src/auth.py:Session.open` is `open`."""
    last = re.split(r"[:.]", target.rstrip(":."))[-1]
    return f"grep -rnIw --exclude-dir=.git -e {shlex.quote(last)} ." if last else ""


def _file(target: str) -> str:
    """The file of a target, or where its name is written if it names none."""
    path = target.partition(":")[0]
    return f"cat -- {shlex.quote(path)}" if _FILE.search(path) else _name(target)


_FALLBACKS: Mapping[str, Callable[[str], str]] = {
    "semantic": _text,
    "context": _file,
    "impact": _name,
    "calls": _name,
}
