"""The search files of a repository: brought up to date with the index, kept beside it, replaced in
one step.

`search/catalogue` lists the indexed files with their content hashes and where the units of each
lie; segments are named by it and never change. Only the units of changed files are computed again.
Whoever writes holds a lock without which others do not wait: they go on in memory. A file that is
damaged, or comes from other words, another model or another version of these sources, is as good as
missing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tersely.code.search.storage.arrays import (
    ArrayFile,
    DamagedFileError,
    map_arrays,
    write_arrays,
)
from tersely.code.search.storage.collection import Collection, FileEntry
from tersely.code.search.storage.segment import Embed, build_segment, merge_segments
from tersely.code.search.units import SourceFile, units_of
from tersely.code.symbols import SymbolsOf
from tersely.foundation.arrays import Array, np
from tersely.foundation.process.lockfile import held
from tersely.foundation.storage.hashing import content_hash
from tersely.foundation.types import JsonObject, field, frozen, record

ByName = JsonObject  # arrays of a segment, or the segments themselves

DIRECTORY = "search"
CATALOGUE = "catalogue"
LOCK = "lock"
SEGMENT_UNITS = 16_384  # of one that is built; a limit to the memory that building takes
SMALL_UNITS = 4_096  # a segment with fewer is merged with others
MAX_SMALL_SEGMENTS = 6
ALIVE_SHARE = 0.5  # of its units; a segment with fewer in use is merged too
_SEGMENT_NAME = re.compile(r"[0-9a-f]{16}")
_SWEPT = re.compile(r"[0-9a-f]{16}|(?:[0-9a-f]{16}|catalogue)\.[0-9a-f]{8}\.new")
_SOURCES = (
    "words.py",
    "units.py",
    "storage/segment.py",
    "embedding/table.py",
    "embedding/vectors.py",
)

Progress = Callable[[int, int], None]  # (files done, files to do)


class IndexedText(NamedTuple):
    """A file of the index: its text is asked for only when its units have to be made."""

    path: str
    language: str
    hash: bytes


@frozen
class Library:
    """The source of texts: the files of one revision, their source and their symbols."""

    revision: str
    files: Callable[[], Sequence[IndexedText]]
    # `TerselyError` or other content where the file has just changed
    source_of: Callable[[IndexedText], bytes]
    symbols_of: SymbolsOf


@record
class SegmentStore:
    """The search files below a directory, or in memory where there is none to write to."""

    directory: Path | None
    segments: ByName = field(default_factory=dict)  # those that are in use
    entries: list[FileEntry] = field(default_factory=list)
    state: tuple[str, str] = ("", "")  # revision and identity that the entries are of

    def collection(
        self, library: Library, identity: str, embed: Embed, progress: Progress | None = None
    ) -> Collection:
        """All units of a revision. `identity` is that of the model behind `embed`."""
        wanted = (library.revision, f"{identity} {sources_fingerprint()}")
        if self.state != wanted:
            self._read(wanted[1])
        try:
            if self.state != wanted:
                self._update(library, wanted, embed, progress)
            return Collection.of(self.entries, self.segments)
        except (DamagedFileError, IndexError, ValueError, KeyError):
            self.segments, self.entries, self.state = {}, [], ("", "")
        self._update(library, wanted, embed, progress)
        return Collection.of(self.entries, self.segments)

    def _read(self, identity: str) -> None:
        """Take what is on disk, if it is of this identity and whole."""
        if self.directory is None:
            if self.state[1] != identity:
                self.segments, self.entries = {}, []
            return
        for _ in range(2):
            # a segment may have been replaced since the catalogue was read: the new one names
            # another
            try:
                revision, entries = _entries_in(map_arrays(self.directory / CATALOGUE), identity)
                names = dict.fromkeys(entry.segment for entry in entries)
                self.segments = {
                    name: self.segments.get(name) or map_arrays(self.directory / name)
                    for name in names
                }
                self.entries, self.state = entries, (revision, identity)
                return
            except (DamagedFileError, ValueError, KeyError, IndexError, TypeError):
                self.segments, self.entries, self.state = {}, [], ("", "")

    def _update(
        self, library: Library, wanted: tuple[str, str], embed: Embed, progress: Progress | None
    ) -> None:
        files = library.files()
        known = {(entry.path, entry.hash): entry for entry in self.entries}
        kept = [known[file.path, file.hash] for file in files if (file.path, file.hash) in known]
        missing = [file for file in files if (file.path, file.hash) not in known]
        with self._writing() as is_writing:
            keep = self._keep if is_writing else self._hold
            added, is_complete = self._build(library, missing, embed, keep, progress)
            self.entries = sorted(
                self._compact([*kept, *added], keep), key=lambda entry: entry.path
            )
            used = {entry.segment for entry in self.entries}
            self.segments = {
                name: segment for name, segment in self.segments.items() if name in used
            }
            self.state = wanted if is_complete else ("", wanted[1])
            if is_writing and self.directory is not None:
                try:
                    _write_catalogue(self.directory / CATALOGUE, self.state, self.entries)
                except OSError:
                    return  # a full disk: the next one to ask computes it again
                _sweep(self.directory, used)

    def _build(
        self,
        library: Library,
        missing: Sequence[IndexedText],
        embed: Embed,
        keep: Keep,
        progress: Progress | None,
    ) -> tuple[list[FileEntry], bool]:
        """Entries for new files, and whether all of them were as the index knows them."""
        entries: list[FileEntry] = []
        pending: list[tuple[IndexedText, SourceFile]] = []
        units = 0
        for done, file in enumerate(missing, 1):
            source = library.source_of(file)
            if content_hash(source) == file.hash:
                pending.append(
                    (file, SourceFile(file.path, source, units_of(library.symbols_of(file.path))))
                )
                units += len(pending[-1][1].units)
            if pending and (units >= SEGMENT_UNITS or done == len(missing)):
                entries += _shelved(
                    pending, keep(build_segment([text for _, text in pending], embed))
                )
                pending, units = [], 0
                if progress is not None:
                    progress(done, len(missing))
        return entries, len(entries) == len(missing)

    def _compact(self, entries: list[FileEntry], keep: Keep) -> list[FileEntry]:
        """The same units in fewer segments, if there are too many small ones or too much in them is
        out of date.
        """
        alive: dict[str, list[FileEntry]] = {}
        for entry in entries:
            alive.setdefault(entry.segment, []).append(entry)
        units = {name: sum(entry.count for entry in listed) for name, listed in alive.items()}
        worn = {
            name
            for name, count in units.items()
            if count < ALIVE_SHARE * len(self.segments[name]["kind"])
        }
        small = {name for name, count in units.items() if count < SMALL_UNITS}
        merged = sorted(worn | (small if len(small) > MAX_SMALL_SEGMENTS else set()))
        if not merged:
            return entries
        parts = [(self.segments[name], _numbers(alive[name])) for name in merged]
        name = keep(merge_segments(parts))
        moved = []
        first = 0
        for old in merged:
            for entry in alive[old]:
                moved.append(
                    FileEntry(entry.path, entry.language, entry.hash, name, first, entry.count)
                )
                first += entry.count
        return [entry for entry in entries if entry.segment not in merged] + moved

    def _keep(self, arrays: ByName) -> str:
        """Write a segment, and use the written one."""
        assert self.directory is not None
        name = os.urandom(8).hex()
        try:
            write_arrays(self.directory / name, {}, arrays)
            self.segments[name] = map_arrays(self.directory / name)
        except (OSError, DamagedFileError):
            return self._hold(arrays)
        return name

    def _hold(self, arrays: ByName) -> str:
        """Keep a segment in memory."""
        name = os.urandom(8).hex()
        self.segments[name] = arrays
        return name

    @contextmanager
    def _writing(self) -> Iterator[bool]:
        """True while this process may write; never waits for one that does."""
        if self.directory is None:
            yield False
            return
        with ExitStack() as stack:
            try:
                stack.enter_context(held(str(self.directory / LOCK)))
            except OSError:
                yield False
            else:
                yield True


Keep = Callable[[JsonObject], str]


def open_store(index_directory: Path | None) -> SegmentStore:
    """The store beside an index; in memory where there is no directory, or one that is not ours to
    write to.
    """
    if index_directory is None:
        return SegmentStore(None)
    directory = index_directory / DIRECTORY
    try:
        if directory.is_symlink():
            return SegmentStore(None)
        directory.mkdir(exist_ok=True)
    except OSError:
        return SegmentStore(None)
    return SegmentStore(directory)


@cache
def sources_fingerprint() -> str:
    """Changes with our own sources that say what is in a segment."""
    package = Path(__file__).parents[1]
    return content_hash(b"\0".join((package / name).read_bytes() for name in _SOURCES))[:8].hex()


def _shelved(
    pending: Sequence[tuple[IndexedText, SourceFile]], segment: str
) -> Iterator[FileEntry]:
    first = 0
    for file, text in pending:
        yield FileEntry(file.path, file.language, file.hash, segment, first, len(text.units))
        first += len(text.units)


def _numbers(entries: Sequence[FileEntry]) -> Any:
    return np.concatenate([np.arange(one.first, one.first + one.count) for one in entries])


def _sweep(directory: Path, used: Container[str]) -> None:
    """Take away segments that are no longer used, and what killed processes left; for the holder of
    the lock.
    """
    for name in os.listdir(directory):
        if _SWEPT.fullmatch(name) and name not in used:
            with suppress(OSError):
                (directory / name).unlink()


def _write_catalogue(path: Path, state: tuple[str, str], entries: Sequence[FileEntry]) -> None:
    names = list(dict.fromkeys(entry.segment for entry in entries))
    languages = sorted({entry.language for entry in entries})
    places = [
        (names.index(e.segment), e.first, e.count, languages.index(e.language)) for e in entries
    ]
    about = {"revision": state[0], "identity": state[1], "segments": names, "languages": languages}
    arrays: dict[str, Array] = {
        "paths": np.frombuffer("\0".join(entry.path for entry in entries).encode(), np.uint8),
        "hashes": np.frombuffer(b"".join(entry.hash for entry in entries), np.uint8),
        "places": np.array(places, np.uint32).reshape(-1, 4),
    }
    write_arrays(path, about, arrays)


def _entries_in(catalogue: ArrayFile, identity: str) -> tuple[str, list[FileEntry]]:
    """The revision and the entries of a catalogue; `DamagedFileError` for one of another identity."""
    about = catalogue.about
    if about["identity"] != identity or not all(map(_SEGMENT_NAME.fullmatch, about["segments"])):
        raise DamagedFileError(identity)
    text = catalogue["paths"].tobytes().decode()
    paths = text.split("\0") if text else []
    hashes = catalogue["hashes"].tobytes()
    size = len(hashes) // max(1, len(paths))
    entries = []
    for number, (path, place) in enumerate(zip(paths, catalogue["places"].tolist(), strict=True)):
        segment, first, count, language = place
        digest = hashes[number * size : (number + 1) * size]
        entries.append(
            FileEntry(
                path, about["languages"][language], digest, about["segments"][segment], first, count
            )
        )
    return str(about["revision"]), entries
