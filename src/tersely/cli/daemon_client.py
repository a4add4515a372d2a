"""Having a daemon answer. Runs before every command, so it loads next to nothing before somebody
answers.
"""

from __future__ import annotations

import os
import sys

from tersely.cli.help.overview import CANDIDATES_COMMAND, OWN_COMMANDS, RELAY_COMMANDS
from tersely.cli.printing.terminal import VARIABLES, Terminal, write

TYPE_CHECKING = False  # `typing` has one too, but it would have to be imported
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tersely.foundation.types import JsonObject

# Commands of code that a daemon would refuse by itself, as it would those of the program and the
# relay.
_NOT_ASKED = frozenset({"index", "-p", CANDIDATES_COMMAND})
_OWN_FLAGS = frozenset({"--help", "-h", "--version", "-V"})
_STANDARD_INPUT = "-"  # a daemon has none
_STAGED, _INDEX = "--staged", "GIT_INDEX_FILE"  # nor the index that git makes for its hooks
_PREFIX = "TERSELY_"
_SWITCH = "TERSELY_DAEMON"


def answered(program: str, words: Sequence[str]) -> int | None:
    """The exit status of a command that a daemon has answered; None, and nothing printed, if none
    has.

    A daemon makes answers faster and no different, so whatever goes wrong with it only means that
    it is not used.
    """
    if not words or _is_no_question(words[0]) or _STANDARD_INPUT in words:
        return None
    is_own = not _OWN_FLAGS.isdisjoint(words) or (_STAGED in words and _INDEX in os.environ)
    if is_own or os.environ.get(_SWITCH) == "off":
        return None
    from tersely.daemon.client import Client
    from tersely.daemon.place import Place
    from tersely.foundation.storage.roots import enclosing_root

    try:
        directory = os.getcwd()
        named = _root(words)
        root = os.path.realpath(named) if named else enclosing_root(os.path.realpath(directory))
        with Client(Place.of(root)) as client:
            reply = client.ask(request(program, words, directory, root), awaits_receipt=True)
        parts, status = reply["parts"], reply["exit_status"]
    except (OSError, ValueError, KeyError):
        return None
    terminal = Terminal.own()
    for number, text in parts:
        write(terminal.out if number == 1 else terminal.err, text)
    return int(status)


def _is_no_question(word: str) -> bool:
    """True if a command that begins so asks nothing of a repository; to see it here only spares the
    question.
    """
    return word in _NOT_ASKED or word in OWN_COMMANDS or word in RELAY_COMMANDS


def _root(words: Sequence[str]) -> str:
    """The root that `--root` seems to name; the daemon reads the words as they are meant."""
    for place, word in enumerate(words):
        if word == "--":
            break
        if word == "--root":
            return words[place + 1] if place + 1 < len(words) else ""
        if word.startswith("--root="):
            return word[7:]
    return ""


def request(program: str, words: Sequence[str], directory: str, root: str) -> JsonObject:
    """The request by which a daemon is asked what a command line prints."""
    from tersely.foundation.process.identity import program_identity

    environment = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_PREFIX) or name in VARIABLES
    }
    return {
        "cmd": "words",
        "timeout_ms": 600_000,
        "program_identity": program_identity(),
        "root": root,
        "program": program,
        "words": list(words),
        "directory": directory,
        "environment": environment,
        "is_out_terminal": sys.stdout.isatty(),
        "is_error_terminal": sys.stderr.isatty(),
    }
