"""Keeping the index up to date: before a question, and soon after a change even if nobody asks.

Changes are marked with a number. A refresh covers the marks that were made before it began, and a
question waits until those are covered that were made before it came.
"""

from __future__ import annotations

import asyncio
import logging

from tersely.code.index.refresh import Progress
from tersely.daemon.processes.analysis import Refreshed, Standing
from tersely.daemon.processes.dispatch import Dispatcher
from tersely.daemon.watch import Changes, Watch, WatchUnavailableError
from tersely.foundation.errors import TerselyError

MAX_CHANGED_PATHS = 100  # beyond, all files are looked at
MAX_WATCH_ROUNDS = 8  # looks for directories that were made while others were being watched
SETTLE_SECONDS = 0.01  # after a change, before the index is refreshed without being asked
RESCAN_SECONDS = 600  # between looks at all files, for what no event tells
_LOG = logging.getLogger(__name__)
_OWN = "refresh"  # the client that asks for refreshes
_ANYTHING = Changes(is_everything=True, has_new_directories=True)


class Freshness:
    """The knowledge of the index of one repository, and what is missing of it."""

    def __init__(self, root: str, dispatcher: Dispatcher) -> None:
        self._root = root
        self._dispatcher = dispatcher
        self._watch: Watch | None = None
        self.why_unwatched = ""
        self._changes = Changes(is_everything=True, has_new_directories=True)
        self._marks = 1
        self._covered = 0
        self._refreshing: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._rescanning: asyncio.TimerHandle | None = None
        self.revision = ""
        self.files = 0
        self.standing = Standing(False, (), False, 0)
        self.listeners: set[Progress] = set()  # who is told how far a refresh has come

    def start(self) -> None:
        """Watch, and bring the index up to date."""
        try:
            self._watch = Watch(self._root)
            asyncio.get_running_loop().add_reader(self._watch.descriptor, self._on_events)
        except WatchUnavailableError as error:
            self._stop_watching(error)
        self._later(0)
        self._rescan()

    def close(self) -> None:
        """Stop watching, and begin no refresh any more."""
        for timer in (self._timer, self._rescanning):
            if timer is not None:
                timer.cancel()
        if self._watch is not None:
            asyncio.get_running_loop().remove_reader(self._watch.descriptor)
            self._watch.close()
            self._watch = None

    @property
    def watched(self) -> int:
        """The number of directories that are watched."""
        return self._watch.number if self._watch is not None else 0

    async def ensure(self) -> None:
        """Return when all changes up to now are in the index, or cannot be brought there."""
        if self._watch is None:
            self.mark(_ANYTHING)
        else:
            self._read_events()
        target = self._marks
        while self._covered < target:
            if self._refreshing is None:
                self._refreshing = asyncio.get_running_loop().create_task(self._refresh())
            await asyncio.shield(self._refreshing)

    def mark_everything(self) -> None:
        """Anything may have changed."""
        self.mark(_ANYTHING)

    def mark(self, changes: Changes) -> None:
        """Something may have changed."""
        self._marks += 1
        known = self._changes
        known.paths |= changes.paths
        known.is_everything |= changes.is_everything or len(known.paths) > MAX_CHANGED_PATHS
        known.has_new_directories |= changes.has_new_directories
        if known.is_everything:
            known.paths.clear()
        if changes.paths or changes.has_new_directories:
            self.standing = self.standing._replace(generation=self.standing.generation + 1)

    def _on_events(self) -> None:
        self._read_events()
        if self._covered < self._marks:
            self._later(SETTLE_SECONDS)

    def _read_events(self) -> None:
        if self._watch is None:
            return
        changes = self._watch.read()
        if changes:
            self.mark(changes)

    def _later(self, seconds: float) -> None:
        """Refresh without being asked; once for all that happens until then."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._begin)

    def _begin(self) -> None:
        self._timer = None
        if self._refreshing is None and self._covered < self._marks:
            self._refreshing = asyncio.get_running_loop().create_task(self._refresh())

    def _rescan(self) -> None:
        """Look at everything now and then: what other machines do to a shared disk, for one, makes
        no event here.
        """
        if self.standing.is_fresh:
            self.mark(_ANYTHING)
            self._later(0)
        self._rescanning = asyncio.get_running_loop().call_later(RESCAN_SECONDS, self._rescan)

    async def _refresh(self) -> None:
        covers, changes = self._marks, self._changes
        self._changes = Changes()
        try:
            if changes.has_new_directories and self._watch is not None:
                await self._watch_directories(self._watch)
                changes.is_everything = True
            paths = None if changes.is_everything else sorted(changes.paths)
            found = Refreshed(*await self._dispatcher.ask(_OWN, ("refresh", paths), self._tell))
            for each in found.news:  # of no question, so its answer does not say it
                _LOG.warning("%s", each)
            notices = found.notices if paths is None else self.standing.notices
            self.standing = self.standing._replace(
                is_fresh=True, notices=tuple(notices), is_behind=found.is_behind
            )
            self.revision, self.files = found.revision, found.files
        except TerselyError as error:
            _LOG.warning("the index is not refreshed: %s", error)
            self.standing = self.standing._replace(is_fresh=False)
        finally:
            self._refreshing = None
            self._covered = covers
        if not self.standing.is_fresh or self.standing.is_behind:  # the next question tries again
            self.mark(Changes(is_everything=True, has_new_directories=changes.has_new_directories))

    def _tell(self, done: int, total: int) -> None:
        for listener in list(self.listeners):
            listener(done, total)

    async def _watch_directories(self, watch: Watch) -> None:
        """Watch all directories there are, and those that were made meanwhile."""
        try:
            for _ in range(MAX_WATCH_ROUNDS):
                if not watch.add(await self._dispatcher.ask(_OWN, ("directories",))):
                    return
        except WatchUnavailableError as error:
            self._stop_watching(error)

    def _stop_watching(self, error: WatchUnavailableError) -> None:
        self.why_unwatched = str(error)
        _LOG.warning("each question looks at all files: %s", error)
        self.close()
