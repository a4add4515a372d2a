"""The memory of agents: what was written for them, which files they were shown in outline, when one
lost its context, what went wrong.

It lies in a directory of the user's, never in a repository: one of somebody else could say what is
to be put back.
"""

from __future__ import annotations

import json
import os
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from tersely.foundation.clock import local_time
from tersely.foundation.errors import TerselyError
from tersely.foundation.ids import new_id
from tersely.foundation.limits import MAX_LOG_BYTES
from tersely.foundation.storage.files import write_private
from tersely.foundation.storage.private import make_state, state_directory
from tersely.foundation.types import Strings

MAX_SHOWN = 500  # outlines and texts that are remembered of one session
_NAME_BYTES = 12


class WrittenFile(NamedTuple):
    """A file as it was before it was written for an agent, None if there was none, and after."""

    path: str
    before: str | None
    after: str


class Installed(NamedTuple):
    """The record of an installation: with which program to call, empty if that is not known, in
    which files, and the folders that were made for these.
    """

    program: Strings = ()
    files: tuple[WrittenFile, ...] = ()
    folders: Strings = ()


def directory() -> Path:
    """`$TERSELY_HOME`, else where the user's programs keep their state."""
    return Path(state_directory(os.environ) or Path.home())


def read_record(base: Path, agent: str) -> Installed:
    """The record of what was written for an agent below a directory, its files in order."""
    try:
        told = json.loads(_record(base, agent).read_text("utf-8"))
        files = tuple(
            WrittenFile(str(path), before, str(after)) for path, before, after in told["files"]
        )
        folders = tuple(map(str, told.get("folders", ())))
        return Installed(tuple(map(str, told["program"])), files, folders)
    except (OSError, ValueError, TypeError, KeyError):
        return Installed()


def keep_record(base: Path, agent: str, installed: Installed) -> None:
    """Remember it, or forget it if it is nothing; raises `unwritable_output`."""
    place = _record(base, agent)
    try:
        if not installed.files:
            place.unlink(missing_ok=True)
            return
        make_state(str(place.parent))
        write_private(place, json.dumps(installed._asdict()).encode())
    except OSError as error:
        why = f"what was installed is not remembered: {place}: {error.strerror}"
        raise TerselyError("unwritable_output", why, "check who may write there") from error


def is_first(session: str, shown: str) -> bool:
    """True if a session has not been shown this, the outline of a file or a text, which it has been
    from now on.
    """
    place = directory() / "outlined" / f"{_name(session)}.txt"
    try:
        known = place.read_text("utf-8").split("\0")
    except FileNotFoundError:
        known = []
    if shown in known:
        return False
    make_state(str(place.parent))
    place.write_text("\0".join([*known, shown][-MAX_SHOWN:]), "utf-8")
    return True


def begin_context(root: str) -> None:
    """From now on nothing counts as shown to the agents in a repository: one of them has lost what
    it was shown.

    Which of them is not asked: to send something twice costs little, and to leave out what is not
    known costs much.
    """
    place = _context(root)
    make_state(str(place.parent))
    write_private(place, new_id().encode())


def context_of(root: str) -> str:
    """The ending of the names of agents' sessions in a repository: another text after each
    `begin_context`.
    """
    try:
        return _context(root).read_text("utf-8")
    except OSError:
        return ""


def _context(root: str) -> Path:
    return directory() / "contexts" / f"{_name(root)}.txt"


def log(line: str) -> None:
    """Write down why a hook said nothing."""
    append("hooks.log", line, MAX_LOG_BYTES)


def append(name: str, line: str, most_bytes: int) -> None:
    """Add a line with its time to a log; one that is full begins anew, and the one before is kept."""
    place = directory() / name
    make_state(str(place.parent))
    if place.exists() and place.stat().st_size > most_bytes:
        place.replace(place.with_suffix(".old"))
    with place.open("a", encoding="utf-8", errors="replace") as file:
        file.write(f"{local_time()} {line}\n")


def appended(name: str) -> list[str]:
    """The lines of a log and of the one before, the oldest first; none where they cannot be read."""
    place, lines = directory() / name, []
    for one in (place.with_suffix(".old"), place):
        try:
            lines += one.read_text("utf-8", "replace").splitlines()
        except OSError:
            continue
    return lines


def _record(base: Path, agent: str) -> Path:
    return directory() / "installed" / f"{_name(str(base))}-{agent}.json"


def _name(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=_NAME_BYTES).hexdigest()
