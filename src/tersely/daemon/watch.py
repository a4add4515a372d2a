"""Hearing of changes to files from the kernel (Linux's inotify).

The kernel queues an event before the call that changed a file returns. So whoever empties the queue
when a question arrives knows of every change that was made before the question was asked: an answer
never lags behind a save. This is why the queue is read here rather than by a library with a thread,
a polling loop and a time to settle. Directories are watched one by one, and only those that may
hold source: never those of dependencies, of which there are most.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterable, Iterator

from tersely.code.index.directories import TOOL_DIRECTORIES
from tersely.foundation.system import NO_WAITING, UNCHANGED
from tersely.foundation.types import field, record

MAX_WATCHED_DIRECTORIES = 100_000
MAX_EVENT_READS = 1_000  # of the queue of the kernel, at one go
_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED_FROM, _MOVED_TO = 0x2, 0x4, 0x8, 0x40, 0x80
_CREATE, _DELETE, _DELETE_SELF, _MOVE_SELF = 0x100, 0x200, 0x400, 0x800
_UNMOUNT, _OVERFLOW, _IGNORED = 0x2000, 0x4000, 0x8000
_ONLY_DIRECTORIES, _NO_LINKS, _IS_DIRECTORY = 0x1000000, 0x2000000, 0x40000000
_CHANGES = (
    _MODIFY
    | _ATTRIB
    | _CLOSE_WRITE
    | _MOVED_FROM
    | _MOVED_TO
    | _CREATE
    | _DELETE
    | _DELETE_SELF
    | _MOVE_SELF
)
_GONE = _DELETE_SELF | _MOVE_SELF | _UNMOUNT

_EVENT = struct.Struct("iIII")  # watch, mask, cookie, length of the name
_READ_BYTES = 65_536
# what decides what is tracked and what is ignored
_GIT_NAMES = frozenset({"index", "HEAD", "config", "exclude"})


class WatchUnavailableError(Exception):
    """Changes cannot be heard of; `str()` says why."""


@record
class Changes:
    """The changes since the last look."""

    paths: set[str] = field(default_factory=set)  # files that may have changed, from the root
    is_everything: bool = False  # events were lost, or concern which files there are
    has_new_directories: bool = False

    def __bool__(self) -> bool:
        return bool(self.paths) or self.is_everything or self.has_new_directories


class Watch:
    """The directories below one root that are watched. Close it."""

    def __init__(self, root: str) -> None:
        if "linux" not in sys.platform:
            raise WatchUnavailableError(f"changes of files are not watched on {sys.platform}")
        self._root = root
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = self._libc.inotify_init1(NO_WAITING | UNCHANGED)
        if self.descriptor < 0:
            raise WatchUnavailableError(os.strerror(ctypes.get_errno()))
        self._paths: dict[int, str] = {}  # by watch
        self._watches: dict[str, int] = {}  # by path from the root

    @property
    def number(self) -> int:
        """The number of directories that are watched."""
        return len(self._paths)

    def add(self, directories: Iterable[str]) -> int:
        """Watch directories too; how many of them are new. Raises `WatchUnavailableError` at a
        bound.
        """
        new = 0
        for directory in directories:
            if directory in self._watches:
                continue
            watch = self._add(directory)
            if watch >= 0:
                self._paths[watch] = directory
                self._watches[directory] = watch
                new += 1
        return new

    def _add(self, directory: str) -> int:
        """The watch of a directory, -1 for one that is gone or not ours to read."""
        if len(self._paths) >= MAX_WATCHED_DIRECTORIES:
            raise WatchUnavailableError(f"more than {MAX_WATCHED_DIRECTORIES:,} directories")
        path = os.fsencode(f"{self._root}/{directory}" if directory else self._root)
        mask = _CHANGES | _ONLY_DIRECTORIES | _NO_LINKS
        watch = int(self._libc.inotify_add_watch(self.descriptor, path, mask))
        if watch < 0 and ctypes.get_errno() in {errno.ENOSPC, errno.ENOMEM}:
            raise WatchUnavailableError(
                "the system allows no more watches (fs.inotify.max_user_watches)"
            )
        return watch

    def read(self) -> Changes:
        """Everything that happened up to now; never waits."""
        changes = Changes()
        for _ in range(MAX_EVENT_READS):
            try:
                received = os.read(self.descriptor, _READ_BYTES)
            except BlockingIOError:
                return changes
            for watch, mask, name in _events(received):
                self._note(watch, mask, os.fsdecode(name), changes)
        changes.is_everything = True
        return changes

    def close(self) -> None:
        """Stop watching."""
        os.close(self.descriptor)

    def _note(self, watch: int, mask: int, name: str, changes: Changes) -> None:
        if mask & _OVERFLOW:
            changes.is_everything = changes.has_new_directories = True
            return
        directory = self._paths.get(watch)
        if directory is None:
            return
        if mask & (_GONE | _IGNORED):
            self._forget(directory)
            changes.is_everything = True
        elif directory == ".git" or directory.startswith(".git/"):
            changes.is_everything |= name in _GIT_NAMES
        elif mask & _IS_DIRECTORY:
            self._note_directory(f"{directory}/{name}" if directory else name, name, mask, changes)
        elif name:
            changes.paths.add(f"{directory}/{name}" if directory else name)

    def _note_directory(self, path: str, name: str, mask: int, changes: Changes) -> None:
        if name in TOOL_DIRECTORIES and name != ".git":
            return
        changes.is_everything = True
        changes.has_new_directories |= bool(mask & (_CREATE | _MOVED_TO))
        if mask & (_MOVED_FROM | _DELETE):
            # a directory that moves away would go on to report under its old path
            for inner in [known for known in self._watches if f"{known}/".startswith(f"{path}/")]:
                self._libc.inotify_rm_watch(self.descriptor, self._watches[inner])
                self._forget(inner)

    def _forget(self, directory: str) -> None:
        watch = self._watches.pop(directory, None)
        if watch is not None:
            self._paths.pop(watch, None)


def _events(received: bytes) -> Iterator[tuple[int, int, bytes]]:
    at = 0
    while at < len(received):
        watch, mask, _, length = _EVENT.unpack_from(received, at)
        at += _EVENT.size
        yield watch, mask, received[at : at + length].rstrip(b"\0")
        at += length
