"""Projects: which directories are copies of one repository, remembered from the first time that one
is seen.

A project keeps its id when it gets a first commit or a place to be cloned from, and when the copy
that it was seen in first is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import msgspec

from tersely.foundation.git.project import commit_mark, place_marks
from tersely.relay.encoding import encode
from tersely.relay.store.commands import DocumentEdit, StoreBatch, Write
from tersely.relay.store.store import Store

MAX_KNOWN_MARKS = 100_000  # of all projects; further ones are not remembered
_DOCUMENT = "projects"


class KnownProjects:
    """The projects of one relay. May be used from any thread, but not from the loop: git may be
    asked.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._changing = Lock()
        found = store.document(_DOCUMENT)
        self._ids: dict[str, str] = {} if found is None else _read(found[1])
        self._has_commit: set[str] = set()  # the marks of places whose first commit is known

    def project_of(self, directory: str) -> str:
        """The id of the project that a directory is of."""
        places = place_marks(directory)
        commit = "" if places[0] in self._has_commit else commit_mark(directory)
        marks = [*places, *([commit] if commit else [])]
        with self._changing:
            known = next((self._ids[mark] for mark in marks if mark in self._ids), marks[-1])
            new = [mark for mark in marks if mark not in self._ids]
            if new and len(self._ids) + len(new) <= MAX_KNOWN_MARKS:
                self._remember(new, known)
            if commit:
                self._has_commit.add(places[0])
        return known

    def named(self, mark: str) -> str:
        """The id of the project that is known by a mark; another name is an id of its own."""
        return self._ids.get(mark, mark)

    def _remember(self, marks: Sequence[str], project: str) -> None:
        def edit(body: bytes | None) -> DocumentEdit:
            return DocumentEdit(
                encode({**(_read(body) if body else {}), **dict.fromkeys(marks, project)}), b""
            )

        self._store.commit(StoreBatch((Write(_DOCUMENT, edit),)))
        self._ids |= dict.fromkeys(marks, project)


def _read(body: bytes) -> dict[str, str]:
    return msgspec.json.decode(body, type=dict[str, str])
