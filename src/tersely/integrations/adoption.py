"""The use that agents make of what is offered to them: sessions that asked about code, and reads
that were answered in outline.

Each is a word with its time in a log of the user's. No question, path or name is written down, and
nothing is sent.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import NamedTuple

from tersely.integrations import state

MAX_NOTES_BYTES = 1_000_000  # then the log begins anew; the one before is kept and counted
NOTES = "adoption.log"
_DAY_CHARACTERS = len("2026-01-31")


class AdoptionNote(StrEnum):
    """A thing that is counted."""

    SESSION = "session"  # a client has started the server of the Model Context Protocol
    ASKED = "asked"  # in such a session, the first question about code
    READ = "read"  # an agent with hooks was about to read the whole of a large file of code
    OUTLINED = "outlined"  # and was shown its outline instead


class AdoptionFigures(NamedTuple):
    """The counts of each kind since a day, written `2026-01-31`, empty where nothing was noted."""

    since: str
    sessions: int
    asked: int
    reads: int
    outlined: int

    def line(self) -> str:
        """The figures in words, with shares in percent."""
        if not self.since:
            return "use by agents: nothing is noted yet"
        sessions = f"{_share(self.asked, self.sessions)} sessions of agents asked about code"
        reads = f"{_share(self.outlined, self.reads)} reads of large files of code were answered in outline"
        return f"since {self.since}: {sessions}, {reads}"


def note(what: AdoptionNote) -> None:
    """Count one more; an agent is never kept from its work by a log that cannot be written."""
    try:
        state.append(NOTES, what, MAX_NOTES_BYTES)
    except OSError:
        return


def figures() -> AdoptionFigures:
    """The figures in the logs of this user; lines that cannot be read count for nothing."""
    lines = state.appended(NOTES)
    counts = Counter(line.rpartition(" ")[2] for line in lines)
    since = lines[0][:_DAY_CHARACTERS] if lines else ""
    return AdoptionFigures(since, *(counts[one] for one in AdoptionNote))


def _share(part: int, whole: int) -> str:
    percent = f" ({100 * part / whole:.0f} %)" if whole else ""
    return f"{part:,} of {whole:,}{percent}"
