"""The thread in which sessions of a directory go on from one another, where no other is named."""

from __future__ import annotations

from pathlib import Path

from tersely.client import Client
from tersely.foundation.limits import MAX_NAME_CHARACTERS, MAX_READ_ENTRIES

DIRECTORY_THREADS = 1_000  # the newest, among which that of a directory is looked for
VARIABLE = "TERSELY_THREAD"  # names the thread to a program and what it runs


def name_of(directory: Path) -> str:
    """What the thread of a directory is called."""
    return str(directory)[-MAX_NAME_CHARACTERS:]


def found(relay: Client, directory: Path) -> str:
    """The newest thread of a directory, empty if it has none."""
    before = ""
    for _ in range(DIRECTORY_THREADS // MAX_READ_ENTRIES):
        page = relay.ask("thread.list", before=before, limit=MAX_READ_ENTRIES).threads
        for one in page:
            if one.name == name_of(directory):
                return str(one.thread_id)
        if len(page) < MAX_READ_ENTRIES:
            break
        before = page[-1].thread_id
    return ""


def named_or_own(relay: Client, thread_id: str, directory: Path) -> str:
    """The thread of an id, or that of a directory, which is made if there is none; raises `thread_not_found`."""
    if thread_id:
        return str(relay.ask("thread.get", thread=thread_id).thread_id)
    return found(relay, directory) or str(relay.ask("thread.new", name=name_of(directory)).thread_id)
