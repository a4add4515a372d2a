"""The thread in which sessions of a project go on from one another, where no other is named."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tersely.client import Client

VARIABLE = "TERSELY_THREAD"  # names the thread to a program and what it runs


class SessionPlace(NamedTuple):
    """The place of a session: the relay, the directory, and how much is told of it."""

    home: Path
    directory: Path
    is_repository: bool
    answer_words: str
    thread: str = ""  # that of the project, if empty
    has_brief: bool = True


def named_or_own(relay: Client, thread_id: str, directory: Path) -> str:
    """The thread of an id, or that of a directory's project, which has its board; raises
    `thread_not_found`.
    """
    if thread_id:
        return str(relay.ask("thread.get", thread=thread_id).thread_id)
    return str(relay.ask("board.show", root=str(directory)).thread)
