"""The functions of a repository as signatures, kept beside the index and tied to the contents of files.

The file `duplicates` holds what was computed for each content of a file. Only contents that it does not know are read;
what it holds of others is dropped when it is written anew. It may be deleted at any time, and where it cannot be
written everything is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tersely.code.index.fingerprint import extraction_fingerprint
from tersely.code.index.schema import IndexedFile
from tersely.code.search.duplicates.minhash import PERMUTATIONS, signatures
from tersely.code.search.duplicates.shingles import Hashes, Reader, Sets, functions_of, shingle_sets
from tersely.code.search.storage.arrays import Array, DamagedFileError, map_arrays, write_arrays
from tersely.code.symbols import Symbol
from tersely.foundation.hashing import HASH_BYTES, content_hash

FILE_NAME = "duplicates"

Counts = NDArray[np.uint32]


class Table(NamedTuple):
    """Functions file by file. Those of file `i` are rows `first[i]:first[i + 1]`; all else has one row a function."""

    contents: tuple[bytes, ...]  # what the files are known by
    first: NDArray[np.int64]
    positions: Counts  # among the definitions of their file
    tokens: Counts  # how many each has
    sets: Sets
    signatures: Hashes


@dataclass(frozen=True, slots=True)
class Functions:
    """All functions of one revision that are compared: `paths[file_of[i]]` is the file of function `i`."""

    paths: Sequence[str]
    file_of: NDArray[np.int64]
    table: Table

    def __len__(self) -> int:
        return len(self.file_of)

    def path(self, index: int) -> str:
        """The file of a function."""
        return self.paths[int(self.file_of[index])]

    def index_of(self, path: str, position: int) -> int | None:
        """The function at a position among the definitions of a file, None if it is not compared."""
        if path not in self.paths:
            return None
        at = self.paths.index(path)
        rows = range(int(self.table.first[at]), int(self.table.first[at + 1]))
        return next((row for row in rows if int(self.table.positions[row]) == position), None)


def collect(
    files: Sequence[IndexedFile],
    source_of: Callable[[IndexedFile], bytes],
    symbols_of: Callable[[str], list[Symbol]],
    directory: Path | None,
) -> Functions:
    """The functions of all files. `directory` is where what was computed is kept, None for nowhere."""
    known = _kept(directory) if directory is not None else empty()
    at = {content: number for number, content in enumerate(known.contents)}
    missing = {_content(file): file for file in files if _content(file) not in at}
    sources = {content: source_of(file) for content, file in missing.items()}
    added = _computed(missing, sources, symbols_of)
    table = joined(known, added) if missing else known
    at = {content: number for number, content in enumerate(table.contents)}
    chosen = taken(table, [at[_content(file)] for file in files])
    is_as_indexed = all(content_hash(sources[content]) == file.hash for content, file in missing.items())
    if directory is not None and chosen.contents != known.contents and is_as_indexed:
        _keep(directory, chosen)
    file_of = np.repeat(np.arange(len(files)), np.diff(chosen.first))
    return Functions([file.path for file in files], file_of, chosen)


def empty() -> Table:
    """No functions."""
    nothing, none = np.zeros(1, np.int64), np.zeros(0, np.uint32)
    return Table((), nothing, none, none, Sets(none, nothing), np.zeros((0, PERMUTATIONS), np.uint32))


def joined(one: Table, other: Table) -> Table:
    """The files of one table and then those of another."""
    return Table(
        one.contents + other.contents,
        np.concatenate((one.first, one.first[-1] + other.first[1:])),
        np.concatenate((one.positions, other.positions)),
        np.concatenate((one.tokens, other.tokens)),
        Sets(
            np.concatenate((one.sets.hashes, other.sets.hashes)),
            np.concatenate((one.sets.starts, one.sets.starts[-1] + other.sets.starts[1:])),
        ),
        np.concatenate((one.signatures, other.signatures)),
    )


def taken(table: Table, files: Sequence[int]) -> Table:
    """The table of some of the files, in the order given, which may name a file twice."""
    if list(files) == list(range(len(table.contents))):
        return table
    rows, first = _ranges(table.first, np.array(files, np.int64))
    hashes, starts = _ranges(table.sets.starts, rows)
    return Table(
        tuple(table.contents[file] for file in files),
        first,
        table.positions[rows],
        table.tokens[rows],
        Sets(table.sets.hashes[hashes], starts),
        table.signatures[rows],
    )


def _ranges(starts: NDArray[np.int64], chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places in chosen runs, one run after the other, and where each run then starts."""
    counts = starts[chosen + 1] - starts[chosen] if len(chosen) else np.zeros(0, np.int64)
    after = np.concatenate(([0], np.cumsum(counts)))
    return np.repeat(starts[chosen] if len(chosen) else counts, counts) + (
        np.arange(int(after[-1])) - np.repeat(after[:-1], counts)
    ), after


def _computed(
    missing: dict[bytes, IndexedFile], sources: dict[bytes, bytes], symbols_of: Callable[[str], list[Symbol]]
) -> Table:
    reader = Reader()
    positions: list[int] = []
    tokens: list[Hashes] = []
    counts = []
    for content, file in missing.items():
        functions = functions_of(symbols_of(file.path))
        counts.append(len(functions))
        if functions:
            tokens += reader.read(file.language, sources[content], [symbol for _, symbol in functions])
            positions += [position for position, _ in functions]
    sets = shingle_sets(tokens)
    return Table(
        tuple(missing),
        np.concatenate(([0], np.cumsum(np.array(counts, np.int64)))),
        np.array(positions, np.uint32),
        np.fromiter(map(len, tokens), np.uint32, len(tokens)),
        sets,
        signatures(sets),
    )


def _content(file: IndexedFile) -> bytes:
    """What the functions of a file depend on: its text and its language."""
    return content_hash(file.hash + file.language.encode())


def _kept(directory: Path) -> Table:
    try:
        found = map_arrays(directory / FILE_NAME)
        if found.about.get("identity") != identity():
            return empty()
        contents = found["contents"].reshape(-1, HASH_BYTES)
        starts = found["starts"].astype(np.int64)
        sets = Sets(found["hashes"], starts)
        first = found["first"].astype(np.int64)
        table = Table(
            tuple(map(bytes, contents)), first, found["positions"], found["tokens"], sets, found["signatures"]
        )
    except (DamagedFileError, ValueError):
        return empty()
    return table if _is_whole(table) else empty()


def _is_whole(table: Table) -> bool:
    number = len(table.positions)
    return (
        len(table.first) == len(table.contents) + 1
        and table.first[-1] == number == len(table.tokens) == len(table.sets.starts) - 1
        and table.signatures.shape == (number, PERMUTATIONS)
        and table.sets.starts[-1] == len(table.sets.hashes)
    )


def _keep(directory: Path, table: Table) -> None:
    arrays: dict[str, Array] = {
        "contents": np.frombuffer(b"".join(table.contents), np.uint8),
        "first": table.first.astype(np.uint32),
        "positions": table.positions,
        "tokens": table.tokens,
        "starts": table.sets.starts.astype(np.uint64),
        "hashes": table.sets.hashes,
        "signatures": table.signatures,
    }
    try:
        write_arrays(directory / FILE_NAME, {"identity": identity()}, arrays)
    except OSError:
        return  # it is computed again the next time


@cache
def identity() -> str:
    """Changes with the sources that signatures depend on."""
    digest = blake2b(extraction_fingerprint().encode(), digest_size=8)
    for name in ("shingles.py", "minhash.py"):
        digest.update(Path(__file__).with_name(name).read_bytes())
    return digest.hexdigest()
