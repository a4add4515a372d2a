"""One repository, opened: what every capability works on, and where Python programs begin.

    from tersely.workspace import Workspace

    with Workspace.open(".") as workspace:
        for symbol in workspace.engine.lookup("validate*"):
            print(symbol.id)

What the command line asks is asked of a workspace by `tersely.capabilities.invoke.ask`, which gives
back plain values.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tersely.code.bounds import Findings, missing_text
from tersely.code.engine import Engine
from tersely.code.index.content import read_below
from tersely.code.index.refresh import Progress, RefreshReport
from tersely.code.index.unread import unread_text
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_FILE_BYTES
from tersely.foundation.settings import Settings, load
from tersely.foundation.storage.private import index_places
from tersely.foundation.storage.roots import INDEX_FILE, resolved_directory
from tersely.foundation.types import Closing, Strings

if TYPE_CHECKING:
    from tersely.code.search.searcher import Filters, RankedHits
    from tersely.context.lenses.neighbours import Neighbours
    from tersely.context.pack.delta.sessions import Sessions
    from tersely.context.pack.excerpt import Line
    from tersely.context.pack.texts import Texts
    from tersely.foundation.text.tokens import Tokenizer

NO_BODIES: Mapping[str, Sequence[Line]] = {}
IS_BEHIND = "another process is indexing; this is what it was before"


def is_indexed(root: str) -> bool:
    """True if a root has an index that need not be made anew."""
    known = index_places(root)
    if not any(Path(one, INDEX_FILE).is_file() for one in (known.in_repository, known.elsewhere)):
        return False
    with Engine.open(Path(root)) as engine:
        return engine.store.is_current()


class Workspace(Closing):
    """A repository with its engine and settings. For one thread at a time; close it."""

    def __init__(
        self, engine: Engine, settings: Settings, *, refresh: bool, progress: Progress | None
    ) -> None:
        self.engine = engine
        self.settings = settings
        self.report: RefreshReport | None = None  # of the latest refresh
        self.refreshes = refresh  # whether each question looks for changes first
        self.may_refresh = refresh
        # for one answer; 0: any time. For processes that end with it, see `deadline`
        self.patience_seconds = 0.0
        self._progress = progress

    @classmethod
    def open(
        cls, root: Path | str, *, refresh: bool = True, progress: Progress | None = None
    ) -> Self:
        """Open the repository at `root`; with `refresh`, each question first brings the index up to
        date.
        """
        resolved = Path(resolved_directory(str(root), "--root"))
        return cls(Engine.open(resolved), load(resolved), refresh=refresh, progress=progress)

    @property
    def may_refresh(self) -> bool:
        """True if it may look for changes later, when a file turns out to be gone or another."""
        return self.engine.refuses_changed

    @may_refresh.setter
    def may_refresh(self, may: bool) -> None:
        self.engine.refuses_changed = may

    @property
    def root(self) -> Path:
        """The directory that all paths are written from, resolved."""
        return self.engine.root

    @property
    def revision(self) -> str:
        """The identity of all facts that answers are computed from."""
        return self.engine.revision

    def check_freshness(self) -> None:
        """Bring the index up to date before a question, unless that is not wanted and there is an
        index.
        """
        if self.refreshes or not self.engine.store.is_current():
            self.refresh()

    def snapshot(self) -> AbstractContextManager[None]:
        """All that is asked inside is answered at one revision."""
        return self.engine.store.snapshot()

    def notes(self, findings: Findings) -> Strings:
        """The sentences beside an answer: complaints about settings, how the index came to be, and
        the findings.
        """
        report, changed = self.report, sorted(findings.changed)
        told = (*report.news, *report.notices) if report else ()
        notes = [*self.settings.complaints, *told]
        if report and report.is_behind:
            notes.append(IS_BEHIND)
        if changed:
            more = f" and {len(changed) - 1:,} more" if len(changed) > 1 else ""
            notes.append(
                f"{changed[0]}{more} changed after the index was made: lines may be others"
            )
        notes += sorted(findings.other_definitions)
        if findings.unread:
            notes.append(unread_text([*findings.unread], "may matter"))
        return (*notes, *missing_text(findings.bounds))

    def refresh(self) -> RefreshReport:
        """Bring the index up to date."""
        self.report = self.engine.refresh(self._progress)
        return self.report

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """Counts tokens as the settings want them counted."""
        from tersely.foundation.text.tokens import Tokenizer

        return Tokenizer(self.settings.vocabulary)

    def source(self, path: str) -> bytes:
        """A file of the repository, indexed or not; never one outside of it, of git's own or of
        excessive size.
        """
        if self.engine.store.file(path) is not None or self.engine.document(path) is not None:
            return self.engine.source(path)
        self.engine.keep_nothing()
        place = Path(os.path.realpath(self.root / path))
        # What git keeps for itself may hold credentials: it is no file of the repository.
        if (
            not place.is_relative_to(self.root)
            or ".git" in place.relative_to(self.root).parts
            or not place.is_file()
        ):
            raise TerselyError("path_not_found", f"there is no file {path!r} in the repository")
        try:
            return read_below(str(self.root), place.relative_to(self.root).as_posix())
        except OSError as error:
            if error.errno == errno.EFBIG:
                raise TerselyError(
                    "unreadable_file", f"{path} is larger than {MAX_FILE_BYTES:,} bytes"
                ) from error
            raise TerselyError(
                "unreadable_file", f"{path} cannot be read: {error.strerror}"
            ) from error

    def report_place(self, path: str) -> Path:
        """The place of a file or folder that a tool wrote: from the root and in it, or absolute,
        wherever that is.
        """
        place = Path(os.path.realpath(self.root / path))
        is_ours = os.path.isabs(path) or (
            place.is_relative_to(self.root) and ".git" not in place.parts
        )
        if not is_ours or not place.exists():
            raise TerselyError(
                "path_not_found",
                f"there is no report {path!r}",
                "name the file that the tool wrote",
            )
        return place

    def search(self, question: str, filters: Filters, limit: int) -> RankedHits:
        """At most `limit` symbols by words, meaning or text, with the embedder that the settings
        choose.
        """
        from tersely.code.search.embedding.embedders import Choice

        chosen = Choice(
            self.settings.embedder_url, self.settings.embedder_model, self.settings.embedder_key
        )
        return self.engine.search.find(question, filters, limit, chosen, self._progress)

    def texts(
        self, bodies: Mapping[str, Sequence[Line]] = NO_BODIES, *, with_docs: bool = False
    ) -> Texts:
        """The source of one answer's symbols, each file read once; `bodies` are shown instead, by
        the symbol's id.
        """
        from tersely.context.pack.texts import Texts

        return Texts(
            self.source, self.engine.symbols_of, lambda symbol: bodies.get(symbol.id), with_docs
        )

    def neighbours(self, texts: Texts) -> Neighbours:
        """What stands beside symbols in the graph and in their files."""
        from tersely.context.lenses.neighbours import Neighbours

        return Neighbours(self.engine.graph, self.engine.store, texts.source)

    def sessions(self) -> Sessions:
        """The store of what readers have been shown; to be closed. `database_unavailable` where
        nothing can be kept.
        """
        from tersely.context.pack.delta.sessions import Sessions

        directory = self.engine.store.directory
        if directory is None:
            raise TerselyError(
                "database_unavailable", "no session can be kept here", "leave out --session"
            )
        return Sessions.open(directory)

    def close(self) -> None:
        """Let go of the index."""
        self.engine.close()
